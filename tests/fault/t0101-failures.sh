#!/bin/bash
# Tasks that fail, hang, give up or yield, and a machine on which all fail.
. "$TOP/tests/mpi/lib.sh"

cat >bag <<'BAG'
echo $BATS_ATTEMPT >>attempts; test -e marker || { touch marker; exit 1; }
true
true
BAG
expect 1 bats 3 bag --policy rr
test "$(cat attempts)" = 1
rm -f marker attempts
bats 3 bag --policy rr --retries 2 --joblog log --json report
consists attempts 1 2
holds '.retried == 1'
grep -q '^retried *1 time' err
lines log 4
awk -F '\t' 'NR > 1 && $7 != 0 { exit 1 }' log
ok 'a failure is a result, but with --retries the task is run again'

echo 'echo x >>tries; exit 3' >bag
expect 1 bats 3 bag --policy rr --retries 3 --retry-delay 0.2 --joblog log
test "$(wc -l <tries)" -eq 3
lines log 2
test "$(tail -n 1 log | cut -f7)" = 3
ok 'a task that always fails is run as often as --retries says, and failed once'

printf '%s\n' 'sleep 1001' 'echo ok' >bag
exits 1 'task 1 on .*, timed out' bats 3 bag --policy rr --timeout 4 \
    --json report
test "$(cat out)" = ok
holds '.timed_out == 1'
ok 'a task that runs for too long is stopped, and has failed'

echo 'test -e late || { touch late; sleep 1003; }' >bag
bats 2 bag --timeout 2 --retries 2 --json report
holds '.timed_out == 1 and .retried == 1'
yes 'sleep 0.1' | head -n 20 >bag
echo 'sleep 1004' >>bag
expect 1 bats 3 bag --policy rr --timeout 6000% --json report
holds '.tasks_done == 20 and .timed_out == 1'
ok 'a time-out may be retried, and be a share of the median'

yes 'sleep 0.1; exit 1' | head -n 30 >bag
exits 1 '^bats-mpi: too many tasks failed (--halt)' \
    bats 3 bag --policy rr --halt soon,fail=2 --json report
holds '.outcome == "halted" and .tasks_failed >= 2 and .tasks_left > 0 and
    .preempted == 0'
ok '--halt soon,fail=N starts no more tasks'

yes 'if mkdir one 2>/dev/null; then sleep 0.3; exit 1; fi; sleep 1005' |
    head -n 6 >bag
expect 1 bats 4 bag --policy rr --halt now,fail=1 --json report
holds '.outcome == "halted" and .tasks_failed == 1'
within 60 nobody_left
ok '--halt now,fail=N stops the others, too'

echo 'echo x >>steps; test "$(wc -l <steps)" -gt 2 || exit 85' >bag
bats 3 bag --policy rr --joblog log --json report
lines steps 3
lines log 2
holds '.yielded == 2 and .tasks_failed == 0'
test "$(sql 'SELECT outcome, task FROM execution ORDER BY seq' | xargs)" = \
    '4|1 4|1 0|1'
test "$(sql 'SELECT state, attempts FROM tasks')" = 'done|3'
ok 'a task that exits with 85 is run again, has not failed, and has one result'

# Tasks have ended well elsewhere when the fifth one fails there, which the last
# ones wait for.
yes 'test $BATS_MACHINE != all-2 || { sleep 0.3; echo >>there; exit 1; }
test $BATS_TASK_ID -le 50 || until [ $(wc -l <there) -ge 5 ]; do sleep 0.1; done' |
    paste -sd ';\n' | head -n 60 >bag
bats 4 bag --policy rr --retries 4 --json report
holds '.tasks_done == 60 and .clusters[0].machines_quarantined == 1'
finds err 'bats-mpi: machine all-2 (rank 2 on .*) is in quarantine' \
    '^quarantine *1 machine'
tells '^all-2 on .*: in quarantine since .*: .*failed there' why bag all-2
ok 'a machine that fails one task after the other gets no more of them'

done_testing
