# Sourced by the tests that run in the testbed: starts it, with the test in it. A
# test works in the directory of the testbed, which every node sees.
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" bash "$0" "$@"
. "$TOP/tests/tap.sh"
PATH=$(dirname "$BATS_MPI"):$PATH
cd "$BED" || exit 1

# configure LINE...: of slurm.conf, from now on.
configure() {
    printf '%s\n' "$@" >>"$SLURM_CONF"
    scontrol reconfigure
}

# job_is JOB STATES: the job is in one of these states, as in FAILED|TIMEOUT.
job_is() {
    scontrol show job "$1" | grep -qE "JobState=($2)( |\$)"
}

# The srun of Slurm 22.05 does not always return from a heterogeneous step that
# has ended, 5 times of 163: it has a thread for each component and one agent of
# PMIx for all, and both threads wait for the end of that
# (pmixp_abort_agent_stop), deaf to TERM.

# await JOB [PATIENCE]: until it ends; exits as the job does. Where it had no
# step for so many seconds (20), its srun is killed, so that its script goes on.
# 75: nothing helped, or the script failed then, or it has not ended after 5
# minutes; what Slurm says of it is shown.
await() {
    local stuck= code since=$SECONDS step=$SECONDS rest=0.3
    until job_is "$1" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL'; do
        sleep $rest
        [ $((SECONDS - since)) -lt 3 ] || rest=1.5 # others compute
        if [ $((SECONDS - since)) -ge 300 ]; then
            scontrol show job "$1" | sed 's/^/# /'
            squeue -s -j "$1" | sed 's/^/# /'
            return 75
        fi
        squeue -h -s -j "$1" -o %i | grep -qv batch && step=$SECONDS
        if [ $((SECONDS - step)) -ge "${2-20}" ] && job_is "$1" RUNNING; then
            [ -z "$stuck" ] && kill_srun "$1" || return 75
            stuck=yes
            step=$SECONDS
        fi
    done
    code=$(scontrol show job "$1" |
        sed -n 's/.*ExitCode=\([0-9]*\):.*/\1/p' | head -n 1)
    [ -z "$stuck" ] || [ "$code" -eq 0 ] || return 75
    return "$code"
}

# kill_srun JOB: 1 if there is none.
kill_srun() {
    local environ killed=1
    for environ in $(grep -slzx "SLURM_JOB_ID=$1" /proc/[0-9]*/environ || :); do
        if grep -qsx srun "${environ%environ}comm"; then
            kill -KILL "$(basename "${environ%/environ}")" && killed=0
        fi
    done
    [ $killed -ne 0 ] || echo "# no step in job $1 for long: killed its srun"
    return $killed
}

# submit ARGUMENT...: sbatch; waits, and exits as the job does. (sbatch --wait
# looks only every few seconds.) A job that does not come through for an srun
# that does not return is submitted once more, once.
submit() {
    for try in 1 2; do
        job=$(sbatch --parsable "$@") || return
        result=0
        await "$job" || result=$?
        [ $result -eq 75 ] || return $result
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

# ---- jobs that alloc has asked for ----

# none_left BAG: no job of its run waits or runs.
none_left() {
    squeue -h -n "$(name_of "$1")" -o %i >left && test ! -s left
}
# billed_by_squeue BAG: in billing-hours, what squeue knows of all its jobs.
billed_by_squeue() {
    SLURM_TIME_FORMAT=%s squeue -h -t all -n "$(name_of "$1")" \
        -O JobID:20,StartTime:20,EndTime:20,tres-alloc:100 |
        awk '$2 ~ /^[0-9]+$/ {
                sub(/.*billing=/, "", $4); sum += ($3 - $2) * $4 }
            END { printf "%.6f\n", sum / 3600 }'
}
# same BILLED CHARGED: to the millionth for every job, which is rounded up.
same() {
    awk -v b="$1" -v c="$2" 'BEGIN { print "billed", b, "charged", c
        exit !(c - b < 1e-4 && b - c < 1e-4) }' >>out
}
