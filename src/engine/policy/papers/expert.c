/* expert: the pools of a strategy. The tail's advisor `expert` assigns the
 * tasks of the tail. See bats/strategy.h and policy.h. */
#include "engine/policy/policy.h"

struct expert {
    struct bats_strategy strategy;
};

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct expert *x = self;
    x->strategy = o->strategy;
    return 0;
}

/* Use is charged, so an idle machine costs nothing. */
static void start(void *self, const struct state *s,
                  const struct policy_sample *sample, struct policy_start *all)
{
    const struct expert *x = self;
    rr_start(self, s, sample, all);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].spec.unreliable && x->strategy.only_reliable)
            all->machines[i] = 0;
}

static bool renew(void *self, const struct state *s, uint32_t machine)
{
    return s->machines[machine].n_busy > 0;
}

/* Before the tail, reliable machines start tasks only if the strategy lets
 * them. In the tail, the tail decides. */
static enum bats_idle refuses(void *self, const struct state *s,
                              uint32_t machine)
{
    const struct expert *x = self;
    bool unreliable =
        s->clusters[s->machines[machine].cluster].spec.unreliable;
    return unreliable || x->strategy.reliable_works || s->run.in_tail
               ? BATS_IDLE_NOT
               : BATS_IDLE_PLAN;
}

const struct bats_policy bats_policy_expert = {
    .advisor = {.name = "expert",
                .memory = sizeof(struct expert),
                .init = init},
    .sends_instances = true,
    .one_each = true,
    .start = start,
    .renew = renew,
    .refuses = refuses,
    .refill = rr_refill};
