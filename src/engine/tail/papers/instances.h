/*
 * instances: which instances a strategy (bats/strategy.h) sends to which pool
 * in the tail.
 *
 * Layer: engine, part of the tail. It knows neither machines nor clocks. Used
 * by the advisor `expert` in a run, and by simulated plays (plays.c). Tasks
 * are numbered from 0 to n - 1 among those of the tail.
 *
 * A task waits until T has passed since its last instance was sent. Then, if
 * it has no result and no instance in a queue or in the reliable pool, an
 * instance is appended to the unreliable queue or, after N of them, to the
 * reliable one. A task never sent, because the bag is smaller than the pool,
 * gets its first instance in addition to these N. As T is the same for all,
 * tasks wait in the order in which they were sent, and each step takes
 * constant time.
 */
#ifndef BATS_ENGINE_INSTANCES_H
#define BATS_ENGINE_INSTANCES_H

#include "bats/strategy.h"

enum pool { POOL_UNRELIABLE, POOL_RELIABLE, POOLS };

#define NO_INSTANCE UINT32_MAX

struct instances_rules {
    uint32_t n;          /* N */
    bats_time t;         /* T */
    uint32_t n_reliable; /* usable slots of the reliable pool; 0: none */
    bool no_unreliable;  /* the unreliable pool is not used */
    bool both;
};

struct instances_task {
    uint32_t sent;  /* to the unreliable pool, in the tail */
    bats_time last; /* when the last one was sent */
    bool is_done, is_queued, is_reliable; /* in a queue; in the reliable
                                             pool */
    bool is_new;                          /* never sent */
    bool is_blocked;                      /* it waits for other tasks */
    uint8_t entries[POOLS];               /* in the queues, void ones too */
};

/* Task numbers, first come, first served. */
struct instances_queue {
    uint32_t *list; /* a ring of `room`, a power of two */
    uint32_t first, n;
    uint32_t n_valid; /* of a pool: entries that are not void */
};

struct instances {
    struct instances_rules rules;
    struct instances_task *tasks; /* n */
    uint32_t n, room;
    struct instances_queue waiting, queue[POOLS];
    bats_time *since;    /* by place in `waiting`: when its instance was sent;
                         stale if that was not the task's last one */
    uint32_t n_reliable; /* slots of the reliable pool in use */
    uint32_t most_reliable, longest_queue; /* maxima so far */
    uint32_t sent_reliable;
};

/* The rules of a strategy for pools of these sizes. */
struct instances_rules instances_rules(const struct bats_strategy *s,
                                       double t_ur, uint32_t n_unreliable,
                                       uint32_t n_reliable);

/* Allocates room for n tasks. False: out of memory; call instances_release in
 * any case. */
bool instances_init(struct instances *x, uint32_t n);
void instances_release(struct instances *x);

/* The tail begins with the first n tasks (within the allocated room). The
 * caller has set tasks[i].last, ascending; is_reliable if an instance runs
 * there already; is_new; and is_blocked. */
void instances_begin(struct instances *x, const struct instances_rules *rules,
                     uint32_t n);

/* A blocked task may begin: it is due at once. */
void instances_unblock(struct instances *x, uint32_t task);

/* Applies other rules from now on. Queues that are still served stay as they
 * are. */
void instances_change(struct instances *x,
                      const struct instances_rules *rules);

/* Puts the tasks that are due into the queues. */
void instances_update(struct instances *x, bats_time now);

/* Time at which the next task is due; BATS_NEVER: none. */
bats_time instances_wakeup(struct instances *x);

/* The i-th task for a free slot of the pool, or NO_INSTANCE. Withdraws tasks
 * with a result on the way. */
uint32_t instances_peek(struct instances *x, enum pool pool, uint32_t i);

/* Number of tasks for free slots of the pool. */
uint32_t instances_waiting(const struct instances *x, enum pool pool);

/* The i-th task of the queue is sent now. */
void instances_send(struct instances *x, enum pool pool, uint32_t i,
                    bats_time now);

/* An instance has ended with the result, or without (given up, failed). */
void instances_end(struct instances *x, uint32_t task, enum pool pool,
                   bool has_result);

/* An instance's loss was noticed: do not wait for T. */
void instances_hurry(struct instances *x, uint32_t task);

#endif
