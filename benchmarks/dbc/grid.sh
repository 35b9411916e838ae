#!/bin/sh
# Section 5 of the deadline-and-budget paper, simulated: what grid.c says.
# Prints the tables that go beside what the paper's text says, and draws its
# figures 4 to 8 into benchmarks/plots/dbc-*.svg.
#
#   sh benchmarks/dbc/grid.sh [BAGS]       default 20; a quarter of a minute
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
out=$build/bench/dbc
"$build/bench/dbc/grid" "${1:-20}" dbc-cost dbc-cost-time dbc-time \
    dbc-conservative-time >"$out/grid.tsv" || exit 1
gnuplot -e "file='$out/grid.tsv'; out='benchmarks/plots/dbc-'" \
    benchmarks/dbc/grid.gp || exit 1
awk -F'\t' '
    $3 == 22000 && ($1 == "dbc-cost" || $1 == "dbc-cost-time") {
        time[$1, $2] = $5; money[$1, $2] = $6; r4[$1, $2] = $11
        r8[$1, $2] = $15; left = $4 - $11 - $15
        rest[$1, $2] = left > 0.05 ? left : 0
        if ($1 == "dbc-cost") deadline[++n] = $2
    }
    $3 == 5000 { done[$1, $2] = $4 }
    { exceeded += $18; late += $19; rows++ }
    END {
        c = "dbc-cost"; t = "dbc-cost-time"
        print "| deadline | time: cost | cost-time | money: cost | cost-time " \
            "| on R4, R8, others: cost | cost-time " \
            "| tasks for 5,000: cost | cost-time |"
        print "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        for (i = 1; i <= n; i++) {
            d = deadline[i]
            printf "| %d | %.0f | %.0f | %.0f | %.0f | %.0f, %.0f, %.0f " \
                "| %.0f, %.0f, %.0f | %.1f | %.1f |\n", d, time[c, d],
                time[t, d], money[c, d], money[t, d], r4[c, d], r8[c, d],
                rest[c, d], r4[t, d], r8[t, d], rest[t, d], done[c, d],
                done[t, d]
        }
        printf "\n%d runs: %d over the budget, %d with a task that ended " \
            "after the deadline\n", rows * bags, exceeded, late
    }' bags="${1:-20}" "$out/grid.tsv"
