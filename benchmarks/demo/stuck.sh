#!/bin/sh
# A bag with one task that hangs, without and with copies of it.
#
#   sh benchmarks/demo/stuck.sh
#
# 24 tasks of half a second on four workers. The 18th hangs for 20 seconds where
# it runs first; a copy of it (BATS_REPLICA is not 0) does not. A second counts
# as ten minutes, so that the scheduler, which has a look every five, does so
# twice a second.
cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
build=${B:-build}
out=$build/demo-stuck
mkdir -p "$out" || exit 1
bag=$out/stuck.txt

for i in $(seq 24); do
    if [ "$i" -eq 18 ]; then
        echo "[ \$BATS_REPLICA -gt 0 ] || sleep 20; echo $i: copy \$BATS_REPLICA"
    else
        echo "sleep 0.5; echo $i: copy \$BATS_REPLICA"
    fi
done >"$bag"

for tail in none soonest; do
    printf '\n$ %s run -j 4 %s --tail %s --time-scale 300\n\n' \
        "$build/bats-mpi" "$bag" "$tail"
    "$build/bats-mpi" run -j 4 "$bag" --tail "$tail" --time-scale 300 \
        --no-record --seed 1 --json "$out/stuck-$tail.json" \
        >"$out/stuck-$tail.txt" || exit
    grep '^18:' "$out/stuck-$tail.txt"
done
