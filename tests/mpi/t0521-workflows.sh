#!/bin/bash
# Several workflows in one run, each with a budget of its own.
. "$TOP/tests/mpi/lib.sh"

# shared RECORD ACCOUNT: what was charged to it.
shared() {
    sql "$1" "SELECT coalesce(sum(amount), 0) FROM charge WHERE account = $2"
}
ini '[run]; window = 1h' '[cluster one]; ranks = 1; charge = 2' >clusters.ini

cat >bag <<'BAG'
#BATS workflow rich budget=5 deadline=2h
#BATS task r1
touch r1
#BATS task r2 after r1
sh look
#BATS workflow poor budget=1
#BATS task p1
touch p1
#BATS task p2 after p1
touch p2
BAG
cat >look <<LOOK
test -e top || until "$BATS_MPI" top --once bag >out.top &&
    grep -q 'rich  *1/2' out.top; do sleep 0.1; done
mv out.top top && "$BATS_MPI" status bag >out.status
"$BATS_MPI" why bag >out.why
touch r2
LOOK
expect 4 bats 2 bag --clusters clusters.ini --json report
test -e r2
test ! -e p1
test ! -e p2
rich='^rich +2/2 +0 +0 +0 +2 +5 +3 .* 2h$'
poor='^poor +0/2 +0 +2 +2 +0 +1 +1 +- +-$'
grep -qE "$rich" err
grep -qE "$poor" err
grep -q 'the budget of their workflow does not cover$' err
test "$(shared bag.bats 1) $(shared bag.bats 2)" = '2000000 0'
tells ': all agree$' record verify bag.bats
ok 'what the budget of its workflow does not cover is not run, the rest pays its own'

grep -qE '^rich +1/2 +0 +0 +5 +2h +0 +2$' top
grep -qE '^poor +0/2 +0 +0 +1 +- +2 +0$' top
grep -qE '^rich +1/2 +0 +0 +0 +0 +2 +5 +5 +- +2h$' out.status
grep -qE '^rich +1/2 +0 +0 +0 +0 +2 +5 +5 +- +2h$' out.why
"$BATS_MPI" status bag >out
grep -qE "$rich" out
grep -qE "$poor" out
"$BATS_MPI" status --json bag >status
"$BATS_MPI" report bag --out - | perl -0ne '/id="data">(.*?)<\/script>/s and print $1' |
    jq .status >page
for file in report status page; do
    holds '.workflows | length == 2 and (.[0] | .name == "rich" and
        .tasks_done == 2 and .left == "3" and .deadline_s == 7200 and .end_s > 0)
        and (.[1] | .tasks_unpaid == 2 and .budget == "1" and .end_s == null)' $file
done
ok 'status, top and the report have the same figures'
"$BATS_MPI" why bag >out
grep -qE "$rich" out
finds out 'the budgets of its workflows do not cover the rest$'
tells '^skipped: the budget of its workflow does not cover it$' why bag 4
grep -qE "$poor" out
"$BATS_MPI" log bag >out
finds out 'share .* 2 by workflow rich$' 'skip .* task 4  *unpaid$'
ok 'why and log say what workflows were charged, and could not pay'

sed -i 's/budget=1/budget=2/' bag
bats 2 bag --clusters clusters.ini --resume
test -e p2
test "$(shared bag.bats 2)" = 2000000
printf 'touch p3\n' >>bag
expect 4 bats 2 bag --clusters clusters.ini --resume
test ! -e p3
grep -qE '^poor +2/3 +0 +1 +1 +2 +2 +0 ' err
tells '^poor  *2/3  *0  *1  *1  *2  *2  *0 ' status bag
ok 'with more money --resume does the rest, within what was not charged before'

ini '[bag]; workflow = simulated' \
    '[run]; budget = unlimited; policy = rr; seeds = 1' \
    '[cluster one]; machines = 1; charge = 2' >scenario.ini
sed 's/budget=2/budget=1/; s/^touch .*\|^sh .*/@sleep 10m/' bag >simulated
"$BATS_MPI" simulate scenario.ini --csv >out
test "$(sed -n 2p out | cut -d, -f6,9,12)" = budget_exhausted,2,2
sed 's/budget=5 deadline=2h/begin=40m/' simulated >late
sed -i 's/simulated/late/' scenario.ini
"$BATS_MPI" simulate scenario.ini --csv >out
test "$(sed -n 2p out | cut -d, -f9)" = 2
sed -i 's/begin=40m/begin=0/' late
"$BATS_MPI" simulate scenario.ini --csv >soon
expect 1 cmp -s out soon
ok 'simulated, the budgets hold as well, and workflows begin when they are told to'

# complains WORDS TEXT [LINE]: of the bag with this workflow.
complains() {
    printf "#BATS workflow $2\ntrue\n" >bad
    exits 2 "bad:${3-1}: .*$1" verb bad
}
complains "'x'" 'a budget=x'
complains "'bugdet=3' is not one of" 'a bugdet=3'
complains "'x'" 'a begin=x'
complains 'has no name' ''
complains 'the deadline is 0' 'a deadline=0'
complains 'this workflow is named twice' 'a\ntrue\n#BATS workflow a' 3
ok 'mistakes are named with file and line'

# ---- the same of several files ----

printf 'a1:\n\techo 1 >a1\na2: a1\n\tcp a1 a2\n' >a.makeflow
cat >b.json <<'JSON'
{"workflow": {"specification": {"tasks": [
  {"id": "b", "name": "b", "parents": ["a"]},
  {"id": "a", "name": "a", "parents": []}]},
 "execution": {"tasks": [
  {"id": "a", "command": {"program": "touch", "arguments": ["b1"]}},
  {"id": "b", "command": {"program": "mv", "arguments": ["b1", "b2"]}}]}}}
JSON
expect 4 bats 2 a.makeflow budget=4 deadline=2h b.json budget=1 \
    --clusters clusters.ini
cmp a1 a2
test ! -e b1
grep -qE '^a.makeflow +2/2 +0 +0 +0 +2 +4 +2 .* 2h$' err
grep -qE '^b.json +0/2 +0 +2 +2 +0 +1 ' err
bats 2 a.makeflow budget=4 b.json budget=2 --clusters clusters.ini --resume
test -e b2
"$BATS_MPI" status a.makeflow | grep -q '^a.makeflow + b.json: all done'
verb record verify a.makeflow
ok 'several files are a workflow each, with their budgets, and are resumed'
# refused SENTENCE WORD...
refused() {
    exits 2 "$1" verb run --no-record a.makeflow "${@:2}"
}
printf 'a2: clusters.ini\n\ttrue\n' >makes.mf
printf 'x: a2\n\ttrue\n' >reads.mf
printf '\nx: missing\n\ttrue\n' >lacks.mf
refused "a.makeflow: 'x=3' is not one of budget=AMOUNT" x=3
refused "b.json: 'x' is not an amount" b.json budget=x
refused 'a.makeflow: this workflow is named twice' a.makeflow
refused "makes.mf makes 'a2', which a.makeflow makes, too" makes.mf
refused "a.makeflow makes 'a2', which reads.mf reads" reads.mf
refused "lacks.mf:2: the rule on line 2 reads 'missing'" lacks.mf
ok 'what does not go together is refused, with the file'

# ---- a deadline that cannot be kept ----

cat >late <<'BAG'
#BATS workflow chain deadline=50m
#BATS task c1
@sleep 20m
#BATS task c2 after c1
@sleep 20m
#BATS task c3 after c2
sh look-late
#BATS workflow other deadline=10h
@sleep 20m
BAG
cat >look-late <<LOOK
until "$BATS_MPI" top --once late >out.top && grep -q '^chain .* 50m (late) ' out.top
do sleep 0.1; done
LOOK
bats 2 late --clusters clusters.ini --time-scale 1200
grep -q '^bats-mpi: the deadline of 50m of workflow chain will not be kept: ' err
expect 1 grep -q 'of workflow other will not' err
grep -qE '^other .* 10h ' out.top
ok 'a workflow that cannot be in time is said to be late while it runs'

# ---- a task is stopped, for its workflow cannot pay the next window ----

printf '%s\n' '#BATS workflow short budget=3' '@sleep 90m' \
    '#BATS workflow long budget=90' '@sleep 2h' >bag2
ini '[run]; window = 1h' '[cluster one]; ranks = 1; max = 1; charge = 2' \
    '[cluster two]; ranks = 2; charge = 3' >both.ini
expect 4 bats 3 bag2 --clusters both.ini --time-scale 1200 --policy rr
test "$(sql bag2.bats 'SELECT group_concat(amount BETWEEN 1 AND
    CASE account WHEN 1 THEN 3000000 ELSE 90000000 END) FROM (SELECT account,
    sum(amount) AS amount FROM charge WHERE account > 0 GROUP BY account)')" = 1,1
grep -qE '^short +0/1 +0 +1 +1 ' err
grep -qE '^long +1/1 +0 +0 +0 ' err
ok 'one workflow runs out of money between windows, the other goes on'

done_testing
