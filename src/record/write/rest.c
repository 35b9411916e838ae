/* rest: what earlier sessions have measured, and their jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "record/state.h"
#include "util/grow.h"

#define SEEN_MAX 64     /* limit of runtimes per cluster */
#define LOOK_AT "20000" /* limit of results examined */

/* First the runtimes of tasks that ran on several clusters: they give the
 * regression lines between these (sample.h). */
static int load_seen(struct bats_db *db,
                     const struct bats_sched_options *engine,
                     struct bats_record_rest *rest, struct bats_error *err)
{
    uint32_t n[BATS_CLUSTERS_MAX] = {0};
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        db,
        "WITH good AS NOT MATERIALIZED (SELECT * FROM execution"
        "    WHERE exit_status = 0 AND signal = 0 AND runtime_us NOT NULL),"
        "  again AS MATERIALIZED (SELECT task FROM good WHERE task IN"
        "    (SELECT task FROM task_now WHERE executions > 1)"
        "    GROUP BY task HAVING count(*) > 1) "
        "SELECT c.name, e.runtime_us, t.number - 1 FROM (SELECT *,"
        "    task IN again AS is_repeated FROM good"
        "    ORDER BY is_repeated DESC, seq DESC LIMIT " LOOK_AT ") e "
        "  JOIN task t ON t.id = e.task "
        "  JOIN machine m ON m.session = e.session AND m.id = e.machine "
        "  JOIN cluster c ON c.session = m.session AND c.id = m.cluster "
        "WHERE e.task NOT IN (SELECT task FROM task_now WHERE removed) "
        "ORDER BY e.is_repeated DESC, e.seq DESC",
        &s, err);

    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        struct bats_observation seen = {
            .task = (uint32_t)sqlite3_column_int64(s, 2),
            .runtime = sqlite3_column_int64(s, 1)};
        for (uint32_t i = 0; i < engine->n_clusters; i++)
            if (name != NULL && n[i] < SEEN_MAX &&
                strcmp(engine->clusters[i].name, name) == 0) {
                seen.cluster = i;
                rest->seen[rest->n_seen++] = seen;
                n[i]++;
            }
    }
    sqlite3_finalize(s);
    return rc;
}

static int take_job(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    (void)err;
    *(struct bats_record_job *)context =
        (struct bats_record_job){.charged = sqlite3_column_int64(s, 0),
                                 .uncharged = sqlite3_column_int64(s, 1),
                                 .rate = sqlite3_column_int64(s, 2),
                                 .charged_us = sqlite3_column_int64(s, 3),
                                 .seen_us = sqlite3_column_int64(s, 4),
                                 .life = (uint32_t)sqlite3_column_int64(s, 5)};
    return 0;
}

int bats_record_of_job(struct bats_record *record, const char *job,
                       struct bats_record_job *known, struct bats_error *err)
{
    *known = (struct bats_record_job){0};
    return bats_db_each(
        &record->db,
        "WITH s AS (SELECT *, coalesce(last_us, (SELECT time_us FROM now)) AS"
        "    last FROM session WHERE job = ?),"
        "  l AS (SELECT session, sum(amount) AS amount, max(time_us) AS time"
        "    FROM charge JOIN s ON s.id = session WHERE account = 0"
        "    GROUP BY session) "
        "SELECT (SELECT sum(amount) FROM l),"
        "  iif(l.time IS NULL,"
        "    json_extract(options, '$.engine.billing.before'), 0),"
        "  json_extract(options, '$.engine.billing.rate'),"
        "  started_us + coalesce(l.time, 0) / time_scale,"
        "  started_us + max(coalesce(l.time, 0), last) / time_scale, life "
        "FROM s LEFT JOIN l ON l.session = s.id ORDER BY s.id DESC LIMIT 1",
        take_job, known, err, BATS_VALUES(BATS_T(job)));
}

/* Reads the jobs without a bill. */
static int load_open(struct bats_db *db, struct bats_record_purchase *known,
                     struct bats_error *err)
{
    size_t room = 0;
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        db,
        "SELECT machine, mark, held FROM lease WHERE kind = 'job'"
        "  AND state NOT IN ('ended', 'killed') AND session = (SELECT max(id)"
        "    FROM session WHERE jobs_name NOT NULL) ORDER BY machine, id",
        &s, err);

    while (rc >= 0 && (rc = bats_db_step(db, s, err)) > 0) {
        const char *mark = (const char *)sqlite3_column_text(s, 1);
        if (!bats_grow(&known->open, &room, known->n_open + 1,
                       sizeof *known->open)) {
            rc = bats_no_memory(err);
            break;
        }
        struct bats_record_job_open *job = &known->open[known->n_open++];
        *job = (struct bats_record_job_open){
            .machine = (uint32_t)sqlite3_column_int64(s, 0),
            .price = sqlite3_column_int64(s, 2)};
        snprintf(job->mark, sizeof job->mark, "%s", mark != NULL ? mark : "");
    }
    sqlite3_finalize(s);
    return rc;
}

int bats_record_purchase(struct bats_record *record,
                         struct bats_record_purchase *known,
                         struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &record->db,
        "WITH s AS (SELECT id, jobs_name AS name, job, started_us +"
        "    coalesce(last_us, (SELECT time_us FROM now)) / time_scale AS last"
        "    FROM session WHERE name NOT NULL) "
        "SELECT (SELECT coalesce(max(id), 0) + 1 FROM session),"
        "  (SELECT name FROM s ORDER BY id DESC LIMIT 1),"
        "  (SELECT coalesce(sum(amount), 0) FROM charge"
        "    WHERE account = 0 AND session IN (SELECT id FROM s)),"
        "  (SELECT group_concat(job) FROM (SELECT DISTINCT job FROM s)),"
        "  (SELECT max(last) FROM s)",
        &s, err);

    *known = (struct bats_record_purchase){.session = 1};
    if (rc < 0)
        return rc;
    rc = bats_db_step(&record->db, s, err);
    if (rc > 0) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const char *own = (const char *)sqlite3_column_text(s, 3);
        known->session = (uint32_t)sqlite3_column_int64(s, 0);
        snprintf(known->name, sizeof known->name, "%s",
                 name != NULL ? name : "");
        snprintf(known->own, sizeof known->own, "%s", own != NULL ? own : "");
        known->charged = sqlite3_column_int64(s, 2);
        known->last_us = sqlite3_column_int64(s, 4);
    }
    sqlite3_finalize(s);
    return rc < 0 ? rc : load_open(&record->db, known, err);
}

int bats_record_rest(struct bats_record *record,
                     const struct bats_sched_options *engine,
                     struct bats_record_rest *rest, struct bats_error *err)
{
    int rc = 0;

    rest->seen = calloc(engine->n_clusters * SEEN_MAX, sizeof *rest->seen);
    if (rest->seen == NULL)
        rc = bats_no_memory(err);
    if (rc == 0)
        rc = load_seen(&record->db, engine, rest, err);
    if (rc < 0)
        bats_record_rest_release(rest);
    return rc;
}

void bats_record_rest_release(struct bats_record_rest *rest)
{
    free(rest->seen);
    *rest = (struct bats_record_rest){0};
}
