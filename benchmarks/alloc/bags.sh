#!/bin/bash
# bags.sh [BAG...]: five bags on jobs that alloc buys, in the test bed of
# tests/slurm, beside an sbatch array of one job per task: at most 24 jobs at a
# time, partitions slow, mid and fast that bill 3, 5 and 8 per core-hour, on which
# tasks run 1, 1.5 and 2 times as fast (b5: 1, 2.5 and 4).
# As root, from the top of the sources, after make, alone on the machine.
#
#   bash benchmarks/alloc/bags.sh            all bags three times: about 80 minutes
#   bash benchmarks/alloc/bags.sh b1 b4      only these
#   REPEATS=1 SHARES='1.1 1.5' COST=1 ...    once; more budgets; least cost
#
# A line for each run as it ends: what sacct says all jobs were billed (rate x
# seconds), and the wall time. Then a table: medians, least and most.
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
# row BAG WAY: a line for people, and one for the table.
row() {
    wall=$(awk -v w="$wall" 'BEGIN { printf "%.1f", w / 10 }')
    printf '%s | %s | %s | %s%s\n' "$1" "$2" "$bill" "$wall" \
        "${code:+ (exit $code)}"
    printf '%s|%s|%s|%s|%s\n' "$1" "$2" "$bill" "$wall" "${code:-0}" >>rows
    code=
}
echo "load $(cut -d ' ' -f 1-3 /proc/loadavg)"
for repeat in $(seq "${REPEATS:-3}"); do
    for name in ${*:-b1 b2 b3 b4 b5}; do
        bag $name
        array slow,mid,fast
        list=$bill
        row $name 'array, list'
        for partition in slow mid fast; do # b5: fast is best for both
            array $partition
            row $name "array, $partition"
        done
        alloc
        row $name alloc
        for share in ${SHARES:-1.1}; do
            alloc -b "$(awk -v l="$list" -v s="$share" \
                'BEGIN { printf "%.4f", l * s / 3600 }')"
            row $name "alloc, $share of the list's bill"
        done
        if [ -n "${COST-}" ]; then
            alloc --minimize cost
            row $name 'alloc, least cost'
        fi
    done
done
# Medians, least and most of all repeats, and the medians' ratios to the arrays.
awk -F'|' '
    function median(of, n,  i, k, t) {
        for (i = 2; i <= n; i++)
            for (k = i; k > 1 && v[of, k] < v[of, k - 1]; k--) {
                t = v[of, k]; v[of, k] = v[of, k - 1]; v[of, k - 1] = t
            }
        return n % 2 ? v[of, (n + 1) / 2] : (v[of, n / 2] + v[of, n / 2 + 1]) / 2
    }
    function cell(of) { return median(of, n[of]) " (" v[of, 1] " - " v[of, n[of]] ")" }
    {
        key = $1 "|" $2
        if (!(key in left)) order[++rows] = key
        v["b" key, ++n["b" key]] = $3 + 0
        v["w" key, ++n["w" key]] = $4 + 0
        left[key] += $5 != 0
    }
    END {
        print "| bag | way | billed (least - most) | wall, s | to the list: bill" \
            " | wall | to fast: bill | wall | runs with tasks left |"
        print "|---|---|--:|--:|--:|--:|--:|--:|--:|"
        for (i = 1; i <= rows; i++) {
            key = order[i]
            split(key, part, "|")
            l = part[1] "|array, list"
            f = part[1] "|array, fast"
            b = median("b" key, n["b" key])
            w = median("w" key, n["w" key])
            printf "| %s | %s | %s | %.2f | %.2f | %.2f | %.2f | %d |\n",
                part[1] " | " part[2], cell("b" key), cell("w" key),
                b / median("b" l, n["b" l]), w / median("w" l, n["w" l]),
                b / median("b" f, n["b" f]), w / median("w" f, n["w" f]),
                left[key]
        }
    }' rows | tee "$top/build/bags.table"
