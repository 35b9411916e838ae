/* See frontier.h. */
#include "bats/frontier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/frontier_lists.h"

#define EQUAL 1e-9 /* makespans that differ by less are equal */
#define STEPS 100  /* of the budget, where the lists grow too long */

/* ---- from lists to points ---- */

/* A point and where its machines are in the heap of all candidates. */
struct candidate {
    struct bats_frontier_point point;
    size_t at;
};

struct candidates {
    struct candidate *all;
    uint32_t *machines;
    size_t n, capacity;
    size_t n_clusters;
};

static void release_candidates(struct candidates *c)
{
    free(c->all);
    free(c->machines);
}

/* A further candidate with no machines yet; NULL: out of memory. */
static struct candidate *new_candidate(struct candidates *c)
{
    if (c->n == c->capacity) {
        size_t n = c->capacity ? 2 * c->capacity : 64;
        struct candidate *all = realloc(c->all, n * sizeof *all);
        if (all)
            c->all = all;
        uint32_t *machines =
            realloc(c->machines, n * c->n_clusters * sizeof *machines);
        if (machines)
            c->machines = machines;
        if (!all || !machines)
            return NULL;
        c->capacity = n;
    }
    struct candidate *new = &c->all[c->n];
    *new = (struct candidate){.at = c->n++ * c->n_clusters};
    memset(c->machines + new->at, 0, c->n_clusters * sizeof *c->machines);
    return new;
}

/* From the fastest on, what is cheaper than all that is faster. */
static bool collect(const struct bats_frontier_lists *l, uint64_t n_tasks,
                    int64_t span, struct candidates *c)
{
    bats_money least = BATS_UNLIMITED;

    for (size_t i = l->n; i-- > 0;) {
        const struct bats_frontier_state *s = &l->list[i];
        if (s->rate <= 0)
            continue;
        int64_t windows = bats_plan_windows(n_tasks, s->rate);
        if (windows < span)
            windows = span;
        bats_money cost;
        if (!bats_units_multiply(windows, s->price, &cost) || cost >= least)
            continue;
        least = cost;
        struct candidate *new = new_candidate(c);
        if (!new)
            return false;
        new->point = (struct bats_frontier_point){.cost = cost,
                                                  .price = s->price,
                                                  .windows = windows,
                                                  .rate = s->rate};
        bats_frontier_lists_trace(l, i, c->machines + new->at);
    }
    return true;
}

/* ---- the whole ---- */

/* The spans of clusters that no configuration is done sooner than are as good
 * as the largest of them. */
static int64_t first_span(const struct bats_plan_item *items,
                          const double *task_windows, size_t n,
                          uint64_t n_tasks)
{
    double rate = 0;

    for (size_t i = 0; i < n; i++)
        rate += items[i].rate * items[i].max;
    int64_t least = rate > 0 ? bats_plan_windows(n_tasks, rate) : 1;
    int64_t span = bats_plan_next_span(task_windows, n, 0), next = span;
    while ((next = bats_plan_next_span(task_windows, n, next)) <= least)
        span = next;
    return span;
}

/* The fastest first; of equally fast ones the cheapest. */
static int by_rate(const void *a, const void *b)
{
    const struct bats_frontier_point *p =
        &((const struct candidate *)a)->point;
    const struct bats_frontier_point *q =
        &((const struct candidate *)b)->point;

    if (p->rate < q->rate || p->rate > q->rate)
        return p->rate > q->rate ? -1 : 1;
    return p->cost < q->cost ? -1 : p->cost > q->cost;
}

/* Leaves only what is not dominated, the fastest first. */
static void sift(struct candidates *c)
{
    size_t n = 0;

    bool sorted = true;
    for (size_t i = 1; i < c->n && sorted; i++)
        sorted = by_rate(&c->all[i - 1], &c->all[i]) <= 0;
    if (!sorted)
        qsort(c->all, c->n, sizeof *c->all, by_rate);
    for (size_t i = 0; i < c->n; i++) {
        const struct bats_frontier_point *p = &c->all[i].point;
        if (n > 0 && p->cost >= c->all[n - 1].point.cost)
            continue;
        while (n > 0 && p->rate >= c->all[n - 1].point.rate * (1 - EQUAL))
            n--;
        c->all[n++] = c->all[i];
    }
    c->n = n;
}

static bool hand_over(const struct candidates *c,
                      const struct bats_plan_item *items,
                      struct bats_frontier *f)
{
    size_t width = c->n_clusters;

    f->n_clusters = width;
    f->points = malloc((c->n + 1) * sizeof *f->points);
    f->machines = malloc((c->n + 1) * width * sizeof *f->machines);
    if (!f->points || !f->machines)
        return false;
    for (size_t i = c->n; i-- > 0; f->n++) {
        struct bats_frontier_point *p = &f->points[f->n];
        uint32_t *machines = f->machines + f->n * width;
        *p = c->all[i].point;
        memcpy(machines, c->machines + c->all[i].at, width * sizeof *machines);
        p->rate = 0; /* summed up as a plan's is */
        for (size_t k = 0; k < width; k++)
            p->rate += machines[k] * items[k].rate;
    }
    return true;
}

/* The clusters on which a task takes `span` windows at most. */
static int take_clusters(struct bats_knapsack *types,
                         const struct bats_plan_item *items,
                         const double *task_windows, size_t n_items,
                         int64_t span, struct bats_error *err)
{
    bats_money sum = 0, price;

    types->n = 0;
    for (size_t i = 0; i < n_items; i++) {
        if (items[i].rate <= 0 || items[i].max == 0 ||
            bats_plan_span(task_windows[i]) > span)
            continue;
        if (!bats_units_multiply(items[i].charge, items[i].max, &price) ||
            !bats_units_add(sum, price, &sum))
            return bats_error_set(err, BATS_EOVERFLOW,
                                  "what all machines charge for a window is "
                                  "too large a number");
        types->type[types->n++] = (struct bats_knapsack_type){
            .price = items[i].charge,
            .rate = items[i].rate,
            .max = items[i].max,
            .item = (uint32_t)i,
        };
    }
    bats_knapsack_sort(types);
    return 0;
}

static bool add_plan(struct candidates *c, const struct bats_plan *plan)
{
    struct candidate *new = new_candidate(c);

    if (!new)
        return false;
    new->point = (struct bats_frontier_point){.cost = plan->cost,
                                              .price = plan->price,
                                              .windows = plan->windows,
                                              .rate = plan->rate};
    memcpy(c->machines + new->at, plan->machines,
           c->n_clusters * sizeof *plan->machines);
    return true;
}

/* Points for budgets at equal steps, down to what the bag would cost if
 * windows could be divided. */
static int sample_points(struct candidates *c,
                         const struct bats_plan_item *items,
                         const double *task_windows, uint64_t n_tasks,
                         struct bats_error *err)
{
    struct bats_plan plan;
    double least = INFINITY;
    int rc = bats_plan_solve_whole(items, task_windows, c->n_clusters, n_tasks,
                                   BATS_UNLIMITED, &plan, err);

    for (size_t i = 0; i < c->n_clusters; i++)
        if (items[i].rate > 0 && items[i].max > 0)
            least = fmin(least, (double)items[i].charge / items[i].rate *
                                    (double)n_tasks);
    double range = rc == 0 ? (double)plan.cost - least : 0;
    c->n = 0;
    for (int step = STEPS; rc == 0 && plan.feasible; step--) {
        if (!add_plan(c, &plan))
            return bats_error_set(err, BATS_ENOMEM,
                                  "no memory for a frontier");
        if (step == 0)
            break;
        rc = bats_plan_solve_whole(
            items, task_windows, c->n_clusters, n_tasks,
            (bats_money)(least + range * (step - 1) / STEPS), &plan, err);
    }
    return rc;
}

int bats_frontier_init(struct bats_frontier *frontier,
                       const struct bats_plan_item *items,
                       const double *task_windows, size_t n_items,
                       uint64_t n_tasks, struct bats_error *err)
{
    struct bats_frontier f = {.complete = true};
    struct candidates c = {.n_clusters = n_items};
    struct bats_frontier_lists l = {.n = 0};
    struct bats_frontier_least least;
    struct bats_plan plan; /* only to have the input checked */
    int rc = bats_plan_solve(items, n_items, 0, 0, &plan, err);
    bool enough = true;

    for (int k = 0; k < BATS_FRONTIER_WINDOWS; k++)
        least.cost[k] = INFINITY;
    for (int64_t span = first_span(items, task_windows, n_items, n_tasks);
         rc == 0 && enough && f.complete && span < INT64_MAX;
         span = bats_plan_next_span(task_windows, n_items, span)) {
        rc = take_clusters(&l.types, items, task_windows, n_items, span, err);
        if (rc == 0) {
            l.n_tasks = n_tasks;
            l.span = span;
            l.least = &least;
            enough = bats_frontier_lists_make(&l);
            f.complete = !l.full;
        }
        if (rc == 0 && enough && f.complete)
            enough = collect(&l, n_tasks, span, &c);
        bats_frontier_lists_release(&l);
    }
    if (rc == 0 && !f.complete)
        rc = sample_points(&c, items, task_windows, n_tasks, err);
    if (rc == 0 && enough) {
        sift(&c);
        enough = hand_over(&c, items, &f);
    }
    release_candidates(&c);
    if (rc == 0 && !enough)
        rc = bats_error_set(err, BATS_ENOMEM, "no memory for a frontier");
    if (rc == 0)
        *frontier = f;
    else
        bats_frontier_release(&f);
    return rc;
}

void bats_frontier_release(struct bats_frontier *frontier)
{
    free(frontier->points);
    free(frontier->machines);
    *frontier = (struct bats_frontier){.n = 0};
}
