#!/bin/bash
# A task that is stuck on a slow machine is copied to a fast one.
. "$TOP/tests/mpi/lib.sh"

ini '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1' >clusters

# The second task that the slow machine gets never ends there, and those of the
# fast one wait for it. What it has written until then is nobody's.
cat >task <<'END'
echo "begun by $BATS_CLUSTER"
[ "$BATS_CLUSTER" = fast ] && {
    until [ -e stuck ]; do sleep 0.05; done
    sleep 0.1
    echo "task $BATS_TASK_ID replica $BATS_REPLICA"
    exit
}
echo x >>slow
[ "$(wc -l <slow)" -gt 1 ] && echo "$BATS_TASK_ID" >stuck && sleep 1000
sleep 0.3
echo "task $BATS_TASK_ID replica $BATS_REPLICA"
END
yes 'sh ./task' | head -n 8 >bag

# copies ARGUMENT...: runs the bag from the start.
copies() {
    rm -rf slow stuck
    bats 3 bag -c clusters --policy rr --tail random "$@"
}


copies --joblog log --json report
test "$(grep -c '^task' out)" -eq 8
test "$(grep '^task' out | sort -u | wc -l)" -eq 8
ok 'every task has one result'
grep -qx "task $(cat stuck) replica 1" out
test "$(grep -c 'replica 0' out)" -eq 7
ok 'that of the stuck one is from its copy, which knows that it is one'
test "$(grep -c 'begun by slow' out)" -eq 1
test "$(grep -c 'begun by fast' out)" -eq 7
ok 'what the stuck one has written is not shown'
test "$(sed 1d log | wc -l)" -eq 8
test "$(cut -f 1 log | sort -u | wc -l)" -eq 9
test "$(awk -F'\t' -v n="$(cat stuck)" '$1 == n { print $6 }' log)" -gt 20
ok 'the joblog has one line for each, with the bytes that were shown'
perl -MJSON::PP -0777 -ne '$r = decode_json($_);
    exit !($r->{tasks_done} == 8 && $r->{copies} >= 1 && $r->{copies_first} == 1
        && $r->{settings}{given}{tail} eq "random" && $r->{preempted} == 0)' report
ok 'the report counts the copies'
grep -q 'an idle machine ran a replica of a task; 1 came first' err
ok 'the summary tells of them'
test "$(sql "select count(*) from tasks where state = 'done'")" -eq 8
test "$(sql 'select count(*) from execution where outcome = 0')" -eq 8
test "$(sql 'select count(*) from execution where outcome = 3')" -ge 1
test "$(sql "select attempts from tasks where number = $(cat stuck)")" -eq 1
ok 'so does the record: the stuck one is superseded'
within 60 nobody_left
ok 'nothing of it is left behind'

copies --results results
test "$(find results -name stdout | wc -l)" -eq 8
test "$(find results -type f | wc -l)" -eq 16
grep -qx "task $(cat stuck) replica 1" "results/$(cat stuck)/stdout"
expect 1 grep -q slow "results/$(cat stuck)/stdout"
ok '--results: the files of the copy have taken the place of the others'

copies --output stream
"$BATS_MPI" output bag >out 2>err
test "$(grep -c '^task' out)" -eq 8
test "$(grep -c 'begun by slow' out)" -eq 1
grep -qx "task $(cat stuck) replica 1" out
ok '--output stream: only the result counts'

# Output that does not fit into memory waits in a file.
cp task plain
sed 's/^sleep 0.3/seq 30000; seq 30000 >\&2; &/; s/sleep 0.1/seq 30000; &/' plain >task
copies --joblog log
seq 30000 >expected
sed -n "$(grep -n 'begun by slow' out | head -n 1 | cut -d : -f 1),\$p" out |
    sed -n '2,30001p' | cmp -s - expected
test "$(grep -c '^30000$' out)" -eq 8
test "$(grep -c '^30000$' err)" -eq 1
ok 'large output is shown as a whole'
test "$(sed 1d log | awk -F'\t' '$6 > 168890' | wc -l)" -eq 8
ok 'and counted'

# The master works as well.
sed 's/= 1$/= 0/; s/= 2/= 1/; s/charge.*/charge = 1/' clusters >clusters2
rm -f slow stuck
bats 2 bag -c clusters2 --policy rr --tail random --master-works
test "$(grep -c '^task' out)" -eq 8
test "$(grep -c '^30000$' out)" -eq 8
ok 'the slow machine may be that of the master'
sed 's/= 0/= 2/; s/= 1$/= 0/; s/= 2/= 1/; s/charge.*/charge = 1/' clusters2 >clusters3
rm -f slow stuck
bats 2 bag -c clusters3 --policy rr --tail random --master-works
test "$(grep -c '^task' out)" -eq 8
test "$(grep -c '^30000$' out)" -eq 8
ok 'or the fast one'
cp plain task

# Tasks that must not run twice.
cp bag many
sed 's/^/@once /' many >bag
expect 1 copies --timeout 6s
test "$(grep -c '^task' out)" -eq 7
ok '@once: the stuck one is not copied'
cp many bag
expect 1 copies --timeout 6s --no-replicate
test "$(grep -c '^task' out)" -eq 7
ok '--no-replicate: the same'

done_testing
