#!/bin/bash
# One bag on two partitions that charge differently, within a budget:
#   sbatch two-partitions.sh [BAG]
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

bag=${1:-bag.txt}

# The charges are per rank (machine) and window; ask your site. The node
# lists are those that the two components were given.
cat >"clusters-$SLURM_JOB_ID.ini" <<INI
[run]
window = 60m
[cluster fast]
nodes = $SLURM_JOB_NODELIST_HET_GROUP_0
charge = ${FAST_CHARGE:-8}
[cluster slow]
nodes = $SLURM_JOB_NODELIST_HET_GROUP_1
charge = ${SLOW_CHARGE:-3}
INI

exec srun --mpi=pmix --het-group=0,1 bats-mpi "$bag" \
    --clusters "clusters-$SLURM_JOB_ID.ini" \
    --budget "${BUDGET:-1000}" \
    --joblog "bag-$SLURM_JOB_ID.joblog" \
    --json "bag-$SLURM_JOB_ID.json"
