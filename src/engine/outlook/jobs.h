/*
 * jobs: how long a job to request, and how many.
 *
 * A job loses its queue wait, and the work cut off at its end
 * (bats_windows_loss). So the requested length is
 *
 *   - long enough that the loss is a twentieth of it, at least a window, and
 *     at most what its share of the money pays: the money left, divided among
 *     all wanted jobs that are not queued yet;
 *   - at most the time that the bag and its last tasks are expected to take
 *     with these jobs, so that the last jobs are shorter and hold less money;
 *   - after a task was cut off that had a whole job, four times that job's
 *     length, as far as the money allows.
 *
 * Where only leases are held, or there is no budget, jobs are as long as
 * possible: unused time is not billed.
 *
 * Before any runtime is known, or where workflows have budgets of their own, a
 * job lasts a window.
 *
 * Width: how many jobs to hold money for where only leases are held
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
#ifndef BATS_ENGINE_OUTLOOK_JOBS_H
#define BATS_ENGINE_OUTLOOK_JOBS_H

#include "engine/state/state.h"

/* Work time of the cluster's next job, microseconds: a window plus or minus a
 * multiple of the billing's step, > 0, at most `longest`. */
bats_time length_of_job(const struct state *s, size_t cluster);

/* The money does not pay for a one-window job of this cluster, with its
 * possible overrun, but does for another cluster; and no money will be freed
 * soon, since all jobs are queued. A plan with this cluster could never
 * request its job, and would block the others. */
bool length_keeps_away(const struct state *s, size_t cluster);

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
