/*
 * results: what tasks took, for the history and for simulations.
 *
 * Layer: record. Used by cli and sim. Errors: as view.h.
 */
#ifndef BATS_RECORD_RESULTS_H
#define BATS_RECORD_RESULTS_H

#include "record/read/view.h"

struct bats_view_session {
    int64_t id;
    char run[80];    /* its run id; "": it has none */
    int64_t ended_s; /* since 1970, or its last commit */
    double time_scale;
};

/* The sessions that are over, in one block for free(). */
int bats_view_sessions(struct bats_view *view,
                       struct bats_view_session **sessions, size_t *n,
                       struct bats_error *err);

/* A task that was done in a session. */
struct bats_view_result {
    const char *command, *cluster;
    const char *category; /* of its kind; NULL: it has none */
    double seconds;       /* of virtual time, above 0 */
};

/* Passes each of a session to `take`, until that fails. The record may change
 * meanwhile: `begin` is called before the first one, and again if all of them
 * follow anew. */
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

#endif
