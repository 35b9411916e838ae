/*
 * place: where clusters stand among each other by what a task costs there, and
 * whether that is known. A sample is an investment: it is worth its money where
 * it may change what is bought.
 *
 * Of two clusters i and j, with prices c per slot and tasks that ran on both,
 *
 *   d = ln(t_i c_i / t_j c_j)
 *
 * for each of these tasks. Their place is settled as soon as the interval of
 * the mean of d (Student, 90 %) leaves out 0, or is so narrow that they are
 * alike. What the user expects counts as one more task; before the first one,
 * as right within a factor of 2. The place of a cluster is open as long as it
 * is with regard to any other, or nothing at all is known of it.
 */
#ifndef BATS_ENGINE_SAMPLING_PLACE_H
#define BATS_ENGINE_SAMPLING_PLACE_H

#include "engine/sampling/memory.h"

/* Looks again at p->is_settled, after an observation. */
void place_look(struct sampling *p, const struct state *s);

/* The mean runtime on the cluster with most results is known to 25 % (95 %). */
bool place_mean_is_known(const struct sampling *p, const struct state *s);

/* The cluster on which the tasks run that need not run on all: a task costs
 * least there, as far as is expected. */
size_t place_home(const struct state *s);

/* How many of `workers` slots are begun with: those of a cluster cost no more
 * for a window than those of the home; but one at least. */
uint32_t place_workers(const struct state *s, size_t cluster,
                       uint32_t workers);

#endif
