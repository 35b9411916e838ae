#!/bin/bash
# bats-mpi plan: the papers' configurations (--policy bkp), their JSON, and what
# it refuses. No launcher.
. "$TOP/tests/mpi/lib.sh"

plan() {
    verb plan --policy bkp "$@"
}
clusters() { # CHARGE OF FAST
    ini "[run]; window = 60m; currency = SU" \
        "[cluster slow]; ranks = 1-32; charge = 3" \
        "[cluster fast]; ranks = 33-64; charge = $1" >clusters.ini
}
s41='--tasks 784 --runtime slow=15m,fast=15m -c clusters.ini'
table32='--tasks 963 --runtime slow=15.15m,fast=15.15m -c clusters.ini'

# ---- the answer ----

# 1584 / 4 windows = 396 = 32 x 3 + 25 x 12; 57 machines do 228 tasks a window:
# 784 / 228 x 3600 s; 4 windows hold 912 tasks.
clusters 12
plan $s41 --budget 1584 --json
test ! -s err
holds '.feasible and .configuration == {slow: 32, fast: 25} and .windows == 4 and
    .cost == "1584" and .price_per_window == "396" and .delta_n == -128 and
    (.makespan_s - 12378.947 | fabs < 0.01)' out
test "$(jq -c '[keys[] | select(. != "schedules" and . != "configuration")]' out)" = \
    '["budget","cost","cost_high","cushion","delta_n","feasible","makespan_high_s","makespan_low_s","makespan_s","price_per_window","windows"]'
test "$(jq -c '[.schedules[].name]' out)" = \
    '["cheapest","cheapest+10%","cheapest+20%","fastest-20%","fastest-10%","fastest"]'
ok 'scenario S4-1 gets 32 and 25 machines, in JSON with these keys and schedules'

# A task to a window: 784 / 64 = 12.25, so 13 windows of 32 x 3 + 32 x 12 = 480.
plan $s41 --window 15m --json
holds '.configuration == {slow: 32, fast: 32} and .windows == 13 and
    .cost == "6240"' out
ok 'without a budget all machines; --window overrides the file'

# 0.085 x 7 = 0.595: seven machines for one window, not six.
clusters 0.085
plan --tasks 28 --runtime slow=60m,fast=15m -c clusters.ini --budget 0.595 --json
holds '.configuration == {slow: 0, fast: 7} and .cost == "0.595"' out
# 3.5 tasks to a window and machine, but only 3 whole ones.
plan --tasks 7 --runtime slow=60m,fast=1028.571428s -c clusters.ini \
    --budget 0.17 --json
holds '.configuration == {slow: 0, fast: 2} and .windows == 1 and .delta_n == 1' out
ok 'decimal charges are exact; delta_n counts the tasks that do not divide'

# Two clusters of four are named: 8 tasks in 4 windows on one machine of b.
ini '[run]; window = 15m' '[cluster a]; partition = a; charge = 1' \
    '[cluster b]; partition = b; charge = 2/h; max = 1' \
    '[cluster c]; partition = c; charge = 1' \
    '[cluster d]; partition = d; charge = 100; max = 7' >site.ini
plan --tasks 8 --runtime d=15m,b=7.5m -c site.ini --budget 2 --json
holds '.configuration == {b: 1, d: 0} and .windows == 4 and .cost == "2"' out
test "$(cat err)" = \
    'bats-mpi: left out, since --runtime does not name them: a, c'
ok 'clusters without a runtime are left out, and named'

# ---- the list: thesis, table 3.2 (see t0101-offers.sh) ----

clusters 12
plan $table32 --json
holds '.schedules[3] | .delta_n == 32 and .cushion == "96" and
    .with_cushion == {slow: 32, fast: 19}' out
holds '.schedules[5] | .delta_n == 3 and .cushion == "9" and
    has("with_cushion") == false' out
ok 'what may go wrong with the published schedules, as JSON'

# 4 h: 61 machines, 32 of 3 and 29 of 12.
plan $table32 --deadline 4h --json
holds '.configuration == {slow: 32, fast: 29} and .cost == "1776"' out
exits 5 'cannot be done in 3h; .* take 3h48m' plan $table32 --deadline 3h
grep -q '^machines  slow 32, fast 32$' out
ok 'a deadline: the cheapest schedule that meets it, else the earliest end, exit 5'

# ---- the frontier ----

# a: 4 tasks a window for 3; b: 12 for 10; 12 tasks. See test_frontier.c.
ini '[cluster a]; ranks = 1; charge = 3' '[cluster b]; ranks = 2; charge = 10' \
    >small.ini
small() {
    plan --tasks 12 --runtime a=15m,b=5m -c small.ini --frontier "$@"
}
small
test "$(sed 1d out | xargs)" = '9 3h 3 a 1 10 1h 1 b 1 13 45m 1 a 1, b 1'
small --csv
printf '%s\n' cost,makespan_s,windows,price_per_window,a,b \
    9,10800.000000,3,3,1,0 10,3600.000000,1,10,0,1 \
    13,2700.000000,1,13,1,1 | cmp -s - out
small --json
jq -c '.complete, .frontier[]' out >points
consists points true \
    '{"cost":"9","makespan_s":10800,"windows":3,"price_per_window":"3","configuration":{"a":1,"b":0}}' \
    '{"cost":"10","makespan_s":3600,"windows":1,"price_per_window":"10","configuration":{"a":0,"b":1}}' \
    '{"cost":"13","makespan_s":2700,"windows":1,"price_per_window":"13","configuration":{"a":1,"b":1}}'
ok 'the frontier, for people, as comma-separated values, and in JSON'

# ---- a profile ----

# 7 tasks on both clusters, fast = 10 s + slow / 2; 2 on slow alone: 9 of 40
# are done. Means: slow (100 + ... + 160 + 90 + 110) / 9 = 123.3, fast 71.7 s.
cat >profile.json <<END
{"bats_profile": 1,
 "bag": {"name": "bag", "tasks": 40, "hash": "0123456789abcdef"},
 "window_s": 600, "currency": "SU", "elapsed_s": 600,
 "clusters": [
  {"name": "slow", "charge": "3", "max": 4, "slots": 1, "windows": 2,
   "charged": "6", "sample": [[1,100],[2,110],[3,120],[4,130],[5,140],
    [6,150],[7,160],[8,90],[9,110]]},
  {"name": "fast", "charge": "12", "max": 4, "slots": 1, "windows": 1,
   "charged": "12", "sample": [[1,60],[2,65],[3,70],[4,75],[5,80],[6,85],
    [7,90]]}],
 "done": [[1,9]], "failed": []}
END
# A machine that is seldom wide enough for a task: a quarter of one at a time.
sed 's/"max": 4, "slots": 1/"max": 1, "slots": 1, "room": 0.25/' profile.json >half.json
timeout 60 "$BATS_MPI" plan half.json >out 2>err
grep -q '^[1-5] fastest' out
ok 'a machine that runs less than a task at a time'
plan profile.json
test ! -s err
sed -n 1p out | grep -q '^31 tasks of 40 left, windows of 10m; sampling was charged 18 SU$'
grep -Eq '^slow +3 +2m3s .* 9 +1.00 +4$' out
grep -Eq '^fast +12 +1m11s .* 9 +0.43 +4$' out
ok 'a profile: what is left, and what is known'
# 31 x 123.3 s = 1h3.7m. s = 22.1 s, t_8(0.95) = 1.860: the mean is 109.6 to
# 137.0; chi2_8(0.05) = 2.733: the deviation is 40.1 at most. sigma_agg^2 =
# 137.0^2 + 137.0 / 109.6 x 40.1^2 - 109.6^2 = 93.6^2; 31 x 137.0 + 1.28
# sqrt(31) 93.6 = 4916 s = 1h22m, in window 9.
grep -Eq '^1 cheapest +1 +- +7 +1h4m +1h22m +21 +27$' out
grep -q 'At latest, at most: this holds in 70 % of all cases' out
ok 'with intervals, and what they may cost'
# 31 / (4 / 123.3 + 4 / 71.7) = 351 s would just do for machines that divide
# tasks; the last of eight tasks takes longer.
sed 's/"window_s": 600/"window_s": 360/' profile.json >tight.json
plan tight.json
grep -Eq '^4 fastest +4 +4 +1 +6m[0-9]*s +[0-9ms]* +60 +120$' out
ok 'a schedule that its windows are hardly enough for may cost a further one'
plan profile.json --confidence 0.99
grep -q 'in 97 % of all cases' out
plan profile.json --budget 24 --json
holds '.feasible and .budget == "24" and .makespan_high_s > 0' out
ini '[run]; window = 10m; currency = EUR' \
    '[cluster slow]; ranks = 1-2; charge = 30' >dear.ini
plan profile.json -c dear.ini
grep -Eq '^slow +30 .* 2$' out
expect 1 grep -q '^fast ' out
grep -q 'are not in the clusters file: fast' err
ok 'for another confidence, another budget, and for other charges and caps'
sed 's/\[1,9\]/[1,40]/' profile.json >whole.json
plan whole.json
grep -q 'every task has been run' out
ok 'a bag that is done needs no schedule'

# ---- a budget that is too small ----

clusters 12
exits 4 'cannot be done for 100 SU' plan $s41 --budget 100
grep -q 'for 588 SU they can' err
grep -q '^cost  *99 SU, 33 SU' out
expect 4 plan $s41 --budget 1 --json
holds '(.feasible | not) and .configuration == {slow: 0, fast: 0} and .windows == 0
    and .makespan_s == null and .cost == "0" and .delta_n == 784' out
plan $s41 --budget 588 --json
holds '.feasible and .cost == "588"' out
ok 'too small a budget: what it can do, what would be enough, exit 4'

# ---- bad input ----

# refuses PATTERN ARGUMENT...: says so, and nothing else.
refuses() {
    exits 2 "$1" plan "${@:2}"
    test ! -s out
}
both=slow=15m,fast=15m
sed 's/ranks = 1-32/partition = p/' clusters.ini >partition.ini
sed 's/"charge": "3"/"charge": 3/' profile.json >damaged.json
five='--tasks 5 -c clusters.ini'
refuses '--tasks' --runtime $both -c clusters.ini
refuses '--tasks' --tasks 0 --runtime $both -c clusters.ini
refuses '--runtime' $five
refuses 'a profile, or --clusters' --tasks 5 --runtime $both
refuses "'medium'" $five --runtime $both,medium=1m
refuses twice $five --runtime $both,slow=15m
refuses "'15q'" $five --runtime slow=15m,fast=15q
refuses 'above 0' $five --runtime slow=15m,fast=0
refuses CLUSTER=DURATION $five --runtime slow=15m,fast
refuses CLUSTER=DURATION $five --runtime $both,
refuses missing.ini --tasks 5 -c missing.ini --runtime $both
refuses "'slow' has no max" --tasks 5 -c partition.ini --runtime $both
refuses 'nothing: No such file' --tasks nothing --runtime $both -c clusters.ini
refuses 'damaged.json: clusters\[0\].charge has to be' damaged.json
refuses 'missing.json: No such file' missing.json
refuses 'a profile says' profile.json --tasks 5
refuses '--window needs --clusters' profile.json --window 5m
refuses 'needs --deadline' profile.json --minimize cost
refuses '--csv needs --frontier' profile.json --csv
ok 'missing, garbled and contradicting options and files are refused'

TMPDIR=/nonexistent OMPI_MCA_orte_tmpdir_base=/nonexistent plan $s41
ok 'plan does not start MPI'
exits 3 'standard output' "$BATS_MPI" plan $s41 --json >/dev/full 2>err
ok 'an answer that cannot be written is an error'

# ---- what tasks need ----

# Two tasks of 6 cores fit on a node of 16: 8 of them take 4 hours on one, and 16
# more of one core, in their gaps, take none. Of 64G, 3 tasks of 20G run at a time.
ini '[run]; window = 1h' \
    '[cluster node]; partition = a; machine = node; slots = 16' \
    'memory = 64G; charge = 1; max = 1' >nodes
needs() { # WINDOWS BAG OPTION...
    "$BATS_MPI" plan --tasks "$2" --runtime node=1h -c nodes --policy bkp \
        --no-history --json "${@:3}" >out 2>err || return
    test "$(jq '.schedules[0].windows' out)" = $1
}
{ echo '#BATS cores=6'; seq 8 | sed 's/.*/true/'; } >six
{ cat six; echo '#BATS cores=1'; seq 16 | sed 's/.*/true/'; } >mixed
needs 4 six
needs 4 mixed
needs 4 8 --cores 6
needs 4 64
needs 8 24 --memory 20G
ok 'plan: as many tasks at a time as fit on a machine'
expect 2 needs 1 8 --cores 17
grep -q 'nodes: no cluster has machines for all tasks: one needs 17 cores' err
expect 2 needs 1 8 --gpus 1
sed -i /slots/d nodes
expect 2 needs 1 six
grep -q "nodes:3: cluster 'node' has no slots = N: .* a task needs 6 cores" err
sed -i 's/machine = node/slots = 2/' nodes
exits 2 'nodes:5: slots: a machine is a rank' needs 1 8
ok 'what fits nowhere, and nodes without slots, are refused'

# ---- a graph: its critical path ----

# 60, 120 and 30 s: 70 on average; the chain of two is worth 18/7 of them.
printf '%s\n' '{"workflow": {"specification": {"tasks": [
    {"id": "a", "name": "x"}, {"id": "b", "name": "x", "parents": ["a"]},
    {"id": "c", "name": "y"}]}, "execution": {"tasks": [
    {"id": "a", "runtimeInSeconds": 60}, {"id": "b", "runtimeInSeconds": 120},
    {"id": "c", "runtimeInSeconds": 30}]}}}' >w.json
graph() {
    verb plan --tasks w.json --runtime slow=28m,fast=14m -c clusters.ini "$@"
}
clusters 12
graph
finds out '^3 tasks, windows of 1h' \
    '^Critical path: 36m on fast, tasks 1, 2\.$' '^1 cheapest .* 1h13m ' \
    ' fastest .* 37m20s '
graph --policy bkp
grep -q '^1 cheapest .* 1h12m ' out
ok 'plan of a workflow shows its critical path, and no end that is sooner'
graph --json
test "$(jq -c .critical_path out)" = \
    '{"length_s":2160,"cluster":"fast","tasks":[1,2]}'
graph --html page
grep -q 'Critical path: 36m on fast, tasks 1, 2\.' page
ok 'in JSON and on the page, too'
chain 40 true >chain.bag
verb plan --tasks chain.bag --runtime slow=15m -c clusters.ini
grep -q '^Critical path: 10h on slow, tasks 1, 2, .*, 10, \.\.\., 40\.$' out
ok 'of a bag every task counts the same, and a long path is cut'

done_testing
