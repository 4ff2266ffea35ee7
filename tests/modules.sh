#!/bin/bash
# Game module check with unmodified ioquake3 clients and with bots, beside ioquake3's server with the same module.
#
#   tests/modules.sh [--module baseq3|missionpack|baseoa]... [--engine 1|2] [--seconds 30]
#                    [--only rules|players|modes|mods]... [--out DIRECTORY]
#
# --module   only these modules
# --engine   engine of fragd: 1 interprets (baseq3 by default), 2 compiles (the others)
# --seconds  duration of the walk on each of the two maps
# --only     rules: native rules equal those of baseq3 and baseoa, but for known differences;
#            players: a client walks on two maps; modes: bots play OpenArena's elimination, one-flag
#            and domination; mods: clients follow `fs_game` and download the mod
# --out      directory for logs and pictures
#
# On both servers at once a client joins, walks, watches, joins again, passes a vote, and follows a change of map.
# It logs each mispredicted step: fragd may not have more of them than ioquake3's server. Pictures are kept
# for inspection. Modules are data of other projects: $FRAGD_MODULES names the folder that contains
# `baseq3/qagame.qvm` and the others.
#
# Needs the packages of `real_client.sh`, and zip. About two minutes per module.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=tests/navigation.sh
. "$(dirname "$0")/navigation.sh"

modules=() engine='' seconds=30 parts=() out=
while [ $# -gt 0 ]; do
  case $1 in
    --module) modules+=("${2:?}"); shift 2 ;;
    --engine) engine=${2:?}; shift 2 ;;
    --seconds) seconds=${2:?}; shift 2 ;;
    --only) parts+=("${2:?}"); shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
[ ${#modules[@]} -gt 0 ] || modules=(baseq3 missionpack baseoa)
[ ${#parts[@]} -gt 0 ] || parts=(rules players modes mods)

first_map=oa_dm4 second_map=aggressor

# walk_on MAP: walks there; adds the mispredictions to `misses` and the distance to `units`.
walk_on() {
  local of_map walked_here
  watch_steps Kim
  walk Kim "$seconds"
  picture Kim "$label-$1"
  read -r of_map _ <<<"$(misses_of Kim)"
  read -r _ _ walked_here <<<"$walked"
  misses=$((misses + of_map)) units=$((units + walked_here))
}

# visit KIND LABEL: plays the game of that server; leaves mispredictions and walked units in the file LABEL.
visit() {
  local on=$1 label=$2 misses=0 units=0 console
  server_start "$on" compat "$first_map" 8 timelimit 0 fraglimit 0 g_allowVote 1 sv_floodProtect 0 ||
    { fail "$on: does not answer"; return; }
  client_start Kim compat && join Kim || { fail "Kim: enters the game on $on"; return; }
  console=${client_log[Kim]}
  local joined=${mark[$console]}
  sleep 1.1
  walk_on "$first_map"

  here "$server_log"
  order Kim 'team spectator'
  check "Kim: watches on $on" hears 5 "$server_log" 'ClientUserinfoChanged: 0 n.Kim.t.3'
  sleep 5.2 # between changes of team
  order Kim 'team free'
  check "Kim: plays again on $on" hears 5 "$server_log" 'ClientUserinfoChanged: 0 n.Kim.t.0'
  sleep 1
  here "$console"
  order Kim 'callvote fraglimit 17'
  tells Kim 8 "passes a vote on $on" '^Vote passed'
  check "$on: has the fraglimit of the vote" await 5 has_setting fraglimit 17

  expect_game Kim
  server_order "devmap $second_map"
  check "Kim: follows $on to $second_map" in_game Kim
  sleep 1.1
  walk_on "$second_map"
  cp "$console" "$work/$label.log"
  mark[$console]=$joined
  no_faults Kim "plays the game of $on"
  local faults
  faults=$(server_faults)
  [ -z "$faults" ] || note "$on: $(head -n 5 <<<"$faults" | tr '\n' '|')"
  check "$on: nothing bad in its log" [ -z "$faults" ]
  echo "$misses $units" >"$work/$label.result"
  client_end Kim >/dev/null
  sweep
}

play_module() {
  local module=$1 misses units peer_misses peer_units engine=$engine ours
  [ -n "$engine" ] || { engine=2; [ "$module" != baseq3 ] || engine=1; }
  echo "-- $module, vm_game $engine"
  host_module "$module" "$engine"
  apart "$work/$module.out" visit fragd "$module-fragd"
  ours=$launched
  game_settings=(+set vm_game 2)
  apart "$work/$module-peer.out" visit ioq3ded "$module-ioq3ded"
  rejoin "$launched" "$work/$module-peer.out"
  rejoin "$ours" "$work/$module.out"
  read -r misses units <"$work/$module-fragd.result" || return
  read -r peer_misses peer_units <"$work/$module-ioq3ded.result" || return
  check "$module: walks $units units (ioq3ded: $peer_units)" [ "$units" -ge $((160 * seconds)) ]
  check "$module: $misses mispredictions, $peer_misses on ioq3ded" [ "$misses" -le "$peer_misses" ]
}

# play_mode TYPE MAP NAME REGEX: bots play the game type, and the server's log gets such a line.
play_mode() {
  local report=$work/mode-$1.json
  server_start fragd compat "$2" 16 g_gametype "$1" timelimit 0 g_doWarmup 0 sv_maxclientsPerIP 0 ||
    { fail "$3: the server does not answer"; return; }
  timeout 60 "$fragd" bots --connect "$server_address" -n 8 --seconds 30 --json --do wander,fight \
    --basepath "$client_data" >"$report" 2>"$work/mode-$1.log" </dev/null
  check "$3: all bots play" jq -e '.active == 8 and .refused == 0 and .dropped == 0' "$report" >/dev/null
  check "$3: is what the server announces" has_setting g_gametype "$1"
  check "$3: the game log has $(grep -acE "$4" "$server_log") lines of its kind" hears 1 "$server_log" "$4"
  check "$3: no fault of the module" [ -z "$(server_faults)" ]
  sweep
}

play_modes() {
  echo '-- game types of baseoa'
  host_module baseoa 2
  play_mode 8 oa_dm4 elimination 'ELIMINATION:'
  play_mode 5 oa_ctf2 one-flag 'Kill:|1FCTF:'
  play_mode 12 pul1duel-oa domination 'DOM:'
}

# follow_mod NAME TEXT SERVER_LINE [SETTING VALUE]...: a client without the mod joins a server with it.
follow_mod() {
  local name=$1 text=$2 line=$3 config own=$work/mod-server
  shift 3
  client_data=$own
  check "$name: server starts" server_start fragd compat "$first_map" 4 timelimit 0 fs_game "$mod" "$@" || return
  check "$name: the server runs the module of the mod" hears 1 "$server_log" 'game rules: vm/qagame.qvm'
  check "$name: the server runs the configuration of the mod" has_setting fraglimit 17
  client_data=$work/module-baseoa
  check "$name: client starts" client_start "$name" compat || return
  # The engine forgets its settings with the game folder, and runs this file again.
  config=${client_home[$name]}/.oa/$game_folder/autoexec.cfg
  sed -i 's/^set cl_allowDownload 0/set cl_allowDownload 1/' "$config"
  echo 'set activeAction "echo first frame in the game"' >>"$config"
  order "$name" 'set cl_allowDownload 1'
  check "$name: enters the game of the mod after a download" join "$name"
  check "$name: $text" hears 1 "$server_log" "$line"
  check "$name: has the file of the server" \
    cmp -s "${client_home[$name]}/.oa/$mod/zz_$mod.pk3" "$own/$mod/zz_$mod.pk3"
  here "${client_log[$name]}"
  order "$name" fs_game
  tells "$name" 5 'is in the folder of the mod' "\"fs_game\" is:\"$mod"
  sleep 2
  walk "$name" 5
  check "$name: stays connected" counts 1
  # A client comments on HTTP downloads, whether the server has them or not.
  check "$name: no error in the console" [ -z "$(client_faults "$name" | grep -v 'download redirection')" ]
  check "$name: no fault of the server" [ -z "$(server_faults)" ]
  sweep
}

play_mods() {
  local mod=checkmod own=$work/mod-server
  echo '-- a mod by name'
  host_module baseoa 2
  # The folder of the mod selects its module.
  game_settings=(+set game baseoa)
  mkdir -p "$own/$mod"
  ln -s "$work/module-baseoa/$game_folder" "$own/$game_folder"
  ln -s "$game_folder" "$own/baseoa"
  # The module is in the folder of the mod alone.
  mv "$work/module-baseoa/$game_folder/zz_module.pk3" "$own/$mod/zz_$mod.pk3"
  echo 'set fraglimit 17 // of the mod' >"$own/$mod/autoexec.cfg"
  follow_mod udp 'gets the mod over UDP' "downloaded $mod/zz_$mod.pk3 in [0-9]+ ms" sv_dlRate 0
  free_port
  follow_mod http 'gets the mod over HTTP' "requests $mod/zz_$mod.pk3 over HTTP: 200" sv_http "127.0.0.1:$port"
  mv "$own/$mod/zz_$mod.pk3" "$work/module-baseoa/$game_folder/zz_module.pk3"
}

# equals GAME ENGINE [OPTION]...: the rules have no unexplained difference from the module.
equals() {
  local game=$1 engine=$2
  shift 2
  "$fragd" qvm compare "$FRAGD_MODULES/$game/qagame.qvm" --game "$game" --engine "$engine" "$@" \
    >>"$work/rules-$game-$engine.txt" 2>&1
}

compare_rules() {
  local game kind
  echo '-- native rules and modules'
  for game in baseq3 baseoa; do
    for kind in interpreter compiled; do
      check "$game: no unexplained difference, $kind" equals "$game" "$kind"
    done
    check "$game: no unexplained difference in random plays" \
      equals "$game" interpreter --random 40 --players 4 --seconds 20
  done
  check 'baseoa: no unexplained difference in random plays on a map' \
    equals baseoa interpreter --random 20 --players 6 --seconds 20 --level oa_dm4
}

begin modules "$out"
need Xvfb stdbuf identify unzip zip jq perl "$client_engine" "$client_data" "$peer_engine" "${FRAGD_MODULES:?}"
find_fragd release compiler
for part in "${parts[@]}"; do
  case $part in
    players) for one in "${modules[@]}"; do play_module "$one"; done ;;
    modes) play_modes ;;
    mods) play_mods ;;
    rules) compare_rules ;;
    *) echo "$0: no part $part" >&2; exit 2 ;;
  esac
done
finish
