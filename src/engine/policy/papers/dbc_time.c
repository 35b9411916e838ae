/*
 * dbc-time: task by task to the resource that completes it soonest, of those
 * where a task costs no more than the money left / tasks left. See dbc.h.
 * Source: Buyya et al. (2005), section 3.2: time optimization.
 */
#include "engine/policy/papers/dbc.h"

static void assign(struct dbc *d)
{
    dbc_spread(d, 0, d->n, true);
}

DBC_POLICY(dbc_time, "dbc-time", "the least time within deadline and budget");
