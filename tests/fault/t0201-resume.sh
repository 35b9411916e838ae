#!/bin/bash
# Nothing finished is lost: the record, resuming, and a master that is killed.
. "$TOP/tests/mpi/lib.sh"

# is_recorded WHAT [BAG]: the log has a line of it.
is_recorded() {
    "$BATS_MPI" log "${2:-bag}" 2>/dev/null | grep -q " $1 "
}

# ---- the ordinary ways ----

for i in 1 2 3 4 5 6 7 8; do
    echo "echo $i >>ran; test $i -ne 3"
done >bag
expect 1 bats 3 bag
test -f bag.bats
ok "a run leaves its record beside the bag"

test "$(sql bag.bats 'SELECT group_concat(number) FROM failed_tasks')" = 3
test "$(sql bag.bats "SELECT count(*) FROM tasks WHERE state = 'done'")" = 7
ok "the record knows what was done and what failed"

expect 1 bats 3 bag --resume
test "$(wc -l <ran)" -eq 8
ok "--resume of a complete run runs nothing and keeps its exit status"

expect 1 bats 3 bag --resume-failed
test "$(tail -n 1 ran)" = 3
test "$(wc -l <ran)" -eq 9
ok "--resume-failed runs the failed task again"

sed 's/test 3 -ne 3/true/; 2s/.*/echo two >>ran/' bag >new
mv new bag
echo 'echo nine >>ran' >>bag
bats 3 bag --resume
finds err 'bag:2: task 2 has another command' 'bag:9: task 9 is new' \
    'bag:3: task 3'
test "$(sort ran | tr '\n' ' ')" = '1 2 3 3 3 4 5 6 7 8 nine two '
ok "changed and added lines are named and run, nothing else is"

head -n 4 bag >new
mv new bag
bats 3 bag --resume
grep -q '5 tasks of the record are no longer in the bag' err
grep -q 'task 9 is no longer in the bag: echo nine' err
ok "lines that are gone are named and stay in the record"

{ head -n 1 bag; echo 'echo new >>ran'; sed 1d bag; } >new
mv new bag
lines=$(wc -l <ran)
bats 3 bag --resume
test "$(wc -l <ran)" -eq $((lines + 1))
test "$(tail -n 1 ran)" = new
grep -q 'bag:2: task 2 is new' err
grep -q '3 tasks have another number than before and keep their' err
test "$(sql bag.bats "SELECT group_concat(number || command, ';') FROM
        (SELECT * FROM tasks WHERE state = 'done' AND number = 3)")" = \
    '3echo two >>ran'
ok "an inserted line is run, those behind it are not"

bats 3 bag
test -f bag.bats.1
grep -q 'kept as bag.bats.1' err
ok "a new run keeps the record of the old one"

printf '[cluster a]\nranks = 1-9\ncharge = 1\n' >many.ini
echo old >joblog
echo old >json
expect 2 bats 3 bag --clusters many.ini --joblog joblog --json json
test ! -e bag.bats.2
expect 1 grep -q 'kept as' err
test "$(cat joblog json)" = "$(printf 'old\nold')"
expect 0 bats 3 bag --resume
expect 1 grep -q 'running' err
ok "a start that is refused touches no file of the one before"

rm -f bag.bats*
bats 3 bag --resume
test -f bag.bats
ok "--resume without a record simply starts"

rm -f bag.bats*
bats 3 bag --no-record
test ! -e bag.bats
ok "--no-record keeps none"

printf 'true\n' >bag
exits 2 'name its record with --record' "$BATS_MPI" --resume - <bag >out 2>err
ok "a bag from standard input needs a named record to be resumed"
printf 'true \\\n -x\n' | expect 1 env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 2 \
    "$BATS_MPI" - >out 2>err
grep -q 'from standard input has no record, unless --record FILE' err
ok "without one it is told that it cannot be"
grep -q 'standard input:1: the backslash at the end joins nothing' err
ok "a backslash that joins nothing is told, too"

head -c 3000 /dev/urandom >bag.bats
exits 2 'bag.bats' bats 2 bag --resume
expect 1 grep -q 'tasks on' err
ok "what is no record is refused before anything starts"
rm -f bag.bats*

# ---- failed only ----

for i in 1 2 3 4 5 6; do
    echo "echo $i >>log; test $i -ne 2"
done >bag
expect 1 bats 2 bag
expect 1 bats 2 bag --retry-failed
test "$(tail -n 1 log)" = 2
test "$(wc -l <log)" -eq 7
ok "--retry-failed runs the failed task and no other"

rm -f bag.bats*
echo 'test -e there || { touch there; exit 3; }' >bag
bats 2 bag --retries 2
test "$(sql bag.bats \
    "SELECT state || attempts FROM tasks")" = done2
test -z "$(sql bag.bats 'SELECT * FROM failed_tasks')"
ok "an attempt that failed and was repeated is no result, but it counts"

# Between a failed attempt and its repetition the master is killed.
rm -f bag.bats*
echo 'echo "$BATS_ATTEMPT" >>tries; exit 3' >bag
env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 2 "$BATS_MPI" bag \
    --retries 3 --retry-delay 1h >out 2>err </dev/null &
within 60 test -s tries
within 60 is_recorded "failed"
kill -KILL "$(rank_pid 0)"
wait $! || :
within 60 nobody_left
expect 1 bats 2 bag --retries 3 --resume
test "$(tr '\n' ' ' <tries)" = '1 2 3 '
test "$(sql bag.bats "SELECT state || attempts FROM tasks")" = failed3
ok "the attempts before a crash count"

# The second task of the slow machine hangs. Its copy fails while it goes on,
# and both are cut off.
ini '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1' >two.ini
cat >task <<'TASK'
[ "$BATS_REPLICA" -gt 0 ] && { echo >>beside; exit 3; }
[ -e again ] && { echo >>alone; exit 3; }
[ "$BATS_CLUSTER" = fast ] && { sleep 0.3; exit; }
echo >>slow
[ "$(wc -l <slow)" -gt 1 ] && sleep 1001
sleep 0.8
TASK
yes 'sh ./task' | head -n 8 >copied
env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 3 "$BATS_MPI" copied \
    -c two.ini --policy rr --tail random --retries 2 >out 2>err </dev/null &
within 60 test -s beside
within 60 is_recorded failed copied
kill -KILL "$(rank_pid 0)"
wait $! || :
within 60 nobody_left
test "$(sql copied.bats 'SELECT DISTINCT outcome FROM execution
    WHERE exit_status != 0')" = 5
ok "a failure beside another execution is one of its own kind"
touch again
expect 1 bats 3 copied -c two.ini --retries 2 --tail none --resume
test "$(wc -l <alone)" -eq 2
ok "after a crash it is not counted as a retry"

expect 1 bats 2 bag --retries 3 --resume-failed
test "$(tr '\n' ' ' <tries)" = '1 2 3 4 5 6 '
ok "a failed task that is run again may be repeated as often again"

# ---- money ----

for i in 1 2 3 4 5 6 7 8; do
    echo "@sleep 30m"
done >sleeps
ini '[run]; window = 60m' '[cluster a]; charge = 2' >money.ini
rm -f sleeps.bats
expect 4 bats 2 sleeps --clusters money.ini --budget 4 --time-scale 3600
expect 4 bats 2 sleeps --clusters money.ini --budget 4 --time-scale 3600 --resume
ok "an exhausted budget stays exhausted when the same command is repeated"
bats 2 sleeps --clusters money.ini --budget 40 --time-scale 3600 --resume
test "$(sql sleeps.bats 'SELECT sum(amount) <= 40000000 FROM charge WHERE account = 0')" = 1
ok "more budget finishes the bag, what was charged counts"

# ---- the master is killed at random moments ----

printf '[cluster all]\ncharge = 1\n' >one.ini
n=300
rounds=${BATS_KILLS:-3}
round=0
wrong=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    rm -f bag.bats* ran
    seq $n | sed 's/.*/echo & >>ran; sleep 0.02/' >bag
    kills=0
    while [ $kills -lt 3 ]; do
        env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 4 "$BATS_MPI" bag \
            --resume --quiet --clusters one.ini >out 2>err </dev/null &
        within 60 test -s bag.bats
        sleep 0.$(awk -v s=$((round * 10 + kills)) \
            'BEGIN { srand(s); printf "%03d", rand() * 999 }')
        pid=$(rank_pid 0) || :
        [ -z "$pid" ] || kill -KILL "$pid"
        wait $! || :
        within 60 nobody_left
        kills=$((kills + 1))
    done
    bats 4 bag --resume --clusters one.ini
    done=$(sql bag.bats "SELECT count(*) FROM tasks WHERE state = 'done'")
    twice=$(sql bag.bats "SELECT count(*) FROM (SELECT task FROM execution
        WHERE outcome = 0 GROUP BY task HAVING count(*) > 1)")
    ran=$(sort -un ran | wc -l)
    again=$(($(wc -l <ran) - n))
    windows=$(sql bag.bats 'SELECT count(*) FROM charge WHERE account = 0')
    charged=$(sql bag.bats 'SELECT sum(amount) FROM charge WHERE account = 0')
    if [ "$done" -ne $n ] || [ "$twice" -ne 0 ] ||
        [ "$ran" -ne $n ] || [ $again -gt 60 ] ||
        [ "$charged" -ne $((windows * 1000000)) ]; then
        wrong=$((wrong + 1))
        echo "# done $done twice $twice ran $ran again $again"
    fi
done
test $wrong -eq 0
ok "$rounds times three SIGKILLs of the master: one result per task"

# ---- a record that a crash has damaged ----

# began N: so many tasks have.
began() {
    test "$(cat ran3 2>/dev/null | wc -l)" -ge "$1"
}
# finish: the rest is run, and every task is done.
finish() {
    bats 4 bag --resume && test "$(sort -u ran3 | wc -l)" -eq 300 &&
        test "$(sql bag.bats "SELECT count(*) FROM tasks
            WHERE state = 'done'")" = 300
}
rm -f bag.bats*
seq 300 | sed 's/.*/echo & >>ran3; sleep 0.01/' >bag
env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n 4 "$BATS_MPI" bag --quiet \
    >out 2>err </dev/null &
within 60 began 50
kill -KILL "$(rank_pid 0)"
wait $! || :
within 60 nobody_left
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
ok "one with a hole is not, and the message says how to save it"
rm -f bag.bats*
cp ran3.torn ran3
"$BATS_MPI" record recover torn >out 2>err
mv torn.recovered bag.bats
done=$(sql bag.bats "SELECT count(*) FROM tasks WHERE state = 'done'")
finish
test "$done" -gt 0
test "$(wc -l <ran3)" -eq $(($(wc -l <ran3.torn) + 300 - done))
ok "what is readable of it is saved, and gone on with"

# ---- a full disk ----

# A limit on the size of files stands for it: there is no need for root.
if command -v prlimit >/dev/null; then
    rm -f bag.bats* ran3
    seq 2000 | sed 's/.*/echo & >>ran3; sleep 0.005/' >bag
    env "$mark" timeout -k 5 400 ${MPIRUN:-mpirun} -n 3 "$BATS_MPI" bag \
        --quiet >out 2>err </dev/null &
    within 60 began 20
    pid=$(rank_pid 0)
    prlimit --pid "$pid" --fsize="$(stat -c %s bag.bats-wal)":
    within 60 grep -q 'no more tasks are started' err
    ok "a record that cannot be written stops new tasks"
    prlimit --pid "$pid" --fsize=unlimited:
    wait $!
    grep -q 'the record can be written again' err
    test "$(sort -u ran3 | wc -l)" -eq 2000
    test "$(wc -l <ran3)" -eq 2000
    test "$(sql bag.bats "SELECT count(*) FROM tasks
            WHERE state = 'done'")" = 2000
    ok "once it can, the run goes on, and no task was run twice"
else
    skip "a record that cannot be written stops new tasks" 'no prlimit'
fi

if [ "$(id -u)" -eq 0 ] && mkdir small &&
    mount -t tmpfs -o size=512k tmpfs small 2>/dev/null; then
    trap 'umount -l "$dir/small"; end_test' EXIT
    seq 2000 | sed 's/.*/echo & >>ran2; sleep 0.005/' >bag
    rm -f ran2
    env "$mark" timeout -k 5 400 ${MPIRUN:-mpirun} -n 3 "$BATS_MPI" bag \
        --record small/r --quiet >out 2>err </dev/null &
    within 60 grep -q 'no more tasks are started' err
    ok "a full disk stops new tasks, and the message says so"
    mount -o remount,size=20m small
    wait $!
    test "$(sort -u ran2 | wc -l)" -eq 2000
    test "$(wc -l <ran2)" -eq 2000
    test "$(sql small/r "SELECT count(*) FROM tasks
            WHERE state = 'done'")" = 2000
    ok "it goes on when there is room again, and nothing is lost"
else
    skip "a full disk stops new tasks" "mounting a small file system needs root"
fi

done_testing
