#include "record/verify/rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/policy.h"
#include "record/graph.h"
#include "record/schema.h"
#include "record/state.h"
#include "util/grow.h"

#define SLOTS_MAX 10000000 /* in all machines */

static int damaged(struct bats_db *db, const char *what,
                   struct bats_error *err)
{
    return bats_error_set(err, BATS_EINPUT, "%s is damaged: it lacks %s",
                          db->path, what);
}

/* ---- the session ---- */

static int read_options(struct bats_db *db, struct bats_rebuilt *b,
                        const char *text, struct bats_error *err)
{
    json_t *all = json_loads(text != NULL ? text : "", 0, NULL);
    const json_t *engine = json_object_get(all, "engine");
    int rc = 0;

    if (engine == NULL)
        rc = damaged(db, "the options of the engine", err);
    else if (!bats_options_read(engine, &b->options, &b->lists))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s cannot be replayed: its engine, of bats-mpi "
                            "%s, had other options than this one",
                            db->path, b->version);
    json_decref(all);
    return rc;
}

static enum bats_record_resume find_resume(const char *name)
{
    int resume = BATS_RECORD_RETRY_FAILED;

    while (resume > BATS_RECORD_NOT &&
           (name == NULL || strcmp(bats_schema_resumes[resume], name) != 0))
        resume--;
    return (enum bats_record_resume)resume;
}

static int read_session(struct bats_db *db, int64_t session,
                        struct bats_rebuilt *b,
                        enum bats_record_resume *resume,
                        struct bats_error *err)
{
    struct bats_sched_options *o = &b->options;
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        db,
        "SELECT policy, seed, budget, window_us, n_tasks, options, resume, "
        "version FROM session WHERE id = ?",
        &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, session);
    rc = bats_db_step(db, s, err);
    if (rc > 0) {
        const char *policy = (const char *)sqlite3_column_text(s, 0);
        const char *version = (const char *)sqlite3_column_text(s, 7);
        int64_t n = sqlite3_column_int64(s, 4);
        o->policy = bats_policy_find(policy != NULL ? policy : "");
        o->seed = (uint64_t)sqlite3_column_int64(s, 1);
        o->budget = sqlite3_column_type(s, 2) == SQLITE_NULL
                        ? BATS_UNLIMITED
                        : sqlite3_column_int64(s, 2);
        o->window = sqlite3_column_int64(s, 3);
        o->n_tasks = n > 0 && n < BATS_NO_TASK ? (uint32_t)n : 0;
        *resume = find_resume((const char *)sqlite3_column_text(s, 6));
        snprintf(b->version, sizeof b->version, "%s",
                 version != NULL ? version : "");
        if (o->policy == NULL || o->n_tasks == 0)
            rc = damaged(db, "the options of the engine", err);
        else
            rc = read_options(db, b, (const char *)sqlite3_column_text(s, 5),
                              err);
    } else if (rc == 0) {
        rc = bats_error_set(err, BATS_EINPUT, "%s has no session %lld",
                            db->path, (long long)session);
    }
    sqlite3_finalize(s);
    return rc;
}

/* ---- its platform ---- */

static int read_clusters(struct bats_db *db, int64_t session,
                         struct bats_rebuilt *b, struct bats_error *err)
{
    struct bats_sched_options *o = &b->options;
    sqlite3_stmt *s;
    int rc = bats_db_prepare(db,
                             "SELECT name, charge, max, id FROM cluster "
                             "WHERE session = ? ORDER BY id",
                             &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, session);
    while ((rc = bats_db_step(db, s, err)) > 0) {
        if (o->n_clusters == BATS_CLUSTERS_MAX ||
            sqlite3_column_int64(s, 3) != (int64_t)o->n_clusters) {
            rc = damaged(db, "the clusters", err);
            break;
        }
        struct bats_cluster *c = &b->clusters[o->n_clusters++];
        const char *name = (const char *)sqlite3_column_text(s, 0);
        *c = b->lists.models[o->n_clusters - 1];
        snprintf(c->name, sizeof c->name, "%s", name != NULL ? name : "");
        c->charge = sqlite3_column_int64(s, 1);
        c->unreliable = b->lists.unreliable[o->n_clusters - 1] > 0;
        c->lost_is_free = b->lists.unreliable[o->n_clusters - 1] > 1;
        c->noticed = b->lists.noticed[o->n_clusters - 1];
        c->max = sqlite3_column_type(s, 2) == SQLITE_NULL
                     ? UINT32_MAX
                     : (uint32_t)sqlite3_column_int64(s, 2);
    }
    o->clusters = b->clusters;
    sqlite3_finalize(s);
    return rc;
}

static int read_machines(struct bats_db *db, int64_t session,
                         struct bats_rebuilt *b, struct bats_error *err)
{
    struct bats_sched_options *o = &b->options;
    sqlite3_stmt *s;
    size_t capacity = 0;
    int64_t slots = 0;
    int rc = bats_db_prepare(db,
                             "SELECT cluster, slots, id FROM machine "
                             "WHERE session = ? ORDER BY id",
                             &s, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, session);
    while ((rc = bats_db_step(db, s, err)) > 0) {
        int64_t cluster = sqlite3_column_int64(s, 0);
        int64_t n = sqlite3_column_int64(s, 1);
        if (cluster < 0 || cluster >= (int64_t)o->n_clusters || n < 1 ||
            n > SLOTS_MAX || (slots += n) > SLOTS_MAX ||
            sqlite3_column_int64(s, 2) != o->n_machines) {
            rc = damaged(db, "the machines", err);
            break;
        }
        if (!bats_grow(&b->machines, &capacity, o->n_machines + 1,
                       sizeof *b->machines)) {
            rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
            break;
        }
        b->machines[o->n_machines++] = (struct bats_machine_spec){
            .cluster = (uint32_t)cluster, .slots = (uint32_t)n};
    }
    o->machines = b->machines;
    sqlite3_finalize(s);
    return rc;
}

/* ---- its bag ---- */

static int compare_places(const void *a, const void *b)
{
    const struct bats_rebuilt_place *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int take_tasks(struct bats_db *db, const struct bats_past *past,
                      enum bats_record_resume resume, struct bats_rebuilt *b,
                      struct bats_error *err)
{
    uint32_t n = b->options.n_tasks;

    if (past->n_in_bag != n)
        return damaged(db, "the tasks", err);
    b->places = malloc(n * sizeof *b->places);
    b->state = malloc(n);
    b->failures = malloc(n);
    b->losses = malloc(n);
    b->yields = malloc(n);
    if (b->places == NULL || b->state == NULL || b->failures == NULL ||
        b->losses == NULL || b->yields == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        const struct bats_past_task *t = &past->tasks[i];
        if (t->number != i + 1)
            return damaged(db, "the tasks", err);
        b->places[i] = (struct bats_rebuilt_place){t->id, i};
        b->state[i] = (uint8_t)bats_record_state(resume, &t->past);
        b->failures[i] = t->past.failures;
        b->losses[i] = t->past.losses;
        b->yields[i] = t->past.yields;
    }
    qsort(b->places, n, sizeof *b->places, compare_places);
    b->options.earlier.state = b->state;
    b->options.earlier.failures = b->failures;
    b->options.earlier.losses = b->losses;
    b->options.earlier.yields = b->yields;
    b->options.earlier.charged = past->charged;
    return 0;
}

static int read_bag(struct bats_db *db, int64_t session,
                    enum bats_record_resume resume, struct bats_rebuilt *b,
                    struct bats_error *err)
{
    struct bats_past past = {0};
    int rc = bats_past_load(&past, db, session, session, err);

    if (rc == 0)
        rc = take_tasks(db, &past, resume, b, err);
    bats_past_release(&past);
    return rc;
}

/* The engine wants to know of every machine. */
static int complete_asked(struct bats_db *db, struct bats_rebuilt *b,
                          struct bats_error *err)
{
    uint32_t n = b->lists.n_asked, n_machines = b->options.n_machines;

    if (n == 0)
        return 0;
    if (n > n_machines)
        return damaged(db, "the jobs that were taken over", err);
    bats_time *all = realloc(b->lists.asked, n_machines * sizeof *all);
    if (all == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    memset(all + n, 0, (n_machines - n) * sizeof *all);
    b->options.earlier.asked = b->lists.asked = all;
    return 0;
}

int bats_rebuild(struct bats_db *db, int64_t session, struct bats_rebuilt *b,
                 struct bats_error *err)
{
    enum bats_record_resume resume = BATS_RECORD_NOT;

    *b = (struct bats_rebuilt){0};
    int rc = read_session(db, session, b, &resume, err);
    if (rc == 0)
        rc = read_clusters(db, session, b, err);
    if (rc == 0)
        rc = read_machines(db, session, b, err);
    if (rc == 0)
        rc = complete_asked(db, b, err);
    if (rc == 0 && b->lists.graph_nodes > 0) {
        rc = bats_record_graph_read(db, session, b->options.n_tasks,
                                    b->lists.graph_nodes, &b->graph, err);
        b->options.graph = &b->graph;
    }
    return rc < 0 ? rc : read_bag(db, session, resume, b, err);
}

void bats_rebuilt_release(struct bats_rebuilt *b)
{
    free(b->machines);
    free(b->state);
    free(b->failures);
    free(b->losses);
    free(b->yields);
    free(b->lists.once);
    free(b->lists.known[0]);
    free(b->lists.known[1]);
    free(b->lists.fresh);
    free(b->lists.asked);
    free(b->lists.category);
    free(b->lists.purse);
    free(b->lists.purses);
    free(b->lists.profile);
    free(b->lists.seen);
    free(b->places);
    bats_graph_release(&b->graph);
    *b = (struct bats_rebuilt){0};
}

int64_t bats_rebuilt_task(const struct bats_rebuilt *b, int64_t id)
{
    struct bats_rebuilt_place key = {.id = id};
    const struct bats_rebuilt_place *found = bsearch(
        &key, b->places, b->options.n_tasks, sizeof key, compare_places);

    return found != NULL ? found->task : BATS_NO_TASK;
}
