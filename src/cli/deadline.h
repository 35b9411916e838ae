/*
 * deadline: the argument of --deadline.
 *
 * Layer: cli. A duration from the start of the run ("4h", "1-12:00:00"); a
 * moment, local time: "18:30", the next time that a clock shows it, or
 * "2026-11-22T18:30" (:SS may follow, and the time may be missing); or a
 * percentage: 0% is the soonest end that can be expected, 100% that of the
 * cheapest schedule. ("18:30" is no duration, unlike elsewhere.)
 */
#ifndef BATS_CLI_DEADLINE_H
#define BATS_CLI_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "bats/error.h"
#include "bats/estimate.h"
#include "bats/units.h"

struct bats_deadline {
    const char *text;   /* as it was given; NULL: no deadline */
    bats_time duration; /* > 0, or 0: it is no duration */
    time_t moment;      /* or 0 */
    bool is_share;
    double share; /* 0 .. 1 */
};

/* `now`: by the clock. BATS_EINPUT with a sentence. */
int bats_deadline_parse(const char *text, time_t now,
                        struct bats_deadline *deadline,
                        struct bats_error *err);

/* Virtual time from `now` on, at least 1; 0: no deadline, or a share. */
bats_time bats_deadline_from(const struct bats_deadline *deadline, time_t now,
                             double time_scale);

/* A share, of the way from the soonest to the latest end on offer. Errors:
 * those of bats_estimate_offers. */
int bats_deadline_of_share(const struct bats_deadline *deadline,
                           const struct bats_estimator *e, bats_time *left,
                           struct bats_error *err);

#endif
