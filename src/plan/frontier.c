/* See frontier.h. */
#include "bats/frontier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 1000 /* with more points than this, */
#define STEPS 200       /* one is kept per step of the budget */

struct problem {
    const struct bats_plan_item *items;
    const double *task_windows;
    uint64_t n_tasks;
    bats_money least; /* no plan costs less than this */
};

static int solve(const struct problem *p, size_t n_items, bats_money budget,
                 struct bats_plan *plan, struct bats_error *err)
{
    return bats_plan_solve_whole(p->items, p->task_windows, n_items,
                                 p->n_tasks, budget, plan, err);
}

static void append(struct bats_frontier *f, const struct bats_plan *plan)
{
    f->points[f->n] = (struct bats_frontier_point){.cost = plan->cost,
                                                   .price = plan->price,
                                                   .windows = plan->windows,
                                                   .rate = plan->rate};
    memcpy(f->machines + f->n * f->n_clusters, plan->machines,
           f->n_clusters * sizeof *f->machines);
    f->n++;
}

/* Starts with the fastest plan; each further point is the fastest plan that
 * costs less than the previous one, by at least `step`. */
static int collect(const struct problem *p, struct bats_frontier *f,
                   bats_money step, struct bats_error *err)
{
    struct bats_plan plan;
    int rc = solve(p, f->n_clusters, BATS_UNLIMITED, &plan, err);

    f->n = 0;
    f->complete = true;
    while (rc == 0 && plan.feasible && plan.rate > 0) {
        if (f->n == POINTS_MAX) {
            f->complete = false;
            return 0;
        }
        append(f, &plan);
        if (plan.cost <= p->least)
            return 0;
        bats_money budget = plan.cost - step;
        rc = solve(p, f->n_clusters, budget > p->least ? budget : p->least,
                   &plan, err);
    }
    return rc;
}

/* The cost of the bag if windows could be divided. */
static bats_money least_cost(const struct problem *p, size_t n_items)
{
    double least = INFINITY;

    for (size_t i = 0; i < n_items; i++)
        if (p->items[i].rate > 0 && p->items[i].max > 0)
            least = fmin(least, (double)p->items[i].charge / p->items[i].rate *
                                    (double)p->n_tasks);
    return least < 0x1p62 ? (bats_money)least : BATS_UNLIMITED;
}

static void swap(struct bats_frontier *f, size_t i, size_t j)
{
    struct bats_frontier_point point = f->points[i];
    f->points[i] = f->points[j];
    f->points[j] = point;
    for (size_t k = 0; k < f->n_clusters; k++) {
        uint32_t *a = &f->machines[i * f->n_clusters + k];
        uint32_t *b = &f->machines[j * f->n_clusters + k];
        uint32_t machines = *a;
        *a = *b;
        *b = machines;
    }
}

int bats_frontier_init(struct bats_frontier *frontier,
                       const struct bats_plan_item *items,
                       const double *task_windows, size_t n_items,
                       uint64_t n_tasks, struct bats_error *err)
{
    struct problem p = {
        .items = items, .task_windows = task_windows, .n_tasks = n_tasks};
    struct bats_frontier f = {.n_clusters = n_items};
    struct bats_plan plan; /* only to check the input */
    int rc = bats_plan_solve(items, n_items, 0, 0, &plan, err);

    if (rc < 0)
        return rc;
    f.points = malloc(POINTS_MAX * sizeof *f.points);
    f.machines = malloc(POINTS_MAX * n_items * sizeof *f.machines);
    if (!f.points || !f.machines) {
        bats_frontier_release(&f);
        return bats_no_memory(err);
    }
    p.least = least_cost(&p, n_items);
    rc = collect(&p, &f, 1, err);
    if (rc == 0 && !f.complete) {
        bats_money range = f.points[0].cost - p.least;
        rc = collect(&p, &f, range / STEPS + 1, err);
        f.complete = false;
    }
    if (rc < 0) {
        bats_frontier_release(&f);
        return rc;
    }
    for (size_t i = 0; i < f.n / 2; i++)
        swap(&f, i, f.n - 1 - i);
    *frontier = f;
    return 0;
}

void bats_frontier_release(struct bats_frontier *frontier)
{
    free(frontier->points);
    free(frontier->machines);
    *frontier = (struct bats_frontier){.n = 0};
}
