#!/bin/sh
# grid.sh [SEEDS [TABLE]]: jobs that are bought beside an ideal array of one job
# per task, simulated (default 5 bags). Two tables of bill and wall time in
# multiples of the array's, and tasks left over, means over the bags.
#
# 1. 600 and 1,000 tasks of 10 minutes (lognormal, deviation 5 minutes), 24 and 240
# jobs, that wait for 0, 5 and 20 minutes in the queue and start within 2 s: money
# held for leases of 75 s, and for all of a job's time; without a budget, and with
# 1.1 and 1.5 times the array's bill.
# 2. Short tasks on 24 jobs without a queue: leases of 20 s, jobs join after 1.3 s;
# of an element 0.25 s more than its task are billed, and 0.6 s pass. With 1.0 and
# 1.1 times the array's bill, each with half a 95 % interval over four times as many
# bags.
#
# Starts are held for 10 s, ends for 5 s, and a job is billed 1.2 s after its end.
# The array: the next task begins where a job has ended, and each of the jobs waits
# once in the queue. From the top of the sources, after make.
bats=${BATS_MPI:-build/bats-mpi}
seeds=${1:-5}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# array TASKS MEAN DEVIATION JOBS QUEUE SEED BILLED PASSED: writes the runtimes; bill
# in seconds, wall time, where each task has so many seconds more.
array() {
    awk -v n="$1" -v mean="$2" -v deviation="$3" -v jobs="$4" -v queue="$5" \
        -v seed="$6" -v billed="$7" -v passed="$8" -v file="$tmp/times" '
        function normal() {
            return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
        }
        BEGIN {
            srand(seed)
            v = log(1 + (deviation / mean) ^ 2)
            for (k = 0; k < jobs; k++)
                free[k] = queue > 0 ? -queue * log(1 - rand()) : 0
            for (i = 0; i < n; i++) {
                x = mean * exp(sqrt(v) * normal() - v / 2)
                printf "%.3f\n", x >file
                b = 0
                for (k = 1; k < jobs; k++)
                    if (free[k] < free[b]) b = k
                free[b] += x + passed
                bill += x + billed
                if (free[b] > wall) wall = free[b]
            }
            print bill, wall
        }'
}

# buy JOBS QUEUE BUDGET START LEASE: bill, wall time and tasks left; all of a job's
# time is held without a lease.
buy() {
    cat >"$tmp/scn" <<SCN
[run]
billing = job
window = 10m
${5:+lease = $5}
${5:+starting = 10s}
${5:+bill = 1.2s}
${5:+overrun = 5s}
grace = 5s
budget = $3
tail = ${TAIL:-none}
[bag]
runtime = file times
[cluster slow]
machines = $1
charge = 1
startup = $4
queue = ${2}s
SCN
    "$bats" simulate --csv "$tmp/scn" |
        awk -F, 'NR == 2 { print $9 * 600, $7, $14 }'
}
# budget BILL SHARE
budget() { awk -v b="$1" -v s="$2" 'BEGIN { print b * s / 600 }'; }

if [ "${2:-1}" = 1 ]; then
echo '| tasks | jobs | queue | budget | leases: bill | wall | left |' \
    'whole jobs: bill | wall | left |'
echo '|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
for tasks in 600 1000; do for jobs in 24 240; do for queue in 0 300 1200; do
for share in none 1.1 1.5; do
    for seed in $(seq "$seeds"); do
        set -- $(array $tasks 600 300 $jobs $queue "$seed" 2 2)
        budget=unlimited
        [ $share = none ] || budget=$(budget "$1" $share)
        echo "$1 $2 $(buy $jobs $queue "$budget" 2s 75s)" \
            "$(buy $jobs $queue "$budget" 2s '')"
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
fi
[ "${2:-2}" = 2 ] || exit 0
echo '| tasks | mean | deviation | budget | bill | wall | left | most |'
echo '|--:|--:|--:|--:|--:|--:|--:|--:|'
for bag in '200 3 0' '200 3 1.5' '200 3 3' '80 12 0' '80 12 6' '80 12 12'; do
for share in 1.0 1.1; do
    for seed in $(seq $((4 * seeds))); do
        set -- $(array $bag 24 0 "$seed" 0.25 0.6)
        echo "$1 $2 $(buy 24 0 "$(budget "$1" $share)" 1.3s 20s)"
    done | awk -v row="$(echo "$bag" | sed 's/ / | /g') | $share" '
        { v[1] = $3 / $1; v[2] = $4 / $2; v[3] = $5
          for (i = 1; i <= 3; i++) { sum[i] += v[i]; squares[i] += v[i] ^ 2 }
          if ($5 > most) most = $5 }
        END { printf "| %s", row
              for (i = 1; i <= 3; i++) {
                  d = squares[i] / NR - (sum[i] / NR) ^ 2
                  printf((i < 3 ? " | %.3f ± %.3f" : " | %.1f ± %.1f"),
                      sum[i] / NR,
                      NR > 1 && d > 0 ? 1.96 * sqrt(d / (NR - 1)) : 0)
              }
              printf " | %d |\n", most }'
done; done
