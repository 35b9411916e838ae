#!/bin/bash
# bats-mpi under srun, on nodes that talk over the network.
. "$TOP/tests/slurm/lib.sh"

# 40 tasks of 10 minutes of bag time, 0.2 s of real time.
for i in $(seq 40); do echo '@sleep 10m'; done >bag
ini '[run]; window = 60m' '[cluster fast]; nodes = fast[1-4]; charge = 8' \
    '[cluster slow]; nodes = slow[1-4]; charge = 3' >clusters.ini
# The first rank on fast1 is the master: 7 machines in fast, 8 in slow.
srun --mpi=pmix -N8 -n16 --ntasks-per-node=2 "$BATS_MPI" bag \
    --clusters clusters.ini --budget 100 --policy rr --time-scale 3000 \
    --joblog joblog --json report.json >out 2>err
ok 'a bag runs to its end under srun'
tail -n +2 joblog | cut -f2 | sort -u >hosts
test "$(awk 'NR > 1 && $7 == 0' joblog | wc -l)" -ge 40
ok 'every task has a line in the joblog'
test "$(tr '\n' ' ' <hosts)" = \
    'fast1 fast2 fast3 fast4 slow1 slow2 slow3 slow4 '
ok 'tasks ran on all eight nodes, under their host names'

# One window of all machines is 7 x 8 + 8 x 3 = 80, two are more than 100.
holds '.charged | tonumber | . > 0 and . <= 100' report.json
ok 'the charge is above 0 and within the budget'

# A node of a reclaimable cluster is drained while tasks run on it.
ini '[cluster fast]; nodes = fast1; charge = 8/h' \
    '[cluster slow]; nodes = slow1; charge = 1/h; reclaimable = yes' \
    'notice = 2s' >drain.ini
for i in 1 2 3 4; do
    echo 'echo $BATS_CLUSTER >>began; until test -e go; do sleep 0.1; done'
done >four
behind srun --mpi=pmix -w fast1,slow1 -n4 --ntasks-per-node=2 "$BATS_MPI" four \
    --clusters drain.ini --grace 1s --no-replicate --policy rr
both_began() { grep -s slow began | has_lines 2 -; }
within 60 both_began
scontrol update NodeName=slow1 State=DRAIN Reason=test
within 60 grep -q 'machine slow-2 was taken away' err
test "$(grep -c 'machine slow-. will be taken away in' err)" -eq 2
test "$(grep -c slow began)" -eq 2
touch go
wait $run
scontrol update NodeName=slow1 State=RESUME
test "$(grep -c slow began)" -eq 2
test "$("$BATS_MPI" tasks four --state done | grep -c ' done ')" -eq 4
"$BATS_MPI" tasks four | awk '$0 ~ / done / && / slow / { exit 1 }'
ok 'a node that is drained gets its notice, and its tasks go on elsewhere'

# A node list that does not fit is refused before anything starts.
sed 's/slow\[1-4\]/slow[1-5]/' clusters.ini >wrong.ini
expect 2 srun --mpi=pmix -N8 -n9 "$BATS_MPI" bag \
    --clusters wrong.ini >out 2>err
grep -q 'wrong.ini:[0-9]*:.*slow5' err
ok 'a node that is not there is named, with the line'

rm -f began
for i in $(seq 20); do
    echo "echo $i >>began; until test -e go$((i > 8)); do sleep 0.1; done; echo $i"
done >some
touch go0
behind srun -n1 --overcommit "$BATS_MPI" some -j 4
within 60 has_lines 12 began
scancel --signal=TERM "$(squeue -h -s -o %i | grep -v batch)"
expect 143 wait $run
grep -q 'with --resume does the rest' err
test "$(sort -n out | xargs)" = "$(seq -s ' ' 8)"
touch go1
srun -n1 --overcommit "$BATS_MPI" some -j 4 --resume >rest 2>err
test "$(cat out rest | sort -n | xargs)" = "$(seq -s ' ' 20)"
ok 'one task of a step forks its workers; a step that is ended loses nothing'
expect 2 srun -n2 "$BATS_MPI" some -j 4 --no-record >out 2>err
test "$(grep -c -- '--jobs is for a run without a launcher' err)" -eq 1
test ! -s out
ok 'several tasks of a step refuse -j, once'

# Worker jobs join a run outside of any job. Tasks wait for the job in the other
# partition.
ini '[cluster fast]; partition = fast; charge = 8; max = 8' \
    '[cluster slow]; partition = slow; charge = 3; max = 8' >joined.ini
for i in $(seq 60); do
    echo "echo $i \$BATS_CLUSTER \$(hostname); touch works.\$(hostname);" \
        'until [ -e works.fast1 ]; do sleep 0.1; done'
done >bag
behind "$BATS_MPI" bag --clusters joined.ini --welcome door --host 10.77.0.1 \
    --no-record
within 60 test -s door
worker() { # PARTITION NODES RANKS
    sbatch --parsable -p "$1" -N "$2" -n "$3" -o "job.$1" \
        --wrap "srun --mpi=pmix bats-mpi worker --join door"
}
slow=$(worker slow 2 4)
within 60 test -e works.slow1 -a -e works.slow2
test ! -e works.fast1
fast=$(worker fast 1 1)
expect 0 wait $run
await $slow
await $fast
seq 60 | diff - <(cut -d' ' -f1 out | sort -n)
test "$(cut -d' ' -f2,3 out | sort -u | xargs)" = \
    'fast fast1 slow slow1 slow slow2'
cat job.slow job.fast >err
test ! -s err # nothing to complain about
ok 'jobs on several nodes and in several partitions work for one run'

# What a run asks of slurmctld is counted by sdiag: nothing per task.
# rpcs: of all types but sdiag's own.
rpcs() {
    sdiag | sed -n '/by message type/,/by user/p' |
        awk '!/STATS_INFO/ && match($0, /count:[0-9]+/) {
            sum += substr($0, RSTART + 6, RLENGTH - 6) } END { print sum + 0 }'
}
# asked TASKS: RPCs from the submission of a job with so many tasks to its end.
asked() {
    for i in $(seq "$1"); do echo true; done >bag
    rm -f bag.bats*
    local before
    before=$(rpcs)
    sbatch --wait -p fast -n 5 -o out --wrap 'srun --mpi=pmix bats-mpi bag' \
        >submitted 2>err
    grep -q "all $1 tasks done" out
    echo $(($(rpcs) - before)) >count
}
asked 20
few=$(cat count)
asked 200
many=$(cat count)
echo "# $few RPCs for a job of 20 tasks, $many for 200"
test "$few" -gt 5
test "$many" -lt $((few + 20)) # sbatch --wait asks, too
ok 'the controller is asked no more for 200 tasks than for 20'
done_testing
