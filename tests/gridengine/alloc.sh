# Sourced after lib.sh by tests of jobs that are bought from Grid Engine: `settled`
# looks at the end of a run.
. "$TOP/tests/jobs.sh"
common="$common --system gridengine --silence 5s --grace 1s"
none_left() { test -z "$(qstat -j "$(name_of "$1")" 2>/dev/null)"; }
# billed BAG: hours by charge. 10 and 11 are start and end, 35 the slots.
billed() {
    awk -F: -v name="$(name_of "$1")" '$5 == name {
        sum += ($11 - $10) * ($1 == "fast.q" ? 8 : 3) * $35 }
        END { printf "%.6f\n", sum / 3600 }' "$accounting"
}
# settled BAG BUDGET: no job is left, and what was charged is what was billed, to
# the millionth for each job, and within the budget.
settled() {
    within 60 none_left "$1" || return
    awk -v b="$(billed "$1")" -v most="$2" -v c="$(sql "$1.bats" \
        'SELECT total(amount) / 1e6 FROM charge WHERE account = 0')" 'BEGIN {
        print "billed", b, "charged", c
        exit !(c - b < 1e-4 && b - c < 1e-4 && b <= most) }' >>out || return
    bats-mpi record verify "$1" >>out
}
kept() { settled "$1" 5; }
