/*
 * state: shared by the files of the writer.
 * Layer: record, private to it. record.c opens, begins and ends; past.c loads
 * the results of earlier sessions; killed.c charges what the last one held when
 * it was killed; match.c finds the tasks of the bag among theirs; log.c keeps the
 * rows that wait; pack.c groups them; count.c counts them for the tally; kinds.c
 * bounds the ends of standard error; parameters.c writes the values of a sweep.
 */
#ifndef BATS_RECORD_STATE_H
#define BATS_RECORD_STATE_H

#include "record/db.h"
#include "record/schema.h"
#include "record/write/kinds.h"
#include "record/write/parameters.h"
#include "record/write/record.h"

/* A task of the record. */
struct bats_past_task {
    int64_t id;
    int64_t number; /* in the bag, from 1; the last number if it is not
                     * there */
    int64_t line;
    int64_t hash;
    bool was_in_bag;  /* in the last session */
    bool is_in_bag;   /* in this session */
    bool is_replaced; /* another task took its place */
    int64_t result;   /* seq of its last result; 0: none */
    int32_t session, machine; /* of that result */
    int64_t wall_us;          /* likewise */
    uint32_t preempted;       /* executions */
    struct bats_record_past past;
};

struct bats_past {
    struct bats_past_task *tasks; /* tasks of the last bag, by number; then the
                                   * others, by id */
    size_t n;
    size_t n_in_bag; /* in the last session */
    int64_t last_id;
    bats_money charged, reserved;
    uint32_t sessions;
};

enum bats_row_kind {
    BATS_ROW_EVENT,
    BATS_ROW_COMMAND,
    BATS_ROW_ATTEMPT,
    BATS_ROWS_PACKED, /* the kinds above are packed; the kinds below have a row
                       * each: */
    BATS_ROW_CHARGE = BATS_ROWS_PACKED,
    BATS_ROW_DECISION,
    BATS_ROW_NOTICE,
    BATS_ROW_LAST,
    BATS_ROWS
};

/* A row that waits. Tasks are still given by their index. */
struct bats_row {
    enum bats_row_kind kind;
    int64_t seq;
    bats_time now;
    char *text; /* host or sentence; owned */
    union {
        struct bats_event event;
        struct bats_command command;
        struct bats_record_attempt attempt;
        struct {
            uint32_t machine;
            bats_money amount, cushion;
        } charge;
        struct bats_decision decision;
        struct {
            uint32_t machine;
            uint32_t task;
        } notice;
        struct {
            uint32_t task, attempt;
            int64_t same; /* seq; 0: it has a text */
        } last;
    } u;
};

/* A group of rows as JSON (pack.h). */
struct bats_pack {
    struct bats_pack_column {
        char *text;
        size_t size, capacity;
    } columns[BATS_ROWS_PACKED];
    size_t n;     /* rows */
    int64_t last; /* seq of the last row */
};

struct bats_record {
    struct bats_db db;
    char *path;
    struct bats_past past;
    int64_t session;   /* id of the session */
    bats_money killed; /* bats_record_killed */
    bool has_begun;

    int64_t *id; /* by index in the bag: task.id */
    uint32_t n_tasks;
    uint32_t tasks_capacity;
    struct bats_named_task *named; /* likewise, until this session begins, if
                                    * there were sessions before */
    bool is_matched;
    sqlite3_stmt *insert_task;
    sqlite3_stmt *insert_point;
    struct bats_parameters parameters; /* of the bag, if it is a sweep */

    uint32_t n_clusters; /* in this session, for the decisions */
    int64_t seq;         /* the last seq used */
    struct bats_row *rows;
    size_t n_rows;
    size_t rows_capacity;
    struct bats_pack pack;
    struct bats_kinds kinds;
    struct bats_count *count; /* write/count.h; NULL before the session */
    sqlite3_stmt *begin, *commit; /* a transaction */
    sqlite3_stmt *insert_group;
    sqlite3_stmt *insert[BATS_ROWS]; /* NULL for packed rows */
};

/* Loads the contents of the record: the bag of session `of` or the last one
 * before it, and the results of the sessions before `before`. */
int bats_past_load(struct bats_past *past, struct bats_db *db, int64_t of,
                   int64_t before, struct bats_error *err);
void bats_past_release(struct bats_past *past);

/* Charges the last session, if it was killed, what it held then; the rows are
 * its last ones. Does so once. Nothing where what is charged is always on
 * record: windows and jobs without workflows, and allocations. */
int bats_killed_settle(struct bats_record *record, struct bats_error *err);

/* A task of the bag that may be in the record. */
struct bats_named_task {
    struct bats_past_task *found; /* NULL: it is not */
    enum bats_record_match match;
    uint32_t was;
    uint32_t line;
    int64_t hash;
    char *command;    /* command of a task that moved or is new, */
    char *parameters; /* and its values, as in the table; NULL: none */
};

/* Frees all that is only needed to find the tasks, including the past. */
void bats_match_release(struct bats_record *record);

/* True for a command about one execution or task: it names a slot, which is 0 for
 * a task that is skipped, and a task. */
static inline bool bats_log_of_slot(const struct bats_command *c)
{
    return c->type == BATS_COMMAND_RUN || c->type == BATS_COMMAND_CANCEL ||
           c->type == BATS_NOTICE_LOSE || c->type == BATS_NOTICE_SKIP;
}

/* The column `why` of such a command; "": it is NULL. */
static inline const char *bats_log_why(const struct bats_command *c)
{
    return c->time_out ? BATS_SCHEMA_TIME_OUT
           : c->unpaid ? BATS_SCHEMA_UNPAID
                       : "";
}

/* The column `machines` of a decision. */
#define BATS_LOG_MACHINES (BATS_CLUSTERS_MAX * 12 + 4)
void bats_log_machines(char text[BATS_LOG_MACHINES],
                       const struct bats_decision *decision,
                       size_t n_clusters);

/* Prepares for bats_record_commit. */
int bats_log_prepare(struct bats_record *record, struct bats_error *err);
void bats_log_release(struct bats_record *record);

#endif
