#!/bin/bash
# The output of tasks in one file per worker, and how it is printed.
. "$TOP/tests/mpi/lib.sh"

# ---- many tasks ----

for i in $(seq 300); do
    echo "echo out \$BATS_TASK_ID; echo err \$BATS_TASK_ID >&2; exit $((i % 50 == 7))"
done >bag
expect 1 bats 4 bag --output stream
test ! -s out
test "$(find bag.out -type f | wc -l)" -eq 3
grep -q 'bats-mpi output bag.bats' err
ok '300 tasks on 3 workers make 3 files, and nothing on standard output'

seq 300 | sed 's/^/out /' >expected
verb output bag
cmp -s out expected
test ! -s err
seq 300 | sed 's/^/err /' >expected
verb output bag --stderr
cmp -s out expected
ok 'output and output --stderr print it in the order of the bag'
verb output bag --failed --tag -e
seq 7 50 300 | awk '{ print $1 "\terr " $1 }' | cmp -s out -
grep -q 'task 57: exit 1, 7 bytes on standard output, 7 on' err
ok '--failed prints those that failed, and says how; --tag marks the lines'
verb output bag --task 299,3-5 -t 8
printf 'out %d\n' 299 3 4 5 8 | cmp -s out -
exits 1 'no result of 2 of the tasks 300-302' verb output bag --task 300-302
test "$(cat out)" = 'out 300'
ok '--task takes numbers and ranges; tasks that are not there are told, exit 1'
for list in 0 x 3- 5-3 3, 4294967296 ''; do
    exits 2 --task verb output bag --task "$list"
    test ! -s out
done
ok 'lists that make no sense are refused'
exits 2 '^bats-mpi: nowhere: ' verb output nowhere
expect 1 bats 2 bag --output none --record none.bats
test ! -s out
test ! -e none.out
exits 2 'none.bats: no task has output of' verb output none.bats
exits 2 'stream needs a record' bats 2 bag --output stream --no-record
exits 3 'standard output: No space' "$BATS_MPI" output bag 2>err >/dev/full
ok 'a run that is not there is refused; standard output that is full is an error'

# ---- damage ----

# shellcheck disable=SC2012
truncate -s -50 "$(ls bag.out/*.out | head -n 1)"
expect 1 verb output bag
test "$(wc -l <out)" -ge 295
grep -q 'the output of task [0-9]* is damaged or incomplete' err
ok 'a torn output file is told, exit 1, and the rest is printed'
# shellcheck disable=SC2012
rm "$(ls bag.out/*.out | head -n 1)"
expect 3 verb output bag
test "$(($(wc -l <out) + $(grep -c 'No such file .* of task [0-9]* is lost' err)))" \
    -eq 300
test -s out
ok 'a lost output file is told, exit 3, and the rest is printed'

# ---- bytes ----

cat >bag <<'BAG'
printf 'a\0b\377\r\n\nno newline'
head -c 300000 /dev/urandom | tee random
:
@sleep 1ms
BAG
rm -r bag.out
bats 3 bag -q --output stream:deep --no-replicate
verb output bag --task 1
printf 'a\0b\377\r\n\nno newline' | cmp -s out -
verb output bag --task 2
cmp -s out random
ok 'bytes are printed as they were written'
printf '%s\n' 'echo fine' 'echo failed >&2; cat fixed' >bag
expect 1 bats 2 bag --output stream:deep
echo fixed >fixed
bats 2 bag --output stream:elsewhere --retry-failed
verb output bag
consists out fine fixed
verb output bag --stderr
consists out failed
ok 'what a later session did again is printed, of all else what it was before'

# ---- stopped attempts ----

# The money is for one window each; one task outlasts it.
for i in $(seq 10); do echo "echo quick $i"; done >bag
echo 'echo begun; sleep 1000' >>bag
printf '[cluster all]\ncharge = 1\n' >one.ini
for scale in 3600 900 200; do
    rm -rf bag.out
    expect 4 bats 3 bag --output stream --time-scale $scale --budget 2 \
        --grace 100ms --joblog log --clusters one.ini
    if grep -qx begun bag.out/*.out; then break; fi
done
grep -qx begun bag.out/*.out
verb output bag
tail -n +2 log | sort -n | awk '{ print "quick " $1 }' | cmp -s out -
exits 1 'no result of task 11' verb output bag --task 11
ok 'what a stopped attempt wrote is kept, but not printed: its task has no result'

# ---- large ----

# large FILE: so much is there. Memory is looked at while the run lasts.
large() {
    [ "$(cat $1 2>/dev/null | wc -c)" -ge 100000000 ]
}
# small RANK...: none of them has ever had so much memory that 100 MB fit.
small() {
    local rank
    for rank; do
        rss=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' \
            "/proc/$(rank_pid $rank)/status")
        test "${rss:-999999}" -lt 80000
    done
}

echo 'head -c 100000000 /dev/zero; while [ ! -e go ]; do sleep 0.1; done' >bag
rm -rf bag.out
start 2 bag --output stream:large
within 300 large 'large/*.out'
small 1
touch go
wait $run
bash -c 'ulimit -v 100000; "$0" output bag --task 1' "$BATS_MPI" 2>err |
    cmp -n 100000000 - /dev/zero
"$BATS_MPI" output bag | wc -c | grep -qx 100000000
ok '100 MB of one task arrive, pass the worker, and are printed again'
rm -r large

# The second task keeps the run alive after the first. Who reads its output
# begins late.
{ echo 'seq -f %099.0f 1000000'
  echo 'while [ ! -e go ]; do sleep 0.1; done'; } >bag
seq -f %099.0f 1000000 | cksum >expected
for tail in stochastic none; do
    rm -f go sum lines
    mkfifo lines
    { until [ -e read ]; do sleep 0.1; done; tee all | cksum >sum; } <lines &
    env "$mark" timeout -k 5 900 ${MPIRUN:-mpirun} -n 3 "$BATS_MPI" bag \
        --policy rr --tail $tail >lines 2>err </dev/null &
    sleep 2
    touch read
    within 300 large all
    small 0 1 2
    touch go
    wait
    cmp -s sum expected
    rm -f read all
done
ok '100 MB of lines arrive in order, whether or not copies may run'

# 50 MB of three tasks at a time, which are kept until it is known that they
# count, and do not fit into memory.
for i in 1 2 3; do
    echo "seq -f 'task $i says this line, %09.0f' 440000"
done >bag
bats 4 bag --tail random
expect 1 grep -qvxE 'task [123] says this line, [0-9]{9}' out
test "$(wc -l <out)" -eq 1320000
for i in 1 2 3; do
    grep "^task $i" out | cut -d, -f2 | cmp - <(seq -f ' %09.0f' 440000)
done
ok 'lines of parallel tasks do not mix'

# ---- the master dies ----

# It does while it is being sent the output of a task that has ended, which its
# worker has kept until it was known to be the result.
rm -f bag.bats*
echo 'echo x >>runs; seq 300000' >bag

# Nobody reads what the master prints, but for the first lines: it waits.
mkfifo pipe
env "$mark" timeout -k 5 900 ${MPIRUN:-mpirun} \
    -n 1 sh -c 'exec "$@" >pipe' sh "$BATS_MPI" bag --tail random : \
    -n 1 "$BATS_MPI" bag --tail random >/dev/null 2>err </dev/null &
exec 3<pipe
head -c 1000 <&3 >seen
sleep 0.5
kill -KILL "$(rank_pid 0)"
exec 3<&-
wait $! || :
test -s seen
test "$(wc -l <runs)" -eq 1
test "$(sql 'SELECT count(outcome) FROM execution')" -eq 0
ok 'a result is not recorded before its output is there'

by_mpi 2 bag --resume
seq 300000 | cmp -s out -
test "$(wc -l <runs)" -eq 2
test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 1
by_mpi 2 bag --resume
test ! -s out
test "$(wc -l <runs)" -eq 2
ok 'so the task is run again, recorded then, and never more'

# ---- a full disk ----

# A limit on the size of files stands for it. Tasks put it on the rank that
# runs them.
yes 'case $FULL in *$BATS_MACHINE*) prlimit --pid $PPID --fsize=10000 ;; esac; seq 1000; echo $BATS_TASK_ID' |
    head -n 200 >bag
for i in $(seq 200); do seq 1000; echo "$i"; done >expected

# full MACHINES ARGUMENT...: the run, with a full disk for these machines.
full() {
    rm -rf bag.out
    FULL=$1 bats 3 bag --output stream "${@:2}"
}
full all-1
grep -q 'rank 1 on .* is lost: bag.out/stream-.*: cannot write the output of task [0-9]*: File too large' err
verb output bag
cmp -s out expected
ok 'a worker that cannot write output is lost, says why, and nothing else is'
expect 3 full 'all-1 all-2'
test "$(grep -c 'is lost: ' err)" -eq 2
verb output bag
test "$(grep -cx 1000 out)" -eq "$(sql 'SELECT done FROM progress')"
ok 'where no worker is left the run ends with exit 3, and what ended is printed'

done_testing
