#!/bin/bash
# Attack check: forged sources and whole IPv6 networks over real sockets, with honest clients beside them.
#
#   tests/attacks.sh [--figures] [--out DIRECTORY]
#
# Each attack runs against a process of its own, all at once, for half a minute. Honest clients must be served: lists,
# heartbeats, challenges through a proxy and with an authorization service, queries, downloads, pages, stream logins,
# places of a relay. A server with default settings trusts no client of a proxy beside it.
# --figures prints the figures only, to compare two builds (FRAGD names the binary).
#
# The namespace in which every address of 198.18.0.0/15 and 2001:db8::/32 is local needs root. Needs Python and iproute2.
set -u

case ${1:-} in --help | -h) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
# The script runs itself again in a network namespace of its own.
if [ -z "${FRAGD_ATTACKS:-}" ]; then
  networks='ip link set lo up && ip route add local 198.18.0.0/15 dev lo &&
    ip -6 route add local 2001:db8::/32 dev lo && ip -6 address add 2001:db8:ffff::1/128 dev lo'
  if ! unshare -n sh -c "$networks" 2>/dev/null; then
    echo 'SKIPPED: attacks with forged sources (no right to make a network namespace, or no IPv6)'
    echo '0 passed, 0 failed'
    exit
  fi
  FRAGD_ATTACKS=1 exec unshare -n sh -c "$networks"' && exec "$@"' -- bash "$0" "$@"
fi
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

figures=0 out=
while [ $# -gt 0 ]; do
  case $1 in
    --figures) figures=1; shift ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
begin attacks "$out"
need python3 ip
find_fragd
ulimit -n 8192
size=$((24 << 20))

# node NAME ARGUMENT...: starts a node; its log is named after it.
node() {
  local name=$1
  shift
  launch /dev/null "$work/$name.log" env FRAGD_BASEPATH="$work" "$fragd" "$@"
}

# server NAME PORT [NAME VALUE]...: starts a server.
server() {
  local name=$1 port=$2
  local -a set=()
  shift 2
  while [ $# -gt 0 ]; do set+=(+set "$1" "$2"); shift 2; done
  node "$name" serve --port "$port" --map fragd1 +set sv_lanNetworks '' +set sv_master1 '' "${set[@]}"
}

# attack SCENARIO PORT...: plays it in the background.
attack() { launch /dev/null "$work/figures.txt" python3 "$root/tests/forged_sources.py" "$@"; attacks+=("$launched"); }

# figure NAME: number of those served.
figure() { awk -v name="$1" '$1 == name { print $2 }' "$work/figures.txt"; }

# at_least NAME NUMBER, at_most NAME NUMBER: compares a figure.
at_least() { [ "$(figure "$1")" -ge "$2" ]; } 2>/dev/null
at_most() { [ "$(figure "$1")" -le "$2" ]; } 2>/dev/null

attacks=()
: >"$work/figures.txt"
mkdir -p "$work/checked" "$work/baseoa"
python3 -c 'import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as pack: pack.writestr("maps/x.bin", os.urandom(int(sys.argv[2])))' \
  "$work/checked/big.pk3" "$size"

node lists master --port 29000
node networks master --port 29001 --max-servers 512 --http 127.0.0.1:29101
node heartbeats master --port 29002
node pages master --port 29003 --http '[::]:29103'
server served 29010
node proxy proxy --listen 29011 --to 127.0.0.1:29010
node trusting serve --port 29017 --map fragd1 +set sv_master1 '' +set sv_maxclients 32 +set rconPassword look-but-do-not-touch
node middleman proxy --listen 29018 --to 127.0.0.1:29017
node routed proxy --listen 29019 --to 127.0.0.1:29017 --session-network 198.18.0.0/15
server authorized 29012 sv_authorizeServer 198.19.200.1:29200
server queried 29013
server downloads 29014 fs_game checked sv_http '[::]:29114'
node relay relay --from 127.0.0.1:29010 --port 29016 --viewers 24 --per-address 8
server stream 29015 sv_relayAddress 0.0.0.0:29115 sv_relayPassword look-but-do-not-touch
sleep 4
attack lists 29000
attack networks 29001 29101
attack heartbeats 29002
attack pages 29103
attack proxy 29011
attack middlemen 29018 29019
attack authorization 29012 29200
attack queries 29013
attack downloads 29114 "$size"
attack logins 29115
attack viewers 29016
for pid in "${attacks[@]}"; do await 50 gone "$pid"; done

if [ "$figures" -eq 1 ]; then
  sort "$work/figures.txt"
  exit
fi
while read -r name served asked; do note "$name: $served of $asked"; done < <(sort "$work/figures.txt")
check 'a list request is answered with one retry' at_least lists_with_one_retry 9
check 'an IPv6 line takes the places of two hosts of a list' at_most line_of_512_places 64
check 'honest servers find a place on the list' at_least honest_servers_challenged 20
check 'a listed server is challenged beside forged heartbeats' at_least heartbeats_challenged 5
check 'a slow monitor is served beside idle connections' at_least pages_served 9
check 'a new client of a proxy is served with one retry' at_least proxy_with_one_retry 9
check 'a server counts clients of a proxy by host' at_most slots_of_a_host_29018 3
check 'and with a routed network of session addresses' at_most slots_of_a_host_29019 3
check 'clients of other hosts join through a proxy' at_least slots_of_other_hosts 8
check 'rcon passes no proxy' at_most rcon_answers 0
check 'a new client is authorized with one retry' at_least authorized_with_one_retry 9
check 'a browser is answered with one retry' at_least queries_with_one_retry 9
check 'a download survives idle connections of an IPv6 line' at_least download_megabytes $((size >> 20))
check 'an IPv6 line holds half of the places at most' at_most idle_connections_held 64
check 'a relay keeps its connection beside silent ones' at_least logins_kept 7
check 'viewers of other networks find a place on a relay' at_least viewers_let_in 5
finish
