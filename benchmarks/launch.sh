# Sourced by the scripts here: how to start N ranks on this one machine.
# Open MPI reads these variables as it would its options; others ignore them.
# More ranks than cores is meant here, nobody is tied to a core, and an exit
# status that is not 0 needs no explanation by mpirun.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_execute_quiet=1

# The user exported it for runs of their own.
unset BATS_BUDGET

launch() { # N COMMAND...
    ${MPIRUN:-mpirun} -n "$@"
}
