/* rest: queries of a session on earlier ones: their measurements, their jobs,
 * and the tasks of an open bag. */
#include <stdlib.h>
#include <string.h>

#include "bats/sample.h"
#include "bats/sched.h"
#include "record/state.h"

#define SEEN_MAX 64     /* most runtimes per cluster */
#define LOOK_AT "20000" /* most results examined */

/* Runtimes of tasks that ran on several clusters come first: they give the
 * regression lines (sample.h). */
static const char seen_sql[] =
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
    "ORDER BY e.is_repeated DESC, e.seq DESC";

struct seen {
    char cluster[BATS_CLUSTER_NAME];
    struct bats_observation is;
};

int bats_record_rest(struct bats_record *record,
                     const struct bats_sched_options *engine,
                     struct bats_record_rest *rest, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct seen, member)
    static const struct bats_db_column columns[] = {
        C(cluster), C(is.runtime), C(is.task), {0}};
#undef C
    uint32_t n[BATS_CLUSTERS_MAX] = {0};
    struct seen *seen;
    size_t n_seen;
    int rc = bats_db_list(&record->db, seen_sql, columns, sizeof *seen, &seen,
                          &n_seen, NULL, err);
    rest->n_seen = 0;
    rest->seen = calloc(engine->n_clusters * SEEN_MAX, sizeof *rest->seen);
    if (rc == 0 && rest->seen == NULL)
        rc = bats_no_memory(err);
    for (size_t k = 0; rc == 0 && k < n_seen; k++)
        for (uint32_t i = 0; i < engine->n_clusters; i++)
            if (n[i] < SEEN_MAX &&
                strcmp(engine->clusters[i].name, seen[k].cluster) == 0) {
                seen[k].is.cluster = i;
                rest->seen[rest->n_seen++] = seen[k].is;
                n[i]++;
            }
    free(seen);
    if (rc < 0)
        bats_record_rest_release(rest);
    return rc;
}

int bats_record_of_job(struct bats_record *record, const char *job,
                       struct bats_record_job *known, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_record_job, member)
    static const struct bats_db_column columns[] = {
        C(charged), C(uncharged), C(rate), C(charged_us),
        C(seen_us), C(life),      {0}};
#undef C
    *known = (struct bats_record_job){0};
    return bats_db_get(
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
        columns, known, err, BATS_VALUES(BATS_T(job)));
}

/* Jobs without a bill. */
static const char open_sql[] =
    "SELECT machine, mark, held FROM lease WHERE kind = 'job'"
    "  AND state NOT IN ('ended', 'killed') AND session = (SELECT max(id)"
    "    FROM session WHERE jobs_name NOT NULL) ORDER BY machine, id";

int bats_record_purchase(struct bats_record *record,
                         struct bats_record_purchase *known,
                         struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_record_purchase, member)
#define J(member) BATS_COLUMN(struct bats_record_job_open, member)
    static const struct bats_db_column columns[] = {C(session), C(name),
                                                    C(charged), C(own),
                                                    C(last_us), {0}},
                                       open_columns[] = {
                                           J(machine), J(mark), J(price), {0}};
#undef C
#undef J
    *known = (struct bats_record_purchase){.session = 1};
    int rc = bats_db_get(
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
        columns, known, err, NULL, 0);
    return rc < 0 ? rc
                  : bats_db_list(&record->db, open_sql, open_columns,
                                 sizeof *known->open, &known->open,
                                 &known->n_open, NULL, err);
}

void bats_record_rest_release(struct bats_record_rest *rest)
{
    free(rest->seen);
    *rest = (struct bats_record_rest){0};
}

/* ---- the tasks of an open bag ---- */

struct taker {
    bats_record_take *take;
    void *context;
};

static int take(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    const struct taker *to = context;
    const char *command = (const char *)sqlite3_column_text(s, 0);
    return command == NULL
               ? bats_no_memory(err)
               : to->take(to->context, command,
                          (const char *)sqlite3_column_text(s, 1), err);
}

int bats_record_submitted(struct bats_record *r, bats_record_take *taker,
                          void *context, struct bats_error *err)
{
    struct taker to = {taker, context};
    return bats_db_each(&r->db,
                        "SELECT t.command, s.given FROM task_now n"
                        " JOIN task t ON t.id = n.task"
                        " LEFT JOIN submission s ON s.task = t.id"
                        " WHERE NOT n.removed ORDER BY n.number",
                        take, &to, err, NULL, 0);
}
