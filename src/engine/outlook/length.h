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
 * Where nothing is known of tasks yet, or workflows have budgets of their own,
 * it is a window.
 *
 * Layer: engine, between the state and its advisors. Only reads.
 */
#ifndef BATS_ENGINE_LENGTH_H
#define BATS_ENGINE_LENGTH_H

#include "engine/state/state.h"

/* The next job of the cluster works for so long, microseconds: a window and a
 * multiple of the billing's step more or less, > 0, at most its `longest`. */
bats_time length_of_job(const struct state *s, size_t cluster);

/* The money pays no job of this cluster for a window, with what that may be
 * billed beyond it, but one of another; and none comes free, since all jobs
 * wait. A plan that counts on this cluster would never ask for it, and keep the
 * others away. */
bool length_keeps_away(const struct state *s, size_t cluster);

#endif
