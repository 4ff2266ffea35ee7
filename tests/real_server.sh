#!/bin/bash
# Bot check against ioquake3's own dedicated server, over each of its protocols.
#
#   tests/real_server.sh [--wire compat|native|68]... [--server ioq3ded|fragd] [--bots 4]
#                        [--seconds 8] [--out DIRECTORY]
#
# That server has compat or native behind the number 71, never both, so it is restarted for each.
# `--server fragd` selects fragd instead. Each protocol is also checked with `sv_pure 1`, through a map
# change, and with missing archives.
#
# Needs Debian's packages ioquake3-server openarena-server. About half a minute per protocol.
# shellcheck disable=SC2317 # functions are called by `check`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

wires=() kind=ioq3ded bots=4 seconds=8 map=oa_dm1 out=
while [ $# -gt 0 ]; do
  case $1 in
    --wire) wires+=("${2:?}"); shift 2 ;;
    --server) kind=${2:?}; shift 2 ;;
    --bots) bots=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#wires[@]} -gt 0 ] || wires=(compat native)

# figure NAME FILE: a top-level number of the bots' summary.
figure() {
  grep -aoE "\"$1\" *: *-?[0-9.]+([eE][-+]?[0-9]+)?" "$2" | head -n 1 | sed 's/.*: *//'
}

# is NUMBER OPERATOR NUMBER, with fractions.
is() { awk -v a="${1:-none}" -v b="$3" "BEGIN { exit !(a != \"none\" && a + 0 $2 b + 0) }"; }

visit() {
  local wire=$1 summary code entered left faults
  echo "-- $bots bots against $kind, wire $wire"
  server_start "$kind" "$wire" "$map" 16 || { fail "$kind: does not answer"; return; }
  here "$server_log"
  summary=$work/bots-$wire.json
  timeout -k 5 $((seconds + 30)) "$fragd" bots --connect "$server_address" -n "$bots" \
    --seconds "$seconds" --wire "$wire" --expect "$shared_machine" --json >"$summary" 2>"$work/bots-$wire.log" </dev/null
  code=$?
  check "bots: exit code 0 (it is $code)" [ "$code" -eq 0 ] ||
    note "they say: $(tail -n 3 "$work/bots-$wire.log" | tr '\n' '|')"
  check "bots: all got snapshots ($(figure active "$summary") of $bots)" \
    is "$(figure active "$summary")" == "$bots"
  check "bots: $(figure snapshots_per_second "$summary") snapshots a second, each" \
    is "$(figure snapshots_per_second "$summary")" '>=' 15
  check "bots: $(figure delta_share "$summary") of the snapshots are deltas" \
    is "$(figure delta_share "$summary")" '>' 0.5
  check "bots: none was dropped" is "$(figure dropped "$summary")" == 0
  check "bots: $(figure loss "$summary") of the packets lost" is "$(figure loss "$summary")" '<=' 0.01

  sleep 0.5
  entered=$(fresh "$server_log" | grep -ac 'entered the game')
  left=$(fresh "$server_log" | grep -acE '^ClientDisconnect: |disconnected$')
  check "$kind: its console tells of $entered bots that entered" [ "$entered" -eq "$bots" ]
  check "$kind: all left by their own word" [ "$left" -ge "$bots" ]
  faults=$(server_faults; fresh "$server_log" | grep -aiE 'timed out|illegible|\bbad |invalid|dropped|was kicked')
  [ -z "$faults" ] || note "server: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check "$kind: has nothing to complain of" [ -z "$faults" ]
  here "$server_log"
  "$fragd" query "$server_address" >"$work/query-$wire.txt" 2>&1
  check "fragd query: sees $kind and its map" grep -q "$map" "$work/query-$wire.txt"
  check "$kind: ends within 5 s of SIGTERM" stop "$server_pid" 5
}

# visit_pure WIRE: bots on a pure server, which changes the map, and bots without its archives.
visit_pure() {
  local wire=$1 summary code count
  echo "-- $bots bots against $kind, wire $wire, sv_pure 1"
  server_start "$kind" "$wire" "$map" 16 sv_pure 1 || { fail "$kind: does not answer"; return; }
  check "$kind: is pure" grep -aqF '\pure\1' <(ask "$server_address" getinfo)
  summary=$work/pure-$wire.json
  launch /dev/null "$work/pure-$wire.log" timeout -k 5 $((seconds + 30)) sh -c '"$@" --json >"$0"' \
    "$summary" "$fragd" bots --connect "$server_address" -n "$bots" --seconds "$((seconds + 4))" --wire "$wire" \
    --expect "$shared_machine"
  sleep $((seconds / 2))
  server_order 'map oa_dm2'
  wait "$launched"
  code=$?
  check "bots: exit code 0 on a pure server (it is $code)" [ "$code" -eq 0 ] ||
    note "they say: $(tail -n 3 "$work/pure-$wire.log" | tr '\n' '|')"
  check "bots: all play, before and after the map change" is "$(figure dropped "$summary")" == 0
  count=$(grep -acE '"lives" *: *1,' "$summary")
  check "bots: each with one connection ($count of $bots)" [ "$count" -eq "$bots" ]
  check "bots: walk $(figure walked_per_second "$summary") units a second" \
    is "$(figure walked_per_second "$summary")" '>' 100

  mkdir -p "$work/nothing"
  timeout -k 5 30 "$fragd" bots --connect "$server_address" -n 2 --seconds 8 --ramp 1/s \
    --basepath "$work/nothing" >/dev/null 2>"$work/missing-$wire.log" </dev/null
  code=$?
  check "bots: exit code 4 without the archives (it is $code)" [ "$code" -eq 4 ]
  check 'bots: name a missing archive' grep -q 'not installed: .*pak.*\.pk3' "$work/missing-$wire.log"
  check "$kind: ends within 5 s of SIGTERM" stop "$server_pid" 5
}

begin real-server "$out"
need timeout
find_fragd
[ "$kind" != ioq3ded ] || need "$peer_engine" "$peer_data"
for one in "${wires[@]}"; do
  visit "$one"
  visit_pure "$one"
done
finish
