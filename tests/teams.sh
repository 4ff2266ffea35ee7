#!/bin/bash
# Capture the flag, team deathmatch and tournament check with unmodified ioquake3 clients.
#
#   tests/teams.sh [--server fragd|ioq3ded] [--wire compat|native|68] [--only ctf|team|tourney]...
#                  [--out DIRECTORY]
#
# --server  server to check: fragd (default), or ioquake3's own server, to validate the checks
# --wire    protocol (default compat)
# --only    only these games
# --out     directory for logs and pictures
#
# Ann plays for red, Bob for blue. On oa_ctf2 she takes the blue flag, kills the carrier of hers, returns
# it, and captures twice, which is the limit; cheats place the players. On oa_dm1 each kill counts for the
# team. In a tournament a third client waits, and plays the winner. Pictures of the HUD are kept for
# inspection.
#
# Needs the packages of `real_client.sh`, and unzip. About two and a half minutes.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/navigation.sh
. "$(dirname "$0")/navigation.sh"

kind=fragd wire=compat games=() out=
while [ $# -gt 0 ]; do
  case $1 in
    --server) kind=${2:?}; shift 2 ;;
    --wire) wire=${2:?}; shift 2 ;;
    --only) games+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#games[@]} -gt 0 ] || games=(ctf team tourney)

# Flags of oa_ctf2, as player origins that touch them.
red_flag='3576 671 976' blue_flag='520 1377 976'
# Two positions on one floor of the red base, the other straight ahead of the first.
elsewhere='2911 336 720' ahead='3200 336 720'
# Two ends of a straight run on oa_dm1, facing each other.
duel='info_player_deathmatch|-656 976 24|90
info_player_deathmatch|-656 1470 24|270'

# watches NAME: starts the client; it logs events of all players.
watches() {
  client_start "$1" "$wire" || { fail "$1: the client does not start"; return 1; }
  expect_game "$1"
  order "$1" "connect $server_address"
  check "$1: sees the game" hears 40 "${client_log[$1]}" '^first frame in the game'
}

# takes_side NAME TEAM: joins a team, as the center print and the console show.
takes_side() {
  here "${client_log[$1]}"
  order "$1" "team $2"
  tells "$1" 5 "joins the $2 team" "^$1 entered the game"
}

# put NAME PLACE: moves the player there; all logs are marked.
put() {
  local other
  for other in Ann Bob; do here "${client_log[$other]}"; done
  order "$1" "setviewpos $2 0"
}

# both SECONDS TEXT REGEX: checks both clients for the line.
both() {
  tells Ann "$1" "is told that $2" "$3"
  tells Bob "$1" "is told that $2" "$3"
}

# end_game NAMES: no console and no server log may have reported an error.
end_game() {
  local name faults
  for name in $1; do
    mark[${client_log[$name]}]=$(grep -aob 'Common Initialization Complete' "${client_log[$name]}" |
      head -n 1 | cut -d: -f1)
    cp "${client_log[$name]}" "$work/$level-$name.log"
    faults=$(client_faults "$name")
    [ -z "$faults" ] || note "$name's console: $(sort <<<"$faults" | uniq -c | head -n 8 | tr '\n' '|')"
    check "$name: plays without an error in the console" [ -z "$faults" ]
  done
  faults=$(server_faults)
  [ -z "$faults" ] || note "server: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check 'server: nothing bad in its log' [ -z "$faults" ]
  sweep
}

play_ctf() {
  server_start "$kind" "$wire" oa_ctf2 8 g_gametype 4 capturelimit 2 timelimit 0 sv_floodProtect 0 ||
    { fail "$kind: does not answer"; return; }
  server_order 'set nextmap "devmap oa_dm1"'
  for name in Ann Bob; do watches "$name" || return; done
  sees Ann watching
  takes_side Ann red
  takes_side Bob blue
  order Ann 'cg_drawTeamOverlay 1'
  sleep 1

  put Ann "$blue_flag"
  both 5 'she got the flag' '^Ann got the BLUE flag'
  sleep 0.5
  put Ann "$elsewhere"
  sleep 1
  sees Ann with-flag
  sees Bob flag-taken
  # With both flags taken, neither can capture; a dying carrier drops the flag.
  put Bob "$red_flag"
  both 5 'he got the flag' '^Bob got the RED flag'
  sleep 0.5
  put Bob "$elsewhere"
  sleep 0.7
  sees Ann both-flags
  put Ann "$red_flag"
  sleep 1
  check 'Ann: captures nothing while her own flag is away' says_not "${client_log[Ann]}" 'captured'
  # A killed carrier drops the flag, and an enemy returns it.
  put Ann "$elsewhere"
  put Bob "$ahead"
  sleep 1
  sees Ann carrier
  where Bob
  local fallen=$place side x y z
  shoot Ann Bob
  sleep 1
  # It flies to the left and ahead of him. A teleported player slides ahead.
  read -r x y z _ <<<"$fallen"
  for side in 80 40 110 0; do
    put Ann "$((x - 60)) $((y + side)) $z"
    hears 1 "${client_log[Ann]}" '^Ann returned' && break
  done
  both 5 'she returned the flag' '^Ann returned the RED flag'
  put Ann "$red_flag"
  both 5 'she captured the flag' '^Ann captured the BLUE flag'
  sleep 0.5
  sees Ann captured
  revive Bob

  for name in Ann Bob; do here "${client_log[$name]}"; done
  order Ann 'say_team for-red-alone'
  tells Ann 5 'hears her own word to the team' '^\(Ann\).*for-red-alone'
  order Ann 'say for-everybody'
  tells Bob 5 'hears what she says to everybody' '^Ann: for-everybody'
  check 'Bob: hears nothing said to the red team' says_not "${client_log[Bob]}" 'for-red-alone'

  put Ann "$blue_flag"
  both 5 'she got the flag again' '^Ann got the BLUE flag'
  put Ann "$red_flag"
  both 5 'she captured the flag again' '^Ann captured the BLUE flag'
  both 5 'the limit is hit' '^(Red hit the capturelimit|Capturelimit hit)'
  sleep 2
  sees Ann intermission
  end_game 'Ann Bob'
}

# says_not LOG REGEX: `says` negated.
says_not() { ! says "$@"; }

play_team() {
  map_with oa_dm1 duel_oa_dm1 "$duel" || { fail 'oa_dm1: cannot be taken from its archive'; return; }
  server_start "$kind" "$wire" duel_oa_dm1 8 g_gametype 3 fraglimit 2 timelimit 0 sv_floodProtect 0 ||
    { fail "$kind: does not answer"; return; }
  for name in Ann Bob; do watches "$name" || return; done
  takes_side Ann red
  takes_side Bob blue
  sleep 1.5
  shoot Ann Bob
  sleep 0.5
  sees Ann scored
  revive Bob
  # On the same team they cannot damage each other.
  sleep 4
  takes_side Bob red
  revive Bob
  where Bob && face Ann "$place"
  here "${client_log[Ann]}"
  hold Ann attack 1.5
  check 'Ann: does not kill who is of her team' says_not "${client_log[Ann]}" '^Bob .*Ann'
  sees Ann friend
  sleep 3
  takes_side Bob blue
  revive Bob
  order Ann 'give ammo'
  shoot Ann Bob
  both 5 'the limit is hit' '^(Red hit the fraglimit|Fraglimit hit)'
  end_game 'Ann Bob'
}

play_tourney() {
  map_with oa_dm1 duel_oa_dm1 "$duel" || { fail 'oa_dm1: cannot be taken from its archive'; return; }
  server_start "$kind" "$wire" duel_oa_dm1 8 g_gametype 1 fraglimit 1 timelimit 0 g_warmup 3 \
    sv_floodProtect 0 || { fail "$kind: does not answer"; return; }
  for name in Ann Bob Cid; do watches "$name" || return; done
  check 'the server: counts three players' await 10 counts 3
  sees Cid waiting
  sleep 4
  here "${client_log[Cid]}"
  shoot Ann Bob
  tells Cid 5 'is told that the limit is hit' '^(Ann hit the fraglimit|Fraglimit hit)'
  sleep 6
  sees Ann intermission
  for _ in 1 2 3 4; do
    hold Ann attack 0.2
    hold Bob attack 0.2
    sleep 1
  done
  # The loser goes to the end of the queue, and after the warm-up the next duel begins.
  sleep 8
  sees Bob waiting-now
  here "${client_log[Bob]}"
  shoot Ann Cid
  tells Bob 5 'is told that the limit is hit' '^(Ann hit the fraglimit|Fraglimit hit)'
  end_game 'Ann Bob Cid'
}

begin teams "$out"
need Xvfb stdbuf identify unzip perl "$client_engine" "$client_data"
case $kind in
  fragd) find_fragd ;;
  ioq3ded) need "$peer_engine" "$peer_data" ;;
  *) echo "$0: no server '$kind'" >&2; exit 2 ;;
esac
begun_at=$(now)
for one in "${games[@]}"; do
  level=$one
  echo "-- $one, $kind, wire $wire"
  sweep
  "play_$one"
done
note "took $(since "$begun_at") s"
finish
