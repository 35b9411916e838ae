/*
 * width: how many jobs to hold money for where only leases are held
 * (bats/billing.h). Each running job holds a lease beyond what its tasks need,
 * until its bill. So one more is requested only if
 *
 *   its lease + tasks not begun + rest of the running ones after their
 *   leases  <= money left, counting money held for leases
 *
 * and, while no runtime is known or the money does not cover the bag, only
 * until half of the money is held. A task begins only if its mean runtime and
 * the rest of the running tasks are paid for: a task that is cut off wastes
 * its money.
 *
 * Layer: engine, between the state and its advisors. Only reads.
 */
#ifndef BATS_ENGINE_WIDTH_H
#define BATS_ENGINE_WIDTH_H

#include "engine/state/state.h"

/* Unused job time is neither paid nor held: only a lease is held, or there is
 * no budget. So the length of jobs does not matter, only their number and
 * clusters. */
static inline bool width_matters(const struct state *s)
{
    const struct bats_ledger *l = &s->money.ledger;
    return l->billing.lease > 0 ||
           (l->billing.step > 0 && l->budget == BATS_UNLIMITED &&
            s->money.purses.n == 0);
}

/* One more job of the cluster may be requested. */
bool width_pays_job(const struct state *s, size_t cluster);

/* One more task may begin on the machine. */
bool width_pays_task(const struct state *s, uint32_t machine);

#endif
