#!/bin/bash
# One bag, as many jobs as it takes: sbatch resume.sh [BAG]
#
# The same script serves the first job and every later one. bats-mpi knows when
# the time of the job is over: it starts no task that would not end before, and
# leaves with exit code 5. Then, or where a node was lost, the job puts itself
# back into the queue, and goes on where the record of the run ends.
#SBATCH --job-name=bag
#SBATCH --ntasks=65
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

bag=${1:-bag.txt}

srun --mpi=pmix bats-mpi "$bag" --resume
status=$?

# 0 all done, 1 some tasks failed, 2 wrong input, 4 budget exhausted: the end.
# 5: the time is over, tasks are left. Anything else: the step was cut down.
case $status in
0 | 1 | 2 | 4) exit $status ;;
esac
if [ "${SLURM_RESTART_COUNT:-0}" -ge 20 ]; then
    echo "resume.sh: given up after 20 restarts, status $status" >&2
    exit $status
fi
scontrol requeue "$SLURM_JOB_ID"
