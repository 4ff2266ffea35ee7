#!/bin/bash
# Runs fuzz targets one after the other: fuzz/run.sh SECONDS [TARGET]...
# A crash is kept in fuzz/artifacts/TARGET; the exit code says whether there was one. Where servers serve many
# inputs, those before it are in fuzz/artifacts/before-PID: fuzz/target/.../TARGET before-PID/* crash-...
# Leaks are not looked for: a server that lives on looks like one, and each look takes the time of many inputs.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?seconds for each target}
shift
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)
python3 fuzz/seeds.py
failed=0
for target in "$@"; do
  echo "== $target"
  nice cargo +nightly fuzz run "$target" -- \
    -max_total_time="$seconds" -timeout=5 -detect_leaks=0 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 2>&1 |
    grep -aE 'panicked|ERROR|SUMMARY|Test unit|stat::(number|average|peak)|DONE'
  [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
done
exit $failed
