#include "record/read/select.h"

#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"

struct wanted {
    struct bats_view *v;
    bool *is_wanted; /* by task.id */
    int64_t n;
    /* or a machine, by session: its number there, or -1 */
    int64_t *machine, sessions;
};

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

/* ---- tasks ---- */

static int64_t task_of(const struct bats_scan_row *row)
{
    return row->number[row->kind == BATS_SCAN_ATTEMPT ? BATS_SCAN_A_TASK
                                                      : BATS_SCAN_TASK];
}

static int hear_tasks(void *context, const struct bats_scan_row *row,
                      struct bats_error *err)
{
    struct wanted *w = context;
    int64_t task = task_of(row);
    return task >= 1 && task <= w->n && w->is_wanted[task]
               ? bats_part_row(w->v, row, err)
               : 0;
}

int bats_view_take_rows(struct bats_view *v, const int64_t *ids, size_t n,
                        struct bats_error *err)
{
    struct wanted w = {.v = v};
    int64_t last;
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        w.n = ids[i] > w.n ? ids[i] : w.n;
    if (n == 0 || w.n > INT32_MAX)
        return 0;
    w.is_wanted = calloc((size_t)w.n + 1, sizeof *w.is_wanted);
    if (w.is_wanted == NULL)
        return no_memory(err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        w.is_wanted[ids[i] > 0 ? ids[i] : 0] = true;
        rc = bats_part_task(v, ids[i], err);
    }
    if (rc == 0)
        rc = bats_scan(&v->db, 0, 0, &last, hear_tasks, &w, err);
    free(w.is_wanted);
    return rc;
}

struct list {
    const int64_t *ids;
    size_t n;
};

static int take_list(struct bats_view *v, void *context,
                     struct bats_error *err)
{
    const struct list *l = context;
    return bats_view_take_rows(v, l->ids, l->n, err);
}

int bats_view_take_tasks(struct bats_view *v, const int64_t *ids, size_t n,
                         struct bats_error *err)
{
    struct list l = {ids, n};
    return n > 0 ? bats_part_take(v, take_list, &l, err) : 0;
}

/* ---- a machine ---- */

static int hear_machine(void *context, const struct bats_scan_row *row,
                        struct bats_error *err)
{
    struct wanted *w = context;
    int64_t task = task_of(row);
    int64_t machine =
        row->number[row->kind == BATS_SCAN_ATTEMPT ? BATS_SCAN_A_MACHINE
                                                   : BATS_SCAN_MACHINE];
    if (row->session < 0 || row->session >= w->sessions ||
        machine == BATS_SCAN_NULL || machine != w->machine[row->session])
        return 0;
    int rc = bats_part_row(w->v, row, err);
    return rc == 0 && task != BATS_SCAN_NULL ? bats_part_task(w->v, task, err)
                                             : rc;
}

static int find_machine(struct wanted *w, const char *name,
                        struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &w->v->db, "SELECT session, id FROM main.machine WHERE name = ?", &s,
        err);
    if (rc < 0)
        return rc;
    for (int64_t i = 0; i < w->sessions; i++)
        w->machine[i] = -1;
    sqlite3_bind_text(s, 1, name, -1, SQLITE_TRANSIENT);
    while ((rc = bats_db_step(&w->v->db, s, err)) > 0) {
        int64_t session = sqlite3_column_int64(s, 0);
        if (session >= 0 && session < w->sessions)
            w->machine[session] = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return rc;
}

static int take_machine(struct bats_view *v, void *context,
                        struct bats_error *err)
{
    struct wanted w = {.v = v};
    int64_t last;
    int rc = bats_db_integer(&v->db, "SELECT max(id) + 1 FROM main.session",
                             &w.sessions, err);
    if (rc == 0 && w.sessions > 0 && w.sessions < INT32_MAX)
        w.machine = calloc((size_t)w.sessions, sizeof *w.machine);
    if (rc == 0 && w.machine == NULL)
        rc = no_memory(err);
    if (rc == 0)
        rc = find_machine(&w, context, err);
    if (rc == 0)
        rc = bats_scan(&v->db, 0, 0, &last, hear_machine, &w, err);
    free(w.machine);
    return rc;
}

int bats_view_take_machine(struct bats_view *v, const char *name,
                           struct bats_error *err)
{
    char *copy = strdup(name);
    int rc = copy == NULL ? no_memory(err)
                          : bats_part_take(v, take_machine, copy, err);
    free(copy);
    return rc;
}

/* ---- a stretch of the history ---- */

static int hear_all(void *context, const struct bats_scan_row *row,
                    struct bats_error *err)
{
    struct bats_view *v = context;
    int64_t task = task_of(row);
    int rc = bats_part_row(v, row, err);
    return rc == 0 && task != BATS_SCAN_NULL ? bats_part_task(v, task, err)
                                             : rc;
}

/* A row of a small table between two groups has its turn with the second. */
static int take_part(struct bats_view *v, void *context,
                     struct bats_error *err)
{
    const int64_t *groups = context;
    int64_t last, more;
    int rc = v->is_live && v->has_base ? bats_part_base(v, NULL, err) : 0;
    if (rc == 0)
        rc = bats_db_run(&v->db,
                         "DELETE FROM main.event; DELETE FROM main.command;"
                         "DELETE FROM main.attempt; DELETE FROM main.task;"
                         "DELETE FROM main.point; DELETE FROM main.stderr;",
                         err);
    if (rc == 0)
        rc = bats_scan(&v->db, v->log_from, *groups, &last, hear_all, v, err);
    if (rc == 0)
        rc = bats_db_integer(
            &v->db, "SELECT max(seq) FROM rec.history", &more, err);
    v->log_is_whole = rc == 0 && last >= more;
    v->log_to = v->log_is_whole ? INT64_MAX : last;
    return rc;
}

int bats_view_take_part(struct bats_view *v, int64_t groups,
                        struct bats_error *err)
{
    v->has_totals = false;
    return bats_part_take(v, take_part, &groups, err);
}

/* ---- the beginning of a list ---- */

struct candidate {
    int64_t id, number, wall_us;
};

static int by_wall(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->wall_us != b->wall_us)
        return a->wall_us > b->wall_us ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_number(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

struct choice {
    struct bats_view *v;
    const char *state;
    bool slowest;
    struct candidate *list;
    size_t n;
};

static bool is_wanted(const struct choice *c,
                      const struct bats_totals_task *t)
{
    enum bats_totals_state state = bats_totals_state(t);
    if (!t->is_known || (c->slowest && t->result == 0))
        return false;
    return c->state != NULL ? strcmp(bats_totals_words[state], c->state) == 0
                            : state != BATS_TOTALS_REMOVED;
}

/* The numbers are those of the bag, in the order of the tasks' ids unless it
 * was edited. */
static int find_numbers(struct bats_view *v, void *context,
                        struct bats_error *err)
{
    struct choice *c = context;
    sqlite3_stmt *s;
    size_t at = 0;
    int rc = bats_db_prepare(
        &v->db,
        "SELECT t.id, coalesce(p.number, t.number) FROM rec.task t"
        " LEFT JOIN (SELECT task, number, max(session) FROM main.place"
        " GROUP BY task) p ON p.task = t.id ORDER BY t.id",
        &s, err);
    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(&v->db, s, err)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        while (at < c->n && c->list[at].id < id)
            at++;
        if (at < c->n && c->list[at].id == id)
            c->list[at].number = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return rc;
}

int bats_totals_pick(struct bats_view *v, const char *state, bool slowest,
                     int64_t limit, int64_t **ids, size_t *n,
                     struct bats_error *err)
{
    const struct bats_totals *t = &v->totals;
    struct choice c = {.v = v, .state = state, .slowest = slowest};
    int rc = 0;
    *ids = NULL;
    *n = 0;
    c.list = malloc(((size_t)t->n + 1) * sizeof *c.list);
    if (c.list == NULL)
        return no_memory(err);
    for (int64_t id = 1; id <= t->n; id++)
        if (is_wanted(&c, &t->tasks[id]))
            c.list[c.n++] = (struct candidate){id, id, t->tasks[id].wall_us};
    if (limit > 0 && (int64_t)c.n > limit) {
        rc = bats_part_take(v, find_numbers, &c, err);
        qsort(c.list, c.n, sizeof *c.list, slowest ? by_wall : by_number);
        c.n = (size_t)limit;
    }
    *ids = rc == 0 ? malloc((c.n + 1) * sizeof **ids) : NULL;
    if (rc == 0 && *ids == NULL)
        rc = no_memory(err);
    for (size_t i = 0; rc == 0 && i < c.n; i++)
        (*ids)[(*n)++] = c.list[i].id;
    free(c.list);
    return rc;
}
