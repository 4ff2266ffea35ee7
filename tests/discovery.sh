#!/bin/bash
# Discovery check: unmodified clients, servers and browsers with `fragd master`.
#
#   tests/discovery.sh [--out DIRECTORY]
#
# One master lists fragd, ioquake3's own server and decoys of every game. quakestat and unmodified clients
# ask it. Sources of the commands: manual of quakestat; ioquake3's console.
#
# Needs Debian's packages qstat ioquake3 ioquake3-server openarena openarena-server xvfb libgl1-mesa-dri curl.
# shellcheck disable=SC2317 # functions are called by `check` and `await`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

out=
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

# Games as quakestat and `fragd decoy` name them, and the type of a listed server. quakestat asks for
# Quake 4 servers of no protocol by default.
games=(q3m,68:q3:Q3S woetm:et:WOETS rwm:rtcw:RWS q4m,2.85:q4:Q4S qwm:qw:QWS)
decoys=3

# page PATH: page of the master.
page() { curl -sS --max-time 5 "http://127.0.0.1:$page_port$1" 2>>"$work/curl.err"; }

# lists TEXT: whether the master's JSON list holds it.
lists() { page /servers.json | grep -qF -- "$1"; }

# listed TYPE: servers that quakestat finds through the master.
listed() { quakestat -raw '|' "-$1" "$master" 2>>"$work/quakestat.err" | sed 1d; }

# finds TYPE ADDRESS NAME: whether quakestat finds that server, up, through the master.
finds() {
  listed "$1" >"$work/listed-$1.txt"
  awk -F'|' -v at="$2" -v name="$3" '$2 == at && $3 == name { found = 1 } END { exit !found }' \
    "$work/listed-$1.txt"
}

# finds_decoys TYPE SERVER: whether quakestat finds all decoys of a game, each of them up.
finds_decoys() {
  listed "$1" >"$work/listed-$1.txt"
  [ "$(awk -F'|' -v type="$2" '$1 == type && NF > 4' "$work/listed-$1.txt" | wc -l)" -ge "$decoys" ]
}

start_master() {
  local begun
  free_port
  master_port=$port master=127.0.0.1:$port
  free_port
  page_port=$port
  cat >"$work/keys.toml" <<'POLICY'
without_key = "deny"
POLICY
  begun=$(now)
  launch /dev/null "$work/master.log" "$fragd" master --port "$master_port" --allow-loopback --verbose \
    --max-servers-per-address 0 --flood-protection 0 --http "127.0.0.1:$page_port" \
    --authorize "$work/keys.toml" --state "$work/master.state"
  master_pid=$launched
  await 10 asked "$master" 'getservers 68' "$(printf 'getserversResponse\\EOT...')"
  check "master: answers after $(since "$begun") s" [ $? -eq 0 ] || finish
}

fragd_listed() {
  server_start fragd compat oa_dm1 8 dedicated 2 sv_master1 "$master" sv_master2 "localhost:$master_port" ||
    { fail 'fragd: does not answer'; finish; }
  check 'fragd: is listed within 5 s' await 5 lists "\"$server_address\""
  check 'quakestat: lists fragd through the master' finds q3m,71 "$server_address" 'checked by fragd'
  check 'quakestat: lists it as OpenArena, too' \
    finds openarenam "$server_address" 'checked by fragd'
  here "$server_log"
  server_order status
  check 'fragd: status names the master and its question' \
    hears 5 "$server_log" "master $master \($master\): heartbeat [0-9]+ s ago, asked getinfo"
  check 'fragd: a name is looked up' says "$server_log" "master localhost:$master_port \("
}

peer_listed() {
  local fragd_log=$server_log fragd_address=$server_address fragd_pid=$server_pid
  server_start ioq3ded compat oa_dm1 8 dedicated 2 sv_master1 "$master" ||
    { fail 'ioq3ded: does not answer'; return; }
  check "ioquake3's server: is listed within 10 s" await 10 lists "\"$server_address\""
  check "quakestat: lists ioquake3's server" finds q3m,71 "$server_address" 'checked by ioq3ded'
  server_log=$fragd_log server_address=$fragd_address server_pid=$fragd_pid
}

# client_lists NAME WIRE: the client's own list, as its browser menu requests it.
client_lists() {
  client_start "$1" "$2" || { fail "$1: does not start"; return; }
  here "${client_log[$1]}"
  order "$1" "set sv_master1 $master"
  order "$1" 'globalservers 1 71 empty full'
  check "$1: globalservers finds fragd and ioquake3's server" \
    hears 8 "${client_log[$1]}" 'servers parsed \(total 2\)'
  order "$1" "ping $server_address"
  join "$1"
  check "$1: joins the listed fragd server" [ $? -eq 0 ]
  client_end "$1"
}

decoys_listed() {
  local game master_type decoy server first
  for game in "${games[@]}"; do
    IFS=: read -r master_type decoy server <<<"$game"
    free_port
    first=$port
    launch /dev/null "$work/decoy-$decoy.log" "$fragd" decoy --count "$decoys" --game "$decoy" \
      --port "$first" --master "$master"
  done
  for game in "${games[@]}"; do
    IFS=: read -r master_type decoy server <<<"$game"
    check "quakestat -$master_type: lists $decoys decoys" await 12 finds_decoys "$master_type" "$server"
  done
}

pages() {
  check 'page: shows the server' grep -qF 'checked by fragd' <(page '/?name=checked+by&map=OA_')
  check 'page: a filter hides it' grep -qF '0 of 2 servers' <(page '/?name=nobody')
  check 'metrics: are served' grep -q '^# TYPE' <(page /metrics)
}

authorization() {
  local address log
  server_start fragd compat oa_dm1 8 sv_authorizeServer "$master" sv_lanNetworks 192.0.2.0/24
  address=$server_address log=$server_log
  check 'authorization: a client without a key is refused' \
    asked "$address" getchallenge print
  sed -i 's/deny/accept/' "$work/keys.toml"
  stop "$master_pid" 5
  check 'master: SIGTERM ends it with code 0' wait "$master_pid"
  launch /dev/null "$work/master.log" "$fragd" master --port "$master_port" --allow-loopback --verbose \
    --http "127.0.0.1:$page_port" --authorize "$work/keys.toml" --state "$work/master.state"
  master_pid=$launched
  check 'master: its list survives a restart' await 10 lists 'checked by ioq3ded'
  check 'authorization: another policy accepts the client' \
    await 10 accepted "$address"
  check 'authorization: nothing bad in the log' [ -z "$(server_faults)" ]
  server_log=$log
}

accepted() { ask "$1" getchallenge | grep -qa '^challengeResponse '; }

begin discovery "$out"
need quakestat curl "$client_engine" "$client_data" "$peer_engine" "$peer_data"
find_fragd
start_master
fragd_listed
peer_listed
pages
client_lists OpenArena compat
client_lists ioquake3 native
decoys_listed
faults=$(server_faults)
check 'fragd: nothing bad in its log' [ -z "$faults" ]
authorization
check 'master: nothing bad in its log' eval "! grep -aqiE 'panicked|ERROR' '$work/master.log'"
finish
