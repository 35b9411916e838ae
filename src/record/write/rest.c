/* rest: queries of a session on earlier ones: their measurements, their jobs,
 * their results, and the tasks of an open bag. */
#include <stdlib.h>
#include <string.h>

#include "bats/sample.h"
#include "bats/sched.h"
#include "record/state.h"
#include "util/asset.h"

BATS_ASSET(seen_sql, "record/write/seen.sql");
BATS_ASSET(of_job_sql, "record/write/of_job.sql");
BATS_ASSET(purchase_sql, "record/write/purchase.sql");
BATS_ASSET(open_sql, "record/write/open.sql");
BATS_ASSET(results_sql, "record/write/results.sql");

#define SEEN_MAX 64 /* most runtimes per cluster */

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
    int rc = bats_db_list(&record->db, seen_sql.begin, columns, sizeof *seen,
                          &seen, &n_seen, NULL, err, NULL, 0);
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
    return bats_db_get(&record->db, of_job_sql.begin, columns, known, err,
                       BATS_VALUES(BATS_T(job)));
}

int bats_record_purchase(struct bats_record *record, const char *job,
                         struct bats_record_purchase *known,
                         struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_record_purchase, member)
#define J(member) BATS_COLUMN(struct bats_record_job_open, member)
    static const struct bats_db_column columns[] = {
        C(session), C(name), C(charged), C(of_job), C(own), C(last_us), {0}};
    static const struct bats_db_column open_columns[] = {
        J(machine), J(mark), J(price), {0}};
#undef C
#undef J
    *known = (struct bats_record_purchase){.session = 1};
    int rc = bats_db_get(&record->db, purchase_sql.begin, columns, known, err,
                         BATS_VALUES(BATS_T(job)));
    return rc < 0 ? rc
                  : bats_db_list(&record->db, open_sql.begin, open_columns,
                                 sizeof *known->open, &known->open,
                                 &known->n_open, NULL, err, NULL, 0);
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

static int take_task(void *context, sqlite3_stmt *s, struct bats_error *err)
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
                        take_task, &to, err, NULL, 0);
}

/* ---- results ---- */

struct results {
    bats_record_take_result *take;
    void *context;
};

static int take_result(void *context, sqlite3_stmt *s, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_record_result, member)
    static const struct bats_db_column columns[] = {
        C(number),      C(host),   C(start_us), C(wall_us), C(out_bytes),
        C(exit_status), C(signal), C(command),  {0}};
#undef C
    const struct results *to = context;
    struct bats_record_result result;
    int rc = bats_db_fill(s, columns, &result, NULL, err);
    return rc < 0 ? rc : to->take(to->context, &result, err);
}

int bats_record_results(struct bats_record *r, bats_record_take_result *take,
                        void *context, struct bats_error *err)
{
    struct results to = {take, context};
    return bats_db_each(&r->db, results_sql.begin, take_result, &to, err, NULL,
                        0);
}
