#!/bin/bash
# No time is left, or so a signal says: what is not done stays for another run.
. "$TOP/tests/mpi/lib.sh"

report() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" report
}

for i in $(seq 120); do
    echo 'sleep 0.2; echo x >>ended'
done >bag
for i in $(seq 4); do echo 'touch started; sleep 1001'; done >long

expect 5 bats 3 bag --policy rr --time-limit 4 --json report
test "$(report outcome)" = deadline
test "$(report tasks_left)" -gt 0
test "$(report tasks_failed)" = 0
ok '--time-limit: exit status 5, tasks are left'
grep -q "^bats-mpi: the time limit is reached: .*, $(report tasks_left) left" err
ok 'a sentence says how many'
grep -qx 'The same command with --resume does the rest.' err
ok 'and another how they are done'
# What was about to end when it was stopped may have written its line, too.
test "$(report tasks_done)" -gt 0
test "$(report tasks_done)" -le "$(wc -l <ended)"
test "$(($(report tasks_done) + 2))" -ge "$(wc -l <ended)"
ok 'what was done counts'

expect 5 bats 3 long --policy rr --time-limit 1 --joblog log
test "$(wc -l <log)" -eq 1
within 60 nobody_left
ok 'what runs at the end is stopped and has no result'

echo true >short
bats 2 short --time-limit 1h
ok 'a limit that is not reached changes nothing'

# Stopped twice, the task still has the try that it is allowed.
cat >task <<'TASK'
[ -e hang ] && sleep 1001
[ -e failed ] || { touch failed; exit 1; }
echo done
TASK
echo 'sh ./task' >stopped
touch hang
for session in 1 2; do
    expect 5 bats 2 stopped --retries 2 --time-limit 2 --grace 0.1 --resume
done
rm hang
bats 2 stopped --retries 2 --resume
test "$(cat out)" = 'done'
ok 'a time limit uses up no retries'

# job SECONDS BAG ARGUMENT...: as in a Slurm job that ends in so many seconds.
job() {
    end=$(($(date +%s) + $1))
    shift
    env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 3 \
        env SLURM_JOB_ID=1 SLURM_JOB_END_TIME=$end "$BATS_MPI" "$@" \
        >out 2>err </dev/null
}
# The limit is the end less 5 s and the grace time; starting takes a while.
began=$(date +%s)
bats 3 short
expect 5 job $((9 + 3 * ($(date +%s) - began))) long --policy rr --grace 1 --json report
test "$(report preempted)" = 2
within 60 nobody_left
ok 'in a Slurm job the end of the job is the limit'
grep -q '^bats-mpi: the Slurm job ends at 20' err
ok 'a line says so'
rm -f started
expect 5 job -60 long --policy rr
test ! -e started
ok 'a job that is over starts nothing'
job 1 short --time-limit 1h --budget unlimited
expect 1 grep -q 'job ends' err
ok 'an explicit limit has precedence'

if command -v sqlite3 >/dev/null; then
    expect 5 bats 3 long --policy rr --time-limit 1
    test "$(sqlite3 long.bats 'SELECT finish FROM session')" = deadline
    ok 'the record says why the run ended'
else
    skip 'the record says why the run ended' 'no sqlite3'
fi

# ---- SIGUSR1 ----

for i in $(seq 60); do
    echo 'touch started; until [ -e go ]; do sleep 0.1; done; echo x >>ended'
done >bag

# drain WHOM: starts a run on 4 ranks and sends SIGUSR1 when it has begun.
# Tasks end when it has been heard of.
drain() {
    rm -f started ended go
    env "$mark" ${MPIRUN:-mpirun} -n 4 "$BATS_MPI" bag --policy rr \
        --joblog log --json report >out 2>err </dev/null &
    launcher=$!
    within 60 test -e started
    case $1 in
    rank) kill -USR1 "$(rank_pid 0)" ;;
    worker) kill -USR1 "$(rank_pid 1)" ;;
    launcher) kill -USR1 $launcher ;;
    esac
    [ "$1" = worker ] || within 60 grep -q 'SIGUSR1: no more tasks' err
    touch go
    wait $launcher
}
expect 5 drain rank
test "$(report outcome)" = stopped
test "$(report tasks_left)" -gt 0
test "$(report preempted)" = 0
test "$(wc -l <ended)" -eq "$(report tasks_done)"
test "$(report tasks_failed)" = 0
ok 'SIGUSR1: running tasks end, no more are started, exit status 5'
grep -q '^bats-mpi: drained by SIGUSR1: ' err
within 60 nobody_left
ok 'the report says so'
exits '1|5' '^bats-mpi: drained by SIGUSR1: ' drain launcher
test "$(report preempted) $(report tasks_failed)" = '0 0'
test "$(wc -l <ended)" -eq "$(report tasks_done)"
ok 'the launcher may send it to all ranks'
drain worker
test "$(report tasks_done)" = 60
ok 'a worker alone does not heed it'

done_testing
