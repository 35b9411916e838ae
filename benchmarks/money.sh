#!/bin/sh
# The money and what it buys: policies rr, bkp and bats on real bags, on drawn
# ones and on the scoreboard's. See money/runs.c.
#
#   sh benchmarks/money.sh [-o FILE] [FILE-OF-BAGS...]     (1 min)
#
# The bags of benchmarks/money/bags.tsv, those of small.tsv, that no rule was
# chosen with, and those of further files. Every run goes into FILE (default
# build/sim/money.csv).
cd "$(dirname "$0")/.." || exit 1
build=${B:-build}
file=$build/sim/money.csv
[ "$1" = -o ] && file=$2 && shift 2
mkdir -p "$build/sim" || exit 1
"$build/bench/money/runs" benchmarks/money/bags.tsv \
    benchmarks/money/small.tsv "$@" drawn=60 \
    scoreboard="${SEEDS:-20}" >"$file" || exit 1
awk -f benchmarks/money/report.awk "$file"
