/* view_tasks: lists tasks. They are read in their physical order and sorted
 * here, because SQLite would take longer for sorting than for everything else.
 * Then the texts are read in the order of the list, which is that of their
 * table. */
#include <inttypes.h>
#include <stdlib.h>

#include "record/read/part.h"
#include "util/asset.h"
#include "util/text.h"

BATS_ASSET(list_sql, "record/read/list.sql");
BATS_ASSET(ends_sql, "record/read/ends.sql");

struct query {
    const char *state, *where; /* NULL: all */
    int64_t number, limit;     /* 0: any, all */
    enum bats_view_order order;
};

/* ---- what is listed ---- */

/* As in the view tasks. */
#define STATE_OF                                                              \
    "CASE WHEN n.removed THEN 'removed' WHEN n.session IS NOT"                \
    " (SELECT session FROM now) AND n.task IN (SELECT task FROM running)"     \
    " THEN 'running' WHEN n.state = 0 THEN 'pending' WHEN n.state = 1"        \
    " THEN 'done' WHEN n.state = 2 THEN 'failed' ELSE 'skipped' END"

#define FROM " FROM task_now n WHERE "

/* Tasks of the bag; for a number that no task has, removed tasks that had
 * it. */
#define WHERE_IN_BAG "n.removed IS NOT 1"
#define WHERE_NUMBER                                                          \
    "n.number = %" PRId64 " AND (" WHERE_IN_BAG " OR NOT EXISTS (SELECT 1"    \
    " FROM task_now n WHERE n.number = %" PRId64 " AND " WHERE_IN_BAG "))"

/* With a limit, the first tasks are selected first, and only these are read
 * completely. */
static char *sql_of(const struct query *q)
{
    bool is_slowest = q->order == BATS_VIEW_SLOWEST;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, list_sql.begin, STATE_OF);
    if (q->limit > 0)
        sqlite3_str_appendall(sql, "n.place IN (SELECT n.place" FROM);
    if (q->number != 0)
        sqlite3_str_appendf(sql, WHERE_NUMBER, q->number, q->number);
    else if (q->state != NULL)
        sqlite3_str_appendf(sql, STATE_OF " = %Q", q->state);
    else
        sqlite3_str_appendall(sql, WHERE_IN_BAG);
    if (q->where != NULL)
        sqlite3_str_appendf(
            sql, " AND n.task IN (SELECT id FROM tasks WHERE (%s\n))",
            q->where);
    if (is_slowest)
        sqlite3_str_appendall(sql, " AND n.wall_us NOT NULL");
    if (q->limit > 0)
        sqlite3_str_appendf(sql, " ORDER BY %s n.number, n.task LIMIT %lld)",
                            is_slowest ? "n.wall_us DESC," : "",
                            (long long)q->limit);
    return sqlite3_str_finish(sql);
}

/* ---- the expression of a user ---- */

/* Checks the expression. The newline ends a comment in it. An error here is
 * not damage to the record. */
static int check(struct bats_view *v, const char *where,
                 struct bats_error *err)
{
    static const struct bats_db_column column[] = {{BATS_DB_CHARS, 0, 512},
                                                   {0}};
    const char *rest = "";
    char names[512] = "";
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("SELECT id FROM tasks WHERE (%s\n)", where);
    if (sql == NULL)
        return bats_no_memory(err);
    int rc = sqlite3_prepare_v2(v->db.sqlite, sql, -1, &s, &rest);
    bool is_one = rc != SQLITE_OK || *rest == '\0';
    if (rc != SQLITE_OK || !is_one)
        rc = bats_error_set(err, BATS_EINPUT, "--where '%.100s': %s", where,
                            is_one ? sqlite3_errmsg(v->db.sqlite)
                                   : "more than one expression");
    sqlite3_finalize(s);
    sqlite3_free(sql);
    if (rc < 0 && bats_db_get(&v->db,
                              "SELECT '; its parameters are ' ||"
                              " group_concat(place, ', ') FROM parameter",
                              column, names, NULL, NULL, 0) == 0)
        bats_append(err->text, sizeof err->text, "%s", names);
    return rc;
}

/* Blames the expression, not the record, for forbidden functions or failing
 * evaluation. */
static int blame(struct bats_view *v, const char *where, int rc,
                 struct bats_error *err)
{
    int code = sqlite3_errcode(v->db.sqlite) & 0xff;
    if (where == NULL || (code != SQLITE_ERROR && code != SQLITE_TOOBIG &&
                          code != SQLITE_MISMATCH && code != SQLITE_AUTH))
        return rc;
    return bats_error_set(err, BATS_EINPUT, "--where '%.100s': %s", where,
                          sqlite3_errmsg(v->db.sqlite));
}

/* ---- the tasks ---- */

static int by_number(const void *left, const void *right)
{
    const struct bats_view_task *a = left, *b = right;
    int by = (a->number > b->number) - (a->number < b->number);
    return by != 0 ? by : (a->id > b->id) - (a->id < b->id);
}

static int slowest_first(const void *left, const void *right)
{
    const struct bats_view_task *a = left, *b = right;
    int by = (a->wall_us < b->wall_us) - (a->wall_us > b->wall_us);
    return by != 0 ? by : by_number(left, right);
}

static void sort(struct bats_view *v, enum bats_view_order order)
{
    int (*compare)(const void *, const void *) =
        order == BATS_VIEW_SLOWEST ? slowest_first : by_number;
    bool is_sorted = true;
    for (size_t i = 1; i < v->n_tasks && is_sorted; i++)
        is_sorted = compare(&v->tasks[i - 1], &v->tasks[i]) <= 0;
    if (!is_sorted)
        qsort(v->tasks, v->n_tasks, sizeof *v->tasks, compare);
}

/* ---- their texts ---- */

struct text {
    int64_t id, line;
    const char *command, *parameters;
};

/* Reads the texts. Most lists are in order of ids, so the statement continues
 * from the last row. */
static int take_texts(struct bats_view *v, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct text, member)
    static const struct bats_db_column columns[] = {
        C(id), C(line), C(command), C(parameters), {0}};
#undef C
    sqlite3_stmt *s;
    struct text text = {.id = -1};
    int rc = bats_db_prepare(
        &v->db,
        "SELECT t.id, t.line, t.command, p.parameters FROM task t"
        " LEFT JOIN point p ON p.task = t.id WHERE t.id >= ? ORDER BY t.id",
        &s, err);
    for (size_t i = 0; rc >= 0 && i < v->n_tasks; i++) {
        struct bats_view_task *t = &v->tasks[i];
        t->command = t->parameters = "";
        if (text.id != t->id - 1) {
            sqlite3_reset(s);
            sqlite3_bind_int64(s, 1, t->id);
        }
        text.id = -1;
        rc = bats_db_step(&v->db, s, err);
        if (rc > 0)
            rc = bats_db_fill(s, columns, &text, &v->texts, err);
        if (text.id != t->id)
            continue;
        t->line = text.line;
        t->command = text.command;
        t->parameters = text.parameters;
    }
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

/* ---- the list ---- */

static int list(struct bats_view *v, void *context, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_task, member)
    static const struct bats_db_column columns[] = {
        C(id),       C(number),  C(state),       C(attempts),    C(wall_us),
        C(start_us), C(cpu_us),  C(max_rss_kib), C(exit_status), C(signal),
        C(host),     C(cluster), C(unpaid),      C(cost),        {0}};
#undef C
    const struct query *q = context;
    bats_time now;
    free(v->tasks);
    v->tasks = NULL;
    v->n_tasks = v->next_task = 0;
    bats_texts_release(&v->texts);
    int rc = q->where != NULL ? check(v, q->where, err) : 0;
    if (rc == 0)
        rc = bats_view_now(v, &now, err);
    if (rc < 0)
        return rc;
    char *sql = sql_of(q);
    rc = sql == NULL ? bats_no_memory(err)
                     : bats_db_list(&v->db, sql, columns, sizeof *v->tasks,
                                    &v->tasks, &v->n_tasks, &v->texts, err,
                                    BATS_VALUES(BATS_I(now)));
    sqlite3_free(sql);
    if (rc < 0)
        return blame(v, q->where, rc, err);
    sort(v, q->order);
    return take_texts(v, err);
}

int bats_view_tasks(struct bats_view *v, const char *state, int64_t number,
                    const char *where, enum bats_view_order order,
                    int64_t limit, struct bats_error *err)
{
    struct query q = {state, where, number, limit, order};
    v->has_ends = false;
    return bats_part_take(v, list, &q, err);
}

int bats_view_next_task(struct bats_view *v, struct bats_view_task *task,
                        struct bats_error *err)
{
    if (v->next_task == v->n_tasks)
        return 0;
    *task = v->tasks[v->next_task++];
    return 1;
}

/* ---- the ends of standard error of failed tasks ---- */

/* Reads the texts of the single listed task or, with several, of all tasks.
 * Most tasks share one text. */
static int take_ends(struct bats_view *v, void *unused, struct bats_error *err)
{
    int64_t task = v->n_tasks == 1 ? v->tasks[0].id : BATS_DB_NULL;
    return bats_db_each(&v->db, ends_sql.begin, NULL, NULL, err,
                        BATS_VALUES(BATS_I(task)));
}

static const char end_sql[] =
    "SELECT coalesce(s.text, f.text), length(CAST(coalesce(s.text, f.text) AS"
    " BLOB)) FROM temp.ends s LEFT JOIN temp.ends f ON f.seq = s.same"
    " WHERE s.task = ?1 ORDER BY s.attempt DESC LIMIT 1";

int bats_view_stderr(struct bats_view *v, int64_t task, const char **text,
                     size_t *n, struct bats_error *err)
{
    int rc = v->has_ends ? 0 : bats_part_take(v, take_ends, NULL, err);
    *text = "";
    *n = 0;
    v->has_ends = rc == 0;
    if (rc == 0 && v->end == NULL)
        rc = bats_db_prepare(&v->db, end_sql, &v->end, err);
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
