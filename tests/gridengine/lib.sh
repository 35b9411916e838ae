# Sourced by the tests that run in the testbed: starts it, with the test in it. A
# test works in the directory of the testbed, which every node sees.
[ -n "${BED-}" ] || exec sh "$TOP/tests/gridengine/testbed.sh" bash "$0" "$@"
. "$TOP/tests/tap.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none
PATH=$(dirname "$BATS_MPI"):$PATH
cd "$BED" || exit 1

# submit ARGUMENT...: qsub; waits, and exits as the job does. Its number is in
# `job`.
submit() {
    local code=0
    qsub -sync y "$@" >submitted 2>&1 || code=$?
    job=$(sed -n 's/^Your job \([0-9]*\) .*/\1/p' submitted)
    return $code
}

# bills JOB LIVES: the accounting has that many records of the job.
accounting=$SGE_ROOT/default/common/accounting
bills() { test "$(cut -d: -f6 "$accounting" | grep -cx "$1")" -ge "$2"; }
