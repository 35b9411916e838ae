/*
 * latency: the physical limit of a scheduler that waits for results.
 *
 *   mpirun -n N latency ROUNDS
 *
 * 64 bytes from rank 0 to each other rank and back, ROUNDS times in turn, with
 * calls that look all the time; the ranks whose turn it is not sleep. Prints
 * every round trip in microseconds, one a line.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BYTES 64
#define LOOK_NS 5000000

static char bytes[BYTES];

static void send_to(int rank)
{
    MPI_Send(bytes, BYTES, MPI_CHAR, rank, 0, MPI_COMM_WORLD);
}

static void receive_from(int rank)
{
    MPI_Recv(bytes, BYTES, MPI_CHAR, rank, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* Sleeps until a message is there. */
static void wait_for(int rank)
{
    for (int there = 0; !there;) {
        MPI_Iprobe(rank, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there)
            nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

int main(int argc, char **argv)
{
    long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    int rank, n_ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rounds < 1 || n_ranks < 2) {
        fputs("usage: mpirun -n N latency ROUNDS\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 1; rank == 0 && i < n_ranks; i++) {
        send_to(i);
        receive_from(i); /* awake */
        for (long k = 0; k < rounds; k++) {
            double start = MPI_Wtime();
            send_to(i);
            receive_from(i);
            printf("%.2f\n", 1e6 * (MPI_Wtime() - start));
        }
    }
    if (rank > 0) {
        wait_for(0);
        for (long k = 0; k <= rounds; k++) {
            receive_from(0);
            send_to(0);
        }
    }
    /* Blocking calls at the end would keep the cores busy. */
    for (int i = 1; rank == 0 && i < n_ranks; i++)
        send_to(i);
    if (rank > 0) {
        wait_for(0);
        receive_from(0);
    }
    MPI_Finalize();
    return 0;
}
