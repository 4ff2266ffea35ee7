#!/bin/bash
# Load test check: `fragd bots` against fragd, ioquake3's server over both protocols, and failing servers.
#
# Failing servers are full, closed, terminated, stopped for two seconds, silent or send invalid data. Checks summary,
# CSV, JUnit and HTML report, the report in a browser.
#
#   tests/load_test.sh [--bots 64] [--seconds 20] [--out DIRECTORY]
#
# Needs Debian's packages ioquake3-server openarena-server jq chromium perl-base python3. About three minutes.
# shellcheck disable=SC2317 # functions are called by `check`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

bots=64 seconds=20 peers=16 out=
while [ $# -gt 0 ]; do
  case $1 in
    --bots) bots=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

# figure FILTER FILE: a metric of a summary.
figure() { jq -r "$1" "$2" 2>/dev/null; }

# holds FILTER FILE: whether that is true of the summary.
holds() { jq -es ".[0] | $1" "$2" >/dev/null 2>&1; }

# load NAME OPTION...: runs bots against the running server; leaves their exit code in `code`.
load() {
  local name=$1
  shift
  timeout -k 5 90 "$fragd" bots --connect "$server_address" "$@" \
    >"$work/$name.json" 2>"$work/$name.log" </dev/null
  code=$?
}

# measured NAME OPTION...: the same for a run with checked times. If the bots' clock ran late (over 10
# ms for one call in a hundred), a failed run is repeated once.
measured() {
  load "$@"
  if [ "$code" -eq 7 ] || { [ "$code" -eq 1 ] && holds '.loop_lateness_ms.p99 > 10' "$work/$1.json"; }; then
    note "$1: this machine called the bots $(figure .loop_lateness_ms.p99 "$work/$1.json") ms late; trying once more"
    sleep 3 # servers keep the slots of those who left for two seconds
    load "$@"
  fi
}

# tells NAME: prints the last lines of a run when a check failed.
tells() { note "$1: $(tail -n 3 "$work/$1.log" | tr '\n' '|')"; }

# page NAME: opens the report in a browser, takes a picture, and reads the shown text.
page() {
  local name=$1 file=$work/$1.html picture=$work/$1.png
  timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$work/browser-$name" --enable-logging=stderr --window-size=1100,2400 \
    --screenshot="$picture" "file://$file" >"$work/$name-browser.log" 2>&1
  rm -rf "$work/browser-$name"
  check "page $name: Chromium draws it ($(count_colors "$picture") colors)" test "$(count_colors "$picture")" -gt 30
  check "page $name: no error on the browser's console" \
    not grep -aE 'CONSOLE|net::ERR|Uncaught' "$work/$name-browser.log"
  check "page $name: holds nothing from elsewhere and no script" \
    not grep -aqE '(src|href)=|<script|@import|url\(' "$file"
  check "page $name: has a lagometer for each bot, and charts" \
    test "$(grep -aoE '<figure class="lagometer">' "$file" | wc -l)" -eq "$2"
}

not() { ! "$@"; }

# files NAME BOTS: checks summary, CSV and page of a run.
files() {
  check "$1: all $2 bots were in the game" holds ".active == $2 and .refused == 0 and .dropped == 0" "$work/$1.json"
  check "$1: $(figure .sentence "$work/$1.json")" holds '.succeeded and .verdict == "passed"' "$work/$1.json"
  check "$1: every bot has its own figures" holds "(.each | length) == $2 and all(.each[]; .snapshots > 0)" "$work/$1.json"
  check "$1: bots walk ($(figure .walked_per_second "$work/$1.json") units/s each, $(figure '[.each[].walked_per_second] | min' "$work/$1.json") at least)" \
    holds '.walked_per_second > 130 and all(.each[]; .walked_per_second > 50)' "$work/$1.json"
  check "$1: nobody stands about ($(figure '[.each[].longest_halt_ms] | max' "$work/$1.json") ms at most)" \
    holds 'all(.each[]; .longest_halt_ms < 15000)' "$work/$1.json"
  check "$1: seconds as CSV ($(wc -l <"$work/$1.csv") lines)" sound_csv "$work/$1.csv"
  page "$1" "$2"
}

# sound_csv FILE: a header line, as many fields in each line below it, and the time of day in each.
sound_csv() {
  python3 -c '
import csv, datetime, sys
rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
times = [datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00")) for row in rows]
whole = all(None not in row and None not in row.values() for row in rows)
sys.exit(not (len(rows) > 4 and whole and times == sorted(times) and rows[0]["map"] and rows[0]["version"]))' "$1"
}

# sound_junit FILE CASES FAILURES: a strict XML parser reads these numbers of test cases and failed ones.
sound_junit() {
  python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
cases, bad = root.findall(".//testcase"), root.findall(".//failure") + root.findall(".//error")
wanted = tuple(int(word) for word in sys.argv[2:])
said = (int(root.get("tests")), int(root.get("failures")) + int(root.get("errors")))
sys.exit(not (wanted == said == (len(cases), len(bad))))' "$@"
}

players() {
  echo "-- $bots bots on fragd"
  server_start fragd - oa_dm4 64 || { fail 'fragd: does not answer'; return; }
  measured fragd -n "$bots" --seconds "$seconds" --seed 1 --json --pid "$server_pid" \
    --csv "$work/fragd.csv" --report "$work/fragd.html" \
    --expect 'snapshot_gap_p50<=60ms,snapshot_gap_p99<150ms,loss<1%,scored>0,cpu_per_client_second<5ms,memory<100MB'
  check "fragd: exit code 0 (it is $code)" [ "$code" -eq 0 ] || tells fragd
  files fragd "$bots"
  check "fragd: its cost was seen ($(figure .server.cpu_ms_per_client_second "$work/fragd.json") ms per client-second)" \
    holds '.server.cpu_ms > 0 and .own.memory_mb > 1' "$work/fragd.json"
  check 'fragd: without a terminal progress is plain lines' \
    plain "$work/fragd.log"
  sleep 3 # servers keep the slots of those who left for two seconds
  load changed -n 8 --seconds 2 --expect 'snapshots_per_second>1000'
  check "fragd: what does not hold is exit code 1 (it is $code)" [ "$code" -eq 1 ]
  check 'fragd: and says by how much' grep -q 'snapshots_per_second was .*, off by ' "$work/changed.log"

  sleep 3
  load bad-line -n 20 --seconds 12 --seed 2 --json --network latency=60ms,jitter=20ms,loss=3%
  check "bad line: all 20 bots are in ($(figure .join_ms.max "$work/bad-line.json") ms for the last)" \
    holds '.active == 20 and .join_steps_ms.gamestate.max < 4000' "$work/bad-line.json"
  sleep 3

  echo '-- fragd changes its map under 8 bots'
  (sleep 4; server_order 'map oa_dm1') &
  load map -n 8 --ramp 8/s --seconds 9 --json
  check "map change: nobody minds (exit code $code)" [ "$code" -eq 0 ] || tells map
  check 'map change: all went on in their first life' holds 'all(.each[]; .lives == 1)' "$work/map.json"
  stop "$server_pid" 5
}

# Clients of every protocol in one match, on a bad line, with a map change.
protocols() {
  echo '-- two bots of each protocol on fragd'
  server_start fragd - fragd1 64 game baseq3 || { fail 'protocols: fragd does not answer'; return; }
  (sleep 10; server_order 'map fragdctf1') &
  load each -n 14 --ramp 14/s --seconds 20 --seed 3 --json --protocol each --network loss=3%
  check "protocols: exit code 0 (it is $code)" [ "$code" -eq 0 ] || tells each
  check "protocols: each has two bots in the game ($(figure '[.protocols[].protocol] | join(" ")' "$work/each.json"))" \
    holds '.active == 14 and (.protocols | length) == 7 and all(.protocols[]; .succeeded == 2)' "$work/each.json"
  check 'protocols: no protocol error, drop or second life' \
    holds 'all(.protocols[]; .protocol_errors == 0) and .dropped == 0 and all(.each[]; .lives == 1)' "$work/each.json"
  check "protocols: the server's log has no error" not server_faults
  stop "$server_pid" 5
}

# plain FILE: progress lines without terminal control codes.
plain() { grep -qE '^ +[0-9]+ s  [0-9]+/[0-9]+ in the game' "$1" && not grep -qP '\x1b|\r' "$1"; }

peer() {
  local wire=$1
  echo "-- $peers bots on ioquake3's server, wire $wire"
  server_start ioq3ded "$wire" oa_dm1 "$peers" || { fail 'ioq3ded: does not answer'; return; }
  measured "$wire" -n "$peers" --ramp 5/s --seconds 18 --wire "$wire" --json --pid "$server_pid" --seed 1 \
    --csv "$work/$wire.csv" --report "$work/$wire.html" \
    --expect 'snapshot_gap_p50<=60ms,snapshot_gap_p99<150ms,loss<1%,scored>0'
  check "ioq3ded, $wire: exit code 0 (it is $code)" [ "$code" -eq 0 ] || tells "$wire"
  files "$wire" "$peers"
  sleep 3
  load "auto-$wire" -n 4 --ramp 5/s --seconds 4 --json
  check "ioq3ded, $wire: --wire auto finds it out ($code)" [ "$code" -eq 0 ] || tells "auto-$wire"
  check "ioq3ded, $wire: and says so ($(figure .protocol "$work/auto-$wire.json"))" \
    holds ".protocol == \"$wire\" and .protocol_errors == 0" "$work/auto-$wire.json"
  sleep 3
  load "$wire-full" -n "$((peers + 1))" --ramp 5/s --wire "$wire" --seconds 10 --expect 'refused=1'
  check "ioq3ded, $wire: one too many is refused, as expected ($code)" [ "$code" -eq 0 ] || tells "$wire-full"
  stop "$server_pid" 5
}

# ends NAME CODE REGEX: checks exit code and reason of the run.
ends() {
  check "$1: exit code $2 (it is $code)" [ "$code" -eq "$2" ] || tells "$1"
  check "$1: says so: $(tail -n 1 "$work/$1.log" | cut -c1-110)" grep -qE "^fragd: .*$3" "$work/$1.log"
}

refusals() {
  echo '-- servers that refuse'
  server_start fragd - oa_dm1 1 || { fail 'fragd: does not answer'; return; }
  load guest -n 1 --seconds 20 >/dev/null &
  sleep 2
  load full -n 2 --seconds 40 --timeout 3s
  ends full 4 'refused all 2 bots: .*full.*raise sv_maxclients'
  stop "$server_pid" 5
  wait $!
  server_start fragd - oa_dm1 4 || { fail 'fragd: does not answer'; return; }
  load crowd -n 20 --seconds 6 --json
  check "crowd: all who are not in were refused ($(figure .refused "$work/crowd.json"))" \
    holds '.active == 4 and .refused == 16 and all(.each[] | select(.outcome == "refused"); .reason == "Server is full")' \
    "$work/crowd.json"
  check 'crowd: the last line of progress is not of an empty server' \
    not grep -q ' 0/20 in the game' "$work/crowd.log"
  stop "$server_pid" 5
  server_start fragd - oa_dm1 8 g_password secret || { fail 'fragd: does not answer'; return; }
  load password -n 2 --seconds 40 --timeout 3s
  ends password 4 '[Pp]assword'
  load admitted -n 2 --seconds 3 --password secret
  check "password: with it they get in ($code)" [ "$code" -eq 0 ] || tells admitted
  stop "$server_pid" 5
  server_start fragd - oa_dm1 8 || { fail 'fragd: does not answer'; return; }
  server_order 'addip 127.0.0.*'
  hears 5 "$server_log" 'Added ban: 127\.0\.0' || fail 'fragd: bans nobody'
  load banned -n 2 --seconds 40 --timeout 3s
  ends banned 4 'refused all 2 bots: .*banned'
  server_order 'removeip 127.0.0.*'
  hears 5 "$server_log" 'Deleting ban 127\.0\.0' || fail 'fragd: keeps its ban'
  load forgiven -n 2 --seconds 3
  check "ban: whose ban is lifted gets in ($code)" [ "$code" -eq 0 ] || tells forgiven
  stop "$server_pid" 5
  server_start ioq3ded compat oa_dm1 8 || { fail 'ioq3ded: does not answer'; return; }
  server_order 'banaddr 127.0.0.1'
  hears 5 "$server_log" 'Added ban' || fail 'ioq3ded: bans nobody'
  load banned-peer -n 2 --seconds 40 --timeout 3s --wire compat
  ends banned-peer 4 'refused all 2 bots: .*banned'
  server_order flushbans
  hears 5 "$server_log" 'bans and exceptions have been deleted' || fail 'ioq3ded: keeps its bans'
  load protocol -n 2 --seconds 40 --timeout 3s --wire 68
  ends protocol 4 'refused all 2 bots: .*protocol'
  load found -n 2 --seconds 3 --wire auto
  check "auto: the right wire is found out ($code)" [ "$code" -eq 0 ] || tells found
  load dialect -n 2 --seconds 40 --timeout 3s --wire native
  check "dialect: a wire of the right number and the wrong words is no success (exit code $code)" [ "$code" -ge 3 ] || tells dialect
  stop "$server_pid" 5
}

losses() {
  echo '-- servers that go away'
  server_start fragd - oa_dm1 8 || { fail 'fragd: does not answer'; return; }
  (sleep 3; kill -TERM "$server_pid") &
  load quits -n 4 --seconds 60
  ends quits 5 'dropped 4 of 4 bots: '
  server_start fragd - oa_dm1 8 || { fail 'fragd: does not answer'; return; }
  (sleep 3; kill -KILL "$server_pid") &
  load killed -n 4 --seconds 60 --timeout 3s
  ends killed 5 'timed out'
  server_address=127.0.0.1:1
  load nobody -n 4 --seconds 60 --timeout 3s
  ends nobody 3 'does not answer'
  load misused -n 4 --expect 'speed<1'
  check "misused: exit code 2 (it is $code)" [ "$code" -eq 2 ]
  server_address=no.such.host.invalid
  load nowhere -n 1
  check "nowhere: exit code 3 (it is $code)" [ "$code" -eq 3 ] || tells nowhere
}

# frozen NAME WHO SECONDS OPTION...: a run of ten seconds in which `server` or `bots` stand still for two seconds.
# Leaves the exit code in `code`.
frozen() {
  local name=$1 who=$2 at=$3 bots_pid
  shift 3
  "$fragd" bots --connect "$server_address" --seed 1 --json --junit "$work/$name.xml" "$@" \
    >"$work/$name.json" 2>"$work/$name.log" </dev/null &
  bots_pid=$!
  sleep "$at"
  case $who in
    server) kill -STOP "$server_pid"; sleep 2; kill -CONT "$server_pid" ;;
    bots) kill -STOP "$bots_pid"; sleep 2; kill -CONT "$bots_pid" ;;
    interrupt) kill -INT "$bots_pid" ;;
  esac
  wait "$bots_pid"
  code=$?
}

stalls() {
  echo '-- servers and bots that stand still'
  local limits='snapshot_gap_p99<120ms,loss<1%' at
  server_start fragd - oa_dm1 12 || { fail 'fragd: does not answer'; return; }
  for at in 0.6 4 9.3; do
    frozen "stopped-$at" server "$at" -n 8 --seconds 10 --expect "$limits"
    check "stopped at $at s: exit code 1 (it is $code)" [ "$code" -eq 1 ] || tells "stopped-$at"
    check "stopped at $at s: one gap is $(figure .snapshot_gap_ms.max "$work/stopped-$at.json") ms, $(figure .time_without_snapshot "$work/stopped-$at.json") of the time" \
      holds '.cause == "expectation" and .snapshot_gap_ms.max >= 1900 and .snapshot_gap_ms.p99 >= 1900 and .time_without_snapshot > 0.1' \
      "$work/stopped-$at.json"
    sleep 3
  done
  frozen stopped-bots bots 4 -n 8 --seconds 10 --expect "$limits"
  check "bots stopped: exit code 7 (it is $code)" [ "$code" -eq 7 ] || tells stopped-bots
  check "bots stopped: $(figure .sentence "$work/stopped-bots.json" | cut -c1-90)" \
    holds '.cause == "generator_lateness" and .loop_lateness_ms.max > 1800' "$work/stopped-bots.json"
  sleep 3
  frozen interrupted interrupt 3 -n 4 --seconds 60
  check "interrupted: exit code 8 (it is $code)" [ "$code" -eq 8 ] || tells interrupted
  check "interrupted: with partial figures" \
    holds '.verdict == "interrupted" and (.succeeded | not) and .snapshots > 50' "$work/interrupted.json"
  sleep 3
  frozen stages none 0 --stages 4:4s,8:4s,16:5s
  check "stages: exit code 4 (it is $code)" [ "$code" -eq 4 ] || tells stages
  check "stages: capacity and the failed expectation are named" holds \
    '.capacity == 8 and .cause == "refused" and ([.stages[2].expectations[] | select(.passed | not)] == [.expectations[] | select(.passed | not)]) and any(.stages[2].expectations[]; .metric == "in_game" and .limit == 16 and .value == 12)' \
    "$work/stages.json"
  check "stages: JUnit has a case for each expectation" sound_junit "$work/stages.xml" 25 2
  stop "$server_pid" 5
}

# mad PORT KIND: a server that answers with invalid data, accepts all clients and then sends some, or
# stops after its first response. Runs in its own process, so that ending the process ends it.
mad() {
  exec perl -MIO::Socket::INET -e '
    my ($port, $kind) = @ARGV;
    my $socket = IO::Socket::INET->new(Proto => "udp", LocalAddr => "127.0.0.1", LocalPort => $port) or die;
    my $sequence = 0;
    while (defined(my $from = $socket->recv(my $data, 65536))) {
      my $oob = "\xff\xff\xff\xff";
      if ($kind eq "babbles") { $socket->send("${oob}moo", 0, $from); $socket->send("\xa5" x 90, 0, $from) }
      elsif ($data =~ /^${oob}getchallenge (-?\d+)/) { $socket->send("${oob}challengeResponse 5 $1 71", 0, $from) }
      elsif ($kind eq "stops") { next }
      elsif ($data =~ /^${oob}connect/) { $socket->send("${oob}connectResponse 5", 0, $from) }
      elsif ($data !~ /^${oob}/) { $socket->send(pack("V", ++$sequence) . ("\x5a" x 300), 0, $from) }
    }' "$@"
}

madness() {
  local kind
  echo '-- servers that send nonsense'
  for kind in babbles rubbish stops; do
    free_port
    server_address=127.0.0.1:$port
    launch /dev/null "$work/mad-$kind.log" mad "$port" "$kind"
    sleep 0.3
    load "$kind" -n 3 --seconds 60 --timeout 3s
    case $kind in
      stops) ends "$kind" 3 'was silent for|stopped answering' ;;
      *) ends "$kind" 6 'not a Quake III server|invalid data' ;;
    esac
    stop "$launched" 3
  done
}

begin load-test "$out"
need timeout jq chromium perl python3 identify "$peer_engine" "$peer_data"
find_fragd
apart "$work/trouble.txt" eval 'refusals; losses; madness; stalls'
trouble=$launched
players
protocols
peer compat
peer native
rejoin "$trouble" "$work/trouble.txt"
finish
