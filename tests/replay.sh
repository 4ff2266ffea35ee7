#!/bin/bash
# Journals a server while bots play on it, and has the run again: `fragd replay` must find every
# datagram the same, a second time, up to a time, and in a journal that is cut off.
#
#   tests/replay.sh [--map oa_dm1] [--bots 4] [--seconds 10] [--out DIRECTORY]
#
# Needs OpenArena's data for the map; without it players fly freely, and that is replayed.
# shellcheck disable=SC2317 # functions are called by `check` and `await`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

map=oa_dm1 bots=4 seconds=10 out=
while [ $# -gt 0 ]; do
  case $1 in
    --map) map=${2:?}; shift 2 ;;
    --bots) bots=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

begin replay "$out"
fragd=${FRAGD:-$root/target/release/fragd}
[ -x "$fragd" ] || fragd=$root/target/debug/fragd
port=${REPLAY_PORT:-28610}
journal=$work/server.journal

# says FILE TEXT: is it in there?
says() { grep -qF -- "$2" "$1"; }

# replays CODE FILE ARGUMENTS...: does replay end with that exit code?
replays() {
  local wanted=$1 file=$2
  shift 2
  "$fragd" replay "$@" >"$file" 2>"$file.err"
  [ $? = "$wanted" ]
}

mkfifo "$work/console"
sleep 600 >"$work/console" &
started+=($!)
"$fragd" serve --port "$port" --map "$map" --journal "$journal" +set sv_maxclientsPerIP 0 \
  <"$work/console" >"$work/server.log" 2>&1 &
server=$!
started+=("$server")
for _ in $(seq 100); do says "$work/server.log" 'listening' && break; sleep 0.1; done
check 'server: is up' says "$work/server.log" 'listening'
"$fragd" bots --connect "127.0.0.1:$port" -n "$bots" --seconds "$seconds" --seed 5 \
  >"$work/bots.txt" 2>&1
check 'bots: played to the end' [ $? = 0 ]
"$fragd" query "127.0.0.1:$port" >/dev/null 2>&1
cp "$journal" "$work/running.journal"
kill -INT "$server"
wait "$server"
check 'server: stops with exit code 0' [ $? = 0 ]

check 'replay: every datagram is the same' replays 0 "$work/whole.txt" "$journal"
check 'replay: says so' says "$work/whole.txt" 'verdict         the same'
check 'replay: and finds no damage' [ "$(grep -c '^damage' "$work/whole.txt")" = 0 ]
check 'replay: a running server'"'"'s journal is the same, and cut off' \
  replays 0 "$work/running.txt" "$work/running.journal"
check 'replay: names the place' says "$work/running.txt" 'cut off in record'
check 'replay: up to a time' replays 0 "$work/until.txt" "$journal" --until 3s
check 'replay: as JSON' replays 0 "$work/json.txt" "$journal" --json
check 'replay: JSON says the same' says "$work/json.txt" '"verdict": "same"'
check 'dump: lists the inputs' replays 0 "$work/dump.txt" "$journal" --dump
check 'dump: names connectionless packets' says "$work/dump.txt" 'connectionless: getchallenge'
check 'dump: names messages' says "$work/dump.txt" 'message 1, qport'
check 'dump: of an address that never came is empty' replays 0 "$work/none.txt" "$journal" --dump \
  --client 192.0.2.1
check 'dump: is empty' [ ! -s "$work/none.txt" ]
check 'replay: what is no journal ends with 2' replays 2 "$work/no.txt" "$work/server.log"
mkdir -p "$work/nothing"
if grep -q 'maps are found' "$work/server.log"; then
  check 'replay: without the map ends with 2' replays 2 "$work/nomap.txt" "$journal" \
    --basepath "$work/nothing"
  check 'replay: and names the map' says "$work/nomap.txt.err" "maps/$map.bsp: no file of"
fi
note "$(sed -n '/^replayed/p;/^compared/p' "$work/whole.txt" | tr -s ' ' | tr '\n' ',')" \
  "$(stat -c %s "$journal") bytes of journal"
finish
