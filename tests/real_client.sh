#!/bin/bash
# Join check with the unmodified ioquake3 client over each protocol, and with several clients at once.
#
#   tests/real_client.sh [--wire compat|native|68|67|66]... [--server fragd|ioq3ded|HOST:PORT]
#                        [--alone | --together | --predict | --movers | --sight] [--seconds 5]
#                        [--map oa_dm1]... [--out DIRECTORY]
#
# --wire      only these protocols; otherwise all five
#             compat  OpenArena's protocol 71: the framing of 68 under another number
#             native  ioquake3's own protocol 71 (checksummed headers, no scrambling)
#             68      protocol 68, as in vanilla Quake III 1.32
#             67, 66  protocol 68 under the numbers of 1.31 and 1.30
# --server    server to check: fragd, built in release or named by $FRAGD (default); ioquake3's own
#             server, to validate the checks; or a running server that lets its players fly, without
#             checks that need its console
# --alone     one client after the other only; --together: the first three at once only
# --predict   only: a client walks, strafes, jumps, ducks, leaps from jump pads and swims by a script for
#             60 seconds (or --seconds) on each of four maps (or each --map) over compat, and on the
#             first over native too; the client logs each mispredicted step. The same run is made on
#             ioquake3's own server at the same time, and fragd may not mispredict more often
# --movers    only: the same for a player on the fast lift of kaos2, standing and jumping, and for a
#             player who leans on a button
# --sight     only: two moving clients receive each other while visible, and not behind walls; each
#             takes pictures
# --seconds   minimum play of each client that is alone
# --out       directory for logs, demos and pictures
#
# Needs Debian's packages ioquake3 openarena xvfb imagemagick libgl1-mesa-dri qstat, and
# ioquake3-server openarena-server for `--server ioq3ded`; all of these and unzip for the walks. About
# half a minute per protocol, and one more for three at once.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/navigation.sh
. "$(dirname "$0")/navigation.sh"
# shellcheck source=tests/prediction.sh
. "$(dirname "$0")/prediction.sh"

wires=() kind=fragd alone=1 together=1 predict=0 movers=0 sight=0 seconds= maps=() out=
while [ $# -gt 0 ]; do
  case $1 in
    --wire)
      case ${2:-} in compat | native | 68 | 67 | 66) ;; *) echo "$0: no wire '${2:-}'" >&2; exit 2 ;; esac
      wires+=("$2"); shift 2 ;;
    --server) kind=${2:?}; shift 2 ;;
    --alone) together=0; shift ;;
    --together) alone=0; shift ;;
    --predict) predict=1 alone=0 together=0; shift ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --movers) movers=1 alone=0 together=0; shift ;;
    --sight) sight=1 alone=0 together=0; shift ;;
    --map) maps+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#wires[@]} -gt 0 ] || wires=(compat native 68 67 66)
named_maps=${maps[*]} kind_name=${kind//:/-}
if [ "$predict" -eq 1 ]; then
  [ ${#maps[@]} -gt 0 ] || maps=(aggressor oa_dm4 pool_oa_dm7 pads_wrackdm17)
  seconds=${seconds:-60}
fi
map=${maps[0]:-oa_dm1} seconds=${seconds:-5}

# Second map for the map change, from the same data.
other_map=oa_dm4
# Minimum speed in free flight with a held button, in units per second.
least_flight=100
# Tolerance of the client's own prediction: it knows the flight rules exactly.
most_misses=2

# Cheats are off after `map`, and the peer's free flight is one.
map_command=map

own_server() { [ -n "$server_pid" ]; }

# --- Steps of one client ------------------------------------------------------------------------

# Free flight is a fragd ruleset; on ioquake3 it is a cheat.
lift_off() {
  [ "$kind" = ioq3ded ] || return 0
  sleep 1.1 # within a second of the commands sent on entering, flood protection would swallow it
  here "${client_log[$1]}"
  order "$1" noclip
  hears 5 "${client_log[$1]}" '^noclip ON'
}

# moved FROM TO: horizontal and vertical distance of two positions.
moved() {
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, p); split(b, q)
    printf "%d %d", sqrt((q[1] - p[1]) ^ 2 + (q[2] - p[2]) ^ 2), q[3] - p[3] }'
}

flight() {
  local name=$1 from ahead up
  where "$name" || { fail "$name: no position"; return; }
  from=$place
  hold "$name" forward 1
  sleep 0.3
  where "$name"
  ahead=$(moved "$from" "$place") from=$place
  hold "$name" moveup 1
  sleep 0.3
  where "$name"
  up=$(moved "$from" "$place")
  check "$name: flies ahead (${ahead% *} units)" [ "${ahead% *}" -ge "$least_flight" ]
  check "$name: rises (${up#* } units)" [ "${up#* }" -ge "$least_flight" ]
}

# snapshots NAME: one second of the client's snapshot log. Every snapshot has to be a delta.
snapshots() {
  local seen
  here "${client_log[$1]}"
  order "$1" 'cl_shownet 3'
  sleep 1.1
  order "$1" 'cl_shownet 0'
  sleep 0.3
  seen=$(fresh "${client_log[$1]}" | awk '
    { sub(/^ */, "") }
    /^snapshot:/ { split($0, part, /[: ]+/); all++; if (part[4] > 0 && part[2] - part[4] <= 8) delta++ }
    END { print all + 0, delta + 0 }')
  check "$1: a second brings ${seen% *} snapshots, ${seen#* } of them deltas" \
    [ "${seen% *}" -ge 15 -a "${seen% *}" = "${seen#* }" ]
}

# demo_summary FILE: messages, missing sequence numbers, and a proper end. The client itself writes the
# first record, so the gap after it does not count.
demo_summary() {
  od -An -v -tu1 -w1 "$1" | awk '
    skip > 0 { skip--; next }
    { head[n++] = $1 }
    n == 8 {
      n = 0
      sequence = head[0] + 256 * (head[1] + 256 * (head[2] + 256 * head[3]))
      skip = head[4] + 256 * (head[5] + 256 * (head[6] + 256 * head[7]))
      if (sequence == 4294967295 && skip == 4294967295) { ended = 1; skip = 0; next }
      if (ended || skip < 4 || skip > 16384) { broken = 1; exit }
      if (messages >= 2) gaps += sequence - last - 1
      last = sequence; messages++
    }
    END { print messages + 0, gaps + 0, (ended && !broken && n == 0 && skip == 0 ? "whole" : "cut") }'
}

demo() {
  local name=$1 file summary messages gaps state
  file=$(ls "${client_home[$name]}"/.oa/baseoa/demos/"$2".dm_* 2>/dev/null)
  [ -n "$file" ] || { fail "$name: no demo"; return; }
  summary=$(demo_summary "$file")
  read -r messages gaps state <<<"$summary"
  check "$name: demo of $(stat -c %s "$file") bytes is $state: $messages messages, $gaps missing" \
    [ "$state" = whole -a "$messages" -ge $((seconds * 15)) -a "$gaps" -eq 0 ]
}

# --- One client alone ---------------------------------------------------------------------------

play_alone() {
  local name=Flyer wire=$1 begun console misses before=$failed
  echo "-- $kind, wire $wire"
  sweep
  server_start "$kind" "$wire" "$map" 8 g_rules flight || { fail "$kind: does not answer"; return; }
  client_start "$name" "$wire" || { fail "$name: the client does not start"; return; }
  console=${client_log[$name]}

  # The engine's own server browser, before it joins.
  here "$console"
  order "$name" "serverstatus $server_address"
  check "$name: its server browser shows the settings" hears 5 "$console" "^mapname +$map\$"

  begun=$(now)
  join "$name" || {
    fail "$name: enters the game"
    note "console: $(fresh "$console" | tail -n 5 | tr '\n' '|')"
    return
  }
  ok "$name: enters the game ($(since "$begun") s after connect)"
  begun=$(now)
  local joined=${mark[$console]}
  order "$name" "record alone_$wire"
  lift_off "$name" || fail "$name: may not fly"
  order "$name" 'cg_showmiss 1'
  sleep 0.2
  here "$console"
  local flying=${mark[$console]}
  flight "$name"
  order "$name" '+left'
  snapshots "$name"
  order "$name" '-left'
  if own_server; then
    here "$console"
    server_order 'say word-from-the-console'
    check "$name: hears the server's console" hears 5 "$console" 'word-from-the-console'
    here "$console"
    order "$name" 'rcon status'
    check "$name: rcon status shows the player" hears 5 "$console" "^ *0 .* $name "
  fi
  while awk -v a="$begun" -v b="$(now)" -v s="$seconds" 'BEGIN { exit !(b - a < s) }'; do
    hold "$name" forward 0.3
    hold "$name" left 0.2
  done
  here "$console"
  own_server && here "$server_log"
  order "$name" "say still-here-$wire"
  check "$name: plays for $(since "$begun") s and is heard in its own console" \
    hears 5 "$console" "^$name: still-here-$wire"
  own_server && check "$name: is heard in the server's log" hears 5 "$server_log" "still-here-$wire"

  mark[$console]=$flying
  misses=$(fresh "$console" | grep -ac '^Prediction miss')
  check "$name: predicts its flight as the server flies it ($misses misses)" \
    [ "$misses" -le "$most_misses" ]
  order "$name" 'cg_showmiss 0'
  if picture "$name" "alone_$wire"; then
    check "$name: draws a world ($(count_colors "$work/alone_$wire.jpg") colors)" \
      [ "$(count_colors "$work/alone_$wire.jpg")" -ge 64 ]
  else
    fail "$name: takes a screenshot"
  fi
  order "$name" stoprecord
  sleep 0.3
  demo "$name" "alone_$wire"
  mark[$console]=$joined
  no_faults "$name" 'plays'

  if own_server; then
    here "$console"
    server_order 'map_restart 0'
    check "$name: follows a map_restart" hears 10 "$console" "^$name entered the game"
    sleep 1
    expect_game "$name"
    server_order "$map_command $other_map"
    check "$name: follows a change of maps" in_game "$name"
    where "$name" || fail "$name: stands nowhere on $other_map"
    mark[$console]=$joined
    no_faults "$name" 'changes maps'
  fi

  # A second stay of the same process: a new challenge, the same qport.
  sleep 3
  expect_game "$name"
  order "$name" reconnect
  check "$name: comes back by reconnect" in_game "$name"

  # The client plays the demo: inconsistent data is reported in its console.
  here "$console"
  order "$name" disconnect
  sleep 0.3
  order "$name" 'set timedemo 1'
  order "$name" "demo alone_$wire"
  check "$name: its demo plays to the end" hears 30 "$console" '^[0-9]+ frames'
  no_faults "$name" 'plays its demo'

  check "$name: quits" client_end "$name"
  own_server || return
  check "$name: is off the player list" await 5 nobody_on
  end_server
  [ "$failed" -eq "$before" ] || keep_work=1
}

# shellcheck disable=SC2317 # called by `await`
nobody_on() { [ "$(players)" = 0 ]; }

# players: number of players by quakestat.
players() { quakestat -raw '|' -q3s "$server_address" | awk -F'|' 'NR == 1 { print $6 + 0 }'; }

# end_server: sends the signal of a system shutdown.
end_server() {
  local faults
  faults=$(server_faults)
  [ -z "$faults" ] || note "server: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check "server: nothing bad in its log" [ -z "$faults" ]
  check "server: ends within 5 s of SIGTERM" stop "$server_pid" 5
  [ "$kind" = fragd ] || return
  wait "$server_pid"
  check "server: exit code 0" [ $? -eq 0 ]
}

# --- Several clients at once --------------------------------------------------------------------

# Moves FIRST close to SECOND and turns it there, by its own buttons alone.
approach() {
  local one=$1 other=$2 goal here_now turn distance height round
  where "$other" && goal=$place || return 1
  order "$one" 'cl_yawspeed 90'
  for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    where "$one" && here_now=$place || return 1
    read -r turn distance height < <(awk -v a="$here_now" -v b="$goal" 'BEGIN {
      split(a, p); split(b, q); dx = q[1] - p[1]; dy = q[2] - p[2]
      turn = atan2(dy, dx) * 57.29578 - p[4]
      while (turn > 180) turn -= 360
      while (turn < -180) turn += 360
      printf "%d %d %d\n", turn, sqrt(dx * dx + dy * dy), q[3] - p[3] }')
    if [ "${height#-}" -gt 60 ]; then
      hold "$one" "$([ "$height" -gt 0 ] && echo moveup || echo movedown)" "$(portion "$height" 320)"
    elif [ "$distance" -lt 60 ]; then
      hold "$one" back 0.4
    elif [ "${turn#-}" -gt 8 ]; then
      hold "$one" "$([ "$turn" -gt 0 ] && echo left || echo right)" "$(portion "$turn" 90)"
    elif [ "$distance" -gt 250 ]; then
      hold "$one" forward "$(portion $((distance - 150)) 320)"
    else
      note "$one is $distance units from $other, which is $turn degrees off, after $round steps"
      return 0
    fi
    sleep 0.25
  done
  return 1
}

# portion AMOUNT PER_SECOND: seconds to hold a button, at most two.
portion() {
  awk -v a="${1#-}" -v s="$2" 'BEGIN { t = a / s; if (t > 2) t = 2; printf "%.2f", t }'
}

# seen_players NAME: numbers of the player entities in the snapshots of half a second, and the number of
# their position changes. A client never receives its own entity, so each of them is another player.
seen_players() {
  here "${client_log[$1]}"
  order "$1" 'cl_shownet 3'
  sleep 0.5
  order "$1" 'cl_shownet 0'
  sleep 0.2
  fresh "${client_log[$1]}" | awk '
    match($0, /(unchanged|baseline|delta): *[0-9]+ *$/) {
      number = $NF
      if (number < 64) seen[number] = 1
    }
    /#[0-9]+ / { split($0, part, "#"); if (part[2] + 0 < 64 && /pos\.trBase/) moves++ }
    END { for (number in seen) count++; print count + 0, moves + 0 }'
}

play_together() {
  local -a names=() on=()
  local wire name other begun console seen index=0 before=$failed
  # ioquake3's server has one protocol behind the number 71; fragd has both. Two cores draw three clients.
  if [ "$kind" = ioq3ded ]; then on=(native 68); else on=("${wires[@]:0:3}"); fi
  [ ${#on[@]} -gt 1 ] || on+=("${on[0]}")
  echo "-- $kind, together: ${on[*]}"
  sweep
  server_start "$kind" native "$map" ${#on[@]} g_rules flight || { fail "$kind: does not answer"; return; }

  for wire in "${on[@]}"; do
    name=$(printf 'Ann Bob Cid' | cut -d' ' -f$((index + 1)))
    index=$((index + 1))
    client_start "$name" "$wire" || { fail "$name: the client does not start"; return; }
    for other in "${names[@]}"; do here "${client_log[$other]}"; done
    begun=$(now)
    join "$name" || { fail "$name: enters the game over $wire"; return; }
    ok "$name: enters the game over $wire ($(since "$begun") s after connect)"
    for other in "${names[@]}"; do
      check "$other: is told that $name entered" \
        hears 5 "${client_log[$other]}" "^$name entered the game"
    done
    names+=("$name")
  done
  check "quakestat: counts ${#names[@]} players" [ "$(players)" = ${#names[@]} ]

  if own_server; then
    client_start Eve "${on[0]}" || { fail 'Eve: the client does not start'; return; }
    here "${client_log[Eve]}"
    order Eve "connect $server_address"
    check 'Eve: is told that the server is full' hears 10 "${client_log[Eve]}" '[Ss]erver is full'
    client_end Eve
  fi

  # The first client rejoins, so that later clients see it enter, too.
  sleep 2
  for other in "${names[@]}"; do here "${client_log[$other]}"; done
  order "${names[0]}" disconnect
  check "${names[1]}: is told that ${names[0]} left" \
    hears 5 "${client_log[${names[1]}]}" "^${names[0]} (disconnected|left)"
  sleep 3
  join "${names[0]}" || fail "${names[0]}: comes back"
  for other in "${names[@]:1}"; do
    check "$other: is told that ${names[0]} entered" \
      hears 5 "${client_log[$other]}" "^${names[0]} entered the game"
  done

  sleep 1.1
  for name in "${names[@]}"; do here "${client_log[$name]}"; done
  for name in "${names[@]}"; do order "$name" "say greetings-from-$name"; done
  for name in "${names[@]}"; do
    for other in "${names[@]}"; do
      check "$other: hears $name" hears 5 "${client_log[$other]}" "^$name: greetings-from-$name"
    done
  done

  for name in "${names[@]}"; do lift_off "$name" || fail "$name: may not fly"; done
  for name in "${names[@]:1}"; do
    approach "$name" "${names[0]}" || fail "$name: does not get to ${names[0]}"
  done
  picture "${names[1]}" together && note "$work/together.jpg is what ${names[1]} sees"
  check "${names[1]}: draws a world ($(count_colors "$work/together.jpg") colors)" \
    [ "$(count_colors "$work/together.jpg")" -ge 64 ]
  # One client flies back and forth in view of the others, which receive its movement.
  for name in "${names[@]}"; do
    other=${names[0]}
    [ "$name" != "$other" ] || other=${names[1]}
    order "$other" '+moveup'
    seen=$(seen_players "$name")
    order "$other" '-moveup'
    check "$name: is sent ${seen% *} other players, moving (${seen#* } changes)" \
      [ "${seen% *}" -eq $((${#names[@]} - 1)) -a "${seen#* }" -ge 3 ]
    hold "$other" movedown 0.7
  done
  for name in "${names[@]}"; do
    from_start "$name"
    no_faults "$name" 'plays'
  done

  own_server || { for name in "${names[@]}"; do client_end "$name"; done; return; }
  name=${names[1]}
  for other in "${names[@]}"; do here "${client_log[$other]}"; done
  server_order "kick $name"
  check "$name: is told that it was kicked" hears 5 "${client_log[$name]}" 'was kicked'
  check "${names[0]}: is told that $name was kicked" \
    hears 5 "${client_log[${names[0]}]}" "^$name was kicked"

  console=${client_log[${names[0]}]}
  here "$console"
  end_server
  check "${names[0]}: is told that the server ends" hears 5 "$console" \
    'disconnected|Received signal|Server (quit|shut|was)|shutting down'
  for name in "${names[@]}"; do client_end "$name"; done
  [ "$failed" -eq "$before" ] || keep_work=1
}

# --- Sight --------------------------------------------------------------------------------------

# Both spawn on one straight stretch of oa_dm1, facing each other.
sight_spawns='info_player_deathmatch|-656 976 24|90
info_player_deathmatch|-656 1470 24|270'
# Place and yaw in another room.
behind_walls='1128 1424 72 180'

# Each receives the other, moving, while visible, and no player behind walls.
play_sight() {
  local name other seen wire=${wires[0]} before=$failed
  echo "-- $kind, in sight and out of it, wire $wire"
  sweep
  map_with oa_dm1 sight_oa_dm1 "$sight_spawns" || { fail 'oa_dm1: cannot be taken from its archive'; return; }
  server_start "$kind" "$wire" sight_oa_dm1 8 || { fail "$kind: does not answer"; return; }
  for name in Ann Bob; do
    client_start "$name" "$wire" || { fail "$name: the client does not start"; return; }
    join "$name" || { fail "$name: enters the game"; return; }
  done
  for name in Ann Bob; do
    other=Bob
    [ "$name" = Ann ] || other=Ann
    where "$other" && face "$name" "$place"
    order "$other" '+moveleft'
    seen=$(seen_players "$name")
    order "$other" '-moveleft'
    check "$name: is sent $other, who moves (${seen#* } changes)" \
      [ "${seen% *}" -eq 1 -a "${seen#* }" -ge 3 ]
    where "$other" && face "$name" "$place"
    picture "$name" "sight-$name-sees-$other" && note "$work/sight-$name-sees-$other.jpg"
  done
  order Ann "setviewpos $behind_walls"
  sleep 1
  for name in Ann Bob; do
    picture "$name" "sight-$name-alone" && note "$work/sight-$name-alone.jpg"
    seen=$(seen_players "$name")
    check "$name: is sent nobody behind walls" [ "${seen% *}" -eq 0 ]
  done
  order Ann "setviewpos -656 976 24 90"
  sleep 1
  for name in Ann Bob; do
    seen=$(seen_players "$name")
    check "$name: is sent the other again" [ "${seen% *}" -eq 1 ]
  done
  for name in Ann Bob; do client_end "$name" >/dev/null; done
  own_server && end_server
  [ "$failed" -eq "$before" ] || keep_work=1
}

# from_start NAME: log from the main menu on.
from_start() {
  local log=${client_log[$1]} offset
  offset=$(grep -aob 'Common Initialization Complete' "$log" | head -n 1 | cut -d: -f1)
  mark[$log]=${offset:-0}
}

begin real-client "$out"
need Xvfb stdbuf identify quakestat "$client_engine" "$client_data"
case $kind in
  fragd) find_fragd ;;
  ioq3ded) need "$peer_engine" "$peer_data"; map_command=devmap ;;
  *:*) ;;
  *) echo "$0: no server '$kind'" >&2; exit 2 ;;
esac
[ $((predict + movers + sight)) -eq 0 ] || need unzip perl
[ $((predict + movers)) -eq 0 ] || need "$peer_engine" "$peer_data"
begun_at=$(now)
if [ "$alone" -eq 1 ]; then for one in "${wires[@]}"; do play_alone "$one"; done; fi
[ "$together" -eq 0 ] || play_together
[ "$predict" -eq 0 ] || play_prediction
[ "$movers" -eq 0 ] || play_movers
[ "$sight" -eq 0 ] || play_sight
note "took $(since "$begun_at") s"
finish
