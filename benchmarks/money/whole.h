/*
 * whole: a schedule of whole tasks that ends by a deadline, for somebody who
 * knows every runtime: first fit decreasing, the longest task first, on the
 * machine that does it for least where it still ends in time. Machines of a
 * type are used until the deadline, or until the last whole window before it,
 * or not; the cheapest of these schedules is the answer. It shows that a
 * deadline can be kept for so much; not that it cannot be kept for less.
 */
#ifndef BENCHMARKS_MONEY_WHOLE_H
#define BENCHMARKS_MONEY_WHOLE_H

#include <math.h>
#include <stdlib.h>

#include "sim/scenario.h"

static int longer_first(const void *left, const void *right)
{
    const bats_time *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* The price of work on the machine. */
static double dearness(const struct bats_platform *p, uint32_t machine)
{
    const struct bats_machine_spec *m = &p->machines[machine];
    return (double)p->clusters[m->cluster].charge /
           (p->speed[m->cluster] * m->slots);
}

/* Machines of the platform, the cheapest first. */
static void by_cost(const struct bats_platform *p, uint32_t *order)
{
    for (uint32_t i = 0; i < p->n_machines; i++) {
        uint32_t k = i;
        for (; k > 0 && dearness(p, order[k - 1]) > dearness(p, i); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* `until`: of each cluster, the end of its machines; `ends` has room for the
 * slots. INFINITY: the tasks do not fit. */
static double cost_of_whole(const struct bats_scenario *s,
                            const bats_time *work, const uint32_t *order,
                            const double *until, double *ends)
{
    const struct bats_platform *p = &s->platform;
    double cost = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_machines; i++)
        for (uint32_t k = 0; k < p->machines[order[i]].slots; k++)
            ends[n++] = (double)s->startup[p->machines[order[i]].cluster];
    for (uint32_t t = 0; t < s->n_tasks; t++) {
        bool fits = false;
        double *end = ends;
        for (uint32_t i = 0; i < p->n_machines && !fits; i++) {
            uint32_t c = p->machines[order[i]].cluster;
            double time = (double)work[t] / p->speed[c];
            for (uint32_t k = 0; k < p->machines[order[i]].slots && !fits;
                 k++, end++) {
                fits = *end + time <= until[c];
                *end += fits ? time : 0;
            }
        }
        if (!fits)
            return INFINITY;
    }
    for (uint32_t i = 0; i < p->n_machines; i++) {
        uint32_t c = p->machines[order[i]].cluster;
        double end = 0, none = (double)s->startup[c];
        for (uint32_t k = 0; k < p->machines[order[i]].slots; k++, ends++)
            end = *ends > none ? fmax(end, *ends) : end;
        cost += ceil(end / (double)p->window) * (double)p->clusters[c].charge;
    }
    return cost;
}

/* `work` becomes sorted. INFINITY: no such schedule was found. */
static double whole_cost(const struct bats_scenario *s, bats_time *work)
{
    const struct bats_platform *p = &s->platform;
    double deadline = (double)s->engine.goal.deadline,
           until[BATS_CLUSTERS_MAX];
    double windows = floor(deadline / (double)p->window), best = INFINITY;
    size_t n_slots = 0, n = 1;
    for (uint32_t i = 0; i < p->n_machines; i++)
        n_slots += p->machines[i].slots;
    uint32_t *order = calloc(p->n_machines, sizeof *order);
    double *ends = calloc(n_slots, sizeof *ends);
    if (!order || !ends)
        abort();
    by_cost(p, order);
    qsort(work, s->n_tasks, sizeof *work, longer_first);
    for (size_t i = 0; i < p->n_clusters; i++)
        n *= 3;
    for (size_t which = 1; which < n; which++) {
        for (size_t i = 0, rest = which; i < p->n_clusters; i++, rest /= 3)
            until[i] = rest % 3 == 0   ? 0
                       : rest % 3 == 1 ? windows * (double)p->window
                                       : deadline;
        best = fmin(best, cost_of_whole(s, work, order, until, ends));
    }
    free(order);
    free(ends);
    return best;
}

#endif
