/* configurations: schedules for policy bkp. See plans.h. */
#include "estimate/plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bats/frontier.h"

#define CUSHION_PERCENT 20

/* The clusters as items of the knapsack. */
struct items {
    struct bats_plan_item item[BATS_CLUSTERS_MAX];
    double task_windows[BATS_CLUSTERS_MAX]; /* T_i / ATU */
};

/* `amount` x `share` / 100, rounded down; BATS_UNLIMITED stays. */
static bats_money percent(bats_money amount, unsigned share)
{
    __int128 result = (__int128)amount * share / 100;

    return amount == BATS_UNLIMITED || result > BATS_UNLIMITED
               ? BATS_UNLIMITED
               : (bats_money)result;
}

/* No cluster gets more machines than there are tasks. */
static int make_items(const struct bats_estimator *e, struct items *items,
                      struct bats_error *err)
{
    bool any = false;

    for (size_t i = 0; i < e->n_clusters; i++) {
        struct bats_plan_item *item = &items->item[i];
        double mean = e->runtimes[i].mean;
        double most = ceil((double)e->n_tasks / estimate_slots(e, i));
        *item = (struct bats_plan_item){.charge = e->clusters[i].charge};
        items->task_windows[i] = 0;
        if (!(mean > 0) || e->clusters[i].max == 0)
            continue;
        any = true;
        item->rate = estimate_slots(e, i) * (double)e->window / mean;
        item->max =
            most < e->clusters[i].max ? (uint32_t)most : e->clusters[i].max;
        items->task_windows[i] = mean / (double)e->window;
    }
    if (!any)
        return bats_error_set(err, BATS_EINPUT,
                              "no runtimes are known on any "
                              "cluster");
    return 0;
}

static int solve(const struct bats_estimator *e, const struct items *items,
                 bats_money budget, struct bats_plan *plan,
                 struct bats_error *err)
{
    return bats_plan_solve_whole(items->item, items->task_windows,
                                 e->n_clusters, e->n_tasks, budget, plan, err);
}

/* ---- tasks at risk and the cushion ---- */

static int64_t delta_n(const struct bats_estimator *e,
                       const struct items *items, const struct bats_plan *plan)
{
    double rest = (double)e->n_tasks;

    for (size_t i = 0; i < e->n_clusters; i++) {
        if (plan->machines[i] == 0)
            continue;
        double fit = (double)plan->windows / items->task_windows[i];
        rest -= floor(fit + fit * TOLERANCE) *
                floor(plan->machines[i] * estimate_slots(e, i));
    }
    return rest > -0x1p63 ? (int64_t)rest : INT64_MIN;
}

static bool uses_all(const struct bats_estimator *e, const struct items *items,
                     const struct bats_plan *plan)
{
    for (size_t i = 0; i < e->n_clusters; i++)
        if (plan->machines[i] < items->item[i].max)
            return false;
    return true;
}

/* Cost of one machine of cluster i for the windows of a task. */
static bats_money price_of_task(const struct items *items, size_t i)
{
    bats_money price;

    return bats_units_multiply(bats_plan_span(items->task_windows[i]),
                               items->item[i].charge, &price)
               ? price
               : BATS_UNLIMITED;
}

/* Cost of `left` tasks, one per slot of the plan's machines. */
static bats_money cost_of_last(const struct bats_estimator *e,
                               const struct items *items,
                               const struct bats_plan *plan, int64_t left)
{
    bool seen[BATS_CLUSTERS_MAX] = {false};
    bats_money sum = 0;

    while (left > 0) {
        size_t best = BATS_CLUSTERS_MAX;
        for (size_t i = 0; i < e->n_clusters; i++)
            if (plan->machines[i] > 0 && !seen[i] &&
                (best == BATS_CLUSTERS_MAX ||
                 price_of_task(items, i) < price_of_task(items, best)))
                best = i;
        if (best == BATS_CLUSTERS_MAX) /* more tasks than slots: another
                                          round */
            return bats_units_multiply(sum, 2, &sum) ? sum : BATS_UNLIMITED;
        seen[best] = true;
        double slots = estimate_slots(e, best);
        double want = ceil((double)left / slots);
        int64_t machines =
            want < plan->machines[best] ? (int64_t)want : plan->machines[best];
        bats_money price;
        if (!bats_units_multiply(machines, price_of_task(items, best),
                                 &price) ||
            !bats_units_add(sum, price, &sum))
            return BATS_UNLIMITED;
        left -= (int64_t)floor((double)machines * slots);
    }
    return sum;
}

/* Finds the cushion (estimate.h); a step is 1 % of `end`. */
static int find_cushion(const struct bats_estimator *e,
                        const struct items *items, bats_money end,
                        struct bats_schedule *s, struct bats_error *err)
{
    unsigned most = e->cushion_percent ? e->cushion_percent : CUSHION_PERCENT;
    bool all = uses_all(e, items, &s->plan);

    for (unsigned step = 1; !all && end > 0; step++) {
        struct bats_plan plan;
        bats_money more = percent(end, step), budget;
        if (more > percent(s->budget, most) || s->budget == BATS_UNLIMITED ||
            !bats_units_add(s->budget, more, &budget))
            break;
        int rc = solve(e, items, budget, &plan, err);
        if (rc < 0)
            return rc;
        if (delta_n(e, items, &plan) <= 0) {
            s->cushion = more;
            s->refits = true;
            s->raised = plan;
            return 0;
        }
        all = uses_all(e, items, &plan);
    }
    s->cushion = cost_of_last(e, items, &s->plan, s->delta_n);
    return 0;
}

/* ---- one schedule ---- */

static struct bats_prediction makespan_of(const struct bats_estimator *e,
                                          const struct bats_plan *plan)
{
    double slots[BATS_CLUSTERS_MAX];

    for (size_t i = 0; i < e->n_clusters; i++)
        slots[i] = plan->machines[i] * estimate_slots(e, i);
    return estimate_makespan(e, slots, 0);
}

/* Sums the cost at the upper bounds of the clusters' ends. */
static void bound_cost(const struct bats_estimator *e, struct bats_schedule *s)
{
    const struct bats_plan *plan = &s->plan;

    s->windows_high = plan->windows;
    s->cost_high = 0;
    for (size_t i = 0; i < e->n_clusters; i++) {
        bats_money price;
        if (plan->machines[i] == 0)
            continue;
        double end = bats_interval_end(&s->makespan, &e->runtimes[i]);
        double needed = ceil(end / (double)e->window * (1 - TOLERANCE));
        int64_t windows = needed < 0x1p62 ? (int64_t)needed : INT64_MAX;
        if (windows < plan->windows)
            windows = plan->windows;
        if (windows > s->windows_high)
            s->windows_high = windows;
        if (!bats_units_multiply(e->clusters[i].charge, plan->machines[i],
                                 &price) ||
            !bats_units_multiply(price, windows, &price) ||
            !bats_units_add(s->cost_high, price, &s->cost_high)) {
            s->cost_high = BATS_UNLIMITED;
            return;
        }
    }
}

/* Makes the schedule for `budget`, which was derived from `end`. */
static int make_schedule(const struct bats_estimator *e,
                         const struct items *items, enum bats_offer offer,
                         bats_money budget, bats_money end,
                         struct bats_schedule *schedule,
                         struct bats_error *err)
{
    struct bats_schedule s = {.offer = offer, .budget = budget};
    int rc = solve(e, items, budget, &s.plan, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < e->n_clusters; i++)
        s.held[i] = s.plan.windows;
    s.delta_n = delta_n(e, items, &s.plan);
    s.windows_high = s.plan.windows;
    s.cost_high = s.plan.cost;
    if (s.plan.feasible) {
        s.makespan = makespan_of(e, &s.plan);
        bound_cost(e, &s);
        s.is_bounded = estimate_is_bounded(e, s.plan.machines);
        if (s.delta_n > 0)
            rc = find_cushion(e, items, end, &s, err);
    }
    if (rc == 0)
        *schedule = s;
    return rc;
}

/* ---- the two ends ---- */

/* Least cost of the bag on one machine. BATS_EOVERFLOW. */
static int cost_of_one(const struct bats_estimator *e,
                       const struct items *items, bats_money *cost,
                       struct bats_error *err)
{
    bool found = false;

    for (size_t i = 0; i < e->n_clusters; i++) {
        const struct bats_plan_item *item = &items->item[i];
        bats_money sum;
        if (item->max == 0)
            continue;
        int64_t windows = bats_plan_windows(e->n_tasks, item->rate);
        int64_t span = bats_plan_span(items->task_windows[i]);
        if (windows < span)
            windows = span;
        if (!bats_units_multiply(windows, item->charge, &sum) ||
            (found && sum >= *cost))
            continue;
        *cost = sum;
        found = true;
    }
    if (!found)
        return bats_error_set(
            err, BATS_EOVERFLOW,
            "the cost of the bag on one machine is too large");
    return 0;
}

static int cost_of_all(const struct bats_estimator *e,
                       const struct items *items, bats_money *cost,
                       struct bats_error *err)
{
    struct bats_plan plan;
    int rc = solve(e, items, BATS_UNLIMITED, &plan, err);

    if (rc == 0)
        *cost = plan.cost;
    return rc;
}

static int make_offer(const struct bats_estimator *e,
                      const struct items *items, enum bats_offer offer,
                      struct bats_schedule *schedule, struct bats_error *err)
{
    static const unsigned share[BATS_OFFERS] = {100, 110, 120, 80, 90, 100};
    bats_money end;
    int rc = offer < BATS_OFFER_FASTEST_20 ? cost_of_one(e, items, &end, err)
                                           : cost_of_all(e, items, &end, err);

    if (rc < 0)
        return rc;
    return make_schedule(e, items, offer, percent(end, share[offer]), end,
                         schedule, err);
}

int configurations_offer(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err)
{
    struct bats_schedule made[BATS_OFFERS];
    struct items items;
    int rc = make_items(e, &items, err);
    *n = BATS_OFFERS;

    for (int i = 0; i < BATS_OFFERS && rc == 0; i++)
        rc = make_offer(e, &items, (enum bats_offer)i, &made[i], err);
    if (rc == 0)
        memcpy(schedules, made, sizeof made);
    return rc;
}

/* ---- for a budget or a deadline ---- */

/* The smallest budget, at most `most`, with which the bag is expected to end
 * by `deadline`. (More money always lowers Te. More machines also lengthen the
 * tail, which is neglected; then the result is slightly too large.) */
static int least_budget(const struct bats_estimator *e,
                        const struct items *items, double deadline,
                        bats_money most, bats_money *budget,
                        struct bats_error *err)
{
    bats_money low = 0;

    while (low < most) {
        struct bats_plan plan;
        bats_money middle = low + (most - low) / 2;
        int rc = solve(e, items, middle, &plan, err);
        if (rc < 0)
            return rc;
        if (plan.feasible && makespan_of(e, &plan).estimate <= deadline)
            most = plan.cost;
        else
            low = middle + 1;
    }
    *budget = most;
    return 0;
}

int configurations_least_budget(const struct bats_estimator *e,
                                bats_money *budget, struct bats_error *err)
{
    struct items items;
    bats_money most;
    int rc = make_items(e, &items, err);

    if (rc == 0)
        rc = cost_of_one(e, &items, &most, err);
    if (rc == 0)
        rc = least_budget(e, &items, INFINITY, most, budget, err);
    return rc;
}

int configurations_for_budget(const struct bats_estimator *e,
                              bats_money budget,
                              struct bats_schedule *schedule,
                              struct bats_error *err)
{
    struct items items;
    int rc = make_items(e, &items, err);

    return rc == 0 ? make_schedule(e, &items, BATS_OFFER_BUDGET, budget,
                                   budget, schedule, err)
                   : rc;
}

int configurations_for_deadline(const struct bats_estimator *e,
                                double deadline,
                                struct bats_schedule *schedule,
                                struct bats_error *err)
{
    struct bats_plan fastest;
    struct items items;
    bats_money budget;
    int rc = make_items(e, &items, err);

    if (rc == 0)
        rc = solve(e, &items, BATS_UNLIMITED, &fastest, err);
    if (rc < 0)
        return rc;
    budget = fastest.cost;
    if (makespan_of(e, &fastest).estimate <= deadline)
        rc = least_budget(e, &items, deadline, fastest.cost, &budget, err);
    return rc == 0 ? make_schedule(e, &items, BATS_OFFER_DEADLINE, budget,
                                   budget, schedule, err)
                   : rc;
}

int configurations_frontier(const struct bats_estimator *e,
                            struct bats_schedule **schedules, size_t *n,
                            bool *complete, struct bats_error *err)
{
    struct bats_frontier f = {.n = 0};
    struct items items;
    int rc = make_items(e, &items, err);

    if (rc == 0)
        rc = bats_frontier_init(&f, items.item, items.task_windows,
                                e->n_clusters, e->n_tasks, err);
    if (rc == 0 && !(*schedules = calloc(f.n + 1, sizeof **schedules)))
        rc = bats_no_memory(err);
    *n = rc == 0 ? f.n : 0;
    *complete = f.complete;
    for (size_t k = 0; k < *n; k++) {
        struct bats_schedule *s = &(*schedules)[k];
        const struct bats_frontier_point *p = &f.points[k];
        s->offer = BATS_OFFER_NONE;
        s->plan = (struct bats_plan){.feasible = true,
                                     .windows = p->windows,
                                     .price = p->price,
                                     .cost = p->cost,
                                     .rate = p->rate};
        s->makespan.estimate =
            (double)e->n_tasks / p->rate * (double)e->window;
        memcpy(s->plan.machines, f.machines + k * f.n_clusters,
               f.n_clusters * sizeof *f.machines);
        for (size_t i = 0; i < e->n_clusters; i++)
            s->held[i] = p->windows;
    }
    bats_frontier_release(&f);
    return rc;
}
