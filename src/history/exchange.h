/*
 * exchange: exports a history as text, and imports text.
 *
 * Layer: history. Used by the verb history. The lines of an export are JSON
 * objects: {"run": "20261123T...", "ended_s": 1700000000, "month": 202611,
 * "bags": 1, "kind": "python3 fit.py", "cluster": "fast", "site": "",
 * "hardware": "", "tasks": 40, "sum_s": ..., "squares": ..., "log_sum": ...,
 * "log_squares": ..., "p10_s": ..., "p50_s": ..., "p90_s": ...}, and of a sweep
 * "sweep": "n,rate\n2 ...".
 */
#ifndef BATS_HISTORY_EXCHANGE_H
#define BATS_HISTORY_EXCHANGE_H

#include <stdio.h>

#include "history/store.h"

/* BATS_ENOMEM. The caller checks the file for write errors. */
int bats_history_export(FILE *out, const struct bats_past *past,
                        struct bats_error *err);

/* Adds the file at `path`: an export, a joblog, or the output of sacct -P with
 * headers. cluster: for a joblog; may be NULL. Returns the number of new runs;
 * BATS_EINPUT with file, line and sentence. */
int bats_history_import(struct bats_store *store, const char *path,
                        const char *cluster, struct bats_error *err);

#endif
