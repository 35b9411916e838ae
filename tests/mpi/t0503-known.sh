#!/bin/bash
# Runtimes that earlier sessions measured are not measured, and paid, again.
. "$TOP/tests/mpi/lib.sh"

two_clusters >clusters
for i in $(seq 200); do
    echo "@sleep $((10 + i % 10))m"
done >bag
scale='--time-scale 600 --seed 5 -c clusters'

# acquired CONDITION: machines, in the second session.
acquired() {
    sql "SELECT count(*) FROM happened WHERE session = 2 AND
        what = 'acquire' AND $1"
}

bats 7 sample bag $scale
pairs=$(sql "SELECT count(*) FROM (SELECT task FROM execution
    JOIN machine m ON m.id = machine WHERE exit_status = 0 AND signal = 0 GROUP BY task
    HAVING count(DISTINCT m.cluster) = 2)")
# It costs no more than it promised, and may have to end for that.
expect '0|4' bats 7 run bag --resume --choose cheapest $scale
test "$pairs" -ge 2
test "$(acquired "seq < (SELECT min(seq) FROM happened WHERE session = 2 AND
    what = 'sampled')")" = 0
test "$(acquired 1)" -gt 0
sed -n 's/^bats-mpi: chosen: //p' err >chosen
test -s chosen
sed -n 's/^promised  *//p' err | cmp -s - chosen
verb record verify bag.bats
ok 'a sample is not taken again; what the bill calls promised was told before'

# Six machines for one window, and one of them for another. What is left is so
# little that a few results are all the sample there is to be.
rm bag.bats
sed -i 81,\$d bag
expect 4 bats 7 run bag --policy bkp --budget 39 $scale
bats 7 run bag --resume --policy bkp --budget 2000 $scale
sql "SELECT machines FROM decision WHERE session = 2 ORDER BY seq" >plans
test "$(sed -n 1p plans)" = '[0,0]'
test "$(sql "SELECT count(*) FROM execution WHERE session = 2 AND
    given_us < coalesce((SELECT time_us FROM decision WHERE session = 2 AND
        reason = 'sampled'), 9e18)")" = 0
verb record verify bag.bats
ok 'a run whose budget has ended goes on with a plan, before it starts a task'

# The fast ones are busy until a slow one has failed, however late it joins.
yes 'test $BATS_CLUSTER = fast || { touch failed; exit 1; }; until test -f failed; do sleep 0.1; done' |
    head -n 12 >odd
expect 1 bats 7 run odd --policy rr --tail none --json report $scale
grep -qE '^slow .* ~[0-9.hms]+ ' err
grep -q '^~ is a guess' err
holds '[.clusters[].is_guess] | any'
tells '^slow .* ~' status odd
ok 'the bill and status mark the runtime of failed tasks as a guess'

# A task would cost three times as much on fast machines: none is tried.
sed 's/^charge.*/&\nexpected = 20m/' clusters >guesses
bats 7 sample bag --time-scale 600 --seed 5 -c guesses --json report
test "$(sql "SELECT count(*) FROM happened JOIN machine m ON m.id = machine
    WHERE what = 'acquire' AND m.cluster = 1")" = 0
# Both are expected to take as long: what slow ones took is the guess.
guessed() {
    awk '$1 == "slow" && NF > 7 { slow = $3 } $1 == "fast" { fast = $3 }
        END { exit !(slow ~ /^[0-9]/ && fast == "~" slow) }' out
}
guessed
grep -q '^~ is a guess' out
grep -Eq '^fast +0/3 +9 .* ~20m' err
holds '[.clusters[].is_guess] | any'
tells '^fast .* ~20m$' status bag
verb plan bag.profile
guessed
verb record verify bag
ok 'a cluster that is expected to be dear is not sampled, and is a guess everywhere'
sed 's/^charge.*/&\nmax = 3/' guesses >few
verb plan --tasks 100 --runtime slow=10m -c few
grep -Eq '^fast +9 +~20m' out
expect 1 grep -Eq '^slow +3 +~' out
ok 'plan believes --runtime, and guesses the rest'

done_testing
