#!/bin/bash
# Relay check: real clients and browsers on a relay of fragd and of ioquake3's server, and on a demo.
#
#   tests/relay.sh [--out DIRECTORY]
#
# A client joins a relay, sees play, the scoreboard and chat. Its source is killed and restarted. Another client
# joins a chained relay of ioquake3's server, a third one the live stream of a server. A demo that a client has recorded is played, paused and sought.
# Simulated viewers load a relay.
#
# Needs Debian's packages ioquake3 openarena ioquake3-server openarena-server xvfb imagemagick libgl1-mesa-dri
# qstat. About three minutes.
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

begin relay "$out"
need "$client_engine" "$client_data" "$peer_engine" "$peer_data" Xvfb import identify quakestat
find_fragd
level=relay

# broadcast NAME ARGUMENT...: starts a relay or playback; leaves broadcast_{address,log,pid,input}.
broadcast() {
  local name=$1
  shift
  free_port
  broadcast_address=127.0.0.1:$port
  broadcast_log=$work/$name.log
  : >"$broadcast_log"
  mkfifo "$work/$name.in"
  exec {broadcast_input}<>"$work/$name.in"
  launch "$work/$name.in" "$broadcast_log" "$fragd" "$@" --port "$port"
  broadcast_pid=$launched
  await 20 shows "$broadcast_address" oa_dm1
}

# shows ADDRESS MAP: whether a relay answers with the map of its source.
shows() { ask "$1" getinfo | grep -aqF "\\mapname\\$2"; }

# fighters ADDRESS COUNT: bots that play until the script ends. They return after a restart.
fighters() {
  launch /dev/null "$work/fighters-$2.log" "$fragd" bots --connect "$1" -n "$2" --seconds 600 --reconnect
  fighters_pid=$launched
}

# watch NAME ADDRESS: joins the relay and waits for the first frame.
watch() {
  server_address=$2
  join "$1"
}

# --- A relay of fragd -----------------------------------------------------------------------------

check 'fragd starts' server_start fragd compat oa_dm1 16 || finish
source_address=$server_address source_pid=$server_pid source_port=${server_address#*:}
fighters "$source_address" 6
check 'relay shows the level of the server' broadcast first relay --from "$source_address" || finish
first=$broadcast_address first_log=$broadcast_log first_input=$broadcast_input

check 'quakestat lists the relay by the name of its source' \
  grep -aqE 'checked by fragd \(relay\)' <(quakestat -raw ';' -q3s "$first")
check 'relay answers getstatus with its own limit of viewers' \
  grep -aqF '\sv_maxclients\512' <(ask "$first" getstatus)

if check 'client starts' client_start viewer compat; then
  check 'viewer: enters the relay' watch viewer "$first"
  sees viewer play
  here "${client_log[viewer]}"
  order viewer 'say good evening'
  tells viewer 5 'chat among viewers' '\[viewer\] viewer: good evening'
  order viewer '+scores'
  sleep 1.5
  sees viewer scoreboard
  order viewer '-scores'
  here "$first_log"
  echo status >&"$first_input"
  check 'console lists the viewer' hears 5 "$first_log" 'compat .*viewer -> '

  here "${client_log[viewer]}"
  expect_game viewer
  stop "$source_pid" 5 KILL
  tells viewer 25 'hears of the lost source' 'source is lost'
  server_port=$source_port
  rm -f "$work/server-$source_port.in"
  check 'server starts again' server_start fragd compat oa_dm1 16
  server_port=
  tells viewer 45 'returns to play with the source' '^first frame in the game'
  sees viewer play-again
  check 'viewer: no error' [ -z "$(client_faults viewer | grep -aiv 'source is lost')" ]
  check 'viewer: quits' client_end viewer
fi

# --- Simulated viewers ------------------------------------------------------------------------------

crowd() {
  "$fragd" bots --connect "$first" -n 100 --seconds 8 --do idle \
    --expect "snapshots_per_second>15,drops=0,protocol_errors=0,$shared_machine" >"$work/load.log" 2>&1
}
check '100 simulated viewers' crowd
server_address=$source_address
stop "$fighters_pid" 5
sweep

# --- A chained relay of ioquake3 ----------------------------------------------------------------------

if check 'ioquake3 starts' server_start ioq3ded native oa_dm1 16; then
  peer=$server_address
  fighters "$peer" 4
  check 'relay shows a server of ioquake3' broadcast second relay --from "$peer"
  second=$broadcast_address
  check 'relay shows another relay' broadcast third relay --from "$second" --delay 2s
  third=$broadcast_address third_log=$broadcast_log
  if check 'native client starts' client_start far native; then
    check 'far: enters the chained relay' watch far "$third"
    sees far chained
    order far 'record played'
    sleep 6
    order far stoprecord
    await 5 test -s "${client_home[far]}/.oa/baseoa/demos/played.dm_71"
    check 'far: no error' [ -z "$(client_faults far)" ]
    cp "${client_home[far]}/.oa/baseoa/demos/played.dm_71" "$work/played.dm_71"
    check 'far: quits' client_end far
  fi
  check 'no relay panics' [ -z "$(grep -ah panicked "$work"/*.log)" ]
fi

# --- A live stream --------------------------------------------------------------------------------------

# stream_settings: settings of a server that offers its live stream on TCP port $stream_port.
stream_settings() {
  echo "sv_relayAddress 127.0.0.1:$stream_port sv_relayPassword streampassword"
}

# following NAME: the player that the viewer NAME follows, by the relay's console.
following() {
  here "$live_log"
  echo status >&"$live_input"
  hears 5 "$live_log" "$1 -> " || return 1
  fresh "$live_log" | grep -a "$1 -> " | tail -n 1 | sed 's/.*-> //'
}

# follows_other: whether the viewer follows another player than before.
follows_other() { [ "$(following streamer)" != "$followed" ]; }

free_port
stream_port=$port
free_port
offer_port=$port
# shellcheck disable=SC2046 # names and values
if check 'server with a live stream starts' server_start fragd compat oa_dm1 16 $(stream_settings); then
  source_pid=$server_pid source_port=${server_address#*:}
  fighters "$server_address" 4
  export FRAGD_RELAY_PASSWORD=streampassword
  check 'relay shows the live stream' broadcast live relay --from "tcp://127.0.0.1:$stream_port" \
    --offer "127.0.0.1:$offer_port"
  live=$broadcast_address live_log=$broadcast_log live_input=$broadcast_input
  check 'relay shows the stream of another relay' broadcast onward relay --from "tcp://127.0.0.1:$offer_port"
  onward=$broadcast_address
  check 'the relay takes no slot of the server' \
    [ "$(ask "$server_address" getstatus | grep -ac '"relay"')" = 0 ]
  free_port
  launch /dev/null "$work/wrong.log" env FRAGD_RELAY_PASSWORD=wrongpassword "$fragd" relay \
    --from "tcp://127.0.0.1:$stream_port" --port "$port"
  check 'relay with a wrong password is refused' hears 10 "$work/wrong.log" 'wrong password'
  stop "$launched" 5
  if check 'client of the stream starts' client_start streamer compat; then
    check 'streamer: enters the live stream' watch streamer "$live"
    sees streamer stream
    followed=$(following streamer)
    check 'streamer: follows a player' [ -n "$followed" ]
    order streamer follownext
    check 'streamer: follows another player of the same frames' await 10 follows_other
    sees streamer stream-other
    here "${client_log[streamer]}"
    expect_game streamer
    stop "$source_pid" 5 KILL
    tells streamer 25 'hears of the lost stream' 'source is lost'
    server_port=$source_port
    rm -f "$work/server-$source_port.in"
    # shellcheck disable=SC2046 # names and values
    check 'server with a live stream starts again' \
      server_start fragd compat oa_dm1 16 $(stream_settings)
    server_port=
    tells streamer 45 'returns to play with the stream' '^first frame in the game'
    check 'streamer: no error' [ -z "$(client_faults streamer | grep -aiv 'source is lost')" ]
    here "${client_log[streamer]}"
    check 'streamer: enters the stream of the other relay' watch streamer "$onward"
    sees streamer stream-onward
    check 'streamer: quits' client_end streamer
  fi
  unset FRAGD_RELAY_PASSWORD
  stop "$fighters_pid" 5
fi

# --- A demo -------------------------------------------------------------------------------------------

if check 'demo is played' broadcast demo demo play "$work/played.dm_71" --loop; then
  demo_log=$broadcast_log demo_input=$broadcast_input demo=$broadcast_address
  if check 'client 68 starts' client_start audience 68; then
    check 'audience: enters the demo' watch audience "$demo"
    sees audience demo
    here "$demo_log"
    here "${client_log[audience]}"
    order audience 'say !pause'
    tells audience 5 'pauses the demo by chat' 'Demo paused at'
    echo pause >&"$demo_input"
    tells audience 5 'sees the operator continue' 'Demo continues at'
    expect_game audience
    order audience 'say !seek 0'
    check 'audience: goes to the start' hears 5 "$demo_log" 'Demo goes to 0:00'
    tells audience 30 'loads the level again' '^first frame in the game'
    order audience 'say !speed 2'
    tells audience 5 'changes the speed' 'Speed 2'
    check 'audience: no error' [ -z "$(client_faults audience)" ]
    check 'audience: quits' client_end audience
  fi
  echo quit >&"$demo_input"
  check 'playback ends by quit' await 5 gone "$broadcast_pid"
fi
finish
