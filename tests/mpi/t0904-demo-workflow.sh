#!/bin/bash
# make demo-workflow, with a third of its tasks.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/demo/workflow.sh 2 60 10) >out 2>err </dev/null
grep -q '^All 80 files are as .make -f Makeflow map. makes them\.' out
ok 'the demo succeeds, and make has made the same'
cd "$B/demo-workflow"
value() { sql Makeflow.bats "$1"; }
lost=$(value "SELECT count(*) FROM happened WHERE what = 'lost'")
test "$lost" -ge 1
test "$(value "SELECT count(*) FROM happened
    WHERE what = 'preempt-notice'")" -ge "$lost"
test "$(value "SELECT count(*), count(DISTINCT task) FROM execution
    WHERE outcome = 0 AND exit_status = 0")" = '80|80'
ok 'a machine was reclaimed, after a notice, and each task is done once'
test "$(value "SELECT count(DISTINCT m.cluster) FROM charge l
    JOIN machine m ON l.machine = m.id WHERE l.amount > 0")" -eq 2
test "$(value 'SELECT sum(amount) BETWEEN 1 AND 60000000 FROM charge
    WHERE account = 0')" = 1
"$BATS_MPI" record verify Makeflow >"$dir/verified"
ok 'both partitions were charged within the budget, and the record is true'
test "$(head -n 1 ranking | cut -d' ' -f1)" = "$(best_accuracy trained-*)"
page=$(sed -n 's/^What it did, as a page for your browser: //p' "$dir/out")
grep -q '"title":"[^"]*Makeflow"' "$page"
ok 'the best parameters come first, and it ends with a page of the run'
cd "$dir"
done_testing
