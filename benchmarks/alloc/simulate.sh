#!/bin/sh
# simulate.sh [SEEDS]: one allocation, or worker jobs? What `bats-mpi simulate`
# answers for the same bags (default 100): 500 tasks, lognormal, on 16 machines
# at 1 per window of 10 minutes, that start within 5 s; by how long jobs wait in
# the queue and how long tasks take. BUDGET=120: not without one. From the top of
# the sources, after make.
bats=${BATS_MPI:-build/bats-mpi}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# answer BILLING QUEUE RUNTIME: makespan, money and tasks done, means of the bags.
answer() {
    cat >"$tmp/scn" <<SCN
[run]
billing = $1
window = 10m
budget = ${BUDGET:-unlimited}
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
    "$bats" simulate --csv "$tmp/scn" | awk -F, '
        function time(s) {
            return s < 3600 ? int(s / 60) "m" int(s % 60) "s" \
                            : int(s / 3600) "h" int(s % 3600 / 60) "m"
        }
        NR > 1 { n++; makespan += $7; money += $9; done += $12 }
        END { printf "%s | %.2f | %.1f", time(makespan / n), money / n,
                     done / n }'
}
seeds=${1:-100}
echo '| queue | task: mean, deviation | one allocation: makespan | money | done' \
    '| worker jobs: makespan | money | done |'
echo '|--:|--:|--:|--:|--:|--:|--:|--:|'
for runtime in '30s 30s' '3m 3m' '3m 10m'; do
    for queue in 0s 2m 20m; do
        one=$(answer allocation $queue "$runtime")
        jobs=$(answer job $queue "$runtime")
        echo "| $queue | $runtime | $one | $jobs |"
    done
done
