# shellcheck shell=bash
# Walking player, sourced after `harness.sh` by checks that need a moving client.
#
# A script holds the buttons of a real client, reads its position, and turns at obstacles. A stuck player
# dies and respawns. Events on its path are in the client's own log, by the setting `cg_debugevents`,
# which a server with cheats allows.

# Legs of the walk: buttons held together, and their duration. Straight runs are long enough to reach
# jump pads, water and walls.
walk_legs='forward:1.1
forward right:0.4, forward moveup:0.5, forward:0.3
forward moveleft:0.5, forward moveup:0.6
forward left moveup:0.4, forward:0.9
moveright moveup:0.5, moveright:0.6
movedown forward:0.7, forward:0.6
forward:1.3
forward left:0.4, forward moveup:0.5, forward moveup right:0.4
back moveup:0.6, back:0.6
forward speed:0.6, forward:0.6
movedown:0.2, forward moveup:0.7, forward:0.4
lookdown forward:0.3, forward:0.9
lookup forward moveup:0.3, forward:0.9
moveleft back:0.5, forward left:0.3, forward:0.7
forward right:0.2, forward:1.2'

# Distance of a leg from which it was not in vain, and from which no obstacle was met; a run covers 320
# units per second. A longer distance is a teleporter or a respawn.
least_leg=100 clear_leg=230 longest_leg=1500
# Vain legs after which the player respawns.
patience=4

# walk NAME SECONDS: leaves legs, successful legs, and their distance in `walked`.
walk() {
  local name=$1 begun parts part button last legs=0 good=0 units=0 stuck=0 step
  walked='0 0 0'
  begun=$(now)
  order "$name" 'cl_yawspeed 360'
  where "$name" || return
  last=$place
  while :; do
    while IFS=, read -ra parts; do
      for part in "${parts[@]}"; do
        for button in ${part%:*}; do order "$name" "+$button"; done
        sleep "${part#*:}"
        for button in ${part%:*}; do order "$name" "-$button"; done
      done
      where "$name" || return
      step=$(distance "$last" "$place") last=$place
      legs=$((legs + 1))
      [ "$step" -gt "$longest_leg" ] || units=$((units + step))
      if [ "$step" -ge "$least_leg" ]; then
        good=$((good + 1)) stuck=0
      else
        stuck=$((stuck + 1))
      fi
      [ "$step" -ge "$clear_leg" ] || free_oneself "$name" $stuck $legs
      walked="$legs $good $units"
      past "$begun" "$2" && return 0
    done <<<"$walk_legs"
  done
}

# free_oneself NAME VAIN LEG: turns around after that many vain legs. The attack button respawns a dead
# player. It fires the gauntlet, which neither runs out nor explodes at a wall.
free_oneself() {
  if [ "$2" -gt 0 ] && [ $(($2 % patience)) -eq 0 ]; then
    order "$1" kill
    sleep 1.9
  fi
  hold "$1" attack 0.1
  order "$1" 'weapon 1'
  order "$1" centerview
  hold "$1" right "0.$((20 + $3 * 37 % 30))"
}

# distance FROM TO: distance in whole units.
distance() {
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, p); split(b, q)
    printf "%d", sqrt((q[1] - p[1]) ^ 2 + (q[2] - p[2]) ^ 2 + (q[3] - p[3]) ^ 2) }'
}

# past BEGIN SECONDS: whether they are over.
past() { awk -v a="$1" -v b="$(now)" -v s="$2" 'BEGIN { exit !(b - a >= s) }'; }

# watch_steps NAME: logs mispredictions and events of the player from now on. It keeps its weapon,
# because a push by its own rocket is unpredictable.
watch_steps() {
  order "$1" 'cg_autoswitch 0'
  order "$1" 'cg_showmiss 1'
  order "$1" 'cg_debugevents 1'
  sleep 0.2
  here "${client_log[$1]}"
}

# misses_of NAME: since `here`: mispredictions, those at a death, and deaths. When the server ends a
# life, the client's prediction of that step is wrong by what it walked in it. `errorcode 1` says that
# the pmove type changed.
misses_of() {
  fresh "${client_log[$1]}" | awk '
    /^errorcode 1 at/ { death = NR }
    /^Prediction miss/ { if (death && NR - death <= 2) deaths++; else misses++ }
    END { print misses + 0, deaths + 0 }'
}

# events_of NAME WORD: number of events of that kind since `here`.
events_of() { fresh "${client_log[$1]}" | grep -acE " EV_$2$"; }

# map_with MAP NAME ENTITIES: creates MAP as NAME in `extra_maps`, with these spawn points only and
# optional further entities. Clients and servers started afterwards have it. ENTITIES are lines
# `classname|x y z|yaw`.
map_with() {
  local pack bsp text='' class place yaw
  while IFS='|' read -r class place yaw; do
    text+="{"$'\n'"\"classname\" \"$class\""$'\n'"\"origin\" \"$place\""
    text+=$'\n'"\"angle\" \"${yaw:-0}\""$'\n'"}"$'\n'
  done <<<"$3"
  extra_maps=$work/extra/baseoa/maps
  mkdir -p "$extra_maps"
  bsp=$extra_maps/$2.bsp
  for pack in "$client_data"/baseoa/*.pk3; do
    unzip -p "$pack" "maps/$1.bsp" >"$bsp.new" 2>/dev/null && mv "$bsp.new" "$bsp"
  done
  rm -f "$bsp.new"
  [ -s "$bsp" ] && perl -0777 -i -pe '
    BEGIN { $more = shift }
    ($at, $length) = unpack "VV", substr $_, 8, 8;
    ($text = substr $_, $at, $length) =~ s/\0.*//s;
    $text =~ s/\{[^{}]*"info_player_(?:deathmatch|start)"[^{}]*\}\s*//g;
    $text .= "$more\0";
    $_ .= "\0" x (-length() % 4);
    substr($_, 8, 8) = pack "VV", length, length $text;
    $_ .= $text;' -- "$text" "$bsp"
}

# face NAME PLACE: turns toward it with the client's own buttons.
face() {
  local round turn
  order "$1" 'cl_yawspeed 90'
  for round in 1 2 3 4 5 6 7 8; do
    where "$1" || return
    turn=$(awk -v a="$place" -v b="$2" 'BEGIN {
      split(a, p); split(b, q)
      turn = atan2(q[2] - p[2], q[1] - p[1]) * 57.29578 - p[4]
      while (turn > 180) turn -= 360
      while (turn < -180) turn += 360
      printf "%d", turn }')
    [ "${turn#-}" -gt 3 ] || return 0
    hold "$1" "$([ "$turn" -gt 0 ] && echo left || echo right)" \
      "$(awk -v t="${turn#-}" 'BEGIN { printf "%.2f", t / 90 }')"
    sleep 0.15
  done
  note "$1 still looks $turn degrees past its goal after $round turns"
}

# revive NAME: respawns by the attack button.
revive() {
  sleep 1.9
  hold "$1" attack 0.15
  sleep 0.3
}

# shoot NAME VICTIM: fires until the victim dies; nothing is between the two.
shoot() {
  local try
  for try in 1 2 3 4; do
    where "$2" || return
    face "$1" "$place"
    here "${client_log[$1]}"
    order "$1" 'weapon 2'
    order "$1" '+attack'
    hears 6 "${client_log[$1]}" "^$2 .*$1" && break
    order "$1" '-attack'
  done
  order "$1" '-attack'
  check "$1: is told that she killed $2 (try $try)" says "${client_log[$1]}" "^$2 .*$1"
}
