#!/bin/bash
# An open bag on machines that are bought as jobs of their own.
. "$TOP/tests/slurm/lib.sh"
unset BATS_SOCKET
configure KillWait=2

# buy RECORD ARGUMENT...: an open bag on jobs of two slots, into out and err.
buy() {
    bats-mpi alloc --open --record "$1.bats" --host 10.77.0.1 --poll 1s \
        -p fast --slots 2 --max-jobs 2 --silence 20s --grace 1s "${@:2}" \
        >out 2>err
}
ask() { sqlite3 "$1.bats" "$2"; }
agrees() { # RECORD
    same "$(billed_by_squeue "$1")" "$(charged "$1")"
}

# ---- as tasks come ----

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
test "$(cat none)" = 0
test "$(cat wide)" = 2
test "$(tail -n 1 ran)" = again
test "$(ask come "SELECT min(n) > 1 FROM (SELECT count(*) AS n FROM happened
    WHERE what = 'joined')")" = 1
agrees come
bats-mpi record verify come.bats >>out
ok 'jobs are bought when tasks come, leave when there are none, and come again'
test "$(cat limit)" = 124
test "$(wc -l <refused)" = 3
grep -q 'largest machine, fast-1, has 2 ranks' err
grep -q 'needs memory, and that of worker jobs is unknown: give' err
ok 'cores and limits are honoured, and what a job does not have is refused'
buy memory --sbatch --mem=600 --max-jobs 1 -- sh -c '
    bats-submit --wait --memory 400M -- sh -c "touch on; sleep 1; rm on" &
    until [ -e on ]; do sleep 0.1; done
    bats-submit --wait --memory 300M -- sh -c "! [ -e on ]" && touch apart
    wait
    ! bats-submit --memory 700M true'
test -e apart
grep -q 'needs 700M of memory; the largest machine, fast-1, has 600M' err
buy default --memory 150M -- sh -c '
    bats-submit --wait true; squeue -h -O minmemory -n "$(squeue -h -t R -o %j | sort -u)" >asked
    bats-submit --wait --memory 300M true; ! bats-submit --memory 301M true'
grep -qw 300M asked
ok 'memory is honoured where jobs ask for it: by --mem, or for the default task'

# ---- the budget ----

expect 4 buy money -b 0.45 --window 20s --guarantee limit -- sh -c '
    while bats-submit --wait "sleep 5"; do :; done'
test "$(ask money 'SELECT total(amount) BETWEEN 100000 AND 450000 FROM charge')" = 1
agrees money
ok 'no more than the budget is charged, and then the run ends'

# ---- killed and resumed ----

cat >driver <<'D'
for i in 1 2 3 4 5 6; do
    bats-submit --key $i "until [ -e go ]; do sleep 0.1; done; echo $i >>done"
done >ids.$1
echo $PPID $$ >pids
touch submitted
exec sleep "$2"
D
{ buy kill -b 100 -- sh driver 1 600 || :; } & run=$!
within 60 test -e submitted
busy() { bats-mpi status --json kill.bats | grep -q '"running": *4'; }
within 60 busy
kill -KILL $(cat pids)
wait $run
before=$(squeue -h -t R -o %i | sort | tr '\n' ' ')
buy kill -b 100 --resume -- sh driver 2 1 & run=$!
within 60 grep -q '2 jobs of an earlier session taken over' err
within 60 busy
test "$(squeue -h -t R -o %i | sort | tr '\n' ' ')" = "$before"
touch go
expect 0 wait $run
test "$(sort done | tr '\n' ' ')" = '1 2 3 4 5 6 '
cmp ids.1 ids.2
bats-mpi record verify kill.bats >>out
ok 'killed and resumed, it goes on with its jobs and all its tasks'
done_testing
