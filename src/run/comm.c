#include "run/comm.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/wake.h"

#define BEAT_US 10000000 /* upper limit */
#define BEATS 6          /* signs of life missed before a rank is given up */
#define TRY_US 20000     /* between two checks that one was sent */
#define TRIES 50         /* most checks: a rank may be gone */

/* Locks MPI: the main thread and the heart's thread take turns. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Another rank is dead or MPI is broken: MPI_Finalize would never return. */
static bool given_up;

static struct bats_way way;

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

void bats_comm_set_process(struct bats_comm *comm, int rank, uint32_t pid)
{
    comm->n_here += (pid > 0) - (comm->process[rank] > 0);
    comm->process[rank] = (pid_t)pid;
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

void bats_comm_go(struct bats_way how)
{
    way = how;
}

int bats_comm_create(struct bats_comm **comm, struct bats_error *err)
{
    return way.create(comm, err);
}

void bats_comm_give_up(void)
{
    given_up = way.abort != NULL;
}

bool bats_comm_given_up(void)
{
    return given_up;
}

static volatile sig_atomic_t last_status;

static void leave_at_once(int signal)
{
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
    if (way.abort != NULL)
        way.abort(exit_status);
    _exit(exit_status); /* MPI_Abort may return if MPI is broken */
}

/* ---- the heart ---- */

/* One per process, like MPI. */
static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped; /* waits on the monotonic clock */
    bool beats;
    int64_t beat_us;
    struct bats_comm *comm;
    struct bats_text packet;
} heart = {.lock = PTHREAD_MUTEX_INITIALIZER};

int64_t bats_heart_beat_us(int64_t silence_us)
{
    int64_t us = silence_us / BEATS;
    return us < BEAT_US ? us : BEAT_US;
}

/* Sleeps. Returns false if the heart is to stop. */
static bool rest(int64_t us)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    us += end.tv_nsec / 1000;
    end.tv_sec += us / 1000000;
    end.tv_nsec = us % 1000000 * 1000;
    while (heart.beats &&
           pthread_cond_timedwait(&heart.stopped, &heart.lock, &end) == 0)
        ;
    return heart.beats;
}

static bool has_repeated(struct bats_comm *comm)
{
    bats_comm_lock();
    bool done = comm->via->repeated == NULL || comm->via->repeated(comm);
    bats_comm_unlock();
    return done;
}

/* MPI makes progress only when called, and the main thread may not call it. */
static void *beat(void *unused)
{
    pthread_mutex_lock(&heart.lock);
    while (rest(heart.beat_us)) {
        bats_comm_lock();
        heart.comm->via->repeat(heart.comm, &heart.packet);
        bats_comm_unlock();
        for (int i = 0; i < TRIES && !has_repeated(heart.comm) && rest(TRY_US);
             i++)
            ;
    }
    pthread_mutex_unlock(&heart.lock);
    return NULL;
}

int bats_heart_start(struct bats_comm *comm, int64_t silence_us,
                     struct bats_error *err)
{
    pthread_condattr_t monotonic;
    heart.comm = comm;
    heart.beat_us = bats_heart_beat_us(silence_us);
    if (heart.packet.n == 0)
        bats_proto_put(&heart.packet, BATS_SAY(BATS_MESSAGE_HEARTBEAT));
    if (heart.packet.failed)
        return bats_no_memory(err);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&heart.stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    heart.beats = true;
    int code = bats_wake_thread(&heart.thread, beat, NULL);
    if (code == 0)
        return 0;
    heart.beats = false;
    return bats_error_set(err, BATS_ESYS, "cannot start a thread: %s",
                          strerror(code));
}

void bats_heart_stop(void)
{
    if (!heart.beats)
        return;
    pthread_mutex_lock(&heart.lock);
    heart.beats = false;
    pthread_cond_signal(&heart.stopped);
    pthread_mutex_unlock(&heart.lock);
    pthread_join(heart.thread, NULL);
}
