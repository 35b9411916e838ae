/*
 * state: shared by the files of the writer. Layer: record, private to it.
 * record.c opens, begins and ends; past.c loads task states of earlier
 * sessions; killed.c charges what the last session held when it was killed;
 * match.c finds the bag's tasks among recorded ones; now.c tracks and counts
 * running executions; log.c turns events and commands into pending rows,
 * runs.c does so for executions; rows.c keeps and commits rows; kinds.c bounds
 * the ends of standard error; parameters.c writes sweep values.
 */
#ifndef BATS_RECORD_STATE_H
#define BATS_RECORD_STATE_H

#include "record/db.h"
#include "record/schema.h"
#include "record/write/kinds.h"
#include "record/write/now.h"
#include "record/write/parameters.h"
#include "record/write/record.h"
#include "record/write/rows.h"

/* A task of the record. There may be tens of millions: 48 bytes each. */
struct bats_past_task {
    int64_t hash;
    uint32_t id;
    uint32_t number; /* in the bag, from 1; its last number if removed */
    uint32_t line;
    uint32_t place;   /* in task_now; 0: none (in a damaged record) */
    bool was_in_bag;  /* in the last session */
    bool is_in_bag;   /* in this session */
    bool is_replaced; /* replaced by another task */
    uint8_t state;    /* enum bats_task_now in the file */
    struct bats_record_past past;
};

struct bats_past {
    struct bats_past_task *tasks; /* the last bag's tasks, by number; then the
                                     others, by id */
    size_t n;
    size_t n_in_bag; /* in the last session */
    int64_t last_id, last_place;
    int64_t preempted; /* executions */
    bats_money charged;
    uint32_t sessions;
};

struct bats_record {
    struct bats_db db;
    char *path;
    int fd;       /* of the file; closed after the database, as closing
                     releases this process's locks */
    int64_t size; /* largest file size seen */
    bool is_cut;  /* the file has become smaller */
    struct bats_past past;
    int64_t session;   /* id of the session */
    bats_money killed; /* bats_record_killed */
    bool has_begun;

    int64_t *id; /* by index in the bag: task.id; in a continued record, the
                    hash until the match */
    uint32_t n_tasks;
    size_t ids_room, named_room;
    struct bats_named_task *named; /* by index in the bag, until forgotten;
                                      only in a continued record */
    bool is_matched;
    uint32_t n_lacking; /* tasks without a match, to be named again
                           afterwards */
    sqlite3_stmt *insert_task;
    sqlite3_stmt *insert_point;
    struct bats_parameters parameters; /* of the bag, if it is a sweep */

    int64_t seq; /* the last seq used */
    int64_t reservation; /* seq of the reserved machine; 0: none so far */
    struct bats_row *rows;
    size_t n_rows;
    size_t rows_capacity;
    uint64_t batch; /* number of the pending batch of rows, from 1 */
    bool is_dirty;  /* time or counts have changed */
    struct bats_kinds kinds;
    struct bats_now now;
    sqlite3_stmt *statements[BATS_PUTS];
};

/* Loads the record's tasks and their states. */
int bats_past_load(struct bats_past *past, struct bats_db *db,
                   struct bats_error *err);
void bats_past_release(struct bats_past *past);

/* If the last session was killed, charges what it held and ends its
 * executions; in one transaction, and only once. */
int bats_killed_settle(struct bats_record *record, struct bats_error *err);

/* Notes whether the file was truncated. Called with each commit, since a
 * checkpoint hides it. */
void bats_record_measure(struct bats_record *record);

/* True if `path` still names the record's file; *is_there: some file has that
 * name. */
bool bats_record_is_named(const struct bats_record *record, bool *is_there);

/* Call before closing. BATS_ESYS if the file was truncated. If `path` no
 * longer names the file, writes the record there again or, if another file is
 * there, to the next free "path.N", which is also BATS_ESYS: *is_elsewhere,
 * and the caller must not touch `path`. */
int bats_record_keep(struct bats_record *record, bool *is_elsewhere,
                     struct bats_error *err);

/* A task of the bag. */
struct bats_named_task {
    uint32_t found; /* index in past.tasks, from 1; 0: not in the record */
    uint32_t was;
    uint32_t line;
    uint8_t match;
    bool is_lacking; /* missing in the file */
    bool mentions_its_number;
};

/* Id of a task of the bag, and its place in task_now; NULL for others, such as
 * BATS_NO_TASK. */
static inline int64_t bats_record_id(const struct bats_record *r,
                                     uint32_t task)
{
    return task < r->n_tasks ? r->id[task] : BATS_DB_NULL;
}
static inline int64_t bats_record_place(const struct bats_record *r,
                                        uint32_t task)
{
    return task < r->now.n_tasks ? r->now.tasks[task].place : BATS_DB_NULL;
}

/* The recorded task that matches task `index` of the bag; NULL: it is new.
 * Only until the past is forgotten. */
static inline const struct bats_past_task *
bats_record_found(const struct bats_record *r, uint32_t index)
{
    uint32_t found = r->named != NULL ? r->named[index].found : 0;
    return found > 0 ? &r->past.tasks[found - 1] : NULL;
}

#endif
