/* now: the state of the session: counts, and the tables written when it
 * begins. Readers need not count a million tasks. */
#include <stdlib.h>
#include <string.h>

#include "bats/bag.h"
#include "bats/sched.h"
#include "record/state.h"

#define NONE (-1)
#define I BATS_I
#define T BATS_T
#define RUN(sql, ...) bats_rows_run(r, sql, err, BATS_VALUES(__VA_ARGS__))

/* ---- while it runs ---- */

static int64_t *count_of(struct bats_now *now, const struct bats_now_task *t)
{
    bool runs = t->n_open > 0 && !t->has_ended;
    return &now->count[runs ? BATS_NOW_RUNNING : t->state];
}

void bats_now_change(struct bats_now *now, uint32_t task,
                     enum bats_task_now state, bool has_ended)
{
    struct bats_now_task *t = &now->tasks[task];
    --*count_of(now, t);
    t->state = (unsigned)state & 7;
    t->has_ended |= has_ended;
    ++*count_of(now, t);
}

void bats_now_open(struct bats_now *now, uint32_t task, int change)
{
    struct bats_now_task *t = &now->tasks[task];
    --*count_of(now, t);
    t->n_open = (uint16_t)(t->n_open + change);
    ++*count_of(now, t);
}

struct bats_now_sums *bats_now_sums(struct bats_now *now, uint32_t machine)
{
    if (machine >= now->n_machines)
        return NULL;
    struct bats_now_cluster *c =
        &now->clusters[now->machines[machine].cluster];
    c->is_dirty = true;
    return &c->more;
}

void bats_now_set(struct bats_now *now, uint32_t machine, bool is_held,
                  bool is_lost)
{
    struct bats_now_sums *of = bats_now_sums(now, machine);
    if (of == NULL)
        return;
    struct bats_now_machine *m = &now->machines[machine];
    of->held += is_held - m->is_held;
    of->lost += is_lost - m->is_lost;
    m->is_held = is_held;
    m->is_lost = is_lost;
}

int bats_now_put(struct bats_record *r, struct bats_error *err)
{
    static const char now_sql[] = "INSERT OR REPLACE INTO now VALUES"
                                  " (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    static const char cluster_sql[] =
        "UPDATE cluster_now SET held = held + ?, lost = lost + ?,"
        " windows = windows + ?, charged = charged + ?, done = done + ?,"
        " failed = failed + ?, wall_us = wall_us + ?,"
        " runtime_us = runtime_us + ? WHERE session = ? AND cluster = ?";
    struct bats_now *n = &r->now;
    int rc = bats_rows_put(
        r, now_sql, err,
        BATS_VALUES(
            I(r->session), I(r->seq), I(n->time),
            I(n->count[BATS_NOW_PENDING]), I(n->count[BATS_NOW_RUNNING]),
            I(n->count[BATS_NOW_DONE]), I(n->count[BATS_NOW_FAILED]),
            I(n->count[BATS_NOW_SKIPPED]), I(n->removed), I(n->preempted),
            I(n->ending), I(n->sampled && !n->chosen)));
    for (size_t i = 0; rc == 0 && i < n->n_clusters; i++) {
        struct bats_now_cluster *c = &n->clusters[i];
        const struct bats_now_sums *s = &c->more;
        if (!c->is_dirty)
            continue;
        rc = bats_rows_put(
            r, cluster_sql, err,
            BATS_VALUES(I(s->held), I(s->lost), I(s->windows), I(s->charged),
                        I(s->done), I(s->failed), I(s->wall_us),
                        I((int64_t)((double)s->wall_us * n->scale)),
                        I(r->session), I((int64_t)i)));
        if (rc == 0)
            c->more = (struct bats_now_sums){0};
        c->is_dirty = rc < 0;
    }
    return rc;
}

void bats_now_release(struct bats_now *now)
{
    for (uint32_t i = 0; now->machines != NULL && i < now->n_machines; i++)
        free(now->machines[i].host);
    free(now->machines);
    free(now->slots);
    free(now->tasks);
    free(now->runs);
    free(now->ends);
    free(now->leases);
    free(now->dirty);
    *now = (struct bats_now){0};
}

/* ---- its beginning ---- */

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
        n_slots += m->slots;
    }
    now->slots = malloc(((size_t)n_slots + 1) * sizeof *now->slots);
    if (now->machines == NULL || now->slots == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < n_slots; i++)
        now->slots[i] = (struct bats_now_slot){NONE, NONE};
    return 0;
}

/* Gives new tasks the next places, in draw order: the last position is the
 * first. */
static int place_tasks(struct bats_record *r, const struct bats_bag *order,
                       struct bats_error *err)
{
    int rc = 0;
    for (uint32_t at = r->n_tasks; rc == 0 && at-- > 0;) {
        uint32_t i = order->index[at];
        struct bats_now_task *t = &r->now.tasks[i];
        if (t->place > 0 && t->was != t->state)
            rc = RUN("UPDATE task_now SET state = ?2 WHERE place = ?1",
                     I(t->place), I(t->state));
        if (t->place > 0)
            continue;
        t->place = (uint32_t)++r->past.last_place;
        rc = RUN(BATS_NOW_NEW_TASK, I(t->place), I(r->id[i]),
                 I((int64_t)i + 1), I(t->state));
    }
    return rc;
}

int bats_now_remember(struct bats_record *r, struct bats_error *err)
{
    struct bats_now *now = &r->now;
    now->removed = (int64_t)r->past.n;
    now->tasks_room = (size_t)r->n_tasks + 1;
    now->tasks = calloc(now->tasks_room, sizeof *now->tasks);
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

static int insert_account(struct bats_record *r, uint32_t id,
                          const struct bats_purse *p, struct bats_error *err)
{
    bool is_limited = p->budget != BATS_UNLIMITED;
    return RUN("INSERT INTO account VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?)",
               I(r->session), I(id), T(p->name),
               I(is_limited ? p->budget : BATS_DB_NULL), I(p->charged),
               I(p->deadline > 0 ? p->deadline : BATS_DB_NULL),
               I(p->begin > 0 ? p->begin : BATS_DB_NULL));
}

static int make_accounts(struct bats_record *r,
                         const struct bats_sched_options *engine,
                         struct bats_error *err)
{
    const struct bats_purse run = {.budget = engine->budget,
                                   .charged = engine->earlier.charged};
    int rc = insert_account(r, 0, &run, err);
    for (uint32_t i = 0; rc == 0 && i < engine->n_purses; i++)
        rc = insert_account(r, i + 1, &engine->purses[i], err);
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
    }
    int rc = bats_db_integer(&r->db, "SELECT max(id) FROM lease",
                             &now->leases_before, err);
    if (rc == 0)
        rc = make_machines(now, session, err);
    if (rc == 0)
        rc = bats_schema_cluster_now(&r->db, err);
    if (rc == 0)
        rc = make_tasks(r, engine, err);
    if (rc == 0)
        rc = make_accounts(r, engine, err);
    if (rc == 0)
        rc = bats_now_put(r, err);
    if (rc == 0)
        rc = bats_rows_write(r, err);
    if (rc == 0)
        bats_record_forget(r);
    return rc;
}
