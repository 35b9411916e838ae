#!/bin/bash
# A task that is stuck on a slow machine is copied to a fast one.
. "$TOP/tests/mpi/lib.sh"

clusters() { # RANKS OF SLOW AND FAST
    ini "[cluster slow]; ranks = $1; charge = 1" \
        "[cluster fast]; ranks = $2; charge = 1" >clusters
}

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
sleep 2 # copies begin where tasks take less time, also on a busy machine
echo "task $BATS_TASK_ID replica $BATS_REPLICA"
END
yes 'sh ./task' | head -n 8 >bag

# copies N ARGUMENT...: runs the bag from the start. counts N PATTERN: so many
# lines of out have it.
copies() {
    rm -rf slow stuck
    bats $1 bag -c clusters --policy rr --tail random "${@:2}"
}
counts() {
    test "$(grep -c "$2" out)" -eq $1
}

clusters 1 2
copies 3 --joblog log --json report
counts 8 '^task'
test "$(grep '^task' out | sort -u | wc -l)" -eq 8
grep -qx "task $(cat stuck) replica 1" out
counts 7 'replica 0'
counts 1 'begun by slow'
counts 7 'begun by fast'
ok 'every task has one result; that of the stuck one is its copy, which knows it'
test "$(sed 1d log | wc -l)" -eq 8
test "$(cut -f 1 log | sort -u | wc -l)" -eq 9
test "$(awk -F'\t' -v n="$(cat stuck)" '$1 == n { print $6 }' log)" -gt 20
holds '.tasks_done == 8 and .copies >= 1 and .copies_first == 1 and
    .settings.given.tail == "random" and .preempted == 0'
grep -q 'an idle machine ran a replica of a task; 1 came first' err
test "$(sql "SELECT count(*) FROM tasks WHERE state = 'done'")" -eq 8
test "$(sql 'SELECT sum(outcome = 0), sum(outcome = 3) > 0
    FROM execution')" = '8|1'
test "$(sql "SELECT attempts FROM tasks WHERE number = $(cat stuck)")" -eq 1
ok 'the joblog has one line for each; report, summary and record count the copies'
within 60 nobody_left
ok 'nothing of it is left behind'

copies 3 --results results
test "$(find results -name stdout | wc -l)" -eq 8
test "$(find results -type f | wc -l)" -eq 16
grep -qx "task $(cat stuck) replica 1" "results/$(cat stuck)/stdout"
expect 1 grep -q slow "results/$(cat stuck)/stdout"
copies 3 --output stream
verb output bag
counts 8 '^task'
counts 1 'begun by slow'
grep -qx "task $(cat stuck) replica 1" out
ok '--results and --output stream have the output of the copy only'

# Tasks that must not run twice.
clusters 1 2
expect 1 copies 3 --timeout 10s --no-replicate
counts 7 '^task'
sed -i 's/^/@once /' bag
expect 1 copies 3 --timeout 10s
counts 7 '^task'
ok '@once and --no-replicate: the stuck one is not copied'

done_testing
