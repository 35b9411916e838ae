#!/bin/sh
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
bats 3 bag && echo 'nested 0 of 1' | cmp -s - out
ok 'an MPI program without a launcher is alone in its world'

echo "${MPIRUN:-mpirun} -n 1 ./nested" >bag
bats 3 bag && echo 'nested 0 of 1' | cmp -s - out
ok 'an MPI program with a launcher of its own works'

within 10 nobody_left
ok 'nobody is left'

done_testing
