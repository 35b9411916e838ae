#!/bin/bash
# The 13 experiments of table 5 of ExPERT at their full size in the simulator (the
# engine, 20 bags each; tasks keep their runtime wherever they run), beside what
# the plays say of the same scenario: how far single runs are from the mean of 10
# plays, as the paper measured it, and how far the mean of the runs is from that
# of 100 plays.
#
#   bash benchmarks/expert/simulated.sh
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${B:-build}")
out=$build/bench/expert/simulated
mkdir -p "$out" && cd "$out" || exit 1

# WORKLOAD: tasks T D mean low high (see ranks.sh)
workload() {
    case $1 in
    1) echo 820 2500 4000 1597 1019 3558 ;;
    2) echo 820 1700 4000 1597 1019 3558 ;;
    3) echo 3276 5000 8000 1911 1484 6435 ;;
    4) echo 3276 3000 5000 2232 1643 4517 ;;
    5) echo 615 4000 6000 1571 878 4947 ;;
    6) echo 615 4000 4000 1512 729 3534 ;;
    7) echo 615 2500 4000 1542 987 3250 ;;
    esac
}

experiment() { # NUMBER WORKLOAD N UNRELIABLE RELIABLE GAMMA
    read -r tasks t d mean low high <<<"$(workload "$2")"
    strategy=N=$3,T=${t}s,D=${d}s
    [ "$3" != CNinf ] || strategy=CNinf
    awk -v mean="$mean" -v low="$low" -v high="$high" 'BEGIN {
        k = (high - low) / (mean - low) - 1
        for (i = 0; i < 1000; i++)
            printf "%.3f\n", low + (high - low) * ((i + .5) / 1000) ^ k
    }' >"runtimes$1"
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
experiment 1 1 0 202 20 0.995
experiment 2 1 2 199 20 0.983
experiment 3 6 inf 220 0 0.981
experiment 4 3 0 206 20 0.974
experiment 5 6 CNinf 200 20 0.970
experiment 6 5 inf 201 0 0.942
experiment 7 1 0 208 20 0.864
experiment 8 2 1 208 20 0.857
experiment 9 1 0 251 20 0.853
experiment 10 7 0 208 20 0.844
experiment 11 1 0 200 20 0.827
experiment 12 1 0 200 20 0.788
experiment 13 4 0 204 20 0.746
