/* probe: a policy in one file; see src/doc/add-a-policy.md. It begins with one
 * machine of each cluster. Once every cluster has a result it works with the
 * most profitable one alone; the others leave when their window ends. */
#ifndef BATS_POLICY_PROBE_H
#define BATS_POLICY_PROBE_H
#include <stdlib.h>

#include "engine/policy/policy.h"

struct probe {
    bool has_decided;
    bool *keeps; /* by machine */
};
static int probe_init(void *self, const struct state *s,
                      const struct bats_sched_options *o,
                      struct bats_error *err)
{
    struct probe *p = self;
    p->keeps = calloc(s->n_machines, sizeof *p->keeps);
    return p->keeps ? 0 : bats_no_memory(err);
}

static void probe_release(void *self)
{
    free(((struct probe *)self)->keeps);
}

static void probe_start(void *self, const struct state *s,
                        const struct policy_sample *sample,
                        struct policy_start *start)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        start->machines[i] = 1;
}

static bool probe_renew(void *self, const struct state *s, uint32_t machine)
{
    return !s->machines[machine].marked && machine_works(s, machine);
}

static bool probe_wants(void *self, const struct state *s,
                        const struct occasion *why)
{
    bool knows = !((struct probe *)self)->has_decided;
    for (size_t i = 0; i < s->n_clusters; i++)
        knows &= s->clusters[i].stats.n_done > 0;
    return knows && why->type == OCCASION_RESULT;
}

static int probe_plan(void *self, const struct state *s,
                      const struct occasion *why, bool *is_new,
                      struct policy_plan *plan, struct bats_error *err)
{
    struct probe *p = self;
    size_t best = forecast_most_profitable(s);
    plan->decision =
        (struct bats_decision){.time = s->now, .reason = BATS_REASON_SAMPLED};
    plan->target[best] = s->clusters[best].spec.max;
    for (uint32_t m = 0; m < s->n_machines; m++)
        p->keeps[m] = s->machines[m].cluster == best;
    plan->keeps = p->keeps;
    p->has_decided = *is_new = true;
    return 0;
}

static const struct bats_policy policy_probe = {
    .advisor = {"probe", sizeof(struct probe), probe_init, probe_release},
    .start = probe_start,
    .renew = probe_renew,
    .wants = probe_wants,
    .plan = probe_plan};

#endif
