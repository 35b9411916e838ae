#!/bin/bash
# Tasks that fail, hang, give up or yield, and a machine on which all fail.
. "$TOP/tests/mpi/lib.sh"

# lines FILE: how many it has, the head of a joblog not among them.
lines() {
    grep -vc '^Seq' "$1"
}

# report KEY: its number in the JSON report.
report() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" report
}

# ---- retries ----

cat >bag <<'BAG'
echo $BATS_ATTEMPT >>attempts; test -e marker || { touch marker; exit 1; }
true
true
BAG
expect 1 bats 3 bag --policy rr
test "$(cat attempts)" = 1
ok 'without --retries a failure is a result'

rm -f marker attempts
bats 3 bag --policy rr --retries 2 --joblog log --json report
test "$(tr '\n' ' ' <attempts)" = '1 2 '
ok 'a task that fails once is run again'
test "$(report retried)" = 1
grep -q '^retried *1 time' err
ok 'the report counts it'
test "$(lines log)" = 3
awk -F '\t' 'NR > 1 && $7 != 0 { exit 1 }' log
ok 'the joblog has the last attempt only'

echo 'echo x >>tries; exit 3' >bag
expect 1 bats 3 bag --policy rr --retries 3 --retry-delay 0.2 --joblog log
test "$(wc -l <tries)" -eq 3
ok 'a task that always fails is run as often as --retries says, after the delay'
test "$(lines log)" = 1
test "$(tail -n 1 log | cut -f7)" = 3
ok 'and has failed once'

cat >bag <<'BAG'
echo $BATS_MACHINE >>where; test "$(wc -l <where)" -gt 1
sleep 1
BAG
bats 3 bag --policy rr --retries 2
test "$(sort -u where | wc -l)" -eq 2
ok 'it is tried on another machine first'

# ---- time-outs ----

printf '%s\n' 'sleep 1001' 'echo ok' >bag
expect 1 bats 3 bag --policy rr --timeout 4 --joblog log --json report
test "$(cat out)" = ok
test "$(report timed_out)" = 1
ok 'a task that runs for too long is stopped, and has failed'
grep -q '^ *1  timed out ' err
ok 'the report says so'
if command -v parallel >/dev/null; then
    expect 1 parallel --will-cite -a bag --timeout 4 --joblog theirs >theirs.out \
        2>theirs.err </dev/null
    for file in log theirs; do
        grep 1001 $file | cut -f1,5- >$file.shape
    done
    cmp log.shape theirs.shape
    ok 'the joblog shows it as that of GNU parallel does'
else
    skip 'the joblog shows it as that of GNU parallel does' 'no GNU parallel'
fi

echo "trap '' TERM; touch started; sleep 1002; sleep 1002" >bag
expect 1 bats 2 bag --timeout 3 --grace 0.5
test -e started
within 60 nobody_left
ok 'one that ignores TERM is killed'

echo 'test -e late || { touch late; sleep 1003; }' >bag
bats 2 bag --timeout 2 --retries 2 --json report
test "$(report timed_out) $(report retried)" = '1 1'
ok 'a time-out may be retried'

for i in $(seq 20); do echo 'sleep 0.1'; done >bag
echo 'sleep 1004' >>bag
expect 1 bats 3 bag --policy rr --timeout 6000% --json report
test "$(report tasks_done) $(report timed_out)" = '20 1'
ok 'a time-out may be a share of the median'

# ---- halt ----

for i in $(seq 30); do echo 'sleep 0.1; exit 1'; done >bag
expect 1 bats 3 bag --policy rr --halt soon,fail=2 --json report
test "$(report outcome)" = halted
test "$(report tasks_failed)" -ge 2
test "$(report tasks_left)" -gt 0
test "$(report preempted)" = 0
ok '--halt soon,fail=N starts no more tasks'
grep -q '^bats-mpi: too many tasks failed (--halt)' err
ok 'a sentence says why'
expect 1 bats 3 bag --policy rr --halt soon,fail=50% --json report
test "$(report outcome)" = halted
test "$(report tasks_failed)" -ge 3
test "$(report tasks_left)" -gt 0
ok '--halt soon,fail=N% does so at that share'

task='if mkdir one 2>/dev/null; then sleep 0.3; exit 1; fi; sleep 1005'
for i in $(seq 6); do echo "$task"; done >bag
expect 1 bats 4 bag --policy rr --halt now,fail=1 --json report
test "$(report outcome)" = halted
test "$(report tasks_failed)" = 1
within 60 nobody_left
ok '--halt now,fail=N stops the others, too'

# ---- exit status 85 ----

cat >bag <<'BAG'
echo x >>steps; test "$(wc -l <steps)" -gt 2 || exit 85
BAG
bats 3 bag --policy rr --joblog log --json report
test "$(wc -l <steps)" -eq 3
test "$(lines log)" = 1
test "$(report yielded) $(report tasks_failed)" = '2 0'
ok 'a task that exits with 85 is run again and has not failed'

if command -v sqlite3 >/dev/null; then
    sqlite3 bag.bats "SELECT outcome, task FROM execution ORDER BY seq;
        SELECT state, attempts FROM tasks" >out
    test "$(tr '\n' ' ' <out)" = '4|1 4|1 0|1 done|3 '
    ok 'the record has every turn of it and one result'
else
    skip 'the record has every turn of it and one result' 'no sqlite3'
fi

# Ten times as fast: a turn of a second would be progress.
echo 'echo x >>turns; exit 85' >bag
expect 1 bats 3 bag --policy rr --time-scale 10 --joblog log --json report
test "$(wc -l <turns)" -ge 6
test "$(report yielded)" = $(($(wc -l <turns) - 1))
test "$(report tasks_failed)" = 1
test "$(lines log)" = 1
ok 'a task that yields at once, again and again, has failed'

# ---- a black hole ----

# Tasks have ended well elsewhere when the fifth one fails there.
for i in $(seq 60); do
    echo 'test $BATS_MACHINE != all-2 && sleep 0.1 || { sleep 0.15; false; }'
done >bag
bats 4 bag --policy rr --retries 4 --json report
test "$(report tasks_done)" = 60
grep -q '"machines_quarantined": 1' report
ok 'a machine that fails one task after the other gets no more of them'
grep -q 'bats-mpi: machine all-2 (rank 2 on .*) is in quarantine' err
grep -q '^quarantine *1 machine' err
ok 'it is named'

done_testing
