#!/bin/bash
# Check of multi-view recordings: one file gives every player's demo, and spectators' views that play.
#
#   tests/multiview.sh [--wire compat|native|68] [--seconds 15] [--out DIRECTORY]
#
# --wire     protocol of the client; otherwise compat
# --seconds  length of the recording
# --out      directory for logs and demos
#
# The unmodified ioquake3 client and six bots of fragd fight while the server records the match and every
# player, and the client records itself. A demo extracted from the match equals the server's own demo of that
# player byte for byte, and the client's recording snapshot by snapshot. The client plays the extracted demo, a
# following view and a fixed view to their ends without an error in its console.
#
# Needs the packages of `real_client.sh`, and jq. About 70 seconds.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

wire=compat seconds=15 out=
while [ $# -gt 0 ]; do
  case $1 in
    --wire)
      case ${2:-} in compat | native | 68) wire=$2 ;; *) echo "$0: no wire '${2:-}'" >&2; exit 2 ;; esac
      shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
map=oa_dm1 name=Ann
number=71
[ "$wire" != 68 ] || number=68

# complete COUNT: whether that number of recordings is complete.
# shellcheck disable=SC2317 # called by `await`
complete() { [ "$(find "$work/demos" -name 'both_*' ! -name '*.part' | wc -l)" -eq "$1" ]; }

record_match() {
  local bots
  server_start fragd "$wire" "$map" 16 sv_demoFolder "$work/demos" fraglimit 0 timelimit 0 \
    g_doWarmup 0 || { fail 'server answers'; return 1; }
  client_start "$name" "$wire" || { fail 'client starts'; return 1; }
  launch /dev/null "$work/bots.log" "$fragd" bots --connect "$server_address" -n 6 \
    --seconds $((seconds + 30)) --do wander,fight
  bots=$launched
  join "$name" || { fail 'client enters the game'; return 1; }
  await 20 counts 7
  order "$name" "record own"
  here "$server_log"
  server_order 'record all both; record match both'
  check 'server starts the recordings' hears 5 "$server_log" 'recording .*\.mv.* started' || return 1
  sleep "$seconds"
  order "$name" 'say the-end-of-the-match'
  hears 5 "$server_log" 'the-end-of-the-match'
  server_order 'stoprecord all; stoprecord match'
  check 'server completes seven demos and the match' await 5 complete 8 || return 1
  order "$name" stoprecord
  sleep 0.5
  order "$name" disconnect
  stop "$bots" 5 INT
}

check_views() {
  local match own theirs demo player same=0
  match=$(ls "$work"/demos/both_*_match.mv)
  check "match decodes: $("$fragd" demo check "$match" | tail -n 1 | sed 's/.*: //')" "$fragd" demo check "$match"
  note "$("$fragd" demo info "$match" | grep length)"
  note "$("$fragd" demo time "$match" | sed 's/.*: //')"
  for theirs in "$work"/demos/both_"${map}"_*.dm_*; do
    player=${theirs##*both_"${map}"_} player=${player%.dm_*}
    demo=$work/view_$player.${theirs##*.}
    "$fragd" demo extract --player "$player" "$match" -o "$demo" >>"$work/extract.log" 2>&1
    if cmp -s "$theirs" "$demo"; then same=$((same + 1)); else note "differs: $player"; fi
  done
  check "demos of $same of 7 players equal the server's own, byte for byte" [ "$same" -eq 7 ]
  own=$(ls "${client_home[$name]}/.oa/baseoa/demos/own".dm_*)
  equal_snapshots "$work/view_$name.dm_$number" "$own" $((seconds * 10)) "match and client's recording"
  check 'events of the match have the chat at the end' \
    grep -q 'the-end-of-the-match' <("$fragd" demo events "$match")

  plays "$name" "$work/view_$name.dm_$number" 'the extracted demo'
  demo=$work/follow.dm_$number
  check 'a following view is extracted' "$fragd" demo extract --follow "$name" "$match" -o "$demo"
  check 'the following view decodes' "$fragd" demo check "$demo"
  plays "$name" "$demo" 'the following view'
  demo=$work/free.dm_$number
  check 'a fixed view is extracted' \
    "$fragd" demo extract --free 0,0,200,90 --basepath "$client_data" "$match" -o "$demo"
  check 'the fixed view decodes' "$fragd" demo check "$demo"
  plays "$name" "$demo" 'the fixed view'
  head -c $(($(stat -c %s "$match") / 2)) "$match" >"$work/half.mv"
  check 'half of the file gives half of the match and names the cut' \
    grep -q 'cut off' <("$fragd" demo check "$work/half.mv" 2>&1)
  check 'half of the file has a description that names the cut' describes_cut "$work/half.mv"
}

# describes_cut FILE: whether `demo info` shows the match and ends with 1.
describes_cut() {
  local text code=0
  text=$("$fragd" demo info "$1" 2>&1) || code=$?
  [ "$code" -eq 1 ] && grep -q 'cut off' <<<"$text"
}

begin multiview "$out"
need jq Xvfb identify "$client_engine" "$client_data"
find_fragd
if record_match; then
  check_views
  check 'client quits' client_end "$name"
  check "server's log has nothing bad" [ -z "$(server_faults)" ]
  check 'server ends within 5 s of SIGTERM' stop "$server_pid" 5
fi
sweep
finish
