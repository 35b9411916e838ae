#!/bin/bash
# Tasks that need several cores, on nodes of a Slurm job.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"

# Two nodes, of which the first has rank 0 and two workers, and the other three.
say='echo $BATS_TASK_ID $(hostname)'
{
    echo '#BATS cores=2'
    yes "$say; sleep 0.3" | head -n 6
    printf '%s\n' '#BATS cores=3' "$say" '#BATS cores=1'
    yes "$say" | head -n 6
} >bag
on_two() {
    srun --mpi=pmix -N2 -n6 --ntasks-per-node=3 -w fast1,fast2 "$BATS_MPI" \
        "$@" --no-record >out 2>err
}
on_two bag
test "$(wc -l <out)" -eq 13
grep -q '^7 fast2$' out
test "$(sort -n out | head -n 6 | cut -d' ' -f2 | sort -u | wc -l)" -eq 2
ok 'tasks of two cores run on both nodes, and three on the one with so many ranks'
printf '%s\n' '#BATS cores=4' true >four
exits 2 'needs 4 cores; the largest machine.* has 3 ranks' on_two four
ok 'four are on no node, though the job has more ranks'

# On jobs that are bought, of one node each.
{
    echo '#BATS cores=2'
    yes 'echo $BATS_TASK_ID $OMP_NUM_THREADS >>ran; sleep 1' | head -n 4
    echo '#BATS cores=1'
    yes 'echo $BATS_TASK_ID one >>ran; sleep 0.3' | head -n 3
} >jobs
buy() { # SLOTS OPTION...
    rm -f ran
    alloc jobs -p fast -b 100 --max-jobs 2 --window 30s --slots "$@"
}
all='1 2 2 2 3 2 4 2 5 one 6 one 7 one'
buy 3
test "$(sort ran | xargs)" = "$all"
exits 2 'task 1, line 2, needs 2 cores; the largest machine, fast-1, has 1 rank$' \
    buy 1 --record small.bats
buy 3 --nodes 2 --max-jobs 1 --record two.bats
test "$(sort ran | xargs)" = "$all"
ok 'tasks of several cores run on jobs of one or two nodes, unless these are small'
done_testing
