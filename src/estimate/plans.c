/* plans: what all kinds of plans share; predictions for bags with
 * dependencies. See plans.h. */
#include "estimate/plans.h"

#include <gsl/gsl_sort_uint.h>
#include <math.h>

#include "util/grow.h"

#define CONFIDENCE 0.9

double bats_estimate_confidence(const struct bats_estimator *e)
{
    return e->confidence > 0 ? e->confidence : CONFIDENCE;
}

bool estimate_is_bounded(const struct bats_estimator *e,
                         const uint32_t *machines)
{
    for (size_t i = 0; i < e->n_clusters; i++)
        if (machines[i] > 0 &&
            (e->runtimes[i].n < 2 || e->runtimes[i].is_guess))
            return false;
    return true;
}

uint32_t estimate_most(const struct bats_estimator *e, size_t i, double tasks)
{
    double n = ceil(tasks / estimate_slots(e, i));
    if (!(e->runtimes[i].mean > 0))
        return 0;
    return n < e->clusters[i].max ? (uint32_t)n : e->clusters[i].max;
}

int estimate_check(const struct bats_estimator *e, struct bats_error *err)
{
    for (size_t i = 0; i < e->n_clusters; i++)
        if (e->runtimes[i].mean > 0 && e->clusters[i].max > 0)
            return 0;
    return bats_error_set(err, BATS_EINPUT,
                          "no runtimes are known on any cluster");
}

bats_money estimate_money(double cost)
{
    return cost < 0x1p62 ? (bats_money)cost : BATS_UNLIMITED;
}

int ends_add(struct ends *ends, const struct end *end, struct bats_error *err)
{
    if (!bats_grow(&ends->points, &ends->capacity, ends->n + 1,
                   sizeof *ends->points))
        return bats_no_memory(err);
    ends->points[ends->n++] = *end;
    return 0;
}

/* ---- levels ---- */

void bats_levels_of(struct bats_levels *levels, uint32_t *tasks, size_t n)
{
    size_t n_sizes = 0, size = 0;
    *levels = (struct bats_levels){.n = 0};
    gsl_sort_uint(tasks, 1, n);
    for (size_t i = 0; i < n; i++)
        n_sizes += tasks[i] > 0 && (i == 0 || tasks[i] != tasks[i - 1]);
    size_t share = n_sizes / BATS_LEVELS_MAX + 1;
    for (size_t i = 0; i < n; i++) {
        if (tasks[i] == 0)
            continue;
        size += i == 0 || tasks[i] != tasks[i - 1];
        size_t k = (size - 1) / share;
        levels->n = k + 1;
        levels->count[k]++;
        levels->tasks[k] += (tasks[i] - levels->tasks[k]) / levels->count[k];
    }
}

double estimate_widest(const struct bats_estimator *e)
{
    double widest = 0;
    for (size_t k = 0; e->levels && k < e->levels->n; k++)
        widest = fmax(widest, e->levels->tasks[k]);
    return e->levels ? fmin(widest, (double)e->n_tasks) : (double)e->n_tasks;
}

/* Prediction for one level, on no more slots than tasks. */
static struct bats_prediction one_level(const struct bats_estimator *e,
                                        const double *slots, double tasks)
{
    double used[BATS_CLUSTERS_MAX], all = 0;
    for (size_t i = 0; i < e->n_clusters; i++)
        all += e->runtimes[i].mean > 0 ? slots[i] : 0;
    for (size_t i = 0; i < e->n_clusters; i++)
        used[i] = slots[i] * fmin(tasks / all, 1);
    return bats_interval_makespan(e->runtimes, used, e->n_clusters, tasks,
                                  bats_estimate_confidence(e));
}

/* Time of the longest chain on the fastest cluster, also at the bounds of the
 * mean. */
static struct bats_prediction longest_chain(const struct bats_estimator *e,
                                            const double *slots)
{
    struct bats_prediction m = {INFINITY, INFINITY, INFINITY, 0, 0, 0};
    for (size_t i = 0; i < e->n_clusters; i++) {
        const struct bats_runtimes *r = &e->runtimes[i];
        if (r->mean <= 0 || slots[i] <= 0)
            continue;
        m.low = fmin(m.low, e->chain * r->mean_low);
        m.estimate = fmin(m.estimate, e->chain * r->mean);
        m.high = fmin(m.high, e->chain * r->mean_high);
    }
    return m;
}

/* Prediction by levels, if there are any. */
static struct bats_prediction by_levels(const struct bats_estimator *e,
                                        const double *slots)
{
    struct bats_prediction all = bats_interval_makespan(
        e->runtimes, slots, e->n_clusters, (double)e->n_tasks,
        bats_estimate_confidence(e));
    const struct bats_levels *levels = e->levels;
    double n = 0;
    if (!levels)
        return all;
    for (size_t k = 0; k < levels->n; k++)
        n += levels->tasks[k] * levels->count[k];
    all.low = all.estimate = all.least = all.busy = all.high = 0;
    for (size_t k = 0; k < levels->n; k++) {
        double count = levels->count[k] * (double)e->n_tasks / n;
        struct bats_prediction m = one_level(e, slots, levels->tasks[k]);
        all.low += count * m.low;
        all.estimate += count * m.estimate;
        all.least += count * m.least;
        all.busy += count * m.busy;
        all.high += count * m.high;
    }
    return all;
}

struct bats_prediction estimate_makespan(const struct bats_estimator *e,
                                         const double *slots, double later)
{
    struct bats_prediction m = by_levels(e, slots);
    m.low += later;
    m.estimate += later;
    m.high += later;
    if (e->chain > 0) {
        struct bats_prediction least = longest_chain(e, slots);
        m.low = fmax(m.low, least.low);
        m.estimate = fmax(m.estimate, least.estimate);
        m.high = fmax(m.high, least.high);
    }
    return m;
}

struct bats_prediction estimate_machines(const struct bats_estimator *e,
                                         const uint32_t *machines)
{
    double slots[BATS_CLUSTERS_MAX];
    for (size_t i = 0; i < e->n_clusters; i++)
        slots[i] = machines[i] * estimate_slots(e, i);
    return estimate_makespan(e, slots, 0);
}

/* E(M) without dependencies. */
static double flat_end(const struct bats_estimator *e, const double *slots,
                       double later)
{
    struct bats_estimator flat = *e;
    flat.levels = NULL;
    flat.chain = 0;
    return estimate_makespan(&flat, slots, later).estimate;
}

double bats_levels_waiting(const struct bats_estimator *e, const double *slots,
                           double later)
{
    struct bats_prediction m = estimate_makespan(e, slots, later);
    return fmax((m.estimate - flat_end(e, slots, later)) * m.rate, 0);
}

double bats_levels_share(const struct bats_estimator *e, const double *slots)
{
    return fmin(
        flat_end(e, slots, 0) / estimate_makespan(e, slots, 0).estimate, 1);
}
