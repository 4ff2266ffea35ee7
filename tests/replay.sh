#!/bin/bash
# Replay check: journals a server under bots, and compares every datagram of its replay.
#
# Replays the whole journal twice, up to a time, and when truncated, damaged, or at its size limit.
#
#   tests/replay.sh [--map oa_dm1] [--bots 4] [--seconds 10] [--out DIRECTORY]
#
# Needs OpenArena's data for the map; without it the run is free flight.
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

# says FILE TEXT: whether it contains the text.
says() { grep -qF -- "$2" "$1"; }

# replays CODE FILE ARGUMENTS...: whether replay ends with that exit code.
replays() {
  local wanted=$1 file=$2
  shift 2
  "$fragd" replay "$@" >"$file" 2>"$file.err"
  [ $? = "$wanted" ]
}

# between LEAST NUMBER MOST
between() { [ "$2" -ge "$1" ] && [ "$2" -le "$3" ]; }

mkfifo "$work/console"
sleep 600 >"$work/console" &
started+=($!)
"$fragd" serve --port "$port" --map "$map" --journal "$journal" +set sv_maxclientsPerIP 0 \
  <"$work/console" >"$work/server.log" 2>&1 &
server=$!
started+=("$server")
for _ in $(seq 100); do says "$work/server.log" 'listening' && break; sleep 0.1; done
check 'server: is up' says "$work/server.log" 'listening'
"$fragd" bots --connect "127.0.0.1:$port" -n "$bots" --seconds "$seconds" --seed 5 --expect "$shared_machine" \
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
check 'dump: an address that never came is an error' replays 2 "$work/none.txt" "$journal" --dump --client 192.0.2.1
check 'dump: the error names the addresses of the journal' says "$work/none.txt.err" 127.0.0.1
check 'replay: what is no journal ends with 2' replays 2 "$work/no.txt" "$work/server.log"
length=$(stat -c %s "$journal")
# The first part of a journal is the list of the maps, before any datagram.
for percent in 50 75; do
  cp "$journal" "$work/flipped.journal"
  at=$((length * percent / 100))
  byte=$(od -An -tu1 -j$at -N1 "$journal")
  # shellcheck disable=SC2059 # the format is the byte
  printf "\\x$(printf %02x $((byte ^ 16)))" |
    dd of="$work/flipped.journal" bs=1 seek=$at conv=notrunc 2>"$work/dd.log"
  check "damage: a bit flipped at byte $at ends with 1" \
    replays 1 "$work/flipped.txt" "$work/flipped.journal"
  check 'damage: what stands before it is the same' says "$work/flipped.txt" 'verdict         the same'
  place=$(sed -n 's/^damage .* in record [0-9]* at byte \([0-9]*\); replayed up to there$/\1/p' \
    "$work/flipped.txt")
  check 'damage: the place is named, a record before it' \
    between $((at - 70000)) "${place:-$length}" $at
  head -c $at "$journal" >"$work/cut.journal"
  check "damage: a journal cut at byte $at replays" replays 0 "$work/cut.txt" "$work/cut.journal"
  check 'damage: and the cut is named' says "$work/cut.txt" 'cut off in record'
done
check 'damage: a list of a damaged journal ends with 1' \
  replays 1 "$work/flipped.list" "$work/flipped.journal" --dump
head -c 40 "$journal" >"$work/begun.journal"
check 'damage: a journal without its beginning ends with 2' \
  replays 2 "$work/begun.txt" "$work/begun.journal"

"$fragd" serve --port "$port" --map "$map" --journal "$work/limited.journal" --journal-limit 1 \
  +set sv_maxclients 64 +set sv_maxclientsPerIP 0 <"$work/console" >"$work/limited.log" 2>&1 &
server=$!
started+=("$server")
for _ in $(seq 100); do says "$work/limited.log" 'listening' && break; sleep 0.1; done
"$fragd" bots --connect "127.0.0.1:$port" -n 64 --seconds 15 --seed 5 >"$work/limited_bots.txt" 2>&1
kill -INT "$server"
wait "$server"
check 'limit: the server ends well' [ $? = 0 ]
check 'limit: the journal says that it ends' says "$work/limited.log" 'journal size limit reached'
size=$(stat -c %s "$work/limited.journal")
check 'limit: it is kept' between 1048576 "$size" 1200000
check 'limit: the journal replays' replays 0 "$work/limited.txt" "$work/limited.journal"
check 'limit: and says why it ends' says "$work/limited.txt" 'at its limit'
mkdir -p "$work/nothing"
if grep -q 'found [0-9]* maps in' "$work/server.log"; then
  check 'replay: without the map ends with 2' replays 2 "$work/nomap.txt" "$journal" \
    --basepath "$work/nothing"
  check 'replay: and names the map' says "$work/nomap.txt.err" "maps/$map.bsp not found"
fi
note "$(sed -n '/^replayed/p;/^compared/p' "$work/whole.txt" | tr -s ' ' | tr '\n' ',')" \
  "$(stat -c %s "$journal") bytes of journal"
finish
