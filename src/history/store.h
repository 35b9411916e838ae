/*
 * store: the history of runtimes in earlier bags, in one SQLite file per user
 * or group.
 *
 * Layer: history. Used by cli. It holds
 * moments and quantiles by kind, cluster and month, but no commands. The last
 * bags of a kind have a row each; older ones are merged by month. `sqlite3
 * FILE 'SELECT * FROM past'` shows it.
 *
 * Several processes may use it at the same time: each change is one
 * transaction, which waits a few seconds for others. Every run has an id, and
 * counts once however often it is added.
 *
 * Errors: BATS_EINPUT with "path: sentence" for a file that is not a history,
 * is damaged or of a newer bats-mpi; BATS_ESYS: the file is locked or cannot
 * be written, or the disk is full; BATS_ENOMEM. On errors nothing has changed.
 */
#ifndef BATS_HISTORY_STORE_H
#define BATS_HISTORY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"
#include "history/kinds.h"
#include "history/moments.h"

#define BATS_PAST_TEXT 96 /* bytes of a site or of hardware */
#define BATS_PAST_RUN 80  /* of the name of a run */
#define BATS_PAST_BAGS                                                        \
    8 /* bags per kind and cluster with a row of their
                             own */

/* A recorded cluster; unknown texts are "". */
struct bats_past_place {
    char name[BATS_CLUSTER_NAME];
    char site[BATS_PAST_TEXT];
    char hardware[BATS_PAST_TEXT];
};

struct bats_past_row {
    uint32_t kind, place;     /* indices */
    int32_t month;            /* 202611 */
    int64_t run;              /* the same for all rows of a run; 0: merged */
    char name[BATS_PAST_RUN]; /* of the run; "": merged */
    int64_t bags;             /* 1, unless merged */
    int64_t ended_s;          /* since 1970: of the last bag */
    struct bats_moments moments;
    struct bats_past_sweep *sweep; /* NULL: no sweep, or merged */
    const char *sums;              /* private */
};

/* A whole history. */
struct bats_past {
    char (*kinds)[BATS_KIND];
    size_t n_kinds;
    struct bats_past_place *places;
    size_t n_places;
    struct bats_past_row *rows; /* the oldest first */
    size_t n_rows;
    struct bats_past_size *sizes;
    size_t n_sizes;
};

struct bats_store; /* opaque */

/* Opens the file at `path`. If it is missing, `create` creates it and its
 * directory, readable only by the user; otherwise *store is NULL. */
int bats_store_open(const char *path, bool create, struct bats_store **store,
                    struct bats_error *err);
void bats_store_close(struct bats_store *store); /* NULL is legal */

/* Adds the results of a run: the cells of `gather`, with its kinds and places.
 * Returns 1, or 0 if the run was already there. A gather without cells is
 * noted, too. */
int bats_store_add(struct bats_store *store, const char *run, int64_t ended_s,
                   const struct bats_task_kinds *kinds,
                   const struct bats_past_place *places,
                   struct bats_gather *gather, struct bats_error *err);

/* Adds the lines of an export, each with a NUL, from `text` to `end`. Returns
 * the number of new runs. BATS_EINPUT names `path` and the line. */
int bats_store_import(struct bats_store *store, const char *path,
                      const char *text, const char *end,
                      struct bats_error *err);

/* 1: the run was added before; 0: it was not. */
int bats_store_has(struct bats_store *store, const char *run,
                   struct bats_error *err);

/* Reads the history; the caller releases *past. */
int bats_store_read(struct bats_store *store, struct bats_past *past,
                    struct bats_error *err);
void bats_store_release(struct bats_past *past);

/* A kind on clusters of one name, summed over all bags. */
struct bats_past_sum {
    char kind[BATS_KIND], cluster[BATS_CLUSTER_NAME];
    int64_t bags, tasks, ended_s;
    double mean_s, p10_s, p90_s; /* of the last bag */
};

/* All of them by kind and cluster, in one block for free(). */
int bats_store_sums(struct bats_store *store, struct bats_past_sum **list,
                    size_t *n, struct bats_error *err);

/* Removes all data of the kind. NULL: of all kinds, and the list of added
 * runs. Returns the number of removed rows. */
int bats_store_forget(struct bats_store *store, const char *kind,
                      struct bats_error *err);

#endif
