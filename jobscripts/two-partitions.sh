#!/bin/bash
# One bag on two partitions that charge differently, within a budget:
#   sbatch two-partitions.sh [BAG [CLUSTERS [OPTION...]]]
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

# The srun of Slurm 22.05 does not always return from a heterogeneous step that
# has ended. One that has had no step for a minute is killed.
watch() {
    quiet=0
    while sleep 10; do
        case $(squeue -h -s -j "$SLURM_JOB_ID" -o %i | sort | xargs) in
        *' '*) quiet=0 ;;
        *.batch) quiet=$((quiet + 1)) ;;
        esac
        [ $quiet -lt 6 ] || kill -KILL "$1"
    done
}

bag=${1:-bag.txt}

# After a killed step the next one resumes from the record and ends like any
# other. So does a job that Slurm has put back into the queue.
for start in first second; do
    srun --mpi=pmix --het-group=0,1 bats-mpi "$bag" --resume \
        --clusters "${2:-clusters.ini}" \
        --budget "${BUDGET:-1000}" \
        --joblog "bag-$SLURM_JOB_ID.joblog" \
        --json "bag-$SLURM_JOB_ID.json" "${@:3}" &
    step=$!
    watch $step &
    wait $step
    status=$?
    kill $!
    [ $status -eq 137 ] || break
done

# After the loss of a rank, or if srun was killed, its exit code is not that of
# the run. The record knows whether a task is left, or has failed.
if [ $status -gt 128 ] && [ "$(bats-mpi status --left "$bag")" = 0 ]; then
    bats-mpi status --json "$bag" | grep -q '"failed": *0'
    exit
fi
exit $status
