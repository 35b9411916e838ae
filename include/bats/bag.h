/*
 * bag: the tasks of a run, their states and the order they are drawn in.
 *
 * Layer: engine, used by the engine. Tasks are numbers 0 .. n - 1; what they
 * execute is not known here. They are drawn uniformly at random: the order is
 * one shuffle (Fisher-Yates, Mersenne twister; the low 32 bits of the seed),
 * so that every policy sees the same tasks in the same order (paper, section
 * 3). A task that is given back is drawn next.
 *
 * A task has two numbers here. Its *index* is that of the bag, 0 .. n - 1, a
 * plain uint32_t. Its *position* is that in the order of the draws, 0 .. n - 1,
 * the last one first; it has a type of its own, so that nobody takes one for the
 * other. What is kept of tasks by position is, of tasks that are drawn one after
 * the other, side by side in memory; by index, of a large bag, none of it would
 * be in the cache.
 *
 * Invariant: every task is in exactly one state, and the counts agree.
 */
#ifndef BATS_BAG_H
#define BATS_BAG_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

enum bats_task_state {
    BATS_TASK_PENDING,    /* in the bag */
    BATS_TASK_ASSIGNED,   /* on a machine: runs or waits there */
    BATS_TASK_CANCELLING, /* on a machine, told to stop */
    BATS_TASK_DONE,       /* has a result, exit status 0 */
    BATS_TASK_FAILED,     /* has a result, any other */
    BATS_TASK_WAITING,    /* has failed and will be tried again later */
    BATS_TASK_LEFT_OUT    /* not wanted in this session */
};

#define BATS_TASK_STATES 7

struct bats_position {
    uint32_t i;
};

#define BATS_NO_POSITION ((struct bats_position){UINT32_MAX})

static inline bool bats_is_position(struct bats_position position)
{
    return position.i != UINT32_MAX;
}

static inline bool bats_same_position(struct bats_position a,
                                      struct bats_position b)
{
    return a.i == b.i;
}

struct bats_bag {
    uint32_t n;
    uint32_t count[BATS_TASK_STATES]; /* tasks in each state */
    uint8_t *state;                   /* by position */
    struct bats_position *order; /* the pending ones; the last is drawn next */
    uint32_t *index;             /* by position, */
    struct bats_position *position; /* and by index */
};

/* Tasks that can be drawn now. */
static inline uint32_t bats_bag_ready(const struct bats_bag *bag)
{
    return bag->count[BATS_TASK_PENDING];
}

/* Tasks on machines. */
static inline uint32_t bats_bag_running(const struct bats_bag *bag)
{
    return bag->count[BATS_TASK_ASSIGNED] + bag->count[BATS_TASK_CANCELLING];
}

/* Tasks that have no result yet, wherever they are; those that are left out do
 * not count. */
static inline uint32_t bats_bag_left(const struct bats_bag *bag)
{
    return bats_bag_ready(bag) + bats_bag_running(bag) +
           bag->count[BATS_TASK_WAITING];
}

/* The task has ended for good. */
static inline bool bats_bag_has_result(const struct bats_bag *bag,
                                       struct bats_position task)
{
    return bag->state[task.i] == BATS_TASK_DONE ||
           bag->state[task.i] == BATS_TASK_FAILED;
}

/* All of `n` tasks pending, in the order that `seed` gives. BATS_ENOMEM. */
int bats_bag_init(struct bats_bag *bag, uint32_t n, uint64_t seed,
                  struct bats_error *err);
void bats_bag_release(struct bats_bag *bag);

/* Takes over what earlier sessions have done: `state` has a DONE, FAILED,
 * LEFT_OUT or PENDING by index. All tasks must be pending; the order of the
 * others does not change. */
void bats_bag_resume(struct bats_bag *bag, const uint8_t *state);

/* The task that would be drawn now, or `behind` draws later. There must be as
 * many pending. */
static inline struct bats_position bats_bag_peek(const struct bats_bag *bag,
                                                 uint32_t behind)
{
    return bag->order[bats_bag_ready(bag) - 1 - behind];
}

/* Draws what bats_bag_peek shows: it becomes ASSIGNED. O(behind). */
struct bats_position bats_bag_draw(struct bats_bag *bag, uint32_t behind);

/* ASSIGNED -> CANCELLING. */
void bats_bag_cancel(struct bats_bag *bag, struct bats_position task);

/* ASSIGNED or CANCELLING -> WAITING. */
void bats_bag_put_aside(struct bats_bag *bag, struct bats_position task);

/* ASSIGNED, CANCELLING or WAITING -> PENDING, drawn next. */
void bats_bag_put_back(struct bats_bag *bag, struct bats_position task);

/* ASSIGNED or CANCELLING -> DONE or FAILED (`state`). */
void bats_bag_finish(struct bats_bag *bag, struct bats_position task,
                     enum bats_task_state state);

/* Asserts the invariant. */
void bats_bag_check(const struct bats_bag *bag);

#endif
