#!/bin/bash
# One bag, as many jobs as it takes:
#   sbatch resume.sh [BAG [OPTION...]]
#
# The same script serves the first job and every later one. bats-mpi knows when
# the job ends: it starts no task that would not end before, and leaves with exit
# code 5. Then, or when a node was lost, the job puts itself back into the queue
# and goes on where the record of the run ends.
#
# bats-mpi does not know how long tasks take before one has ended. So Slurm warns
# this script ten minutes before the end, and the script signals rank 0 alone
# (the signal would kill tasks). From then on no task is started, and running
# tasks have the rest of the time: make it as long as a long task. `scancel
# --batch --signal=USR1 JOB` does the same at any time.
#SBATCH --job-name=bag
#SBATCH --ntasks=65
#SBATCH --time=04:00:00
#SBATCH --signal=B:USR1@600
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

bag=${1:-bag.txt}

# Signals rank 0: columns 3 and 5 of listpids are the step and the rank.
drain() {
    scontrol listpids "$SLURM_JOB_ID" |
        awk '$3 != "batch" && $5 == "0" { print $1 }' | xargs -r kill -USR1
}
trap drain USR1

# Bash heeds a signal only when it does not wait for a command, and `wait` then
# ends early.
srun --mpi=pmix bats-mpi "$bag" --resume "${@:2}" &
while kill -0 $! 2>/dev/null; do wait $!; done
wait $!
status=$?

# 0 all done, 1 some tasks failed, 2 wrong input, 4 budget exhausted: the end.
# 3: the system failed, as with a full disk; the next life would, too.
# 5: the time is over, tasks are left. Anything else: the step was cut down.
case $status in
0 | 1 | 2 | 3 | 4) exit $status ;;
esac

# After the loss of a rank the exit code of srun is not that of the run. The
# record knows whether a task is left, or has failed.
if [ "$(bats-mpi status --left "$bag")" = 0 ]; then
    bats-mpi status --json "$bag" | grep -q '"failed": *0'
    exit
fi
if [ "${SLURM_RESTART_COUNT:-0}" -ge 20 ]; then
    echo "resume.sh: given up after 20 restarts, status $status" >&2
    exit $status
fi
scontrol requeue "$SLURM_JOB_ID"
