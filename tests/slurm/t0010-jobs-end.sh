#!/bin/bash
# Jobs of the job scripts end well when something has gone wrong.
export BED_REQUEUES=1
. "$TOP/tests/slurm/lib.sh"
scripts=$TOP/jobscripts
configure SlurmdTimeout=6 KillWait=2

# begin DIRECTORY ARGUMENT...: submits there, with a bag of 24 tasks, as $job.
# After eight of them the others wait, so that it does not end before its time.
begin() {
    mkdir "$1"
    for i in $(seq 24); do
        echo "sleep 1; sh ../wait; echo $i >>ran"
    done >"$1/bag.txt"
    job=$(cd "$1" && shift && sbatch --parsable --requeue "$@")
}
some_ran() { # DIRECTORY
    test "$(cat "$1/ran" 2>/dev/null | wc -l)" -ge 5
}
last_node() { # JOB
    scontrol show hostnames "$(squeue -h -j "$1" -o %N)" | tail -n 1
}
# ended JOB DIRECTORY: the job, and with it the bag, is done.
ended() {
    code=0
    await "$1" 60 || code=$?
    scontrol show job "$1" >out
    cat "$2"/bag-*.out >err
    test $code -eq 0 && grep -q 'JobState=COMPLETED' out &&
        test "$(bats-mpi status --left "$2/bag.txt")" = 0
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

begin node -p fast -N1-2 -n5 --exclude='fast[1-2]' "$scripts/resume.sh" \
    bag.txt --silence 5s
node=$job
begin requeued -p fast -N2 -n5 -w 'fast[1-2]' "$scripts/simple.sh"
requeued=$job
begin worker -p slow -w slow1 -n5 "$scripts/resume.sh" bag.txt --silence 5s
worker=$job
begin master -p slow -w slow2 -n5 "$scripts/resume.sh" bag.txt --silence 5s
master=$job

# After the loss of a rank srun may exit with 137 at the end of a whole run.
mkdir bin
printf '#!/bin/sh\n%s "$@"\nexit 137\n' "$(command -v srun)" \
    >bin/srun
chmod +x bin/srun
PATH=$BED/bin:$PATH begin whole -p slow -w slow3 -n5 "$scripts/simple.sh"
whole=$job
PATH=$BED/bin:$PATH begin over -p slow -w slow4 -n5 "$scripts/resume.sh"
over=$job

# Both components of a heterogeneous job.
sed 's/^\(#SBATCH.*--ntasks\)=33/\1=3 -w fast2/; s/^\(#SBATCH.*--ntasks\)=32/\1=2/' \
    "$scripts/two-partitions.sh" >two.sh
sed -n '/^#   \[run\]/,/^#$/s/^#  *//p' "$scripts/two-partitions.sh" \
    >clusters.ini
begin both ../two.sh bag.txt ../clusters.ini
both=$job
PATH=$BED/bin:$PATH begin twice ../two.sh bag.txt ../clusters.ini
twice=$job

within 60 some_ran requeued
scontrol requeue "$requeued"
within 60 some_ran both
scontrol requeue "$both"
within 60 some_ran node
kill -KILL "$(cat "$BED/node.$(last_node "$node")")"
within 60 some_ran worker
kill -KILL "$(rank_pid 2 "$worker")"
within 60 some_ran master
kill -KILL "$(rank_pid 0 "$master")"
touch go

ended "$whole" whole
ok 'a complete bag is a completed job, whatever srun says'
ended "$over" over
grep -q ' Restarts=0 ' out
ok 'resume.sh does not go on where nothing is left'
ended "$worker" worker
ok 'resume.sh completes its bag when a worker was killed'
ended "$master" master
grep -q ' Restarts=1 ' out
ok 'resume.sh starts again when rank 0 was killed, once'
ended "$requeued" requeued
grep -q ' Restarts=1 ' out
test "$(sqlite3 requeued/bag.txt.bats 'SELECT sessions FROM progress')" -eq 2
ok 'simple.sh resumes when Slurm puts its job back into the queue'
test "$(wc -l <requeued/ran)" -le 28
ok 'what had ended does not run again'
ended "$node" node
test "$(sqlite3 node/bag.txt.bats 'SELECT count(DISTINCT host)
        FROM machine WHERE session = 1')" -eq 2
ok 'resume.sh completes its bag when the node of a worker was lost'
ended "$both" both
grep -q ' Restarts=1 ' out
test "$(wc -l <both/ran)" -le 27
ok 'two-partitions.sh resumes when Slurm puts its job back into the queue'
ended "$twice" twice
ok 'it asks the record when no srun exits as the run does'

expect 3 await "$full" 120
scontrol show job "$full" >out
finds out 'JobState=FAILED' ' Restarts=0 '
ok 'resume.sh fails when the disk is full, and is not queued again'
squeue -h -o '%i %j %T' >out
test ! -s out
ok 'no job is left'

# Writes what the second job would be submitted with, and submits nothing.
echo 'echo "account $SBATCH_ACCOUNT" >second' >submit
cat >bin/srun <<'SH'
#!/bin/sh
echo "$@" >>asked
SH
printf '#!/bin/sh\necho 1\n' >bin/bats-mpi
chmod +x bin/*
PATH=$BED/bin:$PATH SLURM_JOB_ACCOUNT=phys SUBMIT='sh submit' \
    bash "$scripts/sample-first.sh"
grep -qx 'account phys' second
ok 'sample-first.sh charges the second job to the account of the first'
for script in simple.sh resume.sh preemptible.sh; do
    PATH=$BED/bin:$PATH bash "$scripts/$script" bag.txt --retries 3
done
PATH=$BED/bin:$PATH bash "$scripts/two-partitions.sh" bag.txt c.ini --retries 3
test "$(grep -c -- '--resume.*--retries 3' asked)" -eq 4
ok 'every script resumes, and passes options on'
done_testing
