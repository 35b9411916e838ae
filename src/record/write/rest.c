/* rest: what earlier sessions have measured, and their jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        "SELECT c.name, e.runtime_us, b.number - 1 FROM (SELECT *, count(*) "
        "    OVER (PARTITION BY task) > 1 AS is_repeated FROM event "
        "    WHERE type = 'done' ORDER BY is_repeated DESC, seq DESC "
        "    LIMIT " LOOK_AT ") e "
        "  JOIN bag b ON b.task = e.task AND NOT b.removed "
        "  JOIN machine m ON m.session = e.session AND m.id = e.machine "
        "  JOIN cluster c ON c.session = m.session AND c.id = m.cluster "
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

int bats_record_of_job(struct bats_record *record, const char *job,
                       struct bats_record_job *known, struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &record->db,
        "WITH s AS (SELECT * FROM session"
        "    WHERE json_extract(options, '$.job') = ?),"
        "  l AS (SELECT session, sum(amount) AS amount, max(time_us) AS time"
        "    FROM ledger JOIN s ON s.id = session GROUP BY session) "
        "SELECT (SELECT sum(amount) FROM l),"
        "  iif(l.time IS NULL,"
        "    json_extract(options, '$.engine.billing.before'), 0),"
        "  json_extract(options, '$.engine.billing.rate'),"
        "  started_us + coalesce(l.time, 0) / time_scale,"
        "  started_us + max(coalesce(l.time, 0), coalesce(ended_us, (SELECT"
        "    max(e.time_us) FROM event e WHERE e.session = s.id), 0))"
        "    / time_scale,"
        "  json_extract(options, '$.life') "
        "FROM s LEFT JOIN l ON l.session = s.id ORDER BY s.id DESC LIMIT 1",
        &s, err);

    *known = (struct bats_record_job){0};
    if (rc < 0)
        return rc;
    sqlite3_bind_text(s, 1, job, -1, SQLITE_STATIC);
    rc = bats_db_step(&record->db, s, err);
    if (rc > 0)
        *known = (struct bats_record_job){
            .charged = sqlite3_column_int64(s, 0),
            .uncharged = sqlite3_column_int64(s, 1),
            .rate = sqlite3_column_int64(s, 2),
            .charged_us = sqlite3_column_int64(s, 3),
            .seen_us = sqlite3_column_int64(s, 4),
            .life = (uint32_t)sqlite3_column_int64(s, 5)};
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

/* Reads the jobs without a bill. A machine has one at most, the last that it
 * was asked for; the one that it took over is its first. Older sessions do not
 * say for how long a job was to work: for a window. */
static int load_open(struct bats_db *db, struct bats_record_purchase *known,
                     struct bats_error *err)
{
    size_t room = 0;
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        db,
        "WITH s AS (SELECT id, window_us, options,"
        "    json_extract(options, '$.engine.billing.overrun_us') AS overrun"
        "    FROM session WHERE json_extract(options, '$.run.jobs_name')"
        "      IS NOT NULL ORDER BY id DESC LIMIT 1),"
        "  a AS (SELECT machine, count(*) AS n, max(seq), why AS length"
        "    FROM command JOIN s ON s.id = session"
        "    WHERE type = 'acquire' GROUP BY machine),"
        "  b AS (SELECT machine, count(*) AS n FROM event JOIN s"
        "    ON s.id = session WHERE type = 'billed' GROUP BY machine),"
        "  t AS (SELECT CAST(j.key AS INTEGER) AS machine, j.value AS mark"
        "    FROM s, json_each(s.options, '$.run.jobs_taken') j) "
        "SELECT m.id, iif(coalesce(b.n, 0) = 0 AND t.mark IS NOT NULL, t.mark,"
        "    s.id || '.' || m.id || '.' || a.n),"
        "  c.charge * 1.0 / s.window_us * (s.overrun + coalesce("
        "    iif(coalesce(b.n, 0) = 0 AND t.mark IS NOT NULL,"
        "      json_extract(s.options, '$.engine.asked_us[' || m.id || ']'),"
        "      a.length), s.window_us)) "
        "FROM s JOIN machine m ON m.session = s.id"
        "  JOIN cluster c ON c.session = s.id AND c.id = m.cluster"
        "  LEFT JOIN a ON a.machine = m.id LEFT JOIN b ON b.machine = m.id"
        "  LEFT JOIN t ON t.machine = m.id "
        "WHERE coalesce(a.n, 0) + (t.mark IS NOT NULL) > coalesce(b.n, 0)",
        &s, err);

    while (rc >= 0 && (rc = bats_db_step(db, s, err)) > 0) {
        const char *mark = (const char *)sqlite3_column_text(s, 1);
        if (!bats_grow(&known->open, &room, known->n_open + 1,
                       sizeof *known->open)) {
            rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
            break;
        }
        struct bats_record_job_open *job = &known->open[known->n_open++];
        *job = (struct bats_record_job_open){
            .machine = (uint32_t)sqlite3_column_int64(s, 0),
            .price = (bats_money)(sqlite3_column_double(s, 2) + 1)};
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
        "WITH s AS (SELECT id, started_us, time_scale,"
        "    json_extract(options, '$.run.jobs_name') AS name,"
        "    nullif(json_extract(options, '$.job'), '') AS job"
        "    FROM session WHERE name IS NOT NULL) "
        "SELECT (SELECT coalesce(max(id), 0) + 1 FROM session),"
        "  (SELECT name FROM s ORDER BY id DESC LIMIT 1),"
        "  (SELECT coalesce(sum(amount), 0) FROM ledger"
        "    WHERE session IN (SELECT id FROM s)),"
        "  (SELECT group_concat(job) FROM (SELECT DISTINCT job FROM s)),"
        "  (SELECT max(started_us + coalesce((SELECT max(e.time_us)"
        "    FROM event e WHERE e.session = s.id), 0) / time_scale) FROM s)",
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
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
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
