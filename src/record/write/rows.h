/*
 * rows: pending rows, and how they are written to the file.
 *
 * Layer: record, private to the writer. log.c and runs.c add rows; a commit
 * writes all in one transaction, in order. If it fails they stay pending and
 * are written again: a row changes nothing but the file.
 */
#ifndef BATS_RECORD_ROWS_H
#define BATS_RECORD_ROWS_H

#include "bats/status.h"
#include "record/db.h"
#include "record/write/record.h"

struct bats_record;

/* Statements of a commit, defined in rows.c. */
enum bats_put {
    BATS_PUT_BEGIN,
    BATS_PUT_COMMIT,
    BATS_PUT_RUN,
    BATS_PUT_CANCEL,
    BATS_PUT_FORGET,
    BATS_PUT_EXECUTION,
    BATS_PUT_RESULT,
    BATS_PUT_TRY,
    BATS_PUT_SKIP,
    BATS_PUT_LOSE,
    BATS_PUT_HAPPENED,
    BATS_PUT_MACHINE,
    BATS_PUT_QUARANTINE,
    BATS_PUT_CHARGE,
    BATS_PUT_ACCOUNT,
    BATS_PUT_HELD,
    BATS_PUT_LEASE,
    BATS_PUT_STAKED,
    BATS_PUT_STAKE,
    BATS_PUT_UNSTAKE,
    BATS_PUT_DECISION,
    BATS_PUT_LAST,
    BATS_PUT_NOW,
    BATS_PUT_CLUSTER,
    BATS_PUT_TASK,
    BATS_PUT_PLACE,
    BATS_PUT_GIVEN,
    BATS_PUTS
};

#define BATS_ROW_VALUES                                                       \
    15 /* most values of a statement, except for
                              executions */

/* The end of an execution; its task is still an index. */
struct bats_row_end {
    uint32_t task, copy, machine, slot;
    int64_t run;            /* seq in running; 0: not there */
    int64_t seq;            /* of the execution */
    bats_time given, ended; /* virtual time */
    bats_time runtime;      /* -1: unknown */
    uint8_t cancelled;
    bool is_written;  /* in running */
    bool has_lost;    /* it was lost with its machine */
    bool has_attempt; /* the member below is set; .host is the row's text */
    struct bats_record_attempt attempt;
};

struct bats_row {
    enum {
        BATS_ROW_NOTHING, /* the row was withdrawn */
        BATS_ROW_PUT,
        BATS_ROW_END
    } kind;
    char *text; /* owned; or NULL */
    union {
        struct {
            enum bats_put which;
            int n;
            struct bats_db_value values[BATS_ROW_VALUES];
        } put;
        struct bats_row_end end;
    } u;
};

int bats_rows_prepare(struct bats_record *record, struct bats_error *err);
void bats_rows_release(struct bats_record *record);

/* ---- pending rows ---- */

/* Adds a row; takes over row.text, in any case. */
int bats_rows_add(struct bats_record *record, struct bats_row row,
                  struct bats_error *err);

/* Placeholder for the copied text passed beside the values. */
extern const char bats_row_text[];

/* Adds n values for a statement. Texts among them are static, except for
 * bats_row_text, which stands for a copy of `text` (or NULL). */
int bats_rows_put(struct bats_record *record, enum bats_put which,
                  const char *text, struct bats_error *err,
                  const struct bats_db_value *values, int n);

void bats_rows_drop(struct bats_record *record); /* all of them */

/* After a commit: keeps rows of executions whose attempt is yet to come. */
int bats_rows_await(struct bats_record *record, struct bats_error *err);

/* ---- rows of executions: runs.c ---- */

int bats_runs_begin(struct bats_record *record, bats_time now,
                    const struct bats_command *run, struct bats_error *err);
int bats_runs_cancel(struct bats_record *record,
                     const struct bats_command *cancel,
                     struct bats_error *err);

/* Ends the task's execution in this slot, or the first one there
 * (BATS_NO_TASK): 1, or 0 if there is none. */
int bats_runs_end(struct bats_record *record, bats_time now, uint32_t machine,
                  uint32_t slot, uint32_t task, bats_time runtime,
                  bool is_lost, struct bats_error *err);
/* Ends all executions on the machine. */
int bats_runs_end_all(struct bats_record *record, bats_time now,
                      uint32_t machine, bool is_lost, struct bats_error *err);
/* Ends all executions with the session. */
int bats_runs_end_session(struct bats_record *record, bats_time now,
                          struct bats_error *err);

/* ---- written ---- */

/* Writes the tables now and cluster_now, in a transaction. */
int bats_rows_write_now(struct bats_record *record, struct bats_error *err);

#endif
