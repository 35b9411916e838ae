# Sourced after accounts.sh by tests of jobs that are paid for a lease only: starts
# the controller; then `start` runs a bag on such jobs, and `kept` looks at the end.
{
    sacctmgr -i add account phys
    sacctmgr -i add user root account=phys
} >out 2>&1
# KillWait: Slurm bills nothing of it where a job ends by its batch script.
printf '%s\n' KillWait=60 SlurmdTimeout=9 MessageTimeout=5 >>"$SLURM_CONF"
controller >>out 2>&1

# A job is held for 12 s (silence, twice the grace, 5 s) and 15 s, at 16 per hour:
# 0.12.
budget=0.8
. "$TOP/tests/jobs.sh"
common="$common --silence 5s --grace 1s -p fast --slots 2 --max-jobs 2 --window 300s"
# The record of a run that goes on is locked, but nobody else runs jobs there.
jobs() { squeue -h -t R -p fast -o %A; }
# billed BAG: by sacct, in billing-hours, once it knows all ends.
records() { sacct -X -D -n -P -S now-1hours --name="$(name_of "$1")" -o "$2"; }
settled() { ! records "$1" End | grep -q Unknown; }
billed() {
    within 60 settled "$1"
    records "$1" ElapsedRaw,AllocTRES |
        awk -F'|' 'sub(/.*billing=/, "", $2) { sum += $1 * $2 }
            END { printf "%.6f\n", sum / 3600 }'
}
# within_held BAG: after its run was killed; and that was within the budget.
within_held() {
    awk -v b="$(billed "$1")" -v m=$budget -v h="$(sqlite3 "$1.bats" \
        "SELECT total(held) / 1e6 FROM lease WHERE state <> 'ended'")" \
        -v c="$(charged "$1")" 'BEGIN { print "billed", b, "held", h + c
            exit !(b > 0 && b <= h + c && h + c <= m) }' >>out
}
# kept BAG: after its end, what was charged, and that within the budget.
kept() {
    awk -v b="$(billed "$1")" -v m=$budget 'BEGIN { exit !(b <= m) }' || return
    same "$(billed "$1")" "$(charged "$1")" || return
    none_left "$1" || return
    bats-mpi record verify "$1" >>out || return
    test "$(sqlite3 "$1.bats" 'SELECT max(n) FROM (SELECT count(*) AS n
        FROM execution WHERE outcome = 0 GROUP BY task)')" -eq 1
}
# succeeds BAG N: the run ends well, and all that was asked of it is kept.
succeeds() {
    expect 0 wait $master
    done_all "$@"
    kept "$1"
}
done_all() { test "$(sort -u "ran.$1" | wc -l)" -eq "$2"; }
# at WORDS JOB: the processes of the job whose command has these words.
at() {
    local environ
    for environ in $(grep -slzx "SLURM_JOB_ID=$2" /proc/[0-9]*/environ || :); do
        if { tr '\0' ' ' <"${environ%environ}cmdline"; } 2>/dev/null |
            grep -q "$1"; then
            basename "${environ%/environ}"
        fi
    done
}
lease='^[^ ]*bats-mpi lease '
srun='^srun '
