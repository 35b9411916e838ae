/*
 * dbc-cost-time: resources where a task costs the same are a group; the
 * cheapest group gets as many tasks as it can end by the deadline and the
 * budget can pay, each on that which completes it soonest, then the next one.
 * See dbc.h. Source: Buyya et al. (2005), figure 2.
 */
#include "engine/policy/dbc.h"

static void assign(struct dbc *d)
{
    for (size_t first = 0, last; first < d->n; first = last) {
        last = first + 1;
        while (last < d->n && dbc_same_cost(d->order[first], d->order[last]))
            last++;
        dbc_spread(d, first, last, false);
    }
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    (void)o;
    return dbc_init(self, s, assign, err);
}

const struct bats_policy bats_policy_dbc_cost_time = {
    .advisor = {.name = "dbc-cost-time", .init = init, DBC_ADVISOR},
    .about = "the least cost by the deadline, and then the least time",
    DBC_ANSWERS};
