#!/bin/bash
# bats-mpi simulate: scenarios that can be followed by hand, its forms of
# output, and what it refuses. No launcher.
. "$TOP/tests/mpi/lib.sh"

# simulate ARGUMENT...: into out and err. row FIELDS: of the CSV there, each of
# the different rows.
simulate() {
    timeout 60 "$BATS_MPI" simulate "$@" >out 2>err </dev/null
}
row() {
    sed 1d out | cut -d, -f"$1" | sort -u | xargs
}

# ---- by hand, and by a slower search ----

# The seeds of rr and mixed do not matter: every runtime is the same.
for scenario in rr mixed sparse; do
    simulate "$TOP/tests/sim/$scenario.scn" --csv
    test ! -s err
    cut -d, -f3- out | sort -u | diff <(sort -u "$TOP/tests/sim/$scenario.csv") - >err
    ok "$scenario.scn is as it must be"
done
simulate "$TOP/tests/sim/rr.scn" --csv
test "$(cut -d, -f1 out | sort | uniq -c | xargs)" = '8 3 8 7 8 8 1 seed'
simulate "$TOP/tests/sim/rr.scn" --csv --seed 9
test "$(row 1)" = 9
ok 'every seed has a row for every budget; --seed takes their place'

# ---- what tasks need ----

# needs BAG WHAT: on a node of 4 slots, 8 GiB and a GPU; how long they take, and
# to the bound.
needs() {
    ini '[run]; policy = rr, bats; budget = unlimited' "[bag]; $1" \
        '[cluster a]; machines = 1; slots = 4; memory = 8G; gpus = 1; charge = 1' \
        >needs.scn
    simulate needs.scn --csv
    test "$(row 7,18)" = "$2"
}
six='tasks = 6; runtime = constant 1h; needs ='
needs "$six 1" 7200.000000,1.333333
needs "$six 3" 21600.000000,1.333333
needs "$six 1/4G" 10800.000000,1.000000
needs "$six 2/1G/1" 21600.000000,1.000000
cat >cores.json <<'JSON'
{"schemaVersion": "1.5", "workflow": {
    "specification": {"tasks": [{"id": "a", "name": "x"}, {"id": "b", "name": "x"},
        {"id": "c", "name": "x"}]},
    "execution": {"tasks": [
        {"id": "a", "runtimeInSeconds": 60, "coreCount": 4},
        {"id": "b", "runtimeInSeconds": 60, "coreCount": 2, "memoryInBytes": 3e9},
        {"id": "c", "runtimeInSeconds": 60, "coreCount": 2, "memoryInBytes": 5e9}]}}}
JSON
needs 'workflow = cores.json' 180.000000,1.500000
sed -i 's/3e9/3e8/; s/5e9/4e8/' cores.json
needs 'workflow = cores.json' 120.000000,1.000000
ok 'tasks, also of WfFormat, share the cores, memory and GPUs of a machine'
needs "$six 2" 10800.000000,1.000000
sed 's/^needs.*/needs = 2\/9G/' needs.scn >large.scn
exits 2 'large.scn:4: task 1 needs 2 cores, 9437184 KiB of memory and 0 GPUs: no machine' \
    simulate large.scn
test ! -s out
sed -i 's/^policy.*/policy = bkp, dbc-time, dbc-cost/; s/^slots.*/&\nexpected = 1h/' \
    needs.scn
simulate needs.scn --csv
test "$(row 7)" = 10800.000000
ok 'what fits no machine is refused; the policies of the papers know needs, too'

ini '[run]; policy = rr; grace = 10s; lease = 20s; overrun = 1m; jobs = 1' \
    '[bag]; tasks = 4; runtime = constant 1m' \
    '[cluster c]; machines = 2; charge = 1' >windows.scn
simulate windows.scn --csv
test "$(row 7,9)" = 120.000000,2
ok 'lease, overrun and jobs are for jobs: machines by the window do without them'

# A minute each, two in the two and a half minutes until the deadline.
ini '[run]; billing = use; policy = dbc-cost; deadline = 2m30s' \
    '[bag]; tasks = 3; runtime = constant 1m' \
    '[cluster c]; machines = 1; charge = 60' >use.scn
simulate use.scn --csv
test "$(row 6,7,9,12,14)" = too_late,120.000000,2,2,1
ok 'use is charged, and a deadline that ends a run is named'

# A job of two minutes that is all startup for the first; and what all machines
# together cost meanwhile, from the first second to the last one.
ini '[run]; billing = job; window = 10m' \
    '[bag]; tasks = 2; runtime = constant 1m' \
    '[cluster c]; machines = 1; charge = 10; startup = 1m' >job.scn
simulate job.scn --csv
grep -q ',all_done,180.000000,1,3,' out
sed 's/^billing = job/billing = allocation/' job.scn >allocation.scn
simulate allocation.scn --csv
grep -q ',all_done,180.000000,' out
ok 'jobs are billed from their start'

# A budget of 1 pays a window of paid machines, but not the hour for which the
# other ones start up, and theirs may, too: jobs of those that are free of charge
# do the bag, and none of them is withdrawn for a job that is never asked for.
ini '[run]; billing = job; window = 10m; budget = 1; seeds = 1-2' \
    '[bag]; tasks = 50; runtime = lognormal 15m 15m' \
    '[cluster free]; machines = 4; charge = 0; startup = 1h; queue = 1h' \
    '[cluster paid]; machines = 4; charge = 2; speed = 2' >free.scn
simulate free.scn --csv
test "$(row 6,12)" = all_done,50
ok 'jobs that the budget does not pay keep no others away'
# Shortly before its deadline this policy begins no task any more, though tasks are
# left; jobs that begin none are not asked for again and again.
for startup in 0s 10s 11m; do
    sed "/^window/a policy = dbc-time\ndeadline = 30m
        s/^budget.*/budget = 100/; s/^runtime.*/runtime = normal 8m 3m/
        s/^startup.*/startup = $startup/; /^queue/d" free.scn >late.scn
    simulate late.scn --csv
    test "$(row 6)" = too_late
    expect 1 grep -x 0 <(row 14 | tr ' ' '\n')
done
ok 'a policy that begins no more tasks asks for no more jobs'
# A new machine of the second cluster is dearer than one of the first; kept for
# more than six hours it is cheaper.
ini '[run]; policy = bats; budget = 66; seeds = 1-20' \
    '[bag]; tasks = 600; runtime = lognormal 10m 6m' \
    '[cluster demand]; machines = 10; charge = 0.6/h' \
    '[cluster preempt]; machines = 10; charge = 1/h for 2h, 0.25/h after' >age.scn
simulate age.scn --csv
test "$(row 10,12,14)" = 0,600,0
ok 'machines that have become cheap are kept, and the whole bag is paid'
# One task of 37 windows, too late for its deadline, on the machine that is nearly
# free of charge: plans are looked at less often than windows end, and the first
# one did not know that machine. The task is not cut off at each end.
ini '[run]; window = 1367.724666; policy = bats; seeds = 85801' \
    'budget = 38.414642; deadline = 6779.239534; minimize = cost' \
    'monitor = 2735.854946; grace = 18.982737' \
    '[bag]; tasks = 1; runtime = normal 3319.929938 2259.654616' \
    '[cluster c0]; machines = 2; speed = 0.330; slots = 3; charge = 4.008560' \
    '[cluster c1]; machines = 1; speed = 0.207; slots = 3; charge = 0.001182' \
    'noise = 0.403' \
    '[cluster c2]; machines = 5; speed = 0.790; slots = 3; charge = 8' >long.scn
simulate long.scn --csv
test "$(row 6)" = all_done
test "$(row 15)" -lt 3
ok 'a machine that no plan knows yet is looked at before its task is cut off'
# An hour in the queue, on average, before the same.
sed 's/^startup/queue = 1h\n&/' job.scn >queue.scn
for billing in job allocation; do
    sed "s/^billing = job/billing = $billing/; s/^window/seeds = 1-400\n&/" \
        queue.scn >$billing-queue.scn
    simulate $billing-queue.scn --csv
    awk -F, 'NR > 1 { sum += $7; n++ }
        END { exit !(sum / n > 3300 && sum / n < 4300) }' out
done
ok "they wait in a queue before that, as job and as allocation"

# ---- a bag of random runtimes ----

ini '[run]; window = 60m; currency = SU; policy = rr, bkp' \
    'budget = rr, cheapest+60%, fastest; seeds = 1-6; repeats = 2' \
    '[bag]; tasks = 200; runtime = lognormal 15m 10m' \
    '[cluster slow]; machines = 8; charge = 3; noise = 0.1' \
    '[cluster fast]; machines = 8; charge = 9; speed = 4; startup = 3m' \
    'loss = 30h' >random.scn
simulate random.scn --csv --jobs 1
mv out one
simulate random.scn --csv --jobs 3
test "$(wc -l <out)" -eq 73
cmp one out
test "$(cut -d, -f1,2 out | sed 1d | uniq | wc -l)" -eq 12
test "$(sed 1d out | cut -d, -f7 | sort -u | wc -l)" -gt 40
ok 'the results do not depend on --jobs; every seed and repeat is another world'

# The columns of the CSV: amount 5, charged 9, violations 10, done 12, undone
# 14, bound 17, ratio 18.
sed 1d out | awk -F, '
    $10 != 0 || $9 > $5 || $12 + $14 != 200 { bad = 1 }
    $14 == 0 && !($18 >= 1) { bad = 1 }
    $3 == "rr" && $4 == "rr" && $9 != $5 { bad = 1 }
    END { exit bad }'
ok 'no budget is exceeded, no bound is beaten, rr costs what rr costs'

simulate random.scn --json
jq -r --arg head "$(head -n 1 one)" '
    (. + (.machines | with_entries(.key |= "machines_" + .))) as $row |
    $head / "," | map($row[.] // "" | tostring) | join(",")' out |
    paste -d, - <(sed 1d one) | awk -F, '{
        n = NF / 2
        for (i = 1; i <= n; i++)
            if ($i != $(i + n) && ($i !~ /^[0-9.]+$/ || ($i - $(i + n)) ^ 2 > 1e-6)) {
                print $i, $(i + n)
                exit 1
            }
    }' >&2
ok 'the JSON says the same as the CSV'

simulate random.scn
test ! -s err
grep -q '^random.scn: 200 tasks, 16 machines in 2 clusters, window 1h; 12 runs each$' out
grep -Eq '^policy +makespan ' out
test "$(grep -c '^budget ' out)" -eq 3
test "$(grep -Ec '^(rr|bkp) ' out)" -eq 6
test "$(sed 1d out | wc -L)" -le 80
ok 'the table has a line for every policy and budget, and fits a terminal'

# Mean, median, worst, half of the 95 % interval (t of 11 degrees of freedom is
# 2.201) of one line, from the rows.
awk -F, '$3 == "rr" && $4 == "rr" { print $7 }' one | sort -n | awk '
    { x[NR] = $1; sum += $1; square += $1 * $1 }
    END {
        mean = sum / NR
        deviation = sqrt((square - NR * mean * mean) / (NR - 1))
        printf "%.0f %.0f %.0f %.0f\n", mean, (x[6] + x[7]) / 2, x[NR],
            2.200985 * deviation / sqrt(NR)
    }' >expected
# The table rounds to two units.
seconds $(grep -A 1 '^budget rr: ' out | awk 'NR == 2 { print $2, $4, $5, $3 }') |
    xargs >got
paste expected got | awk '
    function near(a, b, by) { return a - b <= by && b - a <= by }
    { exit !(near($1, $5, 30) && near($2, $6, 30) && near($3, $7, 30) &&
        near($4, $8, 1)) }'
ok 'mean, median, worst and interval are those of the rows'

# ---- a real run's record and joblog as the bag ----

for i in 1 2 3 4 5 6 7 8; do
    echo "@sleep 0.${i}s"
done >bag.txt
echo false >>bag.txt
ini '[cluster slow]; ranks = 1; charge = 1' \
    '[cluster fast]; ranks = 2; charge = 1; speed = 2' >clusters.ini
expect 1 bats 3 bag.txt --clusters clusters.ini --time-scale 10 --joblog joblog \
    --tail none
ok 'a run to measure'

# measured FILE: makespan_s and done on one machine.
measured() {
    ini "[bag]; runtime = file $1" "[cluster c]; machines = 1; charge = 1" \
        >scenario.ini
    "$BATS_MPI" simulate scenario.ini --csv >out 2>err &&
        sed 1d out | cut -d, -f7,12 | tr ',' ' ' >got
}

# Seconds of real time, not of bag time: that is what a joblog has.
measured joblog
expected=$(awk -F'\t' '$7 == 0 && NR > 1 { sum += $4 } END { print sum }' joblog)
awk -v expected="$expected" '
    { exit !(NR == 1 && $2 == 8 && $1 - expected < 0.01 &&
        expected - $1 < 0.01) }' got
ok 'the runtimes of a joblog, without the failed job'

measured bag.txt.bats
# Whatever ran on fast counts as if it had the mean of slow (unless slow did not
# get beyond the task that failed).
expected=$(sqlite3 bag.txt.bats "SELECT 8 * 10 * avg(a.wall_us) / 1e6
    FROM execution a JOIN machine m ON m.id = a.machine
    WHERE a.exit_status = 0
    GROUP BY m.cluster ORDER BY m.cluster LIMIT 1")
awk -v expected="$expected" '
    { exit !(NR == 1 && $2 == 8 && $1 - expected < 0.01 * expected &&
        expected - $1 < 0.01 * expected) }' got
ok 'the runtimes of a record, as on its first cluster'

mkdir sub
cp joblog sub
sed 's/file .*/file joblog/' scenario.ini >sub/s.ini
rm joblog
verb simulate sub/s.ini --csv
ok 'the file is beside the scenario'

: >empty
exits 2 'scenario.ini:2: runtime: empty: no runtime in it' measured empty
ok 'an empty file is refused'

# ---- what is refused ----

refuses() { # PATTERN ARGUMENT...
    exits 2 "$1" simulate "${@:2}"
    test ! -s out
}
sed 's/^tasks = 200/tasks = many/' random.scn >wrong.scn
refuses 'the scenario is missing'
refuses 'nowhere.scn: No such file' nowhere.scn
refuses "wrong.scn:9: tasks: 'many' is not a whole number" wrong.scn
refuses 'from 1 to 4294967295' random.scn --seed 0
ok 'no scenario, or one with a mistake, and seed 0 are refused'
exits 3 'standard output' "$BATS_MPI" simulate random.scn >/dev/full 2>err
TMPDIR=/nonexistent OMPI_MCA_orte_tmpdir_base=/nonexistent simulate random.scn
ok 'an answer that cannot be written is an error; simulate does not start MPI'

done_testing
