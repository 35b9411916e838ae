#!/bin/bash
# The demo of the tail: a task that hangs is copied, and its copy is the result.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/demo/stuck.sh) >out 2>err </dev/null
ok "the demo succeeds"

value() { # TAIL PATH
    perl "$TOP/benchmarks/json.pl" "$B/demo/stuck-$1.json" "$2"
}

for tail in none soonest; do
    [ "$(value $tail tasks_done)" -eq 24 ]
    [ "$(sort -u "$B/demo/stuck-$tail.txt" | wc -l)" -eq 24 ]
    ok "every task has one result with $tail"
done
[ "$(value none copies)" -eq 0 ]
[ "$(value none real_s | cut -d . -f 1)" -ge 20 ]
ok "without copies the bag waits"
[ "$(value soonest copies_first)" -ge 1 ]
grep -q '^18: copy [1-9]' "$B/demo/stuck-soonest.txt"
ok "the copy is the result"
[ "$(value soonest charged)" -le "$(value none charged)" ]
ok "and costs nothing"

sed 's/^/# /' err
done_testing
