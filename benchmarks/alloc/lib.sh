# Sourced by the benchmarks here, which run in the testbed with slurmdbd, from
# the top of the sources, after make.
: "${TOP:=$PWD}" "${BATS_MPI:=$TOP/build/bats-mpi}"
export TOP BATS_MPI
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" bash "$0" "$@"
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
sacctmgr -i add account phys >out 2>&1
sacctmgr -i add user root account=phys >>out 2>&1
controller >>out 2>&1

# alloc BAG ARGUMENT...
alloc() {
    local bag=$1
    shift
    bats-mpi alloc "$bag" --host 10.77.0.1 --poll 1s --json "$bag.json" "$@" \
        >>out 2>>err
}
# billing JOBS: what these jobs (12,13,...) were billed, in billing-hours.
billing() {
    sacct -X -n -P -j "$1" -o ElapsedRaw,AllocTRES | awk -F'|' '{ rate = $2
        if (sub(/.*billing=/, "", rate)) { sub(/,.*/, "", rate)
            sum += $1 * rate } } END { printf "%.6f", sum / 3600 }'
}
# jobs_of BAG: the numbers of the jobs of its run.
jobs_of() {
    local name
    name=$(sqlite3 "$1.bats" "SELECT json_extract(options, '\$.run.jobs_name')
        FROM session ORDER BY id DESC LIMIT 1")
    squeue -h -t all -n "$name" -o %i | paste -sd,
}
charged_of() { sqlite3 "$1.bats" 'SELECT coalesce(sum(amount), 0) / 1e6 FROM charge WHERE account = 0'; }
