#!/bin/bash
# Deathmatch check with unmodified ioquake3 clients, from the first item to the next map.
#
#   tests/match.sh [--server fragd|ioq3ded|HOST:PORT] [--wire compat|native|68] [--map oa_dm1]...
#                  [--out DIRECTORY]
#
# --server  server to check: fragd (default), or ioquake3's own server, to validate the checks
# --wire    protocol (default compat)
# --map     maps; a duel is laid out on oa_dm1 and oa_dm4 (both by default)
# --out     directory for logs, demos and pictures
#
# Ann picks up items, fires every weapon, dies and respawns, kills Bob, chats, passes a vote and wins. The
# map is the installed one with a straight run laid out on it: a spawn point at either end and items
# between, so that everything happens in view. After the intermission the two play on the original map
# with six bots of fragd, from the warm-up through the frag limit to the intermission and the next map. Her
# client logs every mispredicted step and event; on the run none is allowed. Pictures of the HUD, an item,
# another player, projectiles, the scoreboard and the intermissions are kept for inspection.
#
# Needs the packages of `real_client.sh`, and unzip. About two and a half minutes per map.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/navigation.sh
. "$(dirname "$0")/navigation.sh"

kind=fragd wire=compat maps=() out=
while [ $# -gt 0 ]; do
  case $1 in
    --server) kind=${2:?}; shift 2 ;;
    --wire) wire=${2:?}; shift 2 ;;
    --map) maps+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#maps[@]} -gt 0 ] || maps=(oa_dm1 oa_dm4)

# Items on the run, in the order of the weapons' numbers from 3 on, and the others.
run_items=(weapon_shotgun weapon_grenadelauncher weapon_rocketlauncher weapon_lightning
  weapon_railgun weapon_plasmagun weapon_bfg item_armor_shard)
# Weapon numbers: gauntlet and machine gun are there from the start.
weapons=(1 2 3 4 5 6 7 8 9)

# lay_out MAP: creates `duel_MAP`: two spawn points at the ends of a run, facing each other, and items
# between.
lay_out() {
  local from to axis index entities at x y z
  case $1 in
    oa_dm1) from='-656 976 24' to='-656 1470 24' axis=y ;;
    oa_dm4) from='-64 -20 -296' to='-64 490 -296' axis=y ;;
    *) echo "$0: no run is known on $1" >&2; exit 2 ;;
  esac
  case $axis in x) at='0 180' ;; y) at='90 270' ;; esac
  entities="info_player_deathmatch|$from|${at% *}"$'\n'"info_player_deathmatch|$to|${at#* }"
  read -r x y z <<<"$from"
  for index in "${!run_items[@]}"; do
    if [ "$axis" = x ]; then x=$((${from%% *} + 80 + 46 * index)); else
      at=${from#* } y=$((${at% *} + 80 + 46 * index))
    fi
    entities+=$'\n'"${run_items[index]}|$x $y $z|0"
  done
  map_with "$1" "duel_$1" "$entities"
}

# along NAME: walks to the other end of the run and turns around.
along() {
  where "$1" || return
  local from=$place
  hold "$1" forward 1.6
  face "$1" "$from"
}

pick_up() {
  sees Ann item
  here "${client_log[Ann]}"
  local got begun=${mark[${client_log[Ann]}]}
  along Ann
  mark[${client_log[Ann]}]=$begun
  got=$(events_of Ann ITEM_PICKUP)
  check "Ann: picks up $got of ${#run_items[@]} items" [ "$got" -ge ${#run_items[@]} ]
  foreseen 'picks them up' "$begun"
  sees Ann hud
}

# foreseen DOING OFFSET: whether Ann's client predicted every step since OFFSET of her log.
foreseen() {
  local misses
  mark[${client_log[Ann]}]=$2
  misses=$(fresh "${client_log[Ann]}" | grep -aE "$miss_lines" | sort | uniq -c | head -n 4 | tr '\n' '|')
  [ -z "$misses" ] || note "$misses"
  check "Ann: foresees what the server does while she $1" [ -z "$misses" ]
}
# Reports of `cg_showmiss`: a step (by more than a tenth of a unit), and an event. Dropped events show
# only that a busy machine drew too few frames: a playerstate has room for two.
miss_lines='^Prediction miss|^WARNING: changed predicted event'

# fire_all: fires every weapon; the machine gun first, a better weapon after its pickup.
fire_all() {
  local weapon changed fired begun
  here "${client_log[Ann]}"
  begun=${mark[${client_log[Ann]}]}
  for weapon in "${weapons[@]}"; do
    here "${client_log[Ann]}"
    order Ann "weapon $weapon"
    sleep 0.7
    changed=$(events_of Ann CHANGE_WEAPON)
    order Ann '+attack'
    sleep 0.35
    case $weapon in 5 | 8) picture Ann "$level-projectile-$weapon" ;; esac
    sleep 0.6
    order Ann '-attack'
    sleep 0.2
    fired=$(events_of Ann FIRE_WEAPON)
    # The gauntlet hits only at contact.
    [ "$weapon" -ne 1 ] || fired=1
    check "Ann: takes weapon $weapon and fires it" [ "$changed" -ge 1 -a "$fired" -ge 1 ]
    sleep 0.8
  done
  foreseen 'fires them all' "$begun"
  order Ann 'cg_showmiss 0'
}

die() {
  here "${client_log[Ann]}"
  order Ann kill
  tells Ann 5 'is told of its own death' '^Ann (suicides|killed (him|her|it)self)'
  revive Ann
  tells Ann 5 'comes back' 'EV_PLAYER_TELEPORT_IN'
}

vote() {
  sleep 1.1 # or flood protection would swallow it
  here "${client_log[Ann]}"
  here "${client_log[Bob]}"
  order Ann 'callvote fraglimit 2'
  tells Bob 5 'is told of the vote' '^Ann called a vote'
  sleep 1.1
  order Bob 'vote yes'
  tells Ann 10 'is told that the vote passed' '^Vote passed'
  check 'the server has what was voted for' await 5 has_setting fraglimit 2
}

# win: kills up to the frag limit.
win() {
  local try
  for try in 1 2 3; do
    shoot Ann Bob
    hears 2 "${client_log[Ann]}" 'Ann hit the fraglimit' && break
    revive Bob
  done
  check 'Ann: is told that she hit the fraglimit' says "${client_log[Ann]}" 'Ann hit the fraglimit'
  sleep 2
  sees Ann intermission
  # All of them play on the next map, after a warm-up.
  server_order 'set fraglimit 4'
  server_order 'set g_doWarmup 1'
  server_order 'set g_warmup 12'
  go_on "$next"
}

# go_on MAP: leaves the intermission. Both clients get ready, repeatedly: the first second or two do not
# count.
go_on() {
  local try
  expect_game Ann
  for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
    hold Ann attack 0.2
    hold Bob attack 0.2
    sleep 1
    says "${client_log[Ann]}" '^Ann entered the game' && break
  done
  check "Ann: enters the next map" in_game Ann
  check "the server plays $1" await 5 has_setting mapname "$1"
}

# deaths_of NAMES: obituaries of matching players in Ann's log since `here`.
deaths_of() {
  fresh "${client_log[Ann]}" | grep -acE \
    "^($1) (was |ate |almost |cratered|killed |suicides|melted|sank |does |blew |tried |should |tripped |died|saw |discovered |falls |got )"
}

# among_bots: a match of eight from the warm-up to the next map.
among_bots() {
  local bots=$work/bots-$level.json legs good begun told
  # The engine has ended the recording with the level.
  order Ann "record $level-next"
  server_order "set nextmap \"devmap $afterwards\""
  here "${client_log[Ann]}"
  begun=${mark[${client_log[Ann]}]}
  timeout 200 "$fragd" bots --connect "$server_address" -n 6 --seconds 180 --wire "$wire" --json \
    --do wander,fight --basepath "$client_data" >"$bots" 2>"$work/bots-$level.log" </dev/null &
  started+=("$!") bots_pid=$!
  tells Ann 10 'is told that a bot entered' '^bot.* entered the game'
  sees Ann warmup
  check 'the server: counts eight players' await 10 counts 8
  # The match itself begins with a restart of the level, which all clients enter again.
  tells Ann 25 'sees the match begin after the warm-up' '^Ann entered the game'
  order Ann '+attack'
  walk Ann 10
  order Ann '-attack'
  read -r legs good _ <<<"$walked"
  note "walked: $good of $legs legs got somewhere"
  order Ann '+scores'
  sleep 0.5
  sees Ann scoreboard
  order Ann '-scores'
  mark[${client_log[Ann]}]=$begun
  tells Ann 120 'is told that a bot hit the frag limit' '^bot[0-9]* hit the fraglimit'
  told=$(deaths_of 'bot[0-9]*')
  check "Ann: is told of $told deaths of bots, and $(deaths_of 'Ann|Bob') of people" [ "$told" -ge 3 ]
  order Ann stoprecord
  sleep 2
  sees Ann bots-intermission
  go_on "$afterwards"
  kill "$bots_pid" 2>/dev/null
}

# read_demo NAME: decodes every message with fragd's own reader.
read_demo() {
  local file said=$work/$1-demo.txt
  file=$(ls "${client_home[Ann]}/.oa/baseoa/demos/$1".dm_* 2>/dev/null)
  [ -n "$file" ] || { fail "Ann: has recorded the demo $1"; return; }
  cp "$file" "$work/"
  "$demo_reader" "$([ "$wire" = native ] && echo native || echo legacy)" "$file" >"$said" 2>&1
  check "the demo $1 decodes: $(tail -n 1 "$said")" grep -q '^[1-9][0-9]* messages.* 0 errors' "$said"
}

play_match() {
  level=$1 next=$1 afterwards=oa_dm3
  echo "-- a match on $level, $kind, wire $wire"
  sweep
  lay_out "$level" || { fail "$level: cannot be taken from its archive"; return; }
  server_start "$kind" "$wire" "duel_$level" 8 fraglimit 0 timelimit 0 g_allowVote 1 ||
    { fail "$kind: does not answer"; return; }
  # Each started level makes this a restart of itself.
  server_order "set nextmap \"devmap $next\""
  client_start Ann "$wire" && join Ann || { fail 'Ann: enters the game'; return; }
  here "${client_log[Ann]}"
  local joined=${mark[${client_log[Ann]}]}
  order Ann "record $level"
  order Ann 'cg_debugevents 1'
  order Ann 'cg_showmiss 1'
  sleep 1.1
  pick_up
  fire_all
  die
  client_start Bob "$wire" && join Bob || { fail 'Bob: enters the game'; return; }
  tells Ann 5 'is told that Bob entered' '^Bob entered the game'
  where Bob && face Ann "$place"
  sees Ann player
  shoot Ann Bob
  revive Bob
  here "${client_log[Bob]}"
  order Ann 'say well-fought'
  tells Bob 5 'hears Ann' '^Ann: well-fought'
  vote
  win
  among_bots
  read_demo "$level"
  read_demo "$level-next"
  mark[${client_log[Ann]}]=$joined
  cp "${client_log[Ann]}" "$work/$level-ann.log"
  local faults
  faults=$(client_faults Ann)
  [ -z "$faults" ] || note "Ann's console: $(sort <<<"$faults" | uniq -c | head -n 8 | tr '\n' '|')"
  check 'Ann: plays without an error in the console' [ -z "$faults" ]
  faults=$(server_faults)
  [ -z "$faults" ] || note "server: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check 'server: nothing bad in its log' [ -z "$faults" ]
  for name in Bob Ann; do check "$name: quits" client_end "$name"; done
  sweep
}

begin match "$out"
need Xvfb stdbuf identify unzip perl "$client_engine" "$client_data"
case $kind in
  fragd | *:*) ;;
  ioq3ded) need "$peer_engine" "$peer_data" ;;
  *) echo "$0: no server '$kind'" >&2; exit 2 ;;
esac
find_fragd
find_demo_reader
begun_at=$(now)
for one in "${maps[@]}"; do play_match "$one"; done
note "took $(since "$begun_at") s"
finish
