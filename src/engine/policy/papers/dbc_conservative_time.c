/*
 * dbc-conservative-time: resources where a task costs no more than its share of
 * the money get tasks in inverse proportion to their runtime. What they save
 * raises the share of the other tasks, for the dearer resources; and so on.
 * What is left then goes where it ends soonest, as in dbc-time. Every task
 * keeps its share. See dbc.h. Source: Buyya et al. (2005), section 3.2:
 * conservative time optimization.
 */
#include "engine/policy/papers/dbc.h"

#include <math.h>

/* Tasks per microsecond of order[first], order[first + 1], ... */
static double rate(const struct dbc *d, size_t first)
{
    double sum = 0;
    for (size_t i = first; i < d->n; i++)
        sum += d->order[i]->n_slots / d->order[i]->runtime;
    return sum;
}

static void assign(struct dbc *d)
{
    size_t paid = 0, first;
    do {
        double share = d->money / d->tasks, tasks = d->tasks;
        double all = rate(d, paid);
        for (first = paid; paid < d->n && d->order[paid]->cost <= share;
             paid++) {
            struct dbc_resource *r = d->order[paid];
            double n = floor(tasks * r->n_slots / r->runtime / all);
            while (n-- > 0 && dbc_take(d, r))
                continue;
        }
    } while (paid > first && paid < d->n && d->tasks > 0);
    dbc_spread(d, 0, d->n, true);
}

DBC_POLICY(dbc_conservative_time, "dbc-conservative-time",
           "time, and every task keeps its share of the budget");
