/*
 * dbc-cost: the cheapest resource gets as many tasks as it can end by the
 * deadline and the budget can pay, then the next one. See dbc.h. Source: Buyya
 * et al. (2005), section 3.2: cost optimization.
 */
#include "engine/policy/papers/dbc.h"

static void assign(struct dbc *d)
{
    for (size_t i = 0; i < d->n; i++)
        dbc_spread(d, i, i + 1, false);
}

DBC_POLICY(dbc_cost, "dbc-cost", "the least cost by the deadline");
