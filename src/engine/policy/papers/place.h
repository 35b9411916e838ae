/*
 * place: shared mechanics of policies that place each task on a machine. See
 * policy.h.
 *
 * Layer: engine. Works in rounds, as algorithm I of Sampaio and Barbosa
 * (2020): the ready task of a workflow with the highest rank_u comes first.
 * Each machine offers a finish FT, a cost and a risk; only offers remain that
 * leave enough for the rest of the workflow,
 *
 *   cost   <= CP = least cost of the task + spare                       (2)
 *   finish <= DP = min over its successors s of DP(s) - least time of s (3)
 *
 * with spare = money left - least cost of all tasks not begun; DP of the last
 * tasks is the deadline. The policy's `choose` picks one of them. A task
 * without an offer waits for another round; after 64 in a row, or 256 that wait
 * for a busy machine, the round ends. Data transfer is part of a task's
 * runtime, as it does not depend on the machine (section III.C). A round looks
 * at an idle slot for each ready task in each cluster and 8 more, 128 where
 * slots differ, or at 128 in all if the last one ended so; at the busy slots of
 * 64 machines, others in each round, and at all tasks only where there are
 * several workflows or told runtimes.
 *
 * In miser, a slot that falls free takes the first of the tasks that the last
 * round made wait for its cluster. Another round comes when there is none or a
 * higher task is ready, but only if events since the last one are a 128th of
 * the slots and tasks that it looked at; and at once when weights or machines
 * have changed, or nothing runs.
 *
 * A task that needs several slots costs as much as its share of a machine. It
 * is offered idle machines that have room beside what the round has placed
 * there, and busy ones that have room when they are empty.
 *
 * Each of several workflows (bats/purse.h) has its own money and deadline,
 * within those of the run. A workflow past its deadline comes last.
 *
 * A policy with its own rules also reserves money for errors of told runtimes
 * of running and remaining tasks: place_doubt.
 *
 * The risk is the probability (6) that the machine is reclaimed before the
 * finish, given its age since its first task; so an unused machine is offered
 * beside the used ones. While a reclaim notice stands, neither that machine
 * nor new reclaimable ones are offered. If machines may be reclaimed, the
 * least time of a task (3) includes the time to save its state.
 */
#ifndef BATS_ENGINE_PLACE_H
#define BATS_ENGINE_PLACE_H

#include "engine/policy/policy.h"

struct place_offer {
    double finish; /* microseconds of the run */
    double cost;   /* money */
    double risk;   /* probability of a reclaim before the finish */
};

struct place_limits {
    double cost, finish; /* CP and DP */
    double share;        /* least cost of all tasks left / money left */
    double price;        /* struct place_price */
};

#define PLACE_NONE SIZE_MAX

struct place_range {
    double least, most;
};

/* The ranges over all offers; [INFINITY, -INFINITY] without any. */
struct place_ranges {
    struct place_range finish, cost, risk;
};

struct place_ranges place_ranges(const struct place_offer *offers, size_t n);

/* Chooses an offer within the limits; PLACE_NONE if there is none. */
typedef size_t place_choose(const struct place_offer *offers, size_t n,
                            const struct place_limits *limits);

place_choose place_miser, place_mw_dbs;

/* Computes DP by node. latest: in, the deadline of each, INFINITY for none;
 * out, DP. least: the shortest time of each task, including a possible
 * migration. */
void place_deadlines(const struct bats_graph *graph, const uint32_t *order,
                     const double *least, double *latest);

/* ---- as a policy ---- */

/* Expected time and cost of a task on a cluster. */
double place_runtime(const struct state *s, uint32_t task, size_t cluster);
double place_cost(const struct state *s, uint32_t task, double time,
                  size_t cluster);

/* Squared cost of the slot's running task, if it is of the workflow. */
double place_square(const struct state *s, uint32_t slot, uint32_t workflow);

/* Reserve for errors of runtimes: this many times the root of the sum of the
 * squared costs. The errors are independent. */
double place_doubt(const struct state *s);

/* Microseconds until the slot is free; INFINITY if it accepts no task. */
double place_rest(const struct state *s, uint32_t slot);

/* Number of workflows; 1 without purses. */
static inline uint32_t place_workflows(const struct state *s)
{
    return s->money.purses.n > 0 ? s->money.purses.n : 1;
}

/* Task number i of the bag has not begun, and may. */
static inline bool place_is_left(const struct state *s, uint32_t i)
{
    return s->bag.state[i] == BATS_TASK_PENDING ||
           s->bag.state[i] == BATS_TASK_BLOCKED ||
           s->bag.state[i] == BATS_TASK_WAITING;
}

static inline uint32_t place_workflow(const struct state *s, uint32_t task)
{
    return s->money.purses.n > 0 ? s->money.purses.of[task] : 0;
}

/* Deadline of a workflow, or of the run if that is sooner; INFINITY: none. */
double place_deadline(const struct state *s, uint32_t workflow);

/* The workflow's own money left, INFINITY if it uses the run's; for the number
 * of workflows, that of the run. */
double place_money(const struct state *s, uint32_t workflow);

struct place_price {
    double price; /* of time: range of finishes that one of costs is worth; 0:
                      only the limits count */
    double
        target; /* planned end by which tasks have deadlines; INFINITY: none */
    double speed; /* the machines by which these are computed, from the fastest
                      (0) to the cheapest (1) */
    double tried; /* logarithm of the best price so far */
    bool is_late; /* the workflow would be late, so no money is reserved */
};

/* The rule for choices; remade when more is known. */
struct place_rule {
    double *latest;            /* by node: DP */
    struct place_price *price; /* by workflow */
};

/* Makes the rule from the state. If memory runs out, keeps the last one. */
typedef void place_make_rule(const struct state *s, struct place_rule *rule);

/* The order of the workflows' first tasks. */
enum place_turn {
    PLACE_IN_TURN,    /* workflows in turn */
    PLACE_BY_SLACK,   /* the task with the soonest DP first */
    PLACE_BY_DEADLINE /* all tasks of the workflow that is due first */
};

struct place_kind {
    place_choose *choose;
    place_make_rule *make; /* NULL: DP from the deadlines */
    enum place_turn turn;
    bool waits; /* a task may wait for a busy machine */
};

struct place;

struct place_memory {
    struct place *place;
};

/* Defines `bats_policy_ID` from `kind_ID`, defined above it. */
#define PLACE_POLICY(id, called)                                              \
    static int init_##id(void *self, const struct state *s,                   \
                         const struct bats_sched_options *o,                  \
                         struct bats_error *err)                              \
    {                                                                         \
        return place_init(self, s, &kind_##id, err);                          \
    }                                                                         \
    const struct bats_policy bats_policy_##id = {                             \
        .advisor = {.name = called,                                           \
                    .memory = sizeof(struct place_memory),                    \
                    .init = init_##id,                                        \
                    .release = place_release},                                \
        .one_each = true,                                                     \
        .start = rr_start,                                                    \
        .renew = rr_renew,                                                    \
        .refill = rr_refill,                                                  \
        .is_late = place_is_late,                                             \
        .place = place_place,                                                 \
        .is_over = place_is_over}

int place_init(void *self, const struct state *s,
               const struct place_kind *kind, struct bats_error *err);
void place_release(void *self);
bool place_is_late(void *self, const struct state *s);
struct bats_position place_place(void *self, const struct state *s,
                                 uint32_t slot);
bool place_is_over(const void *self, const struct state *s, uint32_t cluster);

#endif
