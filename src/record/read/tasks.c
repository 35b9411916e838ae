#include "record/read/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "record/read/part.h"
#include "record/schema.h"
#include "util/grow.h"

/* The ends of standard error of more tasks than these are taken in one go. */
#define MANY 20000
/* Bytes of texts that are read at a time, at least. */
#define ROOM (32 << 20)

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

/* ---- seats ---- */

static int by_place(const void *left, const void *right)
{
    const struct bats_seat *a = left, *b = right;
    if (a->session != b->session)
        return a->session < b->session ? -1 : 1;
    return a->machine < b->machine ? -1 : a->machine > b->machine;
}

static const struct bats_seat *find_seat(const struct bats_tasks *list,
                                         int64_t session, int64_t machine)
{
    struct bats_seat wanted = {.session = session, .machine = machine};
    return list->n_seats == 0 ? NULL
                              : bsearch(&wanted, list->seats, list->n_seats,
                                        sizeof wanted, by_place);
}

static int load_seats(struct bats_tasks *list, struct bats_error *err)
{
    struct bats_db *db = &list->view->db;
    sqlite3_stmt *s;
    int64_t n;
    int rc = bats_db_integer(db, "SELECT count(*) FROM main.machine", &n, err);
    if (rc == 0)
        rc = bats_db_prepare(
            db,
            "SELECT m.session, m.id, m.host, c.name, s.time_scale,"
            " s.time_scale / s.window_us * c.charge / m.slots / 1e6"
            " FROM main.machine m JOIN main.session s ON s.id = m.session"
            " LEFT JOIN main.cluster c"
            "  ON c.session = m.session AND c.id = m.cluster"
            " ORDER BY m.session, m.id",
            &s, err);
    if (rc < 0)
        return rc;
    list->seats = calloc((size_t)n + 1, sizeof *list->seats);
    if (list->seats == NULL)
        rc = no_memory(err);
    while (rc == 0 && (int64_t)list->n_seats < n &&
           (rc = bats_db_step(db, s, err)) > 0) {
        struct bats_seat *seat = &list->seats[list->n_seats++];
        *seat = (struct bats_seat){
            .session = sqlite3_column_int64(s, 0),
            .machine = sqlite3_column_int64(s, 1),
            .host = strdup(bats_view_text(s, 2)),
            .cluster = strdup(bats_view_text(s, 3)),
            .scale = sqlite3_column_double(s, 4),
            .price = sqlite3_column_double(s, 5),
        };
        rc = seat->host == NULL || seat->cluster == NULL ? no_memory(err) : 0;
    }
    sqlite3_finalize(s);
    return rc;
}

/* ---- a task ---- */

/* If it failed or yielded last, when, and how often in a row; `attempt` has its
 * rows. */
static const char more_sql[] =
    "SELECT coalesce((SELECT time_us FROM (SELECT time_us, session, outcome,"
    "   max(seq) FROM attempt WHERE task = ?1)"
    "  WHERE outcome = 2 AND session = (SELECT max(id) FROM session)), -1),"
    " coalesce((SELECT time_us FROM (SELECT time_us, session, outcome,"
    "   max(seq) FROM attempt WHERE task = ?1)"
    "  WHERE outcome = 4 AND session = (SELECT max(id) FROM session)), -1),"
    " (SELECT count(*) FROM attempt WHERE task = ?1"
    "  AND outcome = 4 AND seq > coalesce((SELECT max(seq) FROM attempt a"
    "   JOIN session s ON s.id = a.session WHERE task = ?1 AND"
    "   (outcome = 0 OR outcome IN (1, 4) AND wall_us * time_scale >= ?2)),"
    "   0))";

/* Leaves the row of the task in *s: 1, 0 or an error. */
static int row_of(struct bats_tasks *list, sqlite3_stmt **s, const char *sql,
                  int64_t id, struct bats_error *err)
{
    int rc = *s != NULL ? 0 : bats_db_prepare(&list->view->db, sql, s, err);
    if (rc < 0)
        return rc;
    sqlite3_reset(*s);
    sqlite3_bind_int64(*s, 1, id);
    return bats_db_step(&list->view->db, *s, err);
}

#define TEXTS_OF(schema)                                                      \
    "SELECT t.id, t.line, t.command, p.parameters"                            \
    " FROM " schema ".task t LEFT JOIN " schema ".point p"                    \
    " ON p.task = t.id WHERE t.id >= ? ORDER BY t.id"

/* Leaves the texts of the task in list->text: 1, 0 or an error. Most lists are
 * in the order of ids: then the statement goes on from the row before. */
static int text_of(struct bats_tasks *list, int64_t id, struct bats_error *err)
{
    sqlite3_stmt **s = &list->text;
    bool goes_on = *s != NULL && sqlite3_data_count(*s) > 0 &&
                   sqlite3_column_int64(*s, 0) == id - 1;
    int rc = goes_on ? bats_db_step(&list->view->db, *s, err)
                     : row_of(list, s,
                              list->view->has_all ? TEXTS_OF("main")
                                                  : TEXTS_OF("rec"),
                              id, err);
    return rc > 0 ? sqlite3_column_int64(*s, 0) == id : rc;
}

static int add_text(struct bats_tasks *list, int64_t id,
                    struct bats_view_task *task, struct bats_error *err)
{
    int rc = text_of(list, id, err);
    if (rc <= 0)
        return rc;
    task->line = sqlite3_column_int64(list->text, 1);
    task->command = bats_view_text(list->text, 2);
    task->parameters = bats_view_text(list->text, 3);
    return 0;
}

static int add_more(struct bats_tasks *list, int64_t id,
                    struct bats_view_task *task, struct bats_error *err)
{
    int rc = row_of(list, &list->more, more_sql, id, err);
    if (rc == 0)
        return 0;
    if (rc > 0) {
        task->failed = sqlite3_column_int64(list->more, 0);
        task->yielded = sqlite3_column_int64(list->more, 1);
        task->yields = sqlite3_column_int64(list->more, 2);
    }
    return rc < 0 ? rc : 0;
}

/* The execution of it that runs longest. */
static void add_running(const struct bats_tasks *list,
                        struct bats_view_task *task)
{
    const struct bats_totals *all = &list->view->totals;
    const struct bats_totals_open *first = NULL;
    for (int32_t i = all->first[bats_totals_chain(task->id)]; i >= 0;
         i = all->open[i].next)
        if (all->open[i].task == task->id && all->open[i].is_running &&
            (first == NULL || all->open[i].since < first->since))
            first = &all->open[i];
    const struct bats_seat *seat =
        first != NULL ? find_seat(list, all->session, first->machine) : NULL;
    if (seat == NULL)
        return;
    task->wall_us =
        (int64_t)((double)(list->now - first->since) / seat->scale);
    task->host = seat->host;
    task->cluster = seat->cluster;
}

int bats_tasks_get(struct bats_tasks *list, int64_t id, bool is_text,
                   struct bats_view_task *task, double *price,
                   struct bats_error *err)
{
    const struct bats_totals *all = &list->view->totals;
    const struct bats_totals_task *t = &all->tasks[id];
    const struct bats_seat *seat =
        t->result > 0 ? find_seat(list, t->session, t->machine) : NULL;
    *task = (struct bats_view_task){
        .id = id,
        .number = t->number,
        .state = bats_totals_words[bats_totals_state(t)],
        .attempts = t->result > 0 ? t->attempts : 0,
        .failed = -1,
        .yielded = -1,
        .wall_us = t->result > 0 ? t->wall_us : -1,
        .start_us = t->start_us,
        .cpu_us = t->cpu_us,
        .max_rss_kib = t->max_rss_kib,
        .exit_status = t->exit_status,
        .signal = t->signal,
        .unpaid = t->is_unpaid,
        .host = t->result > 0 && t->host >= 0 ? all->hosts[t->host]
                : seat != NULL                ? seat->host
                                              : "",
        .cluster = seat != NULL ? seat->cluster : "",
        .command = "",
        .parameters = "",
    };
    if (t->runs && price == NULL)
        add_running(list, task);
    if (price != NULL)
        *price = seat != NULL ? seat->price : 0;
    int rc = is_text ? add_text(list, id, task, err) : 0;
    return rc == 0 && list->has_more ? add_more(list, id, task, err) : rc;
}

/* ---- texts ---- */

static int keep(struct bats_tasks *list, const void *bytes, size_t n,
                struct bats_error *err)
{
    if (!bats_grow(&list->texts, &list->texts_capacity, list->n_texts + n, 1))
        return no_memory(err);
    memcpy(list->texts + list->n_texts, bytes, n);
    list->n_texts += n;
    return 0;
}

static int keep_text(struct bats_tasks *list, const char *text,
                     struct bats_error *err)
{
    return keep(list, text, strlen(text) + 1, err);
}

/* The ends of standard error are taken whole where many tasks are listed. */
static int take_texts(struct bats_view *v, void *context,
                      struct bats_error *err)
{
    struct bats_tasks *list = context;
    struct bats_view_task task = {0};
    bool is_all = list->n > MANY;
    int rc =
        is_all && list->at == 0 && !v->has_all ? bats_part_ends(v, err) : 0;

    list->n_texts = list->texts_at = 0;
    size_t i = list->at;
    for (; rc == 0 && i < list->n && list->n_texts < ROOM; i++) {
        int64_t id = list->ids[i];
        task.line = 0;
        task.command = task.parameters = "";
        rc = add_text(list, id, &task, err);
        if (rc == 0)
            rc = keep(list, &task.line, sizeof task.line, err);
        if (rc == 0)
            rc = keep_text(list, task.command, err);
        if (rc == 0)
            rc = keep_text(list, task.parameters, err);
        if (rc == 0 && !is_all && !v->has_all &&
            v->totals.tasks[id].has_failed)
            rc = bats_part_end(v, id, err);
    }
    list->texts_end = i;
    sqlite3_finalize(list->text);
    list->text = NULL;
    return rc;
}

int bats_tasks_read(struct bats_tasks *list, struct bats_error *err)
{
    return list->view->has_all
               ? take_texts(list->view, list, err)
               : bats_part_take(list->view, take_texts, list, err);
}

static const char *next_text(struct bats_tasks *list)
{
    const char *text = list->texts + list->texts_at;
    list->texts_at += strlen(text) + 1;
    return text;
}

int bats_tasks_next(struct bats_tasks *list, struct bats_view_task *task,
                    struct bats_error *err)
{
    if (list->at == list->n)
        return 0;
    int rc = list->at < list->texts_end ? 0 : bats_tasks_read(list, err);
    if (rc == 0)
        rc = bats_tasks_get(list, list->ids[list->at], false, task, NULL, err);
    if (rc < 0)
        return rc;
    list->at++;
    memcpy(&task->line, list->texts + list->texts_at, sizeof task->line);
    list->texts_at += sizeof task->line;
    task->command = next_text(list);
    task->parameters = next_text(list);
    return 1;
}

int bats_tasks_make(struct bats_tasks *list, struct bats_view *v,
                    bats_time now, struct bats_error *err)
{
    *list = (struct bats_tasks){.view = v, .now = now};
    int rc = load_seats(list, err);
    if (rc == 0)
        list->ids = malloc(((size_t)v->totals.n + 1) * sizeof *list->ids);
    if (rc == 0 && list->ids == NULL)
        rc = no_memory(err);
    for (int64_t id = 1; rc == 0 && id <= v->totals.n; id++)
        if (v->totals.tasks[id].is_known)
            list->ids[list->n++] = id;
    return rc;
}

void bats_tasks_release(struct bats_tasks *list)
{
    free(list->ids);
    free(list->texts);
    for (size_t i = 0; i < list->n_seats; i++) {
        free(list->seats[i].host);
        free(list->seats[i].cluster);
    }
    free(list->seats);
    sqlite3_finalize(list->text);
    sqlite3_finalize(list->more);
    *list = (struct bats_tasks){0};
}
