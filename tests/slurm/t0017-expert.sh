#!/bin/bash
# Worker jobs in a partition whose jobs make way, and in a safe one: what is
# preempted, and what is on a node that dies, is lost to the policy expert. The
# bill is what Slurm's accounting says of both partitions.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"
printf '%s\n' KillWait=2 SlurmdTimeout=6 >>"$SLURM_CONF"
. "$TOP/tests/slurm/accounts.sh"
{
    sacctmgr -i add account phys
    sacctmgr -i add user root account=phys
} >out 2>&1
controller >>out 2>&1

common="$common -p preemptible,fast --policy expert"
pools='--unreliable preemptible -A phys --slots 2 --max-jobs 3 --window 50s'
# accounts STATE...: jobs of the run, a line each: partition, state,
# billing-hours.
accounts() {
    sacct -D -X -n -P --name "$(name_of bag)" -S now-1hour \
        -o Partition,State,ElapsedRaw,AllocTRES |
        sed 's/ by [0-9]*//; s/|\([0-9]*\)|.*billing=\([0-9]*\).*/ \1 \2/; y/|/ /' |
        awk '{ printf "%s %s %.9f\n", $1, $2, $3 * $4 / 3600 }'
}
# agrees PARTITION: what its jobs were billed is charged, each rounded up.
agrees() {
    awk -v partition="$1" -v charged="$(sql bag.bats "SELECT
            total(charged) FROM cost_by_cluster WHERE cluster = '$1'")" '
        $1 == partition { sum += $3; n++ }
        END { print partition, n, sum, charged
            exit !(n > 0 && charged > 0 && (charged - sum) ^ 2 < 1e-8) }' \
        accounts >>out
}

# Three of the tasks end only where it is safe.
for i in $(seq 60); do
    [ "$i" -gt 3 ] || printf '[ $BATS_CLUSTER = fast ] || sleep 1000; '
    echo "sleep 2; echo $i >>ran.bag"
done >bag
: >ran.bag
exits 2 'needs --unreliable' alloc bag
ok 'partitions that lose jobs have to be named'

start bag $pools --silence 5s --grace 1s --strategy TRR -b 5
within 60 ran bag 4
node() { squeue -h -t R -p preemptible -o %N | grep -m 1 .; }
first=$(node)
srun -A phys -p slow -w "$first" --exclusive sleep 1 2>>err
within 60 has_lines $(($(wc -l <ran.bag) + 4)) ran.bag
second=$(node)
kill -KILL "$(cat "node.$second")"
expect 0 wait $master
ran bag 60
ok 'the bag is done though jobs are preempted and a node dies'
grep "on $second is lost" err >>out
sql bag.bats "SELECT count(*) FILTER (WHERE what = 'lose'),
    count(DISTINCT machine) FILTER (WHERE what = 'lost') FROM happened" >lost
awk -F'|' '{ exit !($1 > 1 && $2 > 1) }' lost
test "$(sql bag.bats "SELECT json_extract(options, '\$.engine.noticed_us')
    FROM session")" = '[5000000,0]'
ok 'their executions are lost, and the engine is told that losses are noticed'
# The accounting learns of the last jobs a little later.
agree() {
    accounts >accounts
    agrees preemptible && agrees fast
}
within 60 agree
cat accounts >>out
grep -q '^fast ' accounts
bats-mpi record verify bag >>out
ok 'what is charged is what the accounting has billed in both; the tail is safe'
bats-mpi frontier bag --plays 2 | tee frontier >>out
grep -qE ' [3-6] unreliable slots, where [0-9]{2}\.' frontier
ok 'the frontier of the next run knows how many were there and answered'
done_testing
