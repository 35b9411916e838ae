#!/bin/bash
# disBatch's barriers: their order, failures before them, and that all the rest
# goes on: budgets, samples, resuming, verifying, simulating.
. "$TOP/tests/mpi/lib.sh"

# apart N...: no task above N began before those up to N had their results. (A
# task of a sample may end on another cluster after that.)
apart() {
    local n
    for n; do
        test "$(sql "SELECT (SELECT max(first) FROM (SELECT min(seq) AS first
            FROM execution e JOIN task t ON t.id = e.task
            WHERE outcome = 0 AND t.number <= $n GROUP BY t.id)) <
            (SELECT min(given) FROM execution e JOIN task t ON t.id = e.task
            WHERE t.number > $n)")" = 1
    done
}

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
exits 1 '12 of 13 tasks done, 1 failed' bats 4 bag
test -e c
apart 10 12
ok 'tasks behind a barrier start when all before it have ended'

cat >bag <<'BAG'
true
test -e repaired
#DISBATCH BARRIER CHECK
true
#DISBATCH BARRIER CHECK
touch d
#DISBATCH BARRIER
touch e
BAG
exits 1 '1 of 5 tasks done, 1 failed, 3 skipped' bats 3 bag
test ! -e d
test ! -e e
touch repaired
bats 3 bag --retry-failed
test -e d
test -e e
ok 'with CHECK, a failure leaves out what follows, also behind further barriers'

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
scale='--clusters clusters.ini --time-scale 1800'
expect 4 bats 7 bag $scale --budget 12
expect 4 bats 7 bag $scale --budget 12 --resume
test "$("$BATS_MPI" status --left bag)" -gt 30
bats 7 bag $scale --budget 4000 --resume
apart 30 60
test "$(sql 'SELECT done FROM progress')" = 61
"$BATS_MPI" record verify bag | grep -q '^3 sessions, .*: all agree$'
ok 'an exhausted budget stays exhausted; with more the run goes on, and is verified'

for k in $(seq 10); do echo '#DISBATCH BARRIER'; part 6; done >bag
scale='--clusters clusters.ini --time-scale 1200'
bats 7 sample bag $scale
grep -q '"levels":\[' bag.profile
tells '^[1-5] fastest  *- ' plan bag.profile
exits '0|4' 'the chosen schedule: ' \
    bats 7 bag $scale --choose fastest --sample-on 1
test "$(sql "SELECT coalesce(charged * 1e6 <=
    json_extract(options, '$.promise.charged_before') +
    json_extract(options, '$.promise.cost_high'), 'unbounded')
    FROM progress, session")" != 0
apart 6
ok 'schedules on offer know of barriers, and are charged what was promised'

# takes KEY: the makespan of this bag, with what the key says of it.
takes() {
    ini '[run]; policy = rr; budget = unlimited' \
        "[bag]; runtime = constant 15m; $1" \
        '[cluster a]; machines = 8; charge = 1' >s.scn
    "$BATS_MPI" simulate --csv s.scn 2>err | sed 1d | cut -d, -f7 | cut -d. -f1
}
# 20 tasks on 8 machines are 3 times 15 minutes, and twice 10 are 4.
{ part 10; echo '#DISBATCH BARRIER'; part 10; } >bag
test "$(takes 'tasks = 20')" -eq 2700
test "$(takes 'workflow = bag')" -eq 3600
ok 'the simulator knows barriers'

done_testing
