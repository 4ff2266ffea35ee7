#!/bin/bash
# Profile-guided build of the profile `dist`: target/pgo/dist/fragd.
#
#   benches/pgo_build.sh [--bots 32] [--seconds 25] [--map oa_dm4]
#
# Builds an instrumented server, lets bots of the same program fight on it, and builds it again with the
# profile. The map needs OpenArena's data; without it, name a built-in one, e.g. fragd1. Needs llvm-profdata of the
# compiler's LLVM version: `rustup component add llvm-tools`, or a program that $LLVM_PROFDATA names.
# docs/performance.md says what it gains.
set -eu
cd "$(dirname "$0")/.."

bots=32 seconds=25 map=oa_dm4
while [ $# -gt 0 ]; do
  case $1 in
    --bots) bots=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --map) map=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

host=$(rustc -vV | sed -n 's/^host: //p')
profdata=${LLVM_PROFDATA:-$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata}
[ -x "$(command -v "$profdata")" ] || {
  echo "$0: no llvm-profdata; run: rustup component add llvm-tools" >&2
  exit 1
}

target=$PWD/target/pgo
profiles=$target/profiles
rm -rf "$profiles"
mkdir -p "$profiles"

echo '-- instrumented build' >&2
RUSTFLAGS=-Cprofile-generate=$profiles cargo build --locked --profile dist --features compiler --target-dir "$target"
# Profiles of build scripts and macros.
rm -f "$profiles"/*

echo "-- $bots bots on $map for $seconds s" >&2
program=$target/instrumented
cp "$target/dist/fragd" "$program"
port=29990
"$program" serve +set net_port $port +set sv_maxclients 64 +map "$map" >"$target/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
# The bots' own profile would be mixed into that of the server.
LLVM_PROFILE_FILE=/dev/null "$program" bots --connect 127.0.0.1:$port -n "$bots" --seconds "$seconds" >"$target/bots.log"
kill -TERM "$server"
wait "$server"
trap - EXIT
"$profdata" merge -o "$target/fragd.profdata" "$profiles"

echo '-- build with the profile' >&2
RUSTFLAGS=-Cprofile-use=$target/fragd.profdata cargo build --locked --profile dist --features compiler --target-dir "$target"
echo "$target/dist/fragd"
