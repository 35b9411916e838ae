/* view_log: the log of a record in chronological order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "record/write/record.h"
#include "util/asset.h"

BATS_ASSET(fill_sql, "record/read/log.sql");

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
    rc = bats_db_each(&v->db, fill_sql.begin, NULL, NULL, err,
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
