#!/bin/bash
# Bags of two kinds of tasks, short and long, where machines may not answer: the
# policy expert, which learns T_ur from the short ones first, against an rr that
# is told how long the longest task takes, and stops what has run for longer.
# Simulated; use is charged, 1 an hour on unreliable machines, 10 on reliable
# ones. Lost executions are not charged.
#
# Of each bag: makespan in hours and charge, means with half their 95 %
# intervals, of expert, then of rr. BATS is the program.
#
#   bash benchmarks/expert/kinds.sh [SEEDS]       default 20; some seconds
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${B:-build}")
bats=${BATS:-$build/bats-mpi}
out=$build/bench/expert/kinds
mkdir -p "$out" && cd "$out" || exit 1
seeds=${1:-20}

kind() { # TASKS SECONDS: runtimes from 80 to 120 % of that
    awk -v n="$1" -v mean="$2" 'BEGIN { for (i = 0; i < n; i++)
        printf "%.3f\n", mean * (0.8 + 0.4 * (i + .5) / n) }'
}

play() { # RUN: the bag in `bag`
    sed "s/POLICY/$1/" bag >scenario
    nice "$bats" simulate scenario --csv | awk -F, 'NR > 1 {
            n++; bad += $6 != "all_done"; h = $7 / 3600
            t += h; tt += h * h; c += $9; cc += $9 * $9 }
        function half(s, ss) {
            v = (ss / n - (s / n) ^ 2) / (n - 1)
            return 1.96 * sqrt(v > 0 ? v : 0) }
        END { printf " %.1f ± %.1f; %.0f ± %.0f%s |", t / n, half(t, tt),
            c / n, half(c, cc), bad ? " (" bad " undone)" : "" }'
}

echo '| short | long | machines | losses | noticed | expert | rr |'
echo '|---|---|---|---|---|--:|--:|'
while read -r short a long b unreliable reliable; do
    { kind "$short" "$a"; kind "$long" "$b"; } >runtimes
    for losses in 'reliability = 0.83' 'survival = exponential 6h'; do
        for told in never 10m 1m; do
            {
                printf '[run]\nbilling = use\nseeds = 1-%d\nPOLICY\n' "$seeds"
                printf '[bag]\nruntime = file runtimes\n[cluster cheap]\n'
                printf 'machines = %d\ncharge = 1\ncharge_lost = no\n%s\n' \
                    "$unreliable" "$losses"
                [ $told = never ] || echo "noticed = $told"
                printf '[cluster safe]\nmachines = %d\ncharge = 10\n' \
                    "$reliable"
            } >bag
            echo "| $short of ${a}s | $long of ${b}s |" \
                "$unreliable + $reliable | ${losses#* = } | $told |$(
                    play 'policy = expert')$(
                    play "policy = rr\ntimeout = $((b * 6 / 5))s\nretries = 255")"
        done
    done
done <<END
240 120 60 7200 30 5
400 60 100 3600 20 10
400 10 100 3600 20 2
END
