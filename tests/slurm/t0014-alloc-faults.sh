#!/bin/bash
# Faults that befall alloc: a full queue, Ctrl-C, a drained node, its own death.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/alloc.sh"
configure KillWait=2
common="$common --silence 5s --grace 1s"

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
held() { # N
    test "$(squeue -h -t PD -o '%j %r' | grep '^bats-price-.* JobHeld' | wc -l)" -eq $1
}
price='price -p fast --max-jobs 1 --window 20s --resume'
# asks SIGNAL CODE: it gets the signal while the job is held.
asks() {
    rm -f handed-in go
    PATH=$PWD/slow:$PATH start $price
    within 60 test -e handed-in
    held 1
    kill "-$1" $master
    touch go
    expect $2 wait $master
}
tasks price 1
asks TERM 143 # (SIGINT is ignored by what a script has started in the background)
held 0
asks KILL 137
held 1
start $price
expect 0 wait $master
held 0
ok 'a run that is ended leaves no job by which it asked for a price; killed, the next'

# ---- nothing comes ----

# says JOBS REASON: so many wait, and why.
says() {
    grep -qE "$1 in the queue of Slurm, the oldest for [0-9]+s: ($2)\$" err
}
scontrol update PartitionName=fast State=DOWN
tasks down 8 0.5
start down -p fast --slots 2 --max-jobs 2 --window 30s
within 60 says "2 jobs wait" PartitionDown
scontrol update PartitionName=fast State=UP
expect 0 wait $master
ran down 8
ok 'when nothing comes, it says so, and why; when the way is free, jobs come'

job=$(sbatch --parsable -p fast -N4 --exclusive -o /dev/null --wrap 'sleep 600')
within 60 job_is "$job" RUNNING
tasks bag 40 0.5
bag='bag -p fast --slots 4 --max-jobs 3 --window 30s --sbatch --exclusive'
start $bag
# The record of a run that goes on is locked: only its jobs have such names. One
# that is held only asks for a price.
waiting() {
    squeue -h -t PD -o '%i %j %r' | sed -n '/JobHeld/d; s/ bats-.*//p'
}
waits() { test "$(waiting | wc -l)" -ge 1; }
within 60 waits
within 60 says "[0-9]+ jobs? waits?" 'Resources|Priority'
kill -INT $master
expect 130 wait $master
settled bag
test "$(charged bag)" = 0.000000
ok 'it says that machines are taken; after Ctrl-C no job is left or has cost anything'

# ---- killed while they wait, and while they run ----

start $bag
within 60 waits
waiting >before
killed
start $bag --resume
within 60 grep -q 'of an earlier session taken over' err
scancel "$job"
expect 0 wait $master
ran bag 40
settled bag
SLURM_TIME_FORMAT=%s squeue -h -t all -j "$(paste -sd, before)" \
    -O EndTime:20,StartTime:20 | awk '$1 > $2 { n++ } END { exit !n }'
ok 'a run that was killed goes on, with the jobs that were waiting'

# ---- drained ----

for i in $(seq 6); do
    echo "hostname >>on; until test -e go.\$(hostname); do sleep 0.1; done; \
echo $i >>ran.drained"
done >drained
start drained -p fast --slots 2 --max-jobs 1 --window 120s
within 60 lines on 2
node=$(sort -u on)
drain "$node" "$node is drained: machine .* gets no more tasks"
touch go.fast{1,2,3,4}
expect 0 wait $master
ran drained 6
test "$(grep -cx "$node" on)" -eq 2
settled drained
undrain "$node"
ok 'a job on a node that is drained ends its tasks and is given back'

# ---- the controller is away ----

ctld=$(cat slurmctld.pid)
kill -STOP "$ctld"
mkdir away # scontrol itself waits for half a minute
printf '#!/bin/sh\nexec timeout 1 %s "$@"\n' "$(command -v scontrol)" \
    >away/scontrol
chmod +x away/scontrol
PATH=$PWD/away:$PATH exits 3 'Slurm does not answer' \
    alloc drained -p fast --slots 2 --resume
kill -CONT "$ctld"
ok 'a controller that does not answer is a fault of the system, not of the user'

# ---- in a job of its own ----

for i in $(seq 24); do
    echo "hostname >>on.own; until test -e go.own; do sleep 0.1; done; \
echo $i >>ran.own"
done >own
cat >script <<SH
#!/bin/sh
run() {
    exec bats-mpi alloc own -p fast --slots 2 --max-jobs 2 --window 20s --poll 1s \
        -b 50 --host \$(hostname -I) --silence 5s --grace 1s "\$@"
}
run &
until grep -qs fast on.own && grep -qs slow on.own; do sleep 0.1; done
kill -KILL \$!
wait \$!
touch go.own
run --resume
SH
own=$(sbatch --parsable -p slow -n3 -o own.out script)
within 120 job_is "$own" 'COMPLETED|FAILED|CANCELLED|TIMEOUT'
cp own.out err
ran own 24
none_left own
test "$(sqlite3 own.bats "SELECT cluster.name, total(amount) FROM machine
    JOIN cluster ON cluster.id = cluster AND cluster.session = machine.session
    LEFT JOIN charge ON charge.machine = machine.id
    WHERE machine.id = 4")" = 'own|0.0'
# A charge of a lease without a machine is the run's own job: 9 per hour. Slurm
# says both ends in whole seconds.
grep -q fast on.own
sqlite3 own.bats "SELECT total(amount) / 9e6 * 3600 FROM charge
    WHERE machine IS NULL AND lease IS NOT NULL" |
    awk -v held="$(SLURM_TIME_FORMAT=%s squeue -h -t all -j "$own" \
        -O StartTime:20,EndTime:20 | awk '{ print $2 - $1 }')" '{
        print $1, held; exit !($1 > 0 && $1 < held + 2 && $1 >= held - 3) }' >out
ok 'a run works on the job that it is in, which is paid, and buys more beside it'

# ---- jobs that cannot join ----

# They do not find srun.
tasks bad 4
exits 3 'no partition is left: the run ends' alloc bad -p fast,slow --slots 2 \
    --max-jobs 1 --window 20s --sbatch '--export=PATH=/nowhere'
test "$(grep -c 'job [0-9]* in partition fast ended before it joined: .*srun: No such file or directory' err)" = 3
finds err 'no more jobs are asked for in partition fast' \
    'no more jobs are asked for in partition slow'
settled bad
test "$(grep -c '^---- job ' bad.bats.jobs)" -eq 6
expect 2 ls bad.bats.jobs.* 2>out
ok 'where jobs only fail, it says why, keeps what they printed, and asks for no more'
exits 2 '--sbatch --requeue: a job that is queued again is billed' \
    alloc bad -p fast --sbatch '--mem=4G --requeue'
ok 'options of sbatch that would break the bill are refused'
done_testing
