#!/bin/bash
# Check of fragd's own maps with unmodified clients that never saw them: download, walk, pictures.
#
#   tests/own_maps.sh [--only build|udp|http|pure|ioq3ded]... [--out DIRECTORY]
#
# build    each source builds to the archive in maps/, byte for byte
# udp      a server without game data and with an empty environment; its client has OpenArena's data and an
#          empty home, gets the test course over UDP and walks it by a script
# http     the same over HTTP from the server itself, which refuses UDP downloads
# pure     a server with OpenArena's data, the test course and sv_pure 1
# ioq3ded  each map on ioquake3's own server, with a client that gets the map from it
#
# The client logs each mispredicted step, and none is allowed. Pictures of each map are kept for inspection.
#
# Needs the packages of `real_client.sh`, and ioquake3-server and openarena-server for ioq3ded. About a
# minute per part.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

parts=() out=
while [ $# -gt 0 ]; do
  case $1 in
    --only) parts+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(build udp http pure ioq3ded)

maps=(fragd1 fragdctf1 course)

# Places of the course: name, where to be set down, yaw, seconds of running ahead, and the least and the
# greatest view origin afterwards. `docs/maps.md` has the coordinates.
course_legs='stairs|-1376 0 40 90|2.4|-1440 480 170|-1312 592 190
slope|-1072 160 40 90|2.0|-1136 380 170|-1008 592 190
water|-224 60 40 90|3.6|-260 600 40|-180 720 60
door|-1376 0 40 270|2.4|-1420 -592 40|-1330 -400 60
teleporter|-608 -300 40 270|1.0|-1560 -130 40|-1100 130 80
jump pad|928 60 40 270|1.2|860 -592 225|1000 -450 250
corner|160 -400 40 270|2.0|100 -848 40|220 -800 60'

# leg NAME TEXT: walks one leg and checks where it ends.
leg() {
  local name start seconds low high
  IFS='|' read -r name start seconds low high <<<"$2"
  order "$1" "setviewpos $start"
  sleep 0.8
  hold "$1" forward "$seconds"
  sleep 0.4
  where "$1" || { fail "$1: $name: no place"; return; }
  check "$1: $name leads to $place" within "$place" "$low" "$high"
}

# within PLACE LOW HIGH: whether each coordinate is between those of two places.
within() {
  awk -v p="$1" -v l="$2" -v h="$3" 'BEGIN {
    split(p, a); split(l, b); split(h, c)
    for (i = 1; i <= 3; i++) if (a[i] < b[i] || a[i] > c[i]) exit 1 }'
}

# walk_course NAME: walks the course with a log of mispredictions.
walk_course() {
  local text misses
  order "$1" 'cg_showmiss 1'
  order "$1" 'god'
  sleep 1
  here "${client_log[$1]}"
  local begun=${mark[${client_log[$1]}]}
  while IFS= read -r text; do leg "$1" "$text"; done <<<"$course_legs"
  mark[${client_log[$1]}]=$begun
  misses=$(fresh "${client_log[$1]}" | grep -aE '^Prediction miss|^WARNING: changed predicted event' | sort | uniq -c | head -n 4 | tr '\n' '|')
  [ -z "$misses" ] || note "$misses"
  check "$1: foresees what the server does on the course" [ -z "$misses" ]
  order "$1" 'cg_showmiss 0'
}

# downloads NAME: lets the client download, and joins.
downloads() {
  order "$1" 'set cl_allowDownload 1'
  check "$1: enters the game" join "$1"
}

# got NAME MAP: whether the client has the built archive, byte for byte.
got() {
  local file=${client_home[$1]}/.oa/baseoa/$2.pk3
  check "$1: has $2.pk3 as built" cmp -s "$root/maps/$2.pk3" "$file"
}

# drawn NAME MAP: no shader of the map has fallen back to the default, and the picture shows a world.
drawn() {
  local shaders
  here "${client_log[$1]}"
  order "$1" shaderlist
  hears 5 "${client_log[$1]}" '[0-9]+ total shaders'
  shaders=$(fresh "${client_log[$1]}" | grep -ac 'textures/fragd1/')
  check "$1: draws $shaders shaders of $2" [ "$shaders" -ge 8 ]
  check "$1: misses no texture of $2" lacks "$1" 'textures/fragd1/.*DEFAULTED'
  level=$1-$2
  sees "$1" view
}

lacks() { ! says "${client_log[$1]}" "$2"; }

# bare_server SETTING VALUE...: fragd without game data and environment, on the course.
bare_server() {
  local -a settings=()
  while [ $# -gt 0 ]; do settings+=(+set "$1" "$2"); shift 2; done
  free_port
  server_address=127.0.0.1:$port server_log=$work/server-$port.log
  mkdir -p "$work/nothing"
  launch /dev/null "$server_log" env -i "$fragd" serve --port "$port" \
    +set net_ip 127.0.0.1 +set fs_basepath "$work/nothing" +set sv_dlRate 0 \
    +set pmove_precision double "${settings[@]}" +devmap course
  server_pid=$launched
  check "$part: a server without game data starts" await 30 server_up
}

build() {
  local map
  for map in "${maps[@]}"; do
    "$fragd" maps build "$root/maps/$map.map" -o "$work/$map.pk3" >"$work/build-$map.log" 2>&1
    check "$map.map builds to $map.pk3" cmp -s "$work/$map.pk3" "$root/maps/$map.pk3"
  done
}

bare() {
  local name=$1
  client_start "$name" compat || { fail "$name: starts"; return; }
  downloads "$name"
  got "$name" course
  drawn "$name" course
  walk_course "$name"
  check "$name: leaves" client_end "$name"
}

udp() {
  bare_server
  bare Una
}

http() {
  # 1 offers files, 4 refuses UDP.
  free_port
  bare_server sv_allowDownload 5 sv_http "127.0.0.1:$port"
  bare Hal
}

pure() {
  server_start fragd compat course 8 sv_pure 1 sv_dlRate 0 || { fail 'pure: the server starts'; return; }
  check 'pure: getinfo says so' is_pure
  client_start Pia compat || { fail 'Pia: starts'; return; }
  downloads Pia
  got Pia course
  walk_course Pia
  check 'Pia: leaves' client_end Pia
}

is_pure() { ask "$server_address" getinfo | grep -aqF '\pure\1'; }

ioq3ded() {
  local map
  need "$peer_engine" "$peer_data"
  for map in "${maps[@]}"; do
    free_port
    server_port=$port
    mkdir -p "$work/server-$port/.oa/baseoa"
    cp "$root/maps/$map.pk3" "$work/server-$port/.oa/baseoa/"
    if server_start ioq3ded compat "$map" 8 sv_allowDownload 1 sv_dlRate 0; then
      check "ioq3ded: $map has no entity in solid" [ "$(grep -acE 'startsolid|no target' "$server_log")" -eq 0 ]
      client_start Ian compat || { fail 'Ian: starts'; return; }
      downloads Ian
      got Ian "$map"
      drawn Ian "$map"
      [ "$map" != course ] || walk_course Ian
      client_end Ian
    else
      fail "ioq3ded: serves $map"
    fi
    sweep
    server_port=''
  done
}

begin own-maps "$out"
need "$client_engine" "$client_data" Xvfb identify
find_fragd
level=''
for part in "${parts[@]}"; do
  "$part"
  # The parts without a server of fragd.
  case $part in build | ioq3ded) continue ;; esac
  [ -z "$(server_faults)" ] || { fail "$part: the server's log"; server_faults | head -n 3; }
  sweep
done
finish
