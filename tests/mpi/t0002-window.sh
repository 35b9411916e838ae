#!/bin/bash
# The end of a paid window on real ranks, in compressed time.
. "$TOP/tests/mpi/lib.sh"

# One machine, windows of an hour, tasks of 40 minutes, money for two windows:
# three tasks end at 40, 80 and 120 minutes at best; being late may cost one.
yes '@sleep 40m' | head -n 10 >bag
ini '[run]; window = 60m' '[cluster one]; ranks = 1; charge = 1' >one.ini
expect 4 bats 2 bag --clusters one.ini --budget 2 --time-scale 1800 --joblog log \
    --json report
holds '.charged == "2"'
done=$(tail -n +2 log | awk '$7 == 0 && $8 == 0' | wc -l)
test "$done" -ge 2
test "$done" -le 3
ok 'two windows are charged, what fits into them is done, and the exit code is 4'

# Processes that outlast the only window that can be paid are cut off; one that
# will not end on TERM gets KILL after the grace time.
rules='--clusters one.ini --budget 1 --time-scale 3600 --grace 100ms'
yes 'sleep 1000' | head -n 4 >bag
expect 4 bats 2 bag $rules
within 60 nobody_left
echo "trap '' TERM; sleep 1000 & while :; do sleep 1000; done" >bag
expect 4 bats 2 bag $rules
within 60 nobody_left
"$BATS_MPI" status bag | grep -q '; 1 execution cut off'
grep -q ': 0 of 1 task done' err
ok 'what runs at the end of the last window is stopped, with all it has started'

# By the hour: an allocation. Two ranks that work, and rank 0, each 1 per
# second.
ini '[cluster all]; charge = 3600/h' >held.ini
yes 'sleep 0.3' | head -n 4 >bag
bats 3 bag --clusters held.ini --json report
holds '(.charged | tonumber) - 3 * .makespan_s | fabs < 1e-3'
ok 'the core of rank 0 is billed, too'
exits 4 '^bats-mpi: 0 of the budget of 0 is left, too little to begin' \
    bats 3 bag --clusters held.ini --budget 0 --record none.bats
expect 1 grep -q charged err
test ! -e none.bats
sed 's/^charge.*/charge = 5/' one.ini >dear.ini
exits 4 '^bats-mpi: budget exhausted: 0 of 4 tasks done' \
    bats 2 bag --clusters dear.ini --budget 1
expect 1 grep -q ' start: ' err
verb record verify bag
ok 'a budget that pays no window charges nothing, and nothing is said to start'

# speed: the same bag on a cluster four times as fast.
ini '[run]; window = 60m' '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1; speed = 4' >fast.ini
yes '@sleep 20m' | head -n 30 >bag
bats 3 bag --clusters fast.ini --time-scale 3600 --policy rr
expect 1 grep -q 'shortens @sleep\|too fast' err
printf '@sleep 20m\ntrue\n' >bag
for more in '' --dry-run; do
    bats 3 bag --no-record --clusters fast.ini --time-scale 3600 $more
    test $(tr -s ' \n' ' ' <err |
        grep -o 'cluster fast: speed = 4 shortens @sleep only' | wc -l) = 1
done
ok 'that a speed does not make commands faster is said once'
printf '@sleep 10s\n@sleep 30s\n' >bag
bats 3 bag --no-record --dry-run --time-scale 100000
tr -s ' \n' ' ' <err | grep -q 'the time scale of 100000 is too fast: an '\
'average @sleep lasts 0.2 ms, .*; 10000 is slow enough'
bats 3 bag --no-record --dry-run --time-scale 9000
expect 1 grep 'too fast' err
ok 'so is a time scale that leaves no time for @sleep'

done_testing
