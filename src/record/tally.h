/*
 * tally: the counts that status shows, in one row that the writer replaces with
 * each commit, so that nobody has to read the whole history for them.
 *
 * Layer: record, private to it. The writer keeps it (write/count.c), the view
 * reads it (view_status.c).
 *
 * Invariant: a row whose `seq` is the last of all in the record, of the last
 * session, says what a look at the whole history (read/totals) would. Any other
 * row is out of date (the record was recovered, or written by a bats-mpi that
 * knows no tally) and not used.
 */
#ifndef BATS_RECORD_TALLY_H
#define BATS_RECORD_TALLY_H

#include <stdbool.h>

#include "bats/cluster.h"
#include "bats/sched.h"
#include "bats/units.h"
#include "record/db.h"

/* The states of a task that does not run. */
enum bats_tally_state {
    BATS_TALLY_PENDING,
    BATS_TALLY_DONE,
    BATS_TALLY_FAILED,
    BATS_TALLY_SKIPPED,
    BATS_TALLY_STATES
};

struct bats_tally_cluster {       /* of the last session */
    int64_t machines, held, lost; /* of that session */
    int64_t windows, charged;     /* of all sessions, as below */
    int64_t done, failed;
    int64_t wall_us; /* of done and failed tasks */
    double runtime;  /* the same in virtual time */
};

struct bats_tally {
    int64_t session, seq;
    bats_time time; /* of the last event or command of the session */
    int64_t state[BATS_TALLY_STATES];   /* tasks */
    int64_t running[BATS_TALLY_STATES]; /* those of them that run */
    int64_t removed;                    /* tasks no longer in the bag */
    int64_t preempted;                  /* executions */
    int64_t charged;
    bool ending, choosing;
    size_t n_clusters;
    struct bats_tally_cluster clusters[BATS_CLUSTERS_MAX];
};

/* Creates the table, if it is not there. */
int bats_tally_make(struct bats_db *db, struct bats_error *err);

/* Writes the row; *statement is prepared once. */
int bats_tally_write(const struct bats_tally *tally, struct bats_db *db,
                     sqlite3_stmt **statement, struct bats_error *err);

/* Reads it from the attached database rec: 1, or 0 if there is none that is up
 * to date. */
int bats_tally_read(struct bats_tally *tally, struct bats_db *db,
                    struct bats_error *err);

/* The last seq used, as SQL; `schema`: "" or "rec.". */
#define BATS_TALLY_LAST_SEQ(schema)                                           \
    "SELECT coalesce(max(m), 0) FROM ("                                       \
    "SELECT max(seq) AS m FROM " schema "history UNION ALL "                  \
    "SELECT max(seq) FROM " schema "ledger UNION ALL "                        \
    "SELECT max(seq) FROM " schema "decision UNION ALL "                      \
    "SELECT max(seq) FROM " schema "notice UNION ALL "                        \
    "SELECT max(seq) FROM " schema "stderr)"

#endif
