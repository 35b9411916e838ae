#!/bin/bash
# Jobs that are paid for a lease only. Whatever hangs or is cut off, what
# sacct says all jobs were billed is within the budget, no task that was done is
# run again, and no job is left.
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/leases.sh"

tasks deaf 60
start deaf
within 60 ran deaf 6
for job in $(jobs); do
    kill -STOP $(at "$srun" "$job")
done
killed
within 60 none_left deaf
within_held deaf
ok 'a job ends without a run and with an srun that hangs'

tasks cut 40
start cut
within 60 ran cut 6
node=$(squeue -h -t R -p fast -o %N | head -n 1)
ip link set "$node" down
succeeds cut 40
ok 'when a node is cut off, the run goes on elsewhere'
ip link set "$node" up

tasks both 40
start both --guarantee node
within 60 ran both 6
ip link set fast1 down
ip link set fast2 down
killed
within 120 none_left both
within_held both
ok "with --guarantee node also when the run dies with nodes that hang"
ip link set fast1 up
ip link set fast2 up

tasks ctld 40
start ctld
within 60 ran ctld 6
kill -STOP "$(cat slurmctld.pid)"
sleep 5
kill -CONT "$(cat slurmctld.pid)"
succeeds ctld 40
ok 'the run waits for a controller that is away'
done_testing
