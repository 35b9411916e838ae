/*
 * profiling: keeps what a run has learned as a profile, and shows the
 * schedules that follow from it.
 *
 * Layer: cli. Used by `sample` and by a run with --save, once it has ended:
 * the tasks left are those of the bill and of `plan PROFILE`.
 */
#ifndef BATS_PROFILING_H
#define BATS_PROFILING_H

#include <stdio.h>

#include "bats/error.h"
#include "bats/estimate.h"
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

/* Prints what `e` offers for the `left` tasks after this time and charge, as
 * far as it is not paid yet; equal schedules become one. */
void bats_profiling_offer(FILE *out, const struct bats_estimator *e,
                          struct bats_schedule *offers, size_t *n,
                          uint64_t left, bats_time at, bats_money charged);

/* Names the task that runs much longer than the others, if any. */
void bats_profiling_say_longest(FILE *out,
                                const struct bats_sched_sampled *sampled);

#endif
