#!/bin/bash
# Tasks that need cores, memory and GPUs, on nodes of a Slurm job and on jobs
# that are bought.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"

# The nodes have 1000M each; fast1 and fast2 have two GPUs.
buy() {
    alloc "$@" -b 100 --max-jobs "${most-2}" --window 30s
}

cat >gpus <<'END'
#!/bin/bash
# gpus N: fails unless it sees N GPUs that no other task on the node sees.
list=${CUDA_VISIBLE_DEVICES//,/ }
[ "$CUDA_VISIBLE_DEVICES" = "$ROCR_VISIBLE_DEVICES" ] || exit 1
echo "$BATS_TASK_ID $(echo $list | wc -w) $SLURM_MEM_PER_NODE $SLURM_JOB_PARTITION"
for gpu in $list; do mkdir "$BED/gpu.$(hostname).$gpu" || exit 1; done
sleep 0.5
for gpu in $list; do rmdir "$BED/gpu.$(hostname).$gpu"; done
[ "$(echo $list | wc -w)" -eq $1 ]
END
{
    echo '#BATS gpus=1 memory=100M'
    yes 'bash gpus 1' | head -n 5
    printf '%s\n' '#BATS gpus=2' 'bash gpus 2'
} >bag
all='1 1 200 fast,2 1 200 fast,3 1 200 fast,4 1 200 fast,5 1 200 fast,6 2 200 fast,'
buy bag -p fast,slow --slots 2
grep -q 'partition slow is not used: none of its nodes can hold any' err
test "$(sort out | tr '\n' ',')" = "$all"
most=1 buy bag -p fast --slots 2 --nodes 2 --record nodes.bats
test "$(sort out | tr '\n' ',')" = "$all"
buy bag -p fast --slots 2 --dry-run
grep -q -- ' --mem=200M --gres=gpu:2 ' out
ok 'jobs of one or two nodes request what tasks need, and each has GPUs of its own'

before=$(sbatch --parsable --hold --wrap true)
printf '%s\n' true '#BATS memory=1001M' true >large
exits 2 'large: task 2, line 3, needs 1001M of memory; the largest machine, slow-1, has 1000M' \
    buy large -p slow --slots 2 --record large.bats
printf '%s\n' '#BATS gpus=3' true >three
exits 2 'task 1, line 2, needs 3 GPUs; the largest machine, fast-1, has 2 GPUs' \
    buy three -p fast,slow --slots 4 --record three.bats
after=$(sbatch --parsable --hold --wrap true)
test $((after - before)) -eq 1
ok 'what no job can hold is refused before a job is submitted'

# Half of what it needs on each of two slots: the jobs request the room.
printf '%s\n' '#BATS memory=30M' '{ head -c 60M /dev/zero; [ $BATS_ATTEMPT -gt 1 ] || sleep 1000; } | tail -n 1 >/dev/null; echo $SLURM_MEM_PER_NODE' >grows
buy grows -p slow --slots 2 --memory-limit --retry-memory 3
test "$(cat out)" = 90
test "$(bats-mpi tasks --json grows | jq .attempts)" -eq 2
bats-mpi log grows | grep -q 'out of memory'
ok 'a task that holds too much is killed, and tried again with more'

# What --sbatch requests is what the nodes have.
buy bag -p fast --slots 2 --dry-run --sbatch '--mem=300M --gres=gpu:x:2'
grep -q -- '--mem=300M --gres=gpu:x:2 ' out
expect 1 grep -q -- '--mem=200M' out
exits 2 'task 1, line 2, needs 1 GPU and 100M of memory; the largest machine, fast-1, has 50M' \
    buy bag -p fast --slots 2 --sbatch --mem=50M --record small.bats
task='echo $BATS_TASK_ID $CUDA_VISIBLE_DEVICES; sleep 1'
printf '%s\n' '#BATS gpus=1' "$task" "$task" >numbered
most=1 buy numbered -p slow --slots 2 --gpus-per-node 2
test "$(cut -d' ' -f2 out | sort | tr '\n' ' ')" = '0 1 '
ok '--sbatch and --gpus-per-node say what nodes have'

# Where no other processors are allowed.
if two_cores && [ "$(sed -n 's/Cpus_allowed_list:\t//p' /proc/self/status)" = 0-1 ]; then
    cat >where <<'END'
echo $BATS_TASK_ID $OMP_NUM_THREADS \
    $(sed -n 's/Cpus_allowed_list://p' /proc/self/status) \
    $(taskset -p $$ | sed 's/.*: //')
sleep 0.5
END
    printf '%s\n' '#BATS cores=2' 'bash where' '#BATS cores=1' 'bash where' \
        'bash where' >bound
    (unset OMP_NUM_THREADS; most=1 buy bound -p slow --slots 2)
    grep -qx '1 2 0-1 3' out
    test "$(grep '^[23] ' out | cut -d' ' -f2- | sort | tr '\n' ',')" = \
        '1 0 1,1 1 2,'
    ok 'tasks are bound to the cores of their ranks on the node of a job'
fi

nested
{
    echo '#BATS cores=4'
    echo "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;" \
        "OMPI_MCA_rmaps_base_oversubscribe=1 ${MPIRUN:-mpirun} -n 4 ./nested"
} >mpi
most=1 buy mpi -p slow --slots 4
test "$(cat out)" = '6 of 4'
ok 'an MPI program of four ranks runs in a task of four cores of a job'

# Two nodes, of which the first has rank 0 and two workers, and the other three.
say='echo $BATS_TASK_ID $(hostname)'
{
    echo '#BATS cores=2'
    yes "$say; sleep 0.3" | head -n 6
    printf '%s\n' '#BATS cores=3' "$say" '#BATS cores=1'
    yes "$say" | head -n 6
} >bag
srun --mpi=pmix -N2 -n6 --ntasks-per-node=3 -w fast1,fast2 "$BATS_MPI" bag \
    --no-record >out 2>err
test "$(wc -l <out)" -eq 13
grep -q '^7 fast2$' out
test "$(sort -n out | head -n 6 | cut -d' ' -f2 | sort -u | wc -l)" -eq 2
ok 'tasks of two cores run on both nodes, and three on the one with so many ranks'

# On jobs that are bought, of one node each.
{
    echo '#BATS cores=2'
    yes 'echo $BATS_TASK_ID $OMP_NUM_THREADS >>ran; sleep 1' | head -n 4
    echo '#BATS cores=1'
    yes 'echo $BATS_TASK_ID one >>ran; sleep 0.3' | head -n 3
} >jobs
jobs() { # SLOTS OPTION...
    rm -f ran
    buy jobs -p fast --slots "$@"
}
all='1 2 2 2 3 2 4 2 5 one 6 one 7 one'
jobs 3
test "$(sort ran | xargs)" = "$all"
exits 2 'task 1, line 2, needs 2 cores; the largest machine, fast-1, has 1 rank$' \
    jobs 1 --record small.bats
most=1 jobs 3 --nodes 2 --record two.bats
test "$(sort ran | xargs)" = "$all"
ok 'tasks of several cores run on jobs of one or two nodes, unless these are small'
# Only names: the tasks of a job whose ranks see no GPU would have none.
printf '%s\n' '#BATS gpus=1' true >hidden
mkdir bin
cat >bin/sbatch <<'END'
#!/bin/sh
for word; do
    shift
    case $word in --gres=*) ;; *) set -- "$@" "$word" ;; esac
done
PATH=${PATH#*:} exec sbatch "$@"
END
chmod +x bin/sbatch
PATH=$PWD/bin:$PATH
exits 3 'VISIBLE_DEVICES names 0 GPUs of fast. instead of 1' \
    buy hidden -p fast --slots 1 --record hidden.bats
grep -q 'no more jobs are asked for in partition fast' err
ok 'a job that has less than it requested does not join'
done_testing
