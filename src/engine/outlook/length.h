/*
 * length: how long a job to request.
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
 * Layer: engine, between the state and its advisors. Only reads.
 */
#ifndef BATS_ENGINE_LENGTH_H
#define BATS_ENGINE_LENGTH_H

#include "engine/state/state.h"

/* Work time of the cluster's next job, microseconds: a window plus or minus a
 * multiple of the billing's step, > 0, at most `longest`. */
bats_time length_of_job(const struct state *s, size_t cluster);

/* The money does not pay for a one-window job of this cluster, with its
 * possible overrun, but does for another cluster; and no money will be freed
 * soon, since all jobs are queued. A plan with this cluster could never
 * request its job, and would block the others. */
bool length_keeps_away(const struct state *s, size_t cluster);

#endif
