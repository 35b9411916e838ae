/*
 * width: how many jobs to hold money for where only leases are held
 * (bats/billing.h). At its end a job holds money that no task can use: for the
 * time in which tasks are told to stop, and for what it may be billed beyond
 * its lease. So the money pays all jobs until the bag is done if
 *
 *   tasks not begun + rest of the running ones + an end for each job
 *     <= money that no job has cost yet
 *
 * and one more job is requested if it is paid so, too. It is also requested if
 * the tasks alone are paid and half of that money pays each job an end after
 * one more task: then some jobs leave before the others, and free the money
 * held for their ends. While no runtime is known, jobs are requested until
 * half of the money is held.
 *
 * A task begins only if the money pays for its mean runtime and for the rest
 * of the running ones beyond the leases: a task that is cut off wastes its
 * money. If the money does not pay all jobs until the bag is done, it begins
 * only if each job is paid an end after one more task. The others end, which
 * frees money for those that stay.
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

/* The end of a lease that the machine's tasks need. */
bats_time width_task_end(const struct state *s, uint32_t machine);

/* One more task may begin on the machine. */
bool width_pays_task(const struct state *s, uint32_t machine);

#endif
