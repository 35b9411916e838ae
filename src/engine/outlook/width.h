/*
 * width: how many jobs money is held for, where it is held for a lease only
 * (bats/billing.h). Each job that is there holds a lease beyond what its tasks
 * need, until its bill. So one more is asked for only if
 *
 *   its lease + the tasks to begin + the rest of those that run after their
 *   leases  <= money left, which may be held for leases,
 *
 * and while no runtime is known, or where the money does not pay the bag, only
 * while half of the money is held. A task begins only if its mean runtime is
 * paid, with the rest of those that run: what is cut off was paid for nothing.
 *
 * Layer: engine, between the state and its advisors. Only reads.
 */
#ifndef BATS_ENGINE_WIDTH_H
#define BATS_ENGINE_WIDTH_H

#include "engine/state/state.h"

/* Time that a job does not use is neither paid nor held: only a lease is, or
 * there is no budget. So the length of jobs does not matter, only how many
 * there are, and where. */
static inline bool width_matters(const struct state *s)
{
    const struct bats_ledger *l = &s->money.ledger;
    return l->billing.lease > 0 ||
           (l->billing.step > 0 && l->budget == BATS_UNLIMITED &&
            s->money.purses.n == 0);
}

/* One more job of the cluster can be asked for. */
bool width_pays_job(const struct state *s, size_t cluster);

/* One more task can begin on the machine. */
bool width_pays_task(const struct state *s, uint32_t machine);

#endif
