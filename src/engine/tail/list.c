/* list: the available tails. Register a new one here. */
#include "engine/tail/tail.h"

#include <string.h>

static const char *const names[] = {
    "none",    "random",  "stochastic", "stochastic-random",
    "migrate", "perfect", "soonest"};

bool bats_tail_find(const char *name, enum bats_tail *tail)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *tail = (enum bats_tail)i;
            return true;
        }
    return false;
}

const char *bats_tail_name(enum bats_tail tail)
{
    return names[tail];
}

const struct tail *tail_find(const struct bats_sched_options *o,
                             bool sends_instances, bool idle_is_free)
{
    if (sends_instances)
        return &tail_expert;
    return idle_is_free || o->tail == BATS_TAIL_NONE ? &tail_none
           : o->tail == BATS_TAIL_MIGRATE            ? &tail_migrate
                                                     : &tail_replicas;
}
