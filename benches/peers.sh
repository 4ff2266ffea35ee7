#!/bin/bash
# Puts the same players on fragd and on another server, one after the other, and compares what they cost
# and what the players saw.
#
#   benches/peers.sh [--peer ioq3ded] [--peer NAME=BINARY]... [--map oa_dm4] [--stages 16,32,64]
#                    [--seconds 20] [--wire native] [--ramp 5] [--out DIRECTORY]
#
# Each server runs alone, the same bots with the same seed join it stage by stage, and `fragd bots` measures
# each stage from when its last bot has begun to join. A binary of ioquake3's family is started with
# OpenArena's data as Debian has it (packages ioquake3-server openarena-server); jq is
# needed, too. Figures of one run compare servers; they do not carry over to other machines.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/../tests/harness.sh"

declare -a peers=()
map=oa_dm4 stages=16,32,64 seconds=20 wire=native ramp=5 out=
while [ $# -gt 0 ]; do
  case $1 in
    --peer) peers+=("${2:?}"); shift 2 ;;
    --map) map=${2:?}; shift 2 ;;
    --stages) stages=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --wire) wire=${2:?}; shift 2 ;;
    --ramp) ramp=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#peers[@]} -gt 0 ] || peers=(ioq3ded)

# plan: the stages as `fragd bots` takes them. Each lasts as long as its joins and then so many seconds.
plan() {
  awk -v list="$stages" -v seconds="$seconds" -v ramp="$ramp" 'BEGIN {
    n = split(list, bots, ",")
    for (i = 1; i <= n; i++) {
      printf "%s%d:%ds", (i > 1 ? "," : ""), bots[i], seconds + (bots[i] - bots[i - 1]) / ramp + 0.999
    }
  }'
}

# measure NAME KIND: leaves NAME.json.
measure() {
  local name=$1 kind=$2
  echo "-- $name, map $map, wire $wire" >&2
  server_start "$kind" "$wire" "$map" 64 sv_maxRate 0 sv_fps 20 ||
    { fail "$name: does not answer"; return 1; }
  sleep 3
  timeout -k 5 600 "$fragd" bots --connect "$server_address" --stages "$(plan)" --ramp "$ramp" \
    --wire "$wire" --seed 1 --timeout 20s --pid "$server_pid" --json --report "$work/$name.html" \
    >"$work/$name.json" 2>"$work/$name.log" </dev/null
  check "$name: all $stages played (exit code $?)" played "$work/$name.json" || note "$(tail -n 2 "$work/$name.log" | tr '\n' '|')"
  stop "$server_pid" 5
}

# played FILE: did every stage hold?
played() { jq -es '.[0].succeeded' "$1" >/dev/null; }

# rows NAME: a line for each stage: bots and figures.
rows() {
  jq -r '.stages[] | [.bots, .active, .server.cpu_ms_per_client_second, .server.memory_mb,
    .bytes_per_snapshot, .snapshots_per_second, .snapshot_gap_ms.p99, .snapshot_gap_ms.max, .loss * 100,
    .own_lateness_ms.p99] | @tsv' "$work/$1.json"
}

# table: every server's stages, and how each compares with fragd's.
table() {
  local name
  printf '%-10s %5s %12s %8s %11s %11s %8s %8s %6s\n' \
    server bots 'CPU ms/cl-s' 'MB' 'bytes/snap' 'snaps/s' 'gap p99' 'gap max' 'own'
  for name; do
    rows "$name" | awk -v name="$name" '{
      printf "%-10s %2d/%-2d %12.3f %8.1f %11.1f %11.1f %8d %8d %6d\n", name, $2, $1, $3, $4, $5, $6, $7, $8, $10
    }'
  done
  shift
  for name; do
    paste <(rows fragd) <(rows "$name") | awk -v name="$name" '
      function ratio(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "-" }
      $1 == $11 {
        printf "%-10s %5d %12s %8s %11s %11s %8s %8s\n", name "/fragd", $1, ratio($13, $3), ratio($14, $4),
          ratio($15, $5), ratio($16, $6), ratio($17, $7), ratio($18, $8)
      }'
  done
}

begin peers "$out"
need timeout jq awk "$peer_data"
find_fragd
names=(fragd)
measure fragd fragd
for peer in "${peers[@]}"; do
  name=${peer%%=*}
  [ "$name" = "$peer" ] || peer_engine=${peer#*=}
  need "$peer_engine"
  measure "$name" ioq3ded && names+=("$name")
done
echo
echo "$(date -u +%F), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
table "${names[@]}"
echo
finish
