#include "record/read/totals.h"

#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "util/grow.h"

#define MOST INT32_MAX /* tasks, machines */

const char *const bats_totals_words[BATS_TOTALS_STATES] = {
    "pending", "running", "done", "failed", "skipped", "removed"};

struct look {
    struct bats_view *v;
    struct bats_totals *t;
    int64_t number; /* of tasks whose rows are wanted; 0: none */
};

static struct bats_totals_task *task_of(const struct bats_totals *t,
                                        int64_t id)
{
    return id >= 1 && id <= t->n && t->tasks[id].is_known ? &t->tasks[id]
                                                          : NULL;
}

/* ---- executions that run ---- */

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

/* That of this task in this place, and *link, which refers to it. */
static struct bats_totals_open *
find(struct bats_totals *t, const struct bats_scan_row *row, int32_t **link)
{
    int64_t task = row->number[BATS_SCAN_TASK];
    for (*link = &t->first[bats_totals_chain(task)]; **link >= 0;
         *link = &t->open[**link].next) {
        struct bats_totals_open *o = &t->open[**link];
        if (o->task == task && o->machine == row->number[BATS_SCAN_MACHINE] &&
            o->slot == row->number[BATS_SCAN_SLOT])
            return o;
    }
    return NULL;
}

static int begin(struct bats_totals *t, const struct bats_scan_row *row,
                 bool is_replica, struct bats_error *err)
{
    int64_t task = row->number[BATS_SCAN_TASK];
    int32_t *link, at = t->free;
    if (task < 1 || task > t->n)
        return 0;
    /* Its result comes soon, and most of a look would be waiting for memory. */
    __builtin_prefetch(&t->tasks[task], 1);
    __builtin_prefetch((char *)&t->tasks[task + 1] - 1, 1);
    struct bats_totals_open *o = find(t, row, &link);
    if (o == NULL) {
        if (at >= 0) {
            t->free = t->open[at].next;
        } else {
            if (!bats_grow(&t->open, &t->capacity, t->n_open + 1,
                           sizeof *t->open))
                return no_memory(err);
            at = (int32_t)t->n_open++;
        }
        o = &t->open[at];
        o->next = t->first[bats_totals_chain(task)];
        t->first[bats_totals_chain(task)] = at;
    }
    o->seq = row->number[BATS_SCAN_SEQ];
    o->since = row->number[BATS_SCAN_TIME];
    o->task = task;
    o->machine = (int32_t)row->number[BATS_SCAN_MACHINE];
    o->slot = (int32_t)row->number[BATS_SCAN_SLOT];
    o->is_replica = is_replica;
    o->is_used = true;
    o->is_running = false;
    return 0;
}

/* In a group the commands come first: it may end an earlier execution there. */
static void end(struct bats_totals *t, const struct bats_scan_row *row)
{
    int32_t *link;
    struct bats_totals_open *o = find(t, row, &link);
    if (o == NULL || o->seq > row->number[BATS_SCAN_SEQ])
        return;
    int32_t at = *link;
    *link = o->next;
    o->is_used = false;
    o->next = t->free;
    t->free = at;
}

/* ---- rows ---- */

static void note_time(struct bats_totals *t, const struct bats_scan_row *row)
{
    int kind = row->kind == BATS_SCAN_COMMAND;
    if (row->number[BATS_SCAN_SEQ] < t->last_seq[kind])
        return;
    t->last_seq[kind] = row->number[BATS_SCAN_SEQ];
    t->last[kind] =
        row->session == t->session ? row->number[BATS_SCAN_TIME] : -1;
}

static int hear_event(struct look *l, const struct bats_scan_row *row,
                      struct bats_error *err)
{
    const struct bats_scan_text *type = &row->text[BATS_SCAN_TYPE];
    int64_t machine = row->number[BATS_SCAN_MACHINE];
    note_time(l->t, row);
    if (bats_scan_is(type, "done") || bats_scan_is(type, "failed") ||
        bats_scan_is(type, "preempted") || bats_scan_is(type, "yielded")) {
        if (row->session == l->t->session)
            end(l->t, row);
        return 0;
    }
    if (bats_scan_is(type, "tick"))
        return 0;
    if (bats_scan_is(type, "lost") && row->session == l->t->session &&
        machine >= 0 && machine < l->t->n_machines)
        l->t->lost[machine] = row->number[BATS_SCAN_SEQ];
    return bats_part_row(l->v, row, err);
}

static int hear_command(struct look *l, const struct bats_scan_row *row,
                        struct bats_error *err)
{
    const struct bats_scan_text *type = &row->text[BATS_SCAN_TYPE];
    bool is_present = row->session == l->t->session;
    note_time(l->t, row);
    bool is_replica = bats_scan_is(type, "copy");
    if (is_replica || bats_scan_is(type, "run"))
        return is_present ? begin(l->t, row, is_replica, err) : 0;
    if (bats_scan_is(type, "skip")) {
        struct bats_totals_task *task =
            task_of(l->t, row->number[BATS_SCAN_TASK]);
        if (is_present && task != NULL) {
            task->is_skipped = true;
            task->is_unpaid =
                bats_scan_is(&row->text[BATS_SCAN_WHY], "unpaid");
        }
        return 0;
    }
    return bats_scan_is(type, "cancel") || bats_scan_is(type, "lose")
               ? 0
               : bats_part_row(l->v, row, err);
}

static bool is_host(const struct bats_totals *t, int32_t host,
                    const char *name)
{
    return host >= 0 && strcmp(t->hosts[host], name) == 0;
}

/* The index of the name of a host, -1 for none. A machine is on one, mostly. */
static int find_host(struct bats_totals *t, const struct bats_scan_row *row,
                     int32_t *host, struct bats_error *err)
{
    char name[BATS_SCAN_PLAIN];
    int64_t machine = row->number[BATS_SCAN_A_MACHINE];
    bool is_present = machine >= 0 && machine < t->n_machines;
    *host = is_present ? t->host_at[machine] : -1;
    bats_scan_plain(name, &row->text[BATS_SCAN_A_HOST]);
    if (*host < 0 || !is_host(t, *host, name))
        for (*host = (int32_t)t->n_hosts - 1; *host >= 0; --*host)
            if (is_host(t, *host, name))
                break;
    if (*host < 0 && name[0] != '\0') {
        if (!bats_grow(&t->hosts, &t->hosts_capacity, t->n_hosts + 1,
                       sizeof *t->hosts) ||
            (t->hosts[t->n_hosts] = strdup(name)) == NULL)
            return no_memory(err);
        *host = (int32_t)t->n_hosts++;
    }
    if (is_present)
        t->host_at[machine] = *host;
    return 0;
}

static int64_t or_zero(int64_t number)
{
    return number == BATS_SCAN_NULL ? 0 : number;
}

static int hear_attempt(struct bats_totals *t, const struct bats_scan_row *row,
                        struct bats_error *err)
{
    const int64_t *n = row->number;
    struct bats_totals_task *task = task_of(t, n[BATS_SCAN_A_TASK]);
    int64_t machine = n[BATS_SCAN_A_MACHINE];
    int64_t outcome = n[BATS_SCAN_A_OUTCOME];
    t->preempted += outcome == 1;
    if (row->session == t->session && machine >= 0 && machine < t->n_machines)
        t->ended[machine]++;
    if (task == NULL)
        return 0;
    task->attempts += outcome != 1 && outcome != 3;
    if (outcome != 0 || n[BATS_SCAN_SEQ] <= task->result)
        return 0;
    task->result = n[BATS_SCAN_SEQ];
    task->machine = (int32_t)machine;
    task->session = (int32_t)row->session;
    task->exit_status = (int32_t)n[BATS_SCAN_A_EXIT];
    task->signal = (int32_t)n[BATS_SCAN_A_SIGNAL];
    task->has_failed = task->exit_status != 0 || task->signal != 0;
    task->start_us = or_zero(n[BATS_SCAN_A_START]);
    task->wall_us = n[BATS_SCAN_A_WALL];
    task->ended = n[BATS_SCAN_TIME];
    task->cpu_us =
        or_zero(n[BATS_SCAN_A_USER]) + or_zero(n[BATS_SCAN_A_SYSTEM]);
    task->max_rss_kib = or_zero(n[BATS_SCAN_A_RSS]);
    return find_host(t, row, &task->host, err);
}

static bool is_taken(const struct bats_totals *t,
                     const struct bats_scan_row *row)
{
    const struct bats_totals_task *task = task_of(
        t, row->number[row->kind == BATS_SCAN_ATTEMPT ? BATS_SCAN_A_TASK
                                                      : BATS_SCAN_TASK]);
    return task != NULL && task->is_taken;
}

static int hear(void *context, const struct bats_scan_row *row,
                struct bats_error *err)
{
    struct look *l = context;
    int rc = l->number > 0 && is_taken(l->t, row)
                 ? bats_part_row(l->v, row, err)
                 : 0;
    if (rc < 0)
        return rc;
    if (row->kind == BATS_SCAN_EVENT)
        return hear_event(l, row, err);
    if (row->kind == BATS_SCAN_COMMAND)
        return hear_command(l, row, err);
    return hear_attempt(l->t, row, err);
}

/* ---- the look ---- */

/* Passes each task and the second column, -1 for NULL, to `note`. */
static int each_id(struct bats_view *v, const char *sql,
                   void (*note)(struct bats_totals_task *t, int64_t value),
                   struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(&v->db, sql, &s, err);
    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(&v->db, s, err)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        if (id >= 1 && id <= v->totals.n)
            note(&v->totals.tasks[id], sqlite3_column_type(s, 1) == SQLITE_NULL
                                           ? -1
                                           : sqlite3_column_int64(s, 1));
    }
    sqlite3_finalize(s);
    return rc;
}

static void note_known(struct bats_totals_task *t, int64_t number)
{
    t->is_known = true;
    t->host = -1;
    t->number = (uint32_t)number;
}

static void note_place(struct bats_totals_task *t, int64_t number)
{
    t->is_removed = number < 0;
    if (number >= 0)
        t->number = (uint32_t)number;
}

static void note_fresh(struct bats_totals_task *t, int64_t unused)
{
    (void)unused;
    t->is_fresh = true;
}

/* Ranges of indexes in the bag, mostly none. */
static const char fresh_sql[] =
    "SELECT t.id, 0 FROM (SELECT key, value AS first,"
    "    lead(value) OVER (ORDER BY key) AS last"
    "    FROM json_each((SELECT json_extract(options, '$.engine.fresh')"
    "      FROM main.session ORDER BY id DESC LIMIT 1))) f"
    "  CROSS JOIN rec.task t LEFT JOIN (SELECT task, number, max(session)"
    "    FROM main.place GROUP BY task) p ON p.task = t.id"
    "  WHERE f.key % 2 = 0 AND"
    "    coalesce(p.number, t.number) - 1 BETWEEN f.first AND f.last";

static int prepare(struct bats_view *v, struct bats_error *err)
{
    struct bats_totals *t = &v->totals;
    bats_totals_release(t);
    t->free = -1;
    int rc = bats_db_integer(
        &v->db, "SELECT coalesce(max(id), 0) FROM rec.task", &t->n, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db, "SELECT max(id) FROM main.session",
                             &t->session, err);
    if (rc == 0)
        rc = bats_db_integer(
            &v->db,
            "SELECT coalesce(max(id) + 1, 0) FROM main.machine WHERE session "
            "= (SELECT max(id) FROM main.session)",
            &t->n_machines, err);
    if (rc == 0 &&
        (t->n < 0 || t->n > MOST || t->n_machines < 0 || t->n_machines > MOST))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: a number is too large; 'bats-mpi "
                            "record recover' saves what is readable",
                            v->path);
    if (rc < 0)
        return rc;
    t->tasks = calloc((size_t)t->n + 1, sizeof *t->tasks);
    t->first = malloc(BATS_TOTALS_CHAINS * sizeof *t->first);
    t->lost = calloc((size_t)t->n_machines + 1, sizeof *t->lost);
    t->ended = calloc((size_t)t->n_machines + 1, sizeof *t->ended);
    t->host_at = malloc(((size_t)t->n_machines + 1) * sizeof *t->host_at);
    if (t->tasks == NULL || t->first == NULL || t->lost == NULL ||
        t->ended == NULL || t->host_at == NULL)
        return no_memory(err);
    memset(t->first, -1, BATS_TOTALS_CHAINS * sizeof *t->first);
    memset(t->host_at, -1, ((size_t)t->n_machines + 1) * sizeof *t->host_at);
    rc = each_id(v, "SELECT id, number FROM rec.task", note_known, err);
    if (rc == 0)
        rc = each_id(v, fresh_sql, note_fresh, err);
    return rc == 0 ? each_id(v,
                             "SELECT task, number, max(session) FROM"
                             " main.place GROUP BY task",
                             note_place, err)
                   : rc;
}

/* The command that began it. */
static int take_open(struct bats_view *v, const struct bats_totals_open *o,
                     struct bats_error *err)
{
    struct bats_scan_row row = {.kind = BATS_SCAN_COMMAND,
                                .session = v->totals.session};
    for (int i = 0; i < BATS_SCAN_COLUMNS; i++)
        row.number[i] = BATS_SCAN_NULL;
    row.number[BATS_SCAN_SEQ] = o->seq;
    row.number[BATS_SCAN_TIME] = o->since;
    row.text[BATS_SCAN_TYPE] = o->is_replica
                                   ? (struct bats_scan_text){"copy", 4}
                                   : (struct bats_scan_text){"run", 3};
    row.number[BATS_SCAN_MACHINE] = o->machine;
    row.number[BATS_SCAN_SLOT] = o->slot;
    row.number[BATS_SCAN_TASK] = o->task;
    int rc = bats_part_row(v, &row, err);
    return rc == 0 ? bats_part_task(v, o->task, err) : rc;
}

/* As the view `running` has it. */
static int take_running(struct bats_view *v, struct bats_error *err)
{
    struct bats_totals *t = &v->totals;
    int64_t is_over;
    int rc = bats_db_integer(&v->db,
                             "SELECT ended_us IS NOT NULL FROM main.session "
                             "ORDER BY id DESC LIMIT 1",
                             &is_over, err);
    for (size_t i = 0; rc == 0 && i < t->n_open && !is_over; i++) {
        struct bats_totals_open *o = &t->open[i];
        struct bats_totals_task *task = &t->tasks[o->is_used ? o->task : 0];
        bool is_lost = o->is_used && o->machine >= 0 &&
                       o->machine < t->n_machines &&
                       t->lost[o->machine] > o->seq;
        if (!o->is_used || is_lost || !task->is_known ||
            (task->result > 0 && task->session == t->session))
            continue;
        task->runs = o->is_running = true;
        rc = take_open(v, o, err);
    }
    return rc;
}

static int take_ended(struct bats_view *v, struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &v->db, "INSERT OR REPLACE INTO main.ended VALUES (?, ?)", &s, err);
    if (rc < 0)
        return rc;
    for (int64_t i = 0; rc == 0 && i < v->totals.n_machines; i++) {
        sqlite3_bind_int64(s, 1, i);
        sqlite3_bind_int64(s, 2, v->totals.ended[i]);
        rc = v->totals.ended[i] > 0 ? bats_db_step(&v->db, s, err) : 0;
    }
    sqlite3_finalize(s);
    return rc;
}

/* Those that had the number when they were removed, too. */
static int want_number(struct bats_view *v, int64_t number,
                       struct bats_error *err)
{
    struct bats_totals *t = &v->totals;
    int rc = 0;
    for (int64_t id = 1; rc == 0 && id <= t->n && number > 0; id++)
        if (t->tasks[id].is_known && t->tasks[id].number == number) {
            t->tasks[id].is_taken = true;
            rc = bats_part_task(v, id, err);
        }
    return rc;
}

/* Rows that have changed since the view was opened are taken anew, too. */
static int look(struct bats_view *v, void *context, struct bats_error *err)
{
    struct look l = {v, &v->totals, *(const int64_t *)context};
    int64_t last;
    int rc = v->is_live && v->has_base ? bats_part_base(v, NULL, err) : 0;
    if (rc == 0)
        rc = prepare(v, err);
    if (rc == 0)
        rc = want_number(v, l.number, err);
    if (rc == 0)
        rc = bats_scan(&v->db, 0, 0, &last, hear, &l, err);
    if (rc == 0)
        rc = take_running(v, err);
    return rc == 0 ? take_ended(v, err) : rc;
}

int bats_totals_look_at(struct bats_view *v, int64_t number,
                        struct bats_error *err)
{
    int rc = bats_part_take(v, look, &number, err);
    v->has_totals = rc == 0;
    return rc;
}

int bats_totals_look(struct bats_view *v, struct bats_error *err)
{
    return v->has_totals ? 0 : bats_totals_look_at(v, 0, err);
}

void bats_totals_release(struct bats_totals *t)
{
    free(t->tasks);
    free(t->first);
    free(t->open);
    free(t->lost);
    free(t->ended);
    for (size_t i = 0; i < t->n_hosts; i++)
        free(t->hosts[i]);
    free(t->hosts);
    free(t->host_at);
    *t = (struct bats_totals){0};
}
