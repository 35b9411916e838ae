/* runs: the executions: from their start on a machine until the details of
 * their end are known. */
#include <string.h>

#include "bats/sched.h"
#include "record/state.h"
#include "util/asset.h"
#include "util/grow.h"

BATS_ASSET(forget_sql, "record/write/forget.sql");
BATS_ASSET(result_sql, "record/write/result.sql");

#define NONE (-1)
#define NIL BATS_DB_NULL
#define AWAITED_MOST 4096

#define I BATS_I
#define R BATS_R
#define T BATS_T
#define C BATS_C
#define PUT(sql, ...) bats_rows_put(r, sql, err, BATS_VALUES(__VA_ARGS__))

/* ---- those that run ---- */

static struct bats_now_slot *slot_of(struct bats_now *now, uint32_t machine,
                                     uint32_t slot)
{
    return machine < now->n_machines && slot < now->machines[machine].n_slots
               ? &now->slots[now->machines[machine].first_slot + slot]
               : NULL;
}

/* Finds the task's execution in its slot's queue, or the first one
 * (BATS_NO_TASK). Returns the link to it; *before: the one before, or NONE. */
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

/* Adds an execution; NULL: out of memory, or no such slot or task. */
static struct bats_now_run *add(struct bats_now *now, uint32_t machine,
                                uint32_t slot, uint32_t task)
{
    struct bats_now_slot *s = slot_of(now, machine, slot);
    int32_t at = now->unused;
    if (s == NULL || task >= now->n_tasks)
        return NULL;
    if (at != NONE)
        now->unused = now->runs[at].next;
    else if (bats_grow(&now->runs, &now->runs_room, now->n_runs + 1,
                       sizeof *now->runs))
        at = (int32_t)now->n_runs++;
    else
        return NULL;
    now->runs[at] = (struct bats_now_run){.task = task, .next = NONE};
    *(s->first == NONE ? &s->first : &now->runs[s->last].next) = at;
    s->last = at;
    bats_now_open(now, task, +1);
    return &now->runs[at];
}

static bool take(struct bats_now *now, uint32_t machine, uint32_t slot,
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
    bats_now_open(now, run->task, -1);
    return true;
}

int bats_runs_begin(struct bats_record *r, bats_time now,
                    const struct bats_command *c, struct bats_error *err)
{
    struct bats_now_run *run = add(&r->now, c->machine, c->slot, c->task);
    if (run == NULL)
        return bats_no_memory(err);
    run->copy = c->replica;
    run->given = now;
    run->row = r->n_rows;
    run->batch = r->batch;
    run->seq = ++r->seq;
    return PUT("INSERT INTO running VALUES (?, ?, ?, ?, ?, ?, NULL)",
               I(run->seq), I(bats_record_id(r, c->task)), I(c->replica),
               I(c->machine), I(c->slot), I(now));
}

int bats_runs_cancel(struct bats_record *r, const struct bats_command *c,
                     struct bats_error *err)
{
    struct bats_now_slot *s = slot_of(&r->now, c->machine, c->slot);
    int32_t before,
        at = s != NULL ? *find(&r->now, s, c->task, &before) : NONE;
    if (at == NONE)
        return 0;
    struct bats_now_run *run = &r->now.runs[at];
    run->cancelled = c->time_out ? 2 : 1;
    return PUT("UPDATE running SET cancelled = ?2 WHERE seq = ?1", I(run->seq),
               I(run->cancelled));
}

/* ---- those that have ended ---- */

static int add_end(struct bats_now *now, struct bats_now_end end,
                   struct bats_error *err)
{
    if (!bats_grow(&now->ends, &now->ends_room, now->n_ends + 1,
                   sizeof *now->ends))
        return bats_no_memory(err);
    now->ends[now->n_ends++] = end;
    return 0;
}

int bats_runs_end(struct bats_record *r, bats_time now, uint32_t machine,
                  uint32_t slot, uint32_t task, bats_time runtime,
                  bool is_lost, struct bats_error *err)
{
    struct bats_now_end end = {.machine = machine,
                               .slot = slot,
                               .ended = now,
                               .runtime = runtime,
                               .is_lost = is_lost};
    int rc = 0;
    if (!take(&r->now, machine, slot, task, &end.run))
        return 0;
    end.seq = ++r->seq;
    if (end.run.batch == r->batch)
        r->rows[end.run.row].sql = NULL;
    else
        rc = PUT("DELETE FROM running WHERE seq = ?", I(end.run.seq));
    if (rc == 0)
        rc = add_end(&r->now, end, err);
    return rc < 0 ? rc : 1;
}

int bats_runs_end_all(struct bats_record *r, bats_time now, uint32_t machine,
                      bool is_lost, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < r->now.machines[machine].n_slots; i++)
        do
            rc = bats_runs_end(r, now, machine, i, BATS_NO_TASK, -1, is_lost,
                               err);
        while (rc > 0);
    return rc;
}

/* a: NULL: the manner of its end is unknown. */
static int put_execution(struct bats_record *r, const struct bats_now_end *x,
                         const struct bats_record_attempt *a, const char *host,
                         struct bats_error *err)
{
    static const struct bats_record_attempt none = {.stream = -1};
    const struct bats_usage *u = a != NULL ? &a->usage : &none.usage;
    const struct bats_now_run *run = &x->run;
    bool is_known = a != NULL, is_in = is_known && a->stream >= 0;
#define GIVEN(value) I(run->seq > 0 ? (value) : NIL)
#define KNOWN(value) I(is_known ? (value) : NIL)
#define STREAM(value) I(is_in ? (value) : NIL)
    return PUT(
        "INSERT OR REPLACE INTO execution VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        I(x->seq), I(r->session), I(bats_record_id(r, run->task)),
        KNOWN(a->attempt), I(run->copy), I(x->machine), I(x->slot), C(host),
        GIVEN(run->seq), GIVEN(run->given), I(x->ended),
        I(x->runtime >= 0 ? x->runtime : NIL), KNOWN(u->start_us),
        KNOWN(u->wall_us), KNOWN(u->user_us), KNOWN(u->system_us),
        KNOWN(u->max_rss_kib), KNOWN(u->exit_status), KNOWN(u->signal),
        is_known ? I(a->outcome) : I(x->is_lost ? BATS_RECORD_LOST : NIL),
        I(run->cancelled > 0 ? run->cancelled : NIL), KNOWN(u->written[0]),
        KNOWN(u->written[1]), STREAM(a->stream), STREAM(u->begin),
        STREAM(u->end));
}

int bats_runs_put(struct bats_record *r, struct bats_error *err)
{
    struct bats_now *n = &r->now;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n->n_ends; i++) {
        if (!n->ends[i].has_row)
            rc = put_execution(r, &n->ends[i], NULL, NULL, err);
        n->ends[i].has_row = rc == 0;
    }
    if (rc == 0 && n->n_ends > AWAITED_MOST) {
        memmove(n->ends, n->ends + n->n_ends - AWAITED_MOST / 2,
                AWAITED_MOST / 2 * sizeof *n->ends);
        n->n_ends = AWAITED_MOST / 2;
    }
    return rc;
}

/* ---- the details ---- */

static int put_result(struct bats_record *r,
                      const struct bats_record_attempt *a, const char *host,
                      struct bats_error *err)
{
    const struct bats_usage *u = &a->usage;
    static const struct bats_now_machine unknown = {.n_slots = 1};
    static const struct bats_now_cluster none;
    struct bats_now *now = &r->now;
    bool is_known = a->machine < now->n_machines;
    const struct bats_now_machine *m =
        is_known ? &now->machines[a->machine] : &unknown;
    const struct bats_now_cluster *c =
        is_known ? &now->clusters[m->cluster] : &none;
    bool has_failed = u->exit_status != 0 || u->signal != 0;
    double cost = c->price * now->scale * (double)u->wall_us / m->n_slots;
    struct bats_now_sums *of = bats_now_sums(now, a->machine);
    int rc = 0;
    if (a->task < now->n_tasks) {
        const struct bats_now_task *t = &now->tasks[a->task];
        if (t->state == BATS_NOW_FAILED && !t->has_ended)
            rc = PUT(forget_sql.begin, I(t->place), I(r->session));
        bats_now_change(now, a->task,
                        has_failed ? BATS_NOW_FAILED : BATS_NOW_DONE, true);
        if (of != NULL) {
            *(has_failed ? &of->failed : &of->done) += 1;
            of->wall_us += u->wall_us;
        }
    }
    return rc < 0 ? rc
                  : PUT(result_sql.begin, I(bats_record_place(r, a->task)),
                        I(has_failed ? BATS_NOW_FAILED : BATS_NOW_DONE),
                        I(r->session), I(a->machine),
                        T(is_known ? c->name : NULL),
                        host != NULL ? C(host) : T(m->host), I(u->exit_status),
                        I(u->signal), I(u->start_us), I(u->wall_us),
                        I(u->user_us + u->system_us), I(u->max_rss_kib),
                        is_known ? R(cost) : I(NIL));
}

/* Counts an execution that returns to the bag, or that another one preceded,
 * as the engine does: struct bats_sched_rules. */
static int put_try(struct bats_record *r, const struct bats_record_attempt *a,
                   struct bats_error *err)
{
    int outcome = (int)a->outcome;
    bool yielded = outcome == BATS_RECORD_YIELDED;
    bool preempted = outcome == BATS_RECORD_PREEMPTED;
    double ran = (double)a->usage.wall_us * r->now.scale;
    r->now.preempted += preempted;
    return PUT(
        "UPDATE task_now SET executions = executions + 1,"
        " attempts = attempts + ?2, failures = failures + ?3,"
        " yields = iif(?5, 0, yields + ?4) WHERE place = ?1",
        I(bats_record_place(r, a->task)),
        I(!preempted && outcome != BATS_RECORD_SUPERSEDED),
        I(outcome == BATS_RECORD_RETRIED), I(yielded),
        I((yielded || preempted) && ran >= (double)BATS_YIELD_PROGRESS));
}

/* Takes the end that this attempt is of: the last one, or a new one. */
static struct bats_now_end take_end(struct bats_record *r, bats_time now,
                                    const struct bats_record_attempt *a)
{
    struct bats_now *n = &r->now;
    for (size_t i = n->n_ends; i-- > 0;)
        if (n->ends[i].run.task == a->task &&
            n->ends[i].machine == a->machine) {
            struct bats_now_end end = n->ends[i];
            n->ends[i] = n->ends[--n->n_ends];
            return end;
        }
    return (struct bats_now_end){.run.task = a->task,
                                 .machine = a->machine,
                                 .seq = ++r->seq,
                                 .ended = now,
                                 .runtime = -1};
}

int bats_record_attempt(struct bats_record *r, bats_time now,
                        const struct bats_record_attempt *attempt,
                        struct bats_error *err)
{
    const char *host = attempt->host;
    if (host != NULL && attempt->machine < r->now.n_machines &&
        r->now.machines[attempt->machine].host != NULL &&
        strcmp(r->now.machines[attempt->machine].host, host) == 0)
        host = NULL;
    struct bats_now_end end = take_end(r, now, attempt);
    int rc = put_execution(r, &end, attempt, host, err);
    if (rc < 0)
        return rc;
    return attempt->outcome == BATS_RECORD_RESULT
               ? put_result(r, attempt, host, err)
               : put_try(r, attempt, err);
}
