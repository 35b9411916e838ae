#!/bin/bash
# Why is it waiting? Live runs are asked, and have an answer.
. "$TOP/tests/mpi/lib.sh"

# begin N ARGUMENT...: a run of the bag on N ranks, in the background.
begin() {
    rm -f bag.bats*
    : >ran
    env "$mark" timeout -k 5 300 ${MPIRUN:-mpirun} --enable-recovery \
        -n "$1" "$BATS_MPI" bag "${@:2}" >/dev/null 2>run.err </dev/null &
    launcher=$!
}
end() {
    pid=$(rank_pid 0) || :
    [ -z "$pid" ] || kill -TERM "$pid"
    wait $launcher || :
    within 60 nobody_left
}

# says ABOUT WORDS: the verb why has them, of a machine or a task ("": all).
says() {
    verb why bag $1 && grep -q -e "$2" out
}
# pending: number of a task that waits.
pending() {
    "$BATS_MPI" tasks bag --state pending --json 2>/dev/null |
        sed -n '1s/.*"task":\([0-9]*\),.*/\1/p'
}

yes 'echo x >>ran; sleep 1001' | head -n 4 >bag
ini '[cluster a]; ranks = 1-2; charge = 1' \
    '[cluster b]; ranks = 3; charge = 5' >clusters.ini

begin 4 --clusters clusters.ini --budget 2 --policy rr --tail none
within 60 has_lines 2 ran
within 60 told . pending
says '' '^2 pending: 2 tasks are waiting for a free slot on 2 machines, in random order$'
says "$(pending)" '^pending: 2 tasks are waiting .*, in random order'
says a-1 '^a-1 on .*: held since .* and runs task [1-4]; its window ends at 1h'
says b-1 '^b-1 on .*: never acquired: 0 are left of the budget, a window costs 5'
ok 'tasks that wait, machines that work, and one that cannot be paid say so'
"$BATS_MPI" log bag --machine a-1 | grep -q ' run  *a-1 '
exits 2 "there was no machine 'c-1' in this run" verb log bag --machine c-1
ok 'the log of a machine that never was is refused'

kill -USR1 "$(rank_pid 0)"
within 60 says "$(pending)" \
    '^pending: the run is draining: it was told to end and starts no more'
tells '^bag: draining$' status bag
end
says "$(pending)" '^pending: the run is over: stopped'
ok 'a run that is drained says so, and one that is over'

# An hour is held for a task of which nothing is known: the budget does for one.
sed '1i [run]\nbilling = use' clusters.ini >use.ini
begin 4 --clusters use.ini --budget 1.5 --policy rr
within 60 test -s ran
within 60 told . pending
one_is_idle() {
    for idle in a-1 a-2; do
        says $idle 'but idle: too little of the budget is left for a task' &&
            return
    done
    return 1
}
within 60 one_is_idle
says $idle 'left for a task there: 1\.[45].*, some of it held for what runs$'
expect 1 grep -q window out
says "$(pending)" 'is left of the budget, some of it held for what runs$'
for m in a-1 a-2; do
    test $m = $idle || says $m ': held since .* and runs task [1-4]$'
done
ok 'where use is charged it is the budget that tasks wait for, not a window'
end

begin 3 --policy rr --tail none --time-limit 1h
within 60 has_lines 2 ran
kill -KILL "$(rank_pid 2)"
within 60 says all-2 \
    '^all-2 on .*: lost at .*: rank 2 on .* is lost: its process has ended'
says '' 'tasks are waiting for a free slot on 1 machine; none is started that would not end by 1h$'
ok 'a machine that is lost says why; tasks have to end before the time limit'
end

echo 'exit 3' >bag
begin 2 --retries 2 --retry-delay 10h
within 60 says 1 '^pending: it failed at .* and is tried again at 10h'
says 'task 1' '^pending: it failed at'
ok 'a task that is tried again later says when'
end

echo 'exit 85' >bag
begin 2
within 60 says 1 '^pending: it was checkpointed at .*, at once (3 times in a row), and '
ok 'a task that waits because it was checkpointed at once says so'
end

done_testing
