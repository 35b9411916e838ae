/*
 * profiling: what a run has learned: it is kept as a profile, and the
 * schedules that follow from it are shown and chosen from.
 *
 * Layer: cli. Used by the verbs run and sample. `sample`, and a run with
 * --save, keep a profile once they have ended: the tasks left are those of the
 * bill and of `plan PROFILE`. Choosing is the step after the sampling phase:
 * it shows the schedules on offer and takes the one that the options name.
 * `sample` chooses none, and shows the schedules once it has ended. A run with
 * none of --choose, --budget, --deadline and --profile has no such phase: it
 * shows the schedules once it knows its clusters, and continues as fast as it
 * can.
 */
#ifndef BATS_PROFILING_H
#define BATS_PROFILING_H

#include <stdbool.h>
#include <stdio.h>

#include "bats/error.h"
#include "bats/status.h"
#include "cli/options.h"
#include "input/bagfile.h"
#include "input/platform.h"
#include "input/profile.h"

/* Fills *profile, which the caller releases, and writes it to `path`, or to
 * BAG.profile if that is NULL. BATS_ESYS, BATS_ENOMEM; BATS_EINPUT: a bag from
 * standard input has no name. *kept is the path, for free(). */
int bats_profiling_save(const struct bats_bagfile *bag,
                        const struct bats_platform *platform,
                        const struct bats_sched *sched, const char *path,
                        struct bats_profile *profile, char **kept,
                        struct bats_error *err);

/* Prints the clusters, the schedules on offer for the tasks left, and whether
 * the deadline, if any, can be kept. Prints nothing if no task is left. */
void bats_profiling_show(FILE *out, const struct bats_settings *set,
                         const struct bats_profile *profile,
                         const struct bats_sched *sched);

struct bats_choosing {
    bool on;      /* there is a sampling phase */
    bool goes_on; /* the run goes on after it; skipped if all is free */
    bool offers;  /* no sampling phase, but the schedules are shown */
    bool only;    /* the verb sample: nothing is chosen */
    FILE *out;    /* where the schedules are shown; NULL: nowhere */
    enum bats_plans plans;
    struct bats_choice choice;
    const struct bats_deadline *deadline; /* NULL: none */
    double time_scale;
    bats_money budget; /* budget of the whole run, for bats_choosing_answer */
};

/* Derives the choice from the settings of `verb`. The program ends if they
 * exclude each other. */
struct bats_choosing bats_choosing(enum bats_verb verb,
                                   const struct bats_settings *set);

/* Shows the schedules, and writes the choice into *choice. */
void bats_choosing_answer(struct bats_choosing *choosing,
                          const struct bats_platform *platform,
                          struct bats_sched *sched,
                          struct bats_choice *choice);

#endif
