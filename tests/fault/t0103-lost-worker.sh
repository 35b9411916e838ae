#!/bin/sh
# A worker is killed. Where the MPI survives that, so does the run.
. "$TOP/tests/mpi/lib.sh"

if ! ${MPIRUN:-mpirun} --version 2>/dev/null | grep -q 'Open MPI'; then
    skip 'the run survives the loss of a worker' 'not Open MPI'
    done_testing
    exit
fi

# Children ignore TERM. On the machine that dies the tasks last.
cat >task <<'TASK'
trap '' TERM
echo $$ >>"pids.$BATS_MACHINE"
if test "$BATS_MACHINE" = all-2; then sleep 1001; fi
sleep 0.5
echo "$BATS_TASK_ID"
TASK
for i in $(seq 12); do echo 'sh task'; done >bag

env "$mark" timeout -k 5 200 ${MPIRUN:-mpirun} --enable-recovery -n 4 \
    "$BATS_MPI" bag --policy rr --json report >out 2>err </dev/null &
launcher=$!
within 30 test -s pids.all-2
victim=$(cat pids.all-2)
kill -KILL "$(rank_pid 2)"
gone() {
    ! kill -0 "$victim" 2>/dev/null
}
within 10 gone
ok 'its task dies with it'
kill -0 $launcher
ok 'the launcher does not'
wait $launcher
test $? -eq 0
ok 'the run goes on to its end: exit status 0'
sort -n out | cmp - "$(seq 12 >expected && echo expected)"
ok 'every task has been done once'
grep -q 'bats-mpi: rank 2 on .* is lost: its process has ended' err &&
    grep -q '^lost *1 machine' err && grep -q '"machines_lost": 1' report
ok 'the report names the machine'
within 5 nobody_left
ok 'nothing is left'

done_testing
