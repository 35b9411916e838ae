/* log: rows wait in memory and go into the file together, so that a failed
 * commit can be tried again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "record/write/count.h"
#include "record/write/pack.h"
#include "util/complaint.h"
#include "util/grow.h"

/* The first three parameters are seq, session and time of any row. */
static const char *const inserts[BATS_ROWS] = {
    [BATS_ROW_CHARGE] = "INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?)",
    [BATS_ROW_DECISION] =
        "INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)",
    [BATS_ROW_NOTICE] = "INSERT INTO notice VALUES (?, ?, ?, ?, ?, ?)",
    [BATS_ROW_LAST] =
        "INSERT OR IGNORE INTO stderr VALUES (?, ?, ?, ?, ?, ?, ?)",
};

int bats_log_prepare(struct bats_record *r, struct bats_error *err)
{
    int rc =
        bats_db_prepare(&r->db, "INSERT INTO history VALUES (?, ?, ?, ?, ?)",
                        &r->insert_group, err);

    if (rc == 0)
        rc = bats_db_prepare(&r->db, "BEGIN", &r->begin, err);
    if (rc == 0)
        rc = bats_db_prepare(&r->db, "COMMIT", &r->commit, err);
    for (int i = BATS_ROWS_PACKED; rc == 0 && i < BATS_ROWS; i++)
        rc = bats_db_prepare(&r->db, inserts[i], &r->insert[i], err);
    return rc;
}

static void drop_rows(struct bats_record *r, bool are_written)
{
    bats_count_dropped(r, are_written);
    for (size_t i = 0; i < r->n_rows; i++)
        free(r->rows[i].text);
    r->n_rows = 0;
}

void bats_record_forget(struct bats_record *r)
{
    drop_rows(r, false);
}

void bats_log_release(struct bats_record *r)
{
    drop_rows(r, false);
    bats_count_release(r);
    free(r->rows);
    bats_pack_release(&r->pack);
    bats_kinds_release(&r->kinds);
    sqlite3_finalize(r->begin);
    sqlite3_finalize(r->commit);
    sqlite3_finalize(r->insert_group);
    for (int i = BATS_ROWS_PACKED; i < BATS_ROWS; i++)
        sqlite3_finalize(r->insert[i]);
}

/* ---- adding ---- */

/* Adds a row with a copy of `text` (may be NULL). */
static int add(struct bats_record *r, struct bats_row row, bats_time now,
               const char *text, struct bats_error *err)
{
    row.now = now;
    row.text = text != NULL ? strdup(text) : NULL;
    if (!bats_grow(&r->rows, &r->rows_capacity, r->n_rows + 1,
                   sizeof *r->rows) ||
        (text != NULL && row.text == NULL)) {
        free(row.text);
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    }
    row.seq = ++r->seq;
    r->rows[r->n_rows++] = row;
    return 0;
}

int bats_record_event(struct bats_record *r, bats_time now,
                      const struct bats_event *event, struct bats_error *err)
{
    return add(r, (struct bats_row){.kind = BATS_ROW_EVENT, .u.event = *event},
               now, NULL, err);
}

int bats_record_command(struct bats_record *r, bats_time now,
                        const struct bats_command *command,
                        struct bats_error *err)
{
    return add(
        r, (struct bats_row){.kind = BATS_ROW_COMMAND, .u.command = *command},
        now, NULL, err);
}

int bats_record_attempt(struct bats_record *r, bats_time now,
                        const struct bats_record_attempt *attempt,
                        struct bats_error *err)
{
    return add(
        r, (struct bats_row){.kind = BATS_ROW_ATTEMPT, .u.attempt = *attempt},
        now, attempt->host, err);
}

int bats_record_charge(struct bats_record *r, bats_time now, uint32_t machine,
                       bats_money amount, bats_money cushion,
                       struct bats_error *err)
{
    return add(r,
               (struct bats_row){.kind = BATS_ROW_CHARGE,
                                 .u.charge = {machine, amount, cushion}},
               now, NULL, err);
}

int bats_record_decision(struct bats_record *r,
                         const struct bats_decision *decision,
                         struct bats_error *err)
{
    return add(
        r,
        (struct bats_row){.kind = BATS_ROW_DECISION, .u.decision = *decision},
        decision->time, NULL, err);
}

int bats_record_notice(struct bats_record *r, bats_time now, uint32_t machine,
                       uint32_t task, const char *sentence,
                       struct bats_error *err)
{
    return add(r,
               (struct bats_row){.kind = BATS_ROW_NOTICE,
                                 .u.notice = {machine, task}},
               now, sentence, err);
}

int bats_record_last(struct bats_record *r, bats_time now,
                     const struct bats_record_last *last,
                     struct bats_error *err)
{
    struct bats_row row = {.kind = BATS_ROW_LAST,
                           .u.last = {last->task, last->attempt, 0}};
    uint64_t key = bats_complaint_key(last->exit_status, last->signal,
                                      last->host, last->bytes, last->n);
    char *text = NULL;

    if (bats_kinds_keep(&r->kinds, key, r->seq + 1, last->n,
                        &row.u.last.same)) {
        text = malloc(last->n + 1);
        if (text == NULL)
            return bats_error_set(err, BATS_ENOMEM, "out of memory");
        for (size_t i = 0; i < last->n; i++)
            text[i] = last->bytes[i] == '\0' ? ' ' : last->bytes[i];
        text[last->n] = '\0';
    }
    int rc = add(r, row, now, text, err);
    free(text);
    return rc;
}

size_t bats_record_waiting(const struct bats_record *r)
{
    return r->n_rows;
}

/* ---- writing ---- */

/* Tasks that are not in the bag, such as BATS_NO_TASK, become NULL. */
static void bind_task(sqlite3_stmt *s, int column, const struct bats_record *r,
                      uint32_t task)
{
    if (task < r->n_tasks)
        sqlite3_bind_int64(s, column, r->id[task]);
    else
        sqlite3_bind_null(s, column);
}

void bats_log_machines(char text[BATS_LOG_MACHINES],
                       const struct bats_decision *d, size_t n_clusters)
{
    size_t used = 0;

    for (size_t i = 0; i < n_clusters; i++)
        used += (size_t)snprintf(
            text + used, BATS_LOG_MACHINES - used, "%c%lu", i > 0 ? ',' : '[',
            (unsigned long)(d->machines[i] - d->ending[i]));
    memcpy(text + used, "]", 2);
}

static void bind_decision(sqlite3_stmt *s, const struct bats_record *r,
                          const struct bats_decision *d)
{
    char machines[BATS_LOG_MACHINES];

    bats_log_machines(machines, d, r->n_clusters);
    sqlite3_bind_text(s, 4, bats_reason_name(d->reason), -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 5, d->feasible);
    sqlite3_bind_int64(s, 6, d->tasks_left);
    if (d->tasks_paid >= 0)
        sqlite3_bind_int64(s, 7, d->tasks_paid);
    if (d->budget_left != BATS_UNLIMITED)
        sqlite3_bind_int64(s, 8, d->budget_left);
    sqlite3_bind_int64(s, 9, d->windows);
    sqlite3_bind_text(s, 10, machines, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 11, bats_trigger_name(d->trigger), -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 12, d->tasks_open);
    if (d->end > 0) {
        sqlite3_bind_int64(s, 13, d->end);
        sqlite3_bind_int64(s, 14, d->cost);
    }
    sqlite3_bind_int64(s, 15, d->replaces);
}

static int write_row(struct bats_record *r, const struct bats_row *row,
                     struct bats_error *err)
{
    sqlite3_stmt *s = r->insert[row->kind];

    sqlite3_clear_bindings(s);
    sqlite3_bind_int64(s, 1, row->seq);
    sqlite3_bind_int64(s, 2, r->session);
    sqlite3_bind_int64(s, 3, row->now);
    switch (row->kind) {
    case BATS_ROW_CHARGE:
        if (row->u.charge.machine != BATS_NO_MACHINE)
            sqlite3_bind_int64(s, 4, row->u.charge.machine);
        sqlite3_bind_int64(s, 5, row->u.charge.amount);
        sqlite3_bind_int64(s, 6, row->u.charge.cushion);
        break;
    case BATS_ROW_DECISION:
        bind_decision(s, r, &row->u.decision);
        break;
    case BATS_ROW_LAST:
        bind_task(s, 4, r, row->u.last.task);
        sqlite3_bind_int64(s, 5, row->u.last.attempt);
        if (row->u.last.same != 0)
            sqlite3_bind_int64(s, 6, row->u.last.same);
        sqlite3_bind_text(s, 7, row->text, -1, SQLITE_STATIC);
        break;
    case BATS_ROW_NOTICE:
    default:
        if (row->u.notice.machine != UINT32_MAX)
            sqlite3_bind_int64(s, 4, row->u.notice.machine);
        bind_task(s, 5, r, row->u.notice.task);
        sqlite3_bind_text(s, 6, row->text, -1, SQLITE_STATIC);
        break;
    }
    return bats_db_step(&r->db, s, err);
}

/* Writes the present group; the next one begins. */
static int write_group(struct bats_record *r, struct bats_error *err)
{
    sqlite3_stmt *s = r->insert_group;

    sqlite3_bind_int64(s, 1, r->pack.last);
    sqlite3_bind_int64(s, 2, r->session);
    for (int i = 0; i < BATS_ROWS_PACKED; i++) {
        size_t size;
        const char *text = bats_pack_text(&r->pack, i, &size);
        sqlite3_bind_text(s, 3 + i, text, (int)size, SQLITE_STATIC);
    }
    bats_pack_clear(&r->pack);
    return bats_db_step(&r->db, s, err);
}

static int write_rows(struct bats_record *r, struct bats_error *err)
{
    int rc = 0;

    bats_pack_clear(&r->pack); /* left by a failed commit */
    for (size_t i = 0; rc == 0 && i < r->n_rows; i++) {
        if (r->rows[i].kind >= BATS_ROWS_PACKED)
            rc = write_row(r, &r->rows[i], err);
        else if (!bats_pack_add(&r->pack, r, &r->rows[i]))
            rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
        else if (r->pack.n == BATS_PACK_ROWS)
            rc = write_group(r, err);
    }
    return rc == 0 && r->pack.n > 0 ? write_group(r, err) : rc;
}

int bats_record_commit(struct bats_record *r, struct bats_error *err)
{
    if (r->n_rows == 0)
        return 0;
    bats_count_rows(r);
    bats_record_measure(r);
    int rc = bats_db_step(&r->db, r->begin, err);
    if (rc == 0)
        rc = write_rows(r, err);
    if (rc == 0)
        rc = bats_count_write(r, err);
    if (rc == 0)
        rc = bats_db_step(&r->db, r->commit, err);
    if (rc == 0)
        drop_rows(r, true);
    else if (!sqlite3_get_autocommit(r->db.sqlite))
        bats_db_run(&r->db, "ROLLBACK", NULL);
    return rc;
}

/* Every checkpoint begins with this, so that rows become durable in their
 * order. */
int bats_record_sync(struct bats_record *r, struct bats_error *err)
{
    sqlite3_file *log = NULL;
    int rc = sqlite3_file_control(r->db.sqlite, "main",
                                  SQLITE_FCNTL_JOURNAL_POINTER, &log);

    if (rc == SQLITE_OK && log->pMethods != NULL)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? 0 : bats_db_fail(&r->db, rc, err);
}
