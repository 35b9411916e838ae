/*
 * rows: what waits to be written to the file, and how it is written.
 *
 * Layer: record, private to the writer. log.c adds rows, a commit writes all of
 * them in one transaction. If it fails they wait, and are written again: a row
 * changes nothing but the file.
 */
#ifndef BATS_RECORD_ROWS_H
#define BATS_RECORD_ROWS_H

#include "bats/status.h"
#include "record/db.h"
#include "record/write/record.h"

struct bats_record;

enum bats_row_kind {
    BATS_ROW_NOTHING, /* it has been taken back */
    BATS_ROW_RUN,
    BATS_ROW_CANCEL,
    BATS_ROW_END,
    BATS_ROW_HAPPENED,
    BATS_ROW_CHARGE,
    BATS_ROW_DECISION,
    BATS_ROW_LAST,
    BATS_ROW_LEASE,
    BATS_ROW_STAKE,
    BATS_ROW_TASK
};

/* An execution, from RUN to its end. */
struct bats_row_run {
    uint32_t task, copy, machine, slot;
    int64_t seq;     /* in running; 0: it was not there */
    bats_time given; /* virtual time */
    uint8_t cancelled;
    /* at its end: */
    bool is_written;   /* in running */
    bool has_lost;     /* it was lost with its machine */
    bool has_attempt;  /* the member below is set; .host is the row's text */
    bats_time runtime; /* -1: not known */
    struct bats_record_attempt attempt;
};

/* Tasks are still given by their index. */
struct bats_row {
    enum bats_row_kind kind;
    int64_t seq;
    bats_time now;
    char *text; /* host or sentence; owned */
    union {
        struct bats_row_run run;
        struct {
            const char *what;
            const char *state; /* of the machine; NULL: the same */
            uint32_t machine, task;
            int64_t value; /* BATS_DB_NULL: none */
            bool skips, loses, quarantines, readmits;
        } happened;
        struct {
            uint32_t machine, account, lease;
            bats_money amount, cushion;
        } charge;
        struct bats_decision *decision; /* owned */
        struct bats_lease lease;        /* of a job, text: its mark */
        struct bats_stake stake;
        struct {
            uint32_t index;
            char *given; /* owned; or NULL. text: its command */
        } task;
        struct {
            uint32_t task, attempt;
            int64_t same; /* seq; 0: it has a text */
        } last;
    } u;
};

#define BATS_ROWS_STATEMENTS 28
#define BATS_ROWS_BEGIN 0  /* a transaction */
#define BATS_ROWS_COMMIT 1 /* ends it */

int bats_rows_prepare(struct bats_record *record, struct bats_error *err);
void bats_rows_release(struct bats_record *record);

/* ---- rows that wait: waiting.c ---- */

/* Adds a row with a copy of `text` (may be NULL). A row that has a seq keeps
 * it. */
int bats_rows_add(struct bats_record *record, struct bats_row row,
                  bats_time now, const char *text, struct bats_error *err);
void bats_rows_drop(struct bats_record *record); /* all of them */

/* After a commit: keeps the rows of executions whose attempt is to come. */
int bats_rows_await(struct bats_record *record, struct bats_error *err);

/* ---- rows of executions: runs.c ---- */

int bats_runs_begin(struct bats_record *record, bats_time now,
                    const struct bats_command *run, struct bats_error *err);
int bats_runs_cancel(struct bats_record *record, bats_time now,
                     const struct bats_command *cancel,
                     struct bats_error *err);

/* The execution of the task in this slot, or the first one there
 * (BATS_NO_TASK), has ended: 1, or 0 if there is none. */
int bats_runs_end(struct bats_record *record, bats_time now, uint32_t machine,
                  uint32_t slot, uint32_t task, bats_time runtime,
                  bool is_lost, struct bats_error *err);
/* All that is in the slots of the machine. */
int bats_runs_end_all(struct bats_record *record, bats_time now,
                      uint32_t machine, bool is_lost, struct bats_error *err);
/* The session ends, and nothing runs any more. */
int bats_runs_end_session(struct bats_record *record, bats_time now,
                          struct bats_error *err);

/* ---- written ---- */

/* In a transaction. */
int bats_rows_write(struct bats_record *record, const struct bats_row *row,
                    struct bats_error *err);

/* Writes the tables now and cluster_now. */
int bats_rows_write_now(struct bats_record *record, struct bats_error *err);

#endif
