#include "record/write/count.h"

#include <stdlib.h>

#include "record/places.h"
#include "record/tally.h"
#include "util/grow.h"

#define NONE (-1)

/* An execution that has not ended, in the queue of its slot. */
struct open_run {
    uint32_t task;
    int32_t next;
};

struct slot {
    int32_t first, last; /* in runs, or NONE */
};

struct machine {
    uint32_t first_slot, n_slots;
    uint8_t cluster;
    bool is_held, is_lost;
};

/* The last result of a task that failed before, as it was added. */
struct earlier {
    uint32_t task;
    int32_t cluster; /* or NONE */
    int64_t wall_us;
    double runtime;
};

struct bats_count {
    struct bats_tally tally;
    bool is_off; /* it is not known any more */
    bool sampled, chosen;
    size_t n_counted; /* of the rows that wait */
    uint32_t n_tasks;
    uint8_t *state;  /* by task: enum bats_tally_state, and ENDED */
    uint8_t *n_open; /* by task: executions */
    struct machine *machines;
    uint32_t n_machines;
    struct slot *slots;
    struct open_run *runs;
    size_t n_runs, capacity;
    int32_t unused;          /* in runs */
    struct earlier *earlier; /* in ascending order */
    size_t n_earlier;
    double scale;
    sqlite3_stmt *write;
};

#define ENDED 0x80 /* with a result, in this session: it does not run */
#define STATE 0x7f

/* ---- tasks ---- */

/* Adds the task, as it is, to the counts of tasks, or with -1 takes it out. */
static void add_task(struct bats_count *c, uint32_t task, int sign)
{
    int state = c->state[task] & STATE;
    c->tally.state[state] += sign;
    if (c->n_open[task] > 0 && (c->state[task] & ENDED) == 0)
        c->tally.running[state] += sign;
}

static void set_state(struct bats_count *c, uint32_t task, int state)
{
    add_task(c, task, -1);
    c->state[task] = (uint8_t)state;
    add_task(c, task, +1);
}

static void set_open(struct bats_count *c, uint32_t task, int change)
{
    add_task(c, task, -1);
    if (change > 0 && c->n_open[task] == UINT8_MAX)
        c->is_off = true;
    else
        c->n_open[task] = (uint8_t)(c->n_open[task] + change);
    add_task(c, task, +1);
}

/* ---- executions ---- */

static struct slot *slot_of(struct bats_count *c, uint32_t machine,
                            uint32_t slot)
{
    return machine < c->n_machines && slot < c->machines[machine].n_slots
               ? &c->slots[c->machines[machine].first_slot + slot]
               : NULL;
}

/* A slot runs what it is given one after the other, so that what ends is mostly
 * the first. */
static void begin_run(struct bats_count *c, uint32_t machine, uint32_t slot,
                      uint32_t task)
{
    struct slot *s = slot_of(c, machine, slot);
    int32_t at = c->unused;
    if (s == NULL || task >= c->n_tasks) {
        c->is_off = true;
        return;
    }
    if (at == NONE) {
        if (!bats_grow(&c->runs, &c->capacity, c->n_runs + 1,
                       sizeof *c->runs)) {
            c->is_off = true;
            return;
        }
        at = (int32_t)c->n_runs++;
    } else {
        c->unused = c->runs[at].next;
    }
    c->runs[at] = (struct open_run){task, NONE};
    *(s->first == NONE ? &s->first : &c->runs[s->last].next) = at;
    s->last = at;
    set_open(c, task, +1);
}

/* Takes the one after `before` (NONE: the first) out of the queue. */
static void drop_run(struct bats_count *c, struct slot *s, int32_t before)
{
    int32_t *link = before == NONE ? &s->first : &c->runs[before].next;
    int32_t at = *link;
    *link = c->runs[at].next;
    if (s->last == at)
        s->last = before;
    set_open(c, c->runs[at].task, -1);
    c->runs[at].next = c->unused;
    c->unused = at;
}

static void end_run(struct bats_count *c, const struct bats_event *e)
{
    struct slot *s = slot_of(c, e->machine, e->slot);
    int32_t before = NONE;
    if (s == NULL)
        return;
    for (int32_t i = s->first; i != NONE; before = i, i = c->runs[i].next)
        if (c->runs[i].task == e->task) {
            drop_run(c, s, before);
            return;
        }
}

/* ---- machines ---- */

static void set_machine(struct bats_count *c, uint32_t machine, bool is_held,
                        bool is_lost)
{
    if (machine >= c->n_machines)
        return;
    struct machine *m = &c->machines[machine];
    struct bats_tally_cluster *of = &c->tally.clusters[m->cluster];
    of->held += is_held - m->is_held;
    of->lost += is_lost - m->is_lost;
    m->is_held = is_held;
    m->is_lost = is_lost;
}

static void lose_machine(struct bats_count *c, uint32_t machine)
{
    set_machine(c, machine, false, true);
    if (machine >= c->n_machines)
        return;
    for (uint32_t i = 0; i < c->machines[machine].n_slots; i++) {
        struct slot *s = slot_of(c, machine, i);
        while (s->first != NONE)
            drop_run(c, s, NONE);
    }
}

/* ---- rows ---- */

static void count_event(struct bats_count *c, const struct bats_event *e)
{
    switch (e->type) {
    case BATS_EVENT_LOST:
        lose_machine(c, e->machine);
        break;
    case BATS_EVENT_DONE:
    case BATS_EVENT_FAILED:
    case BATS_EVENT_PREEMPTED:
    case BATS_EVENT_YIELDED:
        end_run(c, e);
        break;
    case BATS_EVENT_DRAIN:
    case BATS_EVENT_STOP:
        c->tally.ending = true;
        break;
    case BATS_EVENT_CHOSEN:
        c->chosen = true;
        break;
    default:
        break;
    }
}

static void count_command(struct bats_count *c, const struct bats_command *m)
{
    switch (m->type) {
    case BATS_COMMAND_RUN:
        begin_run(c, m->machine, m->slot, m->task);
        break;
    case BATS_NOTICE_SKIP: /* a result is worth more */
        if (m->task < c->n_tasks && c->state[m->task] == BATS_TALLY_PENDING)
            set_state(c, m->task, BATS_TALLY_SKIPPED);
        break;
    case BATS_COMMAND_ACQUIRE:
        set_machine(c, m->machine, true, false);
        break;
    case BATS_COMMAND_PARK:
    case BATS_COMMAND_RELEASE:
        set_machine(c, m->machine, false, false);
        break;
    case BATS_NOTICE_SAMPLED:
        c->sampled = true;
        break;
    default:
        break;
    }
}

static int compare_earlier(const void *a, const void *b)
{
    const struct earlier *x = a, *y = b;
    return (x->task > y->task) - (x->task < y->task);
}

/* The result of the task in an earlier session does not count any more. */
static void forget_earlier(struct bats_count *c, uint32_t task)
{
    struct earlier key = {.task = task};
    const struct earlier *e = c->n_earlier == 0
                                  ? NULL
                                  : bsearch(&key, c->earlier, c->n_earlier,
                                            sizeof key, compare_earlier);
    if (e == NULL || e->cluster == NONE)
        return;
    struct bats_tally_cluster *of = &c->tally.clusters[e->cluster];
    of->failed--;
    of->wall_us -= e->wall_us;
    of->runtime -= e->runtime;
}

static void count_attempt(struct bats_count *c,
                          const struct bats_record_attempt *a)
{
    c->tally.preempted += a->outcome == BATS_RECORD_PREEMPTED;
    if (a->outcome != BATS_RECORD_RESULT || a->task >= c->n_tasks)
        return;
    int state = c->state[a->task];
    if ((state & ENDED) != 0) { /* a second one */
        c->is_off = true;
        return;
    }
    bool has_failed = a->usage.exit_status != 0 || a->usage.signal != 0;
    if (state == BATS_TALLY_FAILED)
        forget_earlier(c, a->task);
    set_state(c, a->task,
              ENDED | (has_failed ? BATS_TALLY_FAILED : BATS_TALLY_DONE));
    if (a->machine >= c->n_machines)
        return;
    struct bats_tally_cluster *of =
        &c->tally.clusters[c->machines[a->machine].cluster];
    *(has_failed ? &of->failed : &of->done) += 1;
    of->wall_us += a->usage.wall_us;
    of->runtime += (double)a->usage.wall_us * c->scale;
}

static void count_charge(struct bats_count *c, uint32_t machine,
                         bats_money amount)
{
    c->tally.charged += amount;
    if (machine >= c->n_machines)
        return;
    struct bats_tally_cluster *of =
        &c->tally.clusters[c->machines[machine].cluster];
    of->windows++;
    of->charged += amount;
}

static void count_row(struct bats_count *c, const struct bats_row *row)
{
    c->tally.seq = row->seq;
    if (row->kind == BATS_ROW_EVENT || row->kind == BATS_ROW_COMMAND)
        c->tally.time = row->now;
    if (row->kind == BATS_ROW_EVENT)
        count_event(c, &row->u.event);
    else if (row->kind == BATS_ROW_COMMAND)
        count_command(c, &row->u.command);
    else if (row->kind == BATS_ROW_ATTEMPT)
        count_attempt(c, &row->u.attempt);
    else if (row->kind == BATS_ROW_CHARGE)
        count_charge(c, row->u.charge.machine, row->u.charge.amount);
}

void bats_count_rows(struct bats_record *r)
{
    struct bats_count *c = r->count;
    for (; c != NULL && !c->is_off && c->n_counted < r->n_rows; c->n_counted++)
        count_row(c, &r->rows[c->n_counted]);
}

void bats_count_dropped(struct bats_record *r, bool are_written)
{
    struct bats_count *c = r->count;
    if (c == NULL)
        return;
    c->is_off |= !are_written && r->n_rows > 0;
    c->n_counted = 0;
}

int bats_count_write(struct bats_record *r, struct bats_error *err)
{
    struct bats_count *c = r->count;
    if (c == NULL || c->is_off)
        return 0;
    c->tally.choosing = c->sampled && !c->chosen;
    return bats_tally_write(&c->tally, &r->db, &c->write, err);
}

/* ---- the beginning of a session ---- */

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

static int make(struct bats_count *c, const struct bats_sched_options *engine,
                uint32_t n_tasks, struct bats_error *err)
{
    uint32_t n_slots = 0;
    c->n_tasks = n_tasks;
    c->n_machines = engine->n_machines;
    c->unused = NONE;
    c->tally.n_clusters = engine->n_clusters;
    c->state = calloc((size_t)n_tasks + 1, 1);
    c->n_open = calloc((size_t)n_tasks + 1, 1);
    c->machines = calloc((size_t)c->n_machines + 1, sizeof *c->machines);
    for (uint32_t i = 0; c->machines != NULL && i < c->n_machines; i++) {
        const struct bats_machine_spec *m = &engine->machines[i];
        c->machines[i] = (struct machine){.first_slot = n_slots,
                                          .n_slots = m->slots,
                                          .cluster = (uint8_t)m->cluster};
        c->tally.clusters[m->cluster].machines++;
        n_slots += m->slots;
    }
    c->slots = malloc(((size_t)n_slots + 1) * sizeof *c->slots);
    if (c->state == NULL || c->n_open == NULL || c->machines == NULL ||
        c->slots == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < n_slots; i++)
        c->slots[i] = (struct slot){NONE, NONE};
    return 0;
}

static int add_money(struct bats_record *r, struct bats_error *err)
{
    struct bats_tally *t = &r->count->tally;
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &r->db,
        "SELECT n.id, count(*), sum(amount) FROM ledger l"
        " JOIN machine m ON m.session = l.session AND m.id = l.machine"
        " JOIN cluster c ON c.session = m.session AND c.id = m.cluster"
        " JOIN cluster n ON n.session = ?1 AND n.name = c.name GROUP BY n.id",
        &s, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, r->session);
    while ((rc = bats_db_step(&r->db, s, err)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        if (id < 0 || id >= (int64_t)t->n_clusters)
            continue;
        t->clusters[id].windows = sqlite3_column_int64(s, 1);
        t->clusters[id].charged = sqlite3_column_int64(s, 2);
    }
    sqlite3_finalize(s);
    t->charged = r->past.charged;
    return rc;
}

static const struct bats_machine_place *
find_place(const struct bats_count *c, const struct bats_places *places,
           int64_t session, int64_t machine)
{
    const struct bats_machine_place *at =
        bats_places_find(places, session, machine);
    return at != NULL && at->cluster < (int32_t)c->tally.n_clusters ? at
                                                                    : NULL;
}

static void add_sums(struct bats_count *c, const struct bats_places *places,
                     const struct bats_past_results *past)
{
    for (int64_t i = 0; i < past->sessions * past->machines; i++) {
        const struct bats_past_sum *sum = &past->sums[i];
        const struct bats_machine_place *at =
            find_place(c, places, i / past->machines, i % past->machines);
        if (at == NULL)
            continue;
        struct bats_tally_cluster *of = &c->tally.clusters[at->cluster];
        of->done += sum->done;
        of->failed += sum->failed;
        of->wall_us += sum->wall_us;
        of->runtime += (double)sum->wall_us * at->scale;
    }
}

static int add_failed(struct bats_count *c, const struct bats_places *places,
                      const struct bats_past_results *past,
                      struct bats_error *err)
{
    if (past->n_failed == 0)
        return 0;
    c->earlier = calloc(past->n_failed, sizeof *c->earlier);
    if (c->earlier == NULL)
        return no_memory(err);
    for (; c->n_earlier < past->n_failed; c->n_earlier++) {
        const struct bats_past_failed *t = &past->failed[c->n_earlier];
        const struct bats_machine_place *at =
            find_place(c, places, t->session, t->machine);
        c->earlier[c->n_earlier] =
            at == NULL ? (struct earlier){.task = t->task, .cluster = NONE}
                       : (struct earlier){t->task, at->cluster, t->wall_us,
                                          (double)t->wall_us * at->scale};
    }
    return 0;
}

/* The results of tasks in the bag, and of those that were removed. */
static int add_past(struct bats_record *r, struct bats_error *err)
{
    static const uint8_t states[] = {
        [BATS_RECORD_PENDING] = BATS_TALLY_PENDING,
        [BATS_RECORD_DONE] = BATS_TALLY_DONE,
        [BATS_RECORD_FAILED] = BATS_TALLY_FAILED};
    const struct bats_past_results *past = &r->results;
    struct bats_count *c = r->count;
    struct bats_places places;
    int rc = bats_places_load(&places, &r->db, r->session, err);

    if (rc == 0) {
        add_sums(c, &places, past);
        rc = add_failed(c, &places, past, err);
    }
    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++)
        c->state[i] = states[past->state[i]];
    c->tally.preempted = r->past.preempted;
    c->tally.removed = past->removed;
    bats_places_release(&places);
    return rc == 0 ? add_money(r, err) : rc;
}

int bats_count_begin(struct bats_record *r,
                     const struct bats_record_session *session,
                     struct bats_error *err)
{
    const uint8_t *fresh = session->engine->earlier.fresh;
    struct bats_count *c = r->count = calloc(1, sizeof *c);
    if (c == NULL)
        return no_memory(err);
    c->scale = session->time_scale;
    c->tally.session = r->session;
    c->tally.seq = r->seq;
    int rc = make(c, session->engine, r->n_tasks, err);
    if (rc == 0 && r->past.sessions > 0)
        rc = add_past(r, err);
    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++) {
        if (fresh != NULL && fresh[i] != 0 &&
            c->state[i] == BATS_TALLY_PENDING)
            c->state[i] = BATS_TALLY_DONE;
        c->tally.state[c->state[i]]++;
    }
    if (rc == 0)
        rc = bats_tally_make(&r->db, err);
    return rc == 0 ? bats_count_write(r, err) : rc;
}

void bats_count_release(struct bats_record *r)
{
    struct bats_count *c = r->count;
    if (c == NULL)
        return;
    sqlite3_finalize(c->write);
    free(c->state);
    free(c->n_open);
    free(c->machines);
    free(c->slots);
    free(c->runs);
    free(c->earlier);
    free(c);
    r->count = NULL;
}
