#!/bin/bash
# Server comparison: the same bots on fragd and on another server, one after the other.
#
#   benches/compare_servers.sh [--peer ioq3ded] [--peer quake3e=BINARY]... [--map oa_dm4] [--stages 16,32,64]
#                    [--seconds 20] [--wire native] [--ramp 1] [--do wander,fight] [--stagger 8ms]
#                    [--module NAME [--engine 1|2]] [--json FILE] [--out DIRECTORY]
#
# Each server runs alone. The same bots with the same seed join it stage by stage, and `fragd bots`
# measures each stage from the start of its last join. With a module both host that game module of
# $FRAGD_MODULES, interpreted (1) or compiled (2). Bots join once a second, because ioquake3's server
# answers ten handshakes of one address at once and then one per second: at a faster ramp it has fewer
# players, and the script says so. Before the bots join, each server is timed from its start to its first
# response (one request per millisecond), and its idle processor time is measured for ten seconds. In the last
# stage, queries of other addresses are timed, and frame times of fragd are read from its counters. The kernel
# floor is a loop that only receives and sends as many datagrams of the same length as fragd did.
#
# Bots are not synchronized: each keeps the phase and jitter of its packet times (--stagger).
#
# A binary based on ioquake3 is started with OpenArena's data as packaged by Debian (ioquake3-server
# openarena-server); jq and perl are needed, too. Results of one run compare servers; they do not transfer
# to other machines.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/../tests/harness.sh"

declare -a peers=()
map=oa_dm4 stages=16,32,64 seconds=20 wire=native ramp=1 module= engine=2 json= out=
declare -a bots=()
while [ $# -gt 0 ]; do
  case $1 in
    --peer) peers+=("${2:?}"); shift 2 ;;
    --map) map=${2:?}; shift 2 ;;
    --stages) stages=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --wire) wire=${2:?}; shift 2 ;;
    --ramp) ramp=${2:?}; shift 2 ;;
    --do | --stagger) bots+=("$1" "${2:?}"); shift 2 ;;
    --module) module=${2:?}; shift 2 ;;
    --engine) engine=${2:?}; shift 2 ;;
    --json) json=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#peers[@]} -gt 0 ] || peers=(ioq3ded)

# plan: the stages as `fragd bots` takes them. Each lasts for its joins and the given seconds.
plan() {
  awk -v list="$stages" -v seconds="$seconds" -v ramp="$ramp" 'BEGIN {
    n = split(list, bots, ",")
    for (i = 1; i <= n; i++) {
      printf "%s%d:%ds", (i > 1 ? "," : ""), bots[i], seconds + (bots[i] - bots[i - 1]) / ramp + 0.999
    }
  }'
}

# stamped BINARY: creates a wrapper that records its exec time, and names it.
stamped() {
  local program
  program=$work/start-$(basename "$1")
  printf '#!/bin/bash\nprintf %%s "$EPOCHREALTIME" >%q\nexec %q "$@"\n' "$work/started" "$1" >"$program"
  chmod +x "$program"
  echo "$program"
}

# first_answer PORT: queries each millisecond, and prints the time of the first response in seconds
# since 1970.
first_answer() {
  perl -MIO::Socket::INET -MIO::Select -MTime::HiRes=time,sleep -e '
    my $socket = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1:$ARGV[0]") or die;
    my $ready = IO::Select->new($socket);
    for (my $end = time + 30; time < $end;) {
      $socket->send("\xff\xff\xff\xffgetinfo x");
      for (my $next = time + 0.001; time < $next;) {
        next unless $ready->can_read(0.001);
        defined $socket->recv(my $answer, 4096) or sleep 0.0005;
        if (($answer // "") =~ /^....infoResponse/s) { printf "%.6f", time; exit }
      }
    }' "$1"
}

# cpu_ns PID: nanoseconds of processor time of all its threads.
cpu_ns() { cat "/proc/$1/task/"*/schedstat 2>/dev/null | awk '{ sum += $1 } END { printf "%d", sum }'; }

# query_times PORT SECONDS: milliseconds from a query to its response, as "p50 p99 answered sent". Each query
# comes from another address, since a server limits those of one.
query_times() {
  perl -MIO::Socket::INET -MIO::Select -MTime::HiRes=time,sleep -e '
    my ($port, $seconds) = @ARGV;
    my ($sent, @took) = (0);
    for (my $end = time + $seconds; time < $end; sleep(0.05 + rand(0.05))) {
      my $from = sprintf "127.9.%d.%d", $sent / 200, 1 + $sent % 200;
      my $socket = IO::Socket::INET->new(
        Proto => "udp", LocalAddr => $from, PeerAddr => "127.0.0.1:$port") or die;
      $sent++;
      my $begun = time;
      $socket->send("\xff\xff\xff\xffgetinfo x");
      next unless IO::Select->new($socket)->can_read(0.5) && defined $socket->recv(my $answer, 4096);
      push @took, 1000 * (time - $begun);
    }
    @took = sort { $a <=> $b } @took;
    printf "%.2f %.2f %d %d\n", @took ? @took[@took / 2, @took * 0.99] : (0, 0), scalar @took, $sent;
  ' "$1" "$2"
}

# floor: leaves floor.tsv with the kernel floor of each stage of fragd: bots, milliseconds, wake-ups per second.
floor() {
  local count bytes
  echo '-- kernel floor' >&2
  jq -r '.stages[] | [.bots, (.bytes_per_snapshot | round)] | @tsv' "$work/fragd.json" |
    while read -r count bytes; do
      cargo bench --quiet --bench kernel_floor -- "$count" "$bytes" "$seconds" 2>/dev/null </dev/null |
        awk -v bots="$count" '/client and second/ { print bots "\t" $1 "\t" $(NF - 3) }'
    done >"$work/floor.tsv"
}

# server_up, instead of the harness's: a server is up at its first response to `first_answer`. Queries of the
# harness would compete for the processors with the server that starts.
server_up() { [ -s "$work/answered" ] || gone "$server_pid"; }

# idle PID: share of a core in percent over ten seconds.
idle() {
  local before after begun
  begun=$(now) before=$(cpu_ns "$1")
  sleep 10
  after=$(cpu_ns "$1")
  awk -v used="$((after - before))" -v a="$begun" -v b="$(now)" 'BEGIN { printf "%.3f", used / (b - a) / 1e7 }'
}

# metrics PORT: fragd's counters, over HTTP.
metrics() {
  local socket
  exec {socket}<>"/dev/tcp/127.0.0.1/$1" || return
  printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&"$socket"
  timeout 3 cat <&"$socket" | tr -d '\r'
  exec {socket}>&-
}

# frame_p99 BEFORE AFTER: p99 frame time in microseconds between two readings of the counters, at their
# resolution; null without a reading.
frame_p99() {
  awk '
    { is_before = FILENAME == ARGV[1] }
    /^q3_frame_duration_seconds_count / { if (is_before) a = $2; else b = $2 }
    /^q3_frame_duration_seconds_bucket/ { split($1, part, "\""); if (is_before) x[part[2]] = $2; else y[part[2]] = $2 }
    END {
      for (s in y) if (s != "+Inf" && y[s] - x[s] >= 0.99 * (b - a) && (!least || s * 1e6 < least)) least = s * 1e6
      print (b > a && least) ? least : "null"
    }' "$1" "$2"
}

# wakeups BEFORE AFTER: wake-ups per second between two readings of the counters; null without a reading.
wakeups() {
  awk '
    /^loop_wakeups_total / { if (FILENAME == ARGV[1]) a = $2; else b = $2 }
    /^q3_frame_duration_seconds_count / { if (FILENAME == ARGV[1]) c = $2; else d = $2 }
    END { print (d > c) ? (b - a) / (d - c) * 20 : "null" }' "$1" "$2"
}

# measure NAME KIND: leaves NAME.json, and NAME-alone.json of measurements without bots.
measure() {
  local name=$1 kind=$2 own=$fragd theirs=$peer_engine asker begun reader code
  local -a settings=(sv_maxRate 0 sv_fps 20 fraglimit 0 timelimit 0)
  echo "-- $name, map $map, wire $wire" >&2
  free_port
  server_port=$port
  : >"$work/answered"
  first_answer "$port" >"$work/answered" &
  asker=$!
  started+=("$asker")
  fragd=$(stamped "$fragd") peer_engine=$(stamped "$peer_engine")
  [ "$kind" != fragd ] || settings+=(sv_metrics "127.0.0.1:$port")
  server_start "$kind" "$wire" "$map" 64 "${settings[@]}"
  begun=$?
  fragd=$own peer_engine=$theirs server_port=''
  [ "$begun" -eq 0 ] || { fail "$name: does not answer"; return 1; }
  wait "$asker"
  sleep 3
  jq -n --argjson idle "$(idle "$server_pid")" --argjson a "$(cat "$work/started")" \
    --argjson b "$(cat "$work/answered")" \
    '{start_ms: (($b - $a) * 1000 | round), idle_percent: $idle}' >"$work/$name-alone.json"
  : >"$work/before"
  (
    sleep "$(plan | tr , '\n' | awk -F '[:s]' -v seconds="$seconds" '{ sum += $2 } END { print sum - seconds }')"
    metrics "$port" >"$work/before"
    query_times "$port" $((seconds - 2)) >"$work/queries"
  ) 2>/dev/null &
  reader=$!
  started+=("$reader")
  timeout -k 5 600 "$fragd" bots --connect "$server_address" --stages "$(plan)" --ramp "$ramp" \
    --wire "$wire" --seed 1 "${bots[@]}" --timeout 20s --pid "$server_pid" --json --report "$work/$name.html" \
    >"$work/$name.json" 2>"$work/$name.log" </dev/null
  code=$?
  metrics "$port" >"$work/after" 2>/dev/null
  wait "$reader"
  jq --argjson p99 "$(frame_p99 "$work/before" "$work/after")" \
    --argjson wakeups "$(wakeups "$work/before" "$work/after")" --arg queries "$(cat "$work/queries")" \
    '. + {frame_p99_us: $p99, wakeups_per_second: $wakeups}
      + ($queries | split(" ") | map(tonumber? // null)
        | {query_p50_ms: .[0], query_p99_ms: .[1], queries_answered: .[2], queries_sent: .[3]})' \
    "$work/$name-alone.json" >"$work/alone" && mv "$work/alone" "$work/$name-alone.json"
  check "$name: all $stages played (exit code $code)" played "$work/$name.json" || note "$(tail -n 2 "$work/$name.log" | tr '\n' '|')"
  jq -r '.stages[] | select(.active < .bots) | "only \(.active) of \(.bots) bots were in the game; that stage compares with nothing"' \
    "$work/$name.json" | while read -r line; do note "$name: $line"; done
  stop "$server_pid" 5
}

# played FILE: whether every stage passed.
played() { jq -es '.[0].succeeded' "$1" >/dev/null; }

# rows NAME: a line for each stage: bots and metrics.
rows() {
  jq -r '.stages[] | [.bots, .active, .server.cpu_ms_per_client_second, .server.memory_mb,
    .bytes_per_snapshot, .snapshots_per_second, .snapshot_gap_ms.p99, .snapshot_gap_ms.max, .loss * 100,
    .loop_lateness_ms.p99] | @tsv' "$work/$1.json"
}

# alone NAME...: idle cost of each server, and frame times in the last stage, if known.
alone() {
  local name
  printf '%-10s %11s %20s %18s %14s %22s %10s\n' server 'idle CPU %' 'start to answer, ms' \
    'p99 of frames, us' 'wake-ups/s' 'query p50 / p99, ms' answered
  for name; do
    jq -r --arg name "$name" '[$name, .idle_percent, .start_ms, .frame_p99_us // "-", .wakeups_per_second // "-",
        "\(.query_p50_ms)/\(.query_p99_ms)", "\(.queries_answered)/\(.queries_sent)"] | @tsv' \
      "$work/$name-alone.json" | awk '{ printf "%-10s %11.3f %20d %18s %14.4s %22s %10s\n", $1, $2, $3, $4, $5, $6, $7 }'
  done
}

# figures NAME...: all metrics as JSON, one object per server.
figures() {
  local name
  for name; do
    jq -s --arg name "$name" '{server: $name} + .[0] + {stages: .[1].stages}' \
      "$work/$name-alone.json" "$work/$name.json"
  done | jq -s .
}

# table: every server's stages, compared with fragd's.
table() {
  local name
  printf '%-10s %5s %12s %8s %11s %11s %8s %8s %6s\n' \
    server bots 'CPU ms/cl-s' 'MB' 'bytes/snap' 'snaps/s' 'gap p99' 'gap max' 'own'
  for name; do
    rows "$name" | awk -v name="$name" '{
      printf "%-10s %2d/%-2d %12.3f %8.1f %11.1f %11.1f %8d %8d %6d\n", name, $2, $1, $3, $4, $5, $6, $7, $8, $10
    }'
  done
  awk '{ printf "%-10s %5d %12.3f %41.0f wake-ups/s\n", "floor", $1, $2, $3 }' "$work/floor.tsv"
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
need timeout jq awk perl "$peer_data"
find_fragd dist compiler
[ -z "$module" ] || host_module "$module" "$engine"
names=(fragd)
measure fragd fragd
floor
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
alone "${names[@]}"
[ -z "$json" ] || figures "${names[@]}" >"$json"
echo
finish
