/* view_lists: tasks, log and machines of a record, one item at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "record/read/part.h"
#include "record/read/select.h"

/* If there are more tasks, the whole record is taken. */
#define MANY 20000
/* Groups of the history in a part of the log. */
#define PART 64

/* Restarts a list with this statement. */
static int restart(struct bats_view *v, const char *sql, sqlite3_stmt **s,
                   struct bats_error *err)
{
    sqlite3_finalize(*s);
    *s = NULL;
    return bats_db_prepare(&v->db, sql, s, err);
}

/* ---- tasks ---- */

#define TASKS                                                                 \
    "SELECT number, state, attempts,"                                         \
    " coalesce(u.elapsed, CAST(round(wall_s * 1e6) AS INTEGER), -1),"         \
    " CAST(round(cpu_s * 1e6) AS INTEGER), max_rss_kib, exit_status, signal," \
    " coalesce(u.host, tasks.host), coalesce(u.cluster, tasks.cluster),"      \
    " command, line,"                                                         \
    " CASE WHEN ?2 THEN coalesce((SELECT time_us FROM (SELECT time_us,"       \
    "   session, outcome, max(seq) FROM attempt WHERE task = tasks.id)"       \
    "  WHERE outcome = 2 AND session = (SELECT max(id) FROM session)), -1)"   \
    " ELSE -1 END, id,"                                                       \
    " CASE WHEN ?2 THEN (SELECT CASE WHEN outcome = 4 AND session ="          \
    "   (SELECT max(id) FROM session) THEN time_us ELSE -1 END FROM"          \
    "   (SELECT time_us, session, outcome, max(seq) FROM attempt"             \
    "    WHERE task = tasks.id)) ELSE -1 END,"                                \
    " CASE WHEN ?2 THEN (SELECT count(*) FROM attempt WHERE task = tasks.id"  \
    "   AND outcome = 4 AND seq > coalesce((SELECT max(seq) FROM attempt a"   \
    "    JOIN session s ON s.id = a.session WHERE task = tasks.id AND"        \
    "    (outcome = 0 OR outcome IN (1, 4) AND wall_us * time_scale >= ?5))," \
    "    0)) ELSE 0 END, tasks.parameters, coalesce(start_us, 0)"             \
    " FROM tasks LEFT JOIN (SELECT task, m.host, c.name AS cluster,"          \
    "   CAST((?4 - min(since_us)) / s.time_scale AS INTEGER) AS elapsed"      \
    "  FROM running r JOIN (SELECT max(id) AS id, time_scale FROM session) s" \
    "  JOIN machine m ON m.session = s.id AND m.id = r.machine"               \
    "  JOIN cluster c ON c.session = s.id AND c.id = m.cluster"               \
    "  GROUP BY task) u ON u.task = id"                                       \
    " WHERE (state = ?1 OR ?1 IS NULL AND (state != 'removed' OR ?2 != 0"     \
    "  AND NOT EXISTS (SELECT 1 FROM bag WHERE number = ?2"                   \
    "   AND NOT removed)))"                                                   \
    " AND (?2 = 0 OR number = ?2)"

/* The newline ends a comment. */
#define WHERE " AND tasks.id IN (SELECT id FROM tasks WHERE "

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

/* Explains what is wrong with the expression by itself: its mistake is no
 * damage of the record. */
static int check_where(struct bats_view *v, const char *where,
                       struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    const char *rest = "";
    char *sql = sqlite3_mprintf("SELECT 1 FROM tasks WHERE (%s\n)", where);
    if (sql == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int bad = sqlite3_prepare_v2(v->db.sqlite, sql, -1, &s, &rest);
    sqlite3_finalize(s);
    int rc = 0;
    if (bad != SQLITE_OK || *rest != '\0') {
        char why[256];
        snprintf(why, sizeof why, "%s",
                 bad != SQLITE_OK ? sqlite3_errmsg(v->db.sqlite)
                                  : "more than one expression");
        char *names = parameters_of(v);
        rc = bats_error_set(err, BATS_EINPUT, "--where '%.100s': %s%s", where,
                            why, names != NULL ? names : "");
        sqlite3_free(names);
    }
    sqlite3_free(sql);
    return rc;
}

/* Those that had the number when they were removed, too. */
static int take_number(struct bats_view *v, void *context,
                       struct bats_error *err)
{
    sqlite3_stmt *s;
    const int64_t *number = context;
    int64_t id = 0;
    int rc = bats_db_prepare(
        &v->db,
        "SELECT t.id FROM rec.task t LEFT JOIN (SELECT task, number,"
        " max(session) FROM main.place GROUP BY task) p ON p.task = t.id"
        " WHERE coalesce(p.number, t.number) = ?1 AND t.id > ?2"
        " ORDER BY t.id LIMIT 1",
        &s, err);
    if (rc < 0)
        return rc;
    for (bool found = true; rc == 0 && found;) {
        sqlite3_bind_int64(s, 1, *number);
        sqlite3_bind_int64(s, 2, id);
        rc = bats_db_step(&v->db, s, err);
        found = rc > 0;
        id = found ? sqlite3_column_int64(s, 0) : 0;
        sqlite3_reset(s);
        if (rc >= 0)
            rc = found ? bats_view_take_rows(v, &id, 1, err) : 0;
    }
    sqlite3_finalize(s);
    return rc;
}

/* Takes what may be in the list. */
static int take_list(struct bats_view *v, const char *state, int64_t number,
                     bool is_filtered, enum bats_view_order order,
                     int64_t limit, struct bats_error *err)
{
    int64_t *ids;
    size_t n;
    if (v->has_all)
        return 0;
    if (number != 0)
        return bats_part_take(v, take_number, &number, err);
    if (is_filtered || (state == NULL && limit == 0))
        return bats_view_unpack(v, err);
    int rc = bats_totals_pick(v, state, order == BATS_VIEW_SLOWEST, limit,
                              &ids, &n, err);
    if (rc == 0)
        rc = n > MANY ? bats_view_unpack(v, err)
                      : bats_view_take_tasks(v, ids, n, err);
    free(ids);
    return rc;
}

int bats_view_tasks(struct bats_view *v, const char *state, int64_t number,
                    const char *where, enum bats_view_order order,
                    int64_t limit, struct bats_error *err)
{
    bats_time now = 0;
    int rc = bats_part_need_base(v, err);

    if (rc == 0 && where != NULL)
        rc = check_where(v, where, err);
    if (rc == 0)
        rc = bats_totals_look(v, err);
    if (rc == 0)
        rc = take_list(v, state, number, where != NULL, order, limit, err);
    if (rc == 0)
        rc = bats_view_now(v, &now, err);
    char *sql = sqlite3_mprintf(
        TASKS "%s%s%s%s", where != NULL ? WHERE : "",
        where != NULL ? where : "", where != NULL ? "\n)" : "",
        order == BATS_VIEW_SLOWEST ? " AND wall_s IS NOT NULL "
                                     "ORDER BY wall_s DESC, number LIMIT ?3"
                                   : " ORDER BY number, id LIMIT ?3");
    if (rc == 0 && sql == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = restart(v, sql, &v->tasks, err);
    sqlite3_free(sql);
    if (rc < 0)
        return rc;
    sqlite3_bind_text(v->tasks, 1, state, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(v->tasks, 2, number);
    sqlite3_bind_int64(v->tasks, 3, limit > 0 ? limit : -1);
    sqlite3_bind_int64(v->tasks, 4, now);
    sqlite3_bind_int64(v->tasks, 5, BATS_YIELD_PROGRESS);
    return 0;
}

int bats_view_next_task(struct bats_view *v, struct bats_view_task *task,
                        struct bats_error *err)
{
    sqlite3_stmt *s = v->tasks;
    int rc = bats_db_step(&v->db, s, err);

    if (rc <= 0)
        return rc;
    *task = (struct bats_view_task){
        .number = sqlite3_column_int64(s, 0),
        .state = bats_view_text(s, 1),
        .attempts = sqlite3_column_int64(s, 2),
        .wall_us = sqlite3_column_int64(s, 3),
        .cpu_us = sqlite3_column_int64(s, 4),
        .max_rss_kib = sqlite3_column_int64(s, 5),
        .exit_status = sqlite3_column_int(s, 6),
        .signal = sqlite3_column_int(s, 7),
        .host = bats_view_text(s, 8),
        .cluster = bats_view_text(s, 9),
        .command = bats_view_text(s, 10),
        .line = sqlite3_column_int64(s, 11),
        .failed = sqlite3_column_int64(s, 12),
        .id = sqlite3_column_int64(s, 13),
        .yielded = sqlite3_column_int64(s, 14),
        .yields = sqlite3_column_int64(s, 15),
        .parameters = bats_view_text(s, 16),
        .start_us = sqlite3_column_int64(s, 17),
    };
    return 1;
}

/* ---- the log ---- */

#define AMOUNT(column)                                                        \
    "rtrim(rtrim(printf('%.6f', " column " / 1e6), '0'), '.')"

#define CHARGED                                                               \
    AMOUNT("amount")                                                          \
    " || CASE WHEN cushion > 0 THEN ', ' || " AMOUNT(                         \
        "cushion") " || ' of it from the cushion' ELSE '' END"

static const char log_sql[] =
    "SELECT l.session, l.time, l.what, m.name, b.number, l.text, b.removed"
    " FROM ("
    " SELECT seq, session, time_us AS time, type AS what, machine,"
    "  NULL AS task, '' AS text FROM event"
    "  WHERE type IN ('joined', 'lost', 'drain', 'stop')"
    " UNION ALL SELECT seq, session, time_us, type, machine, task,"
    "  CASE type WHEN 'finished' THEN (SELECT finish FROM session"
    "   WHERE id = session) END FROM command"
    " UNION ALL SELECT seq, session, time_us, CASE WHEN outcome = 1"
    "  THEN 'preempted' WHEN outcome = 3 THEN 'superseded'"
    "  WHEN outcome = 4 THEN 'checkpointed'"
    "  WHEN exit_status = 0 AND signal = 0 THEN 'done'"
    "  ELSE 'failed' END, machine, task,"
    "  CASE WHEN exit_status < 0 THEN 'timed out, '"
    "  WHEN signal THEN printf('signal %d, ', signal)"
    "  WHEN exit_status THEN printf('exit %d, ', exit_status)"
    "  ELSE '' END || printf('%.3f s', wall_us / 1e6) FROM attempt"
    " UNION ALL SELECT seq, session, time_us, 'charged', machine, NULL,"
    " " CHARGED " FROM ledger"
    " UNION ALL SELECT seq, session, time_us, 'decided', NULL, NULL,"
    "  printf('%s: machines that go on %s, for %d window%s; %d task%s left',"
    "  reason,"
    "  machines, windows, iif(windows = 1, '', 's'), tasks_left,"
    "  iif(tasks_left = 1, '', 's')) || CASE WHEN feasible THEN ''"
    "  ELSE ', more than the budget can pay' END FROM decision"
    " UNION ALL SELECT seq, session, time_us, 'notice', machine, task,"
    "  sentence FROM notice"
    ") l LEFT JOIN machine m ON m.session = l.session AND m.id = l.machine"
    " LEFT JOIN bag b ON b.task = l.task"
    " WHERE (?1 IS NULL OR m.name = ?1) AND (?2 = 0 OR l.task = ?2)"
    " AND l.seq > ?3 AND l.seq <= ?4 ORDER BY l.seq";

static int bind_log(struct bats_view *v, const char *machine, int64_t task,
                    struct bats_error *err)
{
    int rc = restart(v, log_sql, &v->log, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_text(v->log, 1, machine, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(v->log, 2, task);
    sqlite3_bind_int64(v->log, 3, v->log_from);
    sqlite3_bind_int64(v->log, 4, v->log_to);
    return 0;
}

/* The history of everything, by parts. */
static int next_part(struct bats_view *v, struct bats_error *err)
{
    v->log_from = v->log_to;
    int rc = bats_view_take_part(v, PART, err);
    return rc == 0 ? bind_log(v, NULL, 0, err) : rc;
}

int bats_view_log(struct bats_view *v, const char *machine, int64_t task,
                  struct bats_error *err)
{
    int rc = 0;

    v->log_from = v->log_to = 0;
    v->log_is_whole = false;
    if (machine == NULL && task == 0 && !v->has_all)
        return next_part(v, err);
    if (!v->has_all)
        rc = machine != NULL ? bats_view_take_machine(v, machine, err)
                             : bats_view_take_tasks(v, &task, 1, err);
    v->log_to = INT64_MAX;
    v->log_is_whole = true;
    return rc == 0 ? bind_log(v, machine, task, err) : rc;
}

int bats_view_next_entry(struct bats_view *v, struct bats_view_entry *entry,
                         struct bats_error *err)
{
    int rc = bats_db_step(&v->db, v->log, err);

    while (rc == 0 && !v->log_is_whole) {
        rc = next_part(v, err);
        if (rc == 0)
            rc = bats_db_step(&v->db, v->log, err);
    }
    if (rc <= 0)
        return rc;
    sqlite3_stmt *s = v->log;
    *entry = (struct bats_view_entry){
        .session = sqlite3_column_int64(s, 0),
        .time = sqlite3_column_int64(s, 1),
        .what = bats_view_text(s, 2),
        .machine = bats_view_text(s, 3),
        .task = sqlite3_column_int64(s, 4),
        .text = bats_view_text(s, 5),
        .removed = sqlite3_column_int(s, 6) != 0,
    };
    return 1;
}

/* ---- machines ---- */

/* With max(), SQLite takes the other columns from the same row. */
static const char machines_sql[] =
    "WITH s AS (SELECT max(id) AS id FROM session),"
    " last AS (SELECT machine, max(seq), type, time_us FROM ("
    "  SELECT machine, seq, type, time_us FROM command JOIN s"
    "   ON session = s.id WHERE type IN ('acquire', 'park', 'release')"
    "  UNION ALL SELECT machine, seq, type, time_us FROM event JOIN s"
    "   ON session = s.id WHERE type = 'lost') GROUP BY machine),"
    " paid AS (SELECT machine, count(*) AS n, sum(amount) AS amount,"
    "  max(time_us) AS began FROM ledger JOIN s ON session = s.id"
    "  GROUP BY machine),"
    " busy AS (SELECT machine, min(number) AS number FROM running"
    "  JOIN bag ON bag.task = running.task GROUP BY machine),"
    " said AS (SELECT machine, max(seq), sentence FROM notice JOIN s"
    "  ON session = s.id WHERE machine IS NOT NULL GROUP BY machine),"
    " shunned AS (SELECT machine, time_us FROM command JOIN s"
    "  ON session = s.id WHERE type = 'quarantine')"
    "SELECT m.name, m.host, c.name, c.charge, last.type, last.time_us,"
    " paid.n, coalesce(paid.began, -1), paid.amount, ended.n, busy.number,"
    " said.sentence, coalesce(shunned.time_us, -1), m.slots"
    " FROM machine m JOIN s ON m.session = s.id"
    " JOIN cluster c ON c.session = s.id AND c.id = m.cluster"
    " LEFT JOIN last ON last.machine = m.id"
    " LEFT JOIN paid ON paid.machine = m.id"
    " LEFT JOIN ended ON ended.machine = m.id"
    " LEFT JOIN busy ON busy.machine = m.id"
    " LEFT JOIN said ON said.machine = m.id"
    " LEFT JOIN shunned ON shunned.machine = m.id ORDER BY m.cluster, m.id";

int bats_view_machines(struct bats_view *v, struct bats_error *err)
{
    int rc = bats_totals_look(v, err);

    return rc == 0 ? restart(v, machines_sql, &v->machines, err) : rc;
}

static enum bats_view_machine_state state_of(const char *type)
{
    static const struct {
        const char *type;
        enum bats_view_machine_state state;
    } states[] = {
        {"acquire", BATS_VIEW_HELD},
        {"park", BATS_VIEW_PARKED},
        {"release", BATS_VIEW_RELEASED},
        {"lost", BATS_VIEW_LOST},
    };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].type, type) == 0)
            return states[i].state;
    return BATS_VIEW_NEVER;
}

int bats_view_next_machine(struct bats_view *v,
                           struct bats_view_machine *machine,
                           struct bats_error *err)
{
    sqlite3_stmt *s = v->machines;
    int rc = bats_db_step(&v->db, s, err);

    if (rc <= 0)
        return rc;
    *machine = (struct bats_view_machine){
        .name = bats_view_text(s, 0),
        .host = bats_view_text(s, 1),
        .cluster = bats_view_text(s, 2),
        .charge = sqlite3_column_int64(s, 3),
        .state = state_of(bats_view_text(s, 4)),
        .since = sqlite3_column_int64(s, 5),
        .windows = sqlite3_column_int64(s, 6),
        .window_began = sqlite3_column_int64(s, 7),
        .charged = sqlite3_column_int64(s, 8),
        .ended = sqlite3_column_int64(s, 9),
        .running = sqlite3_column_int64(s, 10),
        .why = bats_view_text(s, 11),
        .shunned = sqlite3_column_int64(s, 12),
        .slots = sqlite3_column_int64(s, 13),
    };
    return 1;
}
