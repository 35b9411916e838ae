# Sourced after lib.sh by tests of jobs that are bought from Grid Engine: `alloc`,
# or `start` in the background, runs a bag on such jobs, `settled` looks at the end.
options='--system gridengine --host 10.77.0.1 --poll 1s --silence 5s --grace 1s'
alloc() { # BAG OPTION...
    bats-mpi alloc "$@" $options >out 2>err
}
start() {
    bats-mpi alloc "$@" $options >out 2>err &
    master=$!
}
name_of() {
    sql "$1.bats" "SELECT jobs_name FROM session ORDER BY id DESC LIMIT 1"
}
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
    within 60 none_left "$1"
    awk -v b="$(billed "$1")" -v most="$2" -v c="$(sql "$1.bats" \
        'SELECT total(amount) / 1e6 FROM charge WHERE account = 0')" 'BEGIN {
        print "billed", b, "charged", c
        exit !(c - b < 1e-4 && b - c < 1e-4 && b <= most) }' >>out
    bats-mpi record verify "$1" >>out
}
ran() { test "$(sort -u "ran.$1" 2>/dev/null | wc -l)" -ge "$2"; }
tasks() { for i in $(seq "$2"); do echo "sleep 1; echo $i >>ran.$1"; done >"$1"; }
