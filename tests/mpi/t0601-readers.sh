#!/bin/bash
# The verbs that read a record: what they say is true, whatever its run was
# like, and wherever it is.
. "$TOP/tests/mpi/lib.sh"

# begin ARGUMENT...: the same in the background, as process $run.
begin() {
    env "$mark" "$BATS_MPI" --quiet "$@" \
        >run.out 2>run.err </dev/null &
    run=$!
}
# left N BAG: so many tasks are.
left() {
    test "$("$BATS_MPI" status --left "$2")" -eq $1
}

# ---- is anything left? ----

printf 'true\ntest -e go || { echo >>began; sleep 1001; }\ntrue\ntrue\n' >bag
begin bag
within 60 test -s began
done=$("$BATS_MPI" tasks --state done bag | sed 1d | wc -l)
left $((4 - done)) bag
within 60 told "\"elapsed_s\":[1-9].*\"host\":\"$(uname -n)\"" \
    "$BATS_MPI" tasks --state running --json bag
for words in status 'tasks --state running' log why; do
    TMPDIR=$dir/nowhere verb $words bag
    test ! -s err
    test -s out
done
ok 'a live record is read without a copy'
verb tasks --state running bag
grep -qE "^ +2  running .* [1-9][0-9.hm]*s  .* $(uname -n) .*test -e go" out
ok 'tasks says where a task runs, and for how long by now'
kill -KILL $run
expect 137 wait $run
within 60 nobody_left
left $((4 - done)) bag
tells 'the run was interrupted; --resume goes on' why bag
ok 'status --left counts tasks without a result, live and after a crash'

# ---- wherever it is ----

# answers RECORD: what each verb says of it, and what recover can save.
answers() {
    for words in status 'status --json' 'tasks --json' 'log --json' why \
        'why 2' 'record verify'; do
        code=0
        "$BATS_MPI" $words "$1" 2>&1 || code=$?
        echo "$words: $code"
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
for path in links/far.bats links/far links/to/bag ./links/../bag \
    "$dir/links/to/bag.bats"; do
    answers $path | cmp there - >&2
done
mkdir moved below
cp -r bag bag.bats bag.bats-wal moved
(cd moved && answers bag) | cmp there - >&2
mv moved below/again
(cd links/to && answers ../../below/again/bag) | cmp there - >&2
ok 'a link, or one that was moved, is read as the record itself, with its log'

mkdir loop
ln -s b.bats loop/a.bats
ln -s a.bats loop/b.bats
exits 2 'loop/a.bats: Too many levels' verb status loop/a.bats
ln -s nowhere gone.bats
exits 2 'there is no such record' verb status gone
ok 'links that lead nowhere are named'

# ---- a reader that is ended ----

# A record with a journal is copied. The log is a pipe here: the reader sees its
# head, up to twice, copies the file, and then waits for the rest of the log.
mkdir slow tmp
cp bag.bats slow/
touch slow/bag.bats-journal
mkfifo slow/bag.bats-wal
is_copied() { cmp -s bag.bats tmp/bats-*/record; }
# ended CODE SIGNAL VERB...: one that is ended so while it copies exits with
# this, and leaves nothing.
ended() {
    TMPDIR=$dir/tmp "$BATS_MPI" "${@:3}" slow/bag >out 2>err &
    reader=$!
    exec 5<>slow/bag.bats-wal
    for look in 1 2; do head -c 32 bag.bats-wal; done >&5
    within 60 is_copied
    kill -$2 $reader
    expect $1 wait $reader
    exec 5>&-
    test -z "$(ls tmp)"
}
ended 143 TERM status
ended 129 HUP log
ended 143 TERM record recover
ok 'a reader that is ended by a signal leaves no copy of the record'

# ---- is nothing left? ----

echo >go
sed -i 's/^true$/false/' bag
expect 1 alone --quiet --resume bag
left 0 bag
verb status bag
grep -qx 'bag: done, 3 failed' out
"$BATS_MPI" status --json bag >report
holds '.state == "done, 3 failed"'
ok 'nothing is left where every task has a result, good or bad, and it is said'
sql 'UPDATE session SET ended_us = NULL, finish = NULL'
left 0 bag
tells 'the run was interrupted, but no task of the bag is left' why bag
expect 1 grep -q resume out
ok 'why does not advise to go on where nothing is left'

# ---- in words ----

# No clock and no bill has more than 16 digits.
for words in status log tasks; do
    "$BATS_MPI" $words --json bag
done >out 2>err
expect 1 grep -E '[0-9.]{18}' out
ok 'no number in JSON has more digits than it knows'

echo 'sleep 1001' >late
expect 1 alone --quiet --timeout 300ms late
tells ' failed .* timed out ' tasks late
verb log late
grep -qE ' failed .* task 1 +timed out, [0-9.]+ s$' out
grep -q '; 1 task left' out
expect 1 grep -qE '[^0-9]1 (tasks|windows)' out
ok 'log says that a task timed out, as tasks does; one task is not called tasks'

# ---- the output of a run ----

mkdir -p work/deep
printf 'echo one\necho two\n' >work/bag
cp work/bag scratch.bag
alone --quiet work/bag --output stream:work/deep/kept
alone --quiet scratch.bag --output stream:"$dir/scratch" --record work/scratch.bats
# prints RUN...: the output of each is that of the two tasks.
prints() {
    for run; do
        verb output "$run"
        consists out one two
    done
}
prints work/bag work/bag.bats work/scratch.bats
mv work elsewhere.d
ln -s "$dir/elsewhere.d/bag.bats" links/bag.bats
prints elsewhere.d/bag links/bag elsewhere.d/scratch.bats
(cd elsewhere.d/deep && prints ../bag)
ok 'output finds what the run has used, also when it was moved with the record'
# ---- a bag that was edited ----

printf 'echo a\nfalse\necho c\n' >edited
expect 1 alone --quiet edited
printf 'echo a\necho b\n' >edited
alone --quiet --resume edited
tells '^task 2, line 2: echo b$' why edited 2
test "$(grep -cE ' task 2( |$)' out)" -eq 2
expect 1 grep -q 'failed' out
verb why edited 3
finds out '^task 3, line 3: echo c$' '^removed: it is no longer in the bag$' \
    ' done .* task 3 (removed) '
ok 'why tells what happened to a task, not to the one that had its number before'
verb log edited
test "$(grep -c ' task 2 (removed)' out)" -eq 2
grep ' failed ' out | grep -q ' task 2 (removed) '
test "$(grep -cE ' task 2(  |$)' out)" -eq 2
verb log --json edited
test "$(grep -c '"task":2' out)" -eq 4
test "$(grep -c '"task":2,"removed":true' out)" -eq 2
ok 'the log tells a removed task from the one with its number now, also in JSON'

# Byte 4 of a leaf is the number of its entries: an index loses the last one.
sqlite3 edited.bats 'PRAGMA wal_checkpoint(TRUNCATE)' >out
page=$(sql edited.bats "SELECT pageno FROM dbstat
    WHERE name = 'sqlite_autoindex_cluster_1'")
printf '\0\0' |
    dd of=edited.bats bs=1 seek=$(((page - 1) * 4096 + 3)) conv=notrunc 2>err
"$BATS_MPI" record recover edited.bats >out
grep -qx 'The record is damaged, but every row could be read.' out
test "$(sql edited.bats.recovered 'SELECT count(*) FROM execution')" -eq 4
ok 'an index that is damaged takes no row along'

done_testing
