# Sourced by the tests that run in the testbed, after it has been started:
#   [ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" sh "$0"
# The directory of a test is the testbed's, which every node sees.
. "$TOP/tests/tap.sh"
PATH=$(dirname "$BATS_MPI"):$PATH
cd "$BED" || exit 1

# job_is JOB STATES: the job is in one of these states, as in FAILED|TIMEOUT.
job_is() {
    scontrol show job "$1" | grep -qE "JobState=($2)( |\$)"
}

# submit ARGUMENT...: sbatch; waits, and exits as the job does. (sbatch --wait
# looks only every few seconds.)
submit() {
    job=$(sbatch --parsable "$@") || return
    until job_is "$job" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL'; do
        sleep 0.1
    done
    return "$(scontrol show job "$job" |
        sed -n 's/.*ExitCode=\([0-9]*\):.*/\1/p' | head -n 1)"
}
