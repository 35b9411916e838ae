# Sourced by the tests that start ranks: mpirun, and who is rank N.
# The directory of a test is its own and goes away with it.
: "${TOP:?is set by make tests}" "${BATS_MPI:?is set by make tests}"
. "$TOP/tests/tap.sh"

# Open MPI reads these as it would its options; other launchers ignore them.
# More ranks than cores is meant here, and nobody is tied to a core.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none

dir=$(mktemp -d) && cd "$dir" || exit 1
# Every process of a run has it in its environment, and can be found by it.
mark=BATS_TEST_MARK=$$-${dir##*.}
trap 'end_test' EXIT
trap 'exit 1' INT TERM

end_test() {
    for pid in $(alive); do
        kill -KILL "$pid" 2>/dev/null
    done
    cd / && rm -rf "$dir"
}

# bats N ARGUMENT...: bats-mpi on N ranks, into out and err.
bats() {
    ranks=$1
    shift
    env "$mark" timeout -k 5 120 ${MPIRUN:-mpirun} -n "$ranks" "$BATS_MPI" \
        "$@" >out 2>err </dev/null
}

# rank_pid N: the process that is rank N; not one that it has forked.
rank_pid() {
    for pid in $(alive); do
        case $(readlink "/proc/$pid/exe") in *bats-mpi) ;; *) continue ;; esac
        parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$pid/stat" 2>/dev/null)
        case $(readlink "/proc/$parent/exe") in *bats-mpi) continue ;; esac
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null |
            grep -qxE "(OMPI_COMM_WORLD|PMI)_RANK=$1" && echo "$pid" && return
    done
}
