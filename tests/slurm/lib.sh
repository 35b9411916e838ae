# Sourced by the tests that run in the testbed, after it has been started:
#   [ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" bash "$0"
# A test works in the directory of the testbed, which every node sees.
. "$TOP/tests/tap.sh"
PATH=$(dirname "$BATS_MPI"):$PATH
cd "$BED" || exit 1

# job_is JOB STATES: the job is in one of these states, as in FAILED|TIMEOUT.
job_is() {
    scontrol show job "$1" | grep -qE "JobState=($2)( |\$)"
}

# await JOB [PATIENCE]: until it ends; exits as the job does. 75: it had no step
# for so many tenths of a second (200).
await() {
    idle=0
    until job_is "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL'; do
        sleep 0.1
        idle=$((idle + 1))
        squeue -h -s -j "$1" -o %i | grep -qv batch && idle=0
        if [ $idle -ge "${2-200}" ] && job_is "$1" RUNNING; then
            return 75
        fi
    done
    return "$(scontrol show job "$1" |
        sed -n 's/.*ExitCode=\([0-9]*\):.*/\1/p' | head -n 1)"
}

# submit ARGUMENT...: sbatch; waits, and exits as the job does. (sbatch --wait
# looks only every few seconds.) The srun of Slurm 22.05 does not always return
# from a heterogeneous step that has ended, 5 times of 163: it has a thread for
# each component and one agent of PMIx for all, and both threads wait for the
# end of that (pmixp_abort_agent_stop). A job that has had no step for long is
# submitted once more, once.
submit() {
    for try in 1 2; do
        job=$(sbatch --parsable "$@") || return
        result=0
        await "$job" || result=$?
        [ $result -eq 75 ] || return $result
        echo "# no step in job $job for long"
        scancel "$job"
    done
    return $result
}

# rank_pid RANK JOB: a process of this machine sees those of all nodes.
rank_pid() {
    local environ
    for environ in $(grep -slzx "SLURM_JOB_ID=$2" /proc/[0-9]*/environ || :); do
        if grep -qszx "PMIX_RANK=$1" "$environ"; then
            basename "$(dirname "$environ")"
            return
        fi
    done
    return 1
}
