#!/bin/bash
# An open bag on machines that are bought as jobs of their own.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"
unset BATS_SOCKET
configure KillWait=2

# buy RECORD ARGUMENT...: an open bag on jobs of two slots, into out and err.
buy() {
    bats-mpi alloc --open --record "$1.bats" $common -p fast --slots 2 \
        --max-jobs 2 --silence 20s --grace 1s "${@:2}" >out 2>err
}

cat >driver <<'D'
jobs() { squeue -h -o '%j' | grep -vc bats-price; }
jobs >none
bats-submit --stdin <<'T' >ids
{"submit":"echo $BATS_MACHINE >>ran; sleep 0.5","class":"one"}
{"submit":"echo $OMP_NUM_THREADS >>wide; sleep 0.5","cores":2,"after":[1]}
T
until [ -z "$(bats-state)" ]; do sleep 0.2; done
until [ "$(jobs)" = 0 ]; do sleep 0.2; done
bats-submit --wait 'echo again >>ran'
bats-submit --wait --limit 1s 'sleep 100'
echo $? >limit
for wrong in '--cores 3' '--gpus 1' '--memory 1G'; do
    bats-submit $wrong true || echo "$wrong" >>refused
done
D
buy come -b 100 -- bash driver
consists <(cat none wide; tail -n 1 ran) 0 2 again
test "$(sql come.bats "SELECT min(n) > 1 FROM (SELECT count(*) AS n FROM happened
    WHERE what = 'joined')")" = 1
settled come
ok 'jobs are bought when tasks come, leave when there are none, and come again'
test "$(cat limit)" = 124
test "$(wc -l <refused)" = 3
finds err 'largest machine, fast-1, has 2 ranks' \
    'needs memory, and that of worker jobs is unknown: give'
buy memory --sbatch --mem=600 --max-jobs 1 -- sh -c '
    bats-submit --wait --memory 400M -- sh -c "touch on; sleep 1; rm on" &
    until [ -e on ]; do sleep 0.1; done
    bats-submit --wait --memory 300M -- sh -c "! [ -e on ]" && touch apart
    wait
    ! bats-submit --memory 700M true'
test -e apart
grep -q 'needs 700M of memory; the largest machine, fast-1, has 600M' err
buy default --memory 150M -- sh -c '
    bats-submit --wait true; squeue -h -t all -O minmemory >asked
    bats-submit --wait --memory 300M true; ! bats-submit --memory 301M true'
grep -qw 300M asked
ok 'cores, limits and memory are honoured; what a job does not have is refused'

expect 4 buy money -b 0.45 --window 20s --guarantee limit -- sh -c '
    while bats-submit --wait "sleep 5"; do :; done'
test "$(sql money.bats 'SELECT total(amount) BETWEEN 100000 AND 450000
    FROM charge')" = 1
settled money
ok 'no more than the budget is charged, and then the run ends'

cat >driver <<'D'
for i in 1 2 3 4 5 6; do
    bats-submit --key $i "until [ -e go ]; do sleep 0.1; done; echo $i >>done"
done >ids.$1
echo $PPID $$ >pids
touch submitted
exec sleep "$2"
D
{ buy kill -b 100 --silence 1m -- sh driver 1 600 || :; } & run=$!
within 60 test -e submitted
busy() { bats-mpi status --json kill.bats | grep -q '"running": *4'; }
within 60 busy
kill -KILL $(cat pids)
wait $run
running() { squeue -h -t R -o %i | sort | xargs; }
before=$(running)
buy kill -b 100 --silence 1m --resume -- sh driver 2 1 & run=$!
within 60 grep -q '2 jobs of an earlier session taken over' err
within 60 busy
test "$(running)" = "$before"
touch go
expect 0 wait $run
test "$(sort done | xargs)" = '1 2 3 4 5 6'
cmp ids.1 ids.2
bats-mpi record verify kill.bats >>out
ok 'killed and resumed, it goes on with its jobs and all its tasks'
done_testing
