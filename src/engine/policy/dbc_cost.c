/*
 * dbc-cost: the cheapest resource gets as many tasks as it can end by the
 * deadline and the budget can pay, then the next one. See dbc.h. Source: Buyya
 * et al. (2005), section 3.2: cost optimization.
 */
#include "engine/policy/dbc.h"

static void assign(struct dbc *d)
{
    for (size_t i = 0; i < d->n; i++)
        dbc_spread(d, i, i + 1, false);
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    (void)o;
    return dbc_init(self, s, assign, err);
}

const struct bats_policy bats_policy_dbc_cost = {
    .advisor = {.name = "dbc-cost", .init = init, DBC_ADVISOR},
    .about = "the least cost by the deadline",
    DBC_ANSWERS};
