#!/bin/bash
# make demo, with a quarter of its tasks.
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
done_testing
