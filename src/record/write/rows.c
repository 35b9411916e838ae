/* rows: pending rows. A commit that fails leaves them pending: a row changes
 * nothing but the file. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "util/grow.h"

static void drop_texts(struct bats_db_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i].type == BATS_DB_COPY)
            free((char *)values[i].is.text);
}

int bats_rows_put(struct bats_record *r, const char *sql,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n)
{
    if (!bats_grow(&r->rows, &r->rows_room, r->n_rows + 1, sizeof *r->rows) ||
        !bats_grow(&r->values, &r->values_room, r->n_values + (size_t)n,
                   sizeof *r->values))
        return bats_no_memory(err);
    struct bats_db_value *kept = r->values + r->n_values;
    for (int i = 0; i < n; i++) {
        kept[i] = values[i];
        if (values[i].type != BATS_DB_COPY || values[i].is.text == NULL)
            continue;
        kept[i].is.text = strdup(values[i].is.text);
        if (kept[i].is.text == NULL) {
            drop_texts(kept, (size_t)i);
            return bats_no_memory(err);
        }
    }
    r->rows[r->n_rows++] = (struct bats_row){sql, n};
    r->n_values += (size_t)n;
    return 0;
}

void bats_record_forget(struct bats_record *r)
{
    drop_texts(r->values, r->n_values);
    r->n_rows = r->n_values = 0;
    r->batch++;
    r->is_dirty = false;
}

bool bats_record_waiting(const struct bats_record *r)
{
    return r->n_rows > 0 || r->is_dirty;
}

void bats_rows_release(struct bats_record *r)
{
    bats_record_forget(r);
    free(r->rows);
    free(r->values);
    for (size_t i = 0; i < r->n_statements; i++)
        sqlite3_finalize(r->statements[i].statement);
}

int bats_rows_run(struct bats_record *r, const char *sql,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n)
{
    size_t i = 0;
    int rc = 0;
    while (i < r->n_statements && r->statements[i].sql != sql)
        i++;
    assert(i < BATS_STATEMENTS);
    struct bats_statement *s = &r->statements[i];
    if (i == r->n_statements) {
        rc = bats_db_prepare(&r->db, sql, &s->statement, err);
        if (rc < 0)
            return rc;
        s->sql = sql;
        r->n_statements++;
    }
    return bats_db_put(&r->db, s->statement, err, values, n);
}

int bats_rows_write(struct bats_record *r, struct bats_error *err)
{
    const struct bats_db_value *values = r->values;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->n_rows; i++) {
        if (r->rows[i].sql != NULL)
            rc = bats_rows_run(r, r->rows[i].sql, err, values, r->rows[i].n);
        values += r->rows[i].n;
    }
    return rc;
}

/* Every checkpoint begins with this, so that rows become durable in order. */
int bats_record_sync(struct bats_record *r, struct bats_error *err)
{
    sqlite3_file *log = NULL;
    int rc = sqlite3_file_control(r->db.sqlite, "main",
                                  SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (rc == SQLITE_OK && log->pMethods != NULL)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? 0 : bats_db_fail(&r->db, rc, err);
}
