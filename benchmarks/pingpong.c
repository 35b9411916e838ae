/*
 * pingpong: the floor under any message-driven scheduler.
 *
 *   mpirun -n 2 pingpong ROUNDS
 *
 * 64 bytes from rank 0 to rank 1 and back, ROUNDS times, with blocking calls
 * that spin. Prints the seconds that took, start-up excluded.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char bytes[64] = {0};
    long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    double start;
    int rank, n_ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rounds < 1 || n_ranks != 2) {
        fputs("usage: mpirun -n 2 pingpong ROUNDS\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (long i = 0; i < rounds; i++) {
        if (rank == 0)
            MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(bytes, sizeof bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.6f\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
