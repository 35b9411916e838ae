/* comm_mpi: the ranks of one MPI job, from the start of MPI to its end. Nothing
 * else calls MPI (MPI-3 only), whose error codes become BATS_ESYS here. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "run/comm.h"
#include "run/launcher.h"
#include "run/run.h"
#include "util/grow.h"

#define TAG 1
#define SLACK_NS 5000000
#define PATIENCE_S 3
#define MOST_US 3600000000 /* time limit of MPI_Finalize */

struct outgoing {
    MPI_Request request;
    char *bytes;
};

struct mpi {
    struct bats_comm base;
    struct outgoing *sends; /* sends that MPI has not finished */
    size_t n, room;
    uint8_t *received;
    size_t received_room;
    MPI_Request *repeated; /* by rank: the last send of `repeat` */
};

static int mpi_error(const char *what, int code, struct bats_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (MPI_Error_string(code, text, &n) != MPI_SUCCESS)
        text[0] = '\0';
    bats_comm_give_up();
    return bats_error_set(err, BATS_ESYS, "%s failed: %s", what, text);
}

static size_t unsent(struct bats_comm *comm)
{
    struct mpi *m = (struct mpi *)comm;
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++) {
        int done = 0;
        if (MPI_Test(&m->sends[i].request, &done, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS &&
            done)
            free(m->sends[i].bytes);
        else
            m->sends[kept++] = m->sends[i];
    }
    return m->n = kept;
}

static void repeat(struct bats_comm *comm, const struct bats_text *packet)
{
    struct mpi *m = (struct mpi *)comm;
    for (int rank = 0; rank < comm->size; rank++) {
        MPI_Request *last = &m->repeated[rank];
        int done = 0;
        if (rank != comm->rank &&
            MPI_Test(last, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done &&
            MPI_Isend(packet->bytes, (int)packet->n, MPI_BYTE, rank, TAG,
                      MPI_COMM_WORLD, last) != MPI_SUCCESS)
            *last = MPI_REQUEST_NULL;
    }
}

static bool repeated(struct bats_comm *comm)
{
    struct mpi *m = (struct mpi *)comm;
    int done = 1;
    for (int rank = 0; rank < comm->size && done; rank++)
        MPI_Test(&m->repeated[rank], &done, MPI_STATUS_IGNORE);
    return done;
}

static int send(struct bats_comm *comm, int rank, struct bats_text *packet,
                bool matched, struct bats_error *err)
{
    struct mpi *m = (struct mpi *)comm;
    unsent(comm);
    if (packet->n > INT_MAX ||
        !bats_grow(&m->sends, &m->room, m->n + 1, sizeof *m->sends)) {
        bats_text_release(packet);
        return bats_no_memory(err);
    }
    struct outgoing *new = &m->sends[m->n];
    int rc = (matched ? MPI_Issend : MPI_Isend)(packet->bytes, (int)packet->n,
                                                MPI_BYTE, rank, TAG,
                                                MPI_COMM_WORLD, &new->request);
    if (rc != MPI_SUCCESS) {
        bats_text_release(packet);
        return mpi_error("MPI_Isend", rc, err);
    }
    new->bytes = packet->bytes;
    m->n++;
    return 0;
}

static int receive(struct bats_comm *comm, int *from, const void **bytes,
                   size_t *n, struct bats_error *err)
{
    struct mpi *m = (struct mpi *)comm;
    int there = 0, count, rc = MPI_SUCCESS;
    MPI_Message message;
    MPI_Status status;
    /* Open MPI first checks the messages it has, and only then receives new
     * ones, which the second call sees. */
    for (int i = 0; i < 2 && rc == MPI_SUCCESS && !there; i++)
        rc = MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &message,
                         &status);
    if (rc != MPI_SUCCESS)
        return mpi_error("MPI_Improbe", rc, err);
    if (!there)
        return 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (!bats_grow(&m->received, &m->received_room, (size_t)count + 1, 1))
        return bats_no_memory(err);
    rc = MPI_Mrecv(m->received, count, MPI_BYTE, &message, &status);
    if (rc != MPI_SUCCESS)
        return mpi_error("MPI_Mrecv", rc, err);
    *from = status.MPI_SOURCE;
    *bytes = m->received;
    *n = (size_t)count;
    return 1;
}

static void destroy(struct bats_comm *comm)
{
    struct mpi *m = (struct mpi *)comm;
    if (bats_comm_unsent(comm) > 0)
        bats_comm_give_up();
    free(m->sends);
    free(m->received);
    free(m->repeated);
}

static const struct bats_transport by_mpi = {
    .destroy = destroy,
    .send = send,
    .repeat = repeat,
    .repeated = repeated,
    .unsent = unsent,
    .receive = receive,
};

static int create(struct bats_comm **comm, struct bats_error *err)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct mpi *m = bats_comm_make(sizeof *m, &by_mpi, rank, size);
    if (m == NULL)
        return bats_no_memory(err);
    m->repeated = malloc((size_t)size * sizeof *m->repeated);
    if (m->repeated == NULL) {
        bats_comm_destroy(&m->base);
        return bats_no_memory(err);
    }
    for (int i = 0; i < size; i++)
        m->repeated[i] = MPI_REQUEST_NULL;
    *comm = &m->base;
    return 0;
}

const char *bats_mpi_library(char *text, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    /* One of the few functions that may be called before MPI_Init. Open MPI
     * appends its build details after commas, MPICH on further lines. */
    if (MPI_Get_library_version(version, &n) != MPI_SUCCESS)
        strcpy(version, "unknown MPI library");
    version[strcspn(version, ",\n")] = '\0';
    snprintf(text, size, "%s", version);
    return text;
}

/* ---- the start and the end ---- */

static int own_rank;
static bool started;
static unsigned patience_s; /* --silence, at least one second */

static void abort_all(int exit_status)
{
    MPI_Abort(MPI_COMM_WORLD, exit_status);
}

/* In MPI_Init and MPI_Finalize a rank waits for the others with sleeps of 0.1
 * ms. Many ranks on few cores then do nothing but wake up. A timer slack lets
 * the kernel end such sleeps later; 0: back to the default. */
static void slacken(unsigned long ns)
{
    prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0);
}

int bats_mpi_start(int *argc, char ***argv, int64_t silence_us, int *rank,
                   int *n_ranks, struct bats_error *err)
{
    int provided;
    struct bats_comm *comm = NULL; /* lives until the end of the process */
    bats_launcher_look(silence_us);
    slacken(SLACK_NS);
    int rc = MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
    slacken(0);
    bats_launcher_started();
    if (rc != MPI_SUCCESS)
        return mpi_error("MPI_Init_thread", rc, err);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, n_ranks);
    bats_comm_go((struct bats_way){abort_all, create});
    own_rank = *rank;
    started = true;
    patience_s = MOST_US / 1000000;
    if (silence_us < MOST_US)
        patience_s = (unsigned)(silence_us / 1000000 + 1);
    if (provided < MPI_THREAD_SERIALIZED)
        return bats_error_set(
            err, BATS_ESYS,
            "this MPI library does not allow two threads of a "
            "process to take turns: it lacks "
            "MPI_THREAD_SERIALIZED");
    if (own_rank != 0 || *n_ranks == 1)
        return 0;
    rc = bats_comm_create(&comm, err);
    return rc < 0 ? rc : bats_heart_start(comm, silence_us, err);
}

void bats_mpi_omit(void)
{
    bats_launcher_look(INT64_MAX);
    bats_comm_go((struct bats_way){0});
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
    /* Under srun, MPI_Abort would kill ranks that are still cleaning up. If a
     * rank was killed, srun drops what has not reached it when the last rank
     * ends: leave time for the sentence with the reason. Elsewhere rank 0 ends
     * all ranks after its report; one in MPI_Finalize might never return,
     * because mpirun --enable-recovery does not always end it. */
    if (given_up && own_rank != 0 &&
        (exit_status == 0 || bats_launcher_is_batch_system())) {
        sleep(PATIENCE_S);
        _exit(exit_status);
    }
    if (given_up) {
        bats_launcher_see_off();
        bats_comm_abort(exit_status);
    }
    /* MPI_Finalize waits for the others: for ever if one of them dies now. */
    bats_comm_leave_within(patience_s, exit_status);
    slacken(SLACK_NS);
    MPI_Finalize();
}
