/*
 * place: the mechanics of policies that say which task runs on which machine.
 * See policy.h.
 *
 * Layer: engine. In rounds, as in algorithm I of Sampaio and Barbosa (2020): of
 * the ready tasks of a workflow the one with the highest rank_u comes first.
 * Each machine offers it a finish FT, a cost and a risk; those remain that
 * leave enough for the rest of its workflow,
 *
 *   cost   <= CP = least cost of the task + spare                       (2)
 *   finish <= DP = min over its successors s of DP(s) - least time of s (3)
 *
 * with spare = money left - least cost of all tasks that have not begun, DP of
 * the last ones the deadline; and of them the one that the policy's `choose`
 * says. A task for which none remains waits for another round. The time for
 * data is part of a task's runtime, for it does not depend on the machine
 * (section III.C).
 *
 * Of several workflows (bats/purse.h) each has its own money and deadline,
 * within those of the run. One whose deadline is over comes after all others.
 *
 * A policy that makes rules of its own also leaves money for the doubt about
 * what runs and what is left, where runtimes are told: place_doubt.
 *
 * The risk is the probability (6) that the machine is reclaimed before the
 * finish, by its age, which counts from its first task: a machine that has had
 * none is offered beside those that have. While a notice of a reclaim stands,
 * new machines that may be reclaimed are not offered, nor is that one. Where
 * machines may be reclaimed, the least time of a task (3) includes the time to
 * save its state.
 */
#ifndef BATS_ENGINE_PLACE_H
#define BATS_ENGINE_PLACE_H

#include "engine/policy/policy.h"

struct place_offer {
    double finish; /* microseconds of the run */
    double cost;   /* money */
    double risk;   /* probability that the machine is reclaimed until then */
};

struct place_limits {
    double cost, finish; /* CP and DP */
    double share;        /* least cost of all that is left / money left */
    double price;        /* struct place_price */
    bool is_relative;
};

#define PLACE_NONE SIZE_MAX

/* Chooses an offer that is within the limits; PLACE_NONE: none is. */
typedef size_t place_choose(const struct place_offer *offers, size_t n,
                            const struct place_limits *limits);

place_choose place_miser, place_mw_dbs;

/* By node, DP: `latest` has the deadline of each, INFINITY where there is none,
 * and then DP; `least` the shortest time of each task, with what may come on
 * top for a migration. */
void place_deadlines(const struct bats_graph *graph, const uint32_t *order,
                     const double *least, double *latest);

/* ---- as a policy ---- */

/* The time and the cost of a task on a cluster, as far as is known. */
double place_runtime(const struct state *s, uint32_t task, size_t cluster);
double place_cost(const struct state *s, double time, size_t cluster);

/* The cost of the task that the slot runs. */
double place_running_cost(const struct state *s, uint32_t slot);

/* Reserve for errors of runtimes: this many times the root of the sum of the
 * squared costs. The errors are independent. */
double place_doubt(const struct state *s);

/* Until the slot is free, microseconds; INFINITY: it gets no task. */
double place_rest(const struct state *s, uint32_t slot);

/* The workflows; one, if there are no purses. */
static inline uint32_t place_workflows(const struct state *s)
{
    return s->money.purses.n > 0 ? s->money.purses.n : 1;
}

static inline uint32_t place_workflow(const struct state *s, uint32_t task)
{
    return s->money.purses.n > 0 ? s->money.purses.of[task] : 0;
}

/* The deadline of a workflow, or of the run if that is sooner; INFINITY:
 * none. */
double place_deadline(const struct state *s, uint32_t workflow);

/* The money that it has left, of its own; INFINITY: it has that of the run. */
double place_money(const struct state *s, uint32_t workflow);
double place_money_of_run(const struct state *s);

struct place_price {
    double price; /* of time: microseconds that a unit of money is worth; 0: it
                     is the limits that count; */
    bool is_relative; /* or, of a range of costs, in ranges of finishes; */
    bool is_late;     /* the workflow would be, so no money is put by */
};

/* The choice goes by this; made anew when more is known. */
struct place_rule {
    double *latest;            /* by node: DP */
    struct place_price *price; /* by workflow */
};

/* Makes the rule from the state. Without memory the last one stays. */
typedef void place_make_rule(const struct state *s, struct place_rule *rule);

/* Which of the workflows' first tasks comes first. */
enum place_turn {
    PLACE_IN_TURN,    /* one of each workflow after the other */
    PLACE_BY_SLACK,   /* the same, that with the soonest DP first */
    PLACE_BY_DEADLINE /* all of the workflow that is due first */
};

struct place_kind {
    place_choose *choose;
    place_make_rule *make; /* NULL: DP of the deadlines */
    enum place_turn turn;
    bool waits; /* a task may be planned for a machine that is not free yet */
};

struct place;

struct place_memory {
    struct place *place;
};

/* The policy `bats_policy_ID`, of the `kind` that stands above it. */
#define PLACE_POLICY(id, called, says)                                        \
    static int init(void *self, const struct state *s,                        \
                    const struct bats_sched_options *o,                       \
                    struct bats_error *err)                                   \
    {                                                                         \
        (void)o;                                                              \
        return place_init(self, s, &kind, err);                               \
    }                                                                         \
    const struct bats_policy bats_policy_##id = {                             \
        .advisor = {.name = called,                                           \
                    .memory = sizeof(struct place_memory),                    \
                    .init = init,                                             \
                    .release = place_release},                                \
        .about = says,                                                        \
        .one_each = true,                                                     \
        .start = rr_start,                                                    \
        .renew = rr_renew,                                                    \
        .refill = rr_refill,                                                  \
        .is_late = place_is_late,                                             \
        .place = place_place}

int place_init(void *self, const struct state *s,
               const struct place_kind *kind, struct bats_error *err);
void place_release(void *self);
bool place_is_late(void *self, const struct state *s);
struct bats_position place_place(void *self, const struct state *s,
                                 uint32_t slot);

#endif
