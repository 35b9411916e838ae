#!/bin/sh
# How the jobs of the job scripts end when something has gone wrong.
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" sh "$0"
. "$TOP/tests/slurm/lib.sh"
scripts=$TOP/jobscripts

# begin DIRECTORY ARGUMENT...: submits there, with a bag of 24 tasks, as $job.
begin() {
    mkdir "$1"
    for i in $(seq 24); do echo "sleep 1; echo $i >>ran"; done >"$1/bag.txt"
    job=$(cd "$1" && shift && sbatch --parsable --requeue "$@")
}
some_ran() { # DIRECTORY
    test "$(cat "$1/ran" 2>/dev/null | wc -l)" -ge 5
}
# rank_pid RANK JOB: a process of this machine sees those of all nodes.
rank_pid() {
    for environ in $(grep -lzx "SLURM_JOB_ID=$2" /proc/[0-9]*/environ); do
        tr '\0' '\n' <"$environ" | grep -qx "PMIX_RANK=$1" &&
            basename "$(dirname "$environ")"
    done 2>/dev/null | head -n 1
}
# ended JOB DIRECTORY: the job, and with it the bag, is done.
ended() {
    await "$1" 600
    code=$?
    scontrol show job "$1" >out
    cat "$2"/bag-*.out >err
    test $code -eq 0 && grep -q 'JobState=COMPLETED' out &&
        test "$(bats-mpi status --left "$2/bag.txt")" = 0
}

begin requeued -p fast -N2 -n5 "$scripts/simple.sh"
requeued=$job
begin worker -p slow -w slow1 -n5 "$scripts/resume.sh" bag.txt --silence 5s
worker=$job
begin master -p slow -w slow2 -n5 "$scripts/resume.sh" bag.txt --silence 5s
master=$job

# After the loss of a rank srun may exit with 137 at the end of a whole run.
mkdir bin && printf '#!/bin/sh\n%s "$@"\nexit 137\n' "$(command -v srun)" \
    >bin/srun && chmod +x bin/srun
PATH=$BED/bin:$PATH begin whole -p slow -w slow3 -n5 "$scripts/simple.sh"
whole=$job
PATH=$BED/bin:$PATH begin over -p slow -w slow4 -n5 "$scripts/resume.sh"
over=$job

within 60 some_ran requeued && scontrol requeue "$requeued"
within 60 some_ran worker && kill -KILL "$(rank_pid 2 "$worker")"
within 60 some_ran master && kill -KILL "$(rank_pid 0 "$master")"

ended "$whole" whole
ok 'a complete bag is a completed job, whatever srun says'
ended "$over" over && grep -q ' Restarts=0 ' out
ok 'resume.sh does not go on where nothing is left'
ended "$worker" worker
ok 'resume.sh completes its bag when a worker was killed'
ended "$master" master && grep -q ' Restarts=1 ' out
ok 'resume.sh starts again when rank 0 was killed, once'
ended "$requeued" requeued && grep -q ' Restarts=1 ' out &&
    test "$(sqlite3 requeued/bag.txt.bats 'SELECT sessions FROM progress')" -eq 2
ok 'simple.sh resumes when Slurm puts its job back into the queue'
test "$(wc -l <requeued/ran)" -le 28
ok 'what had ended does not run again'

# What the second job is submitted with, instead of submitting it.
echo 'echo "account $SBATCH_ACCOUNT" >second' >submit
cat >bin/srun <<'SH'
#!/bin/sh
echo "$@" >>asked
SH
printf '#!/bin/sh\necho 1\n' >bin/bats-mpi
chmod +x bin/*
PATH=$BED/bin:$PATH SLURM_JOB_ACCOUNT=phys SUBMIT='sh submit' \
    bash "$scripts/sample-first.sh" && grep -qx 'account phys' second
ok 'sample-first.sh charges the second job to the account of the first'
for script in simple.sh resume.sh preemptible.sh; do
    PATH=$BED/bin:$PATH bash "$scripts/$script" bag.txt --retries 2
done
PATH=$BED/bin:$PATH bash "$scripts/two-partitions.sh" bag.txt c.ini --retries 2
test "$(grep -c -- '--resume.*--retries 2' asked)" -eq 4
ok 'every script resumes, and passes options on'
done_testing
