#!/bin/bash
# Jobs bought within what is left of an account, billed by slurmdbd; and jobs
# that Slurm gives less time than they ask for.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"

# 16 per hour, and a job may be billed for 60 s, KillWait (30 s) and 5 s: 25.3
# billing-minutes. 60 pay two at a time, but not three.
{
    sacctmgr -i add account small GrpTRESMins=billing=60
    sacctmgr -i add account open
    sacctmgr -i add user root account=open,small
} >out 2>&1
controller >>out 2>&1

alloc() {
    bag=$1
    shift
    bats-mpi alloc "$bag" --host 10.77.0.1 --poll 1s -p fast --slots 2 "$@" \
        >out 2>err
}
jobs() { # BAG COLUMNS
    sacct -X -n -P -o "$2" \
        -j "$(squeue -h -t all -o %i -n "$(name_of "$1")" | paste -sd,)"
}
# billed BAG: in billing-hours, by sacct.
billed() {
    jobs "$1" ElapsedRaw,AllocTRES |
        awk -F'|' 'sub(/.*billing=/, "", $2) { sum += $1 * $2 }
            END { printf "%.6f\n", sum / 3600 }'
}
agrees() { # BAG
    test "$(charged "$1")" != 0.000000
    same "$(billed "$1")" "$(charged "$1")"
}
most_at_once() {
    sqlite3 "$1.bats" "SELECT max(n) FROM (
        SELECT sum(what = 'acquire') OVER (ORDER BY seq) -
            sum(what = 'billed') OVER (ORDER BY seq) AS n FROM happened)"
}

for i in $(seq 12); do echo "sleep 1; echo $i >>ran"; done >bag.txt
alloc bag.txt -b account --account small --max-jobs 8 --window 20s
grep -q 'account small: 0 of 60 billing-minutes are used' err
test "$(sort -u ran | wc -l)" -eq 12
test "$(most_at_once bag.txt)" -eq 2
agrees bag.txt
ok 'an account pays as many jobs as it can hold'
test "$(jobs bag.txt Account | sort -u)" = small
ok 'they are billed to that account'
sacctmgr -i modify account small set GrpTRESMins=billing=20 >>out 2>&1
cp bag.txt none.txt
expect 4 alloc none.txt -b account --account small --window 20s
grep -q 'does not pay one job: 0.422223 billing-h are held for one in' err
test ! -s none.txt.bats
test "$(squeue -h -t all -o %j | sed '/^bats-price-/d' | sort -u)" = \
    "$(name_of bag.txt)"
ok 'what it cannot hold is not submitted'

# ---- jobs of several nodes ----

for i in $(seq 8); do
    echo "hostname >>where; until test -e go; do sleep 0.1; done; echo $i >>ran3"
done >wide.txt
began() { test "$(cat where 2>/dev/null | wc -l)" -eq "$1"; }
# Slurm bills whole seconds.
has_run() { ! squeue -h -t R -o %M | grep -qx '0:00'; }
alloc wide.txt --account open --nodes 2 --max-jobs 1 --window 1m &
within 120 began 4
within 60 has_run
sort where | uniq -c | awk '$1 != 2 { bad = 1 } END { exit bad || NR != 2 }'
touch go
expect 0 wait $!
ok 'all ranks of a job on two nodes take tasks'
sort -n ran3 | diff - <(seq 8)
test "$(jobs wide.txt NNodes)" = 2
agrees wide.txt
bats-mpi record verify wide.txt >>out
ok 'and it is charged as sacct says'

# ---- less time than a window ----

# Three nodes are busy for three minutes, and then somebody wants all four: the
# fourth is free until then.
busy=$(sbatch --parsable -A open -p fast -N3 --exclusive --time=3 -o /dev/null \
    --wrap 'sleep 600')
within 60 job_is "$busy" RUNNING
next=$(sbatch --parsable -A open -p fast -N4 --exclusive --time=5 -o /dev/null \
    --wrap 'true')
for i in $(seq 6); do echo "sleep 0.5; echo $i >>ran2"; done >short.txt
alloc short.txt --account open --max-jobs 1 --window 10m --time-min 1m
scancel "$next" "$busy"
test "$(sort -u ran2 | wc -l)" -eq 6
test "$(sqlite3 short.txt.bats "SELECT count(*) FROM happened
    WHERE what = 'ends' AND value BETWEEN 1 AND 180e6")" -ge 1
agrees short.txt
bats-mpi record verify short.txt >>out
ok 'a job that gets less time starts at once, and the engine knows its end'

# ---- time that a limit forbids ----

{
    sacctmgr -i add account brief MaxWall=00:02:00
    sacctmgr -i add user root account=brief
    sacctmgr -i add qos hasty MaxWall=00:03:00 UsageFactor=2 \
        GrpTRESMins=billing=60
    sacctmgr -i modify user root set qos+=hasty
} >out 2>&1
# window TIME OPTION...: jobs of the default window would wait for ever.
window() {
    words="a job in partition fast may ask for $1 at most: the window is $2"
    shift 2
    alloc bag.txt -n "$@"
    grep -qx "bats-mpi: $words" err
    grep -q 'none: the budget does not pay' out || grep -q -- '--time=[23] ' out
}
window 2m 1m50s --account brief
window 3m 2m50s --account open --sbatch --qos=hasty
window 3m 2m50s --account open --sbatch --qos=hasty -b account
grep -q 'QOS hasty: 0 of 60 billing-minutes are used' err
# A bill of 1 counts twice: half an hour of 60 minutes is left, not 0.84.
grep -q 'none: the budget does not pay one' out
ok 'jobs ask for no more time than account and QOS allow, nor for more money'
rm ran
alloc bag.txt --account brief --max-jobs 1
test "$(sort -u ran | wc -l)" -eq 12
ok 'and so they start'

# ---- whole cores, and no charge ----

sed -i -e '/^NodeName=fast/s/CPUs=64/Sockets=1 CoresPerSocket=32 ThreadsPerCore=2/' \
    -e '/^PartitionName=slow/s/CPU=3.0/CPU=0/' "$SLURM_CONF"
controller >>out 2>&1
rm ran bag.txt.bats*
alloc bag.txt --account open --max-jobs 1 --slots 3 --window 20s
grep -q 'in a window of 20s: fast 0.177778' err # 4 threads at 8
test "$(sort -u ran | wc -l)" -eq 12
agrees bag.txt
ok 'three slots are billed as two whole cores'
rm ran bag.txt.bats*
alloc bag.txt --account open --max-jobs 1 -p slow --window 20s -b 0.1
test "$(sort -u ran | wc -l)" -eq 12
test "$(charged bag.txt)" = 0.000000
ok 'a partition that is free of charge does the bag'
done_testing
