/* where: tasks for which an SQL expression is true. SQLite sees the list as a
 * table (a virtual one), so that nothing has to be stored for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "record/read/tasks.h"
#include "record/schema.h"

#define MODULE "bats_tasks"

/* The columns of the view tasks of schema.c. */
enum column {
    NUMBER,
    STATE,
    ATTEMPTS,
    EXIT_STATUS,
    SIGNAL,
    WALL_S,
    CPU_S,
    MAX_RSS,
    HOST,
    CLUSTER,
    START_US,
    LINE,
    COMMAND,
    ID,
    COST,
    PARAMETERS
};
static const char declaration[] =
    "CREATE TABLE x (number INTEGER, state TEXT, attempts INTEGER,"
    " exit_status INTEGER, signal INTEGER, wall_s REAL, cpu_s REAL,"
    " max_rss_kib INTEGER, host TEXT, cluster TEXT, start_us INTEGER,"
    " line INTEGER, command TEXT, id INTEGER, cost REAL, parameters TEXT)";
#define TEXTS (1u << LINE | 1u << COMMAND | 1u << PARAMETERS)
#define OF_RESULT                                                             \
    (1u << EXIT_STATUS | 1u << SIGNAL | 1u << WALL_S | 1u << CPU_S |          \
     1u << MAX_RSS | 1u << START_US | 1u << COST)

struct table {
    sqlite3_vtab base;
    struct bats_tasks *list;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct bats_tasks list; /* borrows its ids and seats */
    bool is_text;
    struct bats_view_task task;
    double price;
};

static int connect(sqlite3 *db, void *list, int argc, const char *const *argv,
                   sqlite3_vtab **table, char **message)
{
    struct table *t = calloc(1, sizeof *t);
    (void)argc, (void)argv, (void)message;
    if (t == NULL)
        return SQLITE_NOMEM;
    t->list = list;
    *table = &t->base;
    return sqlite3_declare_vtab(db, declaration);
}

static int disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
    struct table *t = (struct table *)table;
    info->idxNum = (info->colUsed & TEXTS) != 0;
    info->estimatedCost = (double)t->list->n;
    info->estimatedRows = (sqlite3_int64)t->list->n;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct cursor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->list = *((struct table *)table)->list;
    c->list.text = c->list.more = NULL;
    *cursor = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;
    sqlite3_finalize(c->list.text);
    free(c);
    return SQLITE_OK;
}

static int load(struct cursor *c)
{
    struct bats_error err;
    if (c->list.at == c->list.n)
        return SQLITE_OK;
    return bats_tasks_get(&c->list, c->list.ids[c->list.at], c->is_text,
                          &c->task, &c->price, &err) < 0
               ? SQLITE_CORRUPT
               : SQLITE_OK;
}

static int begin(sqlite3_vtab_cursor *cursor, int is_text, const char *unused,
                 int argc, sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)cursor;
    (void)unused, (void)argc, (void)argv;
    c->is_text = is_text != 0;
    c->list.at = 0;
    return load(c);
}

static int next(sqlite3_vtab_cursor *cursor)
{
    struct cursor *c = (struct cursor *)cursor;
    c->list.at++;
    return load(c);
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
    const struct cursor *c = (struct cursor *)cursor;
    return c->list.at == c->list.n;
}

static void give_text(sqlite3_context *context, const char *text)
{
    if (text[0] != '\0')
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* A column that has no value is NULL. */
static int give(sqlite3_vtab_cursor *cursor, sqlite3_context *context,
                int column)
{
    const struct cursor *c = (struct cursor *)cursor;
    const struct bats_view_task *t = &c->task;
    const struct bats_totals_task *result = &c->list.view->totals.tasks[t->id];
    if (result->result == 0 && (OF_RESULT & 1u << column) != 0)
        return SQLITE_OK;
    switch ((enum column)column) {
    case NUMBER:
        sqlite3_result_int64(context, t->number);
        break;
    case STATE:
        give_text(context, t->state);
        break;
    case ATTEMPTS:
        sqlite3_result_int64(context, t->attempts);
        break;
    case LINE:
        sqlite3_result_int64(context, t->line);
        break;
    case COMMAND:
        give_text(context, t->command);
        break;
    case ID:
        sqlite3_result_int64(context, t->id);
        break;
    case PARAMETERS:
        give_text(context, t->parameters);
        break;
    case HOST:
        give_text(context, t->host);
        break;
    case CLUSTER:
        give_text(context, t->cluster);
        break;
    case EXIT_STATUS:
        sqlite3_result_int(context, t->exit_status);
        break;
    case SIGNAL:
        sqlite3_result_int(context, t->signal);
        break;
    case WALL_S:
        sqlite3_result_double(context, (double)result->wall_us / 1e6);
        break;
    case CPU_S:
        sqlite3_result_double(context, (double)t->cpu_us / 1e6);
        break;
    case MAX_RSS:
        sqlite3_result_int64(context, t->max_rss_kib);
        break;
    case START_US:
        sqlite3_result_int64(context, t->start_us);
        break;
    case COST:
        sqlite3_result_double(context, (double)result->wall_us * c->price);
        break;
    default:
        break;
    }
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = ((struct cursor *)cursor)->task.id;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = plan,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = give,
    .xRowid = rowid,
};

/* ---- the expression ---- */

/* Notes whether it asks for rows of the history itself. */
static int note_table(void *context, int action, const char *table,
                      const char *column, const char *schema, const char *view)
{
    static const char *const tables[] = {"event", "command", "attempt"};
    (void)column, (void)schema, (void)view;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (action == SQLITE_READ && strcmp(table, tables[i]) == 0)
            *(bool *)context = true;
    return SQLITE_OK;
}

/* The columns of the parameters, for the message; for sqlite3_free(). */
static char *parameters_of(struct bats_view *v)
{
    sqlite3_stmt *s;
    char *names = NULL;
    if (bats_db_prepare(&v->db,
                        "SELECT group_concat(place, ', ') FROM parameter", &s,
                        NULL) < 0)
        return NULL;
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0) != NULL)
        names = sqlite3_mprintf("; its parameters are %s",
                                sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return names;
}

/* The newline ends a comment. A mistake in the expression is no damage of the
 * record. */
static int prepare(struct bats_view *v, const char *where, sqlite3_stmt **s,
                   bool *needs_history, struct bats_error *err)
{
    const char *rest = "";
    char why[256] = "";
    *needs_history = false;
    *s = NULL;
    char *sql =
        sqlite3_mprintf("SELECT id FROM temp.tasks WHERE (%s\n)", where);
    if (sql == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    sqlite3_set_authorizer(v->db.sqlite, note_table, needs_history);
    if (sqlite3_prepare_v2(v->db.sqlite, sql, -1, s, &rest) != SQLITE_OK)
        snprintf(why, sizeof why, "%s", sqlite3_errmsg(v->db.sqlite));
    else if (*rest != '\0')
        snprintf(why, sizeof why, "more than one expression");
    sqlite3_set_authorizer(v->db.sqlite, NULL, NULL);
    sqlite3_free(sql);
    if (why[0] == '\0')
        return 0;
    sqlite3_finalize(*s);
    *s = NULL;
    char *names = parameters_of(v);
    int rc = bats_error_set(err, BATS_EINPUT, "--where '%.100s': %s%s", where,
                            why, names != NULL ? names : "");
    sqlite3_free(names);
    return rc;
}

struct filter {
    struct bats_tasks *list;
    const char *where;
    bool needs_history; /* which is not there: nothing was done */
    int64_t *ids;
    size_t n;
};

/* A function that is not allowed, or has no value: the expression is at fault,
 * and not the record. */
static int blame(const struct filter *f, int rc, struct bats_error *err)
{
    sqlite3 *db = f->list->view->db.sqlite;
    int code = sqlite3_errcode(db) & 0xff;
    if (code != SQLITE_ERROR && code != SQLITE_TOOBIG &&
        code != SQLITE_MISMATCH && code != SQLITE_AUTH)
        return rc;
    return bats_error_set(err, BATS_EINPUT, "--where '%.100s': %s", f->where,
                          sqlite3_errmsg(db));
}

static int list_ids(struct filter *f, sqlite3_stmt *s, struct bats_error *err)
{
    int rc = 0;
    f->n = 0;
    f->ids = malloc((f->list->n + 1) * sizeof *f->ids);
    if (f->ids == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    while (f->n < f->list->n &&
           (rc = bats_db_step(&f->list->view->db, s, err)) > 0)
        f->ids[f->n++] = sqlite3_column_int64(s, 0);
    return rc < 0 ? blame(f, rc, err) : 0;
}

/* Texts of tasks are read from the record, if they are asked for. */
static int filter(struct bats_view *v, void *context, struct bats_error *err)
{
    struct filter *f = context;
    sqlite3_stmt *s = NULL;
    free(f->ids);
    f->ids = NULL;
    int rc = sqlite3_create_module(v->db.sqlite, MODULE, &module, f->list) ==
                     SQLITE_OK
                 ? bats_schema_view_list(&v->db, MODULE, err)
                 : bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = prepare(v, f->where, &s, &f->needs_history, err);
    f->needs_history &= !v->has_all;
    if (rc == 0 && !f->needs_history)
        rc = list_ids(f, s, err);
    sqlite3_finalize(s);
    bats_db_run(&v->db, "DROP VIEW IF EXISTS temp.tasks", NULL);
    return rc;
}

int bats_tasks_filter(struct bats_tasks *list, const char *where,
                      struct bats_error *err)
{
    struct bats_view *v = list->view;
    struct filter f = {.list = list, .where = where};
    int rc = v->has_all ? 0 : bats_part_take(v, filter, &f, err);
    if (rc == 0 && f.needs_history)
        rc = bats_view_unpack(v, err);
    if (rc == 0 && v->has_all)
        rc = filter(v, &f, err);
    if (rc < 0) {
        free(f.ids);
        return rc;
    }
    free(list->ids);
    list->ids = f.ids;
    list->n = f.n;
    return 0;
}
