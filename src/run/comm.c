#include "run/comm.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/transport.h"
#include "util/wake.h"

/* Locks MPI: the main thread and the heart's thread take turns. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Another rank is dead or MPI is broken: MPI_Finalize would never return. */
static bool given_up;

static bool serialized;                    /* several threads may send */
static void (*abort_all)(int exit_status); /* NULL: processes end by
                                            * themselves */
static int (*create)(struct bats_comm **comm, struct bats_error *err);

void bats_comm_lock(void)
{
    pthread_mutex_lock(&turn);
}

void bats_comm_unlock(void)
{
    pthread_mutex_unlock(&turn);
}

void *bats_comm_make(size_t bytes, const struct bats_transport *via, int rank,
                     int size)
{
    struct bats_comm *comm = calloc(1, bytes);
    pid_t *process = calloc((size_t)size, sizeof *process);
    if (comm == NULL || process == NULL) {
        free(comm);
        free(process);
        return NULL;
    }
    *comm = (struct bats_comm){
        .via = via, .rank = rank, .size = size, .process = process};
    return comm;
}

void bats_comm_destroy(struct bats_comm *comm)
{
    if (comm == NULL)
        return;
    comm->via->destroy(comm);
    free(comm->process);
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
    return comm->is_stream ||
           comm->n_here == (comm->rank == 0 ? comm->size - 1 : 1);
}

size_t bats_comm_unsent(struct bats_comm *comm)
{
    bats_comm_lock();
    size_t n = comm->via->unsent(comm);
    bats_comm_unlock();
    return n;
}

void bats_comm_repeat(struct bats_comm *comm, const struct bats_text *packet)
{
    bats_comm_lock();
    comm->via->repeat(comm, packet);
    bats_comm_unlock();
}

bool bats_comm_repeated(struct bats_comm *comm)
{
    bats_comm_lock();
    bool done = comm->via->repeated == NULL || comm->via->repeated(comm);
    bats_comm_unlock();
    return done;
}

int bats_comm_send(struct bats_comm *comm, int rank, struct bats_text *packet,
                   bool matched, struct bats_error *err)
{
    struct bats_text p = *packet;
    *packet = (struct bats_text){0};
    if (p.failed) {
        bats_text_release(&p);
        return bats_no_memory(err);
    }
    bats_comm_lock();
    int rc = comm->via->send(comm, rank, &p, matched, err);
    bats_comm_unlock();
    /* Signal its main thread: MPI may have threads that do not block the
     * signal. A stream wakes its reader by itself. */
    pid_t process = comm->process[rank];
    if (rc == 0 && process > 0 && !comm->is_stream)
        tgkill(process, process, BATS_WAKE_SIGNAL);
    return rc;
}

int bats_comm_say(struct bats_comm *comm, int rank,
                  const struct bats_message *message, struct bats_error *err)
{
    struct bats_text packet = {0};
    bats_proto_put(&packet, message);
    return bats_comm_send(comm, rank, &packet, false, err);
}

int bats_comm_receive(struct bats_comm *comm, int *from, const void **bytes,
                      size_t *n, struct bats_error *err)
{
    bats_comm_lock();
    int rc = comm->via->receive(comm, from, bytes, n, err);
    bats_comm_unlock();
    return rc;
}

bool bats_comm_is_gone(const struct bats_comm *comm, int rank)
{
    return comm->via->is_gone != NULL && comm->via->is_gone(comm, rank);
}

void bats_comm_disband(struct bats_comm *comm, enum bats_leave leave)
{
    bats_comm_lock();
    if (comm->via->disband != NULL)
        comm->via->disband(comm, leave);
    bats_comm_unlock();
}

void bats_comm_set(bool is_serialized, void (*abort)(int exit_status),
                   int (*create_one)(struct bats_comm **comm,
                                     struct bats_error *err))
{
    serialized = is_serialized;
    abort_all = abort;
    create = create_one;
}

int bats_comm_create(struct bats_comm **comm, struct bats_error *err)
{
    return create(comm, err);
}

void bats_comm_give_up(void)
{
    given_up = abort_all != NULL;
}

bool bats_comm_given_up(void)
{
    return given_up;
}

bool bats_comm_serialized(void)
{
    return serialized;
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
    bats_comm_lock(); /* never released: no other thread gets a further
                       * message */
    if (abort_all != NULL)
        abort_all(exit_status);
    _exit(exit_status); /* MPI_Abort may return if MPI is broken */
}
