#!/bin/bash
# Joins a server with the unmodified ioquake3 client over each wire, and with several at once.
#
#   tests/real_client.sh [--wire compat|native|68]... [--server fragd|ioq3ded|HOST:PORT]
#                        [--alone | --together | --predict | --sight] [--seconds 5] [--map oa_dm1]...
#                        [--out DIRECTORY]
#
# --wire      only these; otherwise all three
#             compat  protocol number 71 on the protocol-68 wire, as OpenArena's players have it
#             native  ioquake3's own protocol 71 (checksummed headers, nothing scrambled)
#             68      protocol 68, as in vanilla Quake III 1.32
# --server    what is checked: fragd, built in release or named by $FRAGD (the default); ioquake3's
#             own server, to check these checks; or a server that runs already and lets its players
#             fly, of which nothing is asked that needs its console
# --alone     one client after the other only; --together: all at once only
# --predict   the prediction run only: one client after the other walks, strafes, jumps, ducks and
#             swims by a script for 60 seconds (or --seconds) on each of four maps (or each --map)
#             over compat, and on the first over native too; the client logs each step that the
#             server took otherwise. The same is done on ioquake3's own server, and ours may be
#             wrong no more often
# --sight     only: two clients walk about on a map, are sent each other in sight, and not behind walls
# --seconds   least play of each client that is alone
# --out       where logs, demos and pictures go and stay
#
# Needs Debian's packages ioquake3 openarena xvfb imagemagick libgl1-mesa-dri qstat, and
# ioquake3-server openarena-server for `--server ioq3ded`. About half a minute per wire, and one more
# for all at once.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/walker.sh
. "$(dirname "$0")/walker.sh"

wires=() kind=fragd alone=1 together=1 predict=0 lift=0 sight=0 seconds= maps=() out=
while [ $# -gt 0 ]; do
  case $1 in
    --wire)
      case ${2:-} in compat | native | 68) ;; *) echo "$0: no wire '${2:-}'" >&2; exit 2 ;; esac
      wires+=("$2"); shift 2 ;;
    --server) kind=${2:?}; shift 2 ;;
    --alone) together=0; shift ;;
    --together) alone=0; shift ;;
    --predict) predict=1 alone=0 together=0; shift ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --lift) lift=1 alone=0 together=0; shift ;;
    --sight) sight=1 alone=0 together=0; shift ;;
    --map) maps+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#wires[@]} -gt 0 ] || wires=(compat native 68)
named_maps=${maps[*]} kind_name=${kind//:/-}
if [ "$predict" -eq 1 ]; then
  [ ${#maps[@]} -gt 0 ] || maps=(oa_dm1 oa_dm4 pool_oa_dm7 pads_wrackdm17)
  seconds=${seconds:-60}
fi
map=${maps[0]:-oa_dm1} seconds=${seconds:-5}

# A second level for the change of maps, from the same data.
other_map=oa_dm4
# Units that a player in free flight has to cover in a second of holding a button.
least_flight=100
# How far the client's own prediction may be wrong: it knows the server's rules of flight exactly.
most_misses=2

# Cheats are off after `map`, and the peer's free flight is one.
map_command=map

own_server() { [ -n "$server_pid" ]; }

# --- Steps of one client ------------------------------------------------------------------------

# Free flight is what fragd's first game is; on the peer it is a cheat that has to be asked for.
lift_off() {
  [ "$kind" = ioq3ded ] || return 0
  sleep 1.1 # within a second of the commands sent on entering, flood protection would swallow it
  here "${client_log[$1]}"
  order "$1" noclip
  hears 5 "${client_log[$1]}" '^noclip ON'
}

# moved FROM TO: horizontal and vertical distance between two places.
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

# snapshots NAME: a second of what the client reads. Every snapshot has to be a delta.
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

# demo_summary FILE: messages, sequence numbers left out between them, whether it ends as it should.
# The first record is made up by the client when recording begins, so the gap after it is none.
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

# no_faults NAME DOING: is the console clean since its mark?
no_faults() {
  local faults
  faults=$(client_faults "$1")
  [ -z "$faults" ] || note "$1's console: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check "$1: $2 without an error in the console" [ -z "$faults" ]
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
    check "$name: draws a world ($(colours "$work/alone_$wire.jpg") colours)" \
      [ "$(colours "$work/alone_$wire.jpg")" -ge 64 ]
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

  # The demo is judged by who has to read it: what does not fit together is said in the console.
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

# players: how many quakestat counts.
players() { quakestat -raw '|' -q3s "$server_address" | awk -F'|' 'NR == 1 { print $6 + 0 }'; }

# end_server: by the signal that an operating system sends.
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

# Brings FIRST close to SECOND and lets it look there, by its own buttons alone.
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

# seen_players NAME: numbers of the player entities in the snapshots of half a second, and how many
# changes of their positions came. A client is never sent itself, so each of them is somebody else.
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
  # ioquake3's server has one wire behind the number 71; fragd has both.
  if [ "$kind" = ioq3ded ]; then on=(native 68); else on=("${wires[@]}"); fi
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

  # The first goes and comes again, so that those who came later see it enter too.
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
  check "${names[1]}: draws a world ($(colours "$work/together.jpg") colours)" \
    [ "$(colours "$work/together.jpg")" -ge 64 ]
  # One flies to and fro in front of the others, who are sent it moving.
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

# --- Prediction ---------------------------------------------------------------------------------

# Two of the maps begin every life where it matters: in the water, and above a jump pad.
pool_spawn='info_player_deathmatch|640 -1000 -200|90' pool_surface=-156
pads_spawn='info_player_deathmatch|0 0 160|0'

# predict_on KIND WIRE MAP LABEL: walks there; leaves a line of figures in the file LABEL, or nothing when there was no run.
predict_on() {
  local name=Walker on=$1 wire=$2 level=$3 label=$4 console from walked wrong events word
  server_start "$on" "$wire" "$level" 8 || { fail "$on: does not answer on $level"; return; }
  client_start "$name" "$wire" || { fail "$name: the client does not start"; return; }
  console=${client_log[$name]}
  join "$name" || { fail "$name: enters the game on $level"; return; }
  sleep 1.1
  watch_steps "$name"
  from=${mark[$console]}
  walk "$name" "$seconds"
  picture "$name" "$label"
  mark[$console]=$from
  wrong=$(misses_of "$name")
  events=
  for word in JUMP_PAD '(SWIM|WATER_[A-Z]*)' JUMP 'PLAYER_TELEPORT_[A-Z]*' 'FALL_[A-Z]*'; do
    events+=" $(events_of "$name" "$word")"
  done
  fresh "$console" >"$work/$label.log"
  # Of the places where a leg ended, those whose eye is below the pool's surface.
  events+=" $(sed -n 's/^(-*[0-9]* -*[0-9]* \(-*[0-9]*\)) : .*/\1/p' "$work/$label.log" |
    awk -v z="$pool_surface" '$1 < z { n++ } END { print n + 0 }')"
  client_end "$name" >/dev/null
  echo "$wrong $walked$events" >"$work/$label.result"
  if [ "$on" != ioq3ded ] && own_server; then end_server; else sweep; fi
}

# tell_walk LABEL: leaves the parts of its result in variables, says them, and judges the walking.
tell_walk() {
  misses='' pads=0 swims=0
  [ -s "$work/$1.result" ] || return
  local deaths legs good units splashes jumps teleports falls
  read -r misses deaths legs good units pads splashes jumps teleports falls swims <"$work/$1.result"
  case $1 in *-pool_*) ;; *) swims=0 ;; esac
  note "$1: $misses misses and $deaths at deaths; $units units, $good of $legs legs got somewhere;" \
    "jumps $jumps, pads $pads, splashes $splashes, legs under water $swims, teleports $teleports, falls $falls"
  check "$1: is on the move most of the time" [ "$good" -ge $((legs * 6 / 10)) -a "$legs" -gt 0 ]
}

play_prediction() {
  local level wire label theirs beside all_pads=0 all_swims=0
  sweep
  for level in "${maps[@]}"; do
    case $level in
      pool_*) map_with "${level#*_}" "$level" "$pool_spawn" ;;
      pads_*) map_with "${level#*_}" "$level" "$pads_spawn" ;;
    esac || { fail "$level: cannot be taken from its archive"; return; }
  done
  for level in "${maps[@]}"; do
    for wire in compat native; do
      [ "$wire" = compat ] || [ "$level" = "${maps[0]}" ] || continue
      echo "-- prediction on $level, wire $wire"
      label=$wire-$level beside='' theirs=''
      # Both servers at once, so that the machine is as busy for the one as for the other.
      if [ "$kind" != ioq3ded ]; then
        apart "$work/$label.out" predict_on "$kind" "$wire" "$level" "walk-$kind_name-$label"
        beside=$launched
      fi
      apart "$work/$label-peer.out" predict_on ioq3ded "$wire" "$level" "walk-ioq3ded-$label"
      rejoin "$launched" "$work/$label-peer.out"
      tell_walk "walk-ioq3ded-$label"
      theirs=$misses
      [ -n "$beside" ] || continue
      rejoin "$beside" "$work/$label.out"
      tell_walk "walk-$kind_name-$label"
      all_pads=$((all_pads + pads)) all_swims=$((all_swims + swims))
      check "$level, $wire: ${misses:-no} misses on $kind, ${theirs:-no} on ioq3ded" \
        [ -n "$misses" -a -n "$theirs" -a "${misses:-1}" -le "${theirs:-0}" ]
    done
  done
  [ "$kind" = ioq3ded ] || [ -n "$named_maps" ] || check \
    "the walks used pads ($all_pads times) and swam ($all_swims legs)" \
    [ "$all_pads" -gt 0 -a "$all_swims" -gt 0 ]
}

# --- Lift ---------------------------------------------------------------------------------------

# What is done on a fast lift, and what it takes: who stands is carried, and predicted well; whoever
# leaves the ground while it rises is pushed each frame, which no client foresees.
lift_ways='stands:
ducks:movedown
jumps:moveup
turns:left'

# ride_on KIND WAY BUTTON: leaves in a file the misses, the rides and the sizes of the misses.
ride_on() {
  local on=$1 way=$2 button=$3 name=Rider console from label=lift-$4-$2 from_z spans=0 begun last rides=0
  server_start "$on" compat lift_kaos2 8 || { fail "$on: does not answer"; return; }
  client_start "$name" compat || { fail "$name: the client does not start"; return; }
  console=${client_log[$name]}
  join "$name" || { fail "$name: enters the game"; return; }
  sleep 1.1
  watch_steps "$name"
  from=${mark[$console]}
  begun=$(now) last=
  while ! past "$begun" "$seconds"; do
    if [ "$button" = moveup ]; then hold "$name" moveup 0.25; else
      [ -z "$button" ] || order "$name" "+$button"
      sleep 0.25
    fi
    where "$name" || return
    [ "$(height_of "$place")" -lt 0 ] || [ "${last:-0}" -ge 0 ] || rides=$((rides + 1))
    last=$(height_of "$place")
  done
  mark[$console]=$from
  fresh "$console" >"$work/$label.log"
  echo "$(misses_of "$name") $rides $(fresh "$console" | awk '/^Prediction miss/ { print $NF }' |
    sort -n | uniq -c | awk '{ printf "%s%dx%s", (NR > 1 ? "," : ""), $1, $2 }')" >"$work/$label.result"
  client_end "$name" >/dev/null
  sweep
}

height_of() { awk -v a="$1" 'BEGIN { split(a, p); printf "%d", p[3] }'; }

play_lift() {
  local way button beside misses deaths rides sizes theirs their_rides
  sweep
  map_with kaos2 lift_kaos2 'info_player_deathmatch|-192 896 -400' || { fail 'kaos2: cannot be taken from its archive'; return; }
  while IFS=: read -r way button; do
    echo "-- $way on a lift of 600 units a second (kaos2)"
    apart "$work/lift.out" ride_on "$kind" "$way" "$button" "$kind_name"
    beside=$launched
    apart "$work/lift-peer.out" ride_on ioq3ded "$way" "$button" ioq3ded
    rejoin "$launched" "$work/lift-peer.out"
    rejoin "$beside" "$work/lift.out"
    read -r theirs deaths their_rides sizes <"$work/lift-ioq3ded-$way.result"
    note "ioq3ded: $theirs misses in $their_rides rides ($sizes)"
    read -r misses deaths rides sizes <"$work/lift-$kind_name-$way.result"
    note "$kind: $misses misses in $rides rides ($sizes)"
    check "$way: $misses misses in $rides rides on $kind, $theirs in $their_rides on ioq3ded" \
      [ "$rides" -gt 0 -a "$their_rides" -gt 0 -a \
      $((misses * their_rides)) -le $((theirs * rides + theirs * rides / 2)) ]
  done <<<"$lift_ways"
}

# --- Sight --------------------------------------------------------------------------------------

# Two who walk about meet and part; each is to be sent the other at times, and at times not.
play_sight() {
  local name round seen both='' met=0 parted=0
  echo "-- $kind, in sight and out of it on $map"
  sweep
  server_start "$kind" native "$map" 8 || { fail "$kind: does not answer"; return; }
  for name in Ann Bob; do
    client_start "$name" native || { fail "$name: the client does not start"; return; }
    join "$name" || { fail "$name: enters the game"; return; }
  done
  for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    for name in Ann Bob; do
      seen=$(seen_players "$name")
      both=$both${seen% *}
      if [ "${seen% *}" -eq 0 ]; then
        [ $parted -gt 0 ] || picture "$name" sight-parted
        parted=$((parted + 1))
      else
        [ $met -gt 0 ] || picture "$name" sight-met
        met=$((met + 1))
      fi
    done
    [ $met -lt 2 ] || [ $parted -lt 2 ] || break
    for name in Ann Bob; do walk "$name" 4; done
  done
  note "players sent, in turns: $both"
  check "Ann and Bob are sent each other in sight ($met times) and not behind walls ($parted times)" \
    [ $met -gt 0 -a $parted -gt 0 ]
  for name in Ann Bob; do client_end "$name" >/dev/null; done
  own_server && end_server
}

# from_start NAME: back to where the menu was reached.
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
[ "$predict" -eq 0 ] || need "$peer_engine" "$peer_data"
begun_at=$(now)
if [ "$alone" -eq 1 ]; then for one in "${wires[@]}"; do play_alone "$one"; done; fi
[ "$together" -eq 0 ] || play_together
[ "$predict" -eq 0 ] || play_prediction
[ "$lift" -eq 0 ] || play_lift
[ "$sight" -eq 0 ] || play_sight
note "took $(since "$begun_at") s"
finish
