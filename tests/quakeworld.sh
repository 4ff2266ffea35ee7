#!/bin/bash
# QuakeWorld check: bots on mvdsv, an unmodified QuakeWorld server, with and without an impaired network.
#
#   tests/quakeworld.sh [--bots 16] [--seconds 30] [--out DIRECTORY]
#
# The data of the server is made by qw-data.py and qw-minimal.qc; nothing is taken from a game. All bots must enter,
# walk, be seen by the server, predict their moves and leave; the server's console must not complain. Both
# networks are tried at the same time.
#
# Needs Debian's packages mvdsv fteqcc python3. A minute.
# shellcheck disable=SC2317 # functions are called by `check`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

bots=16 seconds=30 out=
while [ $# -gt 0 ]; do
  case $1 in
    --bots) bots=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
begin quakeworld "$out"
need /usr/games/mvdsv fteqcc python3 jq
find_fragd

# figure NAME FILE: a top-level number of the bots' summary.
figure() {
  grep -aoE "\"$1\" *: *-?[0-9.]+([eE][-+]?[0-9]+)?" "$2" | head -n 1 | sed 's/.*: *//'
}

# sum NAME FILE: the sum of a number of each bot.
sum() { jq "[.each[].$1 // 0] | add" "$2"; }

# is NUMBER OPERATOR NUMBER, with fractions.
is() { awk -v a="${1:-none}" -v b="$3" "BEGIN { exit !(a != \"none\" && a + 0 $2 b + 0) }"; }

answers() { ask "127.0.0.1:$port" status | grep -aq '^n\\'; }

# server_sees NUMBER: whether that many players are in the server's own list.
server_sees() { [ "$(ask "127.0.0.1:$port" status | grep -acE '"bot[0-9]{2}"')" -eq "$1" ]; }

# visit NAME MAX_LOST [OPTION]...: bots on a server of their own.
visit() {
  local name=$1 most=$2 log=$work/mvdsv-$1.log summary=$work/$1.json code said load
  shift 2
  free_port
  launch /dev/null "$log" /usr/games/mvdsv -basedir "$work/data" -ip 127.0.0.1 -port "$port" -mem 64 +sv_getrealip 0 \
    +rcon_password peer +sv_crypt_rcon 0 +maxclients 24 +sv_maxrate 100000 +sv_progtype 0 +map fragbox
  await 20 answers || { fail "$name: mvdsv does not answer"; return; }
  launch /dev/null "$work/$name.log" timeout -k 5 $((seconds + 40)) sh -c '"$@" --json >"$0"' "$summary" \
    "$fragd" bots --connect "127.0.0.1:$port" --protocol quakeworld -n "$bots" --ramp 4/s --seed 7 --seconds "$seconds" \
    --do wander,chat,scores --expect "$shared_machine" "$@"
  load=$launched
  check "$name: mvdsv lists $bots bots" await "$seconds" server_sees "$bots"
  said=$(grep -aiE 'badread|overflow|dropped|does not match|illegible|timed out' "$log")
  wait "$load"
  code=$?
  check "$name: exit code 0 (it is $code)" [ "$code" -eq 0 ] || note "$(tail -n 3 "$work/$name.log" | tr '\n' '|')"
  said+=$(grep -aiE 'badread|overflow|does not match|illegible|timed out' "$log")
  check "$name: all entered the game ($(figure active "$summary") of $bots)" is "$(figure active "$summary")" == "$bots"
  check "$name: none was dropped" is "$(figure dropped "$summary")" == 0
  check "$name: $(figure walked_per_second "$summary") units a second, each" is "$(figure walked_per_second "$summary")" '>=' 100
  check "$name: $(figure delta_share "$summary") of the answers are deltas" is "$(figure delta_share "$summary")" '>' 0.9
  check "$name: $(figure loss "$summary") of the answers lost" is "$(figure loss "$summary")" '<=' "$most"
  check "$name: $(sum mispredicted "$summary") of $(sum predicted "$summary") answers at another place than predicted" \
    is "$(sum mispredicted "$summary")" '<=' "$(sum predicted "$summary") * 0.1"
  check "$name: mvdsv has nothing to complain of" [ -z "$said" ] || note "$(head -n 5 <<<"$said" | tr '\n' '|')"
  check "$name: all left by their own word" is "$(grep -acE 'Client bot[0-9]+ removed' "$log")" '>=' "$bots"
}

# make_data: the data of the server, in `$work/data`.
make_data() {
  local source=$work/game
  mkdir -p "$source"
  cp "$root/tests/qw-minimal.qc" "$source/"
  printf 'qwprogs.dat\nqw-minimal.qc\n' >"$source/progs.src"
  (cd "$source" && fteqcc) >"$work/fteqcc.log" 2>&1
  python3 "$root/tests/qw-data.py" "$work/data" --progs "$source/qwprogs.dat" >"$work/data.log" 2>&1
}

check 'game data are made' make_data || finish
apart "$work/visit-clear.txt" visit clear 0.02
clear=$launched
apart "$work/visit-impaired.txt" visit impaired 0.15 --network 'latency=30ms,jitter=10ms,loss=2.5%'
impaired=$launched
rejoin "$clear" "$work/visit-clear.txt"
rejoin "$impaired" "$work/visit-impaired.txt"
finish
