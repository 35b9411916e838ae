#!/bin/bash
# Worker jobs of Slurm join a run that goes on outside of any job, from several
# nodes and partitions, and leave it: in order, cancelled, or unplugged.
. "$TOP/tests/slurm/lib.sh"

ini '[run]; currency = SU' \
    '[cluster fast]; partition = fast; charge = 8; max = 8' \
    '[cluster slow]; partition = slow; charge = 3; max = 8' >clusters.ini

# master BAG ARGUMENT...: a run on the controller, into out and err; $master.
master() {
    rm -f door
    "$BATS_MPI" "$@" --clusters clusters.ini --welcome door --host 10.77.0.1 \
        --grace 1s --no-record >out 2>err </dev/null &
    master=$!
    within 60 test -s door
}
# worker PARTITION NODES RANKS: a job; its number is $job, its log job.$job.
worker() {
    job=$(sbatch --parsable -p "$1" -N "$2" -n "$3" \
        -o 'job.%j' --wrap "srun --mpi=pmix bats-mpi worker --join door")
}
lines() { # N: so many tasks have printed something
    [ "$(wc -l <out)" -ge "$1" ]
}

# After eight of them the others wait for the job in the other partition.
for i in $(seq 60); do
    echo "echo $i \$BATS_CLUSTER \$(hostname); echo >>on.\$BATS_CLUSTER;" \
        '[ $(cat on.* | wc -l) -le 8 ] ||' \
        'until [ -e on.fast ]; do sleep 0.1; done'
done >bag
master bag
worker slow 2 4
first=$job
within 60 lines 4
expect 1 grep -q fast out
worker fast 1 1
expect 0 wait $master
await $first
await $job
seq 60 | diff - <(cut -d' ' -f1 out | sort -n)
test "$(cut -d' ' -f2,3 out | sort -u | xargs)" = \
    'fast fast1 slow slow1 slow slow2'
cat "job.$first" "job.$job" >said
cp said err
test ! -s said # nothing to complain about
ok 'jobs on several nodes and in several partitions work for one run'

for i in $(seq 6); do echo "test -e go || sleep 600; echo $i"; done >bag
rm -f go
sleepers() { # N
    [ "$(pgrep -cx -f 'sleep 600')" -eq "$1" ]
}
master bag --silence 6s
worker slow 1 2
cancelled=$job
worker fast 1 2
unplugged=$job
node=$(squeue -h -j "$job" -o %N)
within 60 sleepers 4
node=$(squeue -h -j "$unplugged" -o %N)
touch go
scancel "$cancelled"
ip link set "$node" down
worker slow 1 1
expect 0 wait $master
seq 6 | diff - <(sort -n out)
ok 'what was done by a job that is cancelled or unplugged is done by another'
within 60 sleepers 0
ip link set "$node" up
await "$cancelled" || :
within 120 job_is "$unplugged" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL'
grep -q 'the master has been silent for too long' "job.$unplugged" ||
    job_is "$unplugged" NODE_FAIL
ok 'a job that is unplugged ends its tasks and itself'
done_testing
