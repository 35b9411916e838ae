/*
 * closing: ends a run: its report, its record, its exit code.
 *
 * Layer: cli. Used by the verbs run, alloc and sample.
 */
#ifndef BATS_CLOSING_H
#define BATS_CLOSING_H

#include <stdio.h>

#include "cli/watch.h"
#include "run/run.h"

/* Completes the record and reports the outcome on standard error and, unless
 * `json` is NULL, as JSON. `sample`, and a run with --save, keep what they
 * have learned: *profile is the file, for free(), or NULL. Removes the
 * progress line of `watch`. Returns the exit code; errors are reported. */
int bats_closing(struct bats_watch *watch, FILE *json,
                 const struct bats_run_outcome *outcome, char **profile);

#endif
