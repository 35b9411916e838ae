/* rr: self-scheduling on all machines. See bats/policy.h and policy.h. */
#include "engine/policy/policy.h"

void rr_start(void *self, const struct state *s,
              const struct policy_sample *sample, struct policy_start *all)
{
    (void)self;
    (void)sample;
    for (size_t i = 0; i < s->n_clusters; i++)
        all->machines[i] = s->clusters[i].spec.max;
}

bool rr_renew(void *self, const struct state *s, uint32_t machine)
{
    (void)self;
    return machine_works(s, machine);
}

bool rr_refill(void *self, const struct state *s, const struct occasion *why)
{
    (void)self;
    (void)s;
    (void)why;
    return true;
}

const struct bats_policy bats_policy_rr = {
    .advisor = {.name = "rr"},
    .about = "self-scheduling on all machines",
    .start = rr_start,
    .renew = rr_renew,
    .refill = rr_refill};
