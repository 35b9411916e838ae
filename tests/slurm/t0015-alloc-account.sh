#!/bin/bash
# Jobs bought within what is left of an account, billed by slurmdbd; and jobs
# that Slurm gives less time than they ask for.
export BED_ENERGY=1
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/alloc.sh"
common="$common -p fast --slots 2"

# 16 per hour, and a job may be billed for 60 s, KillWait (30 s) and 5 s: 25.3
# billing-minutes. 60 pay two at a time, but not three.
{
    sacctmgr -i add account small GrpTRESMins=billing=60
    sacctmgr -i add account open
    sacctmgr -i add user root account=open,small
} >out 2>&1
controller >>out 2>&1

jobs() { # BAG COLUMNS
    sacct -X -n -P -o "$2" \
        -j "$(squeue -h -t all -o %i -n "$(name_of "$1")" | paste -sd,)"
}
# agrees BAG: what was charged, with what sacct says, in billing-hours.
agrees() {
    test "$(charged "$1")" != 0.000000
    same "$(jobs "$1" ElapsedRaw,AllocTRES |
        awk -F'|' 'sub(/.*billing=/, "", $2) { sum += $1 * $2 }
            END { printf "%.6f\n", sum / 3600 }')" "$(charged "$1")"
    bats-mpi record verify "$1" >>out
}
# buys BAG N OPTION...: all N tasks are done.
buys() {
    rm -f ran.$1 $1.bats*
    alloc "$1" "${@:3}"
    ran $1 $2
}

tasks bag 12
buys bag 12 -b account --account small --max-jobs 8 --window 20s
grep -q 'account small: 0 of 60 billing-minutes are used' err
test "$(sql bag.bats "SELECT max(n) FROM (
    SELECT sum(what = 'acquire') OVER (ORDER BY seq) -
        sum(what = 'billed') OVER (ORDER BY seq) AS n FROM happened)")" -eq 2
agrees bag
test "$(jobs bag Account | sort -u)" = small
ok 'an account pays as many jobs as it can hold, and they are billed to it'
sacctmgr -i modify account small set GrpTRESMins=billing=20 >>out 2>&1
cp bag none
exits 4 'does not pay one job: 0.422223 billing-h are held for one in' \
    alloc none -b account --account small --window 20s
test ! -s none.bats
test "$(squeue -h -t all -o %j | sed '/^bats-price-/d' | sort -u)" = \
    "$(name_of bag)"
ok 'what it cannot hold is not submitted'

for i in $(seq 8); do
    echo "hostname >>where; until test -e go; do sleep 0.1; done; echo $i >>ran.wide"
done >wide
# Slurm bills whole seconds.
has_run() { ! squeue -h -t R -o %M | grep -qx '0:00'; }
start wide --account open --nodes 2 --max-jobs 1 --window 1m
within 120 lines where 4
within 60 has_run
sort where | uniq -c | awk '$1 != 2 { bad = 1 } END { exit bad || NR != 2 }'
touch go
expect 0 wait $master
sort -n ran.wide | diff - <(seq 8)
test "$(jobs wide NNodes)" = 2
agrees wide
ok 'all ranks of a job on two nodes take tasks, and it is charged as sacct says'

# Three nodes are busy for three minutes, and then somebody wants all four: the
# fourth is free until then.
blocks() { sbatch --parsable -A open -p fast --exclusive -o /dev/null "$@"; }
busy=$(blocks -N3 --time=3 --wrap 'sleep 600')
within 60 job_is "$busy" RUNNING
next=$(blocks -N4 --time=5 --wrap 'true')
tasks short 6 0.5
buys short 6 --account open --max-jobs 1 --window 10m --time-min 1m
scancel "$next" "$busy"
test "$(sql short.bats "SELECT count(*) FROM happened
    WHERE what = 'ends' AND value BETWEEN 1 AND 180e6")" -ge 1
agrees short
ok 'a job that gets less time starts at once, and the engine knows its end'

{
    sacctmgr -i add account brief MaxWall=00:02:00
    sacctmgr -i add user root account=brief
    sacctmgr -i add qos hasty MaxWall=00:03:00 UsageFactor=2 \
        GrpTRESMins=billing=60
    sacctmgr -i modify user root set qos+=hasty
} >out 2>&1
# window TIME WINDOW OPTION...: jobs of the default window would wait for ever.
window() {
    alloc bag -n "${@:3}"
    grep -qx "bats-mpi: a job in partition fast may ask for $1 at most: the window is $2" err
    grep -q 'none: the budget does not pay' out || grep -q -- '--time=[23] ' out
}
window 2m 1m50s --account brief
window 3m 2m50s --account open --sbatch --qos=hasty
window 3m 2m50s --account open --sbatch --qos=hasty -b account
grep -q 'QOS hasty: 0 of 60 billing-minutes are used' err
# A bill of 1 counts twice: half an hour of 60 minutes is left, not 0.84.
grep -q 'none: the budget does not pay one' out
buys bag 12 --account brief --max-jobs 1
ok 'jobs ask for no more time than account and QOS allow, nor for more money'

sed -i -e '/^NodeName=fast/s/CPUs=64/Sockets=1 CoresPerSocket=32 ThreadsPerCore=2/' \
    -e '/^PartitionName=slow/s/CPU=3.0/CPU=0/' "$SLURM_CONF"
controller >>out 2>&1
buys bag 12 --account open --max-jobs 1 --slots 3 --window 20s
grep -q 'in a window of 20s: fast 0.177778' err # 4 threads at 8
agrees bag
ok 'three slots are billed as two whole cores'
buys bag 12 --account open --max-jobs 1 -p slow --window 20s -b 0.1
test "$(charged bag)" = 0.000000
ok 'a partition that is free of charge does the bag'

# heats BAG: its task counts up 65536 joules seven times, further than the bag before
# it. Slurm may see 1 joule or nothing if it looks late.
heats() {
    echo "for i in 0 1 2 3 4 5 6; do sleep 0.5; printf \"\\\\0\\\\0\\\\$1\$i\" |" \
        "dd of=$BED/cpu/0/msr bs=3 seek=1553 oflag=seek_bytes conv=notrunc; done" >$1
}
# has_energy BAG JOULES: its report, its status.
has_energy() {
    holds ".clusters[0] | (.energy_kwh * 3600000 - $2 | fabs < 0.001),
        (.co2_kg - .energy_kwh * 350 / 1000 | fabs < 1e-9)"
    grep -q '  kWh  kg CO2$' err
    tells '  kWh  kg CO2$' status $1
}
export BATS_GRAMS_PER_KWH=350
for bag in {1..7}; do
    heats $bag
    alloc $bag --account open --max-jobs 1 -b 10 --json report
    joules=$(jobs $bag AllocTRES | grep -o 'energy=[0-9]\{4,\}' | cut -d= -f2)
    [ -z "$joules" ] || break
done
test "$(sql $bag.bats 'SELECT energy_j FROM lease')" = "$joules"
has_energy $bag $joules
verb report $bag
grep -q '"energy_kwh":' $bag.html
ok 'the bill has the energy that the accounting has measured for a job'

for bag in {10..16}; do
    heats $bag
    srun -A open -p fast -n 2 bats-mpi $bag -b 10 --json report >out 2>err
    joules=$(sql $bag.bats 'SELECT total(energy_j) FROM lease WHERE machine IS NULL')
    [ "${joules%.*}" -lt 1000 ] || break
done
has_energy $bag $joules
job=$(sql $bag.bats 'SELECT job FROM session')
within 30 told COMPLETED sacct -j "$job.0" -n -o State
measured=$(sacct -j "$job.0" -n -P -o ConsumedEnergyRaw)
test "${joules%.*}" -ge 1000
test "${joules%.*}" -le "$measured"
ok 'so has that of a run in a job, as it is measured before the job ends'
done_testing
