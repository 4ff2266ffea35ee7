#!/bin/bash
# Plays deathmatch with unmodified ioquake3 clients, from the first item to the next map.
#
#   tests/match.sh [--server fragd|ioq3ded|HOST:PORT] [--wire compat|native|68] [--map oa_dm1]...
#                  [--out DIRECTORY]
#
# --server  what is checked: fragd (the default), or ioquake3's own server, to check these checks
# --wire    compat unless told
# --map     where; a duel is laid out on oa_dm1 and oa_dm4 (both by default)
# --out     where logs, demos and pictures go and stay
#
# Ann picks up items, fires every weapon, dies and comes back, kills Bob, chats, has a vote carried
# and wins; after the intermission she walks among fragd's bots on the next map. Each map is the
# installed one with a straight run laid out on it: a place to appear at either end, items between,
# so that everything happens where it can be seen. Pictures of the HUD, an item, another player, a
# projectile, the scoreboard and the intermission are kept for a person to look at.
#
# Needs what `real_client.sh` needs, and unzip. About two minutes a map.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/walker.sh
. "$(dirname "$0")/walker.sh"

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

# What lies on the run, in the order of the weapons' numbers from 3 on, and what else there is.
run_items=(weapon_shotgun weapon_grenadelauncher weapon_rocketlauncher weapon_lightning
  weapon_railgun weapon_plasmagun weapon_bfg item_armor_shard)
# The weapons' numbers: gauntlet and machine gun are there from the begin.
weapons=(1 2 3 4 5 6 7 8 9)

# lay_out MAP: as `duel_MAP`: two places at the ends of a run, facing each other, and items between.
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

# tells NAME SECONDS TEXT REGEX: a check that the client's log gets such a line.
tells() { check "$1: $3" hears "$2" "${client_log[$1]}" "$4"; }

# sees NAME WHAT: keeps a picture, and checks that there is a world on it.
sees() {
  picture "$1" "$level-$2" || { fail "$1: takes a picture of $2"; return; }
  check "$1: has a picture of $2 ($work/$level-$2.jpg, $(colours "$work/$level-$2.jpg") colours)" \
    [ "$(colours "$work/$level-$2.jpg")" -ge 64 ]
}

revive() {
  sleep 1.9
  hold "$1" attack 0.15
  sleep 0.3
}

# along NAME: walks to the other end of the run, whichever end it is at, and looks back.
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
  sees Ann hud
}

# fire_all: the machine gun is in hand at first, a better weapon after it was picked up.
fire_all() {
  local weapon changed fired
  for weapon in "${weapons[@]}"; do
    here "${client_log[Ann]}"
    order Ann "weapon $weapon"
    sleep 0.7
    changed=$(events_of Ann CHANGE_WEAPON)
    order Ann '+attack'
    sleep 0.35
    [ "$weapon" -ne 5 ] || picture Ann "$level-projectile"
    sleep 0.6
    order Ann '-attack'
    sleep 0.2
    fired=$(events_of Ann FIRE_WEAPON)
    # The gauntlet strikes only what it touches.
    [ "$weapon" -ne 1 ] || fired=1
    check "Ann: takes weapon $weapon and fires it" [ "$changed" -ge 1 -a "$fired" -ge 1 ]
    sleep 0.8
  done
}

die() {
  here "${client_log[Ann]}"
  order Ann kill
  tells Ann 5 'is told of its own death' '^Ann (suicides|killed (him|her|it)self)'
  revive Ann
  tells Ann 5 'comes back' 'EV_PLAYER_TELEPORT_IN'
}

# shoot_bob: until he dies, twice at most.
shoot_bob() {
  local try
  for try in 1 2 3 4; do
    where Bob || return
    face Ann "$place"
    [ "$try" -gt 1 ] || [ -e "$work/$level-player.jpg" ] || sees Ann player
    here "${client_log[Ann]}"
    order Ann 'weapon 2'
    order Ann '+attack'
    hears 6 "${client_log[Ann]}" '^Bob .*Ann' && break
    order Ann '-attack'
  done
  order Ann '-attack'
  check "Ann: is told that she killed Bob" says "${client_log[Ann]}" '^Bob .*Ann'
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

# has_setting NAME VALUE: in what the server tells everybody.
has_setting() { ask "$server_address" getstatus | grep -aqF "\\$1\\$2"; }

# win: by as many kills as the limit takes.
win() {
  local try
  for try in 1 2 3; do
    shoot_bob
    hears 2 "${client_log[Ann]}" 'Ann hit the fraglimit' && break
    revive Bob
  done
  check 'Ann: is told that she hit the fraglimit' says "${client_log[Ann]}" 'Ann hit the fraglimit'
  sleep 2
  sees Ann intermission
  expect_game Ann
  # Ready, both, more than once: the first second or two do not count.
  for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
    hold Ann attack 0.2
    hold Bob attack 0.2
    sleep 1
    says "${client_log[Ann]}" '^Ann entered the game' && break
  done
  check "Ann: enters the next map" in_game Ann
  check "the server plays $next" await 5 has_setting mapname "$next"
}

among_bots() {
  local bots=$work/bots-$level.json legs good
  # The engine has ended the recording with the level.
  order Ann "record $level-next"
  here "${client_log[Ann]}"
  timeout 40 "$fragd" bots --connect "$server_address" -n 4 --seconds 20 --wire "$wire" --json \
    >"$bots" 2>"$work/bots-$level.log" </dev/null &
  started+=("$!")
  tells Ann 10 'is told that a bot entered' '^bot.* entered the game'
  order Ann '+attack'
  walk Ann 15
  order Ann '-attack'
  read -r legs good _ <<<"$walked"
  note "walked: $good of $legs legs got somewhere; $(fresh "${client_log[Ann]}" |
    grep -acE '^(bot[^ ]*|Ann|Bob) (was|ate|almost|cratered|killed|suicides|melted|sank|does|blew|tried|should|tripped)') obituaries"
  order Ann '+scores'
  sleep 0.5
  sees Ann scoreboard
  order Ann '-scores'
}

# read_demo NAME: every message by fragd's own reader.
read_demo() {
  local file said=$work/$1-demo.txt
  file=$(ls "${client_home[Ann]}/.oa/baseoa/demos/$1".dm_* 2>/dev/null)
  [ -n "$file" ] || { fail "Ann: has recorded the demo $1"; return; }
  cp "$file" "$work/"
  "$demo_reader" "$([ "$wire" = native ] && echo native || echo legacy)" "$file" >"$said" 2>&1
  check "the demo $1 decodes: $(tail -n 1 "$said")" grep -q '^[1-9][0-9]* messages.* 0 faults' "$said"
}

play_match() {
  level=$1 next=oa_dm3
  echo "-- a match on $level, $kind, wire $wire"
  sweep
  lay_out "$level" || { fail "$level: cannot be taken from its archive"; return; }
  server_start "$kind" "$wire" "duel_$level" 8 fraglimit 0 timelimit 0 g_allowVote 1 ||
    { fail "$kind: does not answer"; return; }
  # Each level that begins makes this a restart of itself.
  server_order "set nextmap \"devmap $next\""
  client_start Ann "$wire" && join Ann || { fail 'Ann: enters the game'; return; }
  here "${client_log[Ann]}"
  local joined=${mark[${client_log[Ann]}]}
  order Ann "record $level"
  order Ann 'cg_debugevents 1'
  sleep 1.1
  pick_up
  fire_all
  die
  client_start Bob "$wire" && join Bob || { fail 'Bob: enters the game'; return; }
  tells Ann 5 'is told that Bob entered' '^Bob entered the game'
  shoot_bob
  revive Bob
  here "${client_log[Bob]}"
  order Ann 'say well-fought'
  tells Bob 5 'hears Ann' '^Ann: well-fought'
  vote
  win
  among_bots
  order Ann stoprecord
  sleep 0.3
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
