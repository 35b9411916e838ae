#!/bin/bash
# bags.sh [BAG...]: five bags on jobs that alloc buys, in the test bed of
# tests/slurm, beside an sbatch array of one job per task: at most 24 jobs at a
# time, partitions slow, mid and fast that bill 3, 5 and 8 per core-hour, on which
# tasks run 1, 1.5 and 2 times as fast (b5: 1, 2.5 and 4). A line for each bag and
# way: what sacct says all jobs were billed (rate x seconds), and the wall time.
# As root, from the top of the sources, after make. Load changes wall times more
# than bills.
top=${TOP:-$PWD}
export TOP=$top BATS_MPI=${BATS_MPI:-$top/build/bats-mpi}
[ -n "${BED-}" ] || exec sh "$top/tests/slurm/testbed.sh" bash "$0" "$@"
. "$top/tests/slurm/lib.sh"
. "$top/tests/slurm/accounts.sh"
trap - ERR
{
    sacctmgr -i add account phys
    sacctmgr -i add user root account=phys
} >out 2>&1
cat >>"$SLURM_CONF" <<CONF
PartitionName=mid Nodes=slow[1-4] TRESBillingWeights="CPU=5.0"
SchedulerParameters=sched_min_interval=0,sched_interval=1,bf_interval=1
CONF
controller

# task SECONDS: `s` says for how long that is on this partition.
cat >task <<'SH'
case ${SLURM_JOB_PARTITION} in
slow) s=$1 ;;
mid) s=$(echo "$1 / $MID" | bc -l) ;;
*) s=$(echo "$1 / $FAST" | bc -l) ;;
esac
exec sleep "$s"
SH
bag() {
    MID=1.5 FAST=2
    case $1 in
    b1) yes 3 | head -n 200 ;;
    b2) yes 12 | head -n 80 ;;
    b3) yes 40 | head -n 32 ;;
    b4) for i in $(seq 80); do echo $((i % 16 ? 8 : 24)); done ;;
    b5) yes 22 | head -n 60 ;;
    esac >times
    [ "$1" != b5 ] || MID=2.5 FAST=4
    export MID FAST
    sed 's/^/sh task /' times >bag
}
bill() { # SACCT-OPTION...
    until ! sacct -X -D -n -P -o End "$@" | grep -q Unknown; do sleep 0.5; done
    sacct -X -D -n -P -S now-1hours -o ElapsedRaw,AllocTRES "$@" |
        awk -F'|' 'sub(/.*billing=/, "", $2) { sum += $1 * $2 }
            END { print sum }'
}
array() { # PARTITIONS
    local from=$(date +%s%N) id
    id=$(sbatch --parsable -p "$1" -n1 -o /dev/null \
        --array=1-$(wc -l <times)%24 --wrap \
        'exec sh task $(sed -n ${SLURM_ARRAY_TASK_ID}p times)')
    while squeue -h -j "$id" 2>/dev/null | grep -q .; do sleep 0.2; done
    wall=$((($(date +%s%N) - from) / 100000000))
    bill=$(bill -j "$id")
}
alloc() { # OPTION...
    local from=$(date +%s%N)
    rm -f bag.bats*
    bats-mpi alloc bag -p slow,mid,fast --max-jobs 24 --host 10.77.0.1 "$@" \
        >out 2>err
    code=$?
    wall=$((($(date +%s%N) - from) / 100000000))
    bill=$(bill --name="$(sqlite3 bag.bats 'SELECT jobs_name FROM session')")
}
row() { # BAG WAY
    printf '%s | %s | %s | %s.%s%s\n' "$1" "$2" "$bill" $((wall / 10)) \
        $((wall % 10)) "${code:+ (exit $code)}"
    code=
}
for name in ${*:-b1 b2 b3 b4 b5}; do
    bag $name
    array slow,mid,fast
    list=$bill
    row $name 'array, list'
    array fast
    row $name 'array, fast'
    alloc
    row $name alloc
    for share in ${SHARES:-1.1 1.5}; do
        alloc -b "$(awk -v l="$list" -v s="$share" 'BEGIN { printf "%.4f", l * s / 3600 }')"
        row $name "alloc, $share of the list's bill"
        tail -n 30 err >"$top/build/bags.$name.$share.err"
    done
done
