#!/bin/sh
# Deadlines and budgets on real bags and on the scoreboard's: policy bats with
# the least cost as its goal, and the four deadline-and-budget policies of the
# grid, runtimes unknown. See benchmarks/money/runs.c, -d. And what can be done
# with whole tasks by somebody who knows the runtime of each (-w).
#
#   sh benchmarks/dbc/deadlines.sh [-o FILE] [SEEDS]
#
# Deadlines are 1 to 3 times the soonest end that anybody can reach who knows
# all runtimes, budgets 1 to 3 times the least that each deadline costs him.
# With SEEDS (default 4) bags for each setting of the scoreboard; 130 real bags
# on a platform each. Every run goes into FILE (default
# build/sim/deadlines.csv).
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
file=$build/sim/deadlines.csv
[ "$1" = -o ] && file=$2 && shift 2
dbc=dbc-cost,dbc-time,dbc-conservative-time,dbc-cost-time
mkdir -p "$(dirname "$file")" || exit 1
{
    "$build/bench/money/runs" -d -g 1 -p "bats,$dbc" \
        benchmarks/money/bags.tsv scoreboard="${1:-4}" &&
        "$build/bench/money/runs" -d -i -g 1 -p bats \
            benchmarks/money/bags.tsv scoreboard="${1:-4}" |
        sed 's/,bats,/,informed,/' &&
        "$build/bench/money/runs" -w -g 1 \
            benchmarks/money/bags.tsv scoreboard="${1:-4}"
} >"$file" || exit 1
awk -f benchmarks/dbc/deadlines.awk "$file"
