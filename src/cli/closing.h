/*
 * closing: the end of a run: its report, the end of its record, its exit code.
 *
 * Layer: cli. Used by the verbs run, alloc and sample.
 */
#ifndef BATS_CLOSING_H
#define BATS_CLOSING_H

#include <stdio.h>

#include "cli/options.h"
#include "cli/watch.h"
#include "run/run.h"

/* Completes the record, reports what came of the run on standard error and, if
 * that is not NULL, as JSON to `json`; `sample`, and a run with --save, keep
 * what they have learned: *profile is the file, for free(), or NULL. The line
 * of `watch` has gone then. Returns the exit code; errors are reported. */
int bats_closing(const struct bats_settings *set,
                 const struct bats_run_options *options,
                 struct bats_watch *watch, FILE *json,
                 const struct bats_run_outcome *outcome, char **profile);

#endif
