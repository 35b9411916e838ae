/* view: the running tasks and the next ends, for people. See bats/sched.h. */
#include "engine/engine.h"

/* Inserts `one` into the list of the n longest tasks, at most max. */
static size_t insert(struct bats_running *list, size_t n, size_t max,
                     struct bats_running one)
{
    size_t at = n < max ? n : max;

    if (n == max && list[max - 1].since <= one.since)
        return n;
    at = n < max ? n : max - 1;
    for (; at > 0 && list[at - 1].since > one.since; at--)
        list[at] = list[at - 1];
    list[at] = one;
    return n < max ? n + 1 : n;
}

size_t bats_sched_longest(const struct bats_sched *e,
                          struct bats_running *list, size_t max)
{
    const struct state *s = &e->state;
    size_t n = 0;

    for (uint32_t i = 0; max > 0 && i < s->n_slots; i++) {
        const struct slot *slot = &s->slots[i];
        if (slot->n_tasks == 0)
            continue;
        n = insert(list, n, max,
                   (struct bats_running){
                       .task = s->bag.index[slot->head.i],
                       .machine = slot->machine,
                       .since = slot->started,
                       .is_replica = slot->is_replica,
                   });
    }
    return n;
}

void bats_sched_turns(const struct bats_sched *e, size_t cluster,
                      struct bats_turns *turns)
{
    const struct state *s = &e->state;

    *turns = (struct bats_turns){.at = BATS_NEVER};
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        if (m->cluster != cluster || !machine_is_held(m))
            continue;
        turns->busy += m->n_busy;
        turns->slots += m->n_slots;
        if (m->paid_end < turns->at)
            turns->at = m->paid_end;
    }
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        if (m->cluster != cluster || !machine_is_held(m) ||
            m->paid_end - turns->at > s->run.window / 60)
            continue;
        turns->ending++;
        turns->parked += m->state == MACHINE_LEAVING || m->marked;
    }
}
