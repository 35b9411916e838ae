#!/bin/sh
# Two scoreboards, run by run: what is better in NEW than in OLD, policy bats?
#
#   sh benchmarks/sim/compare.sh OLD.csv NEW.csv
#
# Makespans are compared where both did the whole bag, by the geometric mean of
# NEW / OLD with its 95 % interval.
awk -F, -v old="$1" -v new="$2" '
    $5 != "bats" { next }
    FILENAME == old { span[$1, $2, $3, $4, $6] = $9
        undone[$1, $2, $3, $4, $6] = $16; next }
    {
        was = undone[$1, $2, $3, $4, $6]
        for (g = 1; g <= 3; g++) {
            group = g == 1 ? "all" : g == 2 ? $1 : $2
            if (!(group in n))
                order[++groups] = group
            n[group]++
            old_part[group] += was > 0
            new_part[group] += $16 > 0
            old_left[group] += was
            new_left[group] += $16
            if (was > 0 || $16 > 0)
                continue
            x = log($9 / span[$1, $2, $3, $4, $6])
            both[group]++
            sum[group] += x
            square[group] += x * x
            better[group] += x < -1e-9
            worse[group] += x > 1e-9
        }
    }
    END {
        printf "%-8s %6s | %-15s | %-17s | %s\n", "", "runs",
            "left tasks", "tasks left, mean", "makespan new / old"
        for (i = 1; i <= groups; i++) {
            g = order[i]
            m = sum[g] / both[g]
            e = 1.96 * sqrt((square[g] / both[g] - m * m) / both[g])
            printf "%-8s %6d | %6d -> %5d | %7.2f -> %6.2f | %.4f (%.4f - %.4f), better %d, worse %d\n",
                g, n[g], old_part[g], new_part[g], old_left[g] / n[g],
                new_left[g] / n[g], exp(m), exp(m - e), exp(m + e), better[g],
                worse[g]
        }
    }' "$1" "$2"
