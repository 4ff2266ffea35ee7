#!/bin/bash
# Engine comparison: loops of operations of the module format in fragd and in ioquake3's server, one after the other.
#
#   benches/compare_engines.sh [--engine 1|2] [--rounds 3] [--out DIRECTORY]
#
# --engine  1 compares the interpreters, 2 (default) the compilers
# --rounds  runs of each; the fastest counts
# --out     directory for the module and the logs
#
# One module has a loop for each group of operations and prints a line before and after it. fragd runs it by
# `fragd qvm run`, ioquake3's server as its game. Ratios below 1 mean that fragd is faster.
#
# Needs ioquake3-server, openarena-server, zip and perl.
set -u
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/../tests/harness.sh"

engine=2 rounds=3 out=
while [ $# -gt 0 ]; do
  case $1 in
    --engine) engine=${2:?}; shift 2 ;;
    --rounds) rounds=${2:?}; shift 2 ;;
    --out) out=${2:?}; shift 2 ;;
    *) echo "$0: unknown option $1" >&2; exit 2 ;;
  esac
done
case $engine in
  1) iterations=1000000 own_engine=interpreter ;;
  2) iterations=10000000 own_engine=compiled ;;
  *) echo "$0: --engine is 1 or 2" >&2; exit 2 ;;
esac

# Groups: name, and the operations of one pass. Locals 20, 24 and 28 are a number, a float and a scratch word.
groups='integers|local 20,local 20,load4,const 12345,add,const 77,bxor,const 3,lsh,const 5,sub,store4
products|local 20,local 20,load4,const 7,muli,const 3,divi,const 1000003,modi,store4
floats|local 24,local 24,load4,const 1.0001f,mulf,const 0.5f,addf,const 1.5f,divf,store4
conversions|local 20,local 24,load4,cvfi,const 3,add,store4,local 24,local 20,load4,cvif,store4
words|const cells,const cells + 4,load4,store4,const cells + 8,const cells,load4,store4
bytes|const cells + 1,const cells + 2,load1,sex8,store1,const cells + 6,const cells + 8,load2,sex16,store2
branches|local 20,load4,const 1,lti @skip#,local 28,const 3,store4,@skip#:,local 20,load4,const 99,eq @over#,local 28,const 4,store4,@over#:
copies|const cells + 512,const cells,block_copy 256
calls|const 3,arg 8,const leaf,call,pop
services|const 1.5f,arg 8,const root,call,pop'
passes=8

# listing: the module as text.
listing() {
  local name body pass texts='' number=0
  printf '.service print 0\n.service error 1\n.service root 106\nmain:\n enter 64\n'
  while IFS='|' read -r name body; do
    printf ' const %s_begins\n arg 8\n const print\n call\n pop\n' "$name"
    printf ' local 20\n const 1\n store4\n local 24\n const 1.0f\n store4\n'
    printf ' local 16\n const %d\n store4\n@%s:\n' "$iterations" "$name"
    for ((pass = 0; pass < passes; pass++)); do
      number=$((number + 1))
      tr , '\n' <<<"${body//#/$number}"
    done
    printf ' local 16\n local 16\n load4\n const 1\n sub\n store4\n local 16\n load4\n const 0\n ne @%s\n' "$name"
    printf ' const %s_ends\n arg 8\n const print\n call\n pop\n' "$name"
    texts+="${name}_begins: .string \"begin $name\\n\""$'\n'"${name}_ends: .string \"end $name\\n\""$'\n'
  done <<<"$groups"
  printf ' const stop\n arg 8\n const error\n call\n leave 64\n'
  printf 'leaf:\n enter 8\n local 16\n load4\n leave 8\n'
  printf '.data\n .word 0\n.lit\n%sstop: .string "end of the benchmark"\n .align 4\n.bss\ncells: .space 1024\n' "$texts"
}

# timed: replaces the lines of the module by the milliseconds of each group.
timed() {
  perl -MTime::HiRes=time -ne '
    if (/begin (\w+)/) { $begun = time }
    elsif (/end (\w+)\s*$/ && defined $begun) { printf "%s %.1f\n", $1, 1000 * (time - $begun); undef $begun; $| = 1 }'
}

run_own() {
  stdbuf -oL "$fragd" qvm run "$work/bench.qvm" 0 --engine "$own_engine" --budget 1000000000000 2>&1 | timed
}

run_peer() {
  free_port
  HOME=$work/home timeout 120 stdbuf -oL -eL "$peer_engine" +set dedicated 1 +set com_basegame baseoa \
    +set fs_basepath "$peer_data" +set com_homepath .oa +set net_ip 127.0.0.1 +set net_port "$port" \
    +set sv_pure 0 +set sv_master1 '' +set vm_game "$engine" +map oa_dm1 +quit 2>&1 </dev/null | timed
}

begin engines "$out"
need "$peer_engine" "$peer_data" zip perl
find_fragd dist compiler
listing >"$work/bench.asm"
"$fragd" qvm asm "$work/bench.asm" -o "$work/bench.qvm" || { fail 'the module is assembled'; finish; }
mkdir -p "$work/home/.oa/baseoa" "$work/vm"
cp "$work/bench.qvm" "$work/vm/qagame.qvm"
(cd "$work" && zip -q home/.oa/baseoa/zz_bench.pk3 vm/qagame.qvm)
for ((round = 0; round < rounds; round++)); do
  run_own >>"$work/own.txt"
  run_peer >>"$work/peer.txt"
done
groups_run=$(cut -d' ' -f1 "$work/peer.txt" | sort -u | wc -l)
check "both engines run all $(wc -l <<<"$groups") groups (ioquake3: $groups_run)" \
  [ "$groups_run" -eq "$(wc -l <<<"$groups")" -a "$(cut -d' ' -f1 "$work/own.txt" | sort -u | wc -l)" -eq "$groups_run" ]
printf '%-12s %10s %12s %8s\n' group 'fragd ms' 'ioquake3 ms' ratio
awk '
  { if (!(FILENAME in seen)) { seen[FILENAME]; files++ } }
  files == 1 { if (!($1 in own) || $2 < own[$1]) own[$1] = $2; next }
  { if (!($1 in peer)) order[++n] = $1; if (!($1 in peer) || $2 < peer[$1]) peer[$1] = $2 }
  END {
    for (i = 1; i <= n; i++) {
      name = order[i]
      printf "%-12s %10.1f %12.1f %8.2f\n", name, own[name], peer[name], own[name] / peer[name]
      a += own[name]; b += peer[name]
    }
    if (b) printf "%-12s %10.1f %12.1f %8.2f\n", "all", a, b, a / b
  }' "$work/own.txt" "$work/peer.txt" | tee "$work/table.txt"
finish
