#!/bin/sh
# Time of the verb frontier, and how threads scale it: all strategies, 10
# and 100 plays of each, on 1 and 2 threads and, where there are as many cores,
# 4, at two sizes of ExPERT's experiments. The numbers of threads take turns, so
# that all meet what else the machine does. Medians of the wall-clock and the
# CPU time of the whole program, and of how many times as fast it was as with 1
# thread in the same turn, with the least and the most.
#
#   sh benchmarks/expert/frontier.sh [REPEATS]       default 15
cd "$(dirname "$0")/../.." || exit 1
bats=${B:-build}/bats-mpi
repeats=${1:-15}
threads='1 2'
[ "$(nproc)" -lt 4 ] || threads='1 2 4'
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
# An emulated run, whose record tells of the pools.
emulate() { # TASKS UNRELIABLE RELIABLE
    for i in $(seq "$1"); do
        echo "@sleep $((1566 + i * 1000 / $1))s"
    done >"$dir/bag"
    cat >"$dir/clusters" <<END
[run]
billing = use
[cluster cheap]
ranks = 1-$2
charge = 1
reliability = 0.827
charge_lost = no
expected = 2066s
[cluster safe]
ranks = $(($2 + 1))-$(($2 + $3))
charge = 34
expected = 2066s
END
    rm -f "$dir/bag.bats"
    "$bats" run -j $(($2 + $3)) "$dir/bag" -c "$dir/clusters" \
        --policy expert --time-scale 2000 --quiet >/dev/null
}
echo '| tasks / machines | plays | threads | wall | CPU | times as fast |'
echo '|---|--:|--:|--:|--:|--:|'
for what in 150/50 3276/206; do
    tasks=${what%/*} machines=${what#*/}
    emulate "$tasks" "$machines" $((machines / 2)) || exit 1
    "$bats" frontier "$dir/bag" --plays 1 --csv >"$dir/csv"
    test "$(wc -l <"$dir/csv")" -eq 427 || exit 1
    for plays in 10 100; do
        for i in $(seq "$repeats"); do
            for jobs in $threads; do
                printf '%s ' "$jobs"
                TIMEFORMAT='%R %U %S' bash -c 'time "$@" >/dev/null' - \
                    "$bats" frontier "$dir/bag" --plays "$plays" \
                    -j "$jobs" --csv 2>&1
            done
        done | awk -v what="$what" -v plays="$plays" -v threads="$threads" '
            function sort(list, n,   i, k, x) {
                for (i = 2; i <= n; i++) {
                    x = list[i]
                    for (k = i; k > 1 && list[k - 1] > x; k--)
                        list[k] = list[k - 1]
                    list[k] = x
                }
            }
            function middle(list, n) {
                sort(list, n)
                return (list[int((n + 1) / 2)] + list[int(n / 2 + 1)]) / 2
            }
            { turn[$1]++; wall[$1, turn[$1]] = $2; cpu[$1, turn[$1]] = $3 + $4 }
            END {
                m = split(threads, jobs, " ")
                for (k = 1; k <= m; k++) {
                    j = jobs[k]
                    n = turn[j]
                    for (i = 1; i <= n; i++) {
                        w[i] = wall[j, i]
                        c[i] = cpu[j, i]
                        faster[i] = w[i] > 0 ? wall[1, i] / w[i] : 0
                    }
                    form = "| %s | %d | %d | %.3f s | %.3f s |"
                    printf form " %.2f (%.2f to %.2f) |\n", what, plays, j,
                        middle(w, n), middle(c, n), middle(faster, n),
                        faster[1], faster[n]
                }
            }'
    done
done
echo
echo "load while it was measured: $(cut -d ' ' -f 1 /proc/loadavg), cores: $(nproc)"
