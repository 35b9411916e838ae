/*
 * store: the history, what tasks took in earlier bags, in one SQLite file per
 * user, or for a group.
 *
 * Layer: history (only it and record know SQLite). Used by cli. It has moments
 * and quantiles by kind, cluster and month, no commands. Of the last bags of a
 * kind each has a row of its own; older ones are merged by month. `sqlite3 FILE
 * 'SELECT * FROM past'` shows it.
 *
 * Several processes may use it at a time: each change is one transaction, and
 * waits a few seconds for that of another. Every run has an id, and counts once
 * however often it is added.
 *
 * Errors: BATS_EINPUT with "path: sentence" for a file that is none, is damaged
 * or of a newer bats-mpi; BATS_ESYS: it is locked, full or cannot be written;
 * BATS_ENOMEM. Nothing has changed then.
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
#define BATS_PAST_BAGS 8  /* of a kind and cluster that have their own row */

/* A cluster of some time; texts are "" if they are not known. */
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
    int64_t bags;             /* 1, unless it is merged */
    int64_t ended_s;          /* since 1970: of the last bag */
    struct bats_moments moments;
    struct bats_past_sweep *sweep; /* NULL: of no sweep, or merged */
};

/* All of a history. */
struct bats_past {
    char (*kinds)[BATS_KIND];
    size_t n_kinds;
    struct bats_past_place *places;
    size_t n_places;
    struct bats_past_row *rows; /* the oldest first */
    size_t n_rows;
};

struct bats_store; /* opaque */

/* Opens the file at `path`; `create` makes it and its directory, which only
 * the user can read, if it is missing. Without, *store is NULL then. */
int bats_store_open(const char *path, bool create, struct bats_store **store,
                    struct bats_error *err);
void bats_store_close(struct bats_store *store); /* NULL is legal */

/* Adds the results of a run: the cells of `gather` by the names of its kinds
 * and its places. Returns 1, or 0 if the run was there. A gather without cells
 * is noted, too. */
int bats_store_add(struct bats_store *store, const char *run, int64_t ended_s,
                   const struct bats_task_kinds *kinds,
                   const struct bats_past_place *places,
                   struct bats_gather *gather, struct bats_error *err);

/* 1: the run was added before; 0: not. */
int bats_store_has(struct bats_store *store, const char *run,
                   struct bats_error *err);

/* To be released. */
int bats_store_read(struct bats_store *store, struct bats_past *past,
                    struct bats_error *err);
void bats_store_release(struct bats_past *past);

/* Removes what is known of the kind (NULL: all kinds), and no run is known to
 * have been added if all is removed. Returns the rows that are gone. */
int bats_store_forget(struct bats_store *store, const char *kind,
                      struct bats_error *err);

#endif
