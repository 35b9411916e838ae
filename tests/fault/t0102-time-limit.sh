#!/bin/bash
# No time is left, or so a signal says: what is not done stays for another run.
. "$TOP/tests/mpi/lib.sh"

yes 'sleep 0.2; echo x >>ended' | head -n 120 >bag
yes 'touch started; sleep 1001' | head -n 4 >long

expect 5 bats 3 bag --policy rr --time-limit 4 --json report
holds '.outcome == "deadline" and .tasks_left > 0 and .tasks_failed == 0'
finds err "^bats-mpi: the time limit is reached: .*, $(json .tasks_left) left" \
    '^The same command with --resume does the rest\.$'
ok '--time-limit: exit status 5, tasks are left, and it is said how many'
# What was about to end when it was stopped may have written its line, too.
done=$(json .tasks_done)
test "$done" -gt 0
test "$(wc -l <ended)" -ge "$done"
test "$(wc -l <ended)" -le $((done + 2))
ok 'what was done counts'

expect 5 bats 3 long --policy rr --time-limit 1 --joblog log
test "$(wc -l <log)" -eq 1
within 60 nobody_left
test "$(sql long.bats 'SELECT finish FROM session')" = deadline
ok 'what runs at the end is stopped and has no result, and the record says why'

echo true >short

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
    launched -n 3 env SLURM_JOB_ID=1 SLURM_JOB_END_TIME=$end "$BATS_MPI" "$@"
}
# The limit is the end less 5 s and the grace time.
exits 5 '^bats-mpi: the Slurm job ends at 20' \
    job 12 long --policy rr --grace 1 --json report
holds '.outcome == "deadline" and .tasks_left == 4'
within 60 nobody_left
rm -f started
expect 5 job -60 long --policy rr
test ! -e started
job 1 short --time-limit 1h --budget unlimited
expect 1 grep -q 'job ends' err
ok 'in a Slurm job its end is the limit, unless there is an explicit one'

yes 'touch started; until [ -e go ]; do sleep 0.1; done; echo x >>ended' |
    head -n 60 >bag

# drain WHOM: starts a run on 4 ranks and sends SIGUSR1 when it has begun.
# Tasks end when it has been heard of.
drain() {
    rm -f started ended go
    behind ${MPIRUN:-mpirun} -n 4 "$BATS_MPI" bag --policy rr --joblog log \
        --json report
    within 60 test -e started
    case $1 in
    launcher) kill -USR1 $run ;;
    *) kill -USR1 "$(rank_pid $1)" ;;
    esac
    [ "$1" = 1 ] || within 60 grep -q 'SIGUSR1: no more tasks' err
    touch go
    wait $run
}
exits 5 '^bats-mpi: drained by SIGUSR1: ' drain 0
holds '.outcome == "stopped" and .tasks_left > 0 and .preempted == 0 and
    .tasks_failed == 0'
test "$(wc -l <ended)" -eq "$(json .tasks_done)"
within 60 nobody_left
ok 'SIGUSR1: running tasks end, no more are started, exit status 5'
exits '1|5' '^bats-mpi: drained by SIGUSR1: ' drain launcher
holds '.preempted == 0 and .tasks_failed == 0'
test "$(wc -l <ended)" -eq "$(json .tasks_done)"
drain 1
holds '.tasks_done == 60'
ok 'the launcher may send it to all ranks; a worker alone does not heed it'

done_testing
