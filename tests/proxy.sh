#!/bin/bash
# Proxy check: real clients play through `fragd proxy` on each protocol, over an impaired line.
#
#   tests/proxy.sh [--wire compat|native|68]... [--seconds 20] [--out DIRECTORY]
#
# Nothing may stay undecoded, and the capture decodes to the live trace. Also: browsers, rcon, a server that falls
# silent, and a SOCKS5 server that is restarted. The server is fragd, for compat ioquake3 with OpenArena's game.
#
# Needs Debian's packages ioquake3 openarena ioquake3-server openarena-server xvfb imagemagick libgl1-mesa-dri qstat
# jq, and Python.
# shellcheck disable=SC2317 # functions are called by `check`, `await` and `apart`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

wires=() seconds=20 out=
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
map=oa_dm1
# 100 ms and 20 ms more or less in each direction.
line=latency=80ms,jitter=40ms,loss=2%

# proxy_start NAME [OPTION]...: leaves proxy_{pid,address,log,input,name} of a proxy to the server.
proxy_start() {
  proxy_name=$1
  shift
  free_port
  proxy_address=127.0.0.1:$port
  proxy_log=$work/proxy-$proxy_name.log
  mkfifo "$work/proxy-$proxy_name.in"
  exec {proxy_input}<>"$work/proxy-$proxy_name.in"
  launch "$work/proxy-$proxy_name.in" "$proxy_log" "$fragd" proxy --listen "$proxy_address" \
    --to "$server_address" --seed 3 "$@"
  proxy_pid=$launched
  await 10 grep -aq 'listening on UDP' "$proxy_log"
}

# proxy_end: stops it by its console; true if it ends by itself with exit code 0.
proxy_end() {
  echo quit >&"$proxy_input"
  await 5 gone "$proxy_pid" || { stop "$proxy_pid" 2; return 1; }
  wait "$proxy_pid"
}

# proxy_status REGEX: whether `status` of the proxy has such a line.
proxy_status() {
  here "$proxy_log"
  echo status >&"$proxy_input"
  hears 3 "$proxy_log" "$1"
}

# count FILE FILTER: number of records of a trace that jq's filter selects.
count() { jq -c "select($2)" "$1" 2>/dev/null | wc -l; }

# at_least NUMBER NUMBER
at_least() { [ "$1" -ge "$2" ]; }

# join_proxy NAME: connects to the proxy, and waits for the first frame in the game.
join_proxy() {
  expect_game "$1"
  order "$1" "connect $proxy_address"
  in_game "$1"
}

# play WIRE: a real client plays over the impaired line.
play() {
  local wire=$1 name=Crosser$1 kind=fragd begun trace pcap faults n
  [ "$wire" != compat ] || kind=ioq3ded
  trace=$work/line-$wire.jsonl pcap=$work/line-$wire.pcapng
  server_start "$kind" "$wire" "$map" 8 || { fail "$wire: $kind does not answer"; return; }
  proxy_start "$wire" --network "$line" --trace "$trace" --pcap "$pcap" ||
    { fail "$wire: the proxy does not start"; return; }
  client_start "$name" "$wire" || { fail "$wire: the client does not start"; return; }
  join_proxy "$name" || { fail "$wire: the client enters the game"; return; }
  ok "$wire: a client enters the game of $kind"
  here "${client_log[$name]}"
  local joined=${mark[${client_log[$name]}]}
  order "$name" '+left'
  begun=$SECONDS
  while [ $((SECONDS - begun)) -lt "$seconds" ]; do hold "$name" forward 0.5; sleep 0.3; done
  order "$name" '-left'
  here "$server_log"
  order "$name" "say across-$wire"
  check "$wire: the server hears the client" hears 5 "$server_log" "across-$wire"
  check "$wire: status shows the client" proxy_status "in game .* $name\$"
  picture "$name" "proxy_$wire"
  check "$wire: the client draws a world ($(count_colors "$work/proxy_$wire.jpg") colors)" \
    at_least "$(count_colors "$work/proxy_$wire.jpg")" 64
  mark[${client_log[$name]}]=$joined
  # The console also tells each loss, which is the purpose of the line.
  faults=$(client_faults "$name" | grep -avE 'Dropped [0-9]+ packets')
  [ -z "$faults" ] || note "$name's console: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check "$wire: plays without an error in the client's console" [ -z "$faults" ]
  check "$wire: the client quits" client_end "$name"
  check "$wire: the proxy ends by its console" proxy_end
  check "$wire: nothing is undecoded" [ "$(count "$trace" '.kind == "undecoded"')" -eq 0 ]
  ! grep -a 'without decoding' "$proxy_log" || fail "$wire: the proxy's log says so"
  n=$(count "$trace" '.kind == "snapshot"')
  check "$wire: the trace has $n snapshots" at_least "$n" $((seconds * 12))
  n=$(count "$trace" '.kind == "usercmds"')
  check "$wire: the trace has $n messages with usercmds" at_least "$n" $((seconds * 10))
  n=$(count "$trace" '.kind == "snapshot" and .lost')
  check "$wire: the line lost snapshots ($n gaps)" at_least "$n" 1
  "$fragd" trace "$pcap" >"$work/decoded-$wire.jsonl" 2>"$work/decoded-$wire.log"
  check "$wire: the capture decodes to the live trace" cmp -s "$trace" "$work/decoded-$wire.jsonl"
  stop "$server_pid" 5
}

# silence: a server that stops answering.
silence() {
  local name=Waiter
  server_start fragd 68 "$map" 8 || { fail 'silence: the server does not answer'; return; }
  proxy_start silence --timeout 6s || { fail 'silence: the proxy does not start'; return; }
  client_start "$name" 68 || { fail 'silence: the client does not start'; return; }
  join_proxy "$name" || { fail 'silence: the client enters the game'; return; }
  here "${client_log[$name]}"
  stop "$server_pid" 2 KILL
  tells "$name" 10 'is told that the server does not answer' "^Server $server_address does not answer"
  check "$name: is disconnected" hears 15 "${client_log[$name]}" '^forcefully unloading cgame'
  sleep 1
  order "$name" com_errorMessage
  tells "$name" 5 'shows the reason' "Server disconnected - $server_address does not answer"
  here "${client_log[$name]}"
  order "$name" "connect $proxy_address"
  tells "$name" 12 'is told so while it connects' "^Server $server_address does not answer"
  check 'silence: the client quits' client_end "$name"
  check 'silence: a dead server answers no browser' [ -z "$(ask "$proxy_address" getinfo)" ]
  check 'silence: the proxy ends' proxy_end
}

# browse: a browser gets the server's own answers.
browse() {
  local direct proxied
  direct=$(quakestat -raw '|' -P -q3s "$server_address" | cut -d '|' -f 3-6)
  proxied=$(quakestat -raw '|' -P -q3s "$proxy_address" | cut -d '|' -f 3-6)
  check "a browser sees the server through the proxy ($proxied)" [ -n "$direct" -a "$direct" = "$proxied" ]
  check 'getinfo repeats the challenge' grep -q 'challenge.abc' <(ask "$proxy_address" 'getinfo abc')
  check 'rcon is refused by the proxy' \
    grep -q '^No rcon' <(ask "$proxy_address" "rcon $rcon_password status" | tail -n +2)
  check 'the start warns of trust in the address of the proxy' \
    grep -q 'keep this network out of its sv_lanNetworks and sv_rconAllow' "$proxy_log"
}

# relay_start: starts the SOCKS5 server at `relay_port`.
relay_start() {
  launch /dev/null "$work/relay.log" python3 "$root/tests/socks5_server.py" "$relay_port" user secret
  relay_pid=$launched
  await 10 relay_listens
}
relay_listens() { (exec 3<>"/dev/tcp/127.0.0.1/$relay_port") 2>/dev/null; }

# relayed: bots play through a SOCKS5 server, which is restarted while they play.
relayed() {
  server_start fragd native "$map" 8 sv_maxclientsPerIP 0 || { fail 'relay: no server'; return; }
  proxy_start plain
  browse
  check 'bots on three protocols play through the proxy' bots_play 4
  check 'the proxy ends' proxy_end
  free_port
  relay_port=$port
  echo 'user:secret' >"$work/login"
  relay_start || { fail 'relay: the SOCKS5 server does not start'; return; }
  proxy_start relay --socks5 "127.0.0.1:$relay_port" --socks5-login "$work/login" ||
    { fail 'relay: the proxy does not start'; return; }
  check 'relay: a browser sees the server' await 10 asked "$proxy_address" getinfo infoResponse
  bots_play 20 &
  local bots=$!
  started+=("$bots")
  await 10 counts_three
  check 'relay: three bots play through the SOCKS5 server' counts_three
  check "relay: each has an association of its own" at_least "$(grep -c '^association' "$work/relay.log")" 4
  stop "$relay_pid" 3
  relay_start || fail 'relay: the SOCKS5 server starts again'
  check 'relay: associations are made again' await 10 has_associations 8
  wait "$bots"
  check 'relay: the bots play on' [ $? -eq 0 ]
  check 'relay: the proxy ends' proxy_end
  echo 'user:wrong' >"$work/login"
  proxy_start refused --socks5 "127.0.0.1:$relay_port" --socks5-login "$work/login"
  ask "$proxy_address" getinfo >/dev/null
  check 'relay: a refused login is logged' hears 5 "$proxy_log" 'user name or password of --socks5-login refused'
  check 'relay: no password is logged' [ -z "$(grep -l 'user:wrong\|secret' "$work"/proxy-*.log)" ]
  proxy_end
}

has_associations() { [ "$(grep -c '^association' "$work/relay.log")" -ge "$1" ]; }
counts_three() { counts 3; }

# bots_play SECONDS: one bot on each protocol; none may be dropped or meet a protocol error.
bots_play() {
  local wire bad=0
  local -a pids=()
  for wire in compat native 68; do
    "$fragd" bots --connect "$proxy_address" -n 1 --seconds "$1" --protocol "$wire" --expect "$shared_machine" \
      --name-prefix "b$wire" >"$work/bots-$proxy_name-$wire.log" 2>&1 </dev/null &
    pids+=("$!")
  done
  for wire in "${pids[@]}"; do wait "$wire" || bad=1; done
  return $bad
}

begin proxy "$out"
need Xvfb stdbuf identify jq python3 quakestat "$client_engine" "$client_data" "$peer_engine" "$peer_data"
find_fragd
declare -a pids=() logs=()
for wire in "${wires[@]}"; do
  apart "$work/play-$wire.txt" play "$wire"
  pids+=("$launched") logs+=("$work/play-$wire.txt")
done
apart "$work/relayed.txt" relayed
pids+=("$launched") logs+=("$work/relayed.txt")
for place in "${!pids[@]}"; do rejoin "${pids[place]}" "${logs[place]}"; done
silence
sweep
finish
