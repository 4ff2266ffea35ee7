#!/bin/bash
# Check of server-side demos: the unmodified ioquake3 client plays them, and `fragd demo` reads them.
#
#   tests/demos.sh [--wire compat|native|68]... [--seconds 12] [--out DIRECTORY]
#
# --wire     only these protocols; otherwise all three
# --seconds  length of the recordings
# --out      directory for logs, demos and pictures
#
# For each protocol, a client and six bots of fragd fight while server and client record the client at the
# same time. Snapshots of both recordings are equal. The client plays the server's demo and a cut of it to
# their ends without an error in its console, and shows as many deaths as `fragd demo events`.
# Then bots of each protocol are recorded; the recording of protocol 43 is converted to 68.
#
# Needs the packages of `real_client.sh`, and jq. About 45 seconds per protocol.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

wires=() seconds=12 out=
while [ $# -gt 0 ]; do
  case $1 in
    --wire)
      case ${2:-} in compat | native | 68) ;; *) echo "$0: no wire '${2:-}'" >&2; exit 2 ;; esac
      wires+=("$2"); shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#wires[@]} -gt 0 ] || wires=(compat native 68)
map=oa_dm1 name=Ann

# deaths_shown: deaths that the client's console has reported since its mark. Each line of an obituary
# begins with the name of the victim; names of bots have no spaces.
deaths_shown() {
  local victims
  victims=$(jq -r 'select(.event == "frag") | .victim_name' "$work/events.txt" | sort -u | paste -sd '|')
  fresh "${client_log[$name]}" | grep -aE "^($victims) " |
    grep -acvE 'entered the game|connected|renamed|joined|disconnected|timed out'
}

# recorded WIRE: file of the server's recording, once it is complete.
# shellcheck disable=SC2317 # called by `await`
recorded() { file=$(ls "$work/demos-$1"/*_"$map"_"$name".dm_* 2>/dev/null | grep -v part); [ -n "$file" ]; }

# quiet COMMAND...: runs it without output.
quiet() { "$@" >>"$work/demo-commands.txt" 2>&1; }

# watch WIRE: plays a demo at its own speed and takes a picture of it.
watch() {
  local console=${client_log[$name]}
  here "$console"
  order "$name" 'set timedemo 0'
  order "$name" 'set activeAction "echo first frame of the demo"'
  order "$name" 'demo shown'
  check "client shows the demo" hears 30 "$console" '^first frame of the demo' || return
  sleep 2
  if picture "$name" "demo_$1"; then
    check "client draws a world of the demo ($work/demo_$1.jpg, $(count_colors "$work/demo_$1.jpg") colors)" \
      [ "$(count_colors "$work/demo_$1.jpg")" -ge 64 ]
  else
    fail "client takes a picture of the demo"
  fi
  order "$name" disconnect
}

one_wire() {
  local wire=$1 file own deaths shown cut
  echo "-- wire $wire"
  sweep
  server_start fragd "$wire" "$map" 16 sv_demoFolder "$work/demos-$wire" fraglimit 0 timelimit 0 \
    g_doWarmup 0 || { fail 'server answers'; return; }
  client_start "$name" "$wire" || { fail 'client starts'; return; }
  launch /dev/null "$work/bots-$wire.log" "$fragd" bots --connect "$server_address" -n 6 \
    --seconds $((seconds + 30)) --do wander,fight
  local bots=$launched
  join "$name" || { fail 'client enters the game'; return; }
  await 20 counts 7
  order "$name" "record own_$wire"
  here "$server_log"
  server_order "record all match_$wire"
  check 'server starts the recordings' hears 5 "$server_log" "recording .*$name.dm_.* started"
  # Until there is something to count: ten deaths, at most three times as long as asked.
  local began=$SECONDS
  while [ $((SECONDS - began)) -lt "$seconds" ] ||
    { [ "$(fresh "$server_log" | grep -ac 'Kill: ')" -lt 5 ] && [ $((SECONDS - began)) -lt $((3 * seconds)) ]; }; do
    sleep 0.5
  done
  order "$name" 'say the-end-of-the-demo'
  hears 5 "$server_log" 'the-end-of-the-demo'
  server_order 'stoprecord all'
  check 'server completes the recordings' await 5 recorded "$wire" || return
  order "$name" stoprecord
  sleep 0.5
  own=$(ls "${client_home[$name]}/.oa/baseoa/demos/own_$wire".dm_*)
  check "recordings of all seven players are complete" \
    [ "$(find "$work/demos-$wire" -name "match_${wire}_*.dm_*" ! -name '*.part' | wc -l)" -eq 7 ]
  "$fragd" demo check "$work/demos-$wire"/*.dm_* >"$work/decoded-$wire.txt"
  check "every recording decodes, the last one as $(sed -n '$s/.*: //p' "$work/decoded-$wire.txt")" \
    [ "$(grep -c ' 0 errors, 0 notes$' "$work/decoded-$wire.txt")" -eq 7 ]
  equal_snapshots "$file" "$own" $((seconds * 10)) "server's and client's recordings"
  stop "$bots" 5 INT

  "$fragd" demo events --json "$file" >"$work/events.txt"
  deaths=$(grep -c '"event":"frag"' "$work/events.txt")
  check "events have the chat at the end" grep -q 'the-end-of-the-demo' "$work/events.txt"
  check "events have deaths: $deaths" [ "$deaths" -ge 3 ]
  order "$name" disconnect
  sleep 0.5
  plays "$name" "$file" "the server's demo"
  shown=$(deaths_shown)
  check "client and reader agree on the deaths: $shown and $deaths" [ "$shown" -eq "$deaths" ]
  watch "$wire"

  cut=$work/cut_$wire.${file##*.}
  check 'a part is cut' quiet "$fragd" demo cut "$file" --from 5s --to 12s -o "$cut" &&
    check 'the part decodes' quiet "$fragd" demo check "$cut"
  plays "$name" "$cut" 'the cut'
  check "paths are drawn on the map" quiet \
    "$fragd" demo draw "$file" --basepath "$client_data" -o "$work/paths_$wire.png"
  note "$("$fragd" demo time "$file" | sed 's/.*: //')"
  check 'client quits' client_end "$name"
  check "server's log has nothing bad" [ -z "$(server_faults)" ]
  check 'server ends within 5 s of SIGTERM' stop "$server_pid" 5
}

# Recordings of clients of all protocols; that of the oldest one is converted. OpenArena's client shows no demo of the
# base game.
all_protocols() {
  local old new file
  echo '-- recordings of each protocol'
  sweep
  server_start fragd - fragd1 16 game baseq3 sv_demoFolder "$work/demos-each" fraglimit 0 || { fail 'server answers'; return; }
  launch /dev/null "$work/bots-each.log" "$fragd" bots --connect "$server_address" -n 7 --ramp 14/s --seconds 18 \
    --protocol each --do wander,fight
  local bots=$launched
  await 20 counts 7
  server_order 'record all match'
  sleep 8
  server_order 'stoprecord all'
  check 'recordings of each protocol are complete, 43 and 45 as .dm3' await 5 each_recorded
  "$fragd" demo check "$work"/demos-each/*.dm* >"$work/decoded-each.txt"
  check "every recording decodes, the first one as $(sed -n '1s/.*: //p' "$work/decoded-each.txt")" \
    [ "$(grep -c ' 0 errors, 0 notes$' "$work/decoded-each.txt")" -eq 7 ]
  stop "$bots" 5 INT
  old=$(ls "$work"/demos-each/*.dm3 | head -n 1) new=$work/converted.dm_68
  check 'a recording of 43 is converted to 68' quiet "$fragd" demo convert "$old" -o "$new" &&
    check 'the result decodes' quiet "$fragd" demo check "$new"
  for file in "$old" "$new"; do
    "$fragd" demo events --json "$file" | jq -c 'select(.event == "frag") | [.attacker, .victim]' >"$file.frags"
  done
  check "both have the same $(wc -l <"$new.frags") frags" cmp -s "$old.frags" "$new.frags"
  check 'server ends within 5 s of SIGTERM' stop "$server_pid" 5
}

# shellcheck disable=SC2317 # called by `await`
each_recorded() {
  [ "$(find "$work/demos-each" -type f | sed 's/.*\.//' | sort | tr '\n' ' ')" = 'dm3 dm3 dm_66 dm_67 dm_68 dm_71 dm_71 ' ]
}

begin demos "$out"
need jq Xvfb identify "$client_engine" "$client_data"
find_fragd
for wire in "${wires[@]}"; do one_wire "$wire"; done
all_protocols
sweep
finish
