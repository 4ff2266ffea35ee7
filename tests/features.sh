#!/bin/bash
# Feature check: each Cargo feature compiles alone, protocol users compile few crates, fuzz targets compile.
#
#   tests/features.sh [--out DIRECTORY]
# shellcheck disable=SC2317 # functions are called by `check`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

out=
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

begin features "$out"
max_crates=24

# compiles FEATURE: whether the library compiles with that feature alone and without warnings.
compiles() {
  RUSTFLAGS='-D warnings' cargo check --locked --quiet --lib --no-default-features --features "$1" \
    --target-dir "$root/target/features" >"$work/$1.log" 2>&1 || { tail -n 40 "$work/$1.log"; false; }
}

# crates FEATURE: number of crates that it compiles, with fragd itself.
crates() {
  cargo tree --locked --no-default-features --features "$1" -e normal --prefix none | sort -u | wc -l
}

for feature in client server trace discovery load relay sim host http metrics maps compiler; do
  check "feature $feature compiles alone" compiles "$feature"
done
check "feature client has at most $max_crates crates: $(crates client)" [ "$(crates client)" -le "$max_crates" ]
check 'fuzz targets compile' cargo check --quiet --manifest-path "$root/fuzz/Cargo.toml" --locked

finish
