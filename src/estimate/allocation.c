/* allocation: schedules for a batch job, which is billed for all it holds
 * until the bag is empty. See plans.h. */
#include "estimate/plans.h"

#include <math.h>

/* Numbers of machines to try: each STEP times the last one. */
#define STEP 1.03

/* Machines of cluster i that could be useful: all that a running job has. */
static uint32_t most(const struct bats_estimator *e, size_t i)
{
    return estimate_most(e, i, e->rate > 0 ? INFINITY : estimate_widest(e));
}

/* Price of a window of all held machines. */
static double price_of(const struct bats_estimator *e,
                       const uint32_t *machines)
{
    double sum = 0, head = 0;
    uint32_t first = UINT32_MAX;
    if (e->rate > 0)
        return (double)e->rate * ((double)e->window / (double)BATS_HOUR);
    for (size_t i = 0; i < e->n_clusters; i++) {
        sum += (double)machines[i] * (double)e->clusters[i].charge;
        if (machines[i] > 0 && e->heads && e->heads[i].place < first) {
            first = e->heads[i].place;
            head = (double)e->heads[i].charge;
        }
    }
    return sum + head;
}

/* The bill for all held machines. */
static double cost_of(const struct bats_estimator *e, const uint32_t *machines,
                      double time)
{
    return fmax(time, (double)e->least) / (double)e->window *
           price_of(e, machines);
}

static int add(const struct bats_estimator *e, const struct end *machines,
               struct ends *ends, struct bats_error *err)
{
    struct end end = *machines;
    end.time = estimate_machines(e, end.machines).estimate;
    end.cost = cost_of(e, end.machines, end.time);
    return ends_add(ends, &end, err);
}

/* ---- which machines ---- */

/* Sort key: cost or time of a task. */
static double key(const struct bats_estimator *e, size_t i, bool by_price)
{
    double charge = by_price ? (double)e->clusters[i].charge : 1;
    return charge * e->runtimes[i].mean / estimate_slots(e, i);
}

/* Adds ends with more and more machines of cluster i beside the present
 * ones. */
static int widen(const struct bats_estimator *e, size_t i, struct end *end,
                 struct ends *ends, struct bats_error *err)
{
    uint32_t all = most(e, i);
    int rc = 0;
    for (double n = 1; rc == 0 && end->machines[i] < all; n = ceil(n * STEP)) {
        end->machines[i] = n < all ? (uint32_t)n : all;
        rc = add(e, end, ends, err);
    }
    return rc;
}

/* Adds the clusters one after the other, by price or by time. */
static int fill(const struct bats_estimator *e, bool by_price,
                struct ends *ends, struct bats_error *err)
{
    size_t order[BATS_CLUSTERS_MAX], n = 0;
    struct end end = {.aim = 0};
    int rc = 0;
    for (size_t i = 0; i < e->n_clusters; i++) {
        size_t k = n;
        if (most(e, i) == 0)
            continue;
        for (; k > 0 && key(e, order[k - 1], by_price) > key(e, i, by_price);
             k--)
            order[k] = order[k - 1];
        order[k] = i;
        n++;
    }
    for (size_t k = 0; k < n && rc == 0; k++)
        rc = widen(e, order[k], &end, ends, err);
    return rc;
}

static int find_ends(const struct bats_estimator *e, struct ends *ends,
                     struct bats_error *err)
{
    struct end all = {.aim = 0};
    int rc = 0;
    for (size_t i = 0; i < e->n_clusters; i++)
        all.machines[i] = most(e, i);
    if (e->rate > 0)
        return add(e, &all, ends, err);
    for (size_t i = 0; i < e->n_clusters && rc == 0; i++) {
        struct end alone = {.aim = 0};
        rc = widen(e, i, &alone, ends, err);
    }
    if (rc == 0)
        rc = fill(e, true, ends, err);
    return rc == 0 ? fill(e, false, ends, err) : rc;
}

/* Rounds up to cents; an estimate is no more precise. */
static bats_money rounded_up(double cost)
{
    const double cent = (double)BATS_UNIT / 100;
    return estimate_money(ceil(cost / cent - 1e-9) * cent);
}

static int make_end(const struct bats_estimator *e, const struct end *end,
                    enum bats_offer offer, struct bats_schedule *schedule,
                    struct bats_error *err)
{
    struct bats_schedule s = {.offer = offer,
                              .plan = {.feasible = true, .proven = true},
                              .makespan = estimate_machines(e, end->machines),
                              .is_bounded =
                                  estimate_is_bounded(e, end->machines)};
    double price = price_of(e, end->machines), window = (double)e->window;
    s.plan.price = (bats_money)fmin(ceil(price), 0x1p62);
    s.plan.cost = rounded_up(end->cost);
    s.plan.windows = (int64_t)ceil(s.makespan.estimate / window);
    s.windows_high = (int64_t)ceil(s.makespan.high / window);
    s.cost_high = rounded_up(cost_of(e, end->machines, s.makespan.high));
    s.budget = s.plan.cost;
    for (size_t i = 0; i < e->n_clusters; i++) {
        s.plan.machines[i] = end->machines[i];
        if (end->machines[i] == 0)
            continue;
        s.held[i] = s.plan.windows;
        s.plan.rate += end->machines[i] * estimate_slots(e, i) * window /
                       e->runtimes[i].mean;
    }
    *schedule = s;
    return 0;
}

const struct planner planner_of_allocation = {.find = find_ends,
                                              .make = make_end};
