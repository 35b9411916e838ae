#include "run/heart.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "proto/proto.h"
#include "run/comm.h"

#define BEAT_US 10000000 /* upper limit */
#define BEATS 6         /* signs of life missed before a rank is given up */
#define TRY_US 20000    /* between two checks that one was sent */
#define TRIES 50        /* most checks: a rank may be gone */

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

/* MPI makes progress only when called, and the main thread may not call it. */
static void *beat(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&heart.lock);
    while (rest(heart.beat_us)) {
        bats_comm_repeat(heart.comm, &heart.packet);
        for (int i = 0;
             i < TRIES && !bats_comm_repeated(heart.comm) && rest(TRY_US); i++)
            ;
    }
    pthread_mutex_unlock(&heart.lock);
    return NULL;
}

static int begin(struct bats_error *err)
{
    sigset_t all, before;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&heart.stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    heart.beats = true;
    /* Leave signals to the main thread, whose sleeps they end. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&heart.thread, NULL, beat, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        return 0;
    heart.beats = false;
    return bats_error_set(err, BATS_ESYS, "cannot start a thread: %s",
                          strerror(code));
}

int bats_heart_start(struct bats_comm *comm, int64_t silence_us,
                     struct bats_error *err)
{
    heart.comm = comm;
    heart.beat_us = bats_heart_beat_us(silence_us);
    if (heart.packet.n == 0)
        bats_proto_put(&heart.packet, BATS_SAY(BATS_MESSAGE_HEARTBEAT));
    if (heart.packet.failed)
        return bats_no_memory(err);
    return begin(err);
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
