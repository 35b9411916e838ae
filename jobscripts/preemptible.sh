#!/bin/bash
# A bag on a partition whose jobs may be taken away:
#   sbatch preemptible.sh [BAG [OPTION...]]
#
# Slurm sends TERM before it requeues the job (GraceTime of the partition).
# bats-mpi passes it on to the tasks, which have --grace to save their state,
# puts tasks that did not end back into the bag, and closes its record. The job
# that Slurm starts again goes on from there. If Slurm gives no time at all, only
# the tasks that were running are run again.
#SBATCH --job-name=bag
#SBATCH --partition=preemptible
#SBATCH --ntasks=65
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

bag=${1:-bag.txt}

srun --mpi=pmix bats-mpi "$bag" --resume --grace 20s "${@:2}"
status=$?

# 0 all done, 1 some tasks failed, 2 wrong input, 3 the system failed (as with a
# full disk), 4 budget exhausted: the end.
# 143: Slurm requeues this job itself. 5, or a step that was cut down: this
# script requeues it.
case $status in
0 | 1 | 2 | 3 | 4) exit $status ;;
esac

# After the loss of a rank the exit code of srun is not that of the run. The
# record knows whether a task is left, or has failed.
if [ "$(bats-mpi status --left "$bag")" = 0 ]; then
    bats-mpi status --json "$bag" | grep -q '"failed": *0'
    exit
fi
if [ "${SLURM_RESTART_COUNT:-0}" -ge 50 ]; then
    echo "preemptible.sh: given up after 50 restarts, status $status" >&2
    exit $status
fi
scontrol requeue "$SLURM_JOB_ID"
