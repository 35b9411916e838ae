/*
 * dbc-time: task by task to the resource that completes it soonest, of those
 * where a task costs no more than the money left / tasks left. See dbc.h.
 * Source: Buyya et al. (2005), section 3.2: time optimization.
 */
#include "engine/policy/dbc.h"

static void assign(struct dbc *d)
{
    dbc_spread(d, 0, d->n, true);
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    (void)o;
    return dbc_init(self, s, assign, err);
}

const struct bats_policy bats_policy_dbc_time = {
    .advisor = {.name = "dbc-time", .init = init, DBC_ADVISOR},
    .about = "the least time within deadline and budget",
    DBC_ANSWERS};
