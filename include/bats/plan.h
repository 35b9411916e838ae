/*
 * plan: the bounded knapsack (BKP) that chooses the number of machines per
 * cluster that finish a bag as fast as the budget allows.
 *
 * Layer: plan. Used by the policy `bats` and by `bats-mpi plan`. Pure.
 *
 *   maximise    R = sum(a_i r_i)                       tasks per window
 *   subject to  k * P <= B,  k = ceil(N / R),  P = sum(a_i c_i),
 *               0 <= a_i <= A_i
 *
 * with r_i = slots_i * ATU / T_i. Source: Oprescu and Kielmann, "Bag-of-Tasks
 * Scheduling under Budget Constraints", section 2.1; Oprescu's thesis, 2.2.2.
 * Charges may have any decimals. Between configurations of equal rate (to
 * 1e-9, relative) the lower cost k * P wins, then the lower price P, then
 * fewer machines of the last cluster, of the last but one, and so on. The
 * ceiling has a relative tolerance of 1e-9, so that rounding does not buy a
 * needless window.
 *
 * The BKP is NP-hard. For clearly different clusters the search takes
 * microseconds and is exact (`proven`). For many clusters of nearly equal
 * efficiency, with charges of several digits, it would take long, so it stops
 * after some milliseconds. The result may then fall short of the best rate: in
 * 2,250 such instances by at most 5e-4, never by a window. Sampled rates have
 * far larger errors.
 */
#ifndef BATS_PLAN_H
#define BATS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/units.h"

/* A cluster as a knapsack item. */
struct bats_plan_item {
    double rate;       /* r_i: tasks per window and machine; 0 = do not use */
    bats_money charge; /* c_i: per machine and window, >= 0 */
    uint32_t max;      /* A_i */
};

struct bats_plan {
    bool feasible;                        /* the whole bag fits the budget */
    uint32_t machines[BATS_CLUSTERS_MAX]; /* a_i, one per item */
    int64_t windows;  /* k: windows that each of these machines gets */
    bats_money price; /* P: price of the configuration per window */
    bats_money cost;  /* k * P <= B */
    double rate;      /* R: tasks per window of the configuration */
    bool proven; /* the plan is optimal; if false, a better one may exist, but
                    the plan's own figures hold */
};

/*
 * Solves the BKP for `n_tasks` tasks and `budget` (BATS_UNLIMITED: none) over
 * `n_items` clusters (1..BATS_CLUSTERS_MAX).
 *
 * If no configuration can finish the bag within the budget, plan->feasible is
 * false and the plan completes the most tasks for the money: it maximises
 * min(n_tasks, k * R) subject to k * P <= B; ties as above, with the smaller k
 * first. If not even one machine is affordable for one window, all machines[]
 * and windows are 0.
 *
 * n_tasks == 0 is feasible with no machines. Errors: BATS_EINPUT (a negative
 * charge or rate, no or too many items), BATS_EOVERFLOW (windows beyond count).
 */
int bats_plan_solve(const struct bats_plan_item *items, size_t n_items,
                    uint64_t n_tasks, bats_money budget,
                    struct bats_plan *plan, struct bats_error *err);

/*
 * The same if a task of mean length takes task_windows[i] windows (any number
 * above 0) on cluster i: a plan that uses the cluster has at least as many.
 * Without this, the knapsack counts fractions of tasks and prefers many
 * machines for one window to few for the two that a long task takes. If not
 * even one machine is affordable for a whole task, the result is the plan
 * above, not feasible.
 */
int bats_plan_solve_whole(const struct bats_plan_item *items,
                          const double *task_windows, size_t n_items,
                          uint64_t n_tasks, bats_money budget,
                          struct bats_plan *plan, struct bats_error *err);

/*
 * Windows that a configuration of `rate` tasks per window needs for
 * `n_tasks`: ceil(n_tasks / rate), with the tolerance above. rate > 0.
 */
int64_t bats_plan_windows(uint64_t n_tasks, double rate);

/* Whole windows that a task of `task_windows` takes, at least 1; INT64_MAX if
 * it cannot be counted. */
int64_t bats_plan_span(double task_windows);

#endif
