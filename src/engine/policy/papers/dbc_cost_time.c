/*
 * dbc-cost-time: resources where a task costs the same are a group; the
 * cheapest group gets as many tasks as it can end by the deadline and the
 * budget can pay, each on that which completes it soonest, then the next one.
 * See dbc.h. Source: Buyya et al. (2005), figure 2.
 */
#include "engine/policy/papers/dbc.h"

static void assign(struct dbc *d)
{
    for (size_t first = 0, last; first < d->n; first = last) {
        last = first + 1;
        while (last < d->n && dbc_same_cost(d->order[first], d->order[last]))
            last++;
        dbc_spread(d, first, last, false);
    }
}

DBC_POLICY(dbc_cost_time, "dbc-cost-time",
           "the least cost by the deadline, and then the least time");
