#!/bin/bash
# One bag in a job that goes on when a node is lost:
#   sbatch supervise.sh [BAG [OPTION...]]
#
# When a node fails and the step that runs the bag ends with it, this script
# takes that node out of the job and starts a step on the others, which resumes.
#
# Only jobs of one component can shrink, and only if the nodes are the job's own
# (--exclusive). --no-kill keeps the job when a node fails.
#
# If the node of this script and of rank 0 fails, the script is lost, but Slurm
# keeps the job and bills it. So a guard on another node puts the job back into
# the queue, and its next life resumes.
#SBATCH --job-name=bag
#SBATCH --nodes=8 --ntasks-per-node=16 --exclusive
#SBATCH --time=04:00:00
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

bag=${1:-bag.txt}
job=$SLURM_JOB_ID
ranks=$((SLURM_NTASKS / SLURM_NNODES)) # of each node

nodes_of() { scontrol show hostnames "$(squeue -h -j "$job" -o %N)"; }

# usable: the job's nodes that Slurm has not given up. One that has failed may
# have been taken out of the job already.
usable() {
    sinfo -h -N -n "$(squeue -h -j "$job" -o %N)" -o '%N %T' |
        awk '$2 !~ /down|fail|drain|unk|\*/ { print $1 }' | sort -u
}

# keep NODE...: shrinks the job to these and to the one of this script. Slurm
# may have something else to do with the job first.
keep() {
    list=$(printf '%s\n' "$@" "$SLURMD_NODENAME" | sort -u)
    for second in $(seq 30); do
        [ "$list" = "$(nodes_of | sort -u)" ] && break
        scontrol update JobId="$job" NodeList="${list//$'\n'/,}" >/dev/null &&
            break
        sleep 1
    done
    rm -f "slurm_job_${job}_resize.sh" "slurm_job_${job}_resize.csh"
}

# Looks whether Slurm has given up the node of this script.
# shellcheck disable=SC2016
guard='while sleep 10; do
    case $(sinfo -h -N -n "$0" -o %T) in
    down* | fail*) scontrol requeue "$SLURM_JOB_ID" ;;
    esac
done'
guard() {
    other=$(usable | grep -vxF "$SLURMD_NODENAME" | tail -n 1)
    [ -z "$other" ] || exec srun --mpi=none --overlap --no-kill --nodes=1 \
        --ntasks=1 --nodelist="$other" bash -c "$guard" "$SLURMD_NODENAME"
}

# sessions: how many there have been, which the record knows; is_over: the last
# one has come to its end.
sessions() {
    bats-mpi status --json "$bag" 2>/dev/null | grep '^  "sessions"'
}
is_over() {
    bats-mpi status --json "$bag" 2>/dev/null | grep -q '^  "over": true'
}

# After the loss of a rank the exit code of srun is not that of the run. The
# record knows whether a task is left, or has failed.
finish() {
    if [ $status -gt 128 ] && [ "$(bats-mpi status --left "$bag")" = 0 ]; then
        bats-mpi status --json "$bag" | grep -q '"failed": *0'
        exit
    fi
    exit $status
}

step=()
for start in $(seq 20); do
    guard 2>/dev/null &
    before=$(sessions)
    # --overlap: a step that was ended on a node that cannot be reached keeps
    # its cores, for Slurm, until it is heard of again.
    srun --mpi=pmix --overlap --no-kill "${step[@]}" bats-mpi "$bag" --resume \
        "${@:2}"
    status=$?
    kill $! 2>/dev/null && wait $!
    # A step that was cut down before the run began, as by a crash in MPI_Init,
    # is no end. Neither is a later one that could not be started.
    if [ "$(sessions)" = "$before" ]; then
        [ $status -le 128 ] && [ "$start" = 1 ] && finish
    elif [ $status -le 128 ] || is_over; then
        finish
    else # a node that failed may be known as such only a little later
        for second in $(seq 60); do
            nodes_of | grep -qvxF "$(usable)" && break
            sleep 1
        done
    fi
    # shellcheck disable=SC2046
    keep $(usable)
    unset "${!SLURM_STEP@}" SLURM_NTASKS_PER_NODE SLURM_TASKS_PER_NODE
    export SLURM_NODELIST SLURM_JOB_NODELIST SLURM_NNODES SLURM_JOB_NUM_NODES
    SLURM_NODELIST=$(squeue -h -j "$job" -o %N)
    SLURM_JOB_NODELIST=$SLURM_NODELIST
    SLURM_NNODES=$(nodes_of | wc -l) SLURM_JOB_NUM_NODES=$SLURM_NNODES
    step=(--nodes="$SLURM_NNODES" --ntasks=$((SLURM_NNODES * ranks)))
done
echo "supervise.sh: given up after 20 starts, status $status" >&2
exit "$status"
