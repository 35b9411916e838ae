/*
 * length: for how long a job is to work that is asked for.
 *
 * A job loses the time for which it waits in the queue, and what is cut off at
 * its end (bats_windows_loss). So it is asked for
 *
 *   - as long as makes that a twentieth of it, and a window at least, so far as
 *     its share of the money pays that: what is left, divided among all jobs
 *     that are wanted and do not wait already;
 *   - but no longer than the bag is expected to last with these, and its last
 *     tasks after that: so the last jobs are shorter, and hold less money;
 *   - and where a task was cut off that had all of a job, for four times as
 *     long as that, as far as the money goes.
 *
 * Where money is held for a lease only, or there is no budget, it is asked for as
 * long as possible: what is not used is not billed.
 *
 * Where nothing is known of tasks yet, or workflows have budgets of their own,
 * it is a window.
 *
 * Layer: engine, between the state and its advisors. Only reads.
 */
#ifndef BATS_ENGINE_LENGTH_H
#define BATS_ENGINE_LENGTH_H

#include "engine/state/state.h"

/* The work time of the cluster's next job, microseconds: a window plus or
 * minus a multiple of the billing's step, > 0, at most `longest`. */
bats_time length_of_job(const struct state *s, size_t cluster);

/* The money does not pay for a window of a job of this cluster, with its
 * possible overrun, but pays one of another cluster; and it will not be free
 * soon, since all jobs wait. A plan with this cluster would never ask for it,
 * and would block the others. */
bool length_keeps_away(const struct state *s, size_t cluster);

#endif
