# shellcheck shell=bash
# Prediction check: server-side pmove against the client's prediction. Sourced by `real_client.sh`.
#
# The unmodified client logs each mispredicted step. The same run is made on ioquake3's own server at the
# same time, because some steps are unpredictable; fragd may not mispredict more often.

# Two of the maps spawn players at the tested spot: in the water, and above a jump pad.
pool_spawn='info_player_deathmatch|640 -1000 -200|90' pool_surface=-156
pads_spawn='info_player_deathmatch|0 0 160|0'

# predict_on KIND WIRE MAP LABEL: walks there; leaves a line of metrics in the file LABEL, or nothing
# without a run.
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
  # Ends of legs with the view below the pool's surface.
  events+=" $(sed -n 's/^(-*[0-9]* -*[0-9]* \(-*[0-9]*\)) : .*/\1/p' "$work/$label.log" |
    awk -v z="$pool_surface" '$1 < z { n++ } END { print n + 0 }')"
  client_end "$name" >/dev/null
  echo "$wrong $walked$events" >"$work/$label.result"
  if [ "$on" != ioq3ded ] && own_server; then end_server; else sweep; fi
}

# tell_walk LABEL: leaves the parts of its result in variables, prints them, and checks the walk.
tell_walk() {
  misses='' pads=0 swims=0
  [ -s "$work/$1.result" ] || return
  local deaths legs good units splashes jumps teleports falls
  read -r misses deaths legs good units pads splashes jumps teleports falls swims <"$work/$1.result"
  case $1 in *-pool_*) ;; *) swims=0 ;; esac
  note "$1: $misses misses and $deaths at deaths; $units units, $good of $legs legs got somewhere;" \
    "jumps $jumps, pads $pads, splashes $splashes, legs under water $swims, teleports $teleports, falls $falls"
  # A blind walk from a random spawn point spends some time in corners; this much is enough to cover a
  # map's floors, stairs and edges.
  check "$1: gets about ($((units / 320)) s of running)" [ "$units" -ge 3200 -a "$good" -ge 12 ]
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
      # Both servers at once, so that both run on an equally busy machine.
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
      [ "${misses:-0}" -le "${theirs:-0}" ] ||
        note "before them: $(grep -aB6 '^Prediction miss' "$work/walk-$kind_name-$label.log" | head -n 30 | tr '\n' '|')"
      check "$level, $wire: ${misses:-no} misses on $kind, ${theirs:-no} on ioq3ded" \
        [ -n "$misses" -a -n "$theirs" -a "${misses:-1}" -le "${theirs:-0}" ]
    done
  done
  [ "$kind" = ioq3ded ] || [ -n "$named_maps" ] || check \
    "the walks used pads ($all_pads times) and swam ($all_swims legs)" \
    [ "$all_pads" -gt 0 -a "$all_swims" -gt 0 ]
}

# --- Movers -------------------------------------------------------------------------------------

# Actions on movers: map, spawn point, yaw, buttons held for a second at a time. A player on a lift is
# carried, which clients predict except for the start of the ride. A player who leaves the ground while
# it rises is pushed each frame by its movement (30 units at 600 per second). A player who leans on a
# yielding mover follows it frame by frame (2 units at 40). Both are unpredictable.
mover_ways='stands on a lift|kaos2|-192 896 -400|0|
jumps on a lift|kaos2|-192 896 -400|0|moveup
leans on a button|oa_dm1|440 1256 -104|0|forward'
mover_seconds=20

# ride_on KIND LEVEL BUTTON LABEL: leaves in the file LABEL the mispredictions, the number of mover
# sounds, and the sizes of the mispredictions.
ride_on() {
  local on=$1 level=$2 button=$3 label=$4 name=Rider begun
  server_start "$on" compat "$level" 8 || { fail "$on: does not answer"; return; }
  client_start "$name" compat || { fail "$name: the client does not start"; return; }
  join "$name" || { fail "$name: enters the game"; return; }
  sleep 1.1
  watch_steps "$name"
  begun=$(now)
  while ! past "$begun" "$mover_seconds"; do
    if [ -n "$button" ]; then hold "$name" "$button" 0.4; else sleep 0.4; fi
    sleep 0.05
  done
  fresh "${client_log[$name]}" >"$work/$label.log"
  echo "$(misses_of "$name") $(events_of "$name" GENERAL_SOUND) $(
    awk '/^Prediction miss/ { printf "%.2f\n", $NF }' "$work/$label.log" |
      sort -n | uniq -c | awk '{ printf "%s%d of %s", (NR > 1 ? ", " : ""), $1, $2 }')" >"$work/$label.result"
  picture "$name" "$label"
  client_end "$name" >/dev/null
  sweep
}

play_movers() {
  local way level spawn yaw button label beside misses deaths moves sizes theirs their_moves
  sweep
  while IFS='|' read -r way level spawn yaw button; do
    echo "-- who $way ($level)"
    label=${way// /-}
    map_with "$level" "mover_$level" "info_player_deathmatch|$spawn|$yaw" ||
      { fail "$level: cannot be taken from its archive"; continue; }
    apart "$work/mover.out" ride_on "$kind" "mover_$level" "$button" "$label-$kind_name"
    beside=$launched
    apart "$work/mover-peer.out" ride_on ioq3ded "mover_$level" "$button" "$label-ioq3ded"
    rejoin "$launched" "$work/mover-peer.out"
    rejoin "$beside" "$work/mover.out"
    [ -s "$work/$label-ioq3ded.result" ] && [ -s "$work/$label-$kind_name.result" ] ||
      { fail "$way: there was no ride"; continue; }
    read -r theirs deaths their_moves sizes <"$work/$label-ioq3ded.result"
    note "ioq3ded: $theirs misses in $their_moves moves ($sizes)"
    read -r misses deaths moves sizes <"$work/$label-$kind_name.result"
    note "$kind: $misses misses in $moves moves ($sizes)"
    check "who $way hears as many moves on $kind ($moves) as on ioq3ded ($their_moves)" \
      [ $((4 * moves)) -ge $((3 * their_moves)) -a $((3 * moves)) -le $((4 * their_moves)) ]
    # Usercmds begin anywhere within a frame, so half as many more mispredictions are within tolerance,
    # as is one in four.
    check "who $way is predicted as well on $kind ($misses in $moves) as on ioq3ded ($theirs in $their_moves)" \
      [ "$moves" -gt 0 -a "$their_moves" -gt 0 -a \
      $((4 * misses * their_moves)) -le $((6 * theirs * moves + moves * their_moves)) ]
  done <<<"$mover_ways"
}
