/*
 * bag: the tasks of a run, their states and the order they are drawn in.
 *
 * Layer: engine, used by the engine. Tasks are numbers 0 .. n - 1. They are
 * drawn uniformly at random: the order is one shuffle (Fisher-Yates, Mersenne
 * twister; the low 32 bits of the seed), so that every policy sees the same
 * tasks in the same order (paper, section 3); or, if no sample is needed, in
 * the order of their indexes or another given order. A task that is put back
 * is drawn next.
 *
 * A task has two numbers here. Its *index* is its number in the bag, 0 .. n -
 * 1, a plain uint32_t. Its *position* is its place in the order of draws, 0 ..
 * n - 1, the last one drawn first; it has a type of its own to prevent
 * confusion. Data kept by position is adjacent in memory for tasks drawn one
 * after the other; kept by index, it would miss the cache in a large bag.
 *
 * With a graph, a task is BLOCKED until its parents let it start (graph.h),
 * and SKIPPED once one of them can no longer be DONE. Ready tasks are then
 * drawn by priority, and by position among equal ones. Data per node (graph.h)
 * is kept by index. The end of a task costs O(its edges), a draw
 * O(log(ready)).
 *
 * Invariant: every task is in exactly one state, and the counts agree; a task
 * that is neither BLOCKED nor SKIPPED does not wait for others.
 */
#ifndef BATS_BAG_H
#define BATS_BAG_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/graph.h"

enum bats_task_state {
    BATS_TASK_PENDING,    /* in the bag */
    BATS_TASK_ASSIGNED,   /* on a machine: runs or waits there */
    BATS_TASK_CANCELLING, /* on a machine, told to stop */
    BATS_TASK_DONE,       /* has a result, exit status 0 */
    BATS_TASK_FAILED,     /* has a result, any other */
    BATS_TASK_WAITING,    /* waits for a later attempt or event */
    BATS_TASK_LEFT_OUT,   /* not wanted in this session */
    BATS_TASK_BLOCKED,    /* in the bag, waits for other tasks */
    BATS_TASK_SKIPPED     /* not run: a task that it waited for has failed, or
                             bats_bag_skip */
};

#define BATS_TASK_STATES 9

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

/* Pending tasks that are drawn together. */
struct bats_bag_group {
    struct bats_position *order; /* n_ready of them; the last is drawn next.
                                    With a graph a heap: the first is drawn
                                    next */
    uint32_t n_ready;
    uint32_t below, room; /* places before `order`, for tasks added later, and
                             in total */
};

struct bats_bag {
    uint32_t n;
    uint32_t count[BATS_TASK_STATES]; /* tasks in each state */
    uint8_t *state;                   /* by position */
    uint32_t *index;                  /* by position */
    struct bats_position *position;   /* by index */
    /* 0 without a graph: */
    const struct bats_graph *graph;
    uint32_t *missing;       /* by node: parents it still waits for */
    uint32_t *at;            /* by position: its place in `order`, if ready */
    uint32_t *ended;         /* stack of nodes whose children must be
                                updated */
    uint32_t n_released;     /* tasks that were BLOCKED and became ready */
    uint32_t *released;      /* with a graph: these, by index, oldest first */
    uint32_t *skipped;       /* SKIPPED tasks, by index, oldest first */
    const int64_t *priority; /* by index; NULL: all are equal */
    const uint16_t *group;   /* by index; NULL: all tasks are in group 0 */
    uint32_t n_groups;       /* at least 1 */
    struct bats_bag_group *groups;
};

/* Tasks that can be drawn now. */
static inline uint32_t bats_bag_ready(const struct bats_bag *bag)
{
    return bag->count[BATS_TASK_PENDING];
}

/* Tasks in the bag, ready or BLOCKED. */
static inline uint32_t bats_bag_pending(const struct bats_bag *bag)
{
    return bag->count[BATS_TASK_PENDING] + bag->count[BATS_TASK_BLOCKED];
}

/* Tasks on machines. */
static inline uint32_t bats_bag_running(const struct bats_bag *bag)
{
    return bag->count[BATS_TASK_ASSIGNED] + bag->count[BATS_TASK_CANCELLING];
}

/* Tasks without a result, including BLOCKED ones but not those left out or
 * SKIPPED. */
static inline uint32_t bats_bag_left(const struct bats_bag *bag)
{
    return bats_bag_pending(bag) + bats_bag_running(bag) +
           bag->count[BATS_TASK_WAITING];
}

/* The task has ended for good. */
static inline bool bats_bag_has_result(const struct bats_bag *bag,
                                       struct bats_position task)
{
    return bag->state[task.i] == BATS_TASK_DONE ||
           bag->state[task.i] == BATS_TASK_FAILED;
}

/* The task may still have a result in this session. */
static inline bool bats_bag_is_left(const struct bats_bag *bag,
                                    struct bats_position task)
{
    return !bats_bag_has_result(bag, task) &&
           bag->state[task.i] != BATS_TASK_LEFT_OUT &&
           bag->state[task.i] != BATS_TASK_SKIPPED;
}

/* Creates a bag of n pending tasks, in the order of `seed`. BATS_ENOMEM. */
int bats_bag_init(struct bats_bag *bag, uint32_t n, uint64_t seed,
                  struct bats_error *err);

/* After bats_bag_init: draws tasks in this order of indexes (NULL:
 * ascending). */
void bats_bag_keep_order(struct bats_bag *bag, const uint32_t *order);
void bats_bag_release(struct bats_bag *bag);

/* After bats_bag_resume, without a graph: allows LEFT_OUT tasks to be added.
 * BATS_ENOMEM. */
int bats_bag_open(struct bats_bag *bag, struct bats_error *err);

/* Adds a LEFT_OUT task, to be drawn after all that are PENDING now. Its group
 * may be new. BATS_ENOMEM. */
int bats_bag_add(struct bats_bag *bag, struct bats_position task,
                 struct bats_error *err);

/* Without a graph: makes a task that is on no machine and has no result
 * SKIPPED. */
void bats_bag_withdraw(struct bats_bag *bag, struct bats_position task);

/* Takes over results of earlier sessions: `state` has DONE, FAILED, LEFT_OUT
 * or PENDING by index. All tasks must be pending; the order of the others does
 * not change. */
void bats_bag_resume(struct bats_bag *bag, const uint8_t *state);

/* From now on tasks are drawn by group (by index, < n; not copied), and not
 * with bats_bag_peek, _walk, _find and _draw. Call once, after bats_bag_resume
 * and before bats_bag_connect. While a task is neither pending nor BLOCKED,
 * its group g may become next[g] (g itself: it stays; no cycles; NULL: all
 * stay). BATS_ENOMEM. */
int bats_bag_divide(struct bats_bag *bag, const uint16_t *group, uint32_t n,
                    const uint16_t *next, struct bats_error *err);

/* The group's next task; there must be one. */
static inline struct bats_position bats_bag_top(const struct bats_bag *bag,
                                                uint32_t group)
{
    const struct bats_bag_group *of = &bag->groups[group];
    return of->order[bag->graph ? 0 : of->n_ready - 1];
}

/* From now on tasks wait for others by the graph, which is not copied. Call
 * once, after bats_bag_resume: a parent that has FAILED or is LEFT_OUT skips
 * the tasks that wait for it. `priority` by index (not copied; the highest is
 * drawn first; NULL: all are equal). BATS_ENOMEM. */
int bats_bag_connect(struct bats_bag *bag, const struct bats_graph *graph,
                     const int64_t *priority, struct bats_error *err);

/* Limit of the look-ahead with a graph. */
#define BATS_BAG_AHEAD 32

/* With a graph: walks over what bats_bag_peek shows, starting from {.n = 1}.
 * Returns the place in `order` of the next task; at most BATS_BAG_AHEAD calls,
 * and as many as tasks are ready. */
struct bats_bag_walk {
    uint32_t n, open[BATS_BAG_AHEAD + 1]; /* candidate places for the next
                                             task */
};
uint32_t bats_bag_walk(const struct bats_bag *bag, struct bats_bag_walk *walk);

/* With a graph: the place in `order` of what bats_bag_peek shows. */
uint32_t bats_bag_find(const struct bats_bag *bag, uint32_t behind);

/* The task that would be drawn now, or `behind` draws later. More than
 * `behind` tasks must be ready. */
static inline struct bats_position bats_bag_peek(const struct bats_bag *bag,
                                                 uint32_t behind)
{
    return bag->groups[0].order[bag->graph ? bats_bag_find(bag, behind)
                                           : bats_bag_ready(bag) - 1 - behind];
}

/* Draws the task that bats_bag_peek shows: it becomes ASSIGNED. O(behind). */
struct bats_position bats_bag_draw(struct bats_bag *bag, uint32_t behind);

/* Draws this task, which must be ready. With a graph O(log ready), otherwise
 * O(ready), and less for tasks that bats_bag_peek shows. */
void bats_bag_take(struct bats_bag *bag, struct bats_position task);

/* With a graph: restores the order after priorities have changed. O(ready). */
void bats_bag_reorder(struct bats_bag *bag);

/* ASSIGNED -> CANCELLING. */
void bats_bag_cancel(struct bats_bag *bag, struct bats_position task);

/* ASSIGNED or CANCELLING -> WAITING. */
void bats_bag_put_aside(struct bats_bag *bag, struct bats_position task);

/* ASSIGNED, CANCELLING or WAITING -> PENDING, drawn next (with a graph: by
 * priority). */
void bats_bag_put_back(struct bats_bag *bag, struct bats_position task);

/* With a graph: WAITING or BLOCKED -> SKIPPED, and so are tasks that wait for
 * it. */
void bats_bag_skip(struct bats_bag *bag, struct bats_position task);

/* ASSIGNED or CANCELLING -> DONE or FAILED (`state`). Children that waited for
 * it alone become PENDING or SKIPPED. */
void bats_bag_finish(struct bats_bag *bag, struct bats_position task,
                     enum bats_task_state state);

#endif
