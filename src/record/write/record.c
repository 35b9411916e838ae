#include "record/write/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/policy.h"
#include "record/graph.h"
#include "record/options.h"
#include "record/schema.h"
#include "record/state.h"
#include "record/tally.h"
#include "record/write/count.h"
#include "util/json.h"

/*
 * With a write-ahead log (WAL) a commit is one write, which survives the end
 * of this process, and we decide when it is synced to disk (NORMAL;
 * bats_record_sync). The file itself does not change between two checkpoints,
 * 4,000 pages apart, so that it can be copied while the run goes on.
 */
#define SET_UP                                                                \
    "PRAGMA journal_mode = WAL;"                                              \
    "PRAGMA synchronous = NORMAL;"                                            \
    "PRAGMA wal_autocheckpoint = 4000;"

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

/* ---- opening ---- */

static int fill(struct bats_record *r, struct bats_error *err)
{
    bool is_empty;
    int64_t version;
    int rc = bats_db_check(&r->db, "main", &is_empty, &version, err);

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
        rc = bats_db_integer(&r->db, BATS_TALLY_LAST_SEQ(""), &r->seq, err);
    if (rc == 0)
        rc = bats_db_integer(&r->db, "SELECT total(length(text)) FROM stderr",
                             &r->kinds.bytes, err);
    if (rc == 0 && (r->seq < 0 || r->seq > INT64_MAX / 2))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: its last row has the number "
                            "%" PRId64,
                            r->path, r->seq);
    if (rc == 0)
        rc = bats_log_prepare(r, err);
    if (rc == 0)
        rc = bats_killed_settle(r, err);
    if (rc == 0)
        rc = bats_past_load(&r->past, &r->db, INT64_MAX, INT64_MAX, err);
    if (rc == 0)
        rc = bats_db_prepare(&r->db,
                             "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)",
                             &r->insert_task, err);
    if (rc == 0)
        rc = bats_db_prepare(&r->db, "INSERT INTO point VALUES (?, ?)",
                             &r->insert_point, err);
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
        return no_memory(err);
    r->fd = -1;
    r->path = strdup(path);
    rc = r->path == NULL
             ? no_memory(err)
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
    bats_log_release(r);
    sqlite3_finalize(r->insert_task);
    sqlite3_finalize(r->insert_point);
    bats_db_close(&r->db);
    if (r->fd >= 0)
        close(r->fd);
    bats_record_forget_past(r);
    bats_past_results_release(&r->results);
    bats_parameters_release(&r->parameters);
    free(r->id);
    free(r->path);
    free(r);
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
    if (is_elsewhere) /* the log beside the name may be that of another */
        sqlite3_db_config(r->db.sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                          NULL);
    /* A plain file can be read by everyone, from anywhere. If there is no room
     * to make one, nothing is lost: the log stays beside it. */
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

uint32_t bats_record_sessions(const struct bats_record *r)
{
    return r->past.sessions;
}

bats_money bats_record_charged(const struct bats_record *r)
{
    return r->past.charged;
}

bats_money bats_record_killed(const struct bats_record *r)
{
    return r->killed;
}

int bats_record_killed_run(struct bats_record *r, char **run_id,
                           struct bats_error *err)
{
    sqlite3_stmt *s;
    *run_id = NULL;
    int rc = bats_db_prepare(
        &r->db,
        "SELECT run_id FROM session WHERE ended_us IS NULL AND"
        "  id = (SELECT max(id) FROM session) AND run_id IS NOT NULL",
        &s, err);
    if (rc < 0)
        return rc;
    rc = bats_db_step(&r->db, s, err);
    if (rc > 0) {
        *run_id = strdup((const char *)sqlite3_column_text(s, 0));
        rc = *run_id != NULL ? 0
                             : bats_error_set(err, BATS_ENOMEM, "out of memory");
    }
    sqlite3_finalize(s);
    return rc;
}

int bats_record_share(struct bats_record *r, const char *name,
                      bats_money *charged, struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = bats_db_prepare(
        &r->db,
        "SELECT sum(c.why) FROM command c JOIN session s ON s.id = c.session "
        "WHERE c.type = 'share' AND json_extract(s.options, "
        "'$.engine.workflows[' || (c.copy - 1) || '].name') = ?",
        &s, err);
    *charged = 0;
    if (rc == 0) {
        sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
        rc = bats_db_step(&r->db, s, err);
    }
    if (rc > 0)
        *charged = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

/* ---- a session ---- */

static void bind_limited(sqlite3_stmt *s, int column, int64_t value,
                         int64_t unlimited)
{
    if (value == unlimited)
        sqlite3_bind_null(s, column);
    else
        sqlite3_bind_int64(s, column, value);
}

/* {"run": options of the caller, "engine": options of the engine, "categories":
 * their names}; for free(). NULL: short memory, or no JSON. */
static char *options_of(const struct bats_record_session *session)
{
    json_t *run = session->options != NULL
                      ? json_loads(session->options, 0, NULL)
                      : json_object();
    json_t *all = json_pack("{s:o, s:o, s:s, s:I}", "run", run, "engine",
                            bats_options_write(session->engine), "job",
                            session->job != NULL ? session->job : "", "life",
                            (json_int_t)session->life);
    int bad = 0;

    if (session->categories != NULL) {
        json_t *names = json_array();
        for (uint32_t i = 0; i < session->engine->n_categories; i++)
            bad |= json_array_append_new(
                names, bats_json_text(session->categories[i]));
        bad |= json_object_set_new(all, "categories", names);
    }
    char *text = bad == 0 ? json_dumps(all, JSON_COMPACT |
                                                JSON_REAL_PRECISION(17))
                          : NULL;

    json_decref(all);
    return text;
}

static int insert_session(struct bats_record *r,
                          const struct bats_record_session *session,
                          struct bats_error *err)
{
    const struct bats_sched_options *engine = session->engine;
    const char *const texts[] = {session->run_id, session->bag,
                                 session->version,
                                 bats_policy_name(engine->policy)};
    char *options = options_of(session);
    sqlite3_stmt *s = NULL;
    int rc = options == NULL ? no_memory(err) : 0;

    if (rc == 0)
        rc = bats_db_prepare(
            &r->db,
            "INSERT INTO session (id, run_id, bag, version, policy, seed,"
            " budget, window_us, time_scale, currency, resume, options,"
            " started_us, n_tasks)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &s, err);
    if (rc == 0) {
        sqlite3_bind_int64(s, 1, r->session);
        for (int i = 0; i < 4; i++)
            sqlite3_bind_text(s, 2 + i, texts[i], -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 6, (int64_t)engine->seed);
        bind_limited(s, 7, engine->budget, BATS_UNLIMITED);
        sqlite3_bind_int64(s, 8, engine->window);
        sqlite3_bind_double(s, 9, session->time_scale);
        sqlite3_bind_text(s, 10, session->currency, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 11, bats_schema_resumes[session->resume], -1,
                          SQLITE_STATIC);
        sqlite3_bind_text(s, 12, options, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 13, session->started_us);
        sqlite3_bind_int64(s, 14, r->n_tasks);
        rc = bats_db_step(&r->db, s, err);
    }
    sqlite3_finalize(s);
    free(options);
    return rc;
}

static int insert_clusters(struct bats_record *r,
                           const struct bats_record_session *session,
                           struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &r->db, "INSERT INTO cluster VALUES (?, ?, ?, ?, ?, ?)", &s, err);

    for (size_t i = 0; rc == 0 && i < session->engine->n_clusters; i++) {
        const struct bats_cluster *c = &session->engine->clusters[i];
        sqlite3_bind_int64(s, 1, r->session);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_text(s, 3, c->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, c->charge);
        bind_limited(s, 5, c->max, UINT32_MAX);
        sqlite3_bind_double(s, 6,
                            session->speed != NULL ? session->speed[i] : 1);
        rc = bats_db_step(&r->db, s, err);
    }
    sqlite3_finalize(s);
    return rc;
}

static int insert_machines(struct bats_record *r,
                           const struct bats_record_session *session,
                           struct bats_error *err)
{
    const struct bats_sched_options *engine = session->engine;
    char name[BATS_MACHINE_NAME];
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &r->db, "INSERT INTO machine VALUES (?, ?, ?, ?, ?, ?)", &s, err);

    for (uint32_t i = 0; rc == 0 && i < engine->n_machines; i++) {
        const struct bats_machine_spec *m = &engine->machines[i];
        sqlite3_bind_int64(s, 1, r->session);
        sqlite3_bind_int64(s, 2, i);
        sqlite3_bind_int64(s, 3, m->cluster);
        sqlite3_bind_int64(s, 4, m->slots);
        sqlite3_bind_text(
            s, 5,
            bats_machine_name(name, engine->clusters, engine->machines, i), -1,
            SQLITE_STATIC);
        sqlite3_bind_text(s, 6,
                          session->hosts != NULL ? session->hosts[i] : NULL,
                          -1, SQLITE_STATIC);
        rc = bats_db_step(&r->db, s, err);
    }
    sqlite3_finalize(s);
    return rc;
}

int bats_record_begin(struct bats_record *r,
                      const struct bats_record_session *session,
                      struct bats_error *err)
{
    int rc = 0;

    if (r->past.sessions > 0 && (!r->is_matched || r->n_lacking > 0))
        return bats_error_set(err, BATS_ESTATE, "the bag was not compared");
    if (sqlite3_get_autocommit(r->db.sqlite)) /* no task was new */
        rc = bats_db_run(&r->db, "BEGIN", err);
    if (rc == 0)
        rc = insert_session(r, session, err);
    if (rc == 0)
        rc = insert_clusters(r, session, err);
    if (rc == 0)
        rc = insert_machines(r, session, err);
    if (rc == 0 && session->engine->graph != NULL)
        rc = bats_record_graph_write(&r->db, r->session,
                                     session->engine->graph, err);
    if (rc == 0)
        rc = bats_count_begin(r, session, err);
    if (rc == 0)
        rc = bats_db_run(&r->db, "COMMIT", err);
    if (rc == 0)
        rc = bats_record_sync(r, err);
    bats_record_forget_past(r);
    bats_past_results_release(&r->results);
    r->n_clusters = (uint32_t)session->engine->n_clusters;
    r->has_begun = rc == 0;
    return rc;
}

int bats_record_finish(struct bats_record *r, bats_time now,
                       enum bats_finish finish, int signal, int exit_code,
                       struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_record_commit(r, err);

    if (rc == 0)
        rc = bats_db_prepare(&r->db,
                             "UPDATE session SET ended_us = ?, finish = ?, "
                             "signal = ?, exit_code = ? WHERE id = ?",
                             &s, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, now);
    sqlite3_bind_text(s, 2, bats_schema_finishes[finish], -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, signal);
    sqlite3_bind_int64(s, 4, exit_code);
    sqlite3_bind_int64(s, 5, r->session);
    rc = bats_db_step(&r->db, s, err);
    sqlite3_finalize(s);
    return rc < 0 ? rc : bats_record_sync(r, err);
}
