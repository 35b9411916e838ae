/*
 * answers: the share of instances in an unreliable pool that answer, and when.
 *
 * Layer: engine. Pure. Source: ExPERT (strategy.h), section 4.3. From the
 * instances sent so far it estimates
 *
 *   F_s    the turnaround times of answered instances,
 *   gamma  the share of instances sent from now on that will answer.
 *
 * Instances fall into three epochs by the time t' at which they were sent:
 *
 *   t' < now - D          known: instances without an answer will never
 *                         answer.
 *   now - D <= t' < now   partly known. For a set of consecutive instances,
 *                         gamma = answered / sum F_s(now - t'), at most 1, and
 *                         at least the smallest gamma of a set in the first
 *                         epoch.
 *   now <= t'             future: the mean of both epochs' means.
 *
 * F_s comes from the first epoch if 20 of its instances answered: of later
 * ones, the long answers are still missing. Otherwise it comes from all,
 * weighted for that (Kaplan and Meier, 1958).
 *
 * If every loss is noticed, each instance's state is known: it has answered,
 * was lost or still runs. Task times and machine lifetimes are then two
 * distributions, each weighted for censoring by the other.
 */
#ifndef BATS_ANSWERS_H
#define BATS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/units.h"

#define BATS_ANSWERS_SET 20 /* instances per set for gamma */

struct bats_instance {
    bats_time sent;
    bats_time time;  /* until its answer; < 0: none yet */
    bats_time ended; /* without an answer: age when it was given up; 0: it
                        runs, or unknown */
    bool noticed;    /* it was lost */
};

struct bats_answers {
    double gamma;                      /* from now on, in (0, 1] */
    double gamma_known, gamma_partial; /* means of the epochs; 0: none */
    bats_time *times; /* F_s, ascending; n_times >= 1; for free() */
    size_t n_times;
    double mean;     /* T_ur, of `times` */
    double loses;    /* with noticed losses: the share lost if it does not end
                        before, */
    bats_time *lost; /* and the times of losses, ascending; for free() */
    size_t n_lost;
};

/* `list` has n instances in any order; its order is destroyed. An instance may
 * answer until D after it was sent; now = BATS_NEVER: all outcomes are known.
 * False: out of memory, or none has answered. */
bool bats_answers_find(struct bats_instance *list, size_t n, bats_time now,
                       bats_time d, struct bats_answers *answers);

/* The same if every loss is noticed after this delay; `now` is a time. */
bool bats_answers_noticed(const struct bats_instance *list, size_t n,
                          bats_time now, bats_time noticed,
                          struct bats_answers *answers);

#endif
