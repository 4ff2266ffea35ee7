#!/bin/bash
# QuakeWorld comparison: the same bots on `fragd qw` and on mvdsv, one after the other, several times.
#
#   benches/compare_quakeworld.sh [--bots 24] [--seconds 30] [--rounds 3] [--map fragbox] [--generator BINARY]
#                    [--fragd NAME=BINARY]... [--out DIRECTORY] [-- OPTION...]
#
# Each server runs alone, with the data that qw-data.py and qw-minimal.qc make. The servers take turns, so that a busy
# machine burdens them alike; processor time counts, not the time on the clock. `fragd bots` measures the server's
# processor time and its own from four seconds after the first join. Further binaries of fragd take part with --fragd;
# --generator runs the bots of another one. Options behind -- are those of `fragd bots`.
#
# Needs Debian's packages mvdsv fteqcc python3 jq. Results of one run compare servers; they do not transfer to other
# machines.
# shellcheck disable=SC2317 # functions are called by `check` and `await`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/../tests/harness.sh"

declare -a others=() extra=()
bots=24 seconds=30 rounds=3 map=fragbox generator='' out=
while [ $# -gt 0 ]; do
  case $1 in
    --bots) bots=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --rounds) rounds=${2:?}; shift 2 ;;
    --map) map=${2:?}; shift 2 ;;
    --generator) generator=${2:?}; shift 2 ;;
    --fragd) others+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    --) shift; extra=("$@"); break ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

answers() { ask "127.0.0.1:$port" status | grep -aq '^n\\'; }

# make_data: the data of the servers, in `$work/data`.
make_data() {
  local source=$work/game
  mkdir -p "$source"
  cp "$root/tests/qw-minimal.qc" "$source/"
  printf 'qwprogs.dat\nqw-minimal.qc\n' >"$source/progs.src"
  (cd "$source" && fteqcc) >"$work/fteqcc.log" 2>&1
  python3 "$root/tests/qw-data.py" "$work/data" --progs "$source/qwprogs.dat" >"$work/data.log" 2>&1
}

# start NAME: starts a server: mvdsv, or fragd as NAME=BINARY.
start() {
  local log=$work/${1%%=*}-server.log
  free_port
  case $1 in
    mvdsv)
      launch /dev/null "$log" /usr/games/mvdsv -basedir "$work/data" -ip 127.0.0.1 -port "$port" -mem 64 \
        +sv_getrealip 0 +maxclients 32 +sv_maxrate 100000 +sv_progtype 0 +map "$map"
      ;;
    *)
      launch /dev/null "$log" "${1#*=}" qw --basedir "$work/data" --bind 127.0.0.1 --port "$port" --map "$map" \
        +maxclients 32 +sv_maxrate 100000
      ;;
  esac
  server_pid=$launched
  await 20 answers
}

# measure NAME ROUND: leaves NAME-ROUND.json, and adds a line to figures.tsv.
measure() {
  local name=${1%%=*} file=$work/${1%%=*}-$2.json
  start "$1" || { fail "$name: does not answer"; return; }
  "$generator" bots --connect "127.0.0.1:$port" --protocol quakeworld -n "$bots" --ramp 12/s --seed 7 --warmup 4s \
    --seconds $((seconds + 4)) --basepath "$work/data" --do wander --rate 100000 --pid "$server_pid" --json "${extra[@]}" \
    >"$file" 2>"$work/$name-$2.log" </dev/null
  stop "$server_pid" 5
  jq -e ".active == $bots" "$file" >/dev/null || fail "$name: not all $bots bots played"
  jq -r --arg name "$name" '.stages[0] | [$name, .server.cpu_ms_per_client_second, .own.cpu_ms_per_client_second,
    .server.memory_mb, .bytes_in_per_second / 1000, .ping_ms.p50, .ping_ms.p99, .snapshot_gap_ms.p99,
    .walked_per_second] | @tsv' "$file" | tee -a "$work/figures.tsv" | line
}

# line: a row of the table.
line() {
  awk -F '\t' '{ printf "%-10s %10.3f %10.3f %8.1f %8.0f %6s %6s %6s %8.0f\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }'
}

# median NAME COLUMN
median() {
  awk -F '\t' -v name="$1" -v column="$2" '$1 == name { print $column }' "$work/figures.tsv" | sort -g |
    awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'
}

begin compare_quakeworld "$out"
need /usr/games/mvdsv fteqcc python3 jq awk
find_fragd dist
[ -n "$generator" ] || generator=$fragd
check 'game data are made' make_data >/dev/null || finish
: >"$work/figures.tsv"
echo "$(date -u +%F), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-10s %10s %10s %8s %8s %6s %6s %6s %8s\n' server 'ms/cl-s' 'own ms' MB 'kB/s' ping p99 'gap99' 'units/s'
for ((round = 1; round <= rounds; round++)); do
  for one in "fragd=$fragd" "${others[@]}" mvdsv; do measure "$one" "$round"; done
done
for one in fragd "${others[@]%%=*}"; do
  awk -v a="$(median "$one" 2)" -v b="$(median mvdsv 2)" -v own="$(median "$one" 3)" -v name="$one" \
    'BEGIN { printf "%s/mvdsv %.2f (medians %.3f and %.3f ms); bots on %s %.3f ms\n", name, a / b, a, b, name, own }'
done
passed=$((passed + 1))
finish
