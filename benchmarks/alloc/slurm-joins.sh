#!/bin/sh
# The same with jobs of a real Slurm, in the testbed of the tests: JOBS jobs of
# one core join one run.
#
#   sh benchmarks/alloc/slurm-joins.sh [JOBS [TASKS]]   default 200, 20 each
#
# From the first sbatch: until the last one has returned, until the last job has
# joined, until the run has ended, and until no job is in the queue.
if [ -z "${BED-}" ]; then
    cd "$(dirname "$0")/../.." || exit 1
    TOP=$PWD BATS_MPI=$(realpath "${B:-build}/bats-mpi")
    export TOP BATS_MPI
    exec sh tests/slurm/testbed.sh sh "$TOP/benchmarks/alloc/slurm-joins.sh" "$@"
fi
jobs=${1:-200}
tasks=${2:-$((20 * jobs))}
cd "$BED" || exit 1
now() {
    date +%s.%N
}
printf '%s\n' '[cluster w]' "ranks = 1-$jobs" 'charge = 1' >clusters.ini
yes '@sleep 1' | head -n "$tasks" >bag
"$BATS_MPI" bag --clusters clusters.ini --welcome door --host 10.77.0.1 \
    --policy rr --tail none --joblog joblog --record record >out 2>err &
master=$!
until [ -s door ]; do sleep 0.01; done
start=$(now)
for i in $(seq "$jobs"); do
    sbatch -Q -p all -n 1 -o said.%j \
        --wrap "exec '$BATS_MPI' worker --join door"
done
queued=$(now)
wait $master
code=$?
ended=$(now)
while [ "$(squeue -h | wc -l)" -gt 0 ]; do sleep 0.1; done
left=$(now)
once=$(tail -n +2 joblog | awk '$7 == 0 { n[$1]++ }
    END { for (i in n) once += n[i] == 1; print once + 0 }')
began=$(sqlite3 record "SELECT min(started_us) / 1e6 FROM session")
last=$(sqlite3 record "SELECT max(time_us) / 1e6 FROM happened
    WHERE what = 'joined'")
awk -v jobs="$jobs" -v start="$start" -v queued="$queued" -v ended="$ended" \
    -v left="$left" -v once="$once" -v tasks="$tasks" -v code=$code \
    -v last="$last" -v began="$began" -v n="$(sqlite3 record \
    "SELECT count(*) FROM happened WHERE what = 'joined'")" '
    BEGIN {
        print "| jobs | joined | sbatch | all joined | tasks | done once |" \
            " run ended | queue empty |"
        print "|--:|--:|--:|--:|--:|--:|--:|--:|"
        printf "| %d | %d | %.1f s | %.1f s | %d | %d | %.1f s | %.1f s |\n",
            jobs, n, queued - start, began + last - start, tasks, once,
            ended - start, left - start
        exit code != 0 || once != tasks
    }' || { cat err said.*; exit 1; } >&2
