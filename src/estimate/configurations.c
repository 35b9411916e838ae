/* configurations: schedules for policy bkp. See plans.h. */
#include "estimate/plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bats/frontier.h"

#define CUSHION_PERCENT 20

/* The bag, with the clusters as items of the knapsack. */
struct bag {
    const struct bats_estimator *e;
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
static int make_bag(const struct bats_estimator *e, struct bag *bag,
                    struct bats_error *err)
{
    *bag = (struct bag){.e = e};
    for (size_t i = 0; i < e->n_clusters; i++) {
        double mean = e->runtimes[i].mean;
        uint32_t most = estimate_most(e, i, (double)e->n_tasks);
        bag->item[i] = (struct bats_plan_item){
            .charge = e->clusters[i].charge,
            .max = most,
            .rate = most > 0 ? estimate_slots(e, i) * (double)e->window / mean
                             : 0};
        bag->task_windows[i] = most > 0 ? mean / (double)e->window : 0;
    }
    return estimate_check(e, err);
}

static int solve(const struct bag *bag, bats_money budget,
                 struct bats_plan *plan, struct bats_error *err)
{
    return bats_plan_solve_whole(bag->item, bag->task_windows,
                                 bag->e->n_clusters, bag->e->n_tasks, budget,
                                 plan, err);
}

/* ---- tasks at risk and the cushion ---- */

static int64_t delta_n(const struct bag *bag, const struct bats_plan *plan)
{
    double rest = (double)bag->e->n_tasks;
    for (size_t i = 0; i < bag->e->n_clusters; i++) {
        if (plan->machines[i] == 0)
            continue;
        double fit = (double)plan->windows / bag->task_windows[i];
        rest -= floor(fit + fit * TOLERANCE) *
                floor(plan->machines[i] * estimate_slots(bag->e, i));
    }
    return rest > -0x1p63 ? (int64_t)rest : INT64_MIN;
}

static bool uses_all(const struct bag *bag, const struct bats_plan *plan)
{
    for (size_t i = 0; i < bag->e->n_clusters; i++)
        if (plan->machines[i] < bag->item[i].max)
            return false;
    return true;
}

/* Cost of one machine of cluster i for the windows of a task. */
static bats_money price_of_task(const struct bag *bag, size_t i)
{
    bats_money price;
    return bats_units_multiply(bats_plan_span(bag->task_windows[i]),
                               bag->item[i].charge, &price)
               ? price
               : BATS_UNLIMITED;
}

/* Cost of `left` tasks, one per slot of the plan's machines. */
static bats_money cost_of_last(const struct bag *bag,
                               const struct bats_plan *plan, int64_t left)
{
    bool seen[BATS_CLUSTERS_MAX] = {false};
    bats_money sum = 0, price;
    while (left > 0) {
        size_t best = BATS_CLUSTERS_MAX;
        for (size_t i = 0; i < bag->e->n_clusters; i++)
            if (plan->machines[i] > 0 && !seen[i] &&
                (best == BATS_CLUSTERS_MAX ||
                 price_of_task(bag, i) < price_of_task(bag, best)))
                best = i;
        if (best == BATS_CLUSTERS_MAX) /* more tasks than slots: another
                                          round */
            return bats_units_multiply(sum, 2, &sum) ? sum : BATS_UNLIMITED;
        seen[best] = true;
        double slots = estimate_slots(bag->e, best);
        double want = ceil((double)left / slots);
        int64_t machines =
            want < plan->machines[best] ? (int64_t)want : plan->machines[best];
        if (!bats_units_multiply(machines, price_of_task(bag, best), &price) ||
            !bats_units_add(sum, price, &sum))
            return BATS_UNLIMITED;
        left -= (int64_t)floor((double)machines * slots);
    }
    return sum;
}

/* Finds the cushion (estimate.h); a step is 1 % of `end`. */
static int find_cushion(const struct bag *bag, bats_money end,
                        struct bats_schedule *s, struct bats_error *err)
{
    unsigned most = bag->e->cushion_percent > 0 ? bag->e->cushion_percent
                                                : CUSHION_PERCENT;
    bool all = uses_all(bag, &s->plan);
    for (unsigned step = 1; !all && end > 0; step++) {
        struct bats_plan plan;
        bats_money more = percent(end, step), budget;
        if (more > percent(s->budget, most) || s->budget == BATS_UNLIMITED ||
            !bats_units_add(s->budget, more, &budget))
            break;
        int rc = solve(bag, budget, &plan, err);
        if (rc < 0)
            return rc;
        if (delta_n(bag, &plan) <= 0) {
            s->cushion = more;
            s->refits = true;
            s->raised = plan;
            return 0;
        }
        all = uses_all(bag, &plan);
    }
    s->cushion = cost_of_last(bag, &s->plan, s->delta_n);
    return 0;
}

/* ---- one schedule ---- */

/* Sums the cost at the upper bounds of the clusters' ends. */
static void bound_cost(const struct bats_estimator *e, struct bats_schedule *s)
{
    const struct bats_plan *plan = &s->plan;
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
static int make_schedule(const struct bag *bag, enum bats_offer offer,
                         bats_money budget, bats_money end,
                         struct bats_schedule *schedule,
                         struct bats_error *err)
{
    struct bats_schedule s = {.offer = offer, .budget = budget};
    int rc = solve(bag, budget, &s.plan, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < bag->e->n_clusters; i++)
        s.held[i] = s.plan.windows;
    s.delta_n = delta_n(bag, &s.plan);
    s.windows_high = s.plan.windows;
    s.cost_high = s.plan.cost;
    if (s.plan.feasible) {
        s.makespan = estimate_machines(bag->e, s.plan.machines);
        bound_cost(bag->e, &s);
        s.is_bounded = estimate_is_bounded(bag->e, s.plan.machines);
        if (s.delta_n > 0)
            rc = find_cushion(bag, end, &s, err);
    }
    if (rc == 0)
        *schedule = s;
    return rc;
}

/* ---- the two ends ---- */

/* Least cost of the bag on one machine. BATS_EOVERFLOW. */
static int cost_of_one(const struct bag *bag, bats_money *cost,
                       struct bats_error *err)
{
    bool found = false;
    for (size_t i = 0; i < bag->e->n_clusters; i++) {
        const struct bats_plan_item *item = &bag->item[i];
        bats_money sum;
        if (item->max == 0)
            continue;
        int64_t windows = bats_plan_windows(bag->e->n_tasks, item->rate);
        int64_t span = bats_plan_span(bag->task_windows[i]);
        if (!bats_units_multiply(windows > span ? windows : span, item->charge,
                                 &sum) ||
            (found && sum >= *cost))
            continue;
        *cost = sum;
        found = true;
    }
    return found ? 0
                 : bats_error_set(
                       err, BATS_EOVERFLOW,
                       "the cost of the bag on one machine is too large");
}

int configurations_offer(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err)
{
    static const unsigned share[BATS_OFFERS] = {100, 110, 120, 80, 90, 100};
    struct bats_schedule made[BATS_OFFERS];
    struct bag bag;
    struct bats_plan all;
    bats_money one = 0;
    int rc = make_bag(e, &bag, err);
    *n = BATS_OFFERS;
    if (rc == 0)
        rc = cost_of_one(&bag, &one, err);
    if (rc == 0)
        rc = solve(&bag, BATS_UNLIMITED, &all, err);
    for (enum bats_offer i = 0; i < BATS_OFFERS && rc == 0; i++) {
        bats_money end = i < BATS_OFFER_FASTEST_20 ? one : all.cost;
        rc =
            make_schedule(&bag, i, percent(end, share[i]), end, &made[i], err);
    }
    if (rc == 0)
        memcpy(schedules, made, sizeof made);
    return rc;
}

/* ---- for a budget or a deadline ---- */

/* The smallest budget, at most `most`, with which the bag is expected to end
 * by `deadline`. (More money always lowers Te. More machines also lengthen the
 * tail, which is neglected; then the result is slightly too large.) */
static int least_budget(const struct bag *bag, double deadline,
                        bats_money most, bats_money *budget,
                        struct bats_error *err)
{
    bats_money low = 0;
    while (low < most) {
        struct bats_plan plan;
        bats_money middle = low + (most - low) / 2;
        int rc = solve(bag, middle, &plan, err);
        if (rc < 0)
            return rc;
        if (plan.feasible &&
            estimate_machines(bag->e, plan.machines).estimate <= deadline)
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
    struct bag bag;
    bats_money most;
    int rc = make_bag(e, &bag, err);
    if (rc == 0)
        rc = cost_of_one(&bag, &most, err);
    return rc == 0 ? least_budget(&bag, INFINITY, most, budget, err) : rc;
}

int configurations_for_budget(const struct bats_estimator *e,
                              bats_money budget,
                              struct bats_schedule *schedule,
                              struct bats_error *err)
{
    struct bag bag;
    int rc = make_bag(e, &bag, err);
    return rc == 0 ? make_schedule(&bag, BATS_OFFER_BUDGET, budget, budget,
                                   schedule, err)
                   : rc;
}

int configurations_for_deadline(const struct bats_estimator *e,
                                double deadline,
                                struct bats_schedule *schedule,
                                struct bats_error *err)
{
    struct bats_plan fastest;
    struct bag bag;
    int rc = make_bag(e, &bag, err);
    if (rc == 0)
        rc = solve(&bag, BATS_UNLIMITED, &fastest, err);
    if (rc < 0)
        return rc;
    bats_money budget = fastest.cost;
    if (estimate_machines(e, fastest.machines).estimate <= deadline)
        rc = least_budget(&bag, deadline, fastest.cost, &budget, err);
    return rc == 0 ? make_schedule(&bag, BATS_OFFER_DEADLINE, budget, budget,
                                   schedule, err)
                   : rc;
}

int configurations_frontier(const struct bats_estimator *e,
                            struct bats_schedule **schedules, size_t *n,
                            bool *complete, struct bats_error *err)
{
    struct bats_frontier f = {.n = 0};
    struct bag bag;
    int rc = make_bag(e, &bag, err);
    if (rc == 0)
        rc = bats_frontier_init(&f, bag.item, bag.task_windows, e->n_clusters,
                                e->n_tasks, err);
    if (rc == 0 && !(*schedules = calloc(f.n + 1, sizeof **schedules)))
        rc = bats_no_memory(err);
    *n = rc == 0 ? f.n : 0;
    *complete = f.complete;
    for (size_t k = 0; k < *n; k++) {
        struct bats_schedule *s = &(*schedules)[k];
        s->offer = BATS_OFFER_NONE;
        s->plan = f.plans[k];
        s->makespan.estimate =
            (double)e->n_tasks / s->plan.rate * (double)e->window;
        for (size_t i = 0; i < e->n_clusters; i++)
            s->held[i] = s->plan.windows;
    }
    bats_frontier_release(&f);
    return rc;
}
