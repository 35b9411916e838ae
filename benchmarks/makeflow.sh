#!/bin/sh
# A Makeflow by bats-mpi, by makeflow (Debian's coop-computing-tools) and by
# make.
#
#   sh benchmarks/makeflow.sh [REPEATS]      default 5
#
# Two graphs, two tasks at a time: 1,000 rules in 10 levels that do next to
# nothing, each after two of the level before, and 120 that sleep 0.1 s, as
# chains of 12. All contenders run once per repeat, in turn. Printed: the median
# and range of the makespan from outside, start-up and all, of the CPU time of
# everything, and what a task takes of the makespan beyond the sleep on two
# workers (6 s of the second graph).
cd "$(dirname "$0")/.." || exit 1
. benchmarks/launch.sh
build=$(cd "${B:-build}" && pwd) || exit 1
repeats=${1:-5}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

awk 'BEGIN {
    for (level = 0; level < 10; level++)
        for (i = 0; i < 100; i++) {
            target = "n" level "." i
            from = level == 0 ? "" : " n" (level - 1) "." i " n" (level - 1) \
                "." (i + 7) % 100
            printf "%s:%s\n\ttrue >%s\n", target, from, target
        }
}' >short.mf
awk 'BEGIN {
    for (i = 0; i < 120; i++)
        printf "n%d:%s\n\tsleep 0.1; true >n%d\n", i, i < 10 ? "" : " n" i - 10, i
}' >chains.mf
{ cat short.mf; printf 'all:'; seq 0 99 | sed 's/^/ n9./' | tr -d '\n'; } >short.mk
{ cat chains.mf; printf 'all:'; seq 110 119 | sed 's/^/ n/' | tr -d '\n'; } \
    >chains.mk

by_bats() { launch 3 "$build/bats-mpi" run "$1.mf" --quiet; }
by_makeflow() { makeflow -T local -j 2 "$1.mf"; }
by_make() { make -s -j 2 -f "$1.mk" all; }

contenders='bats make'
command -v makeflow >/dev/null && contenders="$contenders makeflow" ||
    echo 'makeflow.sh: no makeflow, left out' >&2

for graph in short chains; do
    tasks=$(grep -c : $graph.mf)
    for repeat in $(seq "$repeats"); do
        for who in $contenders; do
            rm -f n[0-9]* ./*.bats* ./*.makeflowlog ./*.batchlog
            start=$(date +%s%N)
            before=$(awk '{ print $16 + $17 }' /proc/$$/stat)
            by_$who $graph >log 2>&1 ||
                { echo "makeflow.sh: $who failed on $graph" >&2; cat log; exit 1; }
            [ "$(find . -name 'n[0-9]*' | wc -l)" -eq "$tasks" ] || exit 1
            printf '%s %s %s %s %s\n' $graph "$tasks" $who \
                $(($(date +%s%N) - start)) \
                $(($(awk '{ print $16 + $17 }' /proc/$$/stat) - before))
        done
    done
done >samples
ticks=$(getconf CLK_TCK)
printf '%-7s %-9s %22s %22s %12s\n' graph by 'makespan, s' 'CPU time, s' \
    'ms a task'
for graph in short chains; do
    for who in $contenders; do
        for column in 4 5; do
            awk -v g=$graph -v w=$who -v c=$column \
                '$1 == g && $3 == w { print $c }' samples | sort -n |
                awk -v unit="$([ $column = 4 ] && echo 1e9 || echo "$ticks")" '
                    { v[NR] = $1 / unit }
                    END { printf "%.2f %.2f %.2f ", v[int((NR + 1) / 2)],
                        v[1], v[NR] }'
        done | awk -v g=$graph -v w=$who -v n="$(grep -c : $graph.mf)" \
            -v sleep="$([ $graph = chains ] && echo 6 || echo 0)" '
            { printf "%-7s %-9s %8.2f (%.2f-%.2f) %8.2f (%.2f-%.2f) %12.2f\n",
                g, w, $1, $2, $3, $4, $5, $6, 1000 * ($1 - sleep) / n }'
    done
done
