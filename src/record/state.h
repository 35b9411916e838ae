/*
 * state: what the files of the writer share.
 *
 * Layer: record, private to it: record.c opens, begins and ends, past.c knows
 * what earlier sessions did, log.c keeps the rows that wait.
 */
#ifndef BATS_RECORD_STATE_H
#define BATS_RECORD_STATE_H

#include "record/db.h"
#include "record/record.h"

/* A task of the record. */
struct bats_past_task {
    int64_t id;
    int64_t number; /* in the bag, from 1 */
    int64_t hash;
    bool was_in_bag; /* of the last session */
    bool is_in_bag;  /* of this one */
    struct bats_record_past past;
};

struct bats_past {
    struct bats_past_task *tasks; /* by number, then by id */
    size_t n;
    int64_t last_id;
    bats_money charged;
    char *options;
    uint32_t sessions;
};

enum bats_row_kind {
    BATS_ROW_EVENT,
    BATS_ROW_COMMAND,
    BATS_ROW_ATTEMPT,
    BATS_ROW_CHARGE,
    BATS_ROW_DECISION,
    BATS_ROW_NOTICE,
    BATS_ROWS
};

/* A row that waits. Tasks are still meant by their index. */
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
            bats_money amount;
        } charge;
        struct bats_decision decision;
        struct {
            uint32_t machine;
            uint32_t task;
        } notice;
    } u;
};

struct bats_record {
    struct bats_db db;
    char *path;
    struct bats_past past;
    int64_t session; /* its id */
    bool has_begun;
    bool has_changes; /* a transaction with new tasks is open */

    int64_t *id; /* by index in the bag: task.id */
    uint32_t n_tasks;
    uint32_t tasks_capacity;
    sqlite3_stmt *insert_task;

    uint32_t n_clusters; /* of this session, for the decisions */
    int64_t seq;         /* the last one given */
    struct bats_row *rows;
    size_t n_rows;
    size_t rows_capacity;
    sqlite3_stmt *insert[BATS_ROWS];
};

/* Learns what the record holds of earlier sessions. */
int bats_past_load(struct bats_past *past, struct bats_db *db,
                   struct bats_error *err);
void bats_past_release(struct bats_past *past);

/* The task with this number and hash, or NULL; *is_known if the last bag had
 * that number. */
struct bats_past_task *bats_past_find(struct bats_past *past, int64_t number,
                                      int64_t hash, bool *is_known);

/* Prepares what bats_record_commit needs. */
int bats_log_prepare(struct bats_record *record, struct bats_error *err);
void bats_log_release(struct bats_record *record);

#endif
