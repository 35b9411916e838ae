#!/bin/bash
# Faults that befall alloc: a full queue, Ctrl-C, a preempted job, its own
# death.
. "$TOP/tests/slurm/lib.sh"
configure KillWait=2

# start BAG ARGUMENT...: bats-mpi alloc as $master, in the background.
start() {
    bag=$1
    shift
    bats-mpi alloc "$bag" --host 10.77.0.1 --poll 1s --silence 5s --grace 1s \
        "$@" >out 2>err &
    master=$!
}
agrees() { # BAG
    same "$(billed_by_squeue "$1")" "$(charged "$1")"
}
ran() { test "$(sort -u "ran.$1" 2>/dev/null | wc -l)" -ge "$2"; }
tasks() { for i in $(seq "$2"); do echo "sleep 0.5; echo $i >>ran.$1"; done >"$1"; }

# ---- ended while it asks for a price ----

# This sbatch hands a job in, and answers when there is a file `go`.
mkdir slow
cat >slow/sbatch <<SH
#!/bin/sh
answer=\$($(command -v sbatch) "\$@")
touch '$BED/handed-in'
until [ -e '$BED/go' ]; do sleep 0.05; done
echo "\$answer"
SH
chmod +x slow/sbatch
held() { squeue -h -t PD -o '%j %r' | grep -c '^bats-price-.* JobHeld' || :; }
# asks SIGNAL: it gets the signal while the job is held.
asks() {
    rm -f handed-in go
    PATH=$PWD/slow:$PATH start price -p fast --max-jobs 1 --window 20s --resume
    within 60 test -e handed-in
    test "$(held)" -eq 1
    kill "-$1" $master
    touch go
}
tasks price 1
asks TERM # (SIGINT is ignored by what a script has started in the background)
expect 143 wait $master
test "$(held)" -eq 0
ok 'a run that is ended leaves no job by which it asked for a price'
asks KILL
expect 137 wait $master
test "$(held)" -eq 1
start price -p fast --max-jobs 1 --window 20s --resume
expect 0 wait $master
test "$(held)" -eq 0
ok 'nor after the next session, if it was killed then'

# ---- nothing comes ----

# says JOBS REASON: so many wait, and why.
says() {
    grep -qE "$1 in the queue of Slurm, the oldest for [0-9]+s: ($2)\$" err
}
scontrol update PartitionName=fast State=DOWN
tasks down 8
start down -p fast --slots 2 --max-jobs 2 --window 30s
within 60 says "2 jobs wait" PartitionDown
scontrol update PartitionName=fast State=UP
expect 0 wait $master
ran down 8
ok 'when nothing comes, it says so, and why; when the way is free, jobs come'

job=$(sbatch --parsable -p fast -N4 --exclusive -o /dev/null --wrap 'sleep 600')
within 60 job_is "$job" RUNNING
tasks bag 40
start bag -p fast --slots 64 --max-jobs 3 --window 30s
# The record of a run that goes on is locked: only its jobs have such names. One
# that is held only asks for a price.
waiting() {
    squeue -h -t PD -o '%i %j %r' | sed -n '/JobHeld/d; s/ bats-.*//p'
}
waits() { test "$(waiting | wc -l)" -ge 1; }
within 60 waits
ok 'jobs wait in the queue'
within 60 says "[0-9]+ jobs? waits?" 'Resources|Priority'
ok 'it says that machines are taken'
kill -INT $master
expect 130 wait $master
none_left bag
agrees bag
ok 'after Ctrl-C none of them is left'
test "$(sqlite3 bag.bats 'SELECT total(amount) FROM charge WHERE account = 0')" = 0.0
ok 'and none has cost anything'

# ---- killed while they wait, and while they run ----

start bag -p fast --slots 64 --max-jobs 3 --window 30s
within 60 waits
waiting >before
kill -KILL $master
wait $master 2>/dev/null || :
start bag -p fast --slots 64 --max-jobs 3 --window 30s --resume
within 60 grep -q 'of an earlier session taken over' err
scancel "$job"
expect 0 wait $master
test "$(sort -u ran.bag | wc -l)" -eq 40
none_left bag
agrees bag
bats-mpi record verify bag >>out
ok 'a run that was killed goes on, and no job is left or forgotten'
SLURM_TIME_FORMAT=%s squeue -h -t all -j "$(paste -sd, before)" \
    -O EndTime:20,StartTime:20 | awk '$1 > $2 { n++ } END { exit !n }'
ok 'jobs that were waiting were taken over'

# Jobs that run wait for another master, for --silence.
tasks again 60
start again -p fast --slots 2 --max-jobs 2 --window 60s --silence 30s
within 60 ran again 6
kill -KILL $master
wait $master 2>/dev/null || :
start again -p fast --slots 2 --max-jobs 2 --window 60s --silence 30s --resume
expect 0 wait $master
test "$(sort -u ran.again | wc -l)" -eq 60
test "$(sqlite3 again.bats 'SELECT done FROM progress')" -eq 60
test "$(SLURM_TIME_FORMAT=%s squeue -h -t all -n "$(name_of again)" \
    -O EndTime:20,StartTime:20 | awk '$1 > $2' | wc -l)" -eq 2
none_left again
agrees again
bats-mpi record verify again >>out
ok 'jobs that were running go on for the run that is resumed'

# What ends while there is no run is not done again.
for i in 1 2 3 4; do
    echo "echo $i >>begun; until test -e may.$i; do sleep 0.1; done; \
echo $i >>ended"
done >held
begun() { test "$(cat begun 2>/dev/null | wc -l)" -eq "$1"; }
ended() { test "$(cat ended 2>/dev/null | wc -l)" -eq "$1"; }
start held -p fast --slots 2 --max-jobs 1 --window 120s --silence 60s
within 60 begun 2
kill -KILL $master
wait $master 2>/dev/null || :
touch may.1 may.2 may.3 may.4
within 60 ended 2
start held -p fast --slots 2 --max-jobs 1 --window 120s --silence 60s --resume
expect 0 wait $master
sort begun | diff - <(seq 4)
grep -q 'worker job [0-9]* is back: ' err
test "$(sqlite3 held.bats 'SELECT count(*), count(DISTINCT task)
    FROM execution WHERE attempt NOT NULL')" = '4|4'
none_left held
agrees held
bats-mpi record verify held >>out
ok 'results of tasks that ended without a run are not lost'

# Or they end meanwhile.
tasks gone 20
start gone -p fast --slots 2 --max-jobs 1 --window 60s
within 60 ran gone 2
kill -KILL $master
wait $master 2>/dev/null || :
have_ended() { test -z "$(squeue -h -t R,CG -o %j | grep ^bats-)"; }
within 60 have_ended
start gone -p fast --slots 2 --max-jobs 1 --window 60s --resume
expect 0 wait $master
expect 1 grep -q 'taken over' err
none_left gone
agrees gone
ok 'jobs that ended meanwhile are charged for the time they were held'

# ---- preempted ----

tasks cheap 60
start cheap -p preemptible --slots 2 --max-jobs 2 --window 60s \
    --sbatch '-x slow[2-4]'
within 60 ran cheap 4
srun -p slow -w slow1 --exclusive sleep 2
expect 0 wait $master
test "$(sort -u ran.cheap | wc -l)" -eq 60
none_left cheap
agrees cheap
test "$(sqlite3 cheap.bats "SELECT count(*) FROM happened
    WHERE what = 'billed'")" -gt 2
ok 'the tasks of a preempted job run in another one'

# ---- drained ----

for i in $(seq 6); do
    echo "hostname >>on; until test -e go.\$(hostname); do sleep 0.1; done; \
echo $i >>ran.drained"
done >drained
on() { test "$(cat on 2>/dev/null | wc -l)" -eq "$1"; }
start drained -p fast --slots 2 --max-jobs 1 --window 120s
within 60 on 2
node=$(sort -u on)
scontrol update NodeName="$node" State=DRAIN Reason=test
within 60 grep -q "$node is drained: machine .* gets no more tasks" err
touch go.fast{1,2,3,4}
expect 0 wait $master
test "$(sort -u ran.drained | wc -l)" -eq 6
test "$(grep -cx "$node" on)" -eq 2
none_left drained
agrees drained
bats-mpi record verify drained >>out
ok 'a job on a node that is drained ends its tasks and is given back'
scontrol update NodeName="$node" State=RESUME

# ---- the controller is away ----

ctld=$(cat slurmctld.pid)
kill -STOP "$ctld"
mkdir away # scontrol itself waits for half a minute
printf '#!/bin/sh\nexec timeout 1 %s "$@"\n' "$(command -v scontrol)" \
    >away/scontrol
chmod +x away/scontrol
PATH=$PWD/away:$PATH start drained -p fast --slots 2 --resume
expect 3 wait $master
grep -q 'Slurm does not answer' err
kill -CONT "$ctld"
ok 'a controller that does not answer is a fault of the system, not of the user'

# ---- in a job of its own ----

tasks own 8
own=$(sbatch --parsable -p slow -n1 -o own.out --wrap "bats-mpi alloc own \
    -p fast --slots 2 --max-jobs 2 --window 20s --poll 1s -b 50 \
    --host \$(hostname -I)")
within 120 job_is "$own" 'COMPLETED|FAILED|CANCELLED|TIMEOUT'
cp own.out err
test "$(sort -u ran.own | wc -l)" -eq 8
# A charge without a machine is the run's own job: 3 per hour.
sqlite3 own.bats "SELECT total(amount) FILTER (WHERE machine IS NULL) / 3e6
    * 3600, total(amount) FILTER (WHERE machine IS NOT NULL) FROM charge" |
    awk -F'|' -v held="$(SLURM_TIME_FORMAT=%s squeue -h -t all -j "$own" \
        -O StartTime:20,EndTime:20 | awk '{ print $2 - $1 }')" '{
        print $1, held; exit !($1 > 0 && $1 <= held + 1 && $1 >= held - 3 &&
                               $2 > 0) }' >out
ok 'the job that the run is in counts, too'

# ---- jobs that cannot join ----

# They do not find srun.
tasks bad 4
start bad -p fast,slow --slots 2 --max-jobs 1 --window 20s \
    --sbatch '--export=PATH=/nowhere'
expect 3 wait $master
grep -c 'job [0-9]* in partition fast ended before it joined: .*srun: No such file or directory' \
    err | grep -qx 3
grep -q 'no more jobs are asked for in partition fast' err
grep -q 'no more jobs are asked for in partition slow' err
grep -q 'no partition is left: the run ends' err
none_left bad
agrees bad
ok 'where jobs only fail, it says why, and no more are asked for'
test "$(grep -c '^---- job ' bad.bats.jobs)" -eq 6
expect 2 ls bad.bats.jobs.* 2>out
ok 'what they printed is kept in one file'
expect 2 bats-mpi alloc bad -p fast --sbatch '--mem=4G --requeue' 2>err
grep -q -- '--sbatch --requeue: a job that is queued again is billed' err
ok 'options of sbatch that would break the bill are refused'
done_testing
