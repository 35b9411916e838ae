#!/bin/bash
# The deadline-and-budget policies, where use is charged: a task of 15 minutes
# costs 3 on a slow machine and 6 on a fast one.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; billing = use; currency = SU' \
    '[cluster slow]; ranks = 1-4; charge = 12; expected = 15m' \
    '[cluster fast]; ranks = 5-8; charge = 48; speed = 2; expected = 7.5m' \
    >clusters
for i in $(seq 40); do
    echo '@sleep 15m'
done >bag
# A busy machine may run tasks for half as long again.
scale='--time-scale 1200 --seed 5 -c clusters'
report() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" report
}

# Ten tasks each, two and a half hours on the slow ones alone.
bats 9 run bag --policy dbc-cost --deadline 12h --json report $scale
test "$(report tasks_done)" -eq 40
grep -q '^fast .* 0  *[~-]' err
awk -v c="$(report charged)" 'BEGIN { exit !(c >= 120 && c < 180) }'
ok 'with time to spare dbc-cost does all tasks on the cheaper cluster'
"$BATS_MPI" record verify bag >out
ok 'and the record of it is true'

# By 1h20m: five on each of the slow ones at most, the rest on the fast ones.
bats 9 run bag --policy dbc-cost --deadline 80m --json report --record d \
    $scale --time-scale 600
expect 1 grep -q '^fast .* 0  *[~-]' err
"$BATS_MPI" record verify d >out
ok 'with less it takes the dearer one, too'

expect 4 bats 9 run bag --policy dbc-time --budget 31 --json report \
    --record b $scale
awk -v c="$(report charged)" 'BEGIN { exit !(c <= 31) }'
test "$(report tasks_left)" -ge 29
"$BATS_MPI" record verify b >out
ok 'and no task costs more than the budget has left'

done_testing
