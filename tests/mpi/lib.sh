# Sourced by the tests that start ranks: mpirun, and who is rank N.
. "$TOP/tests/tap.sh"

# Open MPI reads these as it would its options; other launchers ignore them.
# More ranks than cores is meant here, and nobody is tied to a core.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none

# bats N ARGUMENT...: bats-mpi on N ranks, into out and err.
bats() {
    ranks=$1
    shift
    env "$mark" timeout -k 5 400 ${MPIRUN:-mpirun} -n "$ranks" "$BATS_MPI" \
        "$@" >out 2>err </dev/null
}

# two_clusters: a clusters file for seven ranks, of which rank 0 runs no tasks.
two_clusters() {
    printf '%s\n' '[run]' 'currency = SU' \
        '[cluster slow]' 'ranks = 1-3' 'charge = 3' \
        '[cluster fast]' 'ranks = 4-6' 'charge = 9' 'speed = 4'
}

# rank_pid N: the process that is rank N; not one that it has forked. Fails if
# there is none.
rank_pid() {
    local pid parent
    for pid in $(alive); do
        [[ $(readlink "/proc/$pid/exe") == *bats-mpi ]] || continue
        parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$pid/stat" \
            2>/dev/null) || continue
        [[ $(readlink "/proc/$parent/exe") != *bats-mpi ]] || continue
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null |
            grep -qxE "(OMPI_COMM_WORLD|PMI)_RANK=$1" && echo "$pid" && return
    done
    return 1
}
