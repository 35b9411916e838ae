#!/bin/bash
# The papers' emulation on 65 ranks, one scenario of the thesis's table 2.1:
# S3-4, cluster1 three times as expensive and four times as fast.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/das/table21.sh --window 4 S3-4) \
    >out 2>err </dev/null
ok "the three runs end in order"

value() { # RUN PATH
    perl "$TOP/benchmarks/json.pl" "$B/das/S3-4-$1.json" "$2"
}

awk '/^@sleep/ { n++; x = $2 / 60; sum += x; squares += x * x }
    END { m = sum / n; d = sqrt(squares / n - m * m)
        exit !(n == 1000 && m > 14.8 && m < 15.2 && d > 2.1 && d < 2.4) }' \
    "$B/das/bag.txt"
ok "the bag is 1000 tasks of mean 15 and deviation 2.24 minutes"

# What is charged is always the windows times the charges, 3 and 9.
for run in rr bats-rr bats-min; do
    [ "$(value $run charged)" -eq $(($(value $run clusters.0.windows) * 3 + \
        $(value $run clusters.1.windows) * 9)) ]
    ok "$run: is charged for its windows"
done
for run in bats-rr bats-min; do
    [ "$(value $run charged)" -le "$(value $run budget)" ]
    ok "${run} stays within its budget"
    [ "$(value $run tasks_done)" -eq 1000 ] ||
        [ "$(value $run outcome)" = budget_exhausted ]
    ok "${run} does every task or says that the budget is exhausted"
done

# The thesis: (32,32) for rr and bats-rr, (1,32) for bats-min.
[ "$(value rr decisions.reason=start.machines.cluster0)" -eq 32 ]
[ "$(value rr decisions.reason=start.machines.cluster1)" -eq 32 ]
ok "rr holds all machines"
[ "$(value bats-min decisions.reason=start.machines.cluster0)" -eq 30 ]
[ "$(value bats-min decisions.reason=start.machines.cluster1)" -eq 30 ]
ok "bats begins with 30 and 30 machines as published"
[ "$(value bats-rr decisions.reason=sampled.machines.cluster1)" -ge 30 ]
ok "bats rr takes all machines of the better value"
[ "$(value bats-min decisions.reason=sampled.machines.cluster1)" -ge 30 ]
[ "$(value bats-min decisions.reason=sampled.machines.cluster0)" -le 5 ]
ok "bats min decides close to the published 1 and 32"

sed 's/^/# /' out
done_testing
