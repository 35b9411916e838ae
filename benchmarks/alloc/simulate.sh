#!/bin/sh
# simulate.sh [SEEDS]: one allocation, or worker jobs? What `bats-mpi simulate`
# answers for the same bags (default 100): 500 tasks, lognormal, on 16 machines
# at 1 per window of 10 minutes, that start within 5 s, without a budget; by how
# long jobs wait in the queue and how long tasks take. From the top of the
# sources, after make.
bats=${BATS_MPI:-build/bats-mpi}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# answer BILLING QUEUE RUNTIME: makespan and money, means of the bags.
answer() {
    cat >"$tmp/scn" <<SCN
[run]
billing = $1
window = 10m
seeds = 1-${seeds}
[bag]
tasks = 500
runtime = lognormal $3
[cluster slow]
machines = 16
charge = 1
startup = 5s
queue = $2
SCN
    "$bats" simulate "$tmp/scn" | awk '$1 == "bats" { print $2 " | " $6 }'
}
seeds=${1:-100}
echo '| queue | task: mean, deviation | one allocation: makespan | money |' \
    'worker jobs: makespan | money |'
echo '|--:|--:|--:|--:|--:|--:|'
for runtime in '30s 30s' '3m 3m' '3m 10m'; do
    for queue in 0s 2m 20m; do
        one=$(answer allocation $queue "$runtime")
        jobs=$(answer job $queue "$runtime")
        echo "| $queue | $runtime | $one | $jobs |"
    done
done
