#!/bin/sh
# How long the verb frontier takes: all strategies, 10 plays of each, on 1, 2
# and 4 threads, at two sizes of ExPERT's experiments. Shortest and median of
# the repeats, wall-clock time and CPU time of the whole program.
#
#   sh benchmarks/expert/frontier.sh [REPEATS]       default 15
cd "$(dirname "$0")/../.." || exit 1
bats=${B:-build}/bats-mpi
repeats=${1:-15}
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
scenario() { # TASKS UNRELIABLE RELIABLE
    cat <<END
[run]
billing = use
[bag]
tasks = $1
runtime = normal 2066 500
[cluster cheap]
machines = $2
charge = 1
reliability = 0.827
charge_lost = no
[cluster safe]
machines = $3
charge = 34
END
}
echo '| tasks / machines | threads | wall, shortest | wall, median | CPU, median |'
echo '|---|--:|--:|--:|--:|'
for what in 150/50 3276/206; do
    tasks=${what%/*} machines=${what#*/}
    scenario "$tasks" "$machines" $((machines / 2)) >"$dir/scenario"
    "$bats" frontier "$dir/scenario" --plays 1 --csv --save "$dir/pools" \
        >"$dir/csv"
    test "$(wc -l <"$dir/csv")" -eq 427 || exit 1
    for jobs in 1 2 4; do
        for i in $(seq "$repeats"); do
            TIMEFORMAT='%R %U %S' bash -c 'time "$@" >/dev/null' - \
                "$bats" frontier "$dir/pools" --plays 10 -j "$jobs" --csv 2>&1
        done >"$dir/times"
        sort -n "$dir/times" | awk -v what="$what" -v jobs="$jobs" '
            { wall[NR] = $1; cpu[NR] = $2 + $3 }
            END { for (i = 2; i <= NR; i++) {
                    x = cpu[i]
                    for (k = i; k > 1 && cpu[k - 1] > x; k--)
                        cpu[k] = cpu[k - 1]
                    cpu[k] = x
                  }
                  printf "| %s | %s | %.3f s | %.3f s | %.3f s |\n", what, jobs,
                    wall[1], wall[int((NR + 1) / 2)], cpu[int((NR + 1) / 2)] }'
    done
done
echo
echo "load while it was measured: $(cut -d ' ' -f 1 /proc/loadavg), cores: $(nproc)"
