#!/bin/bash
# Feature check: features compile alone, protocol users compile few crates, fuzz targets compile.
#
#   tests/features.sh [--all] [--out DIRECTORY]
#
# --all       each feature; by default only some that share few crates
# shellcheck disable=SC2317 # functions are called by `check`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

out= features=(client server host maps)
while [ $# -gt 0 ]; do
  case $1 in
    --all) features=(client server trace discovery load relay sim host http metrics maps compiler cli); shift ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

begin features "$out"
max_crates=24

# compiles FEATURE: whether the library compiles with that feature alone and without warnings.
compiles() {
  # Flags and target directory of the lints, so that crates are compiled once.
  cargo clippy --locked --quiet --lib --no-default-features --features "$1" -- -D warnings \
    >"$work/$1.log" 2>&1 || { tail -n 40 "$work/$1.log"; false; }
}

# crates FEATURE: number of crates that it compiles, with fragd itself.
crates() {
  cargo tree --locked --no-default-features --features "$1" -e normal --prefix none | sort -u | wc -l
}

for feature in "${features[@]}"; do
  check "feature $feature compiles alone" compiles "$feature"
done
check "feature client has at most $max_crates crates: $(crates client)" [ "$(crates client)" -le "$max_crates" ]
check 'fuzz targets compile' cargo check --quiet --manifest-path "$root/fuzz/Cargo.toml" --locked

finish
