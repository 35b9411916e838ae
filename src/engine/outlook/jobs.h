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
 * (bats/billing.h). Each job that works needs
 *
 *   time until its task has ended + what it may be billed beyond its lease
 *
 * of money that no job has cost yet. The time includes that in which the task
 * would be told to stop, unless it ends for sure before: no task has taken
 * longer. Runtimes vary, and each that turns out longer would take the money of
 * another one's end: a task cut off is paid for nothing. So the sum for all
 * jobs grows by the runtimes' spread (forecast_spread). A task begins if the
 * money suffices for that sum, and for its own end. So all jobs work until the money
 * is short, and then ever fewer: an idle job that cannot begin is given back,
 * which frees the money for its end. It waits for the bills of jobs that have
 * ended if the money then pays one more task for each job.
 *
 * One more job is requested if the money pays one more task for each job, its
 * own too, and its start. While no runtime is known, a task is expected to cost
 * a third of its share of the money. A cluster where tasks cost more than their
 * share gets none if they cost less elsewhere.
 *
 * Leases are full as long as the money pays that for all jobs. Then they end
 * with the tasks.
 *
 * Layer: engine, between the state and its advisors. Only reads.
 */
#ifndef BATS_ENGINE_OUTLOOK_JOBS_H
#define BATS_ENGINE_OUTLOOK_JOBS_H

#include "engine/state/state.h"

/* Work time of the cluster's next job, microseconds: a window plus or minus a
 * multiple of the billing's step, > 0, at most `longest`. */
bats_time length_of_job(const struct state *s, size_t cluster);

/* The money does not suffice to ask for a one-window job of this cluster, but
 * does for another cluster; and no money will be freed soon, since all jobs
 * are queued. A plan with this cluster could never request its job, and would
 * block the others. */
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

/* One more task may begin on the machine. */
bool width_pays_task(const struct state *s, uint32_t machine);

/* No task may begin on the idle machine yet, but one may when jobs that have
 * ended are billed. */
bool width_waits(const struct state *s, uint32_t machine);

/* The machine's tasks may not end before its lease, if they are not told to
 * stop. */
bool width_is_short(const struct state *s, uint32_t machine);

/* The end of a lease that the machine's tasks need; and of the lease that it is
 * to have (BATS_NEVER: a full one). */
bats_time width_task_end(const struct state *s, uint32_t machine);
bats_time width_lease_end(const struct state *s, uint32_t machine);

#endif
