/*
 * needs: what tasks need of their machines, as a record says.
 *
 * Layer: cli. Used by the verbs that read a record. Only runs whose needs
 * decide where tasks run have recorded them.
 */
#ifndef BATS_CLI_NEEDS_H
#define BATS_CLI_NEEDS_H

#include <jansson.h>
#include <stdbool.h>

#include "bats/need.h"
#include "record/read/view.h"
#include "util/text.h"

/* All zero: no needs are recorded. */
struct bats_known_needs {
    json_t *options;      /* of the session; owned */
    const json_t *list;   /* [cores, GPUs, KiB] by category; or NULL */
    const json_t *stocks; /* the same by machine, of a node; and its nodes */
    const json_t *names;  /* of categories; or NULL */
    int64_t *category;    /* by number - 1; NULL: all in category 0 */
    int64_t n_tasks;
};

/* A list [value, tasks, value, tasks, ...] as values by number - 1, for free().
 * *values is NULL if there is no list. */
int bats_known_expand(const json_t *list, int64_t n_tasks, int64_t **values,
                      struct bats_error *err);

/* Reads the options of the last session. Release it after an error, too. */
int bats_known_needs_read(struct bats_view *view, int64_t n_tasks,
                          struct bats_known_needs *known,
                          struct bats_error *err);
void bats_known_needs_release(struct bats_known_needs *known);

size_t bats_known_category(const struct bats_known_needs *known,
                           int64_t number);

/* The need that the task had at first; false: not recorded. */
bool bats_known_need(const struct bats_known_needs *known, int64_t number,
                     struct bats_need *need);

/* Adds how much is free of what the task needs, and which machine is reserved
 * for it: "; free: 2 cores on each of 3 machines; reserved on fast-2 from
 * 5m". */
int bats_known_room(struct bats_view *view,
                    const struct bats_known_needs *known, int64_t number,
                    struct bats_text *text, struct bats_error *err);

#endif
