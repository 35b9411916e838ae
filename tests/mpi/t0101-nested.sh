#!/bin/bash
# A task may itself be an MPI program: it does not take itself for a rank.
. "$TOP/tests/mpi/lib.sh"

nested
printf '%s\n' ./nested "${MPIRUN:-mpirun} -n 1 ./nested" >bag
by_mpi 3 bag
consists out '0 of 1' '0 of 1'
ok 'an MPI program works alone in its world, and with a launcher of its own'

# In a Flux job Open MPI 4.1 asks Flux, by FLUX_JOB_ID, and there is none here:
# the ranks of bats-mpi are told not to, a task is not.
FLUX_JOB_ID=f1 FLUX_TASK_RANK=0 OMPI_MCA_schizo=^flux OMPI_MCA_pmix=^flux \
    by_mpi 3 bag
consists out '0 of 1' '0 of 1'
ok 'both in a job of Flux, too'
echo "${MPIRUN:-mpirun} -n 2 '$BATS_MPI' inner --quiet" >bag
echo 'echo inner' >inner
by_mpi 2 bag
grep -qx inner out
within 60 nobody_left
ok 'it may be a run like this one; nobody is left'

done_testing
