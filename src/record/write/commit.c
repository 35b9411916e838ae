/* commit: writes all rows that wait in one transaction. */
#include "record/state.h"

static int write_all(struct bats_record *r, struct bats_error *err)
{
    int rc = bats_db_step(&r->db, r->statements[BATS_ROWS_BEGIN], err);
    for (size_t i = 0; rc == 0 && i < r->n_rows; i++)
        rc = bats_rows_write(r, &r->rows[i], err);
    if (rc == 0)
        rc = bats_rows_write_now(r, err);
    if (rc == 0)
        rc = bats_db_step(&r->db, r->statements[BATS_ROWS_COMMIT], err);
    if (rc < 0 && !sqlite3_get_autocommit(r->db.sqlite))
        bats_db_run(&r->db, "ROLLBACK", NULL);
    return rc;
}

int bats_record_commit(struct bats_record *r, struct bats_error *err)
{
    if (bats_record_waiting(r) == 0)
        return 0;
    bats_record_measure(r);
    int rc = write_all(r, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < r->now.n_clusters; i++)
        r->now.clusters[i].is_dirty = false;
    rc = bats_rows_await(r, err);
    bats_rows_drop(r);
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
