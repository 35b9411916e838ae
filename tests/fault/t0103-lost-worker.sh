#!/bin/bash
# A worker is lost. Where the MPI survives that, so does the run.
. "$TOP/tests/mpi/lib.sh"
needs_open_mpi

# launch ARGUMENT...: mpirun in the background, prepared to lose ranks.
launch() {
    rm -f pids.*
    behind timeout -k 5 900 ${MPIRUN:-mpirun} --enable-recovery "$@"
}

# ---- killed ----

# Children ignore TERM. On the machines that die the tasks last.
cat >task <<'TASK'
trap '' TERM
echo $$ >>"pids.$BATS_MACHINE"
case $BATS_MACHINE in all-2) sleep 1001 ;; all-4) exec sleep 1001 ;; esac
sleep 0.5
echo "$BATS_TASK_ID"
TASK
yes '. ./task' | head -n 12 >bag

launch -n 5 "$BATS_MPI" bag --policy rr --joblog log --json report
for rank in 2 4; do within 60 test -s pids.all-$rank; done
victim=$(cat pids.all-2)
kill -KILL "$(rank_pid 2)"
# As Slurm does that ends a step: it kills all processes, one after the other.
# (The rank waits a quarter of a second for its own end: no process starts here.)
perl -e 'kill "KILL", shift; select undef, undef, undef, 0.03; kill "KILL", shift' \
    "$(cat pids.all-4)" "$(rank_pid 4)"
within 60 test ! -e "/proc/$victim"
kill -0 $run
wait $run
exactly_once 12
for rank in 2 4; do
    grep -q "bats-mpi: rank $rank on .* is lost: its process has ended" err
done
grep -q '^lost *2 machines' err
holds '.clusters[0].machines_lost == 2'
within 60 nobody_left
ok 'a task dies, or is killed, with its rank: it runs elsewhere, and has not failed'

# mpirun --enable-recovery would say 0.
cp bag failing
echo false >>failing
recoverable 4 failing --policy rr -q
within 60 test -s pids.all-2
kill -KILL "$(rank_pid 2)"
ends_with 1
printf 'true\nfalse\n' >failing
recoverable 4 failing -q
ends_with 1
ok 'the exit status tells of failed tasks, with a loss and without'

# ---- lost again and again ----

# kill_where_it_runs N: the worker that has the task, N times.
kill_where_it_runs() {
    killed=0
    while [ $killed -lt "$1" ]; do
        within 60 test -s where || return 1
        pid=$(rank_pid "$(sed s/all-// where)")
        rm where
        kill -KILL "$pid" && killed=$((killed + 1))
    done
}
rules='--policy rr --joblog log'
echo '@once echo $BATS_MACHINE >new && mv new where && sleep 1001' >fragile
launch -n 5 "$BATS_MPI" fragile $rules --resume
kill_where_it_runs 3
within 60 test -s where
is_lost_thrice() {
    test "$("$BATS_MPI" log fragile 2>/dev/null | grep -c ' lose .* task 1$')" = 3
}
within 60 is_lost_thrice
ok 'a task that is lost with its machine goes to another one, and the log tells'
kill -KILL "$(rank_pid 0)"
wait $run || :
within 60 nobody_left
rm where
recoverable 5 fragile $rules --resume
kill_where_it_runs 3
ends_with 1
grep -q 'task 1 has failed: it was lost with' err
test "$(cut -f 1,7,8 log | tail -n 1 | tr '\t' ' ')" = '1 0 9'
"$BATS_MPI" tasks --failed fragile | grep -q 'signal 9'
recoverable 3 fragile $rules --resume
ends_with 1
test ! -e where
ok 'the sixth time, in whatever session, it has failed, and that is its result'
launch -n 3 "$BATS_MPI" fragile $rules --resume-failed
kill_where_it_runs 1
within 60 test -s where
kill -TERM "$(rank_pid 0)"
wait $run || :
within 60 nobody_left
verb record verify fragile
ok 'run again, it may be lost again; the record of all sessions is true'

# As on another host: the worker's process cannot be seen from rank 0. It is
# the launcher that tells, long before the silence does.
name='the launcher tells of a worker that rank 0 cannot see'
if ! ldd "$BATS_MPI" | grep -q libpmix; then
    skip "$name" 'built without PMIx'
elif ! unshare -p -f true 2>/dev/null; then
    skip "$name" 'not allowed to unshare'
else
    launch -n 2 "$BATS_MPI" bag --policy rr --joblog log --silence 10h : \
        -n 1 unshare -p -f --kill-child "$BATS_MPI" bag : -n 1 "$BATS_MPI" bag
    within 60 test -s pids.all-2
    kill -KILL "$(rank_pid 2)"
    wait $run
    exactly_once 12
    grep -q 'rank 2 on .* is lost: its process has ended' err
    ok "$name"
    launch -n 3 "$BATS_MPI" bag --policy rr --silence 6s
    within 60 test -s pids.all-2
    kill -KILL "$(rank_pid 0)"
    wait $run || :
    grep -q 'rank 0 has died' err
    within 60 nobody_left
    ok 'a master that dies takes the workers with it, all the same'
fi

# ---- silent ----

# stop_rank N: it sleeps as if its host had frozen. Its task does not.
stop_rank() {
    stopped=$(rank_pid $1)
    kill -STOP "$stopped"
    within 60 grep -q '(bats-mpi) T' "/proc/$stopped/stat"
}

# Tasks are short at first, so that they are given ahead. Later ones end on the
# machines that are to sleep when these do, on others when the loss is noticed:
# on a busy machine their ranks may be late themselves, and get more time.
cat >task <<'TASK'
case $BATS_MACHINE in all-[23]) file=asleep ;; *) file=lost ;; esac
if test "$BATS_TASK_ID" -gt 100; then
    echo $$ >>"pids.$BATS_MACHINE"
    until test -e $file; do sleep 0.1; done
fi
echo "$BATS_TASK_ID"
TASK
yes 'sh task' | head -n 200 >bag
launch -n 5 "$BATS_MPI" bag --policy rr --joblog log --silence 10s
for rank in 3 2; do
    within 60 test -s pids.all-$rank
    stop_rank $rank
done
touch asleep
for rank in 3 2; do within 60 grep -q "rank $rank on .* is lost" err; done
begun=$(wc -l <pids.all-2)
kill -CONT "$stopped"
touch lost
wait $run
exactly_once 200
# It may start what it was given ahead, beside the one that it ran: lost tasks.
given=$(sql "SELECT count(*) FROM execution e JOIN machine m ON m.id = e.machine
    WHERE m.name = 'all-2' AND outcome = 6")
test "$(wc -l <pids.all-2)" -lt $((begun + given))
within 60 nobody_left
ok 'silent workers are lost, and their results: one ends when it wakes up, one is killed'

# Its task leaves no core to it.
cat >task <<'TASK'
for i in 1 2 3 4; do (while :; do :; done) & done
sleep 8
echo "$BATS_TASK_ID"
TASK
printf 'sh task\nsh task\n' >bag
launch -n 3 "$BATS_MPI" bag --policy rr --joblog log --silence 7s
wait $run
exactly_once 2
expect 1 grep -q 'is lost' err
ok 'a worker whose tasks take all cores is not silent'

done_testing
