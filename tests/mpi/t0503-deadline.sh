#!/bin/bash
# A deadline: kept for little money, or said to be missed.
. "$TOP/tests/mpi/lib.sh"

# 15 h of work on 4 slow machines, or twice as fast on 4 dear ones.
ini '[run]; currency = SU' '[cluster slow]; ranks = 1-4; charge = 3' \
    '[cluster fast]; ranks = 5-8; charge = 12; speed = 2' >clusters
for i in $(seq 60); do
    echo '@sleep 15m'
done >bag
scale='--time-scale 3000 --seed 5 -c clusters'
report() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" report
}

# The deadline leaves twice the time that the slow ones need, unless this
# machine is slow.
bats 9 run bag --deadline 9h --json report $scale
test "$(report deadline_s)" = 32400.0
test "$(report tasks_done)" -eq 60
if grep -q '^deadline  *9h, kept with .* to spare$' err; then
    test "$(report deadline_kept)" = true
else
    grep -q '^deadline  *9h, missed by ' err
    test "$(report deadline_kept)" = false
    grep -q 'the deadline of 9h will not be kept' err
fi
ok 'a bag is done, and the bill says whether the deadline was kept'
"$BATS_MPI" record verify bag >out
ok 'and the record of it is true'

# All machines together need more than an hour.
bats 9 run bag --deadline 15m --json report --record late $scale
finds err 'the deadline of 15m will not be kept: all tasks are expected' \
    ' the deadline will not be kept: ' '^deadline  *15m, missed by '
test "$(report deadline_kept)" = false
test "$(report tasks_done)" -eq 60
ok 'one that is too early is missed, is said to be, and the bag is done'
"$BATS_MPI" record verify late >out
ok 'and the record of that is true'

# A second is over before any task ends, since they wait until it is said.
for i in $(seq 8); do
    echo 'until test -e go; do sleep 0.1; done'
done >wait
bats 9 run wait --deadline 1s --record soon $scale &
within 60 grep -q 'the deadline of 1s will not be kept: ' err
grep -q ' at the earliest, for none has ended yet' err
touch go
wait $!
ok 'nothing is said of what is not known yet'

bats 9 sample bag --record sampled --deadline 20h $scale
grep -q '^The deadline can be kept for [0-9.]* SU, ending in ' out
charged=$(sed -n 's/^[0-9]* tasks left after .*, charged \([0-9]*\) SU:$/\1/p' out)
ok 'a sample tells what a deadline costs'
expect 5 bats 9 run bag --profile bag.profile --deadline 5m --record p $scale
grep -q 'cannot be done in ' err
expect 4 bats 9 run bag --profile bag.profile --deadline 2h --budget $((charged + 1)) \
    --record q $scale
grep -q 'the deadline cannot be met for less than' err
ok 'what is known to be impossible is refused before it costs anything'
bats 9 run bag --profile bag.profile --deadline 50% --json report \
    --record r $scale
test "$(report tasks_left)" -eq 0
ok 'a percentage lies between the soonest end and the cheapest'
exits 2 'needs --profile' bats 1 run bag --deadline 50% --record s $scale
ok 'and needs a profile'

done_testing
