/* policy_rr: self-scheduling on all machines. See policy.h. */
#include "engine/sched_state.h"

#include <string.h>

static void start(struct bats_sched *s)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        s->clusters[i].target = s->clusters[i].spec.max;
}

static int review(struct bats_sched *s, enum bats_reason reason,
                  struct bats_error *err)
{
    (void)err;
    if (reason != BATS_REASON_VIOLATION)
        for (size_t i = 0; i < s->n_clusters; i++)
            fleet_fill(s, i);
    return 0;
}

static bool renew(const struct bats_sched *s, uint32_t machine)
{
    return copies_machine_works(s, machine);
}

const struct bats_policy bats_policy_rr = {"rr", start, review, renew, NULL};

const struct bats_policy *bats_policy_find(const char *name)
{
    static const struct bats_policy *const all[] = {&bats_policy_bats,
                                                    &bats_policy_rr};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

const char *bats_policy_name(const struct bats_policy *policy)
{
    return policy->name;
}
