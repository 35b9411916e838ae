#!/bin/bash
# Sample first, then run: sbatch sample-first.sh [BAG [SCHEDULE]]
#
# A short job on a few nodes of both partitions runs a sample of the bag and
# learns what the rest would cost. It then submits a job with just the nodes and
# the time that a schedule needs, so that no machine waits and is billed.
# SCHEDULE is a name or number of the list that the sample prints (default:
# balanced). With SUBMIT=cat the script of the second job is only shown.
#
# With Slurm 22.05 the nodes of the first component must come first in
# alphabetical order.
#SBATCH --job-name=sample
#SBATCH --output=%x-%j.out
#SBATCH --partition=fast --ntasks=9 --time=01:30:00
#SBATCH hetjob
#SBATCH --partition=slow --ntasks=8 --time=01:30:00

bag=${1:-bag.txt}
schedule=${2:-balanced}

srun --mpi=pmix --het-group=0,1 bats-mpi sample "$bag" "${@:3}" || exit
bats-mpi plan "$bag.profile" --sbatch "$schedule" >"$bag.sh" || exit

# The second job must not inherit the variables of this one, except its account.
[ -z "$SLURM_JOB_ACCOUNT" ] || export SBATCH_ACCOUNT=$SLURM_JOB_ACCOUNT
for name in "${!SLURM_@}"; do
    [ "$name" = SLURM_CONF ] || unset "$name"
done
${SUBMIT:-sbatch} "$bag.sh" "${@:3}"
