#!/bin/bash
# Game log check: a match with an unmodified ioquake3 client, parsed by a statistics program.
#
#   tests/game_log.sh [--wire compat|native|68] [--out DIRECTORY]
#
# The client plays map oa_dm1 for a minute until the time limit, passes the intermission, and plays the next
# map of a rotation. Then quakestats parses every line of the game log. It is a statistics program for
# Quake III from PyPI, installed into the log directory. Its parsers of the base game's events must accept
# each line that they know.
#
# Needs the packages of `real_client.sh`, and Python with pip. About two minutes.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

wire=compat out=
while [ $# -gt 0 ]; do
  case $1 in
    --wire) wire=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

# read_log FILE: fails at the first line that the statistics program rejects.
read_log() {
  PYTHONPATH=$work/python python3 - "$1" <<'PYTHON'
import collections, re, sys
from quakestats.core.q3parser import events
from quakestats.core.q3parser.modparse.baseq3 import BaseQ3ParserMixin

reader = BaseQ3ParserMixin()
readers = {
    "InitGame": reader.parse_init_game,
    "ClientUserinfoChanged": reader.parse_user_info,
    "Kill": reader.parse_kill,
    "ClientDisconnect": reader.parse_client_disconnect,
    "Exit": reader.parse_exit,
    "Item": reader.parse_item,
}
count = collections.Counter()
for line in open(sys.argv[1], encoding="latin-1"):
    line = line.rstrip("\n")
    match = re.fullmatch(r"([ \d]{2,}\d):(\d\d) (?:(-{60})|([A-Za-z]+): ?(.*))", line)
    assert match, f"no log line: {line!r}"
    minutes, seconds, rule, name, payload = match.groups()
    if rule:
        continue
    count[name] += 1
    if name in readers:
        time = (int(minutes) * 60 + int(seconds)) * 1000
        event = readers[name](events.RawEvent(time, name, payload))
        assert isinstance(event, events.Q3GameEvent), line
        if name == "InitGame":
            assert event.mapname.startswith("oa_dm") and event.gametype == "FFA", line
        if name == "ClientUserinfoChanged":
            assert event.name == "Talker", line
print("     " + ", ".join(f"{name} {n}" for name, n in sorted(count.items())))
for name, least in {"InitGame": 2, "ShutdownGame": 2, "ClientConnect": 2, "ClientBegin": 2,
                    "ClientUserinfoChanged": 2, "Kill": 1, "Exit": 1, "score": 1, "say": 1,
                    "ClientDisconnect": 1}.items():
    assert count[name] >= least, f"{name}: {count[name]} lines of at least {least}"
PYTHON
}

begin game_log "$out"
find_fragd
need "$client_engine" "$client_data" Xvfb import python3
check "quakestats is installed" \
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/python" \
  quakestats==1.5.1 2>"$work/pip.log" || finish

server_start fragd "$wire" oa_dm1 8 timelimit 1 fraglimit 0 \
  d1 'map oa_dm2 ; set nextmap vstr d1' || { fail "fragd: does not answer"; finish; }
client_start Talker "$wire" || { fail "Talker: the client does not start"; finish; }
console=${client_log[Talker]}
here "$console"
joined=${mark[$console]}
join Talker || { fail "Talker: enters the game"; finish; }
ok "Talker: enters the game"
here "$console"
order Talker 'say good luck'
check "Talker: is heard" hears 5 "$console" '^Talker: good luck'
order Talker kill
check "Talker: hears that the time is up" hears 75 "$console" '^Timelimit hit\.'
sleep 3
picture Talker intermission && ok "Talker: has a picture of the intermission ($work/intermission.jpg)"
expect_game Talker
for _ in 1 2 3 4 5 6; do hold Talker attack 0.2; sleep 1; done
check "Talker: plays the next map" in_game Talker
server_order 'serverinfo'
check "fragd: is on the next map" hears 5 "$server_log" '^mapname +oa_dm2'
mark[$console]=$joined
faults=$(client_faults Talker | cut -c1-200 | head -n 5)
[ -z "$faults" ] || note "$faults"
check "Talker: nothing bad in the console" [ -z "$faults" ]
check "Talker: quits" client_end Talker
faults=$(server_faults)
[ -z "$faults" ] || note "$faults"
check "fragd: nothing bad in its log" [ -z "$faults" ]
check "fragd: ends within 5 s" stop "$server_pid" 5
check "quakestats reads every line of the log" read_log "$server_games"
grep -a -m 1 'Exit: Timelimit hit.' "$server_games" | sed 's/^/     /'
finish
