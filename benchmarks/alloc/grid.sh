#!/bin/sh
# grid.sh [SEEDS]: jobs that are bought beside an ideal array of one job per
# task (default 5 bags): 600 and 1,000 tasks of 10 minutes (lognormal, deviation
# 5 minutes), 24 and 240 jobs, that wait for 0, 5 and 20 minutes in the queue and
# start within 2 s. Means over the bags of bill and wall time, in multiples of
# those of the array, and tasks left over: money held for leases of 75 s and ends
# of 5 s, and for all of a job's time; without a budget, and with 1.1 and 1.5 times
# the array's bill. The array: the next task begins where a job has ended, its element starts
# within 2 s, and each of the jobs waits once in the queue. From the top of the
# sources, after make.
bats=${BATS_MPI:-build/bats-mpi}
seeds=${1:-5}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# array TASKS JOBS QUEUE SEED: writes the runtimes; bill in seconds, wall time.
array() {
    awk -v n="$1" -v jobs="$2" -v queue="$3" -v seed="$4" -v file="$tmp/times" '
        function normal() {
            return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
        }
        BEGIN {
            srand(seed)
            v = log(1 + 0.25)
            for (k = 0; k < jobs; k++)
                free[k] = queue > 0 ? -queue * log(1 - rand()) : 0
            for (i = 0; i < n; i++) {
                x = 600 * exp(sqrt(v) * normal() - v / 2)
                printf "%.3f\n", x >file
                b = 0
                for (k = 1; k < jobs; k++)
                    if (free[k] < free[b]) b = k
                free[b] += x + 2
                bill += x + 2
                if (free[b] > wall) wall = free[b]
            }
            print bill, wall
        }'
}

# buy JOBS QUEUE BUDGET LEASE: bill, wall time and tasks left.
buy() {
    cat >"$tmp/scn" <<SCN
[run]
billing = job
window = 10m
${4:+lease = $4}
${4:+overrun = 5s}
grace = 5s
budget = $3
tail = ${TAIL:-none}
[bag]
runtime = file times
[cluster slow]
machines = $1
charge = 1
startup = 2s
queue = ${2}s
SCN
    "$bats" simulate --csv "$tmp/scn" |
        awk -F, 'NR == 2 { print $9 * 600, $7, $14 }'
}
echo '| tasks | jobs | queue | budget | leases: bill | wall | left |' \
    'whole jobs: bill | wall | left |'
echo '|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
for tasks in 600 1000; do for jobs in 24 240; do for queue in 0 300 1200; do
for share in none 1.1 1.5; do
    for seed in $(seq "$seeds"); do
        set -- $(array $tasks $jobs $queue "$seed")
        budget=unlimited
        [ $share = none ] ||
            budget=$(awk -v b="$1" -v s=$share 'BEGIN { print b * s / 600 }')
        echo "$1 $2 $(buy $jobs $queue "$budget" 75s) $(buy $jobs $queue "$budget" '')"
    done | awk -v row="$tasks | $jobs | $((queue / 60))m | $share" '
        { for (i = 0; i < 2; i++) {
              bill[i] += $(3 + 3 * i) / $1; wall[i] += $(4 + 3 * i) / $2
              left[i] += $(5 + 3 * i) } }
        END { printf "| %s", row
              for (i = 0; i < 2; i++)
                  printf " | %.3f | %.3f | %.1f", bill[i] / NR, wall[i] / NR,
                      left[i] / NR
              print " |" }'
done; done; done; done
