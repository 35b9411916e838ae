/* See frontier.h. */
#include "bats/frontier.h"

#include <math.h>
#include <stdlib.h>

#define POINTS_MAX 1000 /* with more points than this, */
#define STEPS 200       /* one is kept per step of the budget */

struct problem {
    const struct bats_plan_item *items;
    const double *task_windows;
    size_t n_items;
    uint64_t n_tasks;
    bats_money least; /* no plan costs less than this */
};

/* Starts with the fastest plan; each further point is the fastest plan that
 * costs less than the previous one, by at least `step`. */
static int collect(const struct problem *p, struct bats_frontier *f,
                   bats_money step, struct bats_error *err)
{
    struct bats_plan plan;
    bats_money budget = BATS_UNLIMITED;
    int rc;
    f->n = 0;
    while ((rc = bats_plan_solve_whole(p->items, p->task_windows, p->n_items,
                                       p->n_tasks, budget, &plan, err)) == 0 &&
           plan.feasible && plan.rate > 0) {
        if (f->n == POINTS_MAX) {
            f->complete = false;
            return 0;
        }
        f->plans[f->n++] = plan;
        if (plan.cost <= p->least)
            return 0;
        budget = plan.cost - step;
        if (budget < p->least)
            budget = p->least;
    }
    return rc;
}

/* The cost of the bag if windows could be divided. */
static bats_money least_cost(const struct problem *p)
{
    double least = INFINITY;
    for (size_t i = 0; i < p->n_items; i++)
        if (p->items[i].rate > 0 && p->items[i].max > 0)
            least = fmin(least, (double)p->items[i].charge / p->items[i].rate *
                                    (double)p->n_tasks);
    return least < 0x1p62 ? (bats_money)least : BATS_UNLIMITED;
}

int bats_frontier_init(struct bats_frontier *frontier,
                       const struct bats_plan_item *items,
                       const double *task_windows, size_t n_items,
                       uint64_t n_tasks, struct bats_error *err)
{
    struct problem p = {items, task_windows, n_items, n_tasks, 0};
    struct bats_plan plan; /* only to check the input */
    int rc = bats_plan_solve(items, n_items, 0, 0, &plan, err);
    if (rc < 0)
        return rc;
    struct bats_frontier f = {.plans = malloc(POINTS_MAX * sizeof plan),
                              .complete = true};
    if (!f.plans)
        return bats_no_memory(err);
    p.least = least_cost(&p);
    rc = collect(&p, &f, 1, err);
    if (rc == 0 && !f.complete)
        rc = collect(&p, &f, (f.plans[0].cost - p.least) / STEPS + 1, err);
    if (rc < 0) {
        bats_frontier_release(&f);
        return rc;
    }
    for (size_t i = 0; i < f.n / 2; i++) {
        plan = f.plans[i];
        f.plans[i] = f.plans[f.n - 1 - i];
        f.plans[f.n - 1 - i] = plan;
    }
    *frontier = f;
    return 0;
}

void bats_frontier_release(struct bats_frontier *frontier)
{
    free(frontier->plans);
    *frontier = (struct bats_frontier){.n = 0};
}
