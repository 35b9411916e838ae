/*
 * results: runtimes of tasks, for the history and for simulations.
 *
 * Layer: record. Used by cli and sim. Errors: as view.h.
 */
#ifndef BATS_RECORD_RESULTS_H
#define BATS_RECORD_RESULTS_H

#include "sql/texts.h"
#include "record/read/view.h"

struct bats_view_session {
    int64_t id;
    char run[80];    /* its run id, or "" */
    int64_t ended_s; /* since 1970, or its last commit */
    double time_scale;
};

/* The sessions that have ended, in one block for free(). */
int bats_view_sessions(struct bats_view *view,
                       struct bats_view_session **sessions, size_t *n,
                       struct bats_error *err);

/* A task done in a session. */
struct bats_view_result {
    const char *command, *cluster;
    const char *category; /* its category, or NULL */
    double seconds;       /* of virtual time, above 0 */
};

/* Passes each result of a session to `take` until that fails. Calls `begin`
 * before the first one; if the record changes meanwhile, `begin` and all
 * results are repeated. */
int bats_view_results(struct bats_view *view, int64_t session,
                      void (*begin)(void *context),
                      int (*take)(void *context,
                                  const struct bats_view_result *result,
                                  struct bats_error *err),
                      void *context, struct bats_error *err);

/* Runtimes of all done tasks, by number: virtual time, at least 1 each, scaled
 * so that every cluster has the first one's mean. *runtimes is for free(). */
int bats_view_runtimes(struct bats_view *view, bats_time **runtimes, size_t *n,
                       struct bats_error *err);

#endif
