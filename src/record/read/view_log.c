/* view_log: the log of a record in chronological order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "record/write/record.h"

#define AMOUNT(column)                                                        \
    "rtrim(rtrim(printf('%.6f', " column " / 1e6), '0'), '.')"

#define CHARGED                                                               \
    AMOUNT("amount")                                                          \
    " || CASE WHEN account > 0 THEN ' by workflow ' || (SELECT name FROM"     \
    "  account a WHERE a.session = charge.session AND a.id = account)"        \
    " WHEN cushion > 0 THEN ', ' || " AMOUNT(                                 \
        "cushion") " || ' of it from the cushion' ELSE '' END"

/* "3h55m" */
#define MOMENT(column)                                                        \
    "CASE WHEN " column " >= 3600000000 THEN printf('%dh%dm', " column        \
    " / 3600000000, " column " / 60000000 % 60) WHEN " column                 \
    " >= 60000000 THEN printf('%dm%ds', " column " / 60000000, " column       \
    " / 1000000 % 60) ELSE printf('%ds', " column " / 1000000) END"

/* Decisions without those replaced before anything was carried out. */
#define DECISIONS                                                             \
    "(SELECT * FROM (SELECT *, coalesce(tasks_open, tasks_left) AS n,"        \
    "  lead(replaces) OVER (PARTITION BY session ORDER BY seq) AS is_gone"    \
    "  FROM decision) WHERE is_gone IS NOT 1)"

#define START "given_us, iif(copy > 0, 'copy', 'run'), machine, task, ''"

/* Rows with seq > ?3. Executions begun after ?3 also ended after it. */
static const char fill_sql[] =
    "INSERT INTO temp.log SELECT l.seq, l.session, l.time, l.what, m.name,"
    "  t.number, l.text, CASE WHEN (SELECT removed FROM now) > 0 THEN"
    "  l.task IN (SELECT task FROM task_now WHERE removed) ELSE 0 END"
    "  FROM ("
    " SELECT seq, session, time_us AS time, what, machine, task,"
    "  coalesce(sentence, '') AS text"
    "  FROM happened WHERE seq > ?3 AND what NOT IN ('idle', 'reserved')"
    " UNION ALL SELECT seq, (SELECT max(id) FROM session), " START
    "  FROM running"
    " UNION ALL SELECT given, session, " START
    "  FROM execution WHERE seq > ?3 AND given > ?3"
    " UNION ALL SELECT seq, session, ended_us, CASE WHEN outcome = 1"
    "  THEN 'preempted' WHEN outcome = 3 THEN 'superseded'"
    "  WHEN outcome = 4 THEN 'checkpointed'"
    "  WHEN exit_status = 0 AND signal = 0 THEN 'done'"
    "  ELSE 'failed' END, machine, task,"
    "  CASE WHEN exit_status = -2 THEN 'too long, '"
    "  WHEN exit_status = -4 THEN 'out of memory, '"
    "  WHEN exit_status < 0 THEN 'timed out, '"
    "  WHEN signal THEN printf('signal %d, ', signal)"
    "  WHEN exit_status THEN printf('exit %d, ', exit_status)"
    "  ELSE '' END || printf('%.3f s', wall_us / 1e6)"
    "  FROM execution WHERE seq > ?3 AND outcome < 6"
    " UNION ALL SELECT seq, session, time_us,"
    "  iif(account > 0, 'share', 'charged'), machine, NULL, " CHARGED
    "  FROM charge WHERE seq > ?3"
    " UNION ALL SELECT seq, session, time_us, 'decided', NULL, NULL,"
    "  printf('%s%s: machines that go on %s, for %d window%s; %d task%s left',"
    "  reason, coalesce(' (' || cause || ')', ''),"
    "  machines, windows, iif(windows = 1, '', 's'), n, iif(n = 1, '', 's'))"
    "  || CASE WHEN end_us IS NULL THEN '' ELSE '; to end after ' || " MOMENT("end_us") " || ' for ' || " AMOUNT(
        "cost") " END"
                "  || CASE WHEN feasible THEN '' ELSE ', more than the budget can pay' END"
                "  FROM " DECISIONS
                ") l LEFT JOIN machine m ON m.session = l.session AND m.id = l.machine"
                " LEFT JOIN task t ON t.id = l.task"
                " WHERE (?1 IS NULL OR m.name = ?1) AND (?2 = 0 OR l.task = ?2)"
                " AND l.seq > ?3";

struct part {
    int64_t task; /* 0: all */
    int64_t last; /* this many rows at the end of the log; 0: all */
    int64_t n;    /* rows found */
};

/* Collects a task's executions in one pass over all; the table hides the
 * record's. */
static int take_own(struct bats_view *v, int64_t task, struct bats_error *err)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE execution AS"
             " SELECT * FROM rec.execution WHERE task = %" PRId64,
             task);
    return bats_db_run(&v->db, sql, err);
}

static int fill(struct bats_view *v, void *context, struct bats_error *err)
{
    struct part *part = context;
    int64_t end;
    int rc = bats_db_run(
        &v->db,
        "CREATE TEMP TABLE IF NOT EXISTS log (seq, session, time, what,"
        " machine, task, text, removed);"
        "DELETE FROM temp.log; DROP TABLE IF EXISTS temp.execution",
        err);

    if (rc == 0 && part->task != 0)
        rc = take_own(v, part->task, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db, "SELECT seq FROM now", &end, err);
    if (rc < 0)
        return rc;
    v->log_from = part->last > 0 && part->last < end ? end - part->last : 0;
    rc = bats_db_each(&v->db, fill_sql, NULL, NULL, err,
                      BATS_VALUES(BATS_T(v->log_machine), BATS_I(part->task),
                                  BATS_I(v->log_from)));
    part->n = sqlite3_changes64(v->db.sqlite);
    return rc == 0 ? bats_db_run(&v->db, "DROP TABLE IF EXISTS temp.execution",
                                 err)
                   : rc;
}

static int take(struct bats_view *v, struct part *part, struct bats_error *err)
{
    sqlite3_finalize(v->log);
    v->log = NULL;
    int rc = bats_part_take(v, fill, part, err);
    return rc == 0
               ? bats_db_prepare(&v->db,
                                 "SELECT session, time, what, machine, task,"
                                 " text, removed FROM temp.log ORDER BY seq"
                                 " LIMIT -1 OFFSET coalesce(?, 0)",
                                 &v->log, err)
               : rc;
}

/* The last entries are read from only as much of the log as necessary. */
int bats_view_log(struct bats_view *v, const char *machine, int64_t task,
                  int64_t last, struct bats_error *err)
{
    struct part part = {.task = task, .last = task == 0 ? last : 0};
    free(v->log_machine);
    v->log_machine = machine != NULL ? strdup(machine) : NULL;
    if (machine != NULL && v->log_machine == NULL)
        return bats_no_memory(err);
    int rc = take(v, &part, err);
    while (rc == 0 && part.n < last && v->log_from > 0) {
        part.last *= 8;
        rc = take(v, &part, err);
    }
    int64_t more = part.last > 0 && part.n > last ? part.n - last : 0;
    v->log_is_cut = v->log_from > 0 || more > 0;
    if (rc == 0)
        sqlite3_bind_int64(v->log, 1, more);
    return rc;
}

bool bats_view_log_is_cut(const struct bats_view *v)
{
    return v->log_is_cut;
}

int bats_view_next_entry(struct bats_view *v, struct bats_view_entry *entry,
                         struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_entry, member)
    static const struct bats_db_column columns[] = {
        C(session), C(time), C(what),    C(machine),
        C(task),    C(text), C(removed), {0}};
#undef C
    int rc = bats_db_step(&v->db, v->log, err);
    if (rc <= 0)
        return rc;
    bats_db_fill(v->log, columns, entry, NULL, err);
    return 1;
}

/* ---- the last execution of one task ---- */

int bats_view_pause(struct bats_view *v, int64_t task,
                    struct bats_view_pause *pause, struct bats_error *err)
{
    static const struct bats_db_column columns[] = {
        BATS_COLUMN(struct bats_view_pause, yields),
        BATS_COLUMN(struct bats_view_pause, failed),
        BATS_COLUMN(struct bats_view_pause, yielded),
        {0}};
    char sql[384];
    snprintf(sql, sizeof sql,
             "SELECT n.yields, iif(e.outcome = %d, e.ended_us, -1),"
             " iif(e.outcome = %d, e.ended_us, -1) FROM execution e"
             " JOIN task_now n ON n.task = e.task WHERE e.task = %" PRId64
             " AND e.session = (SELECT session FROM now)"
             " ORDER BY e.seq DESC LIMIT 1",
             BATS_RECORD_RETRIED, BATS_RECORD_YIELDED, task);
    *pause = (struct bats_view_pause){.failed = -1, .yielded = -1};
    return bats_part_get(v, sql, columns, pause, err);
}
