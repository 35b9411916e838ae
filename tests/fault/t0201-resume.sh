#!/bin/bash
# Nothing finished is lost: the record, resuming, and a master that is killed.
. "$TOP/tests/mpi/lib.sh"

# killed SIGN ARGUMENT...: a run whose master is killed when the command SIGN
# succeeds; none of it is left.
killed() {
    start "${@:2}"
    within 60 $1
    kill -KILL "$(rank_pid 0)"
    wait $run || :
    within 60 nobody_left
}

# ---- the ordinary ways ----

for i in $(seq 8); do echo "echo $i >>ran; test $i -ne 3"; done >bag
expect 1 bats 3 bag
test "$(sql 'SELECT group_concat(number) FROM failed_tasks')" = 3
test "$(sql "SELECT count(*) FROM tasks WHERE state = 'done'")" = 7
ok "a run leaves a record beside the bag of what was done and what failed"

expect 1 bats 3 bag --resume
test "$(wc -l <ran)" -eq 8
expect 1 bats 3 bag --resume-failed
test "$(tail -n 1 ran)" = 3
test "$(wc -l <ran)" -eq 9
ok "--resume runs nothing again and keeps the exit status, --resume-failed does"

sed 's/test 3 -ne 3/true/; 2s/.*/echo two >>ran/' bag >new
mv new bag
echo 'echo nine >>ran' >>bag
bats 3 bag --resume
finds err 'bag:2: task 2 has another command' 'bag:9: task 9 is new' \
    'bag:3: task 3'
test "$(sort ran | tr '\n' ' ')" = '1 2 3 3 3 4 5 6 7 8 nine two '
ok "changed and added lines are named and run, nothing else is"

sed -i 5,9d bag
bats 3 bag --resume
finds err '5 tasks of the record are no longer in the bag' \
    'task 9 is no longer in the bag: echo nine'
sed -i '1a echo new >>ran' bag
lines=$(wc -l <ran)
bats 3 bag --resume
test "$(wc -l <ran)" -eq $((lines + 1))
test "$(tail -n 1 ran)" = new
finds err 'bag:2: task 2 is new' \
    '3 tasks have another number than before and keep their'
test "$(sql "SELECT number || command FROM tasks
    WHERE state = 'done' AND number = 3")" = '3echo two >>ran'
ok "lines that are gone are named; of an inserted line those behind it are not run"

bats 3 bag
test -f bag.bats.1
grep -q 'kept as bag.bats.1' err
ini '[cluster a]; ranks = 1-9; charge = 1' >many.ini
echo old | tee joblog >json
expect 2 bats 3 bag --clusters many.ini --joblog joblog --json json
test ! -e bag.bats.2
expect 1 grep -q 'kept as' err
test "$(cat joblog json | xargs)" = 'old old'
bats 3 bag --resume
expect 1 grep -q 'running' err
ok "a new run keeps the record of the old one; one that is refused touches no file"

rm -f bag.bats*
bats 3 bag --resume
test -f bag.bats
rm -f bag.bats*
bats 3 bag --no-record
test ! -e bag.bats
ok "--resume without a record simply starts, and --no-record keeps none"

printf 'true\n' >bag
exits 2 'name its record with --record' "$BATS_MPI" --resume - <bag >out 2>err
printf 'true \\\n -x\n' | expect 1 "$BATS_MPI" -j 1 --verbose - >out 2>err
finds err 'from standard input has no record, unless --record FILE' \
    'standard input:1: the backslash at the end joins nothing'
ok "a bag from standard input needs a named record to be resumed"
head -c 3000 /dev/urandom >bag.bats
exits 2 'bag.bats' bats 2 bag --resume
expect 1 grep -q 'tasks on' err
ok "what is no record is refused before anything starts"
rm -f bag.bats*

# ---- tries ----

# Between a failed attempt and its repetition the master is killed.
rm -f bag.bats*
echo 'echo "$BATS_ATTEMPT" >>tries; exit 3' >bag
killed "told failed $BATS_MPI log bag" 2 bag --retries 3 --retry-delay 1h
expect 1 bats 2 bag --retries 3 --resume
consists tries 1 2 3
test "$(sql "SELECT state || attempts FROM tasks")" = failed3
expect 1 bats 2 bag --retries 3 --resume-failed
consists tries 1 2 3 4 5 6
ok "the attempts before a crash count, and a new run may repeat as often again"

# The second task of the slow machine hangs. Its copy fails while it goes on,
# and both are cut off.
ini '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1' >two.ini
cat >task <<'TASK'
[ "$BATS_REPLICA" -gt 0 ] && { echo >>beside; exit 3; }
[ -e again ] && { echo >>alone; exit 3; }
[ "$BATS_CLUSTER" = fast ] && { until [ -e hangs ]; do sleep 0.1; done; exit; }
echo >>slow
[ "$(wc -l <slow)" -gt 1 ] && touch hangs && sleep 1001
sleep 0.3 # else more are given to this machine before they can begin
TASK
yes 'sh ./task' | head -n 8 >copied
killed "told failed $BATS_MPI log copied" 3 copied -c two.ini \
    --policy rr --tail random --retries 2
test -s beside
test "$(sql copied.bats 'SELECT DISTINCT outcome FROM execution
    WHERE exit_status != 0')" = 5
touch again
expect 1 bats 3 copied -c two.ini --retries 2 --tail none --resume
test "$(wc -l <alone)" -eq 2
ok "a failure beside another execution is one of its own kind, and no retry"

# ---- money ----

# A window by the second is charged when it ends, or its run was killed.
echo '[ -e quick ] || { touch began; exec sleep 1001; }' >held
ini '[run]; window = 60m; billing = second' \
    '[cluster a]; ranks = 1; charge = 3/h; reclaimable = yes; free = 30m' >held.ini
killed 'test -e began' 2 held -c held.ini --budget 4
touch quick
expect 4 bats 2 held -c held.ini --budget 4 --resume
tr -s ' \n' ' ' <err | grep -q \
    ', 3 of it before this session, with 3 for what was open when the run was killed'
ok "the window that a killed run held is charged, and leaves too little"

# ---- the master is killed at random moments ----

ini '[cluster all]; charge = 1' >one.ini
n=300
for round in $(seq "${BATS_KILLS:-3}"); do
    rm -f bag.bats* ran
    seq $n | sed 's/.*/echo & >>ran; sleep 0.02/' >bag
    for kill in 1 2 3; do
        # Ranks of MPI once, and then ranks that rank 0 has forked.
        [ $kill -eq 1 ] && by=by_mpi || by=bats
        { $by 4 bag --resume --quiet --clusters one.ini || exit $?; } &
        run=$!
        within 60 test -s bag.bats
        sleep 0.$(awk -v s=$((round * 10 + kill)) \
            'BEGIN { srand(s); printf "%03d", rand() * 999 }')
        pid=$(rank_pid 0) || :
        [ -z "$pid" ] || kill -KILL "$pid"
        wait $run || :
        within 60 nobody_left
    done
    bats 4 bag --resume --clusters one.ini
    test "$(sql "SELECT count(*) FROM tasks WHERE state = 'done'")" -eq $n
    test "$(sql 'SELECT count(*) - count(DISTINCT task) FROM execution
        WHERE outcome = 0')" -eq 0
    test "$(sort -un ran | wc -l)" -eq $n
    test "$(wc -l <ran)" -le $((n + 60))
    test "$(sql 'SELECT sum(amount) = 1000000 * count(*) FROM charge
        WHERE account = 0')" -eq 1
done
ok "${BATS_KILLS:-3} times three SIGKILLs of the master: one result per task"

# ---- a record that a crash has damaged ----

# finish: the rest is run, and every task is done.
finish() {
    bats 4 bag --resume
    test "$(sort -u ran3 | wc -l)" -eq 300
    test "$(sql "SELECT count(*) FROM tasks WHERE state = 'done'")" = 300
}
rm -f bag.bats*
seq 300 | sed 's/.*/echo & >>ran3; sleep 0.01/' >bag
killed 'has_lines 50 ran3' 4 bag --quiet
truncate -s -5000 bag.bats-wal
head -c 3000 /dev/urandom >>bag.bats-wal
cp bag.bats torn
cp bag.bats-wal torn-wal
cp ran3 ran3.torn
finish
ok "a torn record is gone on with"

# A page of one of its tables is overwritten.
sqlite3 torn 'PRAGMA wal_checkpoint(TRUNCATE)' >out
page=$(sql torn "SELECT pageno FROM dbstat WHERE name = 'task_now' AND
    pagetype = 'leaf' ORDER BY pageno DESC LIMIT 1")
head -c 4096 /dev/urandom |
    dd of=torn bs=4096 seek=$((page - 1)) conv=notrunc 2>err
exits 2 'torn.*bats-mpi record recover' bats 4 bag --record torn --resume
rm -f bag.bats*
cp ran3.torn ran3
verb record recover torn
mv torn.recovered bag.bats
done=$(sql "SELECT count(*) FROM tasks WHERE state = 'done'")
finish
test "$done" -gt 0
test "$(wc -l <ran3)" -eq $(($(wc -l <ran3.torn) + 300 - done))
ok "one with a hole is not, but what is readable of it is saved, and gone on with"

# ---- a full disk ----

# each_once FILE RECORD: 600 tasks have run once, and are done.
each_once() {
    test "$(sort -u "$1" | wc -l)" -eq 600
    test "$(wc -l <"$1")" -eq 600
    test "$(sql "$2" "SELECT count(*) FROM tasks WHERE state = 'done'")" = 600
}
# A limit on the size of files stands for it: there is no need for root.
rm -f bag.bats* ran3
seq 600 | sed 's/.*/echo & >>ran3; sleep 0.005/' >bag
start 3 bag --quiet
within 60 has_lines 20 ran3
pid=$(rank_pid 0)
prlimit --pid "$pid" --fsize="$(stat -c %s bag.bats-wal)":
within 60 grep -q 'no more tasks are started' err
prlimit --pid "$pid" --fsize=unlimited:
wait $run
grep -q 'the record can be written again' err
each_once ran3 bag.bats
ok "a record that cannot be written stops new tasks, until it can"

done_testing
