/*
 * instances: what a strategy (bats/strategy.h) sends where in the tail.
 *
 * Layer: engine, the tail's. It knows neither machines nor clocks: the advisor
 * `expert` asks it in a run, and the plays of the estimator (plays.c) ask the
 * same one. Tasks are numbered from 0 to n - 1 among those of the tail.
 *
 * A task waits until T has passed since its last instance was sent. Then, if it
 * has no result and nothing of it is in a queue or in the reliable pool, an
 * instance goes to the end of the unreliable queue, or, after N of them, of the
 * reliable one. A task that was never sent, since the bag is smaller than the
 * pool, has its first one before these N. As T is the same for all, those that
 * wait are in the order in which they were sent, and each step takes constant
 * time.
 */
#ifndef BATS_ENGINE_INSTANCES_H
#define BATS_ENGINE_INSTANCES_H

#include "bats/strategy.h"

enum pool { POOL_UNRELIABLE, POOL_RELIABLE, POOLS };

#define NO_INSTANCE UINT32_MAX

struct instances_rules {
    uint32_t n;          /* N */
    bats_time t;         /* T */
    uint32_t n_reliable; /* slots of that pool that may be used; 0: none */
    bool no_unreliable;  /* nor any of the other pool */
    bool both;
};

struct instances_task {
    uint32_t sent;  /* to the unreliable pool, in the tail */
    bats_time last; /* when the last one was sent */
    bool is_done, is_queued, is_reliable; /* in a queue, in that pool */
    bool is_new;                          /* never sent */
};

/* Numbers, first come, first served. */
struct instances_queue {
    uint32_t *list; /* a ring of `room`, a power of two */
    uint32_t first, n;
};

struct instances {
    struct instances_rules rules;
    struct instances_task *tasks; /* n */
    uint32_t n, room;
    struct instances_queue waiting, queue[POOLS];
    bats_time *since; /* by place in `waiting`: when its instance was sent; it
                         is stale if that was not the last one */
    uint32_t n_reliable; /* slots of the reliable pool that are used */
    uint32_t most_reliable, longest_queue; /* at any time so far */
    uint32_t sent_reliable;
};

/* The rules of a strategy for pools with so many slots. */
struct instances_rules instances_rules(const struct bats_strategy *s,
                                       double t_ur, uint32_t n_unreliable,
                                       uint32_t n_reliable);

/* Room for n tasks. False: no memory; instances_release in any case. */
bool instances_init(struct instances *x, uint32_t n);
void instances_release(struct instances *x);

/* The tail begins with the first `n` tasks (that there is room for), of which
 * tasks[i].last are set and ascending; is_reliable: one runs there already;
 * is_new. */
void instances_begin(struct instances *x, const struct instances_rules *rules,
                     uint32_t n);

/* Other rules apply from now on. The queues stay as they are, unless nothing
 * serves them any more. */
void instances_change(struct instances *x,
                      const struct instances_rules *rules);

/* Puts the tasks that are due into the queues. */
void instances_update(struct instances *x, bats_time now);

/* When the next one is due; BATS_NEVER: none will be. */
bats_time instances_wakeup(struct instances *x);

/* The i-th task for a free slot of the pool, or NO_INSTANCE. Tasks that have a
 * result are withdrawn on the way. */
uint32_t instances_peek(struct instances *x, enum pool pool, uint32_t i);

/* The number of tasks for free slots of the pool. */
uint32_t instances_waiting(const struct instances *x, enum pool pool);

/* The i-th task of the queue is sent now. */
void instances_send(struct instances *x, enum pool pool, uint32_t i,
                    bats_time now);

/* An instance has ended, with the result or (given up, failed) without. */
void instances_end(struct instances *x, uint32_t task, enum pool pool,
                   bool has_result);

/* The loss of an instance was noticed: there is no need to wait for T. */
void instances_hurry(struct instances *x, uint32_t task);

/* All tasks without a result go to the reliable queue. */
void instances_rush(struct instances *x);

#endif
