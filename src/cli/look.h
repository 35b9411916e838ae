/*
 * look: shared by the verbs that read a record.
 *
 * Layer: cli.
 */
#ifndef BATS_LOOK_H
#define BATS_LOOK_H

#include <jansson.h>
#include <stdio.h>

#include "record/read/view.h"
#include "report/causes.h"

#define BATS_LOOK_SUFFIX ".bats"

/* Finds the record of `word`: `word`.bats if that file exists, as for a bag,
 * else `word`. Returns `path`. */
const char *bats_look_find(const char *word, char *path, size_t size);

/* The length of the path without the suffix of bats_look_find; the whole
 * length if it has another suffix. */
size_t bats_look_bag(const char *record);

/* Writes the file at `path` ("-": standard output) with `write`, under a
 * temporary name first, so that it is never incomplete. BATS_ESYS; errors of
 * `write`. */
int bats_look_write(const char *path,
                    int (*write)(void *context, FILE *out,
                                 struct bats_error *err),
                    void *context, struct bats_error *err);

/* Prints `line` as one line of JSON and takes ownership of it. BATS_ESYS,
 * BATS_ENOMEM. */
int bats_look_json(json_t *line, size_t flags, struct bats_error *err);

/* Prints a line of the log; *session is the session of the previous line, 0
 * for the first one. */
void bats_look_entry(const struct bats_view_entry *entry, int64_t *session);

/* The output of `status --json`, to be decref'd. */
int bats_status_json(struct bats_view *view, json_t **json,
                     struct bats_error *err);

/* Counts the failed tasks of the record by their causes, the most frequent
 * first. Restarts the view's list of tasks. */
int bats_look_causes(struct bats_view *view, struct bats_causes *causes,
                     struct bats_error *err);

/* The number of tasks without a result, which --resume would run. */
int64_t bats_look_left(const struct bats_view_status *status);

/* "all done", "done, 7 failed", "running", "draining", "interrupted ...": the
 * state of the whole run, written into `text` of `size` bytes. */
const char *bats_look_state(char *text, size_t size,
                            const struct bats_view_status *status);

#endif
