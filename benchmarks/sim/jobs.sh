#!/bin/sh
# Does `simulate --jobs` scale on cores, with the same results?
#
#   sh benchmarks/sim/jobs.sh [SEEDS [REPEATS]]      default 500, 5
#
# 1000 tasks on 72 machines, policies rr and bats, from one thread to as many as
# there are cores. Seconds of the clock and of CPU, the least of REPEATS: other
# work takes from the first; where threads wait for each other, or for the
# memory, the second rises. Exit status 0 if all results are the same.
cd "$(dirname "$0")/../.." || exit 1
build=${B:-build} seeds=${1:-500} repeats=${2:-5} status=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/scenario" <<END
[run]
policy = rr, bats
budget = 860, 600
seeds = 1-$seeds
[bag]
tasks = 1000
runtime = normal 15m 2.236m
[cluster slow]
machines = 24
charge = 3
[cluster fast]
machines = 24
charge = 12
speed = 3
[cluster medium]
machines = 24
charge = 3
speed = 2
END

# The second line of `times` is what its children have taken: "0m1.20s 0m0.10s".
seconds() {
    awk 'FNR == 2 {
        split($1, user, /[ms]/)
        split($2, sys, /[ms]/)
        sum = 60 * (user[1] + sys[1]) + user[2] + sys[2]
        if (FILENAME == ARGV[1])
            before = sum
        else
            print sum - before
    }' "$tmp/before" "$tmp/after"
}

for repeat in $(seq "$repeats"); do
    for jobs in $(seq "$(nproc)"); do
        times >"$tmp/before"
        start=$(date +%s%N)
        "$build/bats-mpi" simulate "$tmp/scenario" --csv --jobs "$jobs" \
            >"$tmp/$jobs" || exit 1
        end=$(date +%s%N)
        times >"$tmp/after"
        echo "$jobs $start $end $(seconds)" >>"$tmp/seconds"
        cmp "$tmp/1" "$tmp/$jobs" || status=1
    done
done
awk -v runs=$((4 * seeds)) '
    {
        clock = ($3 - $2) / 1e9
        if (!($1 in least) || clock < least[$1])
            least[$1] = clock
        if (!($1 in cpu) || $4 < cpu[$1])
            cpu[$1] = $4
        most = $1 > most ? $1 : most
    }
    END {
        print "| threads | runs/s | seconds | of CPU |"
        print "|--:|--:|--:|--:|"
        for (j = 1; j <= most; j++)
            printf "| %d | %.0f | %.2f | %.2f |\n", j, runs / least[j],
                least[j], cpu[j]
    }' "$tmp/seconds"
exit $status
