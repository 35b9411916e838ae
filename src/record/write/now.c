#include "record/write/now.h"

#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "record/state.h"
#include "util/grow.h"

#define NONE (-1)

/* ---- tasks ---- */

static int64_t *count_of(struct bats_now *now, const struct bats_now_task *t)
{
    bool runs = t->n_open > 0 && !t->has_ended;
    return &now->count[runs ? BATS_NOW_RUNNING : t->state];
}

static void set_state(struct bats_now *now, uint32_t task, int state,
                      bool has_ended)
{
    struct bats_now_task *t = &now->tasks[task];
    --*count_of(now, t);
    t->state = (unsigned)state & 7;
    t->has_ended |= has_ended;
    ++*count_of(now, t);
}

static void set_open(struct bats_now *now, uint32_t task, int change)
{
    struct bats_now_task *t = &now->tasks[task];
    --*count_of(now, t);
    t->n_open = (uint16_t)(t->n_open + change);
    ++*count_of(now, t);
}

void bats_now_skip(struct bats_now *now, uint32_t task)
{
    if (task < now->n_tasks && now->tasks[task].state == BATS_NOW_PENDING)
        set_state(now, task, BATS_NOW_SKIPPED, false);
}

/* ---- executions ---- */

static struct bats_now_slot *slot_of(struct bats_now *now, uint32_t machine,
                                     uint32_t slot)
{
    return machine < now->n_machines && slot < now->machines[machine].n_slots
               ? &now->slots[now->machines[machine].first_slot + slot]
               : NULL;
}

/* Finds an execution in its slot's queue; mostly it is the first. Returns the
 * link to it; *before: the one before, or NONE. */
static int32_t *find(struct bats_now *now, struct bats_now_slot *s,
                     uint32_t task, int32_t *before)
{
    int32_t *link = &s->first;
    *before = NONE;
    while (*link != NONE && task != BATS_NO_TASK &&
           now->runs[*link].task != task) {
        *before = *link;
        link = &now->runs[*link].next;
    }
    return link;
}

struct bats_now_run *bats_now_find(struct bats_now *now, uint32_t machine,
                                   uint32_t slot, uint32_t task)
{
    struct bats_now_slot *s = slot_of(now, machine, slot);
    int32_t before;
    int32_t at = s != NULL ? *find(now, s, task, &before) : NONE;
    return at != NONE ? &now->runs[at] : NULL;
}

struct bats_now_run *bats_now_add(struct bats_now *now, uint32_t machine,
                                  uint32_t slot, uint32_t task)
{
    struct bats_now_slot *s = slot_of(now, machine, slot);
    int32_t at = now->unused;
    if (s == NULL || task >= now->n_tasks)
        return NULL;
    if (at != NONE)
        now->unused = now->runs[at].next;
    else if (bats_grow(&now->runs, &now->capacity, now->n_runs + 1,
                       sizeof *now->runs))
        at = (int32_t)now->n_runs++;
    else
        return NULL;
    now->runs[at] = (struct bats_now_run){.task = task, .next = NONE};
    *(s->first == NONE ? &s->first : &now->runs[s->last].next) = at;
    s->last = at;
    set_open(now, task, +1);
    return &now->runs[at];
}

bool bats_now_take(struct bats_now *now, uint32_t machine, uint32_t slot,
                   uint32_t task, struct bats_now_run *run)
{
    struct bats_now_slot *s = slot_of(now, machine, slot);
    int32_t before;
    int32_t *link = s != NULL ? find(now, s, task, &before) : NULL;
    if (link == NULL || *link == NONE)
        return false;
    int32_t at = *link;
    *run = now->runs[at];
    *link = run->next;
    if (s->last == at)
        s->last = before;
    now->runs[at].next = now->unused;
    now->unused = at;
    set_open(now, run->task, -1);
    return true;
}

/* ---- machines and money ---- */

static struct bats_now_cluster *cluster_of(struct bats_now *now,
                                           uint32_t machine)
{
    if (machine >= now->n_machines)
        return NULL;
    struct bats_now_cluster *c =
        &now->clusters[now->machines[machine].cluster];
    c->is_dirty = true;
    return c;
}

void bats_now_set(struct bats_now *now, uint32_t machine, bool is_held,
                  bool is_lost)
{
    struct bats_now_cluster *of = cluster_of(now, machine);
    if (of == NULL)
        return;
    struct bats_now_machine *m = &now->machines[machine];
    of->held += is_held - m->is_held;
    of->lost += is_lost - m->is_lost;
    m->is_held = is_held;
    m->is_lost = is_lost;
}

void bats_now_charge(struct bats_now *now, uint32_t machine, bats_money amount)
{
    struct bats_now_cluster *of = cluster_of(now, machine);
    if (of == NULL)
        return;
    of->windows++;
    of->charged += amount;
}

/* ---- results ---- */

/* A task's failure in an earlier session no longer counts for that cluster. */
static int take_earlier(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_record *r = context;
    int64_t id = sqlite3_column_int64(s, 0);
    (void)err;
    if (id < 0 || id >= (int64_t)r->now.n_clusters)
        return 0;
    struct bats_now_cluster *of = &r->now.clusters[id];
    of->failed--;
    of->wall_us -= sqlite3_column_int64(s, 1);
    of->runtime -= sqlite3_column_double(s, 2);
    of->is_dirty = true;
    return 0;
}

static int forget_earlier(struct bats_record *r, uint32_t task,
                          struct bats_error *err)
{
    return bats_db_each(
        &r->db,
        "SELECT p.id, n.wall_us, n.wall_us * s.time_scale FROM task_now n"
        "  JOIN session s ON s.id = n.session"
        "  JOIN cluster p ON p.session = ?2 AND p.name = n.cluster "
        "WHERE n.place = ?1",
        take_earlier, r, err,
        BATS_VALUES(BATS_I(r->now.tasks[task].place), BATS_I(r->session)));
}

int bats_now_attempt(struct bats_record *r,
                     const struct bats_record_attempt *a,
                     struct bats_error *err)
{
    struct bats_now *now = &r->now;
    int rc = 0;
    now->preempted += a->outcome == BATS_RECORD_PREEMPTED;
    if (a->outcome != BATS_RECORD_RESULT || a->task >= now->n_tasks)
        return 0;
    const struct bats_now_task *t = &now->tasks[a->task];
    if (t->state == BATS_NOW_FAILED && !t->has_ended)
        rc = forget_earlier(r, a->task, err);
    bool has_failed = a->usage.exit_status != 0 || a->usage.signal != 0;
    set_state(now, a->task, has_failed ? BATS_NOW_FAILED : BATS_NOW_DONE,
              true);
    struct bats_now_cluster *of = cluster_of(now, a->machine);
    if (of == NULL)
        return rc;
    *(has_failed ? &of->failed : &of->done) += 1;
    of->wall_us += a->usage.wall_us;
    of->runtime += (double)a->usage.wall_us * now->scale;
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
    free(now->awaited);
    free(now->leases);
    *now = (struct bats_now){0};
}
