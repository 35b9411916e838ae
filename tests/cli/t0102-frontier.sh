#!/bin/bash
# The verb frontier: strategies for machines that may not answer.
. "$TOP/tests/tap.sh"

# The same bag on machines of which 50 may not answer, in records mix, told (of
# losses) and alone (without reliable machines).
for i in $(seq 150); do echo "@sleep $((1500 + 4 * i))s"; done >bag
ini '[run]; billing = use; window = 1h; currency = SU' \
    '[cluster cheap]; ranks = 1-50; charge = 1; reliability = 0.8' \
    'charge_lost = no; expected = 30m' \
    '[cluster safe]; ranks = 51-55; charge = 34; expected = 30m' >clusters-mix
sed 's/^reliability.*/survival = exponential 2h\nnoticed = 10s/' clusters-mix \
    >clusters-told
sed '/safe/,$d' clusters-mix >clusters-alone
for mix in mix told alone; do
    verb run -j $([ $mix = alone ] && echo 50 || echo 55) bag --record $mix \
        -c clusters-$mix --policy expert --time-scale 5000
done
"$BATS_MPI" frontier mix --plays 10 --csv >all.csv
test "$(wc -l <all.csv)" -eq 427
grep -q '"cheapest' all.csv && grep -q '"fastest' all.csv
ok '420 strategies and six static ones are played'

"$BATS_MPI" frontier mix --plays 10 --csv -j 3 | cmp - all.csv
ok 'the result does not depend on threads'

# The limits are those of some strategy in the middle, which differs from its
# neighbours by more than roundings: makespan in seconds, cost.
sed 's/^"[^"]*",//' all.csv | awk -F, 'NR < 422 && $10 == 1 { print $1, $4 }' |
    sort -n >efficient
read -r time cost < <(awk '{ t[NR] = $1; c[NR] = $2 } END {
    for (i = int(NR / 2) + 1; i < NR; i++)
        if (c[i - 1] - c[i] > 0.05 && t[i + 1] - t[i] > 0.05) break
    print t[i], c[i] }' efficient)
# They are rounded there.
more() { awk "BEGIN { printf \"%.3f\", $1 + 0.01 }"; }
"$BATS_MPI" frontier mix --plays 10 --csv --budget "$(more $cost)" \
    --deadline "$(more $time)s" \
    --utility "cost + 1000 * (makespan > $(more $time))" >limits.csv
# marked NAME: the makespan and cost of the one that is best for it.
marked() {
    grep "[\", ]$1[\",]" limits.csv | sed 's/^"[^"]*",//' | cut -d, -f1,4
}
for name in budget deadline utility; do
    marked $name | tr , ' ' | awk -v time="$time" -v cost="$cost" '
        { exit !(($1 - time) ^ 2 < 0.01 && ($2 - cost) ^ 2 < 0.0001) }'
done
"$BATS_MPI" frontier mix --plays 10 --json |
    grep -c '"efficient": *true' >n
test "$(cat n)" -ge 5
ok 'the best for a budget, a deadline and a utility are marked'

# Makespans up to this one's are all equal to this one, which may have other
# names beside these two.
time=$(grep -m1 'makespan x cost' all.csv | sed 's/^"[^"]*",//' | cut -d, -f1)
"$BATS_MPI" frontier mix --plays 10 --csv --utility "makespan > $time + 1" |
    grep -m1 utility >equal
grep -qE '1,"(.*, )?makespan x cost, utility"$' equal
for utility in product 'makespan < 0'; do
    ini '[run]; billing = use; policy = expert; seeds = 1-5' \
        "utility = $utility" '[bag]; tasks = 150; runtime = normal 30m 5m' \
        '[cluster cheap]; machines = 50; charge = 1; reliability = 0.8' \
        'charge_lost = no' '[cluster safe]; machines = 5; charge = 34' >run.scn
    "$BATS_MPI" simulate run.scn --csv >"by ${utility%% *}"
done
cmp 'by product' 'by makespan'
ok 'of strategies that are equal the one with the least product is best'

# The column of instances there: all tasks, and those beside the other pool.
awk -F, '/^"(AR|CNinf)"/ { sub(/^"[^"]*",/, ""); print $7, $8 }' all.csv >reliable
awk 'NR == 1 { exit !($1 == 150 && $2 == 5) }' reliable
slots=$("$BATS_MPI" frontier mix --plays 2 |
    sed -n '1s/.*; \([0-9]*\) unreliable slots.*/\1/p')
# They get their share, and a little more, for they answer each time.
awk -v n="$slots" 'NR == 2 { of = 150 * 5 / (5 + n)
    exit !($1 > 0.8 * of && $1 < 1.5 * of && $2 == 5) }' reliable
ok 'what the reliable pool does before the tail counts'

expect 4 "$BATS_MPI" frontier mix --plays 2 --budget 1
expect 5 "$BATS_MPI" frontier mix --plays 2 --deadline 1h
expect 2 "$BATS_MPI" frontier mix --utility 'price * 2' 2>err
grep -q "utility: an unknown name in 'price \* 2', character 1" err
for utility in 1/0 'sqrt(0 - makespan)' 1e999; do
    expect 2 "$BATS_MPI" frontier mix --plays 2 --utility "$utility" 2>err
    grep -qF -- "--utility: '$utility' has no value for any strategy" err
done
expect 2 "$BATS_MPI" frontier mix --plays 2 --strategy N=1,T=inf,D=inf \
    >out 2>err
grep -q 'strategy: this strategy never finishes the bag' err
test ! -s out
expect 2 "$BATS_MPI" frontier no-such-file
sed '/reliability/d; /charge_lost/d' clusters-mix >clusters-sure
verb run -j 55 bag --record sure -c clusters-sure --time-scale 10000
exits 2 'sure: the run had no cluster with reliable = no' verb frontier sure
ok 'what cannot be is refused'

# Who is told of losses need not wait until tasks are given up.
"$BATS_MPI" frontier told --plays 10 --csv >told.csv
test "$(wc -l <told.csv)" -eq 125
grep -q '^"N=inf,T=inf,D=inf"' told.csv
"$BATS_MPI" frontier told --plays 2 >out
grep -q 'answer and losses are noticed, .*; 5 reliable slots; ' out
ok 'losses that are noticed are played as such'

# Without a reliable pool only N = inf is left.
"$BATS_MPI" frontier alone --plays 5 --csv >alone.csv
expect 1 grep -qE 'N=[0-9]|^"(AR|TRR|TR|CN1T0)"' alone.csv
test "$(grep -c 'N=inf' alone.csv)" -ge 19
ok 'without a reliable pool only N = inf is left'

done_testing
