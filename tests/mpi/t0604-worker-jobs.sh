#!/bin/bash
# Worker jobs join a run that goes on elsewhere, over the loopback interface,
# and leave it: in order, or cut off.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; currency = SU' '[cluster w]; ranks = 1-8; charge = 1' >clusters.ini

# begin BAG ARGUMENT...: a run in the background, into out and err; $master. It
# may be over before its door is seen: jobs of an earlier one come back to it.
begin() {
    rm -f door
    behind "$BATS_MPI" "$@" --clusters clusters.ini --welcome door --host 127.0.0.1
    master=$run
    within 60 has_door
}
has_door() {
    [ -s door ] || is_over $master
}
master() {
    begin "$@" --grace 1s --no-record
}
# resumed: goes on where the last one was killed.
resumed() {
    begin bag --resume --silence 60s "$@"
}
# worker JOB [RANKS]: a job in the background, under mpirun if it has several
# ranks; its process is $worker, what it says is in JOB.err.
worker() {
    local launcher=()
    [ $# -eq 1 ] || launcher=("${MPIRUN:-mpirun}" -n "$2")
    env "$mark" "${launcher[@]}" "$BATS_MPI" worker --join door --job "$1" \
        >"$1.err" 2>&1 </dev/null &
    worker=$!
}
# ended PID CODE: it exits within two minutes, with this code, or, as in '1|3',
# with one of these.
ended() {
    within 120 is_over "$1" || kill -KILL "$1"
    expect "$2" wait "$1"
}
is_over() {
    [[ ! -e /proc/$1/stat || $(cat "/proc/$1/stat" 2>&1) == *') Z '* ]]
}
# finished: so do the run and the last job, in order.
finished() {
    ended $master 0
    ended $worker 0
}
killed() {
    kill -KILL $master
    ended $master 137
}
# sleepers N: so many tasks that sleep for long are there.
sleepers() {
    local n=0 pid
    for pid in $(alive); do
        [ "$({ tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null)" != \
            'sleep 600 ' ] || n=$((n + 1))
    done
    [ $n -eq "$1" ]
}
# done_once N: each of N tasks has printed its number, once.
done_once() {
    seq "$1" | diff - <(cut -d' ' -f1 out | sort -n)
}

# ---- in order ----

# Each task waits until all four machines work.
all='until test -e on.w-2 -a -e on.w-3 -a -e on.w-4; do sleep 0.1; done'
for i in $(seq 40); do
    echo "echo $i \$BATS_MACHINE; touch on.\$BATS_MACHINE; $all"
done >bag
master bag
test "$(stat -c %a door)" = 600
worker early
early=$worker
within 60 test -e on.w-1
worker later 3
finished
ended $early 0
done_once 40
test ! -e door
test "$(cut -d' ' -f2 out | sort -u | xargs)" = 'w-1 w-2 w-3 w-4'
expect 1 grep -qE '[0-9a-f]{32}' err early.err later.err
ok 'jobs join while the run goes on, each rank as a machine, and all leave'

master bag --memory 1G
SLURM_MEM_PER_NODE=1023 worker small
ended $worker 3
grep -q 'on .* has 1047552 KiB of memory, and a task needs 1048576' small.err
worker large
finished
done_once 40
ok 'a job does not join if its ranks cannot hold the tasks'

# A task that prints much has to wait for the master, and loses nothing.
echo "head -c 30000000 /dev/zero | tr '\\0' x | fold -w 1000" >much
master much --tail none
worker printer
kill -STOP $master
sleep 1
kill -CONT $master
finished
test "$(wc -lc <out | xargs)" = '30000 30030000'
ok 'output of any length arrives whole'

# ---- cut off ----

for i in $(seq 6); do echo "test -e go || sleep 600; echo $i"; done >bag
master bag --silence 20s
worker killed
killed=$worker
worker told
told=$worker
worker ranks 2
within 60 sleepers 4
touch go
kill -KILL $killed
kill -TERM $told
ended $killed 137
ended $told 0
kill -TERM $worker # mpirun tells its ranks
ended $worker '.*'
worker last
finished
done_once 6
within 60 nobody_left
ok 'what a job did that is killed, or told to end, is done by another'

yes 'exec sleep 600' | head -n 2 >bag
master bag --silence 3s
worker cut 2
within 60 sleepers 2
kill -STOP $master # it says nothing, but its connections stay
ended $worker '1|3'
within 60 sleepers 0
grep -q 'rank 0: the master has been silent for too long' cut.err
grep -q 'rank 1: the gateway has lost the master' cut.err
ok 'jobs that do not hear of the master end their tasks and themselves'
killed

# ---- another master ----

rm -f go
for i in 1 2 3 4; do echo "test -e go || sleep 600; echo $i >>ran"; done >bag
rm -f ran
resumed --output stream:kept
worker stays 3
within 60 sleepers 3
killed
touch go
within 60 sleepers 0 # nobody waits for what they do
test ! -e ran
resumed --output stream:kept
finished
sort ran | diff - <(seq 4)
grep -q 'all 4 tasks done' err
ok 'a run that is resumed takes over the jobs of a master that is gone'

# ---- tasks that go on without a master ----

# Each waits until it may end. What it prints besides may be much.
for i in $(seq 7); do
    echo "echo $i >>begun; until test -e may.$i; do sleep 0.05; done; \
cat much.$i 2>/dev/null; echo $i; echo $i >>ended"
done >bag
rm -f bag.bats
resumed
worker goes-on 3
within 60 lines begun 3
killed
read -r -d '' first second third <begun || :
seq 20000 >much.$first
touch may.$first may.$second
within 60 lines ended 2 # nobody hears of it
resumed
within 60 lines out 20002
sort -n out | diff - <({ seq 20000; echo "$first"; echo "$second"; } | sort -n)
within 60 lines begun 5
grep -q 'worker job goes-on is back: ' err
touch may.$third
within 60 lines begun 6 # so all before that is on record
killed
touch may.{1,2,3,4,5,6,7}
within 60 lines ended 6
resumed
finished
sort begun | diff - <(seq 7)
grep -q 'all 7 tasks done' err
test "$(sql 'SELECT count(*), count(DISTINCT task) FROM execution
    WHERE attempt NOT NULL')" = '7|7'
test "$(sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM happened
    WHERE what = 'found' GROUP BY session ORDER BY session)")" = 3,3
verb record verify bag
ok 'results of a time without a master are not lost, and no task is run again'

for i in 1 2; do
    echo "echo $i >>begun; until test -e may.$i; do sleep 0.05; done; echo $i"
done >bag
rm -f bag.bats begun may.*
resumed
worker away 2
away=$worker
within 60 lines begun 2
kill -STOP $(alive | grep -vx $master) # all of its ranks
killed
resumed
worker here
within 60 lines begun 3
kill -CONT $(alive | grep -vx $master)
within 60 grep -q 'worker job away is back: 2 tasks go on' err
touch may.1 may.2
finished
ended $away 0
lines begun 3
sort out | diff - <(seq 2)
test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 2
"$BATS_MPI" record verify bag >out
ok 'of a task that runs elsewhere, too, the first result counts'
rm -f may.*

# The idle one has a child that starts tasks, as long as it has a master.
rm -f bag.bats begun
echo '@once echo $$ >>begun; until test -e may.1; do sleep 0.05; done' >bag
children() { [ "$(pgrep -cP $worker)" -eq "$1" ]; }
resumed
worker busy
busy=$worker
within 60 lines begun 1
worker idle
within 60 children 1
killed
within 60 children 0
within 60 is_over "$(cat begun)"
touch may.1
resumed
ended $master 0
ended $busy '0|3'
ended $worker '0|3' # the run may be over before they are back
ok 'a task that must not run twice ends when the master is gone, as an idle job does'
rm may.1

cp clusters.ini plain.ini
printf 'speed = 1000\nexpected = 5m\n' >>clusters.ini
echo '@sleep 300' >bag
begin bag --record fast.bats
worker fast
finished
test "$(sqlite3 fast.bats "SELECT json_extract(options,
    '\$.engine.expected_us[0]') FROM session")" -eq 300000000
sed 's/^ranks.*/&\nreliability = 0.5\nnoticed = 1s/' plain.ini >clusters.ini
seq -f 'echo %g' 8 >bag
begin bag --seed 1 --policy rr --record lost.bats
worker loses
finished
done_once 8
"$BATS_MPI" log lost.bats | grep -q ' preempted '
ok 'speed, expected and emulated losses of the clusters file count'
mv plain.ini clusters.ini

touch go
for i in 1 2 3; do echo "test -e go || sleep 600; echo $i"; done >bag
rm go
master bag --silence 3s
worker asleep
asleep=$worker
within 60 sleepers 1
kill -STOP $asleep
touch go
worker awake
finished
done_once 3
grep -q 'is lost: it has been silent for too long' err
kill -CONT $asleep
ended $asleep '0|3' # it may have been told to leave
within 60 nobody_left
ok 'a job that is silent is lost, and ends when it wakes up'
done_testing
