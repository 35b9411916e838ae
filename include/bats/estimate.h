/*
 * estimate: the schedules that a user can choose from before paying.
 *
 * Layer: estimate. Used by `plan`, `sample` and `run --choose`. Pure.
 *
 * A schedule is made from the runtimes on each cluster (interval.h), by the
 * rules of who carries it out.
 *
 * Policy bats buys machine-windows (windows.h). For every end M there is a
 * least cost; the schedules on offer are the ends of that frontier, and what
 * lies between them:
 *
 *   fastest    the soonest end
 *   cheapest   the soonest of those ends that cost the least, within 3 %
 *   balanced   between these, the knee: seen in logarithms of cost and end, the
 *              point that is farthest below the line that joins them; or if
 *              none is, the middle of the ends
 *   cheaper    the same between cheapest and balanced,
 *   faster     and between balanced and fastest
 *
 *   E(M)      (*) of interval.h, a machine counting for the share of M that it
 *             is held
 *   bound     of the cost: the least cost of the same end's upper bound if
 *             every mean runtime is at its own; and a window more at least, of
 *             the dearest of its clusters, since tasks are not divided
 *
 * Tasks that wait for others are done in levels: the tasks of a level have
 * chains of equal length before the bag's end (graph.h), as between two
 * barriers. A level is a bag of its own, on no more slots than it has tasks;
 * E(M) and its bounds are the sums over the levels. Machine-windows are bought
 * for as many tasks more as could be done in the time in which slots wait for
 * the end of a level. (Configurations are not: only their E(M) has levels.)
 * No end is sooner than that of the longest chain of tasks on the fastest
 * machines of the schedule.
 *
 * A job of a batch system is billed for all that it holds until it ends, by the
 * second: E(M) (sum(a_i c_i) + what rank 0 needs). If it runs already, nothing
 * can be chosen but to stop; the only schedule is all that there is. If it is
 * still to be asked for, the names above mean numbers of machines.
 *
 * Policy bkp holds one configuration (plan.h): Oprescu's thesis, 3.1.4, 3.1.5,
 * 3.2.1 and chapter 6. Six schedules lie between two ends:
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

#include "bats/choice.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/interval.h"
#include "bats/plan.h"
#include "bats/units.h"

/* Rank 0 needs a slot of its own, among the machines of one cluster: that with
 * the lowest place of those in use. */
struct bats_head {
    uint32_t place;
    bats_money charge; /* per window; 0 where it shares a machine */
};

/* Machines of a cluster that are paid already, on average for so long. What
 * they do until then is no part of the tasks that are left. */
struct bats_paid {
    uint32_t machines;
    double time; /* microseconds */
};

/* Levels of tasks, by their size: count[k] of tasks[k] (a mean) each. */
#define BATS_LEVELS_MAX 32

struct bats_levels {
    size_t n;
    double tasks[BATS_LEVELS_MAX], count[BATS_LEVELS_MAX];
};

/* Makes them of n levels with tasks[i] >= 0 in each, which are sorted here. If
 * there are more sizes than room, neighbours are put together. */
void bats_levels_of(struct bats_levels *levels, uint32_t *tasks, size_t n);

/* The data of an estimate, borrowed. */
struct bats_estimator {
    enum bats_plans plans;
    const struct bats_cluster *clusters;  /* charge, max; name for messages */
    const struct bats_runtimes *runtimes; /* per cluster; mean 0: not used */
    const double *slots; /* tasks at a time per machine and cluster, > 0 (a
                          * mean if they differ); NULL: 1 each */
    size_t n_clusters;   /* 1..BATS_CLUSTERS_MAX */
    uint64_t n_tasks;    /* N: tasks that are left, >= 1 */
    /* The levels of these tasks, or of some more; NULL: none waits for
     * others. */
    const struct bats_levels *levels;
    double chain; /* how many tasks of mean length take as long as the longest
                   * chain of those that are left now; 0: none waits */
    bats_time window;         /* ATU > 0 */
    double confidence;        /* p of interval.h, 0.5 .. 1; 0: 0.9 */
    unsigned cushion_percent; /* limit of a cushion, as a percentage of the
                               * budget it is added to; 0: 20 */
    const char *currency;     /* for messages; NULL or "": none */
    bats_time until; /* what ends later is not offered, if there is anything
                      * else; from now; 0: no limit */
    const struct bats_paid *paid; /* of machine-windows: per cluster; NULL: no
                                   * machine is held */
    /* For an allocation: */
    bats_money rate; /* the bill per hour of the job that runs; 0: it is still
                      * to be asked for */
    const struct bats_head *heads; /* then, per cluster; NULL: nothing */
    bats_time least; /* a shorter job is billed for this time; 0: none is */
};

/* The share of their time in which these slots of each cluster (one has some)
 * do tasks, and do not wait for the end of a level: 1 without levels. */
double bats_levels_share(const struct bats_estimator *e, const double *slots);

/* Tasks that these slots, which begin `later` (microseconds), could do
 * meanwhile; 0 without levels. */
double bats_levels_waiting(const struct bats_estimator *e, const double *slots,
                           double later);

struct bats_schedule {
    enum bats_offer offer;
    bats_money budget;     /* the budget that the plan was made for */
    struct bats_plan plan; /* machines, windows, cost; at least as many windows
                            * as one task needs */
    /* Each of cluster i's plan.machines[i] is held for held[i] windows, and
     * longer[i] of them for one more. (plan.windows is the longest time.) */
    int64_t held[BATS_CLUSTERS_MAX];
    uint32_t longer[BATS_CLUSTERS_MAX];
    bats_time aim; /* M, if policy bats has to take the time until then: what
                     * is cheapest; 0: the sooner the better */
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
 * Puts the schedules on offer into schedules[], the cheapest first; *n of them
 * (may be NULL). Of machine-windows there are 1 to 5, each of
 * which costs less and ends later than the next one. Of configurations it is
 * always six, in the order of the enum, and a plan can be infeasible if
 * fastest-20% is below the cheapest. Errors: BATS_EINPUT (no cluster has known
 * runtimes), BATS_EOVERFLOW, BATS_ENOMEM.
 */
int bats_estimate_offers(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err);

/* Drops schedules that equal one before them; returns how many are left. */
size_t bats_offers_merge(struct bats_schedule *schedules, size_t n);

/* The one of the `n` schedules that somebody gets who chooses `offer`, which
 * need not be listed by that name; `n`: none. */
size_t bats_offers_find(const struct bats_estimator *e,
                        const struct bats_schedule *schedules, size_t n,
                        enum bats_offer offer);

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

/* All schedules on the frontier, the cheapest first, as far as they have a
 * cost, an end (of configurations: Te) and machines. *schedules is for free(),
 * *n of them. *complete: false: there are too many, and these are a part. */
int bats_estimate_frontier(const struct bats_estimator *e,
                           struct bats_schedule **schedules, size_t *n,
                           bool *complete, struct bats_error *err);

/* ---- choosing ---- */

/* The schedule of that choice; errors as for the function that makes it. */
int bats_estimate_choose(const struct bats_estimator *e,
                         const struct bats_choice *choice,
                         struct bats_schedule *schedule,
                         struct bats_error *err);

#endif
