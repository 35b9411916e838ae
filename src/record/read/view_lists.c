/* view_lists: tasks, log and machines of a record, one item at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "record/read/select.h"
#include "record/read/tasks.h"

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

static bool is_wanted(const struct bats_totals_task *t, const char *state,
                      int64_t number, bool is_removed, bool is_slowest)
{
    enum bats_totals_state is = bats_totals_state(t);
    if ((number != 0 && t->number != number) || (is_slowest && t->result == 0))
        return false;
    return state != NULL ? strcmp(bats_totals_words[is], state) == 0
                         : (is == BATS_TOTALS_REMOVED) == is_removed;
}

/* Leaves those in the list that are wanted. Without a state these are those in
 * the bag, or if none of them has the number, those that had it. */
static void pick(struct bats_tasks *list, const char *state, int64_t number,
                 bool is_slowest)
{
    const struct bats_totals_task *tasks = list->view->totals.tasks;
    bool is_removed = number != 0;
    size_t n = 0;
    for (size_t i = 0; i < list->n && number != 0; i++)
        is_removed &= tasks[list->ids[i]].is_removed ||
                      tasks[list->ids[i]].number != number;
    for (size_t i = 0; i < list->n; i++)
        if (is_wanted(&tasks[list->ids[i]], state, number, is_removed,
                      is_slowest))
            list->ids[n++] = list->ids[i];
    list->n = n;
}

struct place {
    int64_t id, number, wall_us;
};

static int by_number(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_wall(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->wall_us != b->wall_us)
        return a->wall_us > b->wall_us ? -1 : 1;
    return by_number(left, right);
}

/* Numbers are in the order of ids unless the bag was edited. */
static int sort(struct bats_tasks *list, bool is_slowest,
                struct bats_error *err)
{
    const struct bats_totals_task *tasks = list->view->totals.tasks;
    bool is_sorted = !is_slowest;
    for (size_t i = 1; i < list->n && is_sorted; i++)
        is_sorted =
            tasks[list->ids[i - 1]].number <= tasks[list->ids[i]].number;
    if (is_sorted)
        return 0;
    struct place *places = malloc((list->n + 1) * sizeof *places);
    if (places == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (size_t i = 0; i < list->n; i++) {
        const struct bats_totals_task *t = &tasks[list->ids[i]];
        places[i] = (struct place){list->ids[i], t->number, t->wall_us};
    }
    qsort(places, list->n, sizeof *places, is_slowest ? by_wall : by_number);
    for (size_t i = 0; i < list->n; i++)
        list->ids[i] = places[i].id;
    free(places);
    return 0;
}

int bats_view_tasks(struct bats_view *v, const char *state, int64_t number,
                    const char *where, enum bats_view_order order,
                    int64_t limit, struct bats_error *err)
{
    struct bats_tasks *list = &v->tasks;
    bool is_slowest = order == BATS_VIEW_SLOWEST;
    bats_time now;
    int rc = bats_part_need_base(v, err);

    bats_tasks_release(list);
    if (rc == 0)
        rc = number != 0 ? bats_totals_look_at(v, number, err)
                         : bats_totals_look(v, err);
    if (rc == 0)
        rc = bats_view_now(v, &now, err);
    if (rc == 0)
        rc = bats_tasks_make(list, v, now, err);
    if (rc == 0 && where != NULL)
        rc = bats_tasks_filter(list, where, err);
    if (rc < 0)
        return rc;
    list->has_more = number != 0;
    pick(list, state, number, is_slowest);
    rc = sort(list, is_slowest, err);
    if (limit > 0 && (size_t)limit < list->n)
        list->n = (size_t)limit;
    return rc == 0 ? bats_tasks_read(list, err) : rc;
}

int bats_view_next_task(struct bats_view *v, struct bats_view_task *task,
                        struct bats_error *err)
{
    return bats_tasks_next(&v->tasks, task, err);
}

/* ---- the log ---- */

#define AMOUNT(column)                                                        \
    "rtrim(rtrim(printf('%.6f', " column " / 1e6), '0'), '.')"

#define CHARGED                                                               \
    AMOUNT("amount")                                                          \
    " || CASE WHEN cushion > 0 THEN ', ' || " AMOUNT(                         \
        "cushion") " || ' of it from the cushion' ELSE '' END"

/* "3h55m" */
#define MOMENT(column)                                                        \
    "CASE WHEN " column " >= 3600000000 THEN printf('%dh%dm', " column       \
    " / 3600000000, " column " / 60000000 % 60) WHEN " column               \
    " >= 60000000 THEN printf('%dm%ds', " column " / 60000000, " column     \
    " / 1000000 % 60) ELSE printf('%ds', " column " / 1000000) END"

#define SHARED                                                                \
    AMOUNT("why")                                                             \
    " || ' by workflow ' || (SELECT name FROM w"                              \
    "  WHERE id = session AND w.copy = command.copy)"

/* Those that no other one replaces before anything is carried out. */
#define DECISIONS                                                             \
    "(SELECT * FROM (SELECT *, coalesce(tasks_open, tasks_left) AS n,"       \
    "  lead(replaces) OVER (PARTITION BY session ORDER BY seq) AS is_gone"   \
    "  FROM decision) WHERE is_gone IS NOT 1)"

static const char log_sql[] =
    "WITH w AS MATERIALIZED (SELECT s.id, j.key + 1 AS copy,"
    "  json_extract(j.value, '$.name') AS name FROM session s,"
    "  json_each(s.options, '$.engine.workflows') j)"
    "SELECT l.session, l.time, l.what, m.name, b.number, l.text, b.removed,"
    "  l.exit_status, l.signal FROM ("
    " SELECT seq, session, time_us AS time, type AS what, machine,"
    "  NULL AS task, '' AS text, 0 AS exit_status, 0 AS signal FROM event"
    "  WHERE type IN ('joined', 'lost', 'drain', 'stop')"
    " UNION ALL SELECT seq, session, time_us, type, machine, task,"
    "  CASE type WHEN 'finished' THEN (SELECT finish FROM session"
    "   WHERE id = session) WHEN 'share' THEN " SHARED
    "  WHEN 'skip' THEN why END, 0, 0 FROM command"
    " UNION ALL SELECT seq, session, time_us, CASE WHEN outcome = 1"
    "  THEN 'preempted' WHEN outcome = 3 THEN 'superseded'"
    "  WHEN outcome = 4 THEN 'checkpointed'"
    "  WHEN exit_status = 0 AND signal = 0 THEN 'done'"
    "  ELSE 'failed' END, machine, task,"
    "  CASE WHEN exit_status = -2 THEN 'too long, '"
    "  WHEN exit_status < 0 THEN 'timed out, '"
    "  WHEN signal THEN printf('signal %d, ', signal)"
    "  WHEN exit_status THEN printf('exit %d, ', exit_status)"
    "  ELSE '' END || printf('%.3f s', wall_us / 1e6), exit_status, signal"
    "  FROM attempt"
    " UNION ALL SELECT seq, session, time_us, 'charged', machine, NULL,"
    " " CHARGED ", 0, 0 FROM ledger"
    " UNION ALL SELECT seq, session, time_us, 'decided', NULL, NULL,"
    "  printf('%s%s: machines that go on %s, for %d window%s; %d task%s left',"
    "  reason, coalesce(' (' || cause || ')', ''),"
    "  machines, windows, iif(windows = 1, '', 's'), n, iif(n = 1, '', 's'))"
    "  || CASE WHEN end_us IS NULL THEN '' ELSE '; to end after ' || "
    MOMENT("end_us") " || ' for ' || " AMOUNT("cost") " END || CASE WHEN feasible THEN ''"
    "  ELSE ', more than the budget can pay' END, 0, 0 FROM " DECISIONS ""
    " UNION ALL SELECT seq, session, time_us, 'notice', machine, task,"
    "  sentence, 0, 0 FROM notice"
    ") l LEFT JOIN machine m ON m.session = l.session AND m.id = l.machine"
    " LEFT JOIN bag b ON b.task = l.task"
    " WHERE (?1 IS NULL OR m.name = ?1) AND (?2 = 0 OR l.task = ?2)"
    " AND l.seq > ?3 AND l.seq <= ?4 ORDER BY l.seq";

static int bind_log(struct bats_view *v, int64_t task, struct bats_error *err)
{
    int rc = restart(v, log_sql, &v->log, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_text(v->log, 1, v->log_machine, -1, SQLITE_STATIC);
    sqlite3_bind_int64(v->log, 2, task);
    sqlite3_bind_int64(v->log, 3, v->log_from);
    sqlite3_bind_int64(v->log, 4, v->log_to);
    return 0;
}

/* The history of everything, or of a machine, by parts. */
static int next_part(struct bats_view *v, struct bats_error *err)
{
    v->log_from = v->log_to;
    int rc = bats_view_take_part(v, PART, v->log_machine, err);
    return rc == 0 ? bind_log(v, 0, err) : rc;
}

static int count_log(struct bats_view *v, int64_t *n, struct bats_error *err)
{
    int rc = bind_log(v, 0, err);
    for (*n = 0; rc == 0 && (rc = bats_db_step(&v->db, v->log, err)) > 0; ++*n)
        rc = 0;
    return rc;
}

/* The last entries, from as little of the history as they are in. */
static int last_part(struct bats_view *v, int64_t last, struct bats_error *err)
{
    int64_t n = 0;
    int rc = 0;
    v->log_is_whole = false;
    for (int64_t groups = PART / 8; rc == 0; groups *= 8) {
        rc = bats_view_take_end(v, groups, v->log_machine, err);
        if (rc == 0)
            rc = count_log(v, &n, err);
        if (n >= last || v->log_from == 0)
            break;
    }
    v->log_is_cut = v->log_from > 0 || n > last;
    if (rc == 0)
        rc = bind_log(v, 0, err);
    for (; rc == 0 && n > last; n--)
        rc = bats_db_step(&v->db, v->log, err) < 0 ? -1 : 0;
    return rc;
}

/* The rows of one task. */
static int log_of_task(struct bats_view *v, int64_t task,
                       struct bats_error *err)
{
    const struct bats_totals *t = &v->totals;
    int rc = v->has_all ? 0 : bats_totals_look(v, err);
    if (rc == 0 && !v->has_all && task >= 1 && task <= t->n &&
        !t->tasks[task].is_taken)
        rc = bats_totals_look_at(v, t->tasks[task].number, err);
    v->log_is_whole = true;
    v->log_to = INT64_MAX;
    return rc == 0 ? bind_log(v, task, err) : rc;
}

int bats_view_log(struct bats_view *v, const char *machine, int64_t task,
                  int64_t last, struct bats_error *err)
{
    free(v->log_machine);
    v->log_machine = machine != NULL ? strdup(machine) : NULL;
    if (machine != NULL && v->log_machine == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    v->log_from = v->log_to = 0;
    v->log_is_whole = v->log_is_cut = false;
    if (task != 0)
        return log_of_task(v, task, err);
    v->has_all = false; /* its rows go */
    return last > 0 ? last_part(v, last, err) : next_part(v, err);
}

bool bats_view_log_is_cut(const struct bats_view *v)
{
    return v->log_is_cut;
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
        .timed_out = sqlite3_column_int(s, 7) < 0,
        .was_killed = sqlite3_column_int(s, 8) != 0,
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
    " shunned AS (SELECT machine, max(seq),"
    "  CASE type WHEN 'quarantine' THEN time_us END AS time_us"
    "  FROM command JOIN s ON session = s.id"
    "  WHERE type IN ('quarantine', 'readmit') GROUP BY machine)"
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
