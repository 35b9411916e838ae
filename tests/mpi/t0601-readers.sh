#!/bin/bash
# The verbs that read a record: what they say is true, whatever its run was
# like, and wherever it is.
. "$TOP/tests/mpi/lib.sh"

if ! command -v sqlite3 >/dev/null; then
    skip 'a record is read' 'no sqlite3'
    done_testing
    exit
fi

# alone ARGUMENT...: a run on one rank, which works itself, without launcher.
alone() {
    env "$mark" timeout -k 5 120 "$BATS_MPI" --master-works --quiet "$@" \
        >out 2>err </dev/null
}
# begin ARGUMENT...: the same in the background, as process $run.
begin() {
    env "$mark" "$BATS_MPI" --master-works --quiet "$@" \
        >run.out 2>run.err </dev/null &
    run=$!
}
# read_by VERB ARGUMENT...
read_by() {
    "$BATS_MPI" "$@" >out 2>err
}

# ---- is anything left? ----

printf 'true\ntest -e go || { echo >>began; sleep 1001; }\ntrue\ntrue\n' >bag
begin bag
within 60 test -s began
read_by tasks --state done bag
done=$(($(wc -l <out) - 1))
read_by status --left bag
test "$(cat out)" -eq $((4 - done))
ok 'status --left counts the tasks of a live run that have no result'
runs_for_a_while() {
    read_by tasks --state running --json bag
    grep -q "\"elapsed_s\":[1-9].*\"host\":\"$(uname -n)\"" out
}
within 60 runs_for_a_while
for verb in status 'tasks --state running' log why; do
    TMPDIR=$dir/nowhere read_by $verb bag
    test ! -s err
    test -s out
done
ok 'a live record is read without a copy'
read_by tasks --state running bag
grep -qE "^ +2  running .* [1-9][0-9.]*s  .* $(uname -n) .*test -e go" out
ok 'tasks says where a task runs, and for how long by now'
kill -KILL $run
expect 137 wait $run
within 60 nobody_left
read_by status --left bag
test "$(cat out)" -eq $((4 - done))
read_by why bag
grep -q 'the run was interrupted; --resume goes on' out
ok 'so it does after a crash, and why says how to go on'

# ---- wherever it is ----

# answers RECORD: what each verb says of it, and what recover can save.
answers() {
    for verb in status 'status --json' 'tasks --json' 'log --json' why \
        'why 2' 'record verify'; do
        code=0
        "$BATS_MPI" $verb "$1" 2>&1 || code=$?
        echo "$verb: $code"
    done
    rm -f "$dir/saved"
    "$BATS_MPI" record recover "$1" "$dir/saved" 2>&1 | sed 1s/.*:/saved:/
    sqlite3 "$dir/saved" 'SELECT count(*) FROM execution'
}
answers bag.bats >there 2>&1
test -s bag.bats-wal
grep -q '^{"task":2,"state":"running"' there
tail -n 1 there | grep -qx "$done"
ok 'a record that was killed has its log beside it, and every verb reads both'

mkdir -p links/to
ln -s "$dir/bag.bats" links/far.bats
ln -s ../far.bats links/to/bag.bats
differ=
for path in links/far.bats links/far links/to/bag ./links/../bag \
    "$dir/links/to/bag.bats"; do
    answers $path >elsewhere
    cmp there elsewhere >&2 || differ="$differ $path"
done
test -z "$differ"
ok 'a link to a record is read as the record itself, with its log'

mkdir moved
cp -r bag bag.bats bag.bats-wal moved
cd moved
answers bag >../elsewhere
cd ..
cmp there elsewhere >&2
ok 'so is a record whose directory was moved, from within'
mkdir below
mv moved below/again
(cd links/to && answers ../../below/again/bag) >elsewhere
cmp there elsewhere >&2
ok 'and by a relative path'

mkdir loop
ln -s b.bats loop/a.bats
ln -s a.bats loop/b.bats
exits 2 'loop/a.bats: Too many levels' read_by status loop/a.bats
ln -s nowhere gone.bats
exits 2 'there is no such record' read_by status gone
ok 'links that lead nowhere are named'

# ---- a reader that is ended ----

# A record with a journal is copied. The log is a pipe here: the reader sees its
# head, copies the file, and then waits for the log.
mkdir slow tmp
cp bag.bats slow/
touch slow/bag.bats-journal
mkfifo slow/bag.bats-wal
is_copied() { cmp -s bag.bats tmp/bats-*/record; }
# ended CODE SIGNAL VERB...: one that is ended so while it copies exits with
# this, and leaves nothing.
ended() {
    code=$1
    signal=$2
    shift 2
    TMPDIR=$dir/tmp "$BATS_MPI" "$@" slow/bag >out 2>err &
    reader=$!
    head -c 32 bag.bats-wal >slow/bag.bats-wal
    within 60 is_copied
    kill -"$signal" $reader
    expect "$code" wait $reader
    test -z "$(ls tmp)"
}
ended 143 TERM status
ended 129 HUP log
ended 143 TERM record recover
ok 'a reader that is ended by a signal leaves no copy of the record'

# ---- is nothing left? ----

echo >go
sed -i 's/^true$/false/' bag
expect 1 alone --resume bag
read_by status --left bag
test "$(cat out)" = 0
ok 'nothing is left where every task has a result, good or bad'
read_by status bag
grep -qx 'bag: done, 3 failed' out
read_by status --json bag
grep -q '"state": "done, 3 failed"' out
ok 'status does not say that all is done where tasks have failed'
sqlite3 bag.bats 'UPDATE session SET ended_us = NULL, finish = NULL'
read_by status --left bag
test "$(cat out)" = 0
read_by why bag
grep -q 'the run was interrupted, but no task of the bag is left' out
expect 1 grep -q resume out
ok 'why does not advise to go on where nothing is left'

# ---- in words ----

# numbers: no number of more than 16 digits, as no clock and no bill has.
numbers() {
    for verb in status log tasks; do
        "$BATS_MPI" $verb --json "$1"
    done >out 2>err
    expect 1 grep -E '[0-9.]{18}' out
}
numbers bag
ok 'no number in JSON has more digits than it knows'

echo 'sleep 1001' >late
expect 1 alone --timeout 300ms late
read_by tasks late
grep -q ' failed .* timed out ' out
read_by log late
grep -qE ' failed .* task 1 +timed out, 0\.[0-9]+ s$' out
ok 'log says that a task timed out, as tasks does'
grep -q '; 1 task left' out
expect 1 grep -qE '[^0-9]1 (tasks|windows)' out
ok 'one task is not called tasks'

ini '[cluster slow]; charge = 1; speed = 0.5' >speed.ini
for i in 1 2 3 4; do echo 'sleep 0.1; test -e tried || { echo >tried; false; }'
done >means
alone --clusters speed.ini --time-scale 10 --retries 2 --json report means
means() { sed -n 's/.*"mean_runtime_s": *\([0-9.]*\).*/\1/p' "$1"; }
"$BATS_MPI" status --json means >out 2>err
test -n "$(means out)"
awk -v a="$(means report)" -v b="$(means out)" \
    'BEGIN { exit !(a > 0 && a - b < 1e-5 && b - a < 1e-5) }'
ok 'the mean runtime of status is that of the closing report'

echo 'echo >>held; sleep 1001' >drained
echo 'true' >>drained
begin --policy rr --seed 1 drained
within 60 test -s held
kill -USR1 $run
draining() {
    read_by status drained && grep -qx 'drained: draining' out
}
within 60 draining
ok 'status says that a run is draining'
read_by why drained
grep -qx 'drained: draining' out
grep -q '^1 pending: the run is draining: ' out
ok 'so does why'
kill -TERM $run
expect 143 wait $run

# ---- the output of a run ----

mkdir -p work/deep
printf 'echo one\necho two\n' >work/bag
cp work/bag scratch.bag
alone work/bag --output stream:work/deep/kept
alone scratch.bag --output stream:"$dir/scratch" \
    --record work/scratch.bats
# prints RUN: its output is that of the two tasks.
prints() {
    read_by output "$1" && test "$(tr '\n' ' ' <out)" = 'one two '
}
prints work/bag
prints work/bag.bats
prints work/scratch.bats
ok 'output finds the place that the run has used'
mv work elsewhere.d
ln -s "$dir/elsewhere.d/bag.bats" links/bag.bats
prints elsewhere.d/bag
prints links/bag
(cd elsewhere.d/deep && prints ../bag && prints kept)
prints elsewhere.d/scratch
ok 'also when it was moved with the record, or is asked for through a link'
cd elsewhere.d
rm bag.bats
mv deep/kept bag.out
prints bag
cd ..
ok 'without a record it is beside the bag'

# ---- a bag that was edited ----

printf 'echo a\nfalse\necho c\n' >edited
expect 1 alone edited
printf 'echo a\necho b\n' >edited
alone --resume edited
read_by why edited 2
grep -q '^task 2, line 2: echo b$' out
test "$(grep -cE ' task 2( |$)' out)" -eq 2
expect 1 grep -q 'failed' out
ok 'why tells of a task only what happened to it, not to one that was there'
read_by why edited 3
grep -q '^task 3, line 3: echo c$' out
grep -qx 'removed: it is no longer in the bag' out
grep -q ' done .* task 3 (removed) ' out
ok 'a removed task is named as removed, and has its history'
read_by log edited
test "$(grep -c ' task 2 (removed)' out)" -eq 2
grep ' failed ' out | grep -q ' task 2 (removed) '
test "$(grep -cE ' task 2(  |$)' out)" -eq 2
ok 'the log tells a removed task from the one with its number now'
read_by log --json edited
test "$(grep -c '"task":2' out)" -eq 4
test "$(grep -c '"task":2,"removed":true' out)" -eq 2
ok 'so it does in JSON'

# Byte 4 of a leaf is the number of its entries: an index loses the last one.
sqlite3 edited.bats 'PRAGMA wal_checkpoint(TRUNCATE)' >out
page=$(sqlite3 edited.bats "SELECT pageno FROM dbstat
    WHERE name = 'sqlite_autoindex_cluster_1'")
printf '\0\0' |
    dd of=edited.bats bs=1 seek=$(((page - 1) * 4096 + 3)) conv=notrunc 2>err
"$BATS_MPI" record recover edited.bats >out
grep -qx 'The record is damaged, but every row could be read.' out
test "$(sqlite3 edited.bats.recovered 'SELECT count(*) FROM execution')" -eq 4
ok 'an index that is damaged takes no row along'

done_testing
