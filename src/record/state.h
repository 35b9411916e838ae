/*
 * state: shared by the files of the writer.
 * Layer: record, private to it. record.c opens, begins and ends; past.c loads
 * the results of earlier sessions; killed.c charges what the last one held when
 * it was killed; match.c finds the tasks of the bag among theirs; sums.c sums
 * up their results; log.c keeps the rows that wait; pack.c groups them; count.c
 * counts them for the tally; kinds.c bounds the ends of standard error;
 * parameters.c writes the values of a sweep.
 */
#ifndef BATS_RECORD_STATE_H
#define BATS_RECORD_STATE_H

#include "record/db.h"
#include "record/schema.h"
#include "record/write/kinds.h"
#include "record/write/parameters.h"
#include "record/write/record.h"

/* A task of the record. There may be tens of millions: 64 bytes each. */
struct bats_past_task {
    int64_t hash;
    int64_t result;           /* seq of its last result; 0: none */
    int64_t wall_us;          /* of that result */
    int32_t session, machine; /* likewise */
    uint32_t id;
    uint32_t number; /* in the bag, from 1; the last number if it is not
                      * there */
    uint32_t line;
    bool was_in_bag;  /* in the last session */
    bool is_in_bag;   /* in this session */
    bool is_replaced; /* another task took its place */
    struct bats_record_past past;
};

/* Last results on a machine of a session. */
struct bats_past_sum {
    int64_t done, failed;
    int64_t wall_us;
};

/* The last result of a task of this bag that failed. */
struct bats_past_failed {
    uint32_t task; /* its index */
    int32_t session, machine;
    int64_t wall_us;
};

struct bats_past {
    struct bats_past_task *tasks; /* tasks of the last bag, by number; then the
                                   * others, by id */
    size_t n;
    size_t n_in_bag; /* in the last session */
    int64_t last_id;
    int64_t preempted; /* executions */
    bats_money charged;
    uint32_t sessions;
};

/* After the match: all that a session needs to know of the past. */
struct bats_past_results {
    int64_t sessions, machines; /* ids are below these */
    struct bats_past_sum *sums; /* by session and machine */
    uint8_t *state;             /* by index: enum bats_record_state */
    struct bats_past_failed *failed;
    size_t n_failed;
    int64_t removed; /* tasks that are not in the bag */
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
    int fd;           /* of the file; closed after the database: with it, the
                         locks of this process go */
    int64_t size;     /* of the file, the largest seen */
    bool is_cut;      /* it has become smaller */
    struct bats_past past;
    int64_t session;   /* id of the session */
    bats_money killed; /* bats_record_killed */
    bool has_begun;

    int64_t *id; /* by index in the bag: task.id; where there were sessions
                  * before, the hash until the match */
    uint32_t n_tasks;
    size_t ids_room, named_room;
    struct bats_named_task *named; /* likewise, until they are forgotten, if
                                    * there were sessions before */
    bool is_matched;
    uint32_t n_lacking; /* tasks without a partner; after the match, to be
                         * named again */
    struct bats_past_results results;
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

/* Looks whether the file has been cut off by somebody. Called with each commit,
 * as a later checkpoint hides it. */
void bats_record_measure(struct bats_record *record);

/* `path` is the name of its file, or *is_there: of another one. */
bool bats_record_is_named(const struct bats_record *record, bool *is_there);

/* Before the record is closed: BATS_ESYS if the file was cut off. If `path` is
 * no longer its name, writes all of it there again, or to the next free
 * "path.N" if another file is there, which is BATS_ESYS, too: *is_elsewhere,
 * and nothing at `path` may be touched. */
int bats_record_keep(struct bats_record *record, bool *is_elsewhere,
                     struct bats_error *err);

/* A task of the bag. */
struct bats_named_task {
    uint32_t found; /* in past.tasks, from 1; 0: it is not in the record */
    uint32_t was;
    uint32_t line;
    uint8_t match;
    bool is_lacking; /* in the file */
    bool mentions_its_number;
};

/* Sums up what a session needs to know of the past, when all tasks have been
 * found. */
int bats_past_sum_up(struct bats_record *record, struct bats_error *err);
void bats_past_results_release(struct bats_past_results *results);

/* True for a command about one execution or task: it names a slot, which is 0
 * for a task that is skipped, and a task. */
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
