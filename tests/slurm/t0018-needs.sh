#!/bin/bash
# Tasks that need several cores, on nodes of a Slurm job.
. "$TOP/tests/slurm/lib.sh"

# Two nodes, of which the first has rank 0 and two workers, and the other three.
{
    echo '#BATS cores=2'
    for i in $(seq 6); do echo 'echo $BATS_TASK_ID $(hostname); sleep 0.3'; done
    echo '#BATS cores=3'
    echo 'echo $BATS_TASK_ID $(hostname)'
    echo '#BATS cores=1'
    for i in $(seq 6); do echo 'echo $BATS_TASK_ID $(hostname)'; done
} >bag
on_two() {
    srun --mpi=pmix -N2 -n6 --ntasks-per-node=3 -w fast1,fast2 "$BATS_MPI" \
        "$@" --no-record >out 2>err
}
on_two bag
test "$(wc -l <out)" -eq 13
ok 'all tasks run'
grep -q '^7 fast2$' out
ok 'the one of three cores on the node that has so many ranks'
test "$(sort -n out | head -n 6 | cut -d' ' -f2 | sort -u | wc -l)" -eq 2
ok 'those of two on both'
printf '%s\n' '#BATS cores=4' true >four
exits 2 'needs 4 cores; the largest machine.* has 3 ranks' on_two four
ok 'four are on no node, though the job has more ranks'

# On jobs that are bought, of one node each.
{
    echo '#BATS cores=2'
    for i in $(seq 4); do
        echo 'echo $BATS_TASK_ID $OMP_NUM_THREADS >>ran; sleep 1'
    done
    echo '#BATS cores=1'
    for i in $(seq 3); do echo 'echo $BATS_TASK_ID one >>ran; sleep 0.3'; done
} >jobs
buy() {
    bats-mpi alloc jobs --host 10.77.0.1 --poll 1s -p fast -b 100 --max-jobs 2 \
        --window 30s "$@" >out 2>err
}
buy --slots 3
test "$(sort ran | tr '\n' ' ')" = '1 2 2 2 3 2 4 2 5 one 6 one 7 one '
ok 'tasks of several cores run on jobs that are bought'
expect 2 buy --slots 1 --record small.bats
grep -q 'task 1, line 2, needs 2 cores; the largest machine, fast-1, has 1 rank$' err
ok 'unless their jobs are too small'
rm ran
buy --slots 3 --nodes 2 --max-jobs 1 --record two.bats
test "$(sort ran | tr '\n' ' ')" = '1 2 2 2 3 2 4 2 5 one 6 one 7 one '
ok 'they also run on jobs of two nodes'
done_testing
