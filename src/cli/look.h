/*
 * look: what the verbs that read a record share, among it what tasks need of
 * their machines. Only runs whose needs decide where tasks run have recorded
 * these.
 *
 * Layer: cli. A function without an error ends the program if it fails
 * (cli.h).
 */
#ifndef BATS_LOOK_H
#define BATS_LOOK_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "bats/need.h"
#include "cli/options.h"
#include "record/read/view.h"
#include "report/causes.h"
#include "util/text.h"

#define BATS_LOOK_SUFFIX ".bats"

/* A record that a verb reads. */
struct bats_look {
    const struct bats_settings *set;
    char path[4096];
    struct bats_view *view;
    /* After bats_look_status: */
    struct bats_view_status status;
    json_t *options; /* of the last session; NULL: none */
};

/* Finds the record of `word`: `word`.bats if that file exists, as for a bag,
 * else `word`. Returns `path`. */
const char *bats_look_find(const char *word, char *path, size_t size);

/* The length of the path without the suffix of bats_look_find; the whole
 * length if it has another suffix. */
size_t bats_look_bag(const char *record);

/* Answers with `show` from the record that the first argument names; returns the
 * exit code. */
int bats_look_answer(int (*show)(struct bats_look *look),
                     const struct bats_settings *set);

/* Reads status and options (report/recorded.h). */
void bats_look_status(struct bats_look *look);

/* Prints a line of the log; *session is the session of the previous line, 0
 * for the first one. */
void bats_look_entry(const struct bats_view_entry *entry, int64_t *session);

/* The output of `status --json`, to be decref'd. */
json_t *bats_status_json(struct bats_look *look);

/* Counts the failed tasks of the record by their causes, the most frequent
 * first. Restarts the view's list of tasks. */
struct bats_causes bats_look_causes(struct bats_view *view);

/* The number of tasks without a result, which --resume would run. */
int64_t bats_look_left(const struct bats_view_status *status);

/* "all done", "done, 7 failed", "running", "draining", "interrupted ...": the
 * state of the whole run. */
struct bats_phrase bats_look_state(const struct bats_view_status *status);

/* ---- writing ---- */

/* Writes the file at `path` ("-": standard output) with `write`, under a
 * temporary name first, so that it is never incomplete. */
void bats_look_write(const char *path,
                     int (*write)(void *context, FILE *out,
                                  struct bats_error *err),
                     void *context);

/* Prints `line` as one line of JSON and takes ownership of it; NULL: out of
 * memory. */
void bats_look_json(json_t *line, size_t flags);

/* ---- the directory with the output of a run ---- */

/* The default directory for the output of the bag `bag` with --output stream:
 * "BAG.out", "stdin.out". In one block for free(); NULL: out of memory. */
char *bats_place_default(const char *bag);

/* Adds the directory `dir` to the object of settings for the record at
 * `record`; both exist. A directory next to or below the record is noted
 * relative to it, so that both can be moved together. */
int bats_place_note(json_t *settings, const char *dir, const char *record,
                    struct bats_error *err);

/* The path of an existing file, without links. BATS_ESYS. */
int bats_place_resolve(const char *name, char path[PATH_MAX],
                       struct bats_error *err);

/* The file that has the output, in the directory noted, else in the default
 * for the record's bag; `record`: its path, resolved. */
void bats_place_of_stream(char *path, size_t size, const char *record,
                          const struct bats_view_output *output);

/* ---- needs ---- */

/* All zero: no needs are recorded. */
struct bats_known_needs {
    const json_t *list;   /* [cores, GPUs, KiB, limit of a task of an open bag
                           * (a duration)] by category; or NULL */
    const json_t *stocks; /* the same by machine, of a node; and its nodes */
    const json_t *names;  /* of categories; or NULL */
    int64_t *category;    /* by number - 1; NULL: all in category 0 */
    int64_t n_tasks;
};

/* A list [value, tasks, value, tasks, ...] as values by number - 1, for free();
 * NULL if there is no list. */
int64_t *bats_known_expand(const json_t *list, int64_t n_tasks);

/* Finds the needs in the options of the look, which must live as long, and
 * adds those of an open bag there. `category` is for free(). */
struct bats_known_needs bats_known_needs(const struct bats_look *look);

size_t bats_known_category(const struct bats_known_needs *known,
                           int64_t number);

/* The need that the task had at first; false: not recorded. */
bool bats_known_need(const struct bats_known_needs *known, int64_t number,
                     struct bats_need *need);

/* Adds what the machine with the most free cores has free, and which machine
 * is reserved: "; free: 2 cores on fast-1; reserved on fast-2 from 5m". */
void bats_known_room(struct bats_view *view,
                     const struct bats_known_needs *known, int64_t number,
                     struct bats_text *text);

#endif
