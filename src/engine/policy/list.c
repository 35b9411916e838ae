/* list: the available policies. Register a new one here. */
#include "engine/policy/policy.h"

#include <string.h>

static const struct bats_policy *const all[] = {
    &bats_policy_bats,
    &bats_policy_bkp,
    &bats_policy_rr,
    &bats_policy_dbc_cost,
    &bats_policy_dbc_time,
    &bats_policy_dbc_conservative_time,
    &bats_policy_dbc_cost_time,
    &bats_policy_expert,
    &bats_policy_miser,
    &bats_policy_mw_dbs,
    &bats_policy_flow};

const struct bats_policy *bats_policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->advisor.name, name) == 0)
            return all[i];
    return NULL;
}

const char *bats_policy_name(const struct bats_policy *policy)
{
    return policy->advisor.name;
}

const struct bats_policy *bats_policy_for(const struct bats_policy *wanted,
                                          enum bats_billing_model billing,
                                          bool has_graph)
{
    struct bats_lease_terms terms = bats_lease_terms(billing);
    if (terms.lasts)
        return wanted->place ? wanted : &bats_policy_rr;
    if (!terms.idle_is_free || !wanted->plans_windows)
        return wanted;
    return has_graph ? &bats_policy_flow : &bats_policy_dbc_time;
}

enum bats_plans bats_policy_plans(const struct bats_policy *policy)
{
    return policy == &bats_policy_bkp ? BATS_PLANS_CONFIGURATIONS
                                      : BATS_PLANS_WINDOWS;
}

const struct bats_policy *bats_policy_default(bool any_unreliable,
                                              enum bats_billing_model billing,
                                              bool times_out, bool has_graph)
{
    return any_unreliable && bats_lease_terms(billing).idle_is_free &&
                   !times_out && !has_graph
               ? &bats_policy_expert
               : &bats_policy_bats;
}
