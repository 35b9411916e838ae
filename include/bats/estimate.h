/*
 * estimate: the schedules that a user can choose from before paying.
 *
 * Layer: estimate. Used by `plan`, `sample` and `run --choose`. Pure. Source:
 * Oprescu's thesis, 3.1.4, 3.1.5, 3.2.1 and chapter 6.
 *
 * From the runtimes on each cluster (interval.h), it makes six schedules
 * between two ends:
 *
 *   cheapest      the least that the rest of the bag costs on one machine,
 *                 over the clusters (3.1.4: of the most profitable one, which
 *                 is the same but for the last window), as budget
 *   fastest       all machines; its cost is the budget
 *
 * and cheapest+10%, cheapest+20%, fastest-20%, fastest-10%: the fastest
 * configuration that such a budget pays (plan.h). Each has
 *
 *   Te      = N / sum(a_i / T_i), the makespan that follows from it and a
 *             prediction interval (interval.h)
 *   delta-N = N - sum(a_k floor(M / T_k)), M its windows: the tasks that do not
 *             fit because a task is not divided; a risk if above 0
 *   cushion   what would deal with them (3.1.5): the budget is raised in steps
 *             of 1 % (of the end it was made from, or of itself) until a
 *             configuration has delta-N <= 0; if all machines are used already
 *             or the limit is reached, money to put aside for the end, so that
 *             each of these tasks gets a machine that goes on for as long as
 *             it takes, the cheapest machines first.
 */
#ifndef BATS_ESTIMATE_H
#define BATS_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/frontier.h"
#include "bats/interval.h"
#include "bats/plan.h"
#include "bats/units.h"

/* The data of an estimate, borrowed. */
struct bats_estimator {
    const struct bats_cluster *clusters;  /* charge, max; name for messages */
    const struct bats_runtimes *runtimes; /* per cluster; mean 0: not used */
    const double *slots; /* tasks at a time per machine and cluster, > 0 (a
                          * mean if they differ); NULL: 1 each */
    size_t n_clusters;   /* 1..BATS_CLUSTERS_MAX */
    uint64_t n_tasks;    /* N: tasks that are left, >= 1 */
    bats_time window;    /* ATU > 0 */
    double confidence;   /* p of interval.h, 0.5 .. 1; 0: 0.9 */
    unsigned cushion_percent; /* limit of a cushion, as a percentage of the
                               * budget it is added to; 0: 20 */
    const char *currency;     /* for messages; NULL or "": none */
};

enum bats_offer {
    BATS_OFFER_CHEAPEST,
    BATS_OFFER_CHEAPEST_10, /* cheapest+10% */
    BATS_OFFER_CHEAPEST_20,
    BATS_OFFER_FASTEST_20, /* fastest-20% */
    BATS_OFFER_FASTEST_10,
    BATS_OFFER_FASTEST,
    BATS_OFFERS,
    /* not in the list: made for a given budget */
    BATS_OFFER_BUDGET = BATS_OFFERS,
    BATS_OFFER_DEADLINE, /* or for a deadline */
    BATS_OFFER_NONE      /* none of these */
};

struct bats_schedule {
    enum bats_offer offer;
    bats_money budget;     /* the budget that the plan was made for */
    struct bats_plan plan; /* machines, windows, cost; at least as many windows
                            * as one task needs */
    struct bats_prediction makespan; /* microseconds. All 0 if the plan is not
                                      * feasible */
    int64_t windows_high; /* windows of the makespan's upper bound, >= those
                              of the plan */
    bats_money cost_high; /* and the cost of the configuration then */
    bool is_bounded;      /* all of its clusters were sampled; if not, the two
                           * members above are no bounds and must not be
                           * shown */
    int64_t delta_n;      /* tasks at risk; < 0: room for more tasks */
    bats_money cushion;   /* 0: none is needed */
    bool refits;          /* the cushion buys `raised`; false: it is put aside
                              for the last delta_n tasks */
    struct bats_plan raised; /* for budget + cushion; delta-N <= 0 */
};

/*
 * Puts the schedules on offer into schedules[BATS_OFFERS], in the order of the
 * enum. A plan can be infeasible if fastest-20% is below the cheapest. Errors:
 * BATS_EINPUT (no cluster has known runtimes), BATS_EOVERFLOW, BATS_ENOMEM.
 */
int bats_estimate_offers(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         struct bats_error *err);

/* The fastest schedule within `budget`. Errors as above, or BATS_EBUDGET: no
 * schedule completes the bag within it; the sentence names the least budget,
 * and the schedule is the one that completes most tasks (plan.h). */
int bats_estimate_for_budget(const struct bats_estimator *e, bats_money budget,
                             struct bats_schedule *schedule,
                             struct bats_error *err);

/* The cheapest schedule expected to end by `deadline`, measured from now; its
 * budget is its cost. BATS_EDEADLINE: there is none; the sentence names the
 * earliest end, and *schedule is the fastest. */
int bats_estimate_for_deadline(const struct bats_estimator *e,
                               bats_time deadline,
                               struct bats_schedule *schedule,
                               struct bats_error *err);

/* The confidence that the estimator uses. */
double bats_estimate_confidence(const struct bats_estimator *e);

/* The least budget with which a schedule completes the bag. Errors as for the
 * offers. */
int bats_estimate_least_budget(const struct bats_estimator *e,
                               bats_money *budget, struct bats_error *err);

/* All schedules on the frontier (frontier.h); to be released. */
int bats_estimate_frontier(const struct bats_estimator *e,
                           struct bats_frontier *frontier,
                           struct bats_error *err);

/* ---- choosing ---- */

struct bats_choice {
    enum bats_offer offer;
    bats_money budget;  /* for BATS_OFFER_BUDGET */
    bats_time deadline; /* for BATS_OFFER_DEADLINE */
};

/* "cheapest", "cheapest+10%" ..., "fastest"; "" for the two without a name. */
const char *bats_offer_name(enum bats_offer offer);

/* Parses one of those names, or 1 .. BATS_OFFERS for its number in the list.
 * BATS_EINPUT with a sentence that lists the names. */
int bats_choice_parse(const char *text, struct bats_choice *choice,
                      struct bats_error *err);

/* The schedule of that choice; errors as for the function that makes it. */
int bats_estimate_choose(const struct bats_estimator *e,
                         const struct bats_choice *choice,
                         struct bats_schedule *schedule,
                         struct bats_error *err);

#endif
