#!/bin/bash
# disBatch's barriers: their order, failures before them, and that all the rest
# goes on: budgets, samples, resuming, verifying, simulating.
. "$TOP/tests/mpi/lib.sh"

# apart N: no task above N began before those up to N had their results. (A task
# of a sample may end on another cluster after that.)
apart() {
    test "$(sql "SELECT (SELECT max(first) FROM (SELECT min(seq) AS first
        FROM execution e JOIN task t ON t.id = e.task
        WHERE outcome = 0 AND t.number <= $1 GROUP BY t.id)) <
        (SELECT min(given) FROM execution e JOIN task t ON t.id = e.task
        WHERE t.number > $1)")" = 1
}

# ---- order and failures ----

cat >bag <<'BAG'
#DISBATCH BARRIER
#DISBATCH REPEAT 9 touch a$DISBATCH_REPEAT_INDEX
false
#DISBATCH BARRIER
test $(ls a? | wc -l) -eq 9 && touch b
true
#DISBATCH BARRIER
#DISBATCH BARRIER CHECK
test -e b && touch c
#DISBATCH BARRIER CHECK
BAG
expect 1 bats 4 bag
test -e c
grep -q '12 of 13 tasks done, 1 failed' err
apart 10
apart 12
ok 'tasks behind a barrier start when all before it have ended'

cat >bag <<'BAG'
true
test -e repaired
#DISBATCH BARRIER
true
#DISBATCH BARRIER CHECK
touch d
#DISBATCH BARRIER
touch e
BAG
expect 0 bats 3 bag --dry-run
sed -i 's/^#DISBATCH BARRIER$/& CHECK/; s/CHECK CHECK/CHECK/' bag
sed -i '$!b; s/.*/touch e/' bag
expect 1 bats 3 bag
test ! -e d
test ! -e e
grep -q '1 of 5 tasks done, 1 failed, 3 skipped' err
touch repaired
expect 0 bats 3 bag --retry-failed
test -e d && test -e e
ok 'with CHECK, a failure leaves out what follows'

printf '%s\n' false '#DISBATCH BARRIER CHECK' true '#DISBATCH BARRIER' \
    'touch f' >bag
expect 1 bats 3 bag
test ! -e f
grep -q '0 of 3 tasks done, 1 failed, 2 skipped' err
ok 'so does it behind further barriers'

# ---- money, samples, and a second session ----

part() {
    yes "@sleep ${2:-15m}" | head -n "$1"
}
{
    part 30
    echo '#DISBATCH BARRIER'
    part 30 20m
    echo '#DISBATCH BARRIER CHECK'
    part 1
} >bag
two_clusters >clusters.ini
expect 0 bats 7 bag --clusters clusters.ini --budget 120 --time-scale 1800
apart 30
apart 60
test "$(sql 'SELECT charged <= 120 FROM progress')" = 1
ok 'a budget is kept'

expect 4 bats 7 bag --clusters clusters.ini --budget 12 --time-scale 1800
test "$("$BATS_MPI" status --left bag)" -gt 30
expect 0 bats 7 bag --clusters clusters.ini --budget 150 --time-scale 1800 \
    --resume
apart 30
apart 60
test "$(sql 'SELECT done FROM progress')" = 61
"$BATS_MPI" record verify bag | grep -q '^2 sessions, .*: all agree$'
ok 'a run whose budget was exhausted goes on, and both sessions are verified'

# Ten times six tasks. A slow machine would make all others wait; if nobody
# waited, an hour of three fast ones would do, and the run end with 4.
for k in 1 2 3 4 5 6 7 8 9 10; do
    echo '#DISBATCH BARRIER'
    part 6
done >bag
expect 0 bats 7 sample bag --clusters clusters.ini --time-scale 1200
grep -q '"levels":\[' bag.profile
"$BATS_MPI" plan bag.profile >out
grep -qE '^[1-5] fastest +- ' out
# A busy machine runs tasks longer than was sampled, and the money may not do
# then; but not four times in a row.
for choice in cheapest fastest; do
    for _ in 1 2 3 4; do
        expect '0|4' bats 7 bag --clusters clusters.ini --choose $choice \
            --sample-on 1 --time-scale 1200
        grep -q 'the chosen schedule: ' err
        done=$(sql 'SELECT done FROM progress')
        test "$done" -lt 60 || break
    done
    test "$done" = 60
done
apart 6
ok 'schedules on offer know of barriers, and their budgets suffice'

# ---- simulation ----

# scenario KEY: of this bag, with what the key says of it.
scenario() {
    cat >s.scn <<SCN
[run]
policy = rr
budget = unlimited
[bag]
runtime = constant 15m
$1
[cluster a]
machines = 8
charge = 1
SCN
    "$BATS_MPI" simulate --csv s.scn 2>err | tail -n 1 | cut -d, -f7 |
        cut -d. -f1
}
# 20 tasks on 8 machines are 3 times 15 minutes, and twice 10 are 4.
{
    part 10
    echo '#DISBATCH BARRIER'
    part 10
} >bag
test "$(scenario 'tasks = 20')" -eq 2700
test "$(scenario 'workflow = bag')" -eq 3600
ok 'the simulator knows barriers'

# ---- mistakes ----

printf 'true\n#DISBATCH BARRIER NOW\ntrue\n' >bag
exits 2 "bag:2: not of the form '#DISBATCH BARRIER \[CHECK\]'" bats 2 bag
ok 'a misspelt barrier is refused'

done_testing
