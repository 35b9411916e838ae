#!/bin/bash
# Runs on this machine, without MPI: bats-mpi -j 2 beside xargs, GNU parallel
# and make.
#
#   bash benchmarks/jobs.sh [REPEATS]      default 10
#
# One task, with its record; 400 and 4,000 times true on 2 workers; a
# diamond of 1,000 rules between one that makes its source and one that needs
# all, as a Makeflow. All contenders run once per repeat, in turn. Printed: the
# median and range of the time from outside, start-up and all, of the CPU time
# of everything, and of their ratios to the first contender in the same repeat.
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
. benchmarks/results.sh
build=$(cd "${B:-build}" && pwd) || exit 1
repeats=${1:-10}
top=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export PARALLEL_HOME=$tmp SHELL=/bin/sh

for n in 1 400 4000; do
    yes true | head -n $n >bag.$n
done
awk 'BEGIN {
    printf "source:\n\ttrue >source\n\nend:"
    for (i = 0; i < 1000; i++)
        printf " n%d", i
    printf "\n\ttrue >end\n"
    for (i = 0; i < 1000; i++)
        printf "\nn%d: source\n\ttrue >n%d\n", i, i
}' >diamond.mf
{ echo 'all: end'; cat diamond.mf; } >diamond.mk

by_bats() { "$build/bats-mpi" -j 2 "bag.$1"; }
by_xargs() { seq "$1" | xargs -n 1 -P 2 true; }
by_parallel() { parallel --will-cite -j 2 <"bag.$1"; }
bats_diamond() { "$build/bats-mpi" run diamond.mf -j 2; }
make_diamond() { make -s -j 2 -f diamond.mk; }

# sample GROUP NAME COMMAND...: into the files wall and cpu, in ms.
TIMEFORMAT='%3R %3U %3S'
sample() {
    local group=$1 name=$2 real user system
    shift 2
    rm -f n[0-9]* source end ./*.bats*
    { time "$@" >log 2>&1 </dev/null || echo failed >>log; } 2>times
    ! grep -qx failed log ||
        { echo "jobs.sh: $name failed on $group" >&2; cat log >&2; exit 1; }
    read -r real user system <times
    printf '%s\t%s\t%s\n' "$group" "$name" "$(awk "BEGIN { print 1000 * $real }")" >>wall
    printf '%s\t%s\t%s\n' "$group" "$name" \
        "$(awk "BEGIN { print 1000 * ($user + $system) }")" >>cpu
}

for repeat in $(seq "$repeats"); do
    for n in 1 400 4000; do
        sample "$n x true" xargs by_xargs $n
        sample "$n x true" bats-mpi by_bats $n
        ! command -v parallel >/dev/null ||
            sample "$n x true" parallel by_parallel $n
    done
    sample diamond make make_diamond
    sample diamond bats-mpi bats_diamond
done
cd "$top" || exit 1
printf '%s\n' '| | contender | ms | range | ratio | range |' \
    '|---|---|--:|--:|--:|--:|'
for what in wall cpu; do
    summary "$tmp/$what" | awk -F '\t' -v what=$what '{
        printf "| %s, %s | %s | %.0f | %.0f - %.0f | %.2f | %.2f - %.2f |\n",
            $1, what, $2, $4, $5, $6, $7, $8, $9
    }'
done
printf '\nMedians of %s repeats; ratios to the first of the group.\n' "$repeats"
