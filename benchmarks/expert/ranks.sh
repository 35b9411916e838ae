#!/bin/bash
# Table 5 of ExPERT: its 13 experiments emulated on real ranks in compressed
# time, and what the Estimator says of each: offline, by all that the record of
# the run knows of the pools, and online, by what was known when the tail began. A tenth of the machines and tasks, or another SHARE of them; 1
# needs up to 272 ranks. Runs that are there from an earlier call are not run
# again.
#
#   bash benchmarks/expert/ranks.sh [SCALE [SHARE [SEED [NUMBERS]]]]
#                                 default 1500 0.1 0, all; four minutes
cd "$(dirname "$0")/../.." || exit 1
unset BATS_BUDGET # the user exported it for runs of their own
. benchmarks/expert/table5.sh
build=$(realpath "${B:-build}")
scale=${1:-1500}
share=${2:-0.1}
seed=${3:-0}
numbers=" ${4-1 2 3 4 5 6 7 8 9 10 11 12 13} "
out=$build/bench/expert/ranks-$share-$seed
mkdir -p "$out" && cd "$out" || exit 1

part() { # NUMBER: that share of it, rounded up
    awk -v n="$1" -v share="$share" 'BEGIN { x = n * share
        print (x > int(x) ? int(x) + 1 : x) }'
}

# Tail and cost as the plays have them.
frontier() { # SOURCE OPTION...
    "$build/bats-mpi" frontier "$@" --plays 100 --csv --strategy "$strategy" |
        tail -n 1 | sed 's/^"[^"]*",//' | awk -F, '{ print $3, $4 }'
}

experiment() { # NUMBER WORKLOAD N UNRELIABLE RELIABLE GAMMA
    [[ $numbers == *" $1 "* ]] || return 0
    read -r tasks t d mean low high <<<"$(workload "$2")"
    tasks=$(part "$tasks")
    ur=$(part "$4")
    r=$(part "$5")
    strategy=$(strategy_of "$3" "$t" "$d")
    cheap="charge = 1\nreliability = $6\ncharge_lost = no\nexpected = ${mean}s\n"
    safe="charge = 34\nexpected = ${mean}s\n"
    runtimes "$tasks" "$mean" "$low" "$high" >"runtimes$1"
    sed 's/.*/@sleep &s/' "runtimes$1" >"bag$1"
    {
        printf '[run]\nbilling = use\nwindow = 1h\n'
        printf "[cluster cheap]\nranks = 1-%d\n$cheap" "$ur"
        [ "$r" = 0 ] ||
            printf "[cluster safe]\nranks = %d-%d\n$safe" $((ur + 1)) $((ur + r))
    } >"c$1"
    [ -e "r$1" ] || "$build/bats-mpi" run -j $((ur + r)) "bag$1" \
        -c "c$1" --policy expert --strategy "$strategy" --seed \
        $((100 * seed + $1)) --time-scale "$scale" --json "r$1" --quiet \
        >/dev/null 2>"err$1"
    grep -q '"outcome": "all_done"' "r$1" || return 1
    real=$("$build/bats-mpi" log "bag$1" --json | awk -v n="$tasks" -v ur="$ur" '
        /"what": *"done"/ { match($0, /"time_s": *[0-9.]+/)
            time[++k] = substr($0, RSTART + 9, RLENGTH - 9) + 0 }
        END { print time[n] - time[n - ur + 1] }')
    cost=$(sed -n 's/^  "charged": "\([^"]*\)".*/\1/p' "r$1")
    { frontier "bag$1"; frontier "bag$1" --online; } |
        tr '\n' ' ' | awk -v i="$1" -v wl="$2" -v n="$3" -v gamma="$6" \
        -v tail="$real" -v cost="$cost" -v tasks="$tasks" '
        function off(a, b) { return 100 * (a - b) / b }
        { printf "%d\tWL%d\t%s\t%s\t%.0f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\n",
            i, wl, n, gamma, tail, cost / tasks, off($1, tail), off($2, cost),
            off($3, tail), off($4, cost) }' |
        tee "row$1"
}

table5 >/dev/null
cat $(for i in $numbers; do echo "row$i"; done) >table5.tsv
awk -F'\t' '
    BEGIN {
        print "| no. | workload | N | gamma | tail, s | cost a task | offline: tail, % | cost, % | online: tail, % | cost, % |"
        print "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    }
    { print "| " $1 " | " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $7 " | " $8 " | " $9 " | " $10 " |"
      for (i = 7; i <= 10; i++) sum[i] += $i < 0 ? -$i : $i }
    END { printf "| | | | | | mean of absolute values | %.1f | %.1f | %.1f | %.1f |\n",
        sum[7] / NR, sum[8] / NR, sum[9] / NR, sum[10] / NR }' table5.tsv
