/* view_stderr: ends of standard error of failed tasks. */
#include "record/read/part.h"

/* Reads the texts of the single listed task or, with several, of all tasks.
 * Most tasks share one text. */
static int take(struct bats_view *v, void *unused, struct bats_error *err)
{
    (void)unused;
    int rc = bats_db_run(
        &v->db,
        "CREATE TEMP TABLE IF NOT EXISTS ends (seq INTEGER PRIMARY KEY,"
        " session, time_us, task, attempt, same, text, UNIQUE (task, attempt));"
        "DELETE FROM temp.ends",
        err);
    int64_t task = v->n_tasks == 1 ? v->tasks[0].id : BATS_DB_NULL;
    return rc < 0 ? rc
                  : bats_db_each(&v->db,
                                 "INSERT INTO temp.ends SELECT * FROM"
                                 " rec.stderr WHERE ?1 IS NULL OR task = ?1"
                                 " OR seq IN (SELECT same FROM rec.stderr"
                                 "  WHERE task = ?1)",
                                 NULL, NULL, err, BATS_VALUES(BATS_I(task)));
}

static const char sql[] =
    "SELECT coalesce(s.text, f.text), length(CAST(coalesce(s.text, f.text) AS"
    " BLOB)) FROM temp.ends s LEFT JOIN temp.ends f ON f.seq = s.same"
    " WHERE s.task = ?1 ORDER BY s.attempt DESC LIMIT 1";

int bats_view_stderr(struct bats_view *v, int64_t task, const char **text,
                     size_t *n, struct bats_error *err)
{
    int rc = v->has_ends ? 0 : bats_part_take(v, take, NULL, err);

    *text = "";
    *n = 0;
    v->has_ends = rc == 0;
    if (rc == 0 && v->end == NULL)
        rc = bats_db_prepare(&v->db, sql, &v->end, err);
    if (rc < 0)
        return rc;
    sqlite3_reset(v->end);
    sqlite3_bind_int64(v->end, 1, task);
    rc = bats_db_step(&v->db, v->end, err);
    if (rc > 0) {
        *text = bats_view_text(v->end, 0);
        *n = (size_t)sqlite3_column_int64(v->end, 1);
    }
    return rc;
}
