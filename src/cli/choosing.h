/*
 * choosing: the step after the sampling phase. It shows the schedules on offer
 * and takes the one that the options name.
 *
 * Layer: cli. Used by the verb run; `sample` chooses none, and shows the
 * schedules once it has ended (profiling). A run with none of --choose,
 * --budget, --deadline and --profile has no such phase: it shows the schedules
 * once it knows its clusters, and continues as fast as it can.
 */
#ifndef BATS_CHOOSING_H
#define BATS_CHOOSING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/error.h"
#include "bats/status.h"
#include "cli/options.h"
#include "input/bagfile.h"
#include "input/platform.h"

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

/* Derives the choice from the settings of `verb`. BATS_EINPUT with a
 * sentence. */
int bats_choosing_init(struct bats_choosing *choosing, enum bats_verb verb,
                       const struct bats_settings *set,
                       struct bats_error *err);

/* Shows the schedules, and writes the choice into *choice. */
void bats_choosing_answer(struct bats_choosing *choosing,
                          const struct bats_platform *platform,
                          struct bats_sched *sched,
                          struct bats_choice *choice);

#endif
