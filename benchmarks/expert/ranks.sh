#!/bin/bash
# Table 5 of ExPERT: its 13 experiments emulated on real ranks in compressed
# time, at a tenth of their size (20 unreliable and 2 reliable machines, a tenth
# of the tasks), and what the Estimator says of each: offline, from all that the
# record of the run knows of its pools, and online, from what was known when the
# tail began. Runtimes are spread over table 3's range with its mean (a power of
# a uniform number; of WL5 to 7 the columns "average" and "min" of the print are
# taken for each other).
#
#   bash benchmarks/expert/ranks.sh [SCALE]     default 1500; four minutes
cd "$(dirname "$0")/../.." || exit 1
. benchmarks/launch.sh
build=$(realpath "${B:-build}")
scale=${1:-1500}
out=$build/bench/expert/ranks
rm -rf "$out"
mkdir -p "$out" || exit 1
cd "$out" || exit 1

# WORKLOAD: tasks T D mean low high
workload() {
    case $1 in
    1) echo 82 2500 4000 1597 1019 3558 ;;
    2) echo 82 1700 4000 1597 1019 3558 ;;
    3) echo 328 5000 8000 1911 1484 6435 ;;
    4) echo 328 3000 5000 2232 1643 4517 ;;
    5) echo 62 4000 6000 1571 878 4947 ;;
    6) echo 62 4000 4000 1512 729 3534 ;;
    7) echo 62 2500 4000 1542 987 3250 ;;
    esac
}

experiment() { # NUMBER WORKLOAD N UNRELIABLE RELIABLE GAMMA
    read -r tasks t d mean low high <<<"$(workload "$2")"
    {
        printf '[run]\nbilling = use\nwindow = 1h\n'
        printf '[cluster cheap]\nranks = 1-%d\ncharge = 1\nreliability = %s\n' \
            "$4" "$6"
        printf 'charge_lost = no\nexpected = %ds\n' "$mean"
        [ "$5" = 0 ] ||
            printf '[cluster safe]\nranks = %d-%d\ncharge = 34\nexpected = %ds\n' \
                $(($4 + 1)) $(($4 + $5)) "$mean"
    } >"c$1"
    awk -v n="$tasks" -v mean="$mean" -v low="$low" -v high="$high" 'BEGIN {
        k = (high - low) / (mean - low) - 1
        for (i = 0; i < n; i++)
            printf "@sleep %.3fs\n", low + (high - low) * ((i + .5) / n) ^ k
    }' >"bag$1"
    strategy=N=$3,T=${t}s,D=${d}s
    [ "$3" != CNinf ] || strategy=CNinf
    launch $(($4 + $5 + 1)) "$build/bats-mpi" run "bag$1" -c "c$1" \
        --policy expert --strategy "$strategy" --time-scale "$scale" \
        --seed "$1" --json "r$1" --quiet >/dev/null 2>"err$1" || return 1
    real=$("$build/bats-mpi" log "bag$1" --json | awk -v n="$tasks" -v ur="$4" '
        /"what": *"done"/ { match($0, /"time_s": *[0-9.]+/)
            time[++k] = substr($0, RSTART + 9, RLENGTH - 9) + 0 }
        END { print time[n] - time[n - ur + 1] }')
    cost=$(sed -n 's/^  "charged": "\([^"]*\)".*/\1/p' "r$1")
    for how in '' --online; do
        "$build/bats-mpi" frontier "bag$1" $how --plays 10 --csv \
            --strategy "$strategy" | tail -n 1 |
            sed 's/^"[^"]*",//' | awk -F, '{ print $3, $4 }'
    done | tr '\n' ' ' | awk -v i="$1" -v wl="$2" -v n="$3" -v gamma="$6" \
        -v tail="$real" -v cost="$cost" -v tasks="$tasks" '
        function off(a, b) { return 100 * (a - b) / b }
        { printf "%d\tWL%d\t%s\t%s\t%.0f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\n", i, wl,
            n, gamma, tail, cost / tasks, off($1, tail),
            off($2, cost), off($3, tail), off($4, cost) }'
}

{
    experiment 1 1 0 20 2 0.995
    experiment 2 1 2 20 2 0.983
    experiment 3 6 inf 22 0 0.981
    experiment 4 3 0 21 2 0.974
    experiment 5 6 CNinf 20 2 0.970
    experiment 6 5 inf 20 0 0.942
    experiment 7 1 0 21 2 0.864
    experiment 8 2 1 21 2 0.857
    experiment 9 1 0 25 2 0.853
    experiment 10 7 0 21 2 0.844
    experiment 11 1 0 20 2 0.827
    experiment 12 1 0 20 2 0.788
    experiment 13 4 0 20 2 0.746
} | tee table5.tsv
awk -F'\t' '
    BEGIN {
        print "| no. | workload | N | gamma | tail, s | cost a task | offline: tail, % | cost, % | online: tail, % | cost, % |"
        print "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    }
    { print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $7 " | " $8 " | " $9 " | " $10 " |"
      for (i = 7; i <= 10; i++) sum[i] += $i < 0 ? -$i : $i }
    END { printf "| | | | | | mean of absolute values | %.0f | %.0f | %.0f | %.0f |\n",
        sum[7] / NR, sum[8] / NR, sum[9] / NR, sum[10] / NR }' table5.tsv
