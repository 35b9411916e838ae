/* mpi: from the start of MPI to its end, in every rank. See run.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/comm.h"
#include "run/heart.h"
#include "run/launcher.h"
#include "run/run.h"
#include "run/transport.h"

#define PATIENCE_S 3
#define MOST_US 3600000000 /* time limit of MPI_Finalize */

static int own_rank;
static bool started;
static unsigned patience_s; /* --silence, at least one second */

int bats_mpi_start(int *argc, char ***argv, int64_t silence_us, int *rank,
                   int *n_ranks, struct bats_error *err)
{
    bats_launcher_look();
    int rc = bats_comm_start(argc, argv, rank, n_ranks, err);
    if (rc < 0)
        return rc;
    own_rank = *rank;
    started = true;
    patience_s = MOST_US / 1000000;
    if (silence_us < MOST_US)
        patience_s = (unsigned)(silence_us / 1000000 + 1);
    struct bats_comm *comm = NULL; /* lives until the end of the process */
    if (!bats_comm_serialized() || own_rank != 0 || *n_ranks == 1)
        return 0;
    rc = bats_comm_create(&comm, err);
    return rc < 0 ? rc : bats_heart_start(comm, silence_us, err);
}

void bats_mpi_omit(void)
{
    bats_launcher_look();
    bats_comm_set(true, NULL, NULL);
}

void bats_mpi_end(int exit_status)
{
    bool given_up = bats_comm_given_up();
    fflush(NULL);
    bats_heart_stop();
    if (!started)
        return;
    if (exit_status != 0 && (own_rank == 0 || given_up))
        bats_launcher_fail();
    if (given_up && own_rank != 0 && bats_launcher_is_batch_system()) {
        /* If a rank was killed, srun drops what has not reached it when the
         * last rank ends: leave time for the sentence with the reason. */
        sleep(PATIENCE_S);
        _exit(exit_status); /* MPI_Abort would kill ranks that are still
                             * cleaning up */
    }
    if (given_up && exit_status == 0 && own_rank != 0) {
        /* Rank 0 ends all ranks after its report. A rank in MPI_Finalize might
         * never return, because mpirun --enable-recovery does not always end
         * it. */
        sleep(PATIENCE_S);
        _exit(0);
    }
    if (given_up) {
        bats_launcher_see_off();
        bats_comm_abort(exit_status);
    }
    /* MPI_Finalize waits for the others: for ever if one of them dies now. */
    bats_comm_leave_within(patience_s, exit_status);
    bats_comm_end();
}
