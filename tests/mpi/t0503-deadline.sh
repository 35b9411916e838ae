#!/bin/bash
# A deadline: kept for little money, or said to be missed.
. "$TOP/tests/mpi/lib.sh"

# 15 h of work on 4 slow machines, or twice as fast on 4 dear ones.
ini '[run]; currency = SU' '[cluster slow]; ranks = 1-4; charge = 3' \
    '[cluster fast]; ranks = 5-8; charge = 12; speed = 2' >clusters
yes '@sleep 15m' | head -n 60 >bag
scale='--time-scale 3000 --seed 5 -c clusters'

# The deadline leaves twice the time that the slow ones need, unless this
# machine is slow.
bats 9 run bag --deadline 9h --json report $scale
if grep -q '^deadline  *9h, kept with .* to spare$' err; then
    kept=true
else
    kept=false
    finds err '^deadline  *9h, missed by ' 'the deadline of 9h will not be kept'
fi
holds ".deadline_s == 32400 and .tasks_done == 60 and .deadline_kept == $kept"
verb record verify bag
ok 'a bag is done, and bill and record say whether the deadline was kept'

# All machines together need more than an hour.
bats 9 run bag --deadline 15m --json report --record late $scale
finds err 'the deadline of 15m will not be kept: all tasks are expected' \
    ' the deadline will not be kept: ' '^deadline  *15m, missed by '
holds '.deadline_kept == false and .tasks_done == 60'
verb record verify late
ok 'one that is too early is missed, is said to be, and the bag is done'

# A second is over before any task ends, since they wait until it is said.
yes 'until test -e go; do sleep 0.1; done' | head -n 8 >wait
start 9 run wait --deadline 1s --record soon $scale
within 60 grep -q 'the deadline of 1s will not be kept: ' err
grep -q ' at the earliest, for none has ended yet' err
touch go
wait $run
ok 'nothing is said of what is not known yet'

bats 9 sample bag --record sampled --deadline 20h $scale
grep -q '^The deadline can be kept for [0-9.]* SU, ending in ' out
charged=$(sed -n 's/^[0-9]* tasks left after .*, charged \([0-9]*\) SU:$/\1/p' out)
ok 'a sample tells what a deadline costs'
known="bag --profile bag.profile $scale"
exits 5 'cannot be done in ' bats 9 run $known --deadline 5m --record p
exits 4 'the deadline cannot be met for less than' \
    bats 9 run $known --deadline 20h --budget $((charged + 1)) --record q
ok 'what is known to be impossible is refused before it costs anything'
bats 9 run $known --deadline 50% --json report --record r
holds '.tasks_left == 0'
exits 2 'needs --profile' bats 1 run bag --deadline 50% --record s $scale
ok 'a percentage lies between the soonest end and the cheapest: it needs a profile'

done_testing
