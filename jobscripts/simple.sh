#!/bin/bash
# One bag on one partition: sbatch simple.sh [BAG [OPTION...]]
#
# Rank 0 drives, the other ranks work: 65 ranks are 64 machines.
#SBATCH --job-name=bag
#SBATCH --ntasks=65
#SBATCH --time=04:00:00
#SBATCH --output=%x-%j.out

bag=${1:-bag.txt}

# The price of one rank per window on this system, if that is not 1:
#   --clusters clusters.ini
# The most that the bag may cost:
#   --budget 200
# --resume: if Slurm puts the job back into the queue (a node was lost, or an
# administrator asked for it), its next life goes on where the record ends.
srun --mpi=pmix bats-mpi "$bag" --resume \
    --joblog "bag-$SLURM_JOB_ID.joblog" \
    --json "bag-$SLURM_JOB_ID.json" "${@:2}"
status=$?

# The exit code tells Slurm, and jobs that depend on this one, whether all tasks
# were done. After the loss of a rank the exit code of srun is not that of the
# run; the record knows whether a task is left, or has failed.
if [ $status -gt 128 ] && [ "$(bats-mpi status --left "$bag")" = 0 ]; then
    bats-mpi status --json "$bag" | grep -q '"failed": *0'
    exit
fi
exit $status
