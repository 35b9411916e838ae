#!/bin/bash
# make demo-workflow, with a third of its tasks.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/demo/workflow.sh 2 60 10) >out 2>err </dev/null
grep -q '^All 80 files are as .make -f Makeflow map. makes them\.' out
ok 'the demo succeeds, and make has made the same'
cd "$B/demo-workflow"
value() { sqlite3 Makeflow.bats "$1"; }
lost=$(value "SELECT count(*) FROM happened WHERE what = 'lost'")
test "$lost" -ge 1
test "$(value "SELECT count(*) FROM happened
    WHERE what = 'preempt-notice'")" -ge "$lost"
test "$(value "SELECT count(*), count(DISTINCT task) FROM execution
    WHERE outcome = 0 AND exit_status = 0")" = '80|80'
ok 'a machine was reclaimed, after a notice, and each task is done once'
test "$(value "SELECT count(DISTINCT m.cluster) FROM charge l
    JOIN machine m ON l.machine = m.id WHERE l.amount > 0")" -eq 2
value 'SELECT total(amount) FROM charge WHERE account = 0' | awk '{ exit !($1 > 0 && $1 <= 60e6) }'
"$BATS_MPI" record verify Makeflow >"$dir/verified"
ok 'both partitions were charged within the budget, and the record is true'

# The best parameters, found in another way.
best=$(perl -ne '/rate=(\S+) radius=(\S+) .* accuracy=(\S+)/ or next;
    $n{"$1 $2"}++; $s{"$1 $2"} += $3;
    END { my ($b) = sort { $b <=> $a } map { $s{$_} / $n{$_} } keys %n;
        printf "%.4f", $b }' trained-*)
test "${best%.*}" = 0
test "$(head -n 1 ranking | cut -d' ' -f1)" = "$best"
ok 'the best parameters come first'
page=$(sed -n 's/^What it did, as a page for your browser: //p' "$dir/out")
grep -q '"title":"[^"]*Makeflow"' "$page"
ok 'it ends with a page of the run'

cd "$dir"
sed 's/^/# /' out
done_testing
