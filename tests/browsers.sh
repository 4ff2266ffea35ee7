#!/bin/bash
# Server browser check: quakestat, `fragd query`, and bare getinfo and getstatus.
#
#   tests/browsers.sh [--server fragd|ioq3ded] [--map oa_dm1] [--out DIRECTORY]
#
# `--server ioq3ded` validates the checks against ioquake3's own server; `fragd query` then runs only if
# $FRAGD names it.
#
# Needs Debian's package qstat, and ioquake3-server openarena-server for `--server ioq3ded`.
# shellcheck disable=SC2317 # functions are called by `check` and `await`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

kind=fragd map=oa_dm1 out=
while [ $# -gt 0 ]; do
  case $1 in
    --server) kind=${2:?}; shift 2 ;;
    --map) map=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

# value KEY TEXT: value of the info string in the second line of a reply.
value() {
  sed -n 2p <<<"$2" | awk -v key="$1" '{
    n = split($0, part, "\\")
    for (i = 2; i < n; i += 2) if (part[i] == key) { print part[i + 1]; exit } }'
}

# lacks KEY TEXT: whether the key is missing.
lacks() { ! sed -n 2p <<<"$2" | grep -qF "\\$1\\"; }

# holds FILE TEXT...: whether it contains each.
holds() {
  local file=$1 one
  shift
  for one; do grep -qF -- "$one" "$file" || return 1; done
}

# look: queries by quakestat; `column` reads the response. One query for many columns, because a server
# answers an address ten times at once and then once a second.
look() { quakestat -raw '|' -P -q3s "$server_address" >"$work/quakestat.txt"; }

# column NUMBER: column of quakestat's server line: type, address, name, map, slots, players.
column() { awk -F'|' -v c="$1" 'NR == 1 { print $c }' "$work/quakestat.txt"; }

empty_server() {
  local reply title="checked by $kind"
  reply=$(ask "$server_address" getinfo)
  check 'getinfo: is answered by infoResponse' [ "$(head -n 1 <<<"$reply")" = infoResponse ]
  check 'getinfo: names the server' [ "$(value hostname "$reply")" = "$title" ]
  check 'getinfo: names the map' [ "$(value mapname "$reply")" = "$map" ]
  check 'getinfo: has room for 8 and nobody on' \
    [ "$(value sv_maxclients "$reply") $(value clients "$reply")" = '8 0' ]
  check "getinfo: protocol is $(value protocol "$reply")" \
    grep -qxE '68|71' <<<"$(value protocol "$reply")"
  check 'getinfo: invents no challenge' lacks challenge "$reply"
  reply=$(ask "$server_address" 'getinfo a-challenge')
  check 'getinfo: echoes the challenge' [ "$(value challenge "$reply")" = a-challenge ]

  reply=$(ask "$server_address" 'getstatus another-one')
  check 'getstatus: is answered by statusResponse' [ "$(head -n 1 <<<"$reply")" = statusResponse ]
  check 'getstatus: echoes the challenge' [ "$(value challenge "$reply")" = another-one ]
  check 'getstatus: shows the settings' \
    [ "$(value sv_hostname "$reply")|$(value mapname "$reply")" = "$title|$map" ]
  check 'getstatus: shows no player' [ "$(wc -l <<<"$reply")" -eq 2 ]

  look
  check "quakestat: shows the name" [ "$(column 3)" = "$title" ]
  check "quakestat: shows the map" [ "$(column 4)" = "$map" ]
  check "quakestat: shows 0 of 8 players" [ "$(column 6)/$(column 5)" = 0/8 ]
}

# Two players of any kind that the server can have without a real client.
populate() {
  if [ "$kind" = ioq3ded ]; then
    server_order 'addbot sarge 1'
    server_order 'addbot grism 1'
  else
    launch /dev/null "$work/bots.log" "$fragd" bots --connect "$server_address" -n 2 --seconds 20
  fi
  await 15 two_on
}

two_on() { sleep 1; look; [ "$(column 6)" = 2 ]; }

busy_server() {
  local reply
  check 'quakestat: counts 2 players' populate || return
  check 'quakestat: names them' \
    [ "$(sed 1d "$work/quakestat.txt" | grep -c '|')" -eq 2 ]
  sleep 3 # let the limits of the questions above recover
  reply=$(ask "$server_address" getinfo)
  check 'getinfo: counts 2 players' [ "$(value clients "$reply")" = 2 ]
  reply=$(ask "$server_address" getstatus)
  check 'getstatus: has a line of score, ping and quoted name for each' \
    [ "$(sed 1,2d <<<"$reply" | grep -acE '^-?[0-9]+ [0-9]+ ".+"$')" -eq 2 ]
}

own_query() {
  local text=$work/query.txt json=$work/query.json begun
  "$fragd" query "$server_address" >"$text" 2>&1
  check 'fragd query: exit code 0' [ $? -eq 0 ]
  check 'fragd query: shows name and map' holds "$text" "checked by $kind" "$map"
  "$fragd" query "$server_address" --json >"$json" 2>&1
  check 'fragd query --json: is an object with name and map' \
    holds "$json" '{' "\"checked by $kind\"" "\"$map\"" '}'
  free_port
  begun=$(now)
  timeout 20 "$fragd" query "127.0.0.1:$port" >"$work/query-nobody.txt" 2>&1
  check 'fragd query: exit code is not 0 where nobody answers' [ $? -ne 0 ]
  check "fragd query: gives up soon ($(since "$begun") s)" \
    awk -v t="$(since "$begun")" 'BEGIN { exit !(t < 10) }'
}

# Requests without a response, and rate limits.
restraint() {
  local socket replies long
  sleep 3 # let the limits of the questions above recover
  long=$(printf '%0129d' 0)
  check 'getinfo: a challenge of 129 bytes is not answered' [ -z "$(ask "$server_address" "getinfo $long")" ]
  check 'an unknown word is not answered' [ -z "$(ask "$server_address" 'gibberish all over')" ]
  check 'nor is an answer' [ -z "$(ask "$server_address" 'infoResponse')" ]
  sleep 1
  exec {socket}<>"/dev/udp/${server_address%:*}/${server_address##*:}"
  for _ in $(seq 60); do printf '\377\377\377\377getstatus' >&"$socket"; done
  replies=$(timeout 2 dd bs=65536 count=60 <&"$socket" 2>/dev/null | grep -aoc statusResponse)
  exec {socket}>&-
  check "60 questions at once: $replies replies" [ "$replies" -ge 1 -a "$replies" -le 12 ]
  sleep 2
  check 'and the next one is answered' asked "$server_address" getinfo infoResponse
}

begin browsers "$out"
need quakestat
fragd=
case $kind in
  fragd) find_fragd ;;
  ioq3ded) need "$peer_engine" "$peer_data"; [ -z "${FRAGD:-}" ] || find_fragd ;;
  *) echo "$0: no server '$kind'" >&2; exit 2 ;;
esac
echo "-- $kind, as browsers see it"
server_start "$kind" compat "$map" 8 || { fail "$kind: does not answer"; finish; }
empty_server
[ -z "$fragd" ] || own_query
busy_server
restraint
faults=$(server_faults)
[ -z "$faults" ] || note "server: $(head -n 5 <<<"$faults" | tr '\n' '|')"
check 'server: nothing bad in its log' [ -z "$faults" ]
finish
