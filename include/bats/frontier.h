/*
 * frontier: the schedules that are Pareto-optimal in cost and makespan.
 *
 * Layer: plan. Used by `bats-mpi plan --frontier`. Pure.
 *
 * A configuration (a_1 .. a_n) runs the bag at R = sum(a_i r_i) tasks per
 * window, in Te = N / R windows; it pays k = ceil(Te) windows (at least what a
 * task needs on any cluster used) at P = sum(a_i c_i) each. It is on the
 * frontier if no other one is at least as good in both cost k P and makespan
 * Te, and better in one of them. Te is not rounded to whole windows: with more
 * machines the same number of windows costs more and ends sooner, and a user
 * may want either. Te that differ by less than 1e-9 (relative) are equal.
 *
 * Method: the plan (plan.h) for an unlimited budget is the fastest point; the
 * plan for a budget just below a point's cost is the next one. The frontier is
 * as exact as the plans. Of more than 1,000 points, about 200 are kept, at
 * equal steps of the cost.
 */
#ifndef BATS_FRONTIER_H
#define BATS_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/plan.h"

struct bats_frontier {
    struct bats_plan *plans; /* the cheapest and slowest first */
    size_t n;                /* 0: no cluster can run a task */
    bool complete;           /* false: a selection of more than 1,000 */
};

/*
 * The frontier for `n_tasks` tasks over the clusters `items`; task_windows as
 * for bats_plan_solve_whole. The caller releases it. Errors: as
 * bats_plan_solve.
 */
int bats_frontier_init(struct bats_frontier *frontier,
                       const struct bats_plan_item *items,
                       const double *task_windows, size_t n_items,
                       uint64_t n_tasks, struct bats_error *err);
void bats_frontier_release(struct bats_frontier *frontier);

#endif
