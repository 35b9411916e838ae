#!/bin/sh
# Sections 6.1 and 6.2 of ExPERT, played: what figures.c says. Prints the table
# that goes beside what the paper's text says, and draws figures 9 to 11 into
# benchmarks/plots/expert-*.svg.
#
#   sh benchmarks/expert/figures.sh [PLAYS]       default 200; a few seconds
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
out=$build/bench/expert
"$build/bench/expert/figures" "${1:-200}" >"$out/figures.tsv" || exit 1
gnuplot -e "file='$out/figures.tsv'; out='benchmarks/plots/expert-'" \
    benchmarks/expert/figures.gp || exit 1
echo '| M_r up to | strategy | makespan, s | +- | cost, cents a task | makespan x cost | beaten by the frontier |'
echo '|--:|---|--:|--:|--:|--:|---|'
awk -F'\t' '$1 == "static" || $1 == "best" {
    printf "| %s | %s | %d | %d | %.3f | %.0f | %s |\n", $2, $3, $4, $5, $6,
        $4 * $6, $1 == "best" ? "(best product)" : $7 ? "yes" : "no" }' \
    "$out/figures.tsv"
echo
echo '| M_r | shortest tail, s | its cost | least cost |'
echo '|--:|--:|--:|--:|'
awk -F'\t' '$1 == "fixed" {
    if (!($2 in time) || $3 < time[$2]) { time[$2] = $3; cost[$2] = $4 }
    if (!($2 in least) || $4 < least[$2]) least[$2] = $4 }
    END { for (m in time) printf "| %s | %d | %.3f | %.3f |\n", m, time[m],
        cost[m], least[m] }' "$out/figures.tsv" | sort
