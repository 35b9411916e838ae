#!/bin/bash
# Jobs of the job scripts end well when something has gone wrong.
export BED_REQUEUES=1
. "$TOP/tests/slurm/lib.sh"
scripts=$TOP/jobscripts
configure SlurmdTimeout=6 KillWait=2

# begin DIRECTORY ARGUMENT...: submits there, with a bag of 24 tasks.
# After eight of them the others wait, so that it does not end before its time.
declare -A job
begin() {
    mkdir "$1"
    for i in $(seq 24); do
        echo "sleep 1; sh ../wait; echo $i >>ran"
    done >"$1/bag.txt"
    job[$1]=$(cd "$1" && sbatch --parsable --requeue "${@:2}")
}
last_node() { # JOB
    scontrol show hostnames "$(squeue -h -j "$1" -o %N)" | tail -n 1
}
# ended DIRECTORY [RESTARTS]: the job there, and with it the bag, is done.
ended() {
    expect 0 await "${job[$1]}" 60
    scontrol show job "${job[$1]}" >out
    cat "$1"/bag-*.out >err
    finds out JobState=COMPLETED "${2+ Restarts=$2 }"
    test "$(bats-mpi status --left "$1/bag.txt")" = 0
}

cat >wait <<'END'
test "$(cat ran 2>/dev/null | wc -l)" -lt 8 ||
    until [ -e ../go ]; do sleep 0.1; done
END

# A disk with room for the record, but not for what the first task writes. The
# run waits a minute for somebody to make room.
disk=$BED/full
mkdir "$disk"
on_its_node() {
    nsenter -t "$(cat "$BED/node.fast1")" -m -p "$@"
}
on_its_node mount -t tmpfs -o size=1m tmpfs "$disk"
{ echo 'cat /dev/zero >filler'; seq -f 'sleep 1 # %g' 200; } >"$BED/bag.full"
on_its_node cp "$BED/bag.full" "$disk/bag.txt"
full=$(sbatch --parsable --requeue -p fast -w fast1 -n5 -D "$disk" \
    "$scripts/resume.sh")

# 20 tasks of 10 s on 4 machines take 50 s, of which a job of one minute has
# less. Slurm warns it at some time from 5 s to 35 s on: it looks every 30 s.
mkdir minute
for i in $(seq 20); do echo "sleep 10; echo task $i"; done >minute/bag.txt
minute=$(cd minute && sbatch --parsable -p all -w slow4 -n5 --time=1 \
    --signal=B:USR1@25 "$scripts/resume.sh" bag.txt --policy rr)

begin node -p fast -N1-2 -n5 --exclude='fast[1-2]' "$scripts/resume.sh" \
    bag.txt --silence 5s
begin requeued -p fast -N2 -n5 -w 'fast[1-2]' "$scripts/simple.sh"
begin worker -p slow -w slow1 -n5 "$scripts/resume.sh" bag.txt --silence 5s
begin master -p slow -w slow2 -n5 "$scripts/resume.sh" bag.txt --silence 5s

# After the loss of a rank srun may exit with 137 at the end of a whole run.
mkdir bin
printf '#!/bin/sh\n%s "$@"\nexit 137\n' "$(command -v srun)" >bin/srun
chmod +x bin/srun
PATH=$BED/bin:$PATH begin whole -p slow -w slow3 -n5 "$scripts/simple.sh"
PATH=$BED/bin:$PATH begin over -p slow -w slow4 -n5 "$scripts/resume.sh"

# Both components of a heterogeneous job.
sed 's/^\(#SBATCH.*--ntasks\)=33/\1=3 -w fast2/; s/^\(#SBATCH.*--ntasks\)=32/\1=2/' \
    "$scripts/two-partitions.sh" >two.sh
sed -n '/^#   \[run\]/,/^#$/s/^#  *//p' "$scripts/two-partitions.sh" \
    >clusters.ini
begin both ../two.sh bag.txt ../clusters.ini
PATH=$BED/bin:$PATH begin twice ../two.sh bag.txt ../clusters.ini

for name in requeued both; do
    within 120 has_lines 5 $name/ran
    scontrol requeue "${job[$name]}"
done
within 60 has_lines 5 node/ran
kill -KILL "$(cat "$BED/node.$(last_node "${job[node]}")")"
within 60 has_lines 5 worker/ran
kill -KILL "$(rank_pid 2 "${job[worker]}")"
within 60 has_lines 5 master/ran
kill -KILL "$(rank_pid 0 "${job[master]}")"
touch go

ended whole
ended over 0
ended twice
ok 'a complete bag is a completed job, whatever srun says, and not begun again'
ended worker
ended master 1
ok 'resume.sh completes its bag when a worker, or rank 0, was killed'
ended node
test "$(sql node/bag.txt.bats 'SELECT count(DISTINCT host)
    FROM machine WHERE session = 1')" -eq 2
ok 'resume.sh completes its bag when the node of a worker was lost'
ended requeued 1
test "$(sql requeued/bag.txt.bats 'SELECT sessions FROM progress')" -eq 2
test "$(wc -l <requeued/ran)" -le 28
ended both 1
test "$(wc -l <both/ran)" -le 27
ok 'scripts resume when Slurm queues their job again; what had ended is not run again'

await "$minute" 120
cp minute/bag-$minute.out err
test "$(sort -u err | grep -c '^task')" -eq 20
test "$(sql minute/bag.txt.bats 'SELECT done, sessions > 1 FROM progress')" = '20|1'
ok 'resume.sh does in lives of a minute what takes longer'
finds err 'drained by SIGUSR1: .* left'
test "$(sql minute/bag.txt.bats 'SELECT count(*) FROM execution')" -eq 20
expect 1 grep 'DUE TO TIME LIMIT' err
ok 'a warning by Slurm ends a life in good order: the tasks come to their ends'

expect 3 await "$full" 120
scontrol show job "$full" >out
finds out 'JobState=FAILED' ' Restarts=0 '
squeue -h -o '%i %j %T' >out
test ! -s out
ok 'resume.sh fails when the disk is full, and no job is left'

printf '#!/bin/sh\necho "$@" >>asked\n' >bin/srun
printf '#!/bin/sh\necho 1\n' >bin/bats-mpi
chmod +x bin/*
for script in simple.sh resume.sh preemptible.sh; do
    PATH=$BED/bin:$PATH bash "$scripts/$script" bag.txt --retries 3
done
PATH=$BED/bin:$PATH bash "$scripts/two-partitions.sh" bag.txt c.ini --retries 3
test "$(grep -c -- '--resume.*--retries 3' asked)" -eq 4
ok 'every script resumes, and passes options on'
done_testing
