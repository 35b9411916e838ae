/* view_tasks: the list of tasks. They are listed in the order in which they lie
 * in the record, and are sorted here: SQLite would take longer for that than
 * for all else. The texts are read then, in the order of the list, which is
 * that of their table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "util/grow.h"
#include "util/text.h"

struct query {
    const char *where; /* of a user; NULL: all */
    char *sql;         /* for sqlite3_free() */
    enum bats_view_order order;
};

/* ---- what is listed ---- */

/* As the view tasks says it. */
static const char *const states[] = {"pending", "done",    "failed",
                                     "skipped", "running", "removed"};
enum { RUNNING = 4, REMOVED };
#define STATE_OF                                                              \
    "CASE WHEN n.removed THEN 5 WHEN n.session IS NOT"                        \
    " (SELECT session FROM now) AND n.task IN (SELECT task FROM running)"     \
    " THEN 4 ELSE n.state END"

#define FROM " FROM task_now n WHERE "
static const char list_sql[] =
    "SELECT take(" STATE_OF ", n.number, n.task, n.attempts, n.exit_status,"
    " n.signal, n.wall_us, n.cpu_us, n.max_rss_kib, n.start_us, n.host,"
    " n.cluster, n.reason)" FROM;

/* Tasks of the bag; or of a number, those that had it if none has. */
#define WHERE_IN_BAG "n.removed IS NOT 1"
#define WHERE_NUMBER                                                          \
    "n.number = %" PRId64 " AND (" WHERE_IN_BAG " OR NOT EXISTS (SELECT 1"    \
    " FROM task_now n WHERE n.number = %" PRId64 " AND " WHERE_IN_BAG "))"

static size_t index_of(const char *state)
{
    size_t i = 0;
    while (i <= REMOVED && strcmp(states[i], state) != 0)
        i++;
    return i;
}

/* The first ones of a list are chosen apart: take() is called for the tasks of
 * the list only. */
static char *sql_of(const char *state, int64_t number, const char *where,
                    enum bats_view_order order, int64_t limit)
{
    bool is_slowest = order == BATS_VIEW_SLOWEST;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, list_sql);
    if (limit > 0)
        sqlite3_str_appendall(sql, "n.place IN (SELECT n.place" FROM);
    if (number != 0)
        sqlite3_str_appendf(sql, WHERE_NUMBER, number, number);
    else if (state != NULL)
        sqlite3_str_appendf(sql, STATE_OF " = %d", (int)index_of(state));
    else
        sqlite3_str_appendall(sql, WHERE_IN_BAG);
    if (where != NULL)
        sqlite3_str_appendf(
            sql, " AND n.task IN (SELECT id FROM tasks WHERE (%s\n))", where);
    if (is_slowest)
        sqlite3_str_appendall(sql, " AND n.wall_us NOT NULL");
    if (limit > 0)
        sqlite3_str_appendf(sql,
                            " ORDER BY %s n.number, n.task LIMIT %" PRId64 ")",
                            is_slowest ? "n.wall_us DESC," : "", limit);
    return sqlite3_str_finish(sql);
}

/* ---- the expression of a user ---- */

static int take_names(void *names, sqlite3_stmt *s, struct bats_error *err)
{
    (void)err;
    snprintf(names, 512, "%s%s",
             sqlite3_column_type(s, 0) != SQLITE_NULL ? "; its parameters are "
                                                      : "",
             bats_view_text(s, 0));
    return 0;
}

/* The newline ends a comment. A mistake in the expression is no damage of the
 * record. */
static int check(struct bats_view *v, const char *where,
                 struct bats_error *err)
{
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
    if (rc < 0 &&
        bats_part_each(v, "SELECT group_concat(place, ', ') FROM parameter",
                       take_names, names, NULL) == 0)
        bats_append(err->text, sizeof err->text, "%s", names);
    return rc;
}

/* A function that is not allowed, or has no value: the expression is at fault,
 * and not the record. */
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

/* The arguments of take(), which come so in half the time of columns. */
enum column {
    STATE,
    NUMBER,
    ID,
    ATTEMPTS,
    EXIT_STATUS,
    SIGNAL,
    WALL,
    CPU,
    MAX_RSS,
    START,
    HOST,
    CLUSTER,
    REASON
};

static const char *name_of(struct bats_view *v, sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return bats_texts_name(&v->texts, text,
                           (size_t)sqlite3_value_bytes(value));
}

static void take_task(sqlite3_context *context, int n, sqlite3_value **x)
{
    struct bats_view *v = sqlite3_user_data(context);
    int64_t state = sqlite3_value_int64(x[STATE]);
    const char *reason = (const char *)sqlite3_value_text(x[REASON]);
    (void)n;
    if (!bats_grow(&v->tasks, &v->tasks_capacity, v->n_tasks + 1,
                   sizeof *v->tasks)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    struct bats_view_task *t = &v->tasks[v->n_tasks++];
    *t = (struct bats_view_task){
        .id = sqlite3_value_int64(x[ID]),
        .number = sqlite3_value_int64(x[NUMBER]),
        .state = states[state >= 0 && state <= REMOVED ? state : 0],
        .attempts = sqlite3_value_int64(x[ATTEMPTS]),
        .wall_us = sqlite3_value_type(x[WALL]) == SQLITE_NULL
                       ? -1
                       : sqlite3_value_int64(x[WALL]),
        .start_us = sqlite3_value_int64(x[START]),
        .cpu_us = sqlite3_value_int64(x[CPU]),
        .max_rss_kib = sqlite3_value_int64(x[MAX_RSS]),
        .exit_status = sqlite3_value_int(x[EXIT_STATUS]),
        .signal = sqlite3_value_int(x[SIGNAL]),
        .unpaid = reason != NULL && strcmp(reason, "unpaid") == 0,
        .host = name_of(v, x[HOST]),
        .cluster = name_of(v, x[CLUSTER]),
        .command = "",
        .parameters = "",
    };
    v->any_runs |= state == RUNNING;
    if (t->host == NULL || t->cluster == NULL)
        sqlite3_result_error_nomem(context);
}

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

/* ---- those that run ---- */

/* The oldest execution of each task that runs; %: the time. */
static const char busy_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS busy"
    " (task INTEGER PRIMARY KEY, wall_us, host, cluster);"
    "DELETE FROM temp.busy;"
    "INSERT INTO temp.busy SELECT task, CAST((%" PRId64 " - since)"
    "  / time_scale AS INTEGER), m.host, c.name FROM (SELECT task, machine,"
    "  min(given_us) AS since FROM running WHERE task NOT NULL GROUP BY task) r"
    " JOIN session s ON s.id = (SELECT session FROM now)"
    " LEFT JOIN machine m ON m.session = s.id AND m.id = r.machine"
    " LEFT JOIN cluster c ON c.session = s.id AND c.id = m.cluster";

/* Lists tasks that run. They have no result of this session yet. */
static int take_busy(struct bats_view *v, struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    char sql[1024];
    bats_time now;
    int rc = bats_view_now(v, &now, err);
    snprintf(sql, sizeof sql, busy_sql, now);
    if (rc == 0)
        rc = bats_db_run(&v->db, sql, err);
    if (rc == 0)
        rc = bats_db_prepare(&v->db,
                             "SELECT wall_us, host, cluster FROM temp.busy"
                             " WHERE task = ?",
                             &s, err);
    for (size_t i = 0; rc >= 0 && i < v->n_tasks; i++) {
        struct bats_view_task *t = &v->tasks[i];
        if (t->state != states[RUNNING])
            continue;
        sqlite3_bind_int64(s, 1, t->id);
        rc = bats_db_step(&v->db, s, err);
        t->wall_us = sqlite3_column_int64(s, 0);
        t->host = name_of(v, sqlite3_column_value(s, 1));
        t->cluster = name_of(v, sqlite3_column_value(s, 2));
        if (rc >= 0 && (t->host == NULL || t->cluster == NULL))
            rc = bats_no_memory(err);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

/* ---- their texts ---- */

/* The arguments of text(), called for the task that is next. */
static void take_text(sqlite3_context *context, int n, sqlite3_value **x)
{
    struct bats_view *v = sqlite3_user_data(context);
    struct bats_view_task *t = &v->tasks[v->next_task];
    (void)n;
    v->text_id = sqlite3_value_int64(x[0]);
    if (v->text_id != t->id)
        return;
    const char *command = (const char *)sqlite3_value_text(x[2]);
    const char *parameters = (const char *)sqlite3_value_text(x[3]);
    t->line = sqlite3_value_int64(x[1]);
    t->command =
        bats_texts_add(&v->texts, command, (size_t)sqlite3_value_bytes(x[2]));
    t->parameters = bats_texts_add(&v->texts, parameters,
                                   (size_t)sqlite3_value_bytes(x[3]));
    if (t->command == NULL || t->parameters == NULL)
        sqlite3_result_error_nomem(context);
}

/* Most lists are in the order of ids: then the statement goes on from the row
 * before. */
static int take_texts(struct bats_view *v, struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &v->db,
        "SELECT text(t.id, t.line, t.command, p.parameters) FROM task t"
        " LEFT JOIN point p ON p.task = t.id WHERE t.id >= ? ORDER BY t.id",
        &s, err);
    for (v->next_task = 0; rc >= 0 && v->next_task < v->n_tasks;
         v->next_task++) {
        int64_t id = v->tasks[v->next_task].id;
        if (rc == 0 || v->text_id != id - 1) {
            sqlite3_reset(s);
            sqlite3_bind_int64(s, 1, id);
        }
        rc = bats_db_step(&v->db, s, err);
    }
    sqlite3_finalize(s);
    v->next_task = 0;
    return rc < 0 ? rc : 0;
}

/* ---- the list ---- */

static void define(struct bats_view *v, const char *name,
                   void (*function)(sqlite3_context *, int, sqlite3_value **))
{
    sqlite3_create_function(v->db.sqlite, name, -1, SQLITE_UTF8, v, function,
                            NULL, NULL);
}

static int read_list(struct bats_view *v, const struct query *q,
                     struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(&v->db, q->sql, &s, err);
    if (rc == 0)
        while ((rc = bats_db_step(&v->db, s, err)) > 0)
            continue; /* take() has it */
    sqlite3_finalize(s);
    if (rc < 0)
        return blame(v, q->where, rc, err);
    sort(v, q->order);
    rc = v->any_runs ? take_busy(v, err) : 0;
    return rc == 0 ? take_texts(v, err) : rc;
}

/* The functions are there while no expression of a user is checked: no such
 * expression can call them. */
static int list(struct bats_view *v, void *context, struct bats_error *err)
{
    struct query *q = context;
    bats_view_drop_tasks(v);
    int rc = q->where != NULL ? check(v, q->where, err) : 0;
    if (rc < 0)
        return rc;
    define(v, "take", take_task);
    define(v, "text", take_text);
    rc = read_list(v, q, err);
    define(v, "take", NULL);
    define(v, "text", NULL);
    return rc;
}

int bats_view_tasks(struct bats_view *v, const char *state, int64_t number,
                    const char *where, enum bats_view_order order,
                    int64_t limit, struct bats_error *err)
{
    struct query q = {.where = where,
                      .sql = sql_of(state, number, where, order, limit),
                      .order = order};
    int rc =
        q.sql != NULL ? bats_part_take(v, list, &q, err) : bats_no_memory(err);
    sqlite3_free(q.sql);
    v->has_ends = false;
    return rc;
}

int bats_view_next_task(struct bats_view *v, struct bats_view_task *task,
                        struct bats_error *err)
{
    (void)err;
    if (v->next_task == v->n_tasks)
        return 0;
    *task = v->tasks[v->next_task++];
    return 1;
}
