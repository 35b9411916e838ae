/*
 * deadline: the argument of --deadline.
 *
 * Layer: cli. A duration from the start of the run ("4h", "1-12:00:00"); a
 * moment in local time: "18:30", the next time that a clock shows it, or
 * "2026-11-22T18:30" (:SS may follow, and the time may be missing); or a
 * percentage: 0% is the soonest possible end, 100% that of the cheapest
 * schedule. ("18:30" is not a duration here, unlike elsewhere.)
 */
#ifndef BATS_CLI_DEADLINE_H
#define BATS_CLI_DEADLINE_H

#include <stdbool.h>
#include <time.h>

#include "bats/error.h"
#include "bats/estimate.h"

struct bats_deadline {
    const char *text;   /* as given; NULL: no deadline */
    bats_time duration; /* > 0; 0: not a duration */
    time_t moment;      /* 0: not a moment */
    bool is_share;
    double share; /* 0 .. 1 */
};

/* `now`: the wall clock. BATS_EINPUT with a sentence. */
int bats_deadline_parse(const char *text, time_t now,
                        struct bats_deadline *deadline,
                        struct bats_error *err);

/* Virtual time from `now` to the deadline, at least 1; 0: no deadline, or a
 * share. */
bats_time bats_deadline_from(const struct bats_deadline *deadline, time_t now,
                             double time_scale);

/* Converts a share of the way from the soonest to the latest end on offer.
 * Errors: those of bats_estimate_offers. */
int bats_deadline_of_share(const struct bats_deadline *deadline,
                           const struct bats_estimator *e, bats_time *left,
                           struct bats_error *err);

#endif
