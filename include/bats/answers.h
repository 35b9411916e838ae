/*
 * answers: how many machines of an unreliable pool answer, and when.
 *
 * Layer: engine. Pure. Source: ExPERT (strategy.h), section 4.3. From the
 * instances sent so far it finds
 *
 *   F_s    the turnaround times of those that answered,
 *   gamma  the share that answers, for instances sent from now on.
 *
 * By the time t' at which they were sent there are three epochs:
 *
 *   t' < now - D          known: what has not answered will not any more.
 *   now - D <= t' < now   in part. For a set of instances sent one after the
 *                         other, gamma = answered / sum F_s(now - t'), at most
 *                         1, and at least the smallest gamma of a set of the
 *                         first epoch.
 *   now <= t'             the mean of the means of both epochs.
 *
 * Unless gamma has fallen: if of those whose answers were due by now, in the
 * first epoch or the second, the later ones have answered significantly less
 * often, gamma is the share of these alone. (A rise is not believed so soon.)
 *
 * F_s is of the first epoch, if 20 of it answered: of what was sent later, the
 * long ones are still missing. Else it is of all, weighted for that (Kaplan and
 * Meier, 1958), and gamma is greater as far as answers have kept coming.
 *
 * An instance that is given up too soon is lost as well, and 4 T_ur are too
 * soon for the long tasks of a bag of two kinds. The time that loses the least
 * is found from another F_s and gamma. For those, what runs and what was given
 * up counts until then only, as it might still answer (censored: Kaplan and
 * Meier).
 *
 * Where every loss is noticed, it is known what has become of each instance:
 * what has neither answered nor been lost still runs. How long tasks take, and
 * how long machines last, are then two distributions, each weighted for what
 * the other one has cut off.
 */
#ifndef BATS_ANSWERS_H
#define BATS_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/units.h"

#define BATS_ANSWERS_SET 20 /* instances from which a gamma is found */

struct bats_instance {
    bats_time sent;
    bats_time time;  /* until its answer; < 0: there was none yet */
    bats_time ended; /* without an answer: time since it was sent when it
                      * was given up; 0: it runs, or unknown */
    bool noticed;    /* it was lost */
    bool in_tail;    /* it was sent then */
};

struct bats_answers {
    double gamma;                      /* from now on, in (0, 1] */
    double gamma_known, gamma_partial; /* means of the epochs; 0: none */
    size_t n_known, n_partial;         /* instances */
    bats_time *times; /* F_s, ascending; n_times >= 1; for free() */
    size_t n_times;
    double mean;     /* T_ur, of `times` */
    double loses;    /* where losses are noticed: the share that is lost if
                           it does not end before, */
    bats_time *lost; /* and when, ascending; for free() */
    size_t n_lost;
};

/* `list` has n instances in any order, and is garbled. D is how long after it
 * was sent an instance may still answer; `now` BATS_NEVER: all is known. False:
 * no memory, or none has answered. */
bool bats_answers_find(struct bats_instance *list, size_t n, bats_time now,
                       bats_time d, struct bats_answers *answers);

/* The same where every loss is noticed after this delay; `now` is a time. */
bool bats_answers_noticed(const struct bats_instance *list, size_t n,
                          bats_time now, bats_time noticed,
                          struct bats_answers *answers);

/* Only times, n_times, mean, and gamma. An instance without an answer might
 * still give one: it counts for its age now, or when it was given up. False: no
 * memory, or none has answered. */
bool bats_answers_censored(const struct bats_instance *list, size_t n,
                           bats_time now, struct bats_answers *answers);

/* The time, `least` or longer, after which instances are given up so that they
 * spend the least in vain, if a share gamma answers after the times (ascending,
 * n >= 1): those that never answer, and those that would have, whose tasks are
 * given up three times, then after twice the time each (strategy.h). */
bats_time bats_answers_patience(const bats_time *times, size_t n, double gamma,
                                bats_time least);

#endif
