/*
 * estimate: the schedules that a user can choose from before paying.
 *
 * Layer: estimate. Used by `plan`, `sample` and `run --choose`. Pure.
 *
 * A schedule is made from the runtimes on each cluster (interval.h), by the
 * rules of the policy that carries it out.
 *
 * Policy bats buys machine-windows (windows.h). For every end M there is a
 * least cost; the schedules on offer are the two ends of that frontier and
 * points between them:
 *
 *   fastest    the soonest end
 *   cheapest   the soonest end within 3 % of the least cost
 *   balanced   the knee between these: in logarithms of cost and end, the
 *              point farthest below the line that joins them; if none is
 *              below, the middle of the ends
 *   cheaper    the same between cheapest and balanced,
 *   faster     and between balanced and fastest
 *
 *   E(M)      (*) of interval.h; a machine counts for the fraction of M that
 *             it is held
 *   bound     of the cost: the least cost for the upper bound of the end, with
 *             every mean runtime at its upper bound; at least one more window
 *             of its most expensive cluster, since tasks are indivisible
 *
 * Tasks with dependencies run in levels: the tasks of a level have chains of
 * equal length up to the bag's end (graph.h), as between two barriers. A level
 * is a bag of its own, on no more slots than it has tasks; E(M) and its bounds
 * are sums over the levels. Machine-windows are bought also for the tasks that
 * slots could do while they wait for the end of a level. (For configurations
 * only E(M) accounts for levels.) No end is sooner than that of the longest
 * chain of tasks on the schedule's fastest machines.
 *
 * A batch job is billed by the second for all it holds until it ends: E(M)
 * (sum(a_i c_i) + the charge for rank 0). If it already runs, the only
 * schedule is to use all of it; the alternative is to stop. If it is yet to be
 * requested, the names above stand for numbers of machines.
 *
 * Policy bkp holds one configuration (plan.h): Oprescu's thesis, 3.1.4, 3.1.5,
 * 3.2.1 and chapter 6. Six schedules lie between two ends:
 *
 *   cheapest      the budget is the least cost of the rest of the bag on one
 *                 machine, over the clusters (3.1.4: on the most profitable
 *                 one, the same but for the last window)
 *   fastest       all machines; its cost is the budget
 *
 * and cheapest+10%, cheapest+20%, fastest-20%, fastest-10%: the fastest
 * configuration within such a budget (plan.h). Each has
 *
 *   Te      = N / sum(a_i / T_i), the resulting makespan and a prediction
 *             interval (interval.h)
 *   delta-N = N - sum(a_k floor(M / T_k)), M its windows: tasks that do not
 *             fit because tasks are indivisible; a risk if > 0
 *   cushion   money for these tasks (3.1.5): the budget is raised in steps of
 *             1 % (of the end it was made from, or of itself) until a
 *             configuration has delta-N <= 0; if all machines are used already
 *             or the limit is reached, money put aside for the end, so that
 *             each of these tasks gets a machine for as long as it takes, the
 *             cheapest machines first.
 */
#ifndef BATS_ESTIMATE_H
#define BATS_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/choice.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/interval.h"
#include "bats/plan.h"
#include "bats/units.h"

/* Rank 0 needs a slot of its own on a machine of one cluster: of those in use,
 * the one with the lowest place. */
struct bats_head {
    uint32_t place;
    bats_money charge; /* per window; 0 if it shares a machine */
};

/* Machines of a cluster that are already paid, for this time on average. The
 * tasks left exclude their work until then. */
struct bats_paid {
    uint32_t machines;
    double time; /* microseconds */
};

/* Levels of tasks grouped by size: count[k] levels of tasks[k] (mean)
 * tasks. */
#define BATS_LEVELS_MAX 32

struct bats_levels {
    size_t n;
    double tasks[BATS_LEVELS_MAX], count[BATS_LEVELS_MAX];
};

/* Groups n levels of tasks[i] >= 0 tasks each; sorts tasks[]. If there are
 * more sizes than room, merges neighbours. */
void bats_levels_of(struct bats_levels *levels, uint32_t *tasks, size_t n);

/* The data of an estimate, borrowed. */
struct bats_estimator {
    enum bats_plans plans;
    const struct bats_cluster *clusters;  /* charge, max; name for messages */
    const struct bats_runtimes *runtimes; /* per cluster; mean 0: not used */
    const double *slots; /* slots per machine, by cluster, > 0 (a mean if they
                            differ); NULL: 1 each */
    size_t n_clusters;   /* 1..BATS_CLUSTERS_MAX */
    uint64_t n_tasks;    /* N: tasks left, >= 1 */
    /* Levels of these tasks, or of some more; NULL: no dependencies. */
    const struct bats_levels *levels;
    double chain; /* length of the longest chain of tasks left, in mean tasks;
                     0: no dependencies */
    bats_time window;         /* ATU > 0 */
    double confidence;        /* p of interval.h, 0.5 .. 1; 0: 0.9 */
    unsigned cushion_percent; /* limit of a cushion in percent of the budget it
                                 is added to; 0: 20 */
    const char *currency;     /* for messages; NULL or "": none */
    bats_time until; /* schedules that end later, measured from now, are
                        offered only if there is no other; 0: no limit */
    const struct bats_paid *paid; /* for machine-windows: per cluster; NULL: no
                                     machine is held */
    /* For an allocation: */
    bats_money rate; /* hourly bill of the running job; 0: not requested yet */
    const struct bats_head *heads; /* then, per cluster; NULL: no charge for
                                      rank 0 */
    bats_time least; /* least time for which a job is billed; 0: none */
};

/* Fraction of time in which these slots of each cluster (at least one has
 * some) run tasks instead of waiting for the end of a level; 1 without
 * levels. */
double bats_levels_share(const struct bats_estimator *e, const double *slots);

/* Tasks that these slots, which begin `later` (microseconds), could do while
 * waiting; 0 without levels. */
double bats_levels_waiting(const struct bats_estimator *e, const double *slots,
                           double later);

struct bats_schedule {
    enum bats_offer offer;
    bats_money budget;     /* budget of the plan */
    struct bats_plan plan; /* machines, windows, cost; at least the windows
                              that one task needs */
    /* Each of cluster i's plan.machines[i] is held for held[i] windows, and
     * longer[i] of them for one more. (plan.windows is the longest time.) */
    int64_t held[BATS_CLUSTERS_MAX];
    uint32_t longer[BATS_CLUSTERS_MAX];
    bats_time aim; /* M, if policy bats is to take the cheapest way to that
                      end; 0: the sooner the better */
    struct bats_prediction makespan; /* microseconds. All 0 if the plan is not
                                      * feasible */
    int64_t windows_high; /* windows of the makespan's upper bound, >= those
                              of the plan */
    bats_money cost_high; /* cost of the configuration then */
    bool is_bounded;      /* all its clusters were sampled; if not, the two
                             members above are no bounds and must not be
                             shown */
    int64_t delta_n;      /* tasks at risk; < 0: room for more tasks */
    bats_money cushion;   /* 0: none needed */
    bool refits;          /* the cushion buys `raised`; false: it is put aside
                             for the last delta_n tasks */
    struct bats_plan raised; /* for budget + cushion; delta-N <= 0 */
};

/*
 * Writes the schedules on offer to schedules[], the cheapest first, and their
 * number to *n (may be NULL). There are 1 to 5 schedules of machine-windows,
 * each cheaper and later than the next one. There are always six
 * configurations, in the order of the enum; a plan can be infeasible if
 * fastest-20% is below the cheapest. Errors: BATS_EINPUT (no cluster has known
 * runtimes), BATS_EOVERFLOW, BATS_ENOMEM.
 */
int bats_estimate_offers(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err);

/* Drops schedules that equal an earlier one; returns the number left. */
size_t bats_offers_merge(struct bats_schedule *schedules, size_t n);

/* Index of the schedule that a choice of `offer` selects, even if it is not
 * listed by that name; n: none. */
size_t bats_offers_find(const struct bats_estimator *e,
                        const struct bats_schedule *schedules, size_t n,
                        enum bats_offer offer);

/* The fastest schedule within `budget`. Errors as above, or BATS_EBUDGET: none
 * completes the bag; then the sentence names the least budget, and *schedule
 * completes the most tasks (plan.h). */
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

/* All schedules on the frontier with a cost, an end (for configurations: Te)
 * and machines, the cheapest first. *schedules, for free(), has *n. *complete
 * is false if these are a selection of too many. */
int bats_estimate_frontier(const struct bats_estimator *e,
                           struct bats_schedule **schedules, size_t *n,
                           bool *complete, struct bats_error *err);

/* ---- choosing ---- */

/* The chosen schedule; errors as for the function that makes it. */
int bats_estimate_choose(const struct bats_estimator *e,
                         const struct bats_choice *choice,
                         struct bats_schedule *schedule,
                         struct bats_error *err);

#endif
