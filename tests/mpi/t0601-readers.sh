#!/bin/sh
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
read_by tasks --state done bag && done=$(($(wc -l <out) - 1))
read_by status --left bag && test "$(cat out)" -eq $((4 - done))
ok 'status --left counts the tasks of a live run that have no result'
kill -KILL $run
wait $run
within 20 nobody_left
read_by status --left bag && test "$(cat out)" -eq $((4 - done)) &&
    read_by why bag && grep -q 'the run was interrupted; --resume goes on' out
ok 'so it does after a crash, and why says how to go on'
echo >go
sed -i 's/^true$/false/' bag
alone --resume bag
read_by status --left bag && test "$(cat out)" = 0
ok 'nothing is left where every task has a result, good or bad'
sqlite3 bag.bats 'UPDATE session SET ended_us = NULL, finish = NULL'
read_by status --left bag && test "$(cat out)" = 0 && read_by why bag &&
    grep -q 'the run was interrupted, but no task of the bag is left' out &&
    ! grep -q resume out
ok 'why does not advise to go on where nothing is left'

done_testing
