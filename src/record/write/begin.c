/* begin: writes the state tables when a session begins. */
#include <stdlib.h>
#include <string.h>

#include "bats/bag.h"
#include "bats/sched.h"
#include "record/state.h"

#define NONE (-1)

static int make_machines(struct bats_now *now,
                         const struct bats_record_session *session,
                         struct bats_error *err)
{
    const struct bats_sched_options *engine = session->engine;
    uint32_t n_slots = 0;
    now->n_machines = engine->n_machines;
    now->machines = calloc((size_t)now->n_machines + 1, sizeof *now->machines);
    for (uint32_t i = 0; now->machines != NULL && i < now->n_machines; i++) {
        const struct bats_machine_spec *m = &engine->machines[i];
        const char *host = session->hosts != NULL ? session->hosts[i] : NULL;
        now->machines[i] =
            (struct bats_now_machine){.first_slot = n_slots,
                                      .n_slots = m->slots,
                                      .cluster = (uint8_t)m->cluster,
                                      .host = host ? strdup(host) : NULL};
        if (host != NULL && now->machines[i].host == NULL)
            return bats_no_memory(err);
        now->clusters[m->cluster].machines++;
        n_slots += m->slots;
    }
    now->slots = malloc(((size_t)n_slots + 1) * sizeof *now->slots);
    if (now->machines == NULL || now->slots == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < n_slots; i++)
        now->slots[i] = (struct bats_now_slot){NONE, NONE};
    return 0;
}

static struct bats_now_cluster *find_cluster(struct bats_now *now,
                                             const char *name)
{
    for (size_t i = 0; name != NULL && i < now->n_clusters; i++)
        if (strcmp(now->clusters[i].name, name) == 0)
            return &now->clusters[i];
    return NULL;
}

/* Takes over earlier task counts and charges of clusters with these names. */
static int take_past(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_record *r = context;
    struct bats_now_cluster *of =
        find_cluster(&r->now, (const char *)sqlite3_column_text(s, 0));
    (void)err;
    if (of == NULL)
        return 0;
    of->done += sqlite3_column_int64(s, 1);
    of->failed += sqlite3_column_int64(s, 2);
    of->wall_us += sqlite3_column_int64(s, 3);
    of->runtime += sqlite3_column_double(s, 4);
    of->windows += sqlite3_column_int64(s, 5);
    of->charged += sqlite3_column_int64(s, 6);
    return 0;
}

static const char past_sql[] =
    "SELECT cluster, count(*) FILTER (WHERE state != 2),"
    "  count(*) FILTER (WHERE state = 2), sum(wall_us),"
    "  sum(wall_us * time_scale), 0, 0"
    " FROM task_now n JOIN session s ON s.id = n.session GROUP BY cluster"
    " UNION ALL SELECT c.name, 0, 0, 0, 0, count(*), sum(amount)"
    " FROM charge l JOIN machine m ON m.session = l.session"
    "   AND m.id = l.machine"
    "  JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
    " WHERE l.account = 0 GROUP BY c.name";

/* Gives new tasks the next places, in draw order: the last position is the
 * first. */
static int place_tasks(struct bats_record *r, const struct bats_bag *order,
                       struct bats_error *err)
{
    sqlite3_stmt *insert, *update = NULL;
    int rc = bats_db_prepare(&r->db,
                             "INSERT INTO task_now (place, task, number,"
                             " removed, state, executions, attempts, failures,"
                             " losses, yields)"
                             " VALUES (?, ?, ?, 0, ?, 0, 0, 0, 0, 0)",
                             &insert, err);
    if (rc == 0)
        rc = bats_db_prepare(&r->db,
                             "UPDATE task_now SET state = ?2 WHERE place = ?1",
                             &update, err);
    for (uint32_t at = r->n_tasks; rc == 0 && at-- > 0;) {
        uint32_t i = order->index[at];
        struct bats_now_task *t = &r->now.tasks[i];
        bool is_new = t->place == 0;
        if (is_new)
            t->place = (uint32_t)++r->past.last_place;
        if (is_new)
            rc = bats_db_put(&r->db, insert, err,
                             BATS_VALUES(BATS_I(t->place), BATS_I(r->id[i]),
                                         BATS_I((int64_t)i + 1),
                                         BATS_I(t->state)));
        else if (t->was != t->state)
            rc = bats_db_put(&r->db, update, err,
                             BATS_VALUES(BATS_I(t->place), BATS_I(t->state)));
    }
    sqlite3_finalize(insert);
    sqlite3_finalize(update);
    return rc;
}

int bats_now_remember(struct bats_record *r, struct bats_error *err)
{
    struct bats_now *now = &r->now;
    now->removed = (int64_t)r->past.n;
    now->tasks = calloc((size_t)r->n_tasks + 1, sizeof *now->tasks);
    if (now->tasks == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < r->n_tasks; i++) {
        const struct bats_past_task *t = bats_record_found(r, i);
        if (t == NULL)
            continue;
        now->removed--;
        now->tasks[i].place = t->place;
        now->tasks[i].was = (unsigned)t->state & 7;
        now->tasks[i].state = (unsigned)t->past.state & 7;
    }
    return 0;
}

static int make_tasks(struct bats_record *r,
                      const struct bats_sched_options *engine,
                      struct bats_error *err)
{
    const uint8_t *fresh = engine->earlier.fresh;
    struct bats_now *now = &r->now;
    struct bats_bag order;
    int rc = now->tasks == NULL ? bats_now_remember(r, err) : 0;
    if (rc < 0)
        return rc;
    now->n_tasks = r->n_tasks;
    for (uint32_t i = 0; i < r->n_tasks; i++) {
        struct bats_now_task *t = &now->tasks[i];
        if (t->state == BATS_NOW_PENDING && fresh != NULL && fresh[i] != 0)
            t->state = BATS_NOW_DONE;
        if (engine->open && t->was == BATS_NOW_SKIPPED &&
            engine->earlier.state[i] == BATS_TASK_LEFT_OUT)
            t->state = BATS_NOW_SKIPPED;
        now->count[t->state]++;
    }
    if (r->n_tasks == 0)
        return 0;
    rc = bats_bag_init(&order, r->n_tasks, engine->seed, err);
    if (rc < 0)
        return rc;
    if (engine->in_order)
        bats_bag_keep_order(&order, engine->order);
    rc = place_tasks(r, &order, err);
    bats_bag_release(&order);
    return rc;
}

static int insert_account(struct bats_record *r, sqlite3_stmt *s, uint32_t id,
                          const struct bats_purse *p, struct bats_error *err)
{
    bool is_limited = p->budget != BATS_UNLIMITED;
    return bats_db_put(
        &r->db, s, err,
        BATS_VALUES(BATS_I(r->session), BATS_I(id), BATS_T(p->name),
                    BATS_I(is_limited ? p->budget : BATS_DB_NULL),
                    BATS_I(p->charged),
                    BATS_I(p->deadline > 0 ? p->deadline : BATS_DB_NULL),
                    BATS_I(p->begin > 0 ? p->begin : BATS_DB_NULL)));
}

static int make_accounts(struct bats_record *r,
                         const struct bats_sched_options *engine,
                         struct bats_error *err)
{
    const struct bats_purse run = {.budget = engine->budget,
                                   .charged = engine->earlier.charged};
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &r->db, "INSERT INTO account VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?)", &s,
        err);
    if (rc == 0)
        rc = insert_account(r, s, 0, &run, err);
    for (uint32_t i = 0; rc == 0 && i < engine->n_purses; i++)
        rc = insert_account(r, s, i + 1, &engine->purses[i], err);
    sqlite3_finalize(s);
    return rc;
}

int bats_now_begin(struct bats_record *r,
                   const struct bats_record_session *session,
                   struct bats_error *err)
{
    const struct bats_sched_options *engine = session->engine;
    struct bats_now *now = &r->now;
    now->unused = NONE;
    now->scale = session->time_scale;
    now->preempted = r->past.preempted;
    now->n_clusters = engine->n_clusters;
    for (size_t i = 0; i < now->n_clusters; i++) {
        const struct bats_cluster *c = &engine->clusters[i];
        now->clusters[i].price = (double)c->charge / (double)engine->window;
        memcpy(now->clusters[i].name, c->name, sizeof c->name);
        now->clusters[i].is_dirty = true;
    }
    int rc = bats_db_integer(&r->db, "SELECT max(id) FROM lease",
                             &now->leases_before, err);
    if (rc == 0)
        rc = make_machines(now, session, err);
    if (rc == 0 && r->past.sessions > 0)
        rc = bats_db_each(&r->db, past_sql, take_past, r, err, NULL, 0);
    if (rc == 0)
        rc = make_tasks(r, engine, err);
    if (rc == 0)
        rc = make_accounts(r, engine, err);
    return rc == 0 ? bats_rows_write_now(r, err) : rc;
}
