#!/bin/bash
# The demos: make demo, with a quarter of its tasks; of the tail; of a workflow.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/demo/run.sh 5 50) >out 2>err </dev/null
cp "$B/demo/run.json" report
results=$B/demo/results.txt
holds '.tasks == 125 and (.charged | tonumber) <= 50 and .tasks_failed == 0'
[ "$(grep -c '^som seed=.* accuracy=' "$results")" -eq "$(json .tasks_done)" ]
[ "$(sort -u "$results" | wc -l)" -eq "$(json .tasks_done)" ]
ok "125 runs are charged 50 SU at most, and have one result line each"
finds err "^charged .* of the budget of 50 SU" "^economy  *4/4 .*[0-9]" \
    "^express  *4/4"
grep -qx 'Holding all machines to the end would have cost about [0-9.]* SU\.' \
    out
page=$(sed -n 's/^What it did, as a page for your browser: //p' out)
grep -q "\"charged\":\"$(json .charged)\"" "$TOP/$page" "$page" 2>/dev/null
ok "it shows what it cost, what it would have cost, and ends with a page"
best=$(best_accuracy "$results")
tail -n 5 out | head -n 1 | awk -v best="$best" \
    '{ exit !($3 == best && $5 == "cm") }'
ok "the best parameters come first"

# A task that hangs is copied, and its copy is the result.
(cd "$TOP" && env "$mark" sh benchmarks/demo/stuck.sh) >out 2>err </dev/null
for tail in none soonest; do
    holds '.tasks_done == 24' "$B/demo-stuck/stuck-$tail.json"
    [ "$(sort -u "$B/demo-stuck/stuck-$tail.txt" | wc -l)" -eq 24 ]
done
ok "every task has one result, with copies and without"
charged=$(json .charged "$B/demo-stuck/stuck-none.json")
holds '.copies == 0 and .real_s >= 20' "$B/demo-stuck/stuck-none.json"
holds ".copies_first >= 1 and (.charged | tonumber) <= $charged" \
    "$B/demo-stuck/stuck-soonest.json"
grep -q '^18: copy [1-9]' "$B/demo-stuck/stuck-soonest.txt"
ok "without copies the bag waits; the copy is the result and costs nothing"

# make demo-workflow, with a third of its tasks.
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
done_testing
