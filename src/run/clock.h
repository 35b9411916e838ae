/*
 * clock: the time of a run, and how long a rank may sleep between two checks
 * for messages.
 * Layer: run. A blocking MPI receive keeps a core busy, so ranks check and
 * sleep. Right after traffic they do not sleep, because an answer is often on
 * its way; later they sleep for a quarter of the time since the last traffic.
 * So a message is delayed by at most a quarter of that time, and a rank that
 * waits for long costs little: 0.1 % of a core at 10 ms. A sender on the same
 * host ends the sleep (util/wake.h). A rank whose senders are all on its host
 * does not check in between, which would only take the core from a task.
 */
#ifndef BATS_CLOCK_H
#define BATS_CLOCK_H

#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/now.h"
#include "util/wake.h"

#define BATS_CLOCK_SPIN_US 50 /* no sleep for this long after traffic */
#define BATS_CLOCK_MIN_US 200 /* shortest sleep after that */
/* a message follows its signal within this time */
#define BATS_CLOCK_LATE_US 1000
#define BATS_CLOCK_MASTER_US 5000 /* longest sleep of the master, */
/* of a worker, whose task ends it, */
#define BATS_CLOCK_WORKER_US 20000
#define BATS_CLOCK_WOKEN_US 50000 /* and of one that every message wakes */

static inline int64_t bats_clock_now_us(void)
{
    return bats_now_us(CLOCK_MONOTONIC);
}

/* How long to sleep, at most `max_us`, if nothing has happened for
 * `quiet_us`. */
static inline int64_t bats_clock_backoff_us(int64_t quiet_us, int64_t max_us)
{
    if (quiet_us < BATS_CLOCK_SPIN_US)
        return 0;
    int64_t us = quiet_us / 4;
    us = us < BATS_CLOCK_MIN_US ? BATS_CLOCK_MIN_US : us;
    return us < max_us ? us : max_us;
}

/* A rank's knowledge about incoming messages. */
struct bats_quiet {
    int64_t since_us; /* time of the last message */
    bool woken;       /* a signal comes with every message */
    bool awaited;     /* the signal came, but its message has not arrived
                       * yet */
};

static inline void bats_quiet_ended(struct bats_quiet *quiet, bool by_signal)
{
    quiet->since_us = bats_clock_now_us();
    quiet->awaited = by_signal;
}

/* How long to sleep, at most `max_us`. While MPI still has data to move, only
 * checking makes progress. */
static inline int64_t bats_quiet_sleep_us(const struct bats_quiet *quiet,
                                          bool unsent, int64_t max_us)
{
    int64_t quiet_us = bats_clock_now_us() - quiet->since_us;
    bool look = quiet->awaited && quiet_us < BATS_CLOCK_LATE_US;
    return quiet->woken && !unsent && !look
               ? max_us
               : bats_clock_backoff_us(quiet_us, max_us);
}

/* Sleeps; 0 only yields the core. True: a signal ended the sleep early, and a
 * message may have come. */
static inline bool bats_clock_sleep(int64_t us)
{
    if (us <= 0) {
        sched_yield();
        return false;
    }
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    sigset_t mask;
    bats_wake_mask(&mask);
    return ppoll(NULL, 0, &t, &mask) < 0;
}

/* ---- when a worker sends the results of short tasks ----
 *
 * Each message costs the master a check, a commit of the record and an answer,
 * so results are collected. But the master has to hear before the worker runs
 * out of tasks: when half of the tasks it was given have ended. Until the
 * master has answered, only the end of the last task makes another message
 * due. */

#define BATS_BATCH_AHEAD_US 40000 /* real time of tasks sent ahead to a slot */
#define BATS_BATCH_US 20000       /* longest wait of a result for others */

struct bats_batch {
    size_t n;        /* results not sent yet */
    int64_t sent_us; /* time of the last message */
    bool answered;   /* tasks have come since the last message */
};

/* How long the results may wait if `waiting` tasks can start without a message
 * from the master. */
static inline int64_t bats_batch_left_us(const struct bats_batch *batch,
                                         size_t waiting, int64_t now_us)
{
    int64_t left_us = batch->sent_us + BATS_BATCH_US - now_us;
    if (waiting == 0 || (batch->answered && batch->n >= waiting))
        return 0;
    return left_us > 0 ? left_us : 0;
}

#endif
