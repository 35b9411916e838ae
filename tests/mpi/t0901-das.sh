#!/bin/bash
# The papers' emulation on 65 ranks, one scenario of the thesis's table 2.1:
# S3-4, cluster1 three times as expensive and four times as fast.
. "$TOP/tests/mpi/lib.sh"

(cd "$TOP" && env "$mark" sh benchmarks/das/table21.sh --window 4 S3-4) \
    >out 2>err </dev/null
ok "the three runs end in order"

awk '/^@sleep/ { n++; x = $2 / 60; sum += x; squares += x * x }
    END { m = sum / n; d = sqrt(squares / n - m * m)
        exit !(n == 1000 && m > 14.8 && m < 15.2 && d > 2.1 && d < 2.4) }' \
    "$B/das/bag.txt"
ok "the bag is 1000 tasks of mean 15 and deviation 2.24 minutes"

# The charge is always the windows times the charges, 3 and 9. The thesis begins
# with (32,32) for rr and with 30 and 30 for bats.
for run in rr bats-rr bats-min; do
    cp "$B/das/S3-4-$run.json" report
    holds '(.charged | tonumber) ==
        3 * .clusters[0].windows + 9 * .clusters[1].windows'
    [ $run = rr ] || holds '(.charged | tonumber) <= (.budget | tonumber) and
        (.tasks_done == 1000 or .outcome == "budget_exhausted")'
    n=$([ $run = rr ] && echo 32 || echo 30)
    [ $run = bats-rr ] || holds ".decisions[0].machines | [.cluster0, .cluster1] ==
        [$n, $n]"
done
ok "each is charged for its windows, within its budget, and begins as published"

done_testing
