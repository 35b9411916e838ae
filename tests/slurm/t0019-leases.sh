#!/bin/bash
# Jobs that are paid for a lease only. Whatever is killed or stopped, what
# sacct says all jobs were billed is within the budget, no task that was done is
# run again, and no job is left.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/leases.sh"

tasks master 36
start master
within 60 ran master 6
killed
within 60 none_left master
within_held master
ok 'when the run is killed, its jobs end themselves within what was held'
start master --resume
succeeds master 36
ok 'with --resume it does the rest within the same budget'

tasks queued 8
blocker=$(sbatch --parsable -A phys -p fast -N4 --exclusive -o /dev/null \
    --wrap 'sleep 600')
within 60 job_is "$blocker" RUNNING
start queued
waits() { squeue -h -t PD -o '%j %r' | grep -q '^bats-[0-9a-f]* [RP][er][si]o'; }
within 60 waits
killed
scancel "$blocker"
within 90 none_left queued
within 60 settled queued
test -z "$(records queued ElapsedRaw | awk '$1 > 27')"
ok 'a job that begins and finds no run ends within a lease'

# kills NAME (PROCESSES SIGNAL)...: of the first job, then of the second, when both
# are busy. The tasks wait for that.
kills() {
    name=$1
    shift
    for i in $(seq 28); do
        echo "echo >>began.$name; until test -e go.$name; do sleep 0.1; done;" \
            "sleep 0.5; echo $i >>ran.$name"
    done >$name
    start $name
    within 60 has_lines 4 began.$name
    for job in $(jobs); do
        test -n "$(at "$1" "$job")"
        kill -"$2" $(at "$1" "$job")
        shift 2
    done
    test $# -eq 0
    touch go.$name
    succeeds $name 28
}
kills killed "$lease" KILL "$srun" KILL
ok 'when the watchdog or srun is killed, the job ends, and the run goes on'
kills stopped "$srun" STOP 'bats-mpi worker --join' KILL
ok 'so it does when srun is stopped, or the gateway and its ranks are killed'
done_testing
