#!/bin/sh
# The value of better knowledge: policy bats told the true means and the true
# variation, on the bags of money.sh. See told.c.
#
#   sh benchmarks/money/told.sh [SEEDS]     (2 min; SEEDS of the scoreboard: 20)
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build} seeds=${1:-20}
files="benchmarks/money/bags.tsv benchmarks/money/small.tsv drawn=60"
mkdir -p "$build/sim" || exit 1
tell() { # NAME ARGUMENT...
    name=$1
    shift
    TOLD=$name "$build/bench/money/told" "$@" $files scoreboard="$seeds" |
        sed "s/,bats,/,$name,/"
}
{
    tell nothing -p rr,bkp,bats && tell start -p bats &&
        tell results -p bats && tell both -p bats && tell runtimes -i -p bats
} >"$build/sim/told.csv" || exit 1
awk -f benchmarks/money/told.awk "$build/sim/told.csv"
