#!/bin/bash
# Set-ups of the documentation: the commands of docs/administration.md and docs/maintenance.md, run as written.
#
#   tests/setups.sh [--out DIRECTORY]
#
# The commands run as root on a fresh machine: a folder with the system's /usr, an empty /etc, /var and /home, and a
# network of its own. Where systemd and docker do not run, tests/stand_ins has programs of their names, which give a
# server the environment and the restrictions of its unit or image. Needs root.
# shellcheck disable=SC2317 # functions are called by `check`
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

out= inside=
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?}; shift 2 ;;
    --inside) inside=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done

# --- The machine: runs outside, then inside -----------------------------------------------------

# make_machine FOLDER: a root folder for this process, whose mounts end with it.
make_machine() {
  local machine=$1 one
  mount -t tmpfs -o mode=755 tmpfs "$machine"
  mkdir -p "$machine"/{usr,etc,var/lib,var/log,run,tmp,srv,home,root,proc,dev,sys}
  chmod 1777 "$machine/tmp"
  for one in bin sbin lib lib64; do cp -a "/$one" "$machine/$one"; done
  mount --bind /usr "$machine/usr"
  mount -o remount,bind,ro "$machine/usr"
  mount -t tmpfs -o mode=755 tmpfs "$machine/usr/local"
  mkdir -p "$machine"/usr/local/{bin,sbin}
  mount -t proc proc "$machine/proc"
  mount --rbind /dev "$machine/dev"
  cp -a /etc/{passwd,group,nsswitch.conf,hosts,ld.so.cache,ld.so.conf,ld.so.conf.d,alternatives} "$machine/etc"
  # The source folder with a built program, as after the commands of "Getting started".
  mkdir -p "$machine/root/source/target/dist"
  cp -a "$root"/{config,docs,maps,tests,Dockerfile,LICENSE-MIT,LICENSE-APACHE} "$machine/root/source"
  cp "$program" "$machine/root/source/target/dist/fragd"
  cp "$root"/tests/stand_ins/* "$machine/usr/local/sbin"
}

if [ -z "$inside" ]; then
  begin setups "$out"
  need unshare nsenter python3 logrotate curl jq ip
  find_fragd
  program=$fragd
  export program root
  machine=$work/machine
  mkdir -p "$machine"
  export -f make_machine
  # shellcheck disable=SC2016 # expanded inside
  unshare --mount --pid --net --fork --kill-child bash -c '
    set -e
    mount --make-rprivate /
    make_machine "$1"
    ip link set lo up
    mkdir -p "$1/root/out"
    code=0
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root TERM=dumb \
      chroot "$1" /root/source/tests/setups.sh --inside /root/out || code=$?
    cp -r "$1/root/out" "$2/logs"
    cp -r "$1/run/units" "$1/run/docker"/*.log "$2/logs" 2>/dev/null || true
    exit $code
  ' sh "$machine" "$work" | tee "$work/inside.txt"
  passed=$(grep -c '^ok ' "$work/inside.txt") failed=$(grep -c '^FAIL ' "$work/inside.txt")
  grep -q '^END$' "$work/inside.txt" || fail 'the set-ups ran to their end'
  finish
fi

# --- Inside ------------------------------------------------------------------------------------

work=$inside
cd /root/source || exit
administration=docs/administration.md maintenance=docs/maintenance.md
trap 'kill $(jobs -p) 2>/dev/null' EXIT

# block PAGE HEADING [N]: the N-th block of commands below a heading.
block() {
  awk -v heading="$2" -v wanted="${3:-1}" '
    /^#+ / { sub(/^#+ /, ""); here = $0 == heading; next }
    here && /^ *```sh$/ { count++; printing = count == wanted; next }
    /^ *```$/ { printing = 0 }
    printing' "$1"
}

# commands NAME PAGE HEADING [N]: runs a block in a shell that stops at the first failure; output in NAME.log.
commands() {
  local name=$1
  shift
  block "$@" >"$work/$name.sh"
  [ -s "$work/$name.sh" ] || { echo "no commands below $2 in $1"; return 1; }
  bash -eo pipefail "$work/$name.sh" >"$work/$name.log" 2>&1 || { tail -n 20 "$work/$name.log"; return 1; }
}

answers() { fragd query "${1:-127.0.0.1}" --timeout 500 >"$work/query.txt" 2>&1; }
silent() { ! answers "$@"; }
console() { echo "$1" | fragd console /run/fragd/console --silence 400; }
lists_ban() { console listbans | grep -q '192.0.2.7'; }
main_process() { systemctl status fragd | jq -r .main; }

# Home server.
install -Dm755 target/dist/fragd /usr/local/bin/fragd
mkfifo "$work/input"
exec 5<>"$work/input"
commands home "$administration" 'Home server' <&5 &
home=$!
check 'home server answers' await 20 answers
check 'home server has the name of its script' grep -q Friends "$work/query.txt"
check 'home server plays the first map' grep -q oa_dm1 "$work/query.txt"
echo 'vstr nextmap' >&5
plays_second() { answers && grep -q oa_dm4 "$work/query.txt"; }
check 'home server rotates to the second map' await 10 plays_second
echo 'quit' >&5
check 'home server ends by "quit"' wait "$home"
commands home_again "$administration" 'Home server' <&5 &
home=$!
check 'its rotation goes on after a restart' await 20 plays_second
echo 'quit' >&5
wait "$home"
rm /usr/local/bin/fragd

# Public server.
PATH=$PATH:/root/source/target/dist
check 'public server starts' commands public "$administration" 'Public server' 1
check 'public server reports its state' grep -q '^STATUS=.*oa_dm1' /run/units/fragd.service.notify
check 'its commands work' commands public_use "$administration" 'Public server' 2
console 'ban 192.0.2.7 7d spam' >/dev/null
# Longer than the second within which a change reaches the disk.
sleep 1.5
killed=$(main_process)
kill -KILL "$killed"
other_process() { [ "$(main_process)" != "$killed" ] && answers; }
check 'it is started again after kill -9' await 10 other_process
check 'its ban outlives kill -9' await 5 lists_ban
# The watchdog is answered each 15 s, which the checks below take.
first_pings=$(grep -c '^WATCHDOG=1' /run/units/fragd.service.notify)
console 'sv_hostname Renamed' >/dev/null
is_renamed() { answers && grep -q Renamed "$work/query.txt"; }
check 'a restart keeps the ban' eval 'systemctl restart fragd && await 5 lists_ban'
check 'a restart keeps a changed setting' is_renamed

# Log rotation.
install -Dm644 config/logrotate/fragd /etc/logrotate.d/fragd
rotate() { logrotate --force --state /var/lib/logrotate.status /etc/logrotate.d/fragd; }
check 'logrotate rotates the game log' rotate
new_log() { [ -e /var/log/private/fragd/games.log ]; }
check 'the server opens a new game log' await 5 new_log
console 'map oa_dm4' >/dev/null
grows() { [ -s /var/log/private/fragd/games.log ]; }
check 'the server writes to it' await 5 grows

# Backup: everything is lost and restored.
check 'backup' commands backup "$maintenance" Backup 1
systemctl stop fragd
rm -rf /etc/fragd /var/lib/fragd /var/lib/private
check 'restore' commands restore "$maintenance" Backup 2
check 'the restored server has the ban' eval 'systemctl start fragd && await 5 lists_ban'

# Upgrade.
check 'upgrade: check' commands upgrade_check "$maintenance" Upgrade 1
before=$(main_process)
check 'upgrade: replacement' commands upgrade "$maintenance" Upgrade 2
check 'upgrade: another process, same ban' eval '[ "$(main_process)" != "$before" ] && await 5 lists_ban'
check 'the old program is kept' cmp -s target/dist/fragd /usr/local/bin/fragd.old
pinged() { [ "$(grep -c '^WATCHDOG=1' /run/units/fragd.service.notify)" -gt "$first_pings" ]; }
check 'the watchdog is answered' await 40 pinged
check 'the watchdog was never missed' eval '! grep -q "watchdog missed" /run/units/fragd.service.notify'
systemctl stop fragd
check 'the public server ends' silent
check 'nothing was written outside its folders' eval '! grep -aiE "read-only|permission|EAFNOSUPPORT" /run/units/fragd.service.log'

# Pipeline.
pipeline() { cd "$work" && commands pipeline "/root/source/$administration" 'Test server in a pipeline'; }
check 'pipeline: the load test passes' eval '(pipeline)'
check 'pipeline: report' grep -q '<testsuite' "$work/bots.xml"
check 'pipeline: no state is left but that of the home server' [ "$(ls ~/.local/state/fragd)" = 27960 ]

# Container.
check 'container: start, query, stop' commands container "$administration" 'Container with game data'
check 'container: the mounted data is played' grep -q oa_dm1 "$work/container.log"
check 'container: it drained, nothing was killed' grep -q stopped /run/docker/fragd.log
echo END
