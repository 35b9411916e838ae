#!/bin/bash
# The 13 experiments of table 5 of ExPERT at their full size in the simulator
# (the engine, 20 bags each; tasks keep their runtime wherever they run), beside
# what the plays say of the same scenario: how far single runs are from the mean
# of 10 plays, as the paper measured it, and how far the mean of the runs is
# from that of 100 plays.
#
#   bash benchmarks/expert/simulated.sh
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/expert/table5.sh
build=$(realpath "${B:-build}")
out=$build/bench/expert/simulated
mkdir -p "$out" && cd "$out" || exit 1

experiment() { # NUMBER WORKLOAD N UNRELIABLE RELIABLE GAMMA
    read -r tasks t d mean low high <<<"$(workload "$2")"
    strategy=$(strategy_of "$3" "$t" "$d")
    runtimes 1000 "$mean" "$low" "$high" >"runtimes$1"
    {
        printf '[run]\nbilling = use\npolicy = expert\nseeds = 1-20\n'
        printf 'strategy = %s\n[bag]\ntasks = %d\nruntime = file runtimes%d\n' \
            "$strategy" "$tasks" "$1"
        printf '[cluster cheap]\nmachines = %d\ncharge = 1\n' "$4"
        printf 'reliability = %s\ncharge_lost = no\nexpected = %ds\n' "$6" \
            "$mean"
        [ "$5" = 0 ] ||
            printf '[cluster safe]\nmachines = %d\ncharge = 34\nexpected = %ds\n' \
                "$5" "$mean"
    } >"s$1"
    for plays in 10 100; do
        "$build/bats-mpi" frontier "s$1" --plays $plays --csv \
            --strategy "$strategy" | tail -n 1 | sed 's/^"[^"]*",//' |
            awk -F, '{ print $1, $4 }'
    done | tr '\n' ' ' >"p$1"
    "$build/bats-mpi" simulate "s$1" --csv | awk -F, -v i="$1" -v wl="$2" \
        -v n="$3" -v gamma="$6" -v plays="$(cat "p$1")" '
        function off(a, b) { a = 100 * (b - a) / a; return a < 0 ? -a : a }
        NR > 1 { split(plays, p, " "); k++
            time += $7; cost += $9; dt += off($7, p[1]); dc += off($9, p[2]) }
        END { printf "| %d | WL%d | %s | %s | %.0f | %.2f | %.1f | %.1f | %.1f | %.1f |\n",
            i, wl, n, gamma, time / k, cost / k, dt / k, dc / k,
            100 * (p[3] - time / k) / (time / k),
            100 * (p[4] - cost / k) / (cost / k) }'
}

echo '| no. | workload | N | gamma | makespan, s | cost | one run: time, % | cost, % | mean: time, % | cost, % |'
echo '|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|'
table5
