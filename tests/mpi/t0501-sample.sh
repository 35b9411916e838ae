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

# has_done N. does_the_rest: with more money.
has_done() {
    test "$(sql 'SELECT done FROM progress')" -eq $1
}
does_the_rest() {
    has_done 120 || bats 7 run bag --resume --budget 2000 $scale
    has_done 120
}

# A chosen schedule is never charged more than its budget, however slow this
# machine becomes meanwhile: then tasks are left, exit code 4.
carried_out='0|4'

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
yes '@sleep 5m' | head -n 9 >few/few
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
beside cheapest run bag --choose cheapest $scale
beside twice run twice $scale
beside flow sample flow $scale

# ---- sample ----

bats 7 sample bag $scale
finds out '^1 cheapest ' '^[1-5] fastest '
# Whole windows of 3 slow machines and of 2 fast ones, which charge 3 times as
# much.
charged=$(sql 'SELECT sum(amount) / 1000000 FROM charge WHERE account = 0')
test "$charged" -ge 27
test $((charged % 3)) -eq 0
test "$(sql "SELECT count(DISTINCT machine) FROM happened JOIN machine m
    ON m.id = machine WHERE what = 'acquire' AND m.cluster = 1")" -eq 2
test "$(sql 'SELECT finish FROM session')" = sampled
ok 'sample shows schedules, and is charged for windows of the sampling machines'
sampled=$(sql 'SELECT done FROM progress')
test "$sampled" -ge 8
test "$sampled" -lt 120
left=$((120 - sampled))
grep -q "tasks done, $left left, in" err
grep -q "^$left tasks left after " out
test "$(sql "SELECT count(*) FROM (SELECT task FROM execution
    JOIN machine m ON m.id = machine WHERE exit_status = 0 AND signal = 0 GROUP BY task
    HAVING count(DISTINCT m.cluster) = 2)")" -ge 2
ok 'the bag is not done; schedules are for the rest; two tasks have run on both'

came 0 few
grep -q ': all 9 tasks done' err
expect 1 grep -q 'left' out
came 0 stuck
finds out '^Task 16 runs much longer than the others ' '^[1-5] fastest'
cd "$dir"
ok 'a bag that the sample has done gets no offer; what never ends is named'

tells "^$left tasks of 120 left" plan bag.profile
expect 4 verb plan bag.profile --budget 1
ok 'plan shows the schedules again, and exits with 4 where the budget is too small'

# ---- run ----

known="bag --profile bag.profile $scale"
sed '3s/12/13/;3s/@sleep 1./@sleep 19/' bag >other
exits 2 'profile' bats 7 run other --profile bag.profile --choose fastest $scale
head -c 100 bag.profile >torn
exits 2 '^bats-mpi: torn' bats 7 run bag --profile torn --choose fastest $scale
exits 2 '--budget 30%: .* are not known yet' bats 7 run other --budget 30% $scale
test ! -e other.bats
exits 2 'quickest' bats 7 run $known --choose quickest
grep -q 'balanced' err
exits 2 'the policy expert knows no schedules' \
    bats 7 run bag --choose fastest --policy expert --no-record $scale
ok 'profiles of other bags, and schedules that do not exist, are refused'

exits 4 'for 1 SU' bats 7 run $known --budget $((charged + 1))
has_done "$sampled"
expect 5 bats 7 run $known --deadline 10m
has_done "$sampled"
ok 'a budget or deadline that cannot be kept: exit 4 or 5, and nothing is started'
bats 7 run $known --budget 100% --dry-run
most=$("$BATS_MPI" plan bag.profile --budget 100% |
    sed -n 's/.*; budget \([0-9]*\) SU.*/\1/p')
grep -q "budget $((most + charged)) SU," out
ok 'a percentage is that of plan, and what the sample was charged'

expect "$carried_out" bats 7 run $known --choose fastest
finds err '^promised  *fastest: ' '^actual ' \
    'the chosen schedule: slow 3, fast 3 for '
does_the_rest
ok 'all machines are taken for the fastest schedule, and the promise is checked'
test "$(sort -n done | uniq | wc -l)" -eq 60
test "$(sql 'SELECT count(*) FROM execution WHERE outcome = 0')" -eq 120
test "$(sql "SELECT count(*) FROM execution WHERE session > 1
    AND task IN (SELECT task FROM execution WHERE session = 1 AND outcome = 0)")" -eq 0
verb record verify bag
ok 'every task has one result, and nothing that the sample has done is run again'

# ---- both in one go ----

came "$carried_out" cheapest
finds err '^1 cheapest ' 'promised  *cheapest: '
cost=$(sed -n 's/^.*promised  *cheapest: \([^ ]*\) .*/\1/p' err)
"$BATS_MPI" report bag -o page.html 2>out
grep -q '"promise":{[^}]*"schedule":"cheapest"' page.html
test "$(sql "SELECT json_extract(options, '$.promise.cost') / 1000000.0 - $cost
    FROM session WHERE id = 1")" = 0.0
does_the_rest
ok 'run --choose samples, shows the schedules and goes on; the record keeps the promise'

# ---- neither a choice nor a budget ----

came 0 twice
expect 1 grep -qE 'promised|cheapest' err
test "$(grep -c ' \(start\|every\).*: slow 3, fast 3' err)" -eq 1
verb record verify twice
ok 'a plain run takes no sample, and works with all machines'

# ---- tasks that wait for others ----

came 0 flow
grep -qE '^Critical path: .* on fast\.$' out
verb plan flow.profile
tr '\n' ' ' <out |
    grep -qE ' Critical path: .* on fast, tasks? [^.]*(\.\.\.,)? ?60\. '
"$BATS_MPI" plan flow.profile --json >report
holds '.critical_path as $path | $path.tasks[-1] == 60 and
    $path.tasks[0] == 61 - ($path.tasks | length) and $path.length_s > 0 and
    ([.schedules[] | select(.feasible and .makespan_s < $path.length_s)] == [])'
ok 'the profile knows the critical path, and no schedule is sooner'

done_testing
