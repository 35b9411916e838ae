#!/bin/bash
# Runtimes that earlier sessions measured are not measured, and paid, again.
. "$TOP/tests/mpi/lib.sh"

two_clusters >clusters
for i in $(seq 200); do
    echo "@sleep $((10 + i % 10))m"
done >bag
scale='--time-scale 600 --seed 5 -c clusters'

# acquired_before SESSION COMMAND: machines, before it was given.
acquired_before() {
    sql "SELECT count(*) FROM happened c WHERE c.session = $1 AND
        c.what = 'acquire' AND c.seq < (SELECT min(seq) FROM happened
        WHERE session = $1 AND what = '$2')"
}

# ---- a sampling phase of its own ----

bats 7 sample bag $scale
pairs=$(sql "SELECT count(*) FROM (SELECT task FROM execution
    JOIN machine m ON m.id = machine WHERE exit_status = 0 AND signal = 0 GROUP BY task
    HAVING count(DISTINCT m.cluster) = 2)")
# It costs no more than it promised, and may have to end for that.
expect '0|4' bats 7 run bag --resume --choose cheapest $scale
test "$pairs" -ge 2
test "$(acquired_before 2 sampled)" = 0
test "$(sql "SELECT count(*) FROM happened WHERE session = 2 AND
        what = 'acquire'")" -gt 0
ok 'a sample that was taken is not taken again'
sed -n 's/^bats-mpi: chosen: //p' err >chosen
test -s chosen
sed -n 's/^promised  *//p' err | cmp -s - chosen
ok 'what the bill calls promised was told before it was carried out'
"$BATS_MPI" record verify bag.bats >out 2>err
ok 'its record agrees with itself'

# ---- the sample that is part of a run ----

# Six machines for one window, and one of them for another. What is left is so
# little that a few results are all the sample there is to be.
rm bag.bats
sed -i 81,\$d bag
expect 4 bats 7 run bag --policy bkp --budget 39 $scale
ok 'a budget ends a run after its first windows'
bats 7 run bag --resume --policy bkp --budget 2000 $scale
sql "SELECT machines FROM decision WHERE session = 2 ORDER BY seq" >plans
test "$(sed -n 1p plans)" = '[0,0]'
ok 'where every cluster is known, the resumed run begins with a plan'
test "$(sql "SELECT count(*) FROM execution WHERE session = 2 AND
    given_us < coalesce((SELECT time_us FROM decision WHERE session = 2 AND
        reason = 'sampled'), 9e18)")" = 0
ok 'before it starts a task'
"$BATS_MPI" record verify bag.bats >out 2>err
ok 'both sessions can be replayed'

# ---- a cluster on which nothing ends well ----

# The fast ones are busy until a slow one has failed, however late it joins.
for i in $(seq 12); do
    echo 'test $BATS_CLUSTER = fast || { touch failed; exit 1; };' \
        'until test -f failed; do sleep 0.1; done'
done >odd
expect 1 bats 7 run odd --policy rr --json odd.json $scale
grep -qE '^slow .* ~[0-9.hms]+ ' err
grep -q '^~ is a guess' err
grep -q '"is_guess": true' odd.json
ok 'the bill marks the runtime of failed tasks as a guess'
"$BATS_MPI" status odd >out 2>err
grep '^slow ' out | grep -q ' ~'
ok 'so does status'

# ---- what the user expects ----

# A task would cost three times as much on fast machines: none is tried.
sed 's/^charge.*/&\nexpected = 20m/' clusters >guesses
grep -c '^expected' guesses >count
test "$(cat count)" = 2
bats 7 sample bag --time-scale 600 --seed 5 -c guesses --json out.json
test "$(sql "SELECT count(*) FROM happened JOIN machine m ON m.id = machine
    WHERE what = 'acquire' AND m.cluster = 1")" = 0
# Both are expected to take as long: what slow ones took is the guess.
guessed() {
    awk '$1 == "slow" && NF > 7 { slow = $3 } $1 == "fast" { fast = $3 }
        END { exit !(slow ~ /^[0-9]/ && fast == "~" slow) }' out
}
guessed
grep -q '^~ is a guess' out
ok 'a cluster that is expected to be dear is not sampled, and is a guess'
grep -Eq '^fast +0/3 +9 .* ~20m' err
grep -q '"is_guess": true' out.json
"$BATS_MPI" status bag >out 2>err
grep '^fast ' out | grep -q ' ~20m$'
ok 'the bill and status mark it'
"$BATS_MPI" plan bag.profile >out 2>err
guessed
ok 'so does what is planned with the profile'
"$BATS_MPI" record verify bag >out 2>err
ok 'its record agrees with itself, too'
sed 's/^charge.*/&\nmax = 3/' guesses >few
"$BATS_MPI" plan --tasks 100 --runtime slow=10m -c few >out 2>err
grep -Eq '^fast +9 +~20m' out
expect 1 grep -Eq '^slow +3 +~' out
ok 'plan believes --runtime, and guesses the rest'

done_testing
