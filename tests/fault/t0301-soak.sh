#!/bin/bash
# A soak: many short tasks, and all that can go wrong with them, until each has
# one result. Tasks fail, hang, yield and run into the end of their windows;
# workers are killed one after the other until half of them are gone, and the
# step is started again with --resume, as a job script would; once the master
# is killed. In the end record, joblog and ledger have to agree.
#
# SOAK_TASKS (1000) tasks on SOAK_WORKERS (8) workers; `make soak` takes many.
. "$TOP/tests/mpi/lib.sh"
tasks=${SOAK_TASKS:-1000}
workers=${SOAK_WORKERS:-8}

needs_open_mpi

# Retries are so many that on a busy machine no task times out each time.
# In each 1000 tasks 960 just end, 10 fail at first and 10 always, 8 hang at
# first, 6 yield at first, and 6 take their time. No machine is so fast that
# the bag is done before the first workers are killed.
awk -v n="$tasks" 'BEGIN {
    again = "test $BATS_ATTEMPT -gt 1 || "
    for (i = 1; i <= n; i++) {
        k = i * 7919 % 1000
        print k < 960 ? "sleep 0.05" : k < 970 ? again "exit 1" : \
            k < 980 ? "false" : k < 988 ? again "sleep 1001" : \
            k < 994 ? again "exit 85" : "sleep 0.5"
    }
}' >bag
# What fails or times out while a run drains is not tried again.
grep -nx false bag | cut -d: -f1 | sort >fail
grep -n 'false\|exit 1$\|1001' bag | cut -d: -f1 | sort >may.fail
seq "$tasks" >expected.all

# Two windows of three seconds for all, then the money is used up.
ini '[run]; window = 3s' '[cluster a]; charge = 1' >clusters.ini
per_session=$((2 * workers))

RANDOM=1 # the same numbers in each run of this script
# Kills workers until half of them are gone, then has the rest stop.
kill_workers() {
    gone=0
    while [ -e /proc/$run ] && [ $gone -lt $((workers / 2)) ]; do
        sleep 1.$((RANDOM % 10))
        rank=$((RANDOM % workers + 1))
        pid=$(rank_pid $rank) || :
        [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null && gone=$((gone + 1))
    done
    killed=$((killed + gone))
    signals=(TERM USR1)
    kill -${signals[RANDOM % 2]} "$(rank_pid 0)" 2>/dev/null || :
}

session=0
killed=0
masters=0
budget=0
left=$tasks
while [ $session -lt $((80 + tasks / 500)) ]; do
    session=$((session + 1))
    budget=$((budget + per_session))
    behind timeout -k 5 300 ${MPIRUN:-mpirun} --enable-recovery \
        -n $((workers + 1)) "$BATS_MPI" bag --resume --clusters clusters.ini \
        --policy rr --budget $budget --retries 20 --timeout 2s --grace 1s \
        --joblog log --json report --output none
    within 60 grep -q 'start: ' err
    # The first one's money runs out. One that is killed cannot say so; nor can
    # mpirun.
    if [ $session -gt 1 ] && [ $masters -gt 0 ]; then
        kill_workers
    elif [ $session -gt 1 ]; then
        sleep 1
        pid=$(rank_pid 0) || :
        [ -n "$pid" ] && kill -KILL "$pid" && masters=1 && rm -f report
    fi
    wait $run || :
    within 60 nobody_left || break
    before=$left
    left=$(sql "SELECT count(*) FROM tasks WHERE state NOT IN ('done', 'failed')")
    [ $left -le $before ]
    [ $left -gt 0 ] || break
done

[ $session -ge 3 ]
[ $masters -eq 1 ]
[ $killed -ge 1 ]
ok "$tasks tasks, $session sessions, $killed workers and $masters master killed"

sql "SELECT task FROM execution WHERE outcome = 0 ORDER BY task" |
    cmp - expected.all
sql "SELECT number FROM tasks WHERE state = 'failed'" | sort >failed
test -z "$(comm -23 fail failed)"
test -z "$(comm -23 failed may.fail)"
test "$(sql "SELECT count(*) FROM tasks
    WHERE state = 'done'")" -eq $((tasks - $(wc -l <failed)))
test "$(sql "SELECT count(*) FROM (SELECT task FROM execution
    WHERE runtime_us NOT NULL AND exit_status = 0 AND signal = 0 GROUP BY task
    HAVING count(*) > 1)")" -eq 0
ok 'each task has one result: the right ones have failed, all others are done'
awk 'NR > 1 { print $1 }' log | sort -n | cmp - expected.all
awk -F '\t' 'NR > 1 { print $1 "|" $7 "|" $8 }' log | sort -n |
    cmp - <(sql "SELECT task, exit_status, signal FROM execution
        WHERE outcome = 0 ORDER BY task")
ok 'the joblog has one line for each task, and the record agrees how it has ended'

windows=$(sql 'SELECT count(*) FROM charge WHERE account = 0')
charged=$(sql 'SELECT sum(amount) FROM charge WHERE account = 0')
test "$charged" -eq $((windows * 1000000))
test "$charged" -le $((budget * 1000000))
test "$(sql "SELECT count(*) FROM (SELECT count(*) AS n, max(time_us) -
        (SELECT min(time_us) FROM happened h WHERE what = 'acquire' AND
            h.session = l.session AND h.machine = l.machine) AS apart
    FROM charge l WHERE account = 0 GROUP BY session, machine)
    WHERE apart IS NULL OR n - 1 > apart / 2900000.0")" -eq 0
grep -q "\"charged\": \"$windows\"" report
tells "^$session sessions, .*: all agree\$" record verify bag
ok 'the ledger adds up, within the budget: no window was charged twice'
done_testing
