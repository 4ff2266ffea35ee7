#!/bin/bash
# QuakeWorld server check: unmodified clients join `fragd qw`, walk, chat, watch, download and change maps.
#
#   tests/quakeworld_server.sh [--out DIRECTORY]
#
# ezQuake joins with its extensions and without, alone and with a second one; DarkPlaces joins; quakestat reads the
# status; the journal of the run replays. The clients run on data that qw-data.py makes. They stop with a failure at an
# unknown message, at a wrong delta base, and when the server ends their session.
#
# One script of usercmds runs on mvdsv and on `fragd qw` at the same time: stairs, ramp, water, jumps, door, jump pad,
# lift, teleporter. The own player of each answer must be equal, bit for bit, also when packets are lost.
#
# Needs Debian's packages: ezquake darkplaces mvdsv fteqcc qstat xvfb xdotool imagemagick libgl1-mesa-dri python3.
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

# qw_start NAME OPTION...: hosts a server; leaves its port, its log and its console.
qw_start() {
  local name=$1
  shift
  free_port
  server_log=$work/$name-server.log
  mkfifo "$work/$name.in"
  exec {server_input}<>"$work/$name.in"
  launch "$work/$name.in" "$server_log" "$fragd" qw --port "$port" --bind 127.0.0.1 "$@"
  server_pid=$launched
  await 20 is_listening
}

is_listening() { grep -q "listening on UDP 127.0.0.1:$port" "$server_log"; }

# qw_stop: ends the server by its console; true if it exits with 0.
qw_stop() {
  echo quit >&"$server_input"
  await 10 gone "$server_pid" && wait "$server_pid"
}

# client NAME OPTION...: runs a real client to its end; its files are in a directory of that name.
client() {
  local name=$1
  shift
  timeout 150 "$root/tests/qw-real-client.sh" --port "$port" --out "$work/$name" --name "$name" "$@" \
    >"$work/$name.log" 2>&1
}

# console NAME REGEX: whether the console of a client shows a line. Chat has colored letters, in the upper half of
# the character set.
console() { LC_ALL=C tr '\200-\377' '\000-\177' <"$work/$1/console.log" | tr -d '\r' | grep -aqE -- "$2"; }

# actions NAME: writes the console commands of a client from standard input.
actions() { cat >"$work/$1.cfg"; }

# stat_of: what quakestat reads.
stat_of() { quakestat -qws "127.0.0.1:$port" -P -R >"$work/quakestat.txt"; }

embedded() {
  check 'without game data: starts' qw_start embedded --basedir "$work/nothing" --journal "$work/qw.journal" || return
  stat_of
  check 'quakestat: names the map' grep -q 'fragqw1' "$work/quakestat.txt"
  actions downloader <<<'+forward
sleep 1
-forward
say hello
sleep 1'
  check 'ezQuake: downloads the map and plays' client downloader --seconds 8 --action "$work/downloader.cfg"
  check 'ezQuake: downloaded it whole' console downloader '^Download took'
  check 'ezQuake: its chat reaches the server' says "$server_log" 'downloader: hello'
  check 'server: stops by its console' qw_stop
  check 'journal: replays bit for bit' "$fragd" replay "$work/qw.journal"
}

# Two clients: one watches the other, both survive a map change.
together() {
  local second
  check 'game data: starts' \
    qw_start together --basedir "$work/data" --map fragbox +rcon_password sesame +hostname together || return
  actions first <<<'sleep 18
kill
sleep 1
rcon_password sesame
rcon status
sleep 1
rcon map fragramps
sleep 8
+forward
sleep 1
-forward
say first
sleep 4'
  actions second <<<'say second
sleep 1
observe
sleep 1
cmd ptrack 0
sleep 1
shot watching
join
sleep 30'
  client second --seconds 45 --action "$work/second.cfg" &
  second=$!
  check 'ezQuake: the first one plays' client first --seconds 40 --action "$work/first.cfg"
  stat_of
  check 'quakestat: names the server and a player' grep -qE 'together|second' "$work/quakestat.txt"
  check 'ezQuake: the second one plays' wait "$second"
  check 'ezQuake: sees the chat of the other' console second 'first: first'
  check 'ezQuake: sees deaths' console second 'first suicides'
  check 'ezQuake: watches and joins again' says "$server_log" '"?.*joined the game'
  check 'ezQuake: rcon with an encrypted password' console first 'map      : fragbox'
  check 'ezQuake: survives a map change' says "$server_log" 'map fragramps started'
  check 'server: reports no fault' lacks_faults
  qw_stop
}

lacks_faults() { ! grep -qE 'invalid|overflowed|timed out|panicked' "$server_log"; }

others() {
  check 'game data: starts again' qw_start others --basedir "$work/data" --map fragramps || return
  check 'ezQuake without extensions: plays' client plain --plain --seconds 6
  check 'ezQuake as a spectator: watches' client watcher --spectator --seconds 6
  check 'DarkPlaces: plays' client darkplaces --client darkplaces --seconds 8
  check 'server: reports no fault to others' lacks_faults
  qw_stop
}

# Trace and capture of server and bots: all is decoded, also with loss and choke.
traced() {
  local side
  check 'trace: starts' qw_start traced --basedir "$work/nothing" --trace "$work/qw.jsonl" --pcap "$work/qw.pcapng" || return
  "$fragd" bots --connect "127.0.0.1:$port" --protocol quakeworld -n 3 --seconds 8 --rate 3000 --network loss=2% \
    --expect "$shared_machine" --trace "$work/bots.jsonl" --pcap "$work/bots.pcapng" >"$work/traced-bots.log" 2>&1
  qw_stop
  for side in qw bots; do
    "$fragd" trace "$work/$side.pcapng" >"$work/$side-again.jsonl" 2>"$work/$side.txt"
    "$fragd" trace "$work/$side.pcapng" --report "$work/$side.html" 2>/dev/null
    check "trace of $side: nothing undecoded" grep -qF ', 0 not decoded, ' "$work/$side.txt"
    check "trace of $side: shows choked answers" grep -q 'chokecount' "$work/$side.jsonl"
    check "trace of $side: capture decodes to the live trace" cmp "$work/$side.jsonl" "$work/$side-again.jsonl"
    check "trace of $side: report has its players" grep -q 'bot03' "$work/$side.html"
  done
}

refused() {
  local status=0
  "$fragd" qw --port 0 --basedir "$work/data" --map nowhere >"$work/nowhere.log" 2>&1 || status=$?
  check 'missing map: exit code 2 and its name' grep -q 'maps/nowhere.bsp' "$work/nowhere.log"
  check 'missing map: exit code' [ "$status" -eq 2 ]
  head -c 4000 /dev/zero >"$work/data/id1/maps/zero.bsp"
  status=0
  "$fragd" qw --port 0 --basedir "$work/data" --map zero >"$work/zero.log" 2>&1 || status=$?
  check 'invalid map: named' grep -q 'maps/zero.bsp' "$work/zero.log"
  check 'invalid map: exit code' [ "$status" -eq 2 ]
}

# parity NAME LOSS KTJUMP: the same usercmds on mvdsv and on fragd; loss in thousandths.
parity() {
  local name=$1 log=$work/parity-$1.log theirs
  mvdsv_start "$work/parity-$name-mvdsv.log" 4 fragqw1 pm_ktjump "$3" || { fail "parity, $name: mvdsv"; return; }
  theirs=127.0.0.1:$port
  qw_start "parity-$name" --basedir "$work/data" --map fragqw1 +pm_ktjump "$3" || { fail "parity, $name: fragd"; return; }
  check "parity, $name: all own players are equal" \
    timeout 200 "$comparison" --seed 4 --loss "$2" --ktjump "$3" "$theirs" "127.0.0.1:$port" >"$log" 2>&1
  while read -r line; do note "${line:0:200}"; done <"$log"
}

begin quakeworld_server "$out"
need /usr/lib/games/ezquake/ezquake quakestat Xvfb xdotool python3 /usr/games/darkplaces /usr/games/mvdsv fteqcc
find_fragd
find_comparison
check 'free game data' quakeworld_data
check 'map of the program' "$comparison" --write-map "$work/data/id1/maps/fragqw1.bsp"
apart "$work/parity-clear.txt" parity clear 0 0
clear=$launched
apart "$work/parity-lossy.txt" parity lossy 50 1
lossy=$launched
embedded
together
others
refused
traced
rejoin "$clear" "$work/parity-clear.txt"
rejoin "$lossy" "$work/parity-lossy.txt"
finish
