#!/bin/bash
# The end of a paid window on real ranks, in compressed time.
. "$TOP/tests/mpi/lib.sh"

field() { # of the report: FILE KEY, a number or a string on one line
    sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" |
        head -n 1
}

# One machine, windows of an hour, tasks of 40 minutes, money for two windows:
# three tasks end at 40, 80 and 120 minutes at best; being late may cost one.
yes '@sleep 40m' | head -n 10 >bag
ini '[run]; window = 60m' '[cluster one]; ranks = 1; charge = 1' >one.ini
expect 4 bats 2 bag --clusters one.ini --budget 2 --time-scale 1800 --joblog log \
    --json report.json
ok 'a bag that the budget cannot pay exits with 4'
test "$(field report.json charged)" = 2
ok 'it is charged for the two windows it could pay, and no more'
done=$(tail -n +2 log | awk '$7 == 0 && $8 == 0' | wc -l)
test "$done" -ge 2
test "$done" -le 3
ok 'what fits into two windows is done'

# Processes that outlast the only window that can be paid are cut off.
yes 'sleep 1000' | head -n 4 >bag
expect 4 bats 2 bag --clusters one.ini --budget 1 --time-scale 3600 --grace 100ms
within 60 nobody_left
ok 'a process that runs at the end of the last window is stopped'

# One that will not end on TERM gets KILL after the grace time.
echo "trap '' TERM; sleep 1000 & while :; do sleep 1000; done" >bag
expect 4 bats 2 bag --clusters one.ini --budget 1 --time-scale 3600 --grace 100ms
within 60 nobody_left
ok 'so is one that ignores TERM, with all that it has started'
"$BATS_MPI" status bag | grep -q '; 1 execution cut off'
grep -q ': 0 of 1 task done' err
ok 'one execution and one task are not called many'

# By the hour: an allocation. Two ranks that work, and rank 0, each 1 per
# second.
printf '[cluster all]\ncharge = 3600/h\n' >held.ini
yes 'sleep 0.3' | head -n 4 >bag
bats 3 bag --clusters held.ini --json report.json
awk -v charged="$(field report.json charged)" \
    -v time="$(field report.json makespan_s)" \
    'BEGIN { exit (charged - 3 * time) ^ 2 > 1e-6 }'
ok 'the core of rank 0 is billed, too'
expect 4 bats 3 bag --clusters held.ini --budget 0 --record none.bats
grep -q '^bats-mpi: 0 of the budget of 0 is left, too little to begin' err
expect 1 grep -q charged err
test ! -e none.bats
ok 'a budget of 0 charges nothing'
sed 's/^charge.*/charge = 5/' one.ini >dear.ini
expect 4 bats 2 bag --clusters dear.ini --budget 1
grep -q '^bats-mpi: budget exhausted: 0 of 4 tasks done' err
expect 1 grep -q ' start: ' err
"$BATS_MPI" record verify bag >out
ok 'nor does one that pays no window, and nothing is said to start'

# 200 hours of sleep on 8 ranks, in a few seconds.
yes '@sleep 1h' | head -n 200 >bag
bats 9 bag --time-scale 36000 --window 10h --json report.json
test "$(field report.json exit_code)" = 0
ok '200 hours of @sleep pass in compressed time'

# speed: the same bag on a cluster four times as fast.
ini '[run]; window = 60m' '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1; speed = 4' >fast.ini
yes '@sleep 20m' | head -n 30 >bag
bats 3 bag --clusters fast.ini --time-scale 3600 --policy rr --json report.json
expect 1 grep -q 'shortens @sleep' err
ok 'clusters of two speeds share a bag'

printf '@sleep 20m\ntrue\n' >bag
for more in '' --dry-run; do
    bats 3 bag --no-record --clusters fast.ini --time-scale 3600 $more
    tr -s ' \n' ' ' <err >line
    test $(grep -o 'cluster fast: speed = 4 shortens @sleep only' line |
        wc -l) = 1
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
