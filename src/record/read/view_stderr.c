/* view_stderr: the end of standard error of tasks that failed. */
#include "record/read/view_state.h"

static const char sql[] =
    "SELECT coalesce(s.text, f.text), length(CAST(coalesce(s.text, f.text) AS"
    " BLOB)) FROM stderr s LEFT JOIN stderr f ON f.seq = s.same"
    " WHERE s.task = ?1 ORDER BY s.attempt DESC LIMIT 1";

int bats_view_stderr(struct bats_view *v, int64_t task, const char **text,
                     size_t *n, struct bats_error *err)
{
    int rc = 0;

    *text = "";
    *n = 0;
    if (v->last_words == NULL)
        rc = bats_db_prepare(&v->db, sql, &v->last_words, err);
    else
        sqlite3_reset(v->last_words);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(v->last_words, 1, task);
    rc = bats_db_step(&v->db, v->last_words, err);
    if (rc <= 0)
        return rc;
    *text = bats_view_text(v->last_words, 0);
    *n = (size_t)sqlite3_column_int64(v->last_words, 1);
    return 1;
}
