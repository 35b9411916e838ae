/*
 * results: what tasks took, for the history and for simulations.
 *
 * Layer: record. Used by cli and sim. Errors: as view.h.
 */
#ifndef BATS_RECORD_RESULTS_H
#define BATS_RECORD_RESULTS_H

#include "record/read/texts.h"
#include "record/read/view.h"

struct bats_view_session {
    int64_t id;
    char run[80];    /* its run id; "": it has none */
    int64_t ended_s; /* since 1970, or its last commit */
    double time_scale;
};

/* The sessions that have ended, in one block for free(). */
int bats_view_sessions(struct bats_view *view,
                       struct bats_view_session **sessions, size_t *n,
                       struct bats_error *err);

/* A task that was done in a session. */
struct bats_view_result {
    const char *command, *cluster;
    const char *category; /* of its kind; NULL: it has none */
    double seconds;       /* of virtual time, above 0 */
};

/* Passes each result of a session to `take` until that fails. `begin` is called
 * before the first one; if the record changes meanwhile, `begin` and all results
 * come again. */
int bats_view_results(struct bats_view *view, int64_t session,
                      void (*begin)(void *context),
                      int (*take)(void *context,
                                  const struct bats_view_result *result,
                                  struct bats_error *err),
                      void *context, struct bats_error *err);

/* The runtimes of all tasks that are done, by their numbers: virtual time, at
 * least 1 each, scaled so that every cluster has the mean of the first one.
 * *runtimes is for free(). */
int bats_view_runtimes(struct bats_view *view, bats_time **runtimes, size_t *n,
                       struct bats_error *err);

/* The tasks of a sweep by one value of one of its parameters. Times, memory and
 * money are those of tasks that are done, n_done of them. */
struct bats_view_value {
    const char *name, *value;
    int64_t n, failed, n_done;
    double wall_us, longest_us; /* together; of one */
    double cost;                /* together, millionths */
    int64_t max_rss_kib;
};

/* At most 200 values, those of the first tasks, by parameter; numbers in their
 * order come before words. *list is for free(), with *texts for release;
 * *n_hidden: so many values of tasks are not there. */
int bats_view_values(struct bats_view *view, struct bats_view_value **list,
                     size_t *n, struct bats_texts *texts, int64_t *n_hidden,
                     struct bats_error *err);

#endif
