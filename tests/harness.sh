# shellcheck shell=bash
# Shared parts of the shell checks: counting, waiting, processes, ports, servers, real clients.
#
# A check script sources this file, calls `begin`, runs checks, and ends with `finish`. Every check
# is one line, `ok …` or `FAIL …`; the last line is `N passed, N failed`. Logs and pictures go to one
# directory, which is removed after a pass unless the caller named it. Every started process is ended
# on every exit path, and every wait has a limit.
#
# A server is `fragd`, `ioq3ded` (ioquake3's dedicated server with OpenArena's game) or a running
# server's HOST:PORT. A client is the unmodified ioquake3 with OpenArena's data on an X server of its
# own. It reads console commands from a pipe (its setting `com_pipefile`), so that a script reacts to
# events instead of waiting for a number of frames.
#
# Invariant: only failures outside fragd are retried, and the retry is reported: an X server that does
# not start, or a port taken by another program.

# The header of a check script is its help.
case " $* " in *' --help '* | *' -h '*) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

client_engine=${IOQUAKE3:-/usr/lib/ioquake3/ioquake3}
openarena_data=${OPENARENA_DATA:-/usr/lib/openarena}
client_data=$openarena_data
# Client games of Quake III and Team Arena.
client_code=${IOQUAKE3_CODE:-/usr/lib/ioquake3}
peer_engine=${IOQ3DED:-/usr/lib/ioquake3/ioq3ded}
peer_data=${OPENARENA_SERVER_DATA:-/usr/lib/openarena-server}
rcon_password=look-but-do-not-touch
# First drawn port, below the kernel's own range.
port_range=${CHECK_PORTS:-20000-26999}
# Additional directory `…/baseoa/maps` of clients and servers, if any.
extra_maps=
# Limits of `fragd bots` where they share the machine with clients that draw and are not what a check measures.
shared_machine='lateness_p95<10s,lateness_max<10s,snapshot_gap_max<10s'
# Folder of the game data, and the settings that servers need for it; see `host_module`.
game_folder=baseoa game_settings=()

passed=0 failed=0
work='' keep_work=0
declare -A mark=()          # log file → bytes of it that are in the past
declare -a started=()       # process ids, oldest first

# --- Counting -----------------------------------------------------------------------------------

ok() { passed=$((passed + 1)); echo "ok   $*"; }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
note() { echo "     $*"; }

# check TEXT COMMAND...: one check, passed if the command succeeds.
check() {
  local text=$1
  shift
  if "$@"; then ok "$text"; else fail "$text"; return 1; fi
}

# begin NAME [DIRECTORY]: creates the log directory and registers the cleanup.
begin() {
  if [ -n "${2:-}" ]; then
    mkdir -p "$2" && work=$(cd "$2" && pwd) && keep_work=1
  else
    work=$(mktemp -d "${TMPDIR:-/tmp}/fragd-$1.XXXXXX")
  fi
  # Servers of checks do not read or leave the state of the user's.
  export XDG_STATE_HOME=$work/state
  unset STATE_DIRECTORY
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# finish: prints the summary and sets the script's exit code.
finish() {
  [ "$failed" -eq 0 ] || { keep_work=1; note "logs are in $work"; }
  [ "$keep_work" -eq 0 ] || note "everything is kept in $work"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
  exit
}

end_started() {
  trap '' INT TERM
  local pid
  for pid in "${started[@]}"; do kill -TERM "$pid" 2>/dev/null; done
  for pid in "${started[@]}"; do await 5 gone "$pid" || kill -KILL "$pid" 2>/dev/null; done
  wait 2>/dev/null
}

clean_up() {
  end_started
  [ "$keep_work" -eq 1 ] || rm -rf "$work"
}

# apart LOG COMMAND...: runs in parallel, with its own servers and clients and with output to LOG.
# Leaves its id in `launched`; `rejoin` it.
apart() {
  local log=$1
  shift
  (
    started=() server_pid='' client_pid=() client_display=() client_input=()
    trap end_started EXIT
    trap 'exit 143' INT TERM
    "$@"
  ) >"$log" 2>&1 &
  launched=$!
  started+=("$launched")
}

# rejoin PID LOG: waits for it, and adds its checks to these.
rejoin() {
  wait "$1"
  cat "$2"
  passed=$((passed + $(grep -c '^ok ' "$2"))) failed=$((failed + $(grep -c '^FAIL ' "$2")))
}

# need PROGRAM-OR-PATH...: a missing program is a failure, not a reason to check less.
need() {
  local one missing=0
  for one; do
    command -v "$one" >/dev/null 2>&1 || [ -d "$one" ] || { fail "$one is not installed"; missing=1; }
  done
  [ "$missing" -eq 0 ] || finish
}

# --- Time and processes -------------------------------------------------------------------------

# now: seconds with a fraction, for intervals.
now() { echo "${EPOCHREALTIME/,/.}"; }

# since SECONDS: elapsed time, one decimal.
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

# await SECONDS COMMAND...: runs it ten times a second until it succeeds.
await() {
  local last=$((${EPOCHREALTIME/./} + $1 * 1000000))
  shift
  until "$@"; do
    [ "${EPOCHREALTIME/./}" -lt "$last" ] || return 1
    sleep 0.1
  done
}

# gone PID: whether it has ended. An unreaped child has.
gone() {
  local state
  kill -0 "$1" 2>/dev/null || return 0
  state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)
  [ "$state" = Z ] || [ -z "$state" ]
}

alive() { ! gone "$1"; }

# launch INPUT LOG COMMAND...: starts it in the background; leaves its id in `launched`.
launch() {
  local input=$1 log=$2
  shift 2
  "$@" <"$input" >>"$log" 2>&1 &
  launched=$!
  started+=("$launched")
}

# stop PID SECONDS [SIGNAL]: signals, waits, then kills. True if the signal was enough.
stop() {
  kill -"${3:-TERM}" "$1" 2>/dev/null
  await "$2" gone "$1" && return 0
  kill -KILL "$1" 2>/dev/null
  return 1
}

# --- Logs ---------------------------------------------------------------------------------------

# here LOG: marks the current end of the log.
here() { mark[$1]=$(stat -c %s "$1" 2>/dev/null || echo 0); }

# fresh LOG: text since `here`, without color codes and carriage returns.
fresh() { tail -c "+$((${mark[$1]:-0} + 1))" "$1" 2>/dev/null | tr -d '\r' | sed 's/\^[0-9]//g'; }

# says LOG REGEX: whether a line since `here` matches.
says() { fresh "$1" | grep -aqE -- "$2"; }

# hears SECONDS LOG REGEX: waits for such a line.
hears() { await "$1" says "$2" "$3"; }

# --- Ports --------------------------------------------------------------------------------------

udp_port_taken() {
  local hex
  hex=$(printf '%04X' "$1")
  cat /proc/net/udp /proc/net/udp6 2>/dev/null | awk -v end=":$hex" '
    substr($2, length($2) - 4) == end { found = 1 } END { exit !found }'
}

# free_port: leaves an unused UDP port in `port` that no parallel check has drawn: a starting server
# binds its port only later.
free_port() {
  local first=${port_range%-*} last=${port_range#*-}
  port=$((first + RANDOM % (last - first + 1)))
  mkdir -p "$work/ports"
  while udp_port_taken "$port" || ! mkdir "$work/ports/$port" 2>/dev/null; do port=$((port + 1)); done
}

# --- Servers ------------------------------------------------------------------------------------

# find_fragd [PROFILE [FEATURE]]: the binary under test is $FRAGD, or the build of this tree, rebuilt if outdated.
find_fragd() {
  local profile=${1:-release} feature=${2:-default}
  fragd=${FRAGD:-}
  [ -z "$fragd" ] || { need "$fragd"; return; }
  (cd "$root" && cargo build --profile "$profile" --features "$feature" --quiet) >"$work/build.log" 2>&1 ||
    { fail "$profile build (build.log)"; finish; }
  fragd=${CARGO_TARGET_DIR:-$root/target}/$profile/fragd
}

# find_demo_reader: $READ_DEMO, or fragd's own, which stops at the first undecodable message. The profile is that of
# `cargo test`, which builds it too.
find_demo_reader() {
  demo_reader=${READ_DEMO:-}
  [ -z "$demo_reader" ] || { need "$demo_reader"; return; }
  (cd "$root" && cargo build --quiet --example read_demo) >"$work/build-reader.log" 2>&1 ||
    { fail "the demo reader's build (build-reader.log)"; finish; }
  # shellcheck disable=SC2034 # for the caller
  demo_reader=${CARGO_TARGET_DIR:-$root/target}/debug/examples/read_demo
}

# find_comparison: $COMPARE_QUAKEWORLD, or the example of this tree that runs a script of usercmds on servers.
find_comparison() {
  comparison=${COMPARE_QUAKEWORLD:-}
  [ -z "$comparison" ] || { need "$comparison"; return; }
  (cd "$root" && cargo build --quiet --example compare_quakeworld) >"$work/build-comparison.log" 2>&1 ||
    { fail "the build of the comparison (build-comparison.log)"; finish; }
  # shellcheck disable=SC2034 # for the caller
  comparison=${CARGO_TARGET_DIR:-$root/target}/debug/examples/compare_quakeworld
}

# quakeworld_data: data of QuakeWorld programs in `$work/data`, with the game of mvdsv; nothing is taken from a game.
quakeworld_data() {
  local source=$work/game
  mkdir -p "$source"
  cp "$root/tests/qw-minimal.qc" "$root/tests/qw-movers.qc" "$source/"
  printf '%s\n' qwprogs.dat qw-minimal.qc qw-movers.qc >"$source/progs.src"
  (cd "$source" && fteqcc) >"$work/fteqcc.log" 2>&1
  python3 "$root/tests/qw-data.py" "$work/data" --progs "$source/qwprogs.dat" >"$work/data.log" 2>&1
}

# mvdsv_start LOG CLIENTS MAP [NAME VALUE]...: starts mvdsv on a free port, and waits until it answers.
mvdsv_start() {
  local log=$1 clients=$2 map=$3
  local -a settings=()
  shift 3
  while [ $# -gt 0 ]; do settings+=("+$1" "$2"); shift 2; done
  free_port
  launch /dev/null "$log" /usr/games/mvdsv -basedir "$work/data" -ip 127.0.0.1 -port "$port" -mem 64 +sv_getrealip 0 \
    +rcon_password peer +sv_crypt_rcon 0 +maxclients "$clients" +sv_maxrate 100000 +sv_progtype 0 "${settings[@]}" \
    +map "$map"
  await 20 mvdsv_answers
}

mvdsv_answers() { ask "127.0.0.1:$port" status | grep -aq '^n\\'; }

# server_start KIND WIRE MAP CLIENTS [NAME VALUE]...: leaves server_{address,log,pid,console,games}.
# Binds a free port, or `server_port` if set. KIND is fragd, ioq3ded or HOST:PORT. WIRE matters to
# ioq3ded alone, which serves only some at once.
server_start() {
  server_kind=$1
  server_pid='' server_log=/dev/null
  case $server_kind in
    fragd | ioq3ded) ;;
    *) server_address=$server_kind; return 0 ;;
  esac
  server_try "$@" && return 0
  port_was_taken || return 1
  note "the port was taken meanwhile; trying another one"
  stop "$server_pid" 5
  server_try "$@"
}

# port_was_taken: whether ioquake3 moved on to the next port, which no check would query.
port_was_taken() { grep -aqiE 'in use|EADDRINUSE' "$server_log"; }

server_try() {
  local kind=$1 wire=$2 map=$3 clients=$4 legacy
  local -a data=()
  local -a settings=(+set sv_hostname "checked by $kind" +set sv_maxclients "$clients"
    +set rconPassword "$rcon_password")
  shift 4
  while [ $# -gt 0 ]; do settings+=(+set "$1" "$2"); shift 2; done
  port=${server_port:-}
  [ -n "$port" ] || free_port
  server_address=127.0.0.1:$port
  server_log=$work/server-$port.log
  server_console=$work/server-$port.in
  server_games=$work/games-$port.log
  mkfifo "$server_console"
  exec {server_input}<>"$server_console"
  case $kind in
    fragd)
      [ -z "$extra_maps" ] || data=(env "FRAGD_BASEPATH=${extra_maps%/baseoa/maps}:$client_data")
      [ ${#game_settings[@]} -eq 0 ] || data=(env "FRAGD_BASEPATH=$client_data")
      # The game log is a separate file; checks look for its lines in the server's log, too.
      # Debian's clients predict with native modules, in an engine built with -ffast-math.
      launch "$server_console" "$server_log" env RUST_LOG=info,game=debug "${data[@]}" "$fragd" serve --port "$port" --map "$map" \
        +set pmove_precision double +set cm_precision fast +set g_log "$server_games" +set sv_state none \
        "${game_settings[@]}" "${settings[@]}" +devmap "$map"
      ;;
    ioq3ded)
      lend_maps "$work/server-$port/.oa"
      legacy=68
      [ "$wire" != compat ] || legacy=71
      launch "$server_console" "$server_log" env HOME="$work/server-$port" "$peer_engine" \
        +set dedicated 1 +set com_basegame "$game_folder" +set fs_basepath "$peer_data" \
        +set com_homepath .oa +set com_hunkmegs 128 +set com_protocol 71 \
        +set com_legacyprotocol "$legacy" +set net_enabled 1 +set net_ip 127.0.0.1 \
        +set net_port "$port" +set sv_pure 0 +set sv_master1 '' "${game_settings[@]}" "${settings[@]}" +devmap "$map"
      ;;
  esac
  server_pid=$launched
  await 30 server_up && alive "$server_pid" && ! port_was_taken
}

# lend_maps DIRECTORY: installs the additional maps for a program with that home folder.
lend_maps() {
  mkdir -p "$1/$game_folder"
  [ -z "$extra_maps" ] || ln -s "$extra_maps" "$1/$game_folder/maps"
}

# host_module NAME ENGINE: servers started afterwards host that game module of $FRAGD_MODULES with that
# `vm_game`, and clients have the client game that belongs to it. The maps are OpenArena's.
host_module() {
  local native=$client_code/$1 root=$work/module-$1 game=baseq3 file
  local -a packs=("$openarena_data"/baseoa/*.pk3)
  case $1 in
    missionpack) packs+=("$openarena_data"/missionpack/*.pk3) ;;
    baseoa) game=baseoa native=$openarena_data/baseoa ;;
  esac
  # Under its own name the engine would insist on the original archives of Quake III.
  game_folder=base-$1 game_settings=(+set game "$game" +set vm_game "$2")
  client_data=$root peer_data=$root
  [ ! -d "$root" ] || return 0
  mkdir -p "$root/vm" "$root/$game_folder"
  ln -s "$game_folder" "$root/$game"
  ln -s "${packs[@]}" "$native"/{cgame,ui}x86_64.so "$root/$game_folder/"
  for file in "$FRAGD_MODULES/$1"/qagame.{qvm,map}; do
    [ ! -e "$file" ] || cp "$file" "$root/vm/"
  done
  (cd "$root" && zip -q -r "$game_folder/zz_module.pk3" vm)
}

# A server is up when it answers, and dead when its process ended.
server_up() { gone "$server_pid" || asked "$server_address" getinfo infoResponse; } 2>/dev/null

# server_order LINE: types the line on the server's console.
server_order() { echo "$1" >&"$server_input"; }

# asked HOST:PORT REQUEST WORD: whether the response to the connectionless request begins with that
# word.
asked() { [ "$(ask "$1" "$2" | head -n 1)" = "$3" ]; }

# ask HOST:PORT REQUEST: text of the first response behind the four 0xFF bytes.
ask() {
  local socket
  exec {socket}<>"/dev/udp/${1%:*}/${1##*:}" || return 1
  printf '\377\377\377\377%s' "$2" >&"$socket"
  timeout 1 dd bs=65536 count=1 <&"$socket" 2>/dev/null | tail -c +5 | tr '\0' '.'
  exec {socket}>&-
}

# has_setting NAME VALUE: whether serverinfo has the value.
has_setting() { ask "$server_address" getstatus | grep -aqF "\\$1\\$2"; }

# counts NUMBER: whether that many players are on.
counts() { [ "$(ask "$server_address" getstatus | grep -acE '^-?[0-9]+ [0-9]+ "')" -eq "$1" ]; }

# server_faults: lines of the server's log that must never appear. Its last lines are 250 ms late.
server_faults() {
  sleep 0.3
  grep -aiE 'panicked|RUST_BACKTRACE|\bERROR\b|overflow|SV_.*(bad|illegal)|Received signal' "$server_log"
}

# --- Real clients -------------------------------------------------------------------------------

declare -A client_pid=() client_log=() client_input=() client_home=() client_display=()

# client_start NAME WIRE: starts a client up to its main menu. Tried twice, because X and Mesa may fail.
client_start() {
  client_try "$@" && return 0
  note "client $1 or its X server did not come up; trying once more"
  client_end "$1"
  client_try "$@"
}

client_try() {
  local name=$1 wire=$2 newest oldest home log display
  case $wire in
    compat) newest=71 oldest=71 ;;
    native) newest=71 oldest=68 ;;
    66 | 67 | 68) newest=$wire oldest=$wire ;;
  esac
  home=$(mktemp -d "$work/client-$name-$wire.XXX")
  log=$home/console.log
  client_home[$name]=$home client_log[$name]=$log
  : >"$log"

  # The X server picks a free display itself and says which.
  : >"$home/display"
  # shellcheck disable=SC2317 # called by `launch`
  x_server() { exec Xvfb -displayfd 3 -screen 0 320x240x24 -nolisten tcp 3>"$home/display"; }
  launch /dev/null "$home/x.log" x_server
  client_display[$name]=$launched
  await 20 test -s "$home/display" || return 1
  display=$(cat "$home/display")

  # The engine accepts at most 32 groups on its command line, so only required ones go there.
  free_port
  lend_maps "$home/.oa"
  cat >"$home/.oa/$game_folder/autoexec.cfg" <<SETTINGS
set name "$name"
set net_enabled 1
set net_ip 127.0.0.1
set net_port $port
set rconPassword "$rcon_password"
set com_pipefile orders
set showdrop 1
set cl_motd 0
set cl_allowDownload 0
set com_maxfps 40
set com_introplayed 1
set s_initsound 0
set in_joystick 0
set in_nograb 1
set cl_renderer opengl1
set r_fullscreen 0
set r_mode -1
set r_customwidth 320
set r_customheight 240
set r_vertexlight 1
set r_dynamiclight 0
set r_picmip 6
set r_fastsky 1
set cg_marks 0
set con_notifytime 0
SETTINGS
  launch /dev/null "$log" env HOME="$home" DISPLAY=":$display" LIBGL_ALWAYS_SOFTWARE=1 \
    SDL_AUDIODRIVER=dummy stdbuf -oL -eL "$client_engine" \
    +set com_basegame "$game_folder" +set fs_basepath "$client_data" +set com_homepath .oa \
    +set com_protocol "$newest" +set com_legacyprotocol "$oldest" +set com_hunkmegs 128 \
    +set ttycon 0
  client_pid[$name]=$launched
  await 40 client_ready "$name" || return 1
  gone "$launched" && return 1
  exec {fd}<>"$home/.oa/$game_folder/orders"
  client_input[$name]=$fd
}

client_ready() {
  gone "${client_pid[$1]}" && return 0
  [ -p "${client_home[$1]}/.oa/$game_folder/orders" ] &&
    grep -aq 'Common Initialization Complete' "${client_log[$1]}"
}

# client_end NAME: disconnects by `quit`; true on success.
client_end() {
  local good=0 input=${client_input[$1]:-}
  if [ -n "$input" ]; then
    order "$1" quit
    await 5 gone "${client_pid[$1]}" || good=1
    exec {input}>&-
  fi
  [ -z "${client_pid[$1]:-}" ] || stop "${client_pid[$1]}" 2
  [ -z "${client_display[$1]:-}" ] || stop "${client_display[$1]}" 3
  unset "client_input[$1]" "client_pid[$1]" "client_display[$1]"
  return $good
}

# sweep: ends the server and all clients, so that an aborted check costs the next one no time.
sweep() {
  local name
  for name in "${!client_display[@]}"; do client_end "$name"; done
  [ -z "${server_pid:-}" ] || gone "$server_pid" || stop "$server_pid" 5
  server_pid=''
}

# order NAME LINE: types it on the client's console.
order() { echo "$2" >&"${client_input[$1]}"; }

# join NAME: connects, and waits for the first frame in the game.
join() {
  expect_game "$1"
  order "$1" "connect $server_address"
  in_game "$1"
}

# expect_game NAME: run before each entry into a game; the engine forgets the setting each time.
expect_game() {
  here "${client_log[$1]}"
  order "$1" 'set activeAction "echo first frame in the game"'
}

# in_game NAME: whether the game announced the player and the engine draws the world.
in_game() {
  hears 40 "${client_log[$1]}" "^$1 entered the game" &&
    hears 20 "${client_log[$1]}" '^first frame in the game'
}

# where NAME: leaves the view origin and yaw as `x y z yaw` in `place`.
where() {
  here "${client_log[$1]}"
  order "$1" viewpos
  hears 5 "${client_log[$1]}" '^\(-?[0-9]+ -?[0-9]+ -?[0-9]+\) : ' || { place=''; return 1; }
  # shellcheck disable=SC2034 # for the caller
  place=$(fresh "${client_log[$1]}" | sed -n 's/^(\(.*\)) : \(-\{0,1\}[0-9]*\)$/\1 \2/p' | tail -n 1)
}

# hold NAME BUTTON SECONDS
hold() {
  order "$1" "+$2"
  sleep "$3"
  order "$1" "-$2"
}

# picture NAME FILE: takes a screenshot in the client.
picture() {
  local file=${client_home[$1]}/.oa/$game_folder/screenshots/$2.jpg
  order "$1" "screenshotJPEG $2"
  await 5 test -s "$file" && sleep 0.3 && cp "$file" "$work/$2.jpg"
}

# count_colors FILE: number of different colors in the picture; an empty window has a handful.
count_colors() { identify -format '%k' "$1" 2>/dev/null || echo 0; }

# tells NAME SECONDS TEXT REGEX: checks that the client's log gets such a line.
tells() { check "$1: $3" hears "$2" "${client_log[$1]}" "$4"; }

# sees NAME WHAT: keeps a picture as LEVEL-WHAT, and checks that it shows a world.
sees() {
  # shellcheck disable=SC2154 # from the caller
  local what=$level-$2
  picture "$1" "$what" || { fail "$1: takes a picture of $2"; return; }
  check "$1: has a picture of $2 ($work/$what.jpg, $(count_colors "$work/$what.jpg") colors)" \
    [ "$(count_colors "$work/$what.jpg")" -ge 64 ]
}

# client_faults NAME: error lines of a client since `here`.
client_faults() {
  fresh "${client_log[$1]}" | grep -aiE "$fault_lines" | grep -avE "$harmless_lines"
}

# One kind per line. Each of these lines was written by an engine or a game module.
fault_lines=$(paste -sd '|' <<'LINES'
^\*{4,}
error
warning
server disconnected
connection (timed out|refused|reset)
illegible|illegal|invalid|mismatch
\b(bad|unhandled|unknown)\b
read past end
: end of message
delta (from|frame|parse)
dropped (a|[0-9]+)
out of order
not allowed
overflow|exceed
couldn.?t|could not|can.?t|cannot|unable
not found|missing|failed
LINES
)

# Lines of a session without errors: the driver's extension list; output of `cg_showmiss` (checked
# separately); of a 68 client, whose challenge every server answers with its own number; model parts, icons,
# menus and voices that OpenArena's data does not have.
harmless_lines='new shader team_icon/|ui/error\.menu|^voice chat file not found|Failed to load model file models/players/characters/james/|^GL_EXTENSIONS|errorcode [0-9]+ at|^prediction error|^Prediction miss|^WARNING: (changed predicted|double|dropped) event|Trying legacy protocol 6[678]'

# no_faults NAME DOING: checks that the console has no errors since its mark.
no_faults() {
  local faults
  faults=$(client_faults "$1")
  [ -z "$faults" ] || note "$1's console: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check "$1: $2 without an error in the console" [ -z "$faults" ]
}

# --- Demos --------------------------------------------------------------------------------------

# plays NAME FILE WHAT: the client plays a demo to its end, without an error in its console.
plays() {
  local console=${client_log[$1]}
  cp "$2" "${client_home[$1]}/.oa/$game_folder/demos/shown.${2##*.}"
  here "$console"
  order "$1" 'set timedemo 1'
  order "$1" 'demo shown'
  check "$1: plays $3 to its end" hears 60 "$console" '^[0-9]+ frames'
  no_faults "$1" "plays $3"
}

# demo_snapshots DEMO: sequence and content of each snapshot, without its delta base, sorted.
demo_snapshots() {
  "$fragd" demo json "$1" |
    jq -c 'select(.snapshot) | [.sequence, (.snapshot | del(.delta))]' | sort
}

# equal_snapshots OURS THEIRS LEAST WHOSE: whether every snapshot that is in both demos is equal.
equal_snapshots() {
  local sequences equal
  demo_snapshots "$1" >"$work/ours.txt"
  demo_snapshots "$2" >"$work/theirs.txt"
  sequences=$(comm -12 <(cut -d, -f1 "$work/ours.txt" | sort) <(cut -d, -f1 "$work/theirs.txt" | sort) | wc -l)
  equal=$(comm -12 "$work/ours.txt" "$work/theirs.txt" | wc -l)
  check "$4 share $sequences snapshots, $equal of them equal" \
    [ "$sequences" -ge "$3" -a "$sequences" -eq "$equal" ]
}
