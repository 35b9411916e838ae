#!/bin/bash
# Tasks that need several cores hold as many ranks of one node.
. "$TOP/tests/mpi/lib.sh"
unset OMP_NUM_THREADS

# With 4 ranks of a node: what each task sees, and how much runs beside it.
cat >beside <<'END'
#!/bin/bash
# beside CORES: fails if the tasks that run here need more than 4 cores.
exec 9>>running
flock 9
echo $1 >"on.$BATS_TASK_ID"
sum=$(awk '{ sum += $1 } END { print sum }' on.*)
flock -u 9
sleep 0.2
flock 9
rm "on.$BATS_TASK_ID"
echo "$BATS_TASK_ID $1 ${OMP_NUM_THREADS-unset}"
[ "$sum" -le 4 ]
END
cat >bag <<'BAG'
bash beside 1
#BATS cores=3
bash beside 3
bash beside 3
#BATS cores=1
bash beside 1
bash beside 1
#BATS cores=4
bash beside 4
#BATS cores=2
bash beside 2
BAG
printf '%s\n' '1 1' '2 3' '3 3' '4 1' '5 1' '6 4' '7 2' >wanted
as_wanted() {
    cut -d' ' -f1,2 out | sort | cmp -s - wanted
}

bats 5 bag --no-record
as_wanted
grep -q 'all 7 tasks done' err
by_mpi 5 bag --no-record
as_wanted
ok 'tasks of one to four cores run on four ranks, and never too many at once'

# A class whose tasks differ in cores is several categories in the record.
{ echo '#BATS class=some'; cat bag; } >classes
bats 5 classes
as_wanted
test "$(sql classes.bats "SELECT json_extract(options, '$.categories')
    FROM session")" = \
    '["-","some","some, 3 cores","some, 4 cores","some, 2 cores"]'
"$BATS_MPI" record verify classes | grep -q ': all agree$'
test "$(grep -cE '^some(, [234] cores)?  *[123] ' err)" -eq 4
"$BATS_MPI" why classes 2 | grep -qx 'it needs 3 cores of a machine'
ok 'the record and the report name the classes of tasks that differ in cores'

ini '[cluster a]; machine = node; charge = 3' >node
bats 5 bag --no-record --policy rr --order random --budget 9 --clusters node
as_wanted
grep -q '^charged  *3 of' err
bats 5 bag --no-record --policy bkp --budget 9 --clusters node
as_wanted
ok 'within a budget, which pays for the node, also by a policy of the papers'

bats 5 --cpus=2 --no-record -- 'echo {} $OMP_NUM_THREADS' ::: a b
test "$(sort out | tr '\n' ' ')" = 'a 2 b 2 '
bats 5 --cores 2 --no-record -- 'echo {} $OMP_NUM_THREADS' ::: a b c
test "$(sort out | tr '\n' ' ')" = 'a 2 b 2 c 2 '
OMP_NUM_THREADS=7 bats 5 --cores 2 --no-record -- 'echo $OMP_NUM_THREADS' ::: a
test "$(cat out)" = '7 a'
ok '--cores (--cpus) is what each task needs, and threads, unless these are set'

printf '%s\n' '#BATS cores=2' 'touch begun' '#BATS cores=5' 'true' >five
rm -f begun
exits 2 'five: task 2, line 4, needs 5 cores; the largest machine, all-1, has 4 ranks' \
    bats 5 five --no-record
test ! -e begun
sed -i s/node/rank/ node
exits 2 'task 1, line 2, needs 2 cores.*machine = node' \
    bats 5 five --no-record --clusters node
ok 'what fits nowhere, or where a machine is a rank, is refused before it begins'
ini '[cluster a]; ranks = 1-4; machine = node; charge = 3' \
    '[cluster b]; ranks = 5; machine = node; charge = 1' >two
printf '%s\n' '#BATS cores=4' 'echo $BATS_CLUSTER' '#BATS cores=1' true >some
exits 2 'needs 4 cores, and no machine of cluster b has so many' \
    bats 6 some --no-record --budget 9 --clusters two
bats 6 some --no-record --budget 9 --clusters two --policy rr
test "$(cat out)" = a
ok 'what fits one cluster only runs there, if all are held'

if two_cores; then
    echo 'grep Cpus_allowed_list /proc/self/status' >where
    taskset -c 0,1 "$BATS_MPI" -j 2 --cores 2 --no-record where >out 2>err
    grep -q 'Cpus_allowed_list:.0-1' out
    taskset -c 0,1 "$BATS_MPI" -j 2 --no-record where >out 2>err
    grep -qE 'Cpus_allowed_list:.[01]$' out
    ok 'a task is bound to the cores of all its ranks'
    # One task for each rank says where it is.
    yes 'echo $(grep Cpus_allowed_list /proc/self/status) ${OMP_NUM_THREADS-unset}; sleep 1' |
        head -n 2 >bound
    while IFS='|' read -r ranks threads says options name; do
        (
            MPIRUN='taskset -c 0,1 mpirun --bind-to none'
            [ -z "$threads" ] || export OMP_NUM_THREADS=$threads
            by_mpi $ranks bound --policy rr --no-record $options
        )
        test "$(sort out | sed 's/Cpus_allowed_list: //' | tr '\n' ' ')" = "$says "
        ok "$name"
    done <<'ROWS'
3||0 1 1 1||ranks share the cores they have, one each; rank 0 has no share
3||0-1 1 0-1 1|--bind numa|--bind numa: what is near, and as many threads as cores
3||0-1 unset 0-1 unset|--bind none|--bind none leaves them where they are
4||0-1 1 0-1 1||with more ranks than cores nothing is bound, and a task is one thread
1||0-1 2 0-1 2||a rank alone has all
1|7|0-1 7 0-1 7||OMP_NUM_THREADS is left alone where it is set
ROWS
fi

# ---- memory and GPUs ----

# Slurm tells the memory of the job on the node in MiB.
cat >both <<'END'
#!/bin/bash
# both N: waits until two tasks are here; N times, 0.1 s each.
touch here.$$
for i in $(seq $1); do
    [ $(ls here.* | wc -l) -lt 2 ] || exit 0
    sleep 0.1
done
rm here.$$
exit 1
END
printf '%s\n' '#BATS memory=1G' 'bash both $N' 'bash both $N' >two
N=600 SLURM_MEM_PER_NODE=2048 bats 5 two --no-record
rm -f here.*
N=5 SLURM_MEM_PER_NODE=2047 expect 1 bats 5 two --no-record
N=5 SLURM_MEM_PER_NODE=2047 expect 1 bats 5 --memory 1G --no-record -- \
    'bash both $N' ::: a b
ok 'tasks run at the same time while the node has the memory that they need'
printf '%s\n' true '#BATS cores=2 memory=1G' '#BATS gpus=1' true >one
needs='needs 2 cores, 1 GPU and 1G of memory; the largest machine, all-1, has'
SLURM_MEM_PER_NODE=1000 exits 2 "one: task 2, line 4, $needs 1000M$" \
    bats 5 one --no-record --gpus-per-node 1
exits 2 "$needs 0 GPUs$" bats 5 one --no-record
ok 'a task that needs more memory or GPUs than any node has is refused'

cat >gpus <<'END'
echo "$BATS_TASK_ID $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES"
for gpu in ${CUDA_VISIBLE_DEVICES//,/ }; do mkdir gpu.$gpu || exit 1; done
sleep 0.1
for gpu in ${CUDA_VISIBLE_DEVICES//,/ }; do rmdir gpu.$gpu; done
END
{
    printf '%s\n' 'bash gpus' '#BATS gpus=2' 'bash gpus' '#BATS gpus=1'
    yes 'bash gpus' | head -n 8
} >bag
CUDA_VISIBLE_DEVICES=5,GPU-x,7 bats 6 bag --no-record
grep -qx '1  ' out
grep -qxE '2 (5|7|GPU-x),(5|7|GPU-x) .*' out
gpu='(5|7|GPU-x)'
test "$(grep -cxE "[0-9]+ $gpu $gpu" out)" = 8
ok 'each task sees GPUs of its own, and one that needs none sees none'
for ranks in 6 3; do
    ROCR_VISIBLE_DEVICES=0,1 bats $ranks --gpus 1 --no-record -- 'bash gpus' \
        ::: 1 2 3 4
    test "$(cut -d' ' -f2,3 out | sort -u | tr '\n' ' ')" = '0 0 1 1 '
done
by_mpi 6 bag --gpus-per-node 2 --no-record
grep -qx '2 0,1 0,1' out
ok 'likewise those of another name, and as many as --gpus-per-node says'

printf '%s\n' x,cores,memory,gpus a,1,,0 b,2,1M,1 >points
bats 5 --csv points --gpus-per-node 1 --no-record -- \
    'echo {x} $OMP_NUM_THREADS "$CUDA_VISIBLE_DEVICES"'
test "$(sort out | tr '\n' ' ')" = 'a 1  b 2 0 '
echo 'c,1,1M,many' >>points
exits 2 "points:4: gpus: 'many' is not a whole number from 0 to 64" \
    bats 5 --csv points --no-record -- 'echo {x}'
printf '%s\n' '{"x": "a"}' '' '{"x": "b", "cores": 0}' >points.json
exits 2 "points.json:3: cores: '0' is not a whole number from 1 to" \
    bats 5 --from-json points.json --no-record -- 'echo {x}'
printf 'CORES=2\na:\n\techo $OMP_NUM_THREADS >a\nCATEGORY=x\nCORES=1\nb:\n\techo $OMP_NUM_THREADS >b\n' >Makeflow
bats 5 Makeflow --no-record
consists <(cat a b) 2 1
ok 'columns of a table, and CORES of a Makeflow, say what tasks need'

# ---- the limit ----

hold='{ head -c 80M /dev/zero; sleep 1000; } | tail -n 1'
printf '%s\n' '#BATS memory=60M' "$hold" 'echo small' \
    '#BATS memory=1000M' 'kill -9 $$' >bag
expect 1 bats 5 bag --memory-limit
test "$(cat out)" = small
"$BATS_MPI" tasks --failed bag >list
finds list '^ *1 .*out of memory' '^ *3 .*signal 9'
"$BATS_MPI" why bag 1 >why
grep -q 'out of memory.*held more than --memory or the bag says' why
"$BATS_MPI" log bag | grep -q 'out of memory'
exits 2 'no task says what memory' bats 5 --memory-limit -- 'echo {}' ::: a
ok '--memory-limit: a task that holds more than it needs is killed, and says why'

# attempts RECORD N: so many had its only task.
attempts() {
    test "$("$BATS_MPI" tasks --json $1 | jq .attempts)" -eq $2
}
# It waits to be killed, but for the last time.
is_last='[ $BATS_ATTEMPT -ge ${LAST-3} ]'
printf '%s\n' '#BATS class=x memory=30M' \
    "{ head -c 80M /dev/zero; $is_last || sleep 1000; } | tail -n 1 >rest" >bag
again='--memory-limit --retry-memory 2'
bats 5 bag $again
attempts bag 3
export LAST=4
SLURM_MEM_PER_NODE=50 expect 1 bats 5 bag $again --record short.bats
attempts short.bats 2
bats 5 bag $again --record short.bats --resume-failed
attempts short.bats 4
ok '--retry-memory: it is tried again with more, as far as a node has it'
bats 5 --timeout 0.5 --retry-time 20 --record time.bats -- 'sleep {}' ::: 1
attempts time.bats 2
expect 2 bats 5 --timeout 1 --retry-time 1 -- 'sleep {}' ::: 1
ok '--retry-time: a task that was stopped is tried again with more time'

# ---- sizes ----

# On a node of 4 slots and 500M two tasks that ask for 400M take 80 % of it each,
# and would take a slot each with what they use.
hold='{ head -c 50M /dev/zero; sleep 1.2; } | tail -n 1 >/dev/null'
printf '%s\n' '#BATS class=a memory=400M' "$hold" "$hold" >bag
SLURM_MEM_PER_NODE=500 bats 5 bag --memory-limit --record sizes.bats \
    --timeout 1m --time-scale 2
"$BATS_MPI" tasks --sizes sizes.bats >sizes
grep -qE '^a +2 +400M( +[56][0-9]M){4} +- +0\.' sizes
grep -qE '^a +2 +30s( +[1-9][.0-9]*s){4}$' sizes
"$BATS_MPI" tasks --sizes --json sizes.bats >report
spent=$(sql sizes.bats 'SELECT sum(cost) / 1e6 FROM task_now')
jq 'select(.asked_kib)' report >memory
holds ".class == \"a\" and .tasks == 2 and .asked_kib == 409600 and
    (.saves / $spent - 4 * (0.8 - 0.25) | fabs) < 1e-9" memory
grep -q 'are done, on whatever cluster (--timeout N% goes' sizes
holds '(.asked_s == 30) and .enough_s > 1.2 and .enough_s < 30' \
    <(jq 'select(.asked_s)' report)
ok 'tasks --sizes: asked, used, and what less would have saved; the same of time'
for i in {1..130}; do printf '%s\n' "#BATS class=c$i" true; done >many
bats 5 many
"$BATS_MPI" tasks --sizes many >sizes
test "$(grep -c '^c[0-9]* ' sizes)" = 100
grep -qx '\.\.\. 30 more' sizes
test "$("$BATS_MPI" tasks --sizes --json many | grep -c asked_s)" = 130
ok 'it says how many rows it does not show; --json shows all'

# Six tasks use 50M of the 400M that they ask for, and one 180M. On a node of 500M
# and 4 slots a third of 180M is least, if that one is tried again with three
# times as much.
hold() { # MEMORY
    echo "{ head -c $1 /dev/zero; sleep 0.8; } | tail -n 1 >/dev/null"
}
{
    echo '#BATS class=a memory=400M'
    yes "$(hold 50M)" | head -n 6
    hold 180M
} >bag
SLURM_MEM_PER_NODE=500 bats 5 bag --record past.bats --retry-memory 3
sql past.bats 'UPDATE task_now SET cost = 1000' # whatever each took
"$BATS_MPI" tasks --sizes past.bats >sizes
grep -qE '^a +7 +400M .* [67][0-9]M +14 % ' sizes
ok 'what to ask for counts on --retry-memory of the run'
ini '[run]; currency = SU' \
    '[cluster all]; ranks = 1-4; machine = node; charge = 1000; max = 2' \
    >clusters
past='--clusters clusters --history past.db'
SLURM_MEM_PER_NODE=500 bats 5 bag --history past.db --record past.bats --timeout 1h
"$BATS_MPI" plan bag $past >plan
"$BATS_MPI" tasks --sizes past.bats | awk '$2 == 7 && $3 == "400M" {
    print "; " $7 ($8 == "-" ? ":" : " with " $8 " % tried again:") }' >same
test -s same
grep -qFf same plan
grep -qE '^memory of a, on all: 400M: [0-9.]+ SU; [0-9]+M( with [0-9.]+ % tried again)?: [0-9.]+ SU$' plan
test "$(sql past.db 'SELECT sum(tasks), min(asked_kib), max(asked_kib)
    FROM memory')" = '7|409600|409600'
"$BATS_MPI" plan bag $past --memory 1G | cmp -s plan -
sed -i 's/400M/60M/' bag
"$BATS_MPI" plan bag $past >plan
expect 1 grep -q '^memory' plan
ok 'plan: what asking for less memory would cost, by the history'
enough=$("$BATS_MPI" tasks --sizes --json past.bats |
    jq 'select(.asked_s == 3600) | .enough_s | ceil')
grep -qx "time of a: 1h; ${enough}s, a twentieth more than the longest of 7 tasks, on whatever cluster" plan
"$BATS_MPI" plan bag $past --timeout 1s >plan
expect 1 grep -q '^time' plan
"$BATS_MPI" plan bag $past --timeout 2h >plan
grep -q '^time of a: 2h; [0-9]*s' plan
ok 'plan: a shorter time limit, by the history'

# ---- plans ----

# A node of 4 ranks runs one task of 3 cores at a time: each task left takes ten
# minutes of it.
{ echo '#BATS cores=3'; yes '@sleep 10m' | head -n 40; } >wide
ini '[cluster all]; machine = node; charge = 1' >node
bats 5 sample wide --clusters node --time-scale 600 --seed 5 --no-history
holds '(.clusters[0] | .slots / .room) == 4' wide.profile
left=$(sed -n 's/^\([0-9]*\) tasks left after .*/\1/p' out)
"$BATS_MPI" plan wide.profile >plan
grep ' fastest ' plan | cmp - <(grep ' fastest ' out)
"$BATS_MPI" plan wide.profile --json >report
took=$(jq '[.clusters[0].sample[][1]] | add / length' wide.profile)
holds "(.schedules[-1].makespan_s / ($left * $took) - 1 | fabs) < 0.1"
for wrong in '--cores 2' '--memory 1G' '--gpus 1'; do
    exits 2 'a profile says itself what tasks need' "$BATS_MPI" plan wide.profile $wrong 2>err
done
ini '[cluster all]; machine = node; charge = 1; slots = 8' >eight
exits 2 "eight:1: cluster 'all' has 8 slots, and had 4 when it was sampled" \
    "$BATS_MPI" plan wide.profile --clusters eight 2>err
ok 'schedules of a sample, and plan: as many tasks at a time as fit on a node'

# ---- what is seen of a task that waits for room ----

# Three of four slots are taken for long, and a short task knows how long tasks
# take, so that the task of two cores gets a reservation.
printf '%s\n' '#BATS cores=3 memory=10M' 'until [ -e stop ]; do sleep 0.1; done' \
    '#BATS cores=2 memory=20M' true '#BATS cores=1 memory=1M' true true >bag
SLURM_MEM_PER_NODE=1000 behind "$BATS_MPI" -j 4 bag --record waits.bats
within 60 told '; reserved on ' "$BATS_MPI" why waits.bats 2
"$BATS_MPI" why waits.bats 2 >why
grep -qE '^it needs 2 cores and 20M of memory of a machine; free: (1 core, 990M|0 cores, 989M) on all-1; reserved on all-1 from [0-9hms]+$' why
"$BATS_MPI" tasks waits.bats >list
grep -qE '^ *2  pending .* 2c 20M  ' list
test "$("$BATS_MPI" tasks --json waits.bats | jq -c 'select(.task == 1) |
    [.cores, .gpus, .memory_kib]')" = '[3,0,10240]'
test "$("$BATS_MPI" tasks --csv waits.bats | cut -d, -f 13-15 | xargs)" = \
    'asked_cores,asked_gpus,asked_kib 3,0,10240 2,0,20480 1,0,1024 1,0,1024'
within 60 told '1 .* 3 cores and 10M of memory  until' "$BATS_MPI" top --once waits.bats
touch stop
expect 0 wait $run
test "$(sql waits.bats "SELECT count(*) FROM happened
    WHERE what = 'reserved'")" = 1
expect 1 grep -q reserved <("$BATS_MPI" log waits.bats)
ok 'why, tasks and top: what a task needs, what is free, and what is reserved'

# ---- MPI programs ----

# Such a task does not take itself for a rank.
nested
printf '%s\n' ./nested "${MPIRUN:-mpirun} -n 1 ./nested" >bag
by_mpi 3 bag --no-record
consists out '0 of 1' '0 of 1'
# In a Flux job Open MPI 4.1 asks Flux, by FLUX_JOB_ID, and there is none here:
# the ranks of bats-mpi are told not to, a task is not.
FLUX_JOB_ID=f1 FLUX_TASK_RANK=0 OMPI_MCA_schizo=^flux OMPI_MCA_pmix=^flux \
    by_mpi 3 bag --no-record
consists out '0 of 1' '0 of 1'
ok 'an MPI program works alone in its world, or with a launcher of its own; as in Flux'
echo "${MPIRUN:-mpirun} -n 2 '$BATS_MPI' inner --quiet" >bag
echo 'echo inner' >inner
by_mpi 2 bag --no-record
grep -qx inner out
within 60 nobody_left
ok 'a task may be a run like this one; nobody is left'
printf '%s\n' '#BATS cores=4' \
    "OMPI_MCA_rmaps_base_oversubscribe=1 ${MPIRUN:-mpirun} -n 4 ./nested" >bag
by_mpi 5 bag --no-record
consists out '6 of 4'
bats 5 bag --no-record
consists out '6 of 4'
ok 'an MPI program of four ranks runs in a task of four cores'
done_testing
