/*
 * alloc: machines that are bought as jobs (verb alloc).
 *
 * Layer: cli. Used by the verbs alloc and worker. It is the job side of
 * run/joining.h: it connects the engine, which asks for machines and gives
 * them back, with the batch system (site/queue.h), which runs the jobs and
 * bills them.
 *
 * A machine of the engine is a place for one job after the other. For every
 * partition there are twice as many as --max-jobs, since a job may overlap
 * with its successor. The life of a job, and what the engine hears of it:
 *
 *     ACQUIRE -> submitted ... its gateway joins: JOINED -> PARK or RELEASE ->
 *     sent off when its tasks have answered -> it has parted (LOST) ->
 *     no longer in the queue -> billed: BILLED
 *
 * ENDS is reported when the batch system shows that a job ends sooner than its
 * window: it got less time (--time-min), or is to be preempted.
 */
#ifndef BATS_ALLOC_H
#define BATS_ALLOC_H

#include <stdint.h>
#include <stdio.h>

#include "bats/error.h"
#include "cli/options.h"
#include "run/joining.h"
#include "run/run.h"

struct bats_alloc; /* opaque */

/* Asks the batch system for the rules of the site and the prices of jobs, and
 * puts job side and billing into *options; a budget of BATS_BUDGET_ACCOUNT
 * becomes an amount. `record`: its path; NULL: no record. An error ends the
 * program, but *alloc may be destroyed. */
void bats_alloc_create(const struct bats_settings *set, const char *record,
                       struct bats_run_options *options,
                       struct bats_alloc **alloc);
void bats_alloc_destroy(struct bats_alloc *alloc); /* NULL is legal */

/* Adds the name of the run's jobs to the object of settings for the record.
 * BATS_ENOMEM. */
int bats_alloc_note(const struct bats_alloc *alloc, json_t *settings,
                    struct bats_error *err);

/* --dry-run: prints machines and prices, and the first jobs as they would be
 * submitted. */
void bats_alloc_dry_run(struct bats_alloc *alloc, FILE *out,
                        const struct bats_run_options *options);

/* After a run that ended before its jobs were settled: cancels the rest.
 * Returns the number of jobs without a known bill. */
uint32_t bats_alloc_abandon(struct bats_alloc *alloc);

#endif
