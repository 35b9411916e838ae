#!/bin/bash
# A sample, the schedules it offers, and the run that carries one out.
. "$TOP/tests/mpi/lib.sh"

two_clusters >clusters
# Built-in tasks leave no trace, so some are commands that do.
for i in $(seq 60); do
    echo "@sleep $((10 + i % 10))m"
    echo "echo $i >>done; exec sleep 0.3"
done >bag
scale='--time-scale 600 --seed 5 -c clusters'

# A chosen schedule is never charged more than its budget, however slow this
# machine becomes meanwhile: then tasks are left, exit code 4.
carried_out='0|4'

# And more money does them.
does_the_rest() {
    test "$(sql 'SELECT done FROM progress')" -eq 120 ||
        bats 7 run bag --resume --budget 2000 $scale
}

# beside NAME ARGUMENT...: bats on seven ranks in the background, in the
# directory NAME, to which it has its bag beside `bag`.
declare -A running
beside() {
    mkdir -p "$1"
    cp clusters bag "$1"
    (
        cd "$1" && shift
        bats 7 "$@" || exit $?
    ) &
    running[$1]=$!
}

# came CODE NAME: that has ended, as `expect` says. Goes to its directory.
came() {
    cd "$dir/$2"
    expect "$1" wait "${running[$2]}"
}

# These have nothing to do with each other, and mostly sleep.
mkdir few stuck twice flow
# The sixteenth is one of the first that this seed draws; runtimes differ so
# much that half of the bag is the sample.
for i in $(seq 9); do echo '@sleep 5m'; done >few/few
for i in $(seq 40); do
    [ "$i" = 16 ] && echo '@sleep 30d' || echo "@sleep $((1 + i * i % 19))m"
done >stuck/stuck
cat bag bag >twice/twice
for i in $(seq 60); do
    printf '#BATS task t%d%s\n@sleep 10m\n' "$i" \
        "$(test "$i" -le 30 || echo " after t$((i == 31 ? 1 : i - 1))")"
done >flow/flow
beside few sample few $scale
beside stuck sample stuck $scale
beside cheapest run bag --choose cheapest --cushion $scale
beside twice run twice $scale
beside quiet run bag --quiet $scale
beside flow sample flow $scale

# ---- sample ----

bats 7 sample bag $scale
finds out '^1 cheapest ' '^[1-5] fastest '
ok 'sample shows the schedules from the cheapest to the fastest'
# Whole windows of 3 slow machines and of 2 fast ones, which charge 3 times as
# much.
charged=$(sql 'SELECT sum(amount) / 1000000 FROM charge WHERE account = 0')
test "$charged" -ge 27
test $((charged % 3)) -eq 0
test "$(sql "SELECT count(DISTINCT machine) FROM happened JOIN machine m
    ON m.id = machine WHERE what = 'acquire' AND m.cluster = 1")" -eq 2
test "$(sql 'SELECT finish FROM session')" = sampled
ok 'it is charged for the windows of the sampling machines'
sampled=$(sql 'SELECT done FROM progress')
test "$sampled" -ge 8
test "$sampled" -lt 120
grep -q "tasks done, $((120 - sampled)) left, in" err
grep -q "^$((120 - sampled)) tasks left after " out
ok 'the sample is done, the bag is not; the schedules are for the tasks left'
test "$(sql "SELECT count(*) FROM (SELECT task FROM execution
    JOIN machine m ON m.id = machine WHERE exit_status = 0 AND signal = 0 GROUP BY task
    HAVING count(DISTINCT m.cluster) = 2)")" -ge 2
ok 'two tasks at least have run on both clusters'

came 0 few
grep -q ': all 9 tasks done' err
expect 1 grep -q 'left' out
ok 'no schedule is offered for a bag that the sample has done'

came 0 stuck
finds out '^Task 16 runs much longer than the others ' '^[1-5] fastest'
ok 'a task that never ends is named, and not waited for'
cd "$dir"

# ---- plan ----

"$BATS_MPI" plan bag.profile >out 2>err
grep -q "^$((120 - sampled)) tasks of 120 left" out
ok 'plan shows the schedules of the profile again'
expect 4 "$BATS_MPI" plan bag.profile --budget 1 >out 2>err
ok 'plan exits with 4 where the budget is too small'

# ---- run ----

sed '3s/12/13/;3s/@sleep 1./@sleep 19/' bag >other
exits 2 'profile' bats 7 run other --profile bag.profile --choose fastest $scale
test ! -e other.bats
ok 'a profile of another bag is refused, and nothing is started'
head -c 100 bag.profile >torn
exits 2 '^bats-mpi: torn' bats 7 run bag --profile torn --choose fastest $scale
ok 'a torn profile is refused'
exits 2 'quickest' bats 7 run bag --profile bag.profile --choose quickest $scale
grep -q 'balanced' err
expect 2 bats 7 run bag --choose fastest --policy expert --no-record $scale
grep -q 'the policy expert knows no schedules' err
ok 'a schedule that does not exist is refused, and those that do are named'

expect 4 bats 7 run bag --profile bag.profile --budget $((charged + 1)) $scale
grep -q 'for 1 SU' err
test "$(sql 'SELECT done FROM progress')" -eq "$sampled"
ok 'a budget that is too small: exit code 4, and nothing is started'
expect 2 bats 7 run other --budget 30% $scale
grep -q -e '--budget 30%: .* are not known yet' err
test ! -e other.bats
ok 'a percentage of what is not known is refused'
bats 7 run bag --profile bag.profile --budget 100% --dry-run $scale
"$BATS_MPI" plan bag.profile --budget 100% >plan
most=$(sed -n 's/.*; budget \([0-9]*\) SU.*/\1/p' plan)
grep -q "budget $((most + charged)) SU," out
ok 'with a profile it is that of plan, and what the sample was charged'
expect 5 bats 7 run bag --profile bag.profile --deadline 10m $scale
test "$(sql 'SELECT done FROM progress')" -eq "$sampled"
ok 'a deadline that is too early: exit code 5, and nothing is started'

expect "$carried_out" bats 7 run bag --profile bag.profile --choose fastest --cushion $scale
finds err '^promised  *fastest: ' '^actual '
ok 'the summary compares what was promised with what it came to'
grep -q 'the chosen schedule: slow 3, fast 3 for ' err
ok 'all machines are taken for the fastest schedule'
does_the_rest
test "$(sql 'SELECT done FROM progress')" -eq 120
ok 'the rest of the bag is done'
test "$(sort -n done | uniq | wc -l)" -eq 60
test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 120
ok 'every task has one result'
test "$(sql "SELECT count(*) FROM execution WHERE session > 1
    AND task IN (SELECT task FROM execution WHERE session = 1 AND outcome = 0)")" -eq 0
ok 'nothing that the sample has done is run again'

"$BATS_MPI" record verify bag >out 2>err
ok 'the record agrees with itself'

# ---- both in one go ----

came "$carried_out" cheapest
finds err '^1 cheapest ' 'promised  *cheapest: '
ok 'run --choose samples, shows the schedules and goes on'
cost=$(sed -n 's/^.*promised  *cheapest: \([^ ]*\) .*/\1/p' err)
"$BATS_MPI" report bag -o page.html 2>out
grep -q '"promise":{[^}]*"schedule":"cheapest"' page.html
test "$(sql "SELECT json_extract(options, '$.promise.cost') / 1000000.0 - $cost
    FROM session WHERE id = 1")" = 0.0
ok 'the record keeps what was promised, and the report shows it'
does_the_rest
test "$(sql 'SELECT done FROM progress')" -eq 120
ok 'and the whole bag is done'
# ---- neither a choice nor a budget ----

# After the first results so much is left that all machines are not the cheapest
# ones as well, however slow this machine is: then there would be one schedule.
came 0 twice
finds err '^1 cheapest ' '^[1-5] fastest ' \
    '^The run goes on with all machines\. '
expect 1 grep -q promised err
ok 'a plain run shows what else is possible, and goes on with all machines'
test "$(grep -c ' \(start\|every\).*: slow 3, fast 3' err)" -eq 1
ok 'which it takes; a file is told so once'
"$BATS_MPI" record verify twice >out 2>err
ok 'its decisions can be made again from the record'
came 0 quiet
test ! -s err
ok '--quiet shows nothing'

# ---- tasks that wait for others ----

came 0 flow
grep -qE '^Critical path: .* on fast\.$' out
"$BATS_MPI" plan flow.profile >out 2>err
tr '\n' ' ' <out | grep -qE ' Critical path: .* on fast, tasks? [^.]*(\.\.\.,)? ?60\. '
"$BATS_MPI" plan flow.profile --json >json
perl -MJSON::PP -0e '$plan = decode_json(<>); $path = $plan->{critical_path};
    @tasks = @{$path->{tasks}};
    exit !($tasks[-1] == 60 && $tasks[0] == 61 - @tasks &&
        $path->{length_s} > 0 && !grep { $_->{feasible} &&
        $_->{makespan_s} < $path->{length_s} } @{$plan->{schedules}})' json
ok 'the profile knows the critical path, and no schedule is sooner'

done_testing
