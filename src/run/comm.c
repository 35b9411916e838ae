#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "run/comm.h"
#include "util/grow.h"
#include "util/wake.h"

#define TAG 1
#define SLACK_NS 5000000

struct bats_comm {
    int rank;
    int size;
    MPI_Request *requests; /* outstanding sends */
    uint8_t **sent;        /* the bytes of each send */
    int n;
    int capacity;
    uint8_t *received;
    size_t room;
    pid_t *process;        /* by rank: its process on this host, or 0 */
    int n_here;            /* number of them */
    MPI_Request *repeated; /* by rank: the last send of bats_comm_repeat */
};

/* The main thread and that of heart.c take turns to call MPI. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static bool serialized; /* several threads may call MPI */

/* Another rank is dead or MPI is broken: MPI_Finalize would never return. */
static bool given_up;

static int mpi_error(const char *what, int code, struct bats_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (MPI_Error_string(code, text, &n) != MPI_SUCCESS)
        text[0] = '\0';
    given_up = true;
    return bats_error_set(err, BATS_ESYS, "%s failed: %s", what, text);
}

/* In MPI_Init and MPI_Finalize a rank waits for the others with sleeps of 0.1
 * ms. Many ranks on few cores then do nothing but wake up. This lets the
 * kernel end such sleeps later; 0: as before. */
static void slacken(unsigned long ns)
{
    prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0);
}

int bats_comm_start(int *argc, char ***argv, int *rank, int *n_ranks,
                    struct bats_error *err)
{
    int provided;
    slacken(SLACK_NS);
    int rc = MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
    slacken(0);
    if (rc != MPI_SUCCESS)
        return mpi_error("MPI_Init_thread", rc, err);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, n_ranks);
    serialized = provided >= MPI_THREAD_SERIALIZED;
    return 0;
}

void bats_comm_end(void)
{
    slacken(SLACK_NS);
    MPI_Finalize();
}

bool bats_comm_serialized(void)
{
    return serialized;
}

int bats_comm_create(struct bats_comm **comm, struct bats_error *err)
{
    struct bats_comm *c = calloc(1, sizeof *c);
    if (c == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    c->process = calloc((size_t)c->size, sizeof *c->process);
    c->repeated = malloc((size_t)c->size * sizeof *c->repeated);
    if (c->process == NULL || c->repeated == NULL) {
        free(c->process);
        free(c->repeated);
        free(c);
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    }
    for (int i = 0; i < c->size; i++)
        c->repeated[i] = MPI_REQUEST_NULL;
    *comm = c;
    return 0;
}

void bats_comm_destroy(struct bats_comm *comm)
{
    if (comm == NULL)
        return;
    if (bats_comm_unsent(comm) > 0)
        given_up = true;
    free(comm->requests);
    free(comm->sent);
    free(comm->received);
    free(comm->process);
    free(comm->repeated);
    free(comm);
}

int bats_comm_rank(const struct bats_comm *comm)
{
    return comm->rank;
}

int bats_comm_size(const struct bats_comm *comm)
{
    return comm->size;
}

void bats_comm_set_process(struct bats_comm *comm, int rank, uint32_t pid)
{
    comm->n_here += (pid > 0) - (comm->process[rank] > 0);
    comm->process[rank] = (pid_t)pid;
}

uint32_t bats_comm_process(const struct bats_comm *comm, int rank)
{
    return (uint32_t)comm->process[rank];
}

bool bats_comm_woken(const struct bats_comm *comm)
{
    return comm->n_here == (comm->rank == 0 ? comm->size - 1 : 1);
}

static bool grow(struct bats_comm *c)
{
    int capacity = 2 * c->capacity + 16;
    size_t n = (size_t)capacity;
    MPI_Request *requests = realloc(c->requests, n * sizeof *requests);
    if (requests != NULL)
        c->requests = requests;
    uint8_t **sent = realloc(c->sent, n * sizeof *sent);
    if (sent != NULL)
        c->sent = sent;
    if (requests == NULL || sent == NULL)
        return false;
    c->capacity = capacity;
    return true;
}

static int forget_sent(struct bats_comm *comm)
{
    int kept = 0;
    for (int i = 0; i < comm->n; i++) {
        int done = 0;
        if (MPI_Test(&comm->requests[i], &done, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS &&
            done) {
            free(comm->sent[i]);
        } else {
            comm->requests[kept] = comm->requests[i];
            comm->sent[kept++] = comm->sent[i];
        }
    }
    return comm->n = kept;
}

size_t bats_comm_unsent(struct bats_comm *comm)
{
    pthread_mutex_lock(&turn);
    int n = forget_sent(comm);
    pthread_mutex_unlock(&turn);
    return (size_t)n;
}

void bats_comm_repeat(struct bats_comm *comm, const struct bats_packet *packet)
{
    pthread_mutex_lock(&turn);
    for (int rank = 0; rank < comm->size; rank++) {
        MPI_Request *last = &comm->repeated[rank];
        int done = 0;
        if (rank != comm->rank &&
            MPI_Test(last, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done &&
            MPI_Isend(packet->bytes, (int)packet->n, MPI_BYTE, rank, TAG,
                      MPI_COMM_WORLD, last) != MPI_SUCCESS)
            *last = MPI_REQUEST_NULL;
    }
    pthread_mutex_unlock(&turn);
}

bool bats_comm_repeated(struct bats_comm *comm)
{
    int done = 1;
    pthread_mutex_lock(&turn);
    for (int rank = 0; rank < comm->size && done; rank++)
        MPI_Test(&comm->repeated[rank], &done, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&turn);
    return done;
}

static int post(struct bats_comm *comm, int rank, struct bats_packet *packet,
                bool matched, struct bats_error *err)
{
    struct bats_packet p = *packet;
    *packet = (struct bats_packet){0};
    forget_sent(comm);
    if (p.failed || p.n > INT_MAX ||
        (comm->n == comm->capacity && !grow(comm))) {
        bats_packet_release(&p);
        return bats_error_set(err, BATS_ENOMEM, "out of memory for a message");
    }
    int rc = (matched ? MPI_Issend : MPI_Isend)(p.bytes, (int)p.n, MPI_BYTE,
                                                rank, TAG, MPI_COMM_WORLD,
                                                &comm->requests[comm->n]);
    if (rc != MPI_SUCCESS) {
        bats_packet_release(&p);
        return mpi_error("MPI_Isend", rc, err);
    }
    comm->sent[comm->n++] = p.bytes;
    /* Signal its main thread: MPI may have threads that do not block the
     * signal. */
    pid_t process = comm->process[rank];
    if (process > 0)
        tgkill(process, process, BATS_WAKE_SIGNAL);
    return 0;
}

int bats_comm_send(struct bats_comm *comm, int rank,
                   struct bats_packet *packet, struct bats_error *err)
{
    pthread_mutex_lock(&turn);
    int rc = post(comm, rank, packet, false, err);
    pthread_mutex_unlock(&turn);
    return rc;
}

int bats_comm_send_matched(struct bats_comm *comm, int rank,
                           struct bats_packet *packet, struct bats_error *err)
{
    pthread_mutex_lock(&turn);
    int rc = post(comm, rank, packet, true, err);
    pthread_mutex_unlock(&turn);
    return rc;
}

static int receive(struct bats_comm *comm, int *from, const void **bytes,
                   size_t *n, struct bats_error *err)
{
    int there = 0, count, rc = MPI_SUCCESS;
    MPI_Message message;
    MPI_Status status;
    /* Open MPI first checks the messages it has, and only then receives new
     * ones: the second call sees those. */
    for (int i = 0; i < 2 && rc == MPI_SUCCESS && !there; i++)
        rc = MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &message,
                         &status);
    if (rc != MPI_SUCCESS)
        return mpi_error("MPI_Improbe", rc, err);
    if (!there)
        return 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (!bats_grow(&comm->received, &comm->room, (size_t)count + 1, 1))
        return bats_error_set(err, BATS_ENOMEM,
                              "out of memory for a message of %d bytes",
                              count);
    rc = MPI_Mrecv(comm->received, count, MPI_BYTE, &message, &status);
    if (rc != MPI_SUCCESS)
        return mpi_error("MPI_Mrecv", rc, err);
    *from = status.MPI_SOURCE;
    *bytes = comm->received;
    *n = (size_t)count;
    return 1;
}

int bats_comm_receive(struct bats_comm *comm, int *from, const void **bytes,
                      size_t *n, struct bats_error *err)
{
    pthread_mutex_lock(&turn);
    int rc = receive(comm, from, bytes, n, err);
    pthread_mutex_unlock(&turn);
    return rc;
}

void bats_comm_give_up(struct bats_comm *comm)
{
    (void)comm;
    given_up = true;
}

bool bats_comm_given_up(void)
{
    return given_up;
}

static volatile sig_atomic_t last_status;

static void leave_at_once(int signal)
{
    (void)signal;
    _exit(last_status);
}

void bats_comm_leave_within(unsigned seconds, int exit_status)
{
    last_status = exit_status;
    signal(SIGALRM, leave_at_once);
    alarm(seconds);
}

void bats_comm_abort(int exit_status)
{
    pthread_mutex_lock(&turn); /* no other thread gets it any more */
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    _exit(exit_status); /* MPI_Abort may return if MPI is broken */
}
