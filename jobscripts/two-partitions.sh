#!/bin/bash
# One bag on two partitions that charge differently, within a budget:
#   sbatch two-partitions.sh [BAG [CLUSTERS]]
#
# CLUSTERS (default: clusters.ini) says what they charge. Ask your site.
#
#   [run]
#   window = 60m
#   [cluster fast]
#   partition = fast
#   charge = 8
#   [cluster slow]
#   partition = slow
#   charge = 3
#
# A heterogeneous job: both components start together and form one MPI world.
# With Slurm 22.05 the nodes of the first component must come first in
# alphabetical order.
#SBATCH --job-name=bag
#SBATCH --time=04:00:00
#SBATCH --output=%x-%j.out
#SBATCH --partition=fast --ntasks=33
#SBATCH hetjob
#SBATCH --partition=slow --ntasks=32

exec srun --mpi=pmix --het-group=0,1 bats-mpi "${1:-bag.txt}" \
    --clusters "${2:-clusters.ini}" \
    --budget "${BUDGET:-1000}" \
    --joblog "bag-$SLURM_JOB_ID.joblog" \
    --json "bag-$SLURM_JOB_ID.json"
