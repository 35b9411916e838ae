#!/bin/bash
# One bag on one partition: sbatch simple.sh [BAG]
#
# Rank 0 drives, the other ranks work: 65 ranks are 64 machines.
#SBATCH --job-name=bag
#SBATCH --ntasks=65
#SBATCH --time=04:00:00
#SBATCH --output=%x-%j.out

bag=${1:-bag.txt}

# What one rank costs per window on this system, if that is not 1:
#   --clusters clusters.ini
# What the bag may cost at most:
#   --budget 200
# `exec` makes the job end with the exit code of bats-mpi, so that Slurm and
# the jobs that depend on this one see whether all tasks were done.
exec srun --mpi=pmix bats-mpi "$bag" \
    --joblog "bag-$SLURM_JOB_ID.joblog" \
    --json "bag-$SLURM_JOB_ID.json"
