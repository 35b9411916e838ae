#include "record/read/axis.h"

#include <inttypes.h>
#include <stdlib.h>

#include "record/read/part.h"
#include "record/write/record.h"

/* The start of each session on the axis, and the machines shared by several
 * sessions: those with the same name and cluster name, with the first one's
 * slots. */
static const char axis_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS axis (session INTEGER PRIMARY KEY, begin,"
    "  scale, length);"
    "CREATE TEMP TABLE IF NOT EXISTS seat (session, machine, first, slots,"
    "  place, PRIMARY KEY (session, machine)) WITHOUT ROWID;"
    "DELETE FROM temp.axis; DELETE FROM temp.seat;"
    "INSERT INTO temp.axis SELECT id, sum(length) OVER (ORDER BY id) - length,"
    "  scale, length FROM (SELECT id, iif(time_scale > 0, time_scale, 1) AS"
    "   scale, max(0, coalesce(ended_us, 0), coalesce(last_us,"
    "    (SELECT time_us FROM now), 0)) AS length FROM session);"
    "INSERT OR IGNORE INTO temp.seat SELECT m.session, m.id,"
    "  min(m.session << 32 | m.id) OVER same,"
    "  first_value(iif(slots BETWEEN 1 AND 4294967294, slots, 1))"
    "   OVER (same ORDER BY m.session, m.id), 0"
    "  FROM machine m JOIN cluster c ON c.session = m.session"
    "   AND c.id = m.cluster WINDOW same AS (PARTITION BY c.name, m.name);"
    "UPDATE temp.seat SET place = p.place FROM (SELECT session, machine,"
    "  dense_rank() OVER (ORDER BY first) - 1 AS place FROM temp.seat) p"
    "  WHERE p.session = seat.session AND p.machine = seat.machine;";

/* ---- executions ---- */

static const char executions_sql[] =
    "SELECT coalesce(e.given_us, e.ended_us) + begin, e.ended_us + begin,"
    " task.number, c.name, e.outcome,"
    " coalesce(exit_status, 0) != 0 OR coalesce(signal, 0) != 0,"
    " exit_status BETWEEN -3 AND -1, signal != 0 FROM execution e"
    " JOIN axis USING (session) JOIN seat t ON t.session = e.session"
    "  AND t.machine = e.machine JOIN task ON task.id = e.task"
    " JOIN machine m ON m.session = e.session AND m.id = e.machine"
    " JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
    " WHERE outcome NOT NULL AND e.slot BETWEEN 0 AND t.slots - 1"
    " ORDER BY outcome = 6, e.seq";
_Static_assert(BATS_RECORD_LOST == 6, "executions_sql says so");

static int list_executions(struct bats_view *v, void *context,
                           struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_axis_execution, member)
    static const struct bats_db_column columns[] = {
        C(given),  C(ended),     C(task),       C(cluster), C(outcome),
        C(failed), C(timed_out), C(was_killed), {0}};
#undef C
    struct bats_axis_executions *x = context;
    free(x->list); /* of an earlier try */
    x->list = NULL;
    int rc = bats_db_run(&v->db, axis_sql, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db, "SELECT sum(length) FROM axis", &x->end,
                             err);
    return rc < 0 ? rc
                  : bats_db_list(&v->db, executions_sql, columns,
                                 sizeof *x->list, &x->list, &x->n, NULL, err);
}

int bats_axis_executions(struct bats_view *view,
                         struct bats_axis_executions *executions,
                         struct bats_error *err)
{
    *executions = (struct bats_axis_executions){0};
    return bats_part_take(view, list_executions, executions, err);
}

/* ---- what a page draws ---- */

/* Where the cost of a machine is charged by windows, and where not; where
 * leases end with their time; where tasks depend on others. */
enum when { ALWAYS, WINDOWS, NO_WINDOWS, LEASES, GRAPH };

/* Up to so many tasks, all are in the page; else the slowest and the first
 * failed ones. */
#define TASKS "2000"

#define CHARGES                                                               \
    "SELECT json_array(min(time_us + begin), coalesce(t.place, -1),"          \
    "  sum(amount) / 1e6)"                                                    \
    " FROM charge c JOIN axis USING (session) LEFT JOIN seat t"               \
    "  ON t.session = c.session AND t.machine = c.machine"                    \
    " WHERE account = 0 GROUP BY "

/* Queries that each yield one column of JSON. */
static const struct part {
    enum when when;
    const char *name, *sql;
} parts[] = {
    {ALWAYS, "session",
     "SELECT json_object('end_us', (SELECT sum(length) FROM axis),"
     " 'window_us', window_us, 'pace', time_scale, 'sampled_us', (SELECT time_us + begin"
     "  FROM happened JOIN axis USING (session) WHERE what = 'sampled'"
     "  ORDER BY seq DESC LIMIT 1),"
     " 'started_s', (SELECT min(started_us) FROM session) / 1e6,"
     " 'ended_s', (started_us + coalesce(ended_us, (SELECT time_us FROM now))"
     "  / iif(time_scale > 0, time_scale, 1)) / 1e6)"
     " FROM session ORDER BY id DESC LIMIT 1"},
    {ALWAYS, "places", /* machines, with the charge of the last session */
     "SELECT json_array(m.name, c.name, t.slots, (SELECT charge FROM cluster"
     "  WHERE name = c.name ORDER BY session DESC LIMIT 1) / 1e6)"
     " FROM seat t JOIN machine m ON m.session = t.session"
     "  AND m.id = t.machine JOIN cluster c ON c.session = m.session"
     "  AND c.id = m.cluster GROUP BY t.place ORDER BY t.place"},
    {ALWAYS, "decisions",
     "SELECT json_array((time_us + begin) / 1e6, reason ||"
     " coalesce(' (' || cause || ')', '') || iif(feasible, '',"
     "  ' (more than the budget can pay)'),"
     " coalesce((SELECT group_concat(c.name || ' ' || j.value, ', ')"
     "  FROM json_each(d.machines) j JOIN cluster c ON c.session = d.session"
     "   AND c.id = j.key WHERE j.value > 0), 'no machines'), windows,"
     " coalesce(tasks_open, tasks_left), budget_left / 1e6,"
     " iif(end_us > 0, (end_us + begin) / 1e6, NULL),"
     " iif(end_us > 0, cost / 1e6, NULL))"
     " FROM (SELECT *, lead(replaces) OVER (PARTITION BY session ORDER BY seq)"
     "  AS is_gone, count(*) OVER (ORDER BY seq DESC) AS n FROM decision) d"
     " JOIN axis USING (session) WHERE is_gone IS NOT 1 AND n <= 4000"
     " ORDER BY seq"},
    {ALWAYS, "tasks",
     "SELECT json_array(number, state, attempts, exit_status, signal, wall_s,"
     " max_rss_kib, host, command,"
     " iif(json_valid(parameters), json(parameters), NULL))"
     " FROM tasks WHERE ((SELECT count(*) FROM task_now) <= " TASKS
     "  OR id IN (SELECT task FROM task_now WHERE removed IS NOT 1"
     "   AND wall_us NOT NULL ORDER BY wall_us DESC, number LIMIT 20)"
     "  OR id IN (SELECT task FROM task_now WHERE removed IS NOT 1"
     "   AND state = 2 ORDER BY number LIMIT 50)) AND state != 'removed'"
     " ORDER BY number"},
    {ALWAYS, "values", /* of the parameters of a sweep */
     "WITH v AS (SELECT j.key AS name, iif(j.type = 'text', j.value,"
     "    p.parameters -> j.fullkey) AS value, count(*) AS n,"
     "    count(*) FILTER (WHERE state = 2) AS failed,"
     "    count(done) AS n_done, total(done) AS wall, max(done) AS longest,"
     "    total(cost) FILTER (WHERE state = 1) AS cost,"
     "    max(max_rss_kib) FILTER (WHERE state = 1) AS rss"
     "  FROM (SELECT *, iif(state = 1, wall_us, NULL) AS done FROM task_now) n"
     "    JOIN point p ON p.task = n.task, json_each(p.parameters) j"
     "  WHERE NOT removed GROUP BY 1, 2 ORDER BY min(number) LIMIT 200)"
     "SELECT json_array(name, value, n, failed, wall / n_done / 1e6,"
     "  longest / 1e6, iif(n_done, wall / 1e6, NULL), cost / n_done / 1e6,"
     "  iif(n_done, cost / 1e6, NULL), rss)"
     " FROM v ORDER BY name, value GLOB '*[^-+.0-9eE]*', CAST(value AS REAL),"
     "    value"},
    {WINDOWS, "charges", CHARGES "seq ORDER BY seq"},
    {NO_WINDOWS, "charges",
     CHARGES
     "(time_us + begin) * 2000 / (SELECT max(1, sum(length)) FROM axis)"},
    {LEASES, "leases",
     "SELECT json_array(t.place, l.begun_us + begin,"
     "  coalesce(l.ended_us, length) + begin)"
     " FROM lease l JOIN axis USING (session) JOIN seat t"
     "  ON t.session = l.session AND t.machine = l.machine"
     " WHERE l.begun_us < coalesce(l.ended_us, length) ORDER BY l.id"},
    {GRAPH, "children",
     "SELECT json_array(node, json(children)) FROM graph"
     " WHERE session = (SELECT max(id) FROM session) ORDER BY node"},
    {GRAPH, "states", /* they say more than the executions of a task */
     "SELECT json_array(number, state) FROM tasks"
     " WHERE state IN ('running', 'skipped')"
     "  OR state = 'pending' AND attempts > 0"},
    {GRAPH, "programs", /* where no kinds of tasks are recorded */
     "SELECT json_array(number, substr(command, 1, 80)) FROM tasks"
     " WHERE state != 'removed' AND (SELECT json_valid(options)"
     "   AND json_type(options, '$.categories') IS NULL"
     "  FROM session ORDER BY id DESC LIMIT 1)"},
};

/* Ended executions, in the order in which the master heard of it: place, slot,
 * end, length, kind, task, memory. Kinds: 0 done, 1 stopped by bats-mpi,
 * 2 failed and run again, 3 superseded by a replica, 4 checkpointed, 5 failed
 * beside a replica, 6 failed. */
static const char spans_sql[] =
    "SELECT t.place, e.slot, e.ended_us + begin,"
    " e.ended_us - CAST(max(e.ended_us - coalesce(e.wall_us, 0) * scale, 0)"
    "  AS INTEGER), iif(outcome = 0 AND (coalesce(exit_status, 0) != 0"
    "  OR coalesce(signal, 0) != 0), 6, outcome), task.number, e.max_rss_kib"
    " FROM execution e JOIN axis USING (session) JOIN seat t"
    "  ON t.session = e.session AND t.machine = e.machine"
    " JOIN task ON task.id = e.task"
    " WHERE outcome BETWEEN 0 AND 5 AND e.slot BETWEEN 0 AND t.slots - 1"
    " ORDER BY e.seq";

struct writing {
    FILE *file; /* in memory, as it may be written several times */
    char *bytes;
    size_t n;
    const char *separator;
    struct bats_lease_terms terms;
    int64_t tick, last; /* microseconds */
};

/* Without '<', no text of a user ends the script that has the JSON. */
static int take_row(void *context, sqlite3_stmt *row, struct bats_error *err)
{
    struct writing *w = context;
    (void)err;
    fputs(w->separator, w->file);
    for (const char *at = bats_view_text(row, 0); *at != '\0'; at++)
        if (*at == '<')
            fputs("\\u003c", w->file);
        else
            putc(*at, w->file);
    w->separator = ",\n";
    return 0;
}

static int write_part(struct bats_view *v, struct writing *w,
                      const struct part *part, struct bats_error *err)
{
    fprintf(w->file, ",\n\"%s\":[", part->name);
    w->separator = "";
    int rc = bats_db_each(&v->db, part->sql, take_row, w, err, NULL, 0);
    putc(']', w->file);
    return rc;
}

/* Five bits a digit, the low ones first; all but the last are marked. */
static void put(FILE *out, uint64_t value)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; value >= 32; value >>= 5)
        putc(digits[32 | (value & 31)], out);
    putc(digits[value], out);
}

static uint64_t whole(sqlite3_stmt *row, int column)
{
    int64_t n = sqlite3_column_int64(row, column);
    return n > 0 ? (uint64_t)n : 0;
}

static int take_span(void *context, sqlite3_stmt *row, struct bats_error *err)
{
    struct writing *w = context;
    int64_t end = (int64_t)whole(row, 2) / w->tick, since = end - w->last;
    (void)err;
    w->last = end;
    put(w->file, whole(row, 0));
    put(w->file, whole(row, 1));
    put(w->file, (uint64_t)(since < 0 ? -2 * since - 1 : 2 * since));
    put(w->file, whole(row, 3) / (uint64_t)w->tick * 8 + whole(row, 4));
    put(w->file, whole(row, 5));
    put(w->file, whole(row, 6));
    return 0;
}

/* Long runs have longer ticks. */
static int write_spans(struct bats_view *v, struct writing *w,
                       struct bats_error *err)
{
    int rc = bats_db_integer(&v->db,
                             "SELECT max(1, sum(length) / (SELECT CASE WHEN"
                             " count(*) > 20000 THEN 1 << 24 ELSE 1 << 32 END"
                             " FROM execution)) FROM axis",
                             &w->tick, err);
    w->last = 0;
    fprintf(w->file, ",\n\"tick_us\":%" PRId64 ",\n\"spans\":\"", w->tick);
    if (rc == 0)
        rc = bats_db_each(&v->db, spans_sql, take_span, w, err, NULL, 0);
    putc('"', w->file);
    return rc;
}

/* Closes the text, and drops it. */
static void drop(struct writing *w)
{
    if (w->file != NULL)
        fclose(w->file);
    free(w->bytes);
    w->file = NULL;
    w->bytes = NULL;
}

static int write_all(struct bats_view *v, void *context,
                     struct bats_error *err)
{
    struct writing *w = context;
    int64_t has_graph = 0;
    drop(w); /* of an earlier try */
    w->file = open_memstream(&w->bytes, &w->n);
    if (w->file == NULL)
        return bats_no_memory(err);
    int rc = bats_db_run(&v->db, axis_sql, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db,
                             "SELECT count(*) FROM rec.sqlite_schema"
                             " WHERE name = 'graph'",
                             &has_graph, err);
    const bool is_so[] = {[ALWAYS] = true,
                          [WINDOWS] = w->terms.in_windows,
                          [NO_WINDOWS] = !w->terms.in_windows,
                          [LEASES] = w->terms.returns,
                          [GRAPH] = has_graph > 0};
    for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++)
        if (is_so[parts[i].when])
            rc = write_part(v, w, &parts[i], err);
    if (rc == 0)
        rc = write_spans(v, w, err);
    return rc == 0 && (fflush(w->file) != 0 || ferror(w->file))
               ? bats_no_memory(err)
               : rc;
}

int bats_axis_write(struct bats_view *view, struct bats_lease_terms terms,
                    FILE *out, struct bats_error *err)
{
    struct writing w = {.terms = terms};
    int rc = bats_part_take(view, write_all, &w, err);
    if (rc == 0)
        fwrite(w.bytes, 1, w.n, out);
    drop(&w);
    return rc;
}
