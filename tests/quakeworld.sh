#!/bin/bash
# QuakeWorld check: bots on mvdsv, an unmodified QuakeWorld server, and on fragd, with and without an impaired network.
#
#   tests/quakeworld.sh [--bots 16] [--seconds 30] [--out DIRECTORY]
#
# The data of the server is made by qw-data.py and qw-minimal.qc; nothing is taken from a game. All bots must enter,
# walk, be seen by the server, predict their moves and leave; the server's console must not complain. Each bot says
# a numbered line every two seconds: each line must arrive at each bot once and in order. All servers and networks are
# tried at the same time.
#
# Needs Debian's packages mvdsv fteqcc python3 jq. A minute.
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

# missed_share FILE: share of the answers at another place than predicted.
missed_share() { jq '([.each[].mispredicted // 0] | add) / ([.each[].predicted // 0] | add)' "$1"; }

# is NUMBER OPERATOR NUMBER, with fractions.
is() { awk -v a="${1:-none}" -v b="$3" "BEGIN { exit !(a != \"none\" && a + 0 $2 b + 0) }"; }

# server_sees NUMBER: whether that many players are in the server's own list.
server_sees() { [ "$(ask "127.0.0.1:$port" status | grep -acE '"bot[0-9]{2}"')" -eq "$1" ]; }

# fragd_start LOG: starts fragd with the settings of mvdsv.
fragd_start() {
  free_port
  launch /dev/null "$1" "$fragd" qw --port "$port" --bind 127.0.0.1 --basedir "$work/data" --map fragbox +maxclients 24
  await 20 mvdsv_answers
}

# visit SERVER NETWORK MAX_LOST [OPTION]...: bots on a server of their own.
visit() {
  local -a data=()
  local missed=0.1
  local server=$1 name="$1, $2" most=$3 log=$work/$1-$2.log summary=$work/$1-$2.json code said load left
  shift 3
  case $server in
    mvdsv) mvdsv_start "$log" 24 fragbox ;;
    # Its downloads take a round trip for each block, longer than bots may join.
    fragd) fragd_start "$log" && data=(--basepath "$work/data") ;;
  esac || { fail "$name: the server does not answer"; return; }
  launch /dev/null "${log%.log}-bots.log" timeout -k 5 $((seconds + 40)) sh -c '"$@" --json >"$0"' "$summary" \
    "$fragd" bots --connect "127.0.0.1:$port" --protocol quakeworld -n "$bots" --ramp 4/s --seed 7 --seconds "$seconds" \
    --do wander,talk,scores --expect "$shared_machine" "${data[@]}" "$@"
  load=$launched
  check "$name: the server lists $bots bots" await "$seconds" server_sees "$bots"
  said=$(grep -aiE 'badread|overflow|dropped|does not match|illegible|timed out' "$log")
  wait "$load"
  code=$?
  check "$name: exit code 0 (it is $code)" [ "$code" -eq 0 ] || note "$(tail -n 3 "${log%.log}-bots.log" | tr '\n' '|')"
  said+=$(grep -aiE 'badread|overflow|does not match|illegible|timed out|invalid|panicked' "$log")
  check "$name: all entered the game ($(figure active "$summary") of $bots)" is "$(figure active "$summary")" == "$bots"
  check "$name: none was dropped" is "$(figure dropped "$summary")" == 0
  check "$name: $(figure walked_per_second "$summary") units a second, each" is "$(figure walked_per_second "$summary")" '>=' 100
  check "$name: $(figure delta_share "$summary") of the answers are deltas" is "$(figure delta_share "$summary")" '>' 0.9
  check "$name: $(figure loss "$summary") of the answers lost" is "$(figure loss "$summary")" '<=' "$most"
  check "$name: $(sum mispredicted "$summary") of $(sum predicted "$summary") answers at another place than predicted" \
    is "$(missed_share "$summary")" '<=' "$missed"
  check "$name: $(sum chat_received "$summary") chat lines received" \
    is "$(sum chat_received "$summary")" '>=' $((bots * bots * seconds / 4))
  check "$name: each line once and in order" \
    is "$(sum chat_missing "$summary")$(sum chat_repeated "$summary")" == 00
  check "$name: the server has nothing to complain of" [ -z "$said" ] || note "$(head -n 5 <<<"$said" | tr '\n' '|')"
  left='Client bot[0-9]+ removed|"bot[0-9]+" dropped: left the game'
  check "$name: all left by their own word" is "$(grep -acE "$left" "$log")" '>=' "$bots"
}

check 'game data are made' quakeworld_data || finish
declare -A visits=()
for server in mvdsv fragd; do
  apart "$work/visit-$server-clear.txt" visit "$server" clear 0.02
  visits[$server-clear]=$launched
  apart "$work/visit-$server-impaired.txt" visit "$server" impaired 0.15 --network 'latency=30ms,jitter=10ms,loss=2.5%'
  visits[$server-impaired]=$launched
done
for name in "${!visits[@]}"; do rejoin "${visits[$name]}" "$work/visit-$name.txt"; done
finish
