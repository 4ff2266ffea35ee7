#!/bin/bash
# Trace check: server and bots with --trace and --pcap, a real client on every protocol, views, report.
#
#   tests/traces.sh [--out DIRECTORY]
#
# Needs Debian's packages ioquake3 openarena xvfb jq chromium imagemagick. About two minutes.
# shellcheck disable=SC2317 # functions are called by `check`
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

not() { ! "$@"; }

# tapped: starts fragd with both files on a free port; leaves server_{address,pid,log}.
tapped() {
  free_port
  # shellcheck disable=SC2154 # from the harness
  server_address=127.0.0.1:$port server_log=$work/server-$1.log server_kind=fragd
  launch /dev/null "$server_log" env RUST_LOG=info "$fragd" serve --port "$port" --map oa_dm1 \
    --trace "$work/$1.jsonl" --pcap "$work/$1.pcapng" \
    +set pmove_precision double +set cm_precision fast +set sv_maxclients 16
  server_pid=$launched
  await 30 server_up && alive "$server_pid"
}

# has NAME FILTER: whether a line of the live trace matches.
has() { jq -e -n "first(inputs | select($2)) | true" "$work/$1.jsonl" >/dev/null 2>&1; }

# count NAME FILTER: number of such lines.
count() { jq -n "[inputs | select($2)] | length" "$work/$1.jsonl" 2>/dev/null; }

# decodes NAME: whether the capture gives the live trace, all of it decoded.
decodes() {
  "$fragd" trace "$work/$1.pcapng" >"$work/$1-again.jsonl" 2>"$work/$1-again.log" &&
    grep -qF ', 0 not decoded, ' "$work/$1-again.log" &&
    cmp "$work/$1.jsonl" "$work/$1-again.jsonl"
}

# real WIRE PROTOCOL: a real client plays beside two bots.
real() {
  local wire=$1 protocol=$2 name=real-$1
  echo "-- real client on protocol $protocol"
  tapped "$name" || { fail "$name: server does not answer"; return; }
  client_start "Tracy$wire" "$wire" || { fail "$name: client does not start"; sweep; return; }
  timeout 60 "$fragd" bots --connect "$server_address" -n 2 --seconds 12 --expect "$shared_machine" \
    --trace "$work/bots-$wire.jsonl" --pcap "$work/bots-$wire.pcapng" >"$work/bots-$wire.log" 2>&1 </dev/null &
  local bots=$!
  started+=("$bots")
  check "$name: client enters" join "Tracy$wire"
  order "Tracy$wire" 'say traced words'
  hold "Tracy$wire" forward 2
  check "$name: live trace gets the chat" await 10 has "$name" '.commands[]?.text | contains("traced words")'
  wait "$bots"
  check "$name: bots play with trace and capture (exit code $?)" [ $? -eq 0 ]
  check "$name: client leaves" client_end "Tracy$wire"
  stop "$server_pid" 5
  server_pid=''

  check "$name: nothing undecoded in $(count "$name" true) datagrams" [ "$(count "$name" '.kind == "undecoded"')" = 0 ]
  check "$name: client speaks $protocol" has "$name" ".protocol == \"$protocol\" and .kind == \"usercmds\" and (.commands[]?.text | contains(\"traced words\"))"
  check "$name: gamestates, deltas and usercmds of all clients" \
    [ "$(jq -rn '[inputs | select(.snapshot.delta_base and (.snapshot.entities | length > 0)) | .client] | unique | length' "$work/$name.jsonl")" -eq 3 ]
  check "$name: sizes of the parts add up to the message" \
    not has "$name" '.message_bytes and ([.bits[]] | add) != .message_bytes * 8'
  check "$name: capture decodes to the live trace" decodes "$name"
  check "$name: capture of the bots decodes to their trace" decodes "bots-$wire"
  check "$name: capture has comments" grep -aqE '[0-9]+ snapshot delta [0-9]+' "$work/$name.pcapng"
}

# net_views: network views of all servers.
net_views() {
  local file
  for file in "$work"/real-*.pcapng; do "$fragd" trace "$file" --show net 2>/dev/null; done
}

# views NAME: text views, live reading and damaged files.
views() {
  local name=$1 file=$work/$1.pcapng
  echo "-- views of $name"
  "$fragd" trace "$file" --show packets >"$work/packets.txt" 2>/dev/null
  check 'packets: one line per datagram' [ "$(wc -l <"$work/packets.txt")" -eq "$(wc -l <"$work/$name.jsonl")" ]
  check 'packets: fragments and delta bases' grep -qE ' s=[0-9]+ fragment=0,1300 fragment 13[0-9]+ bytes' "$work/packets.txt"
  "$fragd" trace "$file" --show net >"$work/net.txt" 2>/dev/null
  check 'net: playerstate fields with bits' grep -qE '^ +[0-9]+ bits player commandTime:[0-9]+ ' "$work/net.txt"
  # Whether players see each other is chance, so all servers are searched.
  check 'net: entity fields with bits' \
    grep -qE '^ +[0-9]+ bits   #[0-9]+ changed pos\.trBase\[0\]:[0-9]+' <(net_views)
  "$fragd" trace - <"$file" 2>/dev/null | cmp -s - "$work/$name.jsonl"
  check 'standard input gives the same lines' [ $? -eq 0 ]

  head -c 3000 "$file" >"$work/growing.pcapng"
  launch /dev/null "$work/follow.txt" "$fragd" trace --follow "$work/growing.pcapng" --show packets
  check 'follow: shows the beginning' await 10 grep -q getchallenge "$work/follow.txt"
  tail -c +3001 "$file" >>"$work/growing.pcapng"
  check 'follow: shows what is appended' await 10 grep -qF "$(tail -n 1 "$work/packets.txt")" "$work/follow.txt"
  stop "$launched" 5

  head -c 5001 "$file" >"$work/cut.pcapng"
  "$fragd" trace "$work/cut.pcapng" >"$work/cut.jsonl" 2>"$work/cut.log"
  check "cut file: exit code 1 (it is $?)" [ $? -eq 1 ]
  check 'cut file: names the byte' grep -qE 'cut\.pcapng: byte [0-9]+: file ends inside a block' "$work/cut.log"
  check 'cut file: what came before is decoded' test -s "$work/cut.jsonl"
  cmp -s -n "$(stat -c %s "$work/cut.jsonl")" "$work/cut.jsonl" "$work/$name.jsonl"
  check 'cut file: and equals the whole one' [ $? -eq 0 ]
}

# page NAME: the report in a browser.
page() {
  local file=$work/$1.html picture=$work/$1.png clients
  echo "-- report of $1"
  check 'report: is written' "$fragd" trace "$work/$1.pcapng" --report "$file"
  timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$work/browser" --enable-logging=stderr --window-size=1100,3000 \
    --screenshot="$picture" "file://$file" >"$work/browser.log" 2>&1
  rm -rf "$work/browser"
  check "report: Chromium draws it ($(count_colors "$picture") colors)" test "$(count_colors "$picture")" -gt 30
  check 'report: no error on the console of the browser' not grep -aE 'CONSOLE|net::ERR|Uncaught' "$work/browser.log"
  check 'report: holds nothing from elsewhere and no script' \
    not grep -aqE '(src|href)=|<script|@import|url\(' "$file"
  clients=$(grep -aoE '<figure class="lagometer">' "$file" | wc -l)
  check "report: a lagometer for each of 3 clients (there are $clients)" [ "$clients" -eq 3 ]
  check 'report: costs of entity fields' grep -aqF 'pos.trBase[0]' "$file"
}

begin traces "$out"
need timeout jq chromium identify Xvfb "$client_engine" "$client_data"
find_fragd
real 68 68
real compat compat
real native native
views real-native
page real-native
finish
