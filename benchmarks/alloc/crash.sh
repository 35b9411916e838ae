#!/bin/bash
# crash.sh [KILLS]: kills what takes part in runs of bats-mpi alloc at random
# moments (default 50 in all): master, gateway, watchdog, srun; a node is cut off,
# srun, slurmctld and slurmdbd hang, slurmctld is restarted (PARTS='master node
# controller-dies ...': only these). Then all tasks must be done once, no job may be
# in the queue, and the ledger has to be what sacct says, within the budget. In the
# testbed, with slurmdbd; from the top of the sources, after make.
: "${TOP:=$PWD}" "${BATS_MPI:=$TOP/build/bats-mpi}"
export TOP BATS_MPI
[ -n "${BED-}" ] || exec sh "$TOP/tests/slurm/testbed.sh" bash "$0" "$@"
. "$TOP/tests/slurm/lib.sh"
. "$TOP/tests/slurm/accounts.sh"
. "$TOP/tests/slurm/leases.sh"
. "$TOP/tests/slurm/kills.sh"
trap - ERR
budget=8
RANDOM=${SEED-1}
[ -z "${PARTS-}" ] || parts=($PARTS)
left=${1-50} bags=0 differ=0
while [ "$left" -gt 0 ]; do
    bags=$((bags + 1))
    n=$((1 + RANDOM % 6))
    n=$((n < left ? n : left))
    left=$((left - n))
    survives bag$bags $n "${parts[@]}" || {
        differ=$((differ + 1))
        tail -n 5 err out
    }
done
echo "${1-50} kills in $bags bags: $differ do not agree"
exit $((differ > 0))
