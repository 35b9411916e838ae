#!/bin/bash
# The demo of the tail: a task that hangs is copied, and its copy is the result.
. "$TOP/tests/mpi/lib.sh"

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
done_testing
