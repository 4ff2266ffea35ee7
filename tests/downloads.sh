#!/bin/bash
# Download check: unmodified ioquake3 clients get the built-in map from the server and play on it.
#
#   tests/downloads.sh [--out DIRECTORY]
#
# One client joins over UDP for each protocol, one over HTTP, and one a pure server with OpenArena's data. The
# other servers have no game data. Each client starts with an empty home folder.
#
# Needs the packages of `real_client.sh`. About three minutes.
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

level=fragd1
file=baseoa/$level.pk3

# has_file NAME: whether the client has the archive, byte for byte.
has_file() { cmp -s "${client_home[$1]}/.oa/$file" "$root/maps/$level.pk3"; }

# A client always comments on HTTP downloads, `download redirection`, whether the server has them or not.
# get NAME WIRE TEXT SERVER_LINE [NAME VALUE]...: a client downloads the map from a new server.
get() {
  local name=$1 wire=$2 text=$3 line=$4
  shift 4
  check "$name: server starts" server_start fragd "$wire" "$level" 4 "$@" || return
  if check "$name: client starts" client_start "$name" "$wire"; then
    order "$name" 'set cl_allowDownload 1'
    expect_game "$name"
    order "$name" "connect $server_address"
    check "$name: enters the game after a download" in_game "$name"
    check "$name: $text" hears 1 "$server_log" "$line"
    check "$name: file is that of the server" has_file "$name"
    sees "$name" "$name"
    check "$name: no error" [ -z "$(client_faults "$name" | grep -v 'download redirection')" ]
    client_end "$name"
  fi
  check "$name: no fault of the server" [ -z "$(server_faults)" ]
  sweep
}

begin downloads "$out"
find_fragd
over_udp="downloaded $file in [0-9]+ ms: 0 blocks sent again"
for wire in compat native 68; do
  get "udp-$wire" "$wire" 'no block is repeated' "$over_udp" fs_basepath /nonexistent sv_dlRate 0
done
free_port
get http compat 'gets the file over HTTP' "requests $file over HTTP: 200" \
  fs_basepath /nonexistent sv_http "127.0.0.1:$port"
get pure compat 'gets the file over UDP' "$over_udp" fs_basepath "$client_data" sv_pure 1 sv_dlRate 0
finish
