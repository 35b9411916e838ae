#!/bin/sh
# Summarises deviation.c: how far the Estimator is from single runs, in percent
# of each, and from what it would say of the true pools; means of absolute
# values over the 13 experiments.
#
#   sh benchmarks/expert/deviation.sh [RUNS [FIRST SEED]] default 20 1; a minute
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build}
[ -x "$build/bench/expert/deviation" ] || {
    echo 'deviation.sh: run "make bench-programs" first' >&2
    exit 1
}
echo '| | tail | cost | from the true pools: tail | cost |'
echo '|---|--:|--:|--:|--:|'
"$build/bench/expert/deviation" "${1:-20}" 1 "${2:-1}" | awk -F'\t' '
    function off(a, b) { a = 100 * (a - b) / b; return a < 0 ? -a : a }
    {
        n[$1]++
        t[$1] += $3
        c[$1] += $4
        row[NR] = $0
    }
    END {
        for (r = 1; r <= NR; r++) {
            split(row[r], x, "\t")
            i = x[1]
            share = 1 / n[i] / 13
            own[1] += share * off(t[i] / n[i], x[3])
            own[2] += share * off(c[i] / n[i], x[4])
            for (k = 5; k <= 12; k++) {
                run[k] += share * off(x[k], x[4 - k % 2])
                truth[k] += share * off(x[k], x[6 - k % 2])
            }
        }
        printf "| the mean of the runs itself | %.1f | %.1f | | |\n", own[1], own[2]
        split("plays with the true pools,offline,online,online; from there", name, ",")
        for (k = 1; k <= 4; k++)
            printf "| %s | %.1f | %.1f | %.1f | %.1f |\n", name[k],
                run[2 * k + 3], run[2 * k + 4], truth[2 * k + 3],
                truth[2 * k + 4]
    }'
