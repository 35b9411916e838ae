#!/bin/bash
# The verb frontier: strategies for machines that may not answer.
. "$TOP/tests/tap.sh"

ini '[run]; billing = use; currency = SU' \
    '[bag]; tasks = 150; runtime = normal 30m 5m' \
    '[cluster cheap]; machines = 50; charge = 1; reliability = 0.8' \
    'charge_lost = no' '[cluster safe]; machines = 5; charge = 34' >mix.scn
"$BATS_MPI" frontier mix.scn --plays 10 --csv >all.csv
test "$(wc -l <all.csv)" -eq 427
grep -q '"cheapest' all.csv && grep -q '"fastest' all.csv
ok '420 strategies and six static ones are played'

# By an independent route: no point of the frontier is beaten by any of the 420.
head -n 421 all.csv | tail -n +2 | sed 's/^"[^"]*",//' | awk -F, '
    { m[NR] = $1; c[NR] = $4; e[NR] = $10 }
    END {
        for (i = 1; i <= NR; i++)
            for (k = 1; k <= NR; k++)
                if (e[i] && m[k] <= m[i] && c[k] <= c[i] &&
                    (m[k] < m[i] || c[k] < c[i]))
                    exit 1
    }'
ok 'nothing beats those that are marked as efficient'

"$BATS_MPI" frontier mix.scn --plays 10 --csv -j 3 | cmp - all.csv
"$BATS_MPI" frontier mix.scn --plays 10 --csv --save pools >/dev/null
"$BATS_MPI" frontier pools --plays 10 --csv | cmp - all.csv
ok 'the result depends neither on threads nor on the way by a file'

"$BATS_MPI" frontier mix.scn --plays 10 --budget 90 --deadline 4h \
    --utility 'cost + 1000 * (makespan > 12000)' >out
finds out ' budget' ' deadline' ' utility'
"$BATS_MPI" frontier mix.scn --plays 10 --json |
    grep -c '"efficient": *true' >n
test "$(cat n)" -ge 5
ok 'the best for a budget, a deadline and a utility are marked'

# Makespans below 4 h are all equal to this one.
"$BATS_MPI" frontier mix.scn --plays 10 --csv --utility 'makespan > 14400' |
    grep -m1 utility >equal
grep -q '1,"makespan x cost, utility"$' equal
for utility in product 'makespan < 0'; do
    sed "s/^billing.*/&\npolicy = expert\nseeds = 1-5\nutility = $utility/" \
        mix.scn >run.scn
    "$BATS_MPI" simulate run.scn --csv >"by ${utility%% *}"
done
cmp 'by product' 'by makespan'
ok 'of strategies that are equal the one with the least product is best'

# The column of instances there: all tasks, and those beside the other pool.
awk -F, '/^"(AR|CNinf)"/ { sub(/^"[^"]*",/, ""); print $7, $8 }' all.csv >reliable
awk 'NR == 1 { exit !($1 == 150 && $2 == 5) }' reliable
awk 'NR == 2 { exit !($1 > 10 && $1 < 20 && $2 == 5) }' reliable
ok 'what the reliable pool does before the tail counts'

expect 4 "$BATS_MPI" frontier mix.scn --plays 2 --budget 1
expect 5 "$BATS_MPI" frontier mix.scn --plays 2 --deadline 1h
expect 2 "$BATS_MPI" frontier mix.scn --utility 'price * 2' 2>err
grep -q "utility: an unknown name in 'price \* 2', character 1" err
for utility in 1/0 'sqrt(0 - makespan)' 1e999; do
    expect 2 "$BATS_MPI" frontier mix.scn --plays 2 --utility "$utility" 2>err
    grep -qF -- "--utility: '$utility' has no value for any strategy" err
done
expect 2 "$BATS_MPI" frontier mix.scn --plays 2 --strategy N=1,T=inf,D=inf \
    >out 2>err
grep -q 'strategy: this strategy never finishes the bag' err
test ! -s out
expect 2 "$BATS_MPI" frontier no-such-file
sed '/reliability/d; /charge_lost/d' mix.scn >sure.scn
expect 2 "$BATS_MPI" frontier sure.scn 2>err
grep -q 'there is no cluster with reliable = no' err
sed 's/"gamma": [0-9.]*/"gamma": 1.5/' pools >wrong
exits 2 'gamma is not above 0 and at most 1' verb frontier wrong
echo '{"bats_pools": 1' >wrong
exits 2 '^bats-mpi: wrong:[0-9]*: ' verb frontier wrong
ok 'what cannot be is refused'

# Who is told of losses need not wait until tasks are given up.
sed 's/^reliability.*/survival = exponential 2h\nnoticed = 10s/' mix.scn >told.scn
"$BATS_MPI" frontier told.scn --plays 10 --csv --save told >told.csv
test "$(wc -l <told.csv)" -eq 125
grep -q '^"N=inf,T=inf,D=inf"' told.csv
"$BATS_MPI" frontier told --plays 10 --csv | cmp - told.csv
grep -hm1 '^"AUR"' told.csv all.csv | awk -F, '
    { m[NR] = $2 } END { exit !(NR == 2 && m[1] < 0.8 * m[2]) }'
"$BATS_MPI" frontier told --plays 2 >out
grep -q 'answer and losses are noticed' out
"$BATS_MPI" frontier told --plays 2 --html page
grep -q '"noticed":true,"reliable":5' page
sed 's/"noticed_s": 10/"noticed_s": -1/' told >wrong
exits 2 'noticed_s needs a time above 0' verb frontier wrong
ok 'losses that are noticed are played as such'

# Without a reliable pool only N = inf is left.
sed '/safe/,$d' mix.scn >alone.scn
"$BATS_MPI" frontier alone.scn --plays 5 --csv >alone.csv
expect 1 grep -qE 'N=[0-9]|^"(AR|TRR|TR|CN1T0)"' alone.csv
test "$(grep -c 'N=inf' alone.csv)" -ge 19
ok 'without a reliable pool only N = inf is left'

done_testing
