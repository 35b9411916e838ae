#!/bin/bash
# The deadline-and-budget policies, where use is charged: a task of 15 minutes
# costs 3 on a slow machine and 6 on a fast one.
. "$TOP/tests/mpi/lib.sh"

ini '[run]; billing = use; currency = SU' \
    '[cluster slow]; ranks = 1-4; charge = 12; expected = 15m' \
    '[cluster fast]; ranks = 5-8; charge = 48; speed = 2; expected = 7.5m' \
    >clusters
yes '@sleep 15m' | head -n 40 >bag
# A busy machine may run tasks for half as long again.
scale='--time-scale 1200 --seed 5 -c clusters --json report'

# Ten tasks each, two and a half hours on the slow ones alone.
bats 9 run bag --policy dbc-cost --deadline 12h $scale
holds '.tasks_done == 40 and (.charged | tonumber | . >= 120 and . < 180)'
grep -q '^fast .* 0  *[~-]' err
verb record verify bag
ok 'with time to spare dbc-cost does all tasks on the cheaper cluster'

# By 1h20m: five on each of the slow ones at most, the rest on the fast ones.
bats 9 run bag --policy dbc-cost --deadline 80m --record d $scale --time-scale 600
expect 1 grep -q '^fast .* 0  *[~-]' err
verb record verify d
ok 'with less it takes the dearer one, too'

expect 4 bats 9 run bag --policy dbc-time --budget 31 --record b $scale
holds '(.charged | tonumber) <= 31 and .tasks_left >= 29'
verb record verify b
ok 'and no task costs more than the budget has left'

done_testing
