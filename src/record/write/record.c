#include "record/write/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/policy.h"
#include "bats/sched.h"
#include "record/graph.h"
#include "record/state.h"
#include "util/asset.h"
#include "util/json.h"

BATS_ASSET(session_sql, "record/write/session.sql");
BATS_ASSET(take_over_sql, "record/write/take_over.sql");

#define I BATS_I
#define R BATS_R
#define T BATS_T
#define RUN(sql, ...) bats_rows_run(r, sql, err, BATS_VALUES(__VA_ARGS__))

/*
 * With a write-ahead log (WAL) a commit is one write, which survives the end
 * of this process; bats_record_sync decides when it is synced to disk
 * (NORMAL). The file itself does not change between checkpoints, 4,000 pages
 * apart, so it can be copied during the run.
 */
#define SET_UP                                                                \
    "PRAGMA journal_mode = WAL;"                                              \
    "PRAGMA synchronous = NORMAL;"                                            \
    "PRAGMA wal_autocheckpoint = 4000;"

/* ---- opening ---- */

static int fill(struct bats_record *r, struct bats_error *err)
{
    bool is_empty;
    int rc = bats_db_check(&r->db, "main", &is_empty, err);
    if (rc == 0 && sqlite3_db_readonly(r->db.sqlite, "main") != 0)
        rc = bats_db_fail(&r->db, SQLITE_READONLY, err);
    if (rc == 0)
        rc = bats_db_run(&r->db, SET_UP, err);
    /* From here on we own the file. */
    if (rc == 0)
        rc = bats_db_run(&r->db, "BEGIN EXCLUSIVE; COMMIT", err);
    if (rc == 0 && is_empty)
        rc = bats_schema_make(&r->db, err);
    if (rc == 0)
        rc = bats_db_integer(&r->db, BATS_SCHEMA_LAST_SEQ, &r->seq, err);
    if (rc == 0)
        rc = bats_db_integer(&r->db, "SELECT total(length(text)) FROM stderr",
                             &r->last_bytes, err);
    if (rc == 0 && (r->seq < 0 || r->seq > INT64_MAX / 2))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: its last row has the number "
                            "%" PRId64,
                            r->path, r->seq);
    r->batch = 1;
    if (rc == 0)
        rc = bats_killed_settle(r, err);
    if (rc == 0)
        rc = bats_past_load(&r->past, &r->db, err);
    r->session = (int64_t)r->past.sessions + 1;
    return rc;
}

static int open_record(const char *path, bool must_be_new,
                       struct bats_record **record, struct bats_error *err)
{
    int rc = bats_db_look(path, err);
    struct bats_record *r;
    *record = NULL;
    if (rc < 0)
        return rc;
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return bats_no_memory(err);
    r->fd = -1;
    r->path = strdup(path);
    rc = r->path == NULL
             ? bats_no_memory(err)
             : bats_db_open(&r->db, path, r->path, BATS_DB_CREATE, err);
    if (rc == 0)
        r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (rc == 0)
        rc = fill(r, err);
    if (rc == 0 && must_be_new && r->past.sessions > 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s exists: it is the record of an earlier run",
                            path);
    if (rc < 0)
        bats_record_abandon(r);
    else
        *record = r;
    return rc;
}

int bats_record_open(const char *path, struct bats_record **record,
                     struct bats_error *err)
{
    return open_record(path, false, record, err);
}

int bats_record_create(const char *path, struct bats_record **record,
                       struct bats_error *err)
{
    return open_record(path, true, record, err);
}

void bats_record_abandon(struct bats_record *r)
{
    if (r == NULL)
        return;
    bats_rows_release(r);
    bats_db_close(&r->db);
    if (r->fd >= 0)
        close(r->fd);
    bats_record_forget_past(r);
    bats_now_release(&r->now);
    tdestroy(r->kinds, free);
    bats_parameters_release(&r->parameters);
    free(r->id);
    free(r->path);
    free(r);
}

/* ---- the commit ---- */

int bats_record_commit(struct bats_record *r, struct bats_error *err)
{
    static const char begin[] = "BEGIN", commit[] = "COMMIT";
    if (bats_record_waiting(r) == 0)
        return 0;
    bats_record_measure(r);
    int rc = bats_runs_put(r, err);
    if (rc == 0)
        rc = bats_leases_put(r, err);
    if (rc == 0)
        rc = bats_now_put(r, err);
    if (rc == 0)
        rc = bats_rows_run(r, begin, err, NULL, 0);
    if (rc == 0)
        rc = bats_rows_write(r, err);
    if (rc == 0)
        rc = bats_rows_run(r, commit, err, NULL, 0);
    if (rc == 0)
        bats_record_forget(r);
    else if (!sqlite3_get_autocommit(r->db.sqlite))
        bats_db_run(&r->db, "ROLLBACK", NULL);
    return rc;
}

int bats_record_close(struct bats_record *r, struct bats_error *err)
{
    if (r == NULL)
        return 0;
    bool is_elsewhere = false;
    int rc = bats_record_commit(r, err);
    bool is_empty = r->past.sessions == 0 && !r->has_begun;
    if (rc == 0 && !is_empty)
        rc = bats_record_keep(r, &is_elsewhere, err);
    if (is_elsewhere) /* the log beside that name may belong to another
                         record */
        sqlite3_db_config(r->db.sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                          NULL);
    /* A plain file is readable everywhere. If the disk is too full for that,
     * nothing is lost: the log stays beside it. */
    if (rc == 0 && !is_elsewhere)
        bats_db_run(&r->db, "PRAGMA journal_mode = DELETE", NULL);
    bool is_named = bats_record_is_named(r, &is_elsewhere);
    char *path = rc == 0 && is_empty && is_named ? strdup(r->path) : NULL;
    bats_record_abandon(r);
    if (path != NULL)
        unlink(path); /* no session was begun */
    free(path);
    return rc;
}

/* ---- earlier sessions ---- */

struct bats_record_earlier bats_record_earlier(const struct bats_record *r)
{
    return (struct bats_record_earlier){.sessions = r->past.sessions,
                                        .charged = r->past.charged,
                                        .killed = r->killed};
}

static int take_run(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    char **run_id = context;
    *run_id = bats_db_copy(s, 0);
    return *run_id != NULL ? 0 : bats_no_memory(err);
}

int bats_record_killed_run(struct bats_record *r, char **run_id,
                           struct bats_error *err)
{
    *run_id = NULL;
    return bats_db_each(
        &r->db,
        "SELECT run_id FROM session WHERE finish = 'killed' AND"
        "  id = (SELECT max(id) FROM session) AND run_id IS NOT NULL",
        take_run, run_id, err, NULL, 0);
}

int bats_record_share(struct bats_record *r, const char *name,
                      bats_money *charged, struct bats_error *err)
{
    *charged = 0;
    return bats_db_get(
        &r->db, "SELECT sum(charged) FROM account WHERE id > 0 AND name = ?",
        bats_db_whole, charged, err, BATS_VALUES(BATS_T(name)));
}

/* ---- a session ---- */

static int64_t limited(int64_t value, int64_t unlimited)
{
    return value == unlimited ? BATS_DB_NULL : value;
}

/* {"run": the caller's options, "engine": the engine's, "categories": their
 * names}, for free(). NULL: out of memory, or invalid JSON. */
static char *options_of(const struct bats_record_session *session)
{
    json_t *run = session->options != NULL
                      ? json_loads(session->options, 0, NULL)
                      : json_object();
    json_t *all = json_pack("{s:o, s:o}", "run", run, "engine",
                            bats_options_write(session->engine));
    int bad = 0;
    if (session->categories != NULL) {
        json_t *names = json_array();
        for (uint32_t i = 0; i < session->engine->n_categories; i++)
            bad |= json_array_append_new(
                names, bats_json_text(session->categories[i]));
        bad |= json_object_set_new(all, "categories", names);
    }
    char *text = bad == 0
                     ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17))
                     : NULL;
    json_decref(all);
    return text;
}

static int insert_session(struct bats_record *r,
                          const struct bats_record_session *session,
                          struct bats_error *err)
{
    const struct bats_sched_options *engine = session->engine;
    char *options = options_of(session);
    int rc = options == NULL
                 ? bats_no_memory(err)
                 : RUN(session_sql.begin, I(r->session), T(session->run_id),
                       T(session->bag), T(session->version),
                       T(bats_policy_name(engine->policy)),
                       I((int64_t)engine->seed),
                       I(limited(engine->budget, BATS_UNLIMITED)),
                       I(engine->window), R(session->time_scale),
                       T(session->currency),
                       T(bats_schema_resumes[session->resume]), T(options),
                       I(session->started_us), I(r->n_tasks), T(session->job),
                       I(session->life));
    free(options);
    return rc;
}

static int insert_clusters(struct bats_record *r,
                           const struct bats_record_session *session,
                           struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < session->engine->n_clusters; i++) {
        const struct bats_cluster *c = &session->engine->clusters[i];
        rc = RUN("INSERT INTO cluster VALUES (?, ?, ?, ?, ?, ?)",
                 I(r->session), I((int64_t)i), T(c->name), I(c->charge),
                 I(limited(c->max, UINT32_MAX)),
                 R(session->speed != NULL ? session->speed[i] : 1));
    }
    return rc;
}

static int insert_machines(struct bats_record *r,
                           const struct bats_record_session *session,
                           struct bats_error *err)
{
    const struct bats_sched_options *engine = session->engine;
    char name[BATS_MACHINE_NAME];
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < engine->n_machines; i++) {
        const struct bats_machine_spec *m = &engine->machines[i];
        bats_machine_name(name, engine->clusters, engine->machines, i);
        rc = RUN("INSERT INTO machine VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0,"
                 " NULL)",
                 I(r->session), I(i), I(m->cluster), I(m->slots), T(name),
                 T(session->hosts != NULL ? session->hosts[i] : NULL));
    }
    return rc;
}

int bats_record_begin(struct bats_record *r,
                      const struct bats_record_session *session,
                      struct bats_error *err)
{
    int rc = 0;
    if (r->past.sessions > 0 && !r->is_matched)
        return bats_error_set(err, BATS_ESTATE, "the bag was not matched");
    if (sqlite3_get_autocommit(r->db.sqlite)) /* no task was new */
        rc = bats_db_run(&r->db, "BEGIN", err);
    if (rc == 0)
        rc = insert_session(r, session, err);
    if (rc == 0)
        rc = bats_db_each(&r->db, take_over_sql.begin, NULL, NULL, err,
                          BATS_VALUES(I(r->session)));
    if (rc == 0)
        rc = insert_clusters(r, session, err);
    if (rc == 0)
        rc = insert_machines(r, session, err);
    if (rc == 0 && session->engine->graph != NULL)
        rc = bats_record_graph_write(&r->db, r->session,
                                     session->engine->graph, err);
    if (rc == 0)
        rc = bats_now_begin(r, session, err);
    if (rc == 0)
        rc = bats_db_run(&r->db, "COMMIT", err);
    if (rc == 0)
        rc = bats_record_sync(r, err);
    bats_record_forget_past(r);
    r->has_begun = rc == 0;
    return rc;
}

int bats_record_energy(struct bats_record *r, int64_t energy_j,
                       struct bats_error *err)
{
    return energy_j > 0 ? RUN("UPDATE lease SET energy_j = ?1"
                              " WHERE session = ?2 AND machine IS NULL",
                              I(energy_j), I(r->session))
                        : 0;
}

int bats_record_finish(struct bats_record *r, bats_time now,
                       enum bats_finish finish, int signal, int exit_code,
                       struct bats_error *err)
{
    int rc = 0;
    r->now.time = now;
    r->is_dirty = true;
    for (uint32_t m = 0; rc >= 0 && m < r->now.n_machines; m++)
        rc = bats_runs_end_all(r, now, m, false, err);
    if (rc == 0)
        rc = bats_record_commit(r, err);
    if (rc == 0)
        rc = RUN("UPDATE session SET last_us = ?1, ended_us = ?1,"
                 " finish = ?2, signal = ?3, exit_code = ?4 WHERE id = ?5",
                 I(now), T(bats_schema_finishes[finish]), I(signal),
                 I(exit_code), I(r->session));
    return rc < 0 ? rc : bats_record_sync(r, err);
}
