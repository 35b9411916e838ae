#!/bin/bash
# A task may itself be an MPI program: it does not take itself for a rank.
. "$TOP/tests/mpi/lib.sh"

cat >nested.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    printf("nested %d of %d\n", rank, n);
    return MPI_Finalize();
}
C
${MPICC:-mpicc} -o nested nested.c 2>err || {
    skip 'an MPI program is built' 'mpicc does not work'
    done_testing
    exit
}

echo ./nested >bag
by_mpi 3 bag
echo 'nested 0 of 1' | cmp -s - out
ok 'an MPI program without a launcher is alone in its world'

echo "${MPIRUN:-mpirun} -n 1 ./nested" >bag
by_mpi 3 bag
echo 'nested 0 of 1' | cmp -s - out
ok 'an MPI program with a launcher of its own works'

# In a Flux job Open MPI 4.1 asks Flux, by FLUX_JOB_ID, and there is none here:
# the ranks of bats-mpi are told not to, a task is not.
flux() {
    FLUX_JOB_ID=f1 FLUX_TASK_RANK=0 OMPI_MCA_schizo=^flux OMPI_MCA_pmix=^flux \
        by_mpi 3 "$1"
}
printf '%s\n' ./nested "${MPIRUN:-mpirun} -n 1 ./nested" >bag
flux bag
test "$(sort -u out)" = 'nested 0 of 1'
test "$(wc -l <out)" -eq 2
ok 'both in a job of Flux, too'

within 60 nobody_left
ok 'nobody is left'

done_testing
