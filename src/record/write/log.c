/* log: turns events and commands into pending rows; runs.c does so for
 * executions. */
#include <inttypes.h>
#include <jansson.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/estimate.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "record/state.h"
#include "util/asset.h"
#include "util/complaint.h"
#include "util/grow.h"
#include "util/hash.h"
#include "util/text.h"

BATS_ASSET(lease_sql, "record/write/lease.sql");

#define I BATS_I
#define T BATS_T
#define NONE BATS_DB_NULL
#define C BATS_C
#define PUT(sql, ...) bats_rows_put(r, sql, err, BATS_VALUES(__VA_ARGS__))

static const char happened_sql[] =
    "INSERT OR REPLACE INTO happened VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

static int64_t known(uint32_t id)
{
    return id == UINT32_MAX ? NONE : id;
}

/* `value` may be NONE, `sentence` NULL. */
static int put_happened(struct bats_record *r, bats_time now, const char *what,
                        uint32_t machine, uint32_t task, int64_t value,
                        const char *sentence, struct bats_error *err)
{
    return PUT(happened_sql, I(++r->seq), I(r->session), I(now), T(what),
               I(known(machine)), I(bats_record_id(r, task)), I(value),
               C(sentence));
}

static int put_state(struct bats_record *r, bats_time now, uint32_t machine,
                     const char *state, struct bats_error *err)
{
    return PUT("UPDATE machine SET state = ?4, since_us = ?3"
               " WHERE session = ?1 AND id = ?2",
               I(r->session), I(machine), I(now), T(state));
}

/* ---- events ---- */

static int put_event(struct bats_record *r, bats_time now,
                     const struct bats_event *e, struct bats_error *err)
{
    bool of_machine =
        e->type == BATS_EVENT_JOINED || e->type == BATS_EVENT_LOST ||
        e->type == BATS_EVENT_FOUND || bats_is_job_event(e->type);
    int64_t value = NONE;
    if (e->type == BATS_EVENT_CHOSEN)
        value = e->choice.offer;
    else if (e->type == BATS_EVENT_BILLED)
        value = e->amount;
    else if (e->type == BATS_EVENT_ENDS || e->type == BATS_EVENT_NOTICE)
        value = e->runtime;
    r->now.ending |= e->type == BATS_EVENT_DRAIN || e->type == BATS_EVENT_STOP;
    r->now.chosen |= e->type == BATS_EVENT_CHOSEN;
    int rc = put_happened(r, now, bats_schema_events[e->type],
                          of_machine ? e->machine : BATS_NO_MACHINE,
                          e->type == BATS_EVENT_FOUND ? e->task : BATS_NO_TASK,
                          value, NULL, err);
    if (rc == 0 && e->type == BATS_EVENT_JOINED)
        rc = put_state(r, now, e->machine, "waiting", err);
    else if (rc == 0 && e->type == BATS_EVENT_LOST)
        rc = put_state(r, now, e->machine, "lost", err);
    else if (rc == 0 && e->type == BATS_EVENT_BILLED && e->energy_j > 0)
        rc = PUT("UPDATE lease SET energy_j = ? WHERE id = ?", I(e->energy_j),
                 I(r->now.leases_before + r->now.machines[e->machine].lease));
    return rc;
}

int bats_record_submit(struct bats_record *r, uint32_t index,
                       const char *command, const char *given,
                       struct bats_error *err)
{
    struct bats_now *n = &r->now;
    if (index != r->n_tasks)
        return bats_error_set(err, BATS_ESTATE, "task %lu is out of turn",
                              (unsigned long)index);
    if (!bats_grow(&r->id, &r->ids_room, (size_t)index + 2, sizeof *r->id) ||
        !bats_grow(&n->tasks, &n->tasks_room, (size_t)index + 2,
                   sizeof *n->tasks))
        return bats_no_memory(err);
    int64_t id = r->past.last_id + 1, place = r->past.last_place + 1;
    int64_t number = (int64_t)index + 1;
    int64_t hash = (int64_t)bats_hash(BATS_HASH, command, strlen(command));
    /* The line is the number, as if the bag were a file. */
    int rc = PUT("INSERT INTO task VALUES (?, ?, ?2, ?, ?, ?)", I(id),
                 I(number), I(hash), C(command), I(r->session));
    if (rc == 0)
        rc = PUT(BATS_NOW_NEW_TASK, I(place), I(id), I(number), I(0));
    if (rc == 0 && given != NULL)
        rc = PUT("INSERT INTO submission VALUES (?, ?)", I(id), C(given));
    if (rc < 0)
        return rc;
    r->id[index] = r->past.last_id = id;
    n->tasks[index] = (struct bats_now_task){.place = (uint32_t)place};
    r->past.last_place = place;
    n->count[BATS_NOW_PENDING]++;
    n->n_tasks = r->n_tasks = index + 1;
    return 0;
}

int bats_record_event(struct bats_record *r, bats_time now,
                      const struct bats_event *e, struct bats_error *err)
{
    r->now.time = now;
    r->now.has_events = r->is_dirty = true;
    bool has_runtime =
        e->type == BATS_EVENT_DONE || e->type == BATS_EVENT_FAILED;
    if (e->type == BATS_EVENT_TICK || e->type == BATS_EVENT_ADDED ||
        e->type == BATS_EVENT_WITHDRAWN) /* they have rows of their own */
        return 0;
    if (has_runtime || e->type == BATS_EVENT_PREEMPTED ||
        e->type == BATS_EVENT_YIELDED) {
        int rc = bats_runs_end(r, now, e->machine, e->slot, e->task,
                               has_runtime ? e->runtime : -1, false, err);
        return rc < 0 ? rc : 0;
    }
    int rc = put_event(r, now, e, err);
    if (rc < 0 || e->type != BATS_EVENT_LOST)
        return rc;
    bats_now_set(&r->now, e->machine, false, true);
    return e->machine < r->now.n_machines
               ? bats_runs_end_all(r, now, e->machine, true, err)
               : 0;
}

/* ---- commands ---- */

/* Records a command's effect on its machine or task. */
static int put_change(struct bats_record *r, bats_time now,
                      const struct bats_command *c, const char *why,
                      struct bats_error *err)
{
    switch (c->type) {
    case BATS_COMMAND_ACQUIRE:
        bats_now_set(&r->now, c->machine, true, false);
        return put_state(r, now, c->machine, "held", err);
    case BATS_COMMAND_PARK:
        bats_now_set(&r->now, c->machine, false, false);
        return put_state(r, now, c->machine, "parked", err);
    case BATS_COMMAND_RELEASE:
        bats_now_set(&r->now, c->machine, false, false);
        return put_state(r, now, c->machine, "released", err);
    case BATS_NOTICE_SKIP:
        if (c->task < r->now.n_tasks &&
            r->now.tasks[c->task].state == BATS_NOW_PENDING)
            bats_now_change(&r->now, c->task, BATS_NOW_SKIPPED, false);
        return PUT("UPDATE task_now SET reason = ?2,"
                   " state = iif(state = 0, 3, state) WHERE place = ?1",
                   I(bats_record_place(r, c->task)),
                   T(why != NULL ? why : "parent"));
    case BATS_NOTICE_LOSE:
        return PUT("UPDATE task_now SET losses = losses + 1 WHERE place = ?1",
                   I(bats_record_place(r, c->task)));
    case BATS_NOTICE_QUARANTINE:
    case BATS_NOTICE_READMIT:
        return PUT("UPDATE machine SET quarantine = ?3"
                   " WHERE session = ?1 AND id = ?2",
                   I(r->session), I(c->machine),
                   I(c->type == BATS_NOTICE_QUARANTINE ? 1 : NONE));
    case BATS_NOTICE_SAMPLED:
        r->now.sampled = true;
        return 0;
    default:
        return 0;
    }
}

/* ---- leases ---- */

static int64_t time_of(bats_time t)
{
    return t == BATS_NEVER ? NONE : t;
}

/* A job's mark consists of the session, the machine and the count of requests
 * there; a job taken over at the start keeps its mark. */
static int put_lease(struct bats_record *r, const struct bats_now_lease *told,
                     struct bats_error *err)
{
    const struct bats_lease *l = &told->lease;
    int64_t id = r->now.leases_before + l->id;
    char mark[64];
    snprintf(mark, sizeof mark, "%" PRId64 ".%" PRIu32 ".%" PRIu32, r->session,
             l->machine, told->job);
    int rc = PUT("UPDATE account SET held = held + ?2 - coalesce("
                 "(SELECT held FROM lease WHERE id = ?3), 0)"
                 " WHERE session = ?1 AND id = 0",
                 I(r->session), I(l->held), I(id));
    return rc < 0 ? rc
                  : PUT(lease_sql.begin, I(id), I(r->session),
                        I(known(l->machine)), T(l->kind),
                        T(bats_lease_state_name(l->state)),
                        C(told->job > 0 ? mark : NULL),
                        I(l->length > 0 ? l->length : NONE),
                        I(time_of(l->asked)), I(time_of(l->begun)),
                        I(time_of(l->until)), I(time_of(l->ended)),
                        I(l->charged), I(l->held), I(l->if_killed));
}

int bats_leases_put(struct bats_record *r, struct bats_error *err)
{
    struct bats_now *n = &r->now;
    int rc = 0;
    for (; rc == 0 && n->n_dirty > 0; n->n_dirty -= rc == 0) {
        struct bats_now_lease *told = &n->leases[n->dirty[n->n_dirty - 1]];
        rc = put_lease(r, told, err);
        told->is_dirty = rc < 0;
    }
    return rc;
}

static struct bats_now_lease *find_lease(struct bats_now *now, uint32_t id)
{
    if (!bats_grow(&now->leases, &now->leases_room, (size_t)id + 1,
                   sizeof *now->leases) ||
        !bats_grow(&now->dirty, &now->dirty_room, now->n_dirty + 1,
                   sizeof *now->dirty))
        return NULL;
    for (; now->n_leases <= id; now->n_leases++)
        now->leases[now->n_leases] = (struct bats_now_lease){.job = 0};
    return &now->leases[id];
}

/* Its rows wait for the commit, as a lease may change often. */
int bats_record_lease(struct bats_record *r, const struct bats_lease *l,
                      struct bats_error *err)
{
    struct bats_now *now = &r->now;
    struct bats_now_lease *told = find_lease(now, l->id);
    if (told == NULL)
        return bats_no_memory(err);
    bool is_known = l->machine < now->n_machines;
    *(is_known ? &now->machines[l->machine].lease : &now->own_lease) = l->id;
    if (told->lease.id == 0 && strcmp(l->kind, "job") == 0 && is_known &&
        now->has_events)
        told->job = ++now->machines[l->machine].n_jobs;
    bool rises =
        l->if_killed > told->lease.if_killed && strcmp(l->kind, "use") != 0;
    if (!told->is_dirty)
        now->dirty[now->n_dirty++] = l->id;
    *told = (struct bats_now_lease){*l, told->job, true};
    r->is_dirty = true;
    return rises;
}

int bats_record_stake(struct bats_record *r, const struct bats_stake *stake,
                      struct bats_error *err)
{
    int64_t lease = r->now.leases_before + stake->lease;
    int64_t account = (int64_t)stake->purse + 1;
    int rc = PUT("UPDATE account SET held = held + ?3 - coalesce((SELECT held"
                 "  FROM stake WHERE lease = ?4 AND account = ?2), 0)"
                 " WHERE session = ?1 AND id = ?2",
                 I(r->session), I(account), I(stake->held), I(lease));
    return rc < 0 ? rc
           : stake->held > 0
               ? PUT("INSERT OR REPLACE INTO stake VALUES (?, ?, ?)", I(lease),
                     I(account), I(stake->held))
               : PUT("DELETE FROM stake WHERE lease = ? AND account = ?",
                     I(lease), I(account));
}

/* ---- money ---- */

static int put_charge(struct bats_record *r, bats_time now, uint32_t machine,
                      int64_t account, bats_money amount,
                      struct bats_error *err)
{
    uint32_t lease = machine < r->now.n_machines
                         ? r->now.machines[machine].lease
                         : r->now.own_lease;
    int rc = PUT("INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?)",
                 I(++r->seq), I(r->session), I(now),
                 I(lease > 0 ? r->now.leases_before + lease : NONE),
                 I(known(machine)), I(account), I(amount));
    return rc == 0 ? PUT("UPDATE account SET charged = charged + ?3"
                         " WHERE session = ?1 AND id = ?2",
                         I(r->session), I(account), I(amount))
                   : rc;
}

int bats_record_command(struct bats_record *r, bats_time now,
                        const struct bats_command *c, struct bats_error *err)
{
    r->now.time = now;
    if (c->type == BATS_COMMAND_RUN)
        return bats_runs_begin(r, now, c, err);
    if (c->type == BATS_COMMAND_CANCEL)
        return bats_runs_cancel(r, c, err);
    if (c->type == BATS_NOTICE_SHARE)
        return put_charge(r, now, c->machine, (int64_t)c->purse + 1, c->amount,
                          err);
    const char *why = c->type == BATS_NOTICE_FINISHED
                          ? bats_schema_finishes[c->finish]
                      : c->type != BATS_NOTICE_SKIP ? NULL
                      : c->unpaid                   ? BATS_SCHEMA_UNPAID
                      : c->withdrawn                ? BATS_SCHEMA_WITHDRAWN
                                                    : NULL;
    bool of_task = c->type == BATS_NOTICE_LOSE || c->type == BATS_NOTICE_SKIP;
    bool of_none =
        c->type == BATS_NOTICE_SAMPLED || c->type == BATS_NOTICE_FINISHED;
    bool has_end = c->type == BATS_COMMAND_ACQUIRE && c->time > 0;
    int rc = put_happened(r, now, bats_schema_commands[c->type],
                          of_none ? BATS_NO_MACHINE : c->machine,
                          of_task ? c->task : BATS_NO_TASK,
                          has_end ? c->time : NONE, why, err);
    return rc == 0 ? put_change(r, now, c, why, err) : rc;
}

int bats_record_charge(struct bats_record *r, bats_time now, uint32_t machine,
                       bats_money amount, struct bats_error *err)
{
    struct bats_now_sums *of = bats_now_sums(&r->now, machine);
    r->now.time = now;
    if (of != NULL) {
        of->windows++;
        of->charged += amount;
    }
    return put_charge(r, now, machine, 0, amount, err);
}

/* ---- for people ---- */

int bats_record_decision(struct bats_record *r, const struct bats_decision *d,
                         struct bats_error *err)
{
    char machines[BATS_CLUSTERS_MAX * 12 + 4] = "["; /* machines kept */
    for (size_t i = 0; i < r->now.n_clusters; i++)
        bats_append(machines, sizeof machines, "%s%lu", i > 0 ? "," : "",
                    (unsigned long)(d->machines[i] - d->ending[i]));
    bats_append(machines, sizeof machines, "]");
    return PUT("INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
               " ?, ?, ?, ?)",
               I(++r->seq), I(r->session), I(d->time),
               T(bats_reason_name(d->reason)), I(d->feasible),
               I(d->tasks_left), I(d->tasks_paid >= 0 ? d->tasks_paid : NONE),
               I(d->budget_left != BATS_UNLIMITED ? d->budget_left : NONE),
               I(d->windows), C(machines), T(bats_trigger_name(d->trigger)),
               I(d->tasks_open), I(d->end > 0 ? d->end : NONE),
               I(d->end > 0 ? d->cost : NONE), I(d->replaces));
}

int bats_record_notice(struct bats_record *r, bats_time now, uint32_t machine,
                       uint32_t task, const char *sentence,
                       struct bats_error *err)
{
    return put_happened(r, now, "notice", machine, task, NONE, sentence, err);
}

int bats_record_idle(struct bats_record *r, bats_time now,
                     const struct bats_idle_machine *idle,
                     struct bats_error *err)
{
    struct bats_now_machine *m = &r->now.machines[idle->machine];
    if (m->idle == 0)
        m->idle = ++r->seq;
    return PUT(happened_sql, I(m->idle), I(r->session), I(now), T("idle"),
               I(idle->machine), I(NONE),
               I(idle->until < BATS_NEVER ? idle->until : NONE),
               T(bats_idle_name(idle->reason)));
}

int bats_record_reservation(struct bats_record *r, bats_time now,
                            const struct bats_reservation *v,
                            struct bats_error *err)
{
    bool is_none = v->machine == UINT32_MAX;
    if (r->reservation == 0)
        r->reservation = ++r->seq;
    return PUT(happened_sql, I(r->reservation), I(r->session), I(now),
               T("reserved"), I(is_none ? NONE : v->machine),
               I(is_none ? NONE : bats_record_id(r, v->task)),
               I(is_none ? NONE : v->from), T(NULL));
}

/* ---- the ends of standard error ---- */

#define KINDS_MAX 8192

/* The first end of a kind (util/complaint.h), in a session. */
struct kind {
    uint64_t key;
    int64_t seq;
};

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Whether to keep n bytes, the end `seq`. *first is the seq of the first one
 * of its kind; 0: unknown. So that failures that all differ cannot fill the
 * disk, only KINDS_MAX kinds are known. */
static bool is_kept(struct bats_record *r, uint64_t key, int64_t seq, size_t n,
                    int64_t *first)
{
    struct kind **known = tfind(&key, &r->kinds, compare_kinds);
    *first = known != NULL ? (*known)->seq : 0;
    bool is_new = known == NULL && r->n_kinds < KINDS_MAX;
    struct kind *kind = is_new ? malloc(sizeof *kind) : NULL;
    if (kind != NULL) {
        *kind = (struct kind){key, seq};
        r->n_kinds += tsearch(kind, &r->kinds, compare_kinds) != NULL;
    }
    bool kept = is_new || r->last_bytes + (int64_t)n <= BATS_RECORD_LAST_BYTES;
    r->last_bytes += kept ? (int64_t)n : 0;
    return kept;
}

int bats_record_last(struct bats_record *r, bats_time now,
                     const struct bats_record_last *last,
                     struct bats_error *err)
{
    uint64_t key = bats_complaint_key(last->exit_status, last->signal,
                                      last->host, last->bytes, last->n);
    int64_t first, seq = ++r->seq;
    bool kept = is_kept(r, key, seq, last->n, &first);
    char *text = kept ? malloc(last->n + 1) : NULL;
    if (kept && text == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; kept && i < last->n; i++)
        text[i] = last->bytes[i] == '\0' ? ' ' : last->bytes[i];
    if (kept)
        text[last->n] = '\0';
    int rc =
        PUT("INSERT OR IGNORE INTO stderr VALUES (?, ?, ?, ?, ?, ?, ?)",
            I(seq), I(r->session), I(now), I(bats_record_id(r, last->task)),
            I(last->attempt), I(!kept && first != 0 ? first : NONE), C(text));
    free(text);
    return rc;
}

/* ---- the promise ---- */

static json_t *whole(double x)
{
    return json_integer(x > 0 && x < 9e18 ? (json_int_t)x : 0);
}

/* A missing upper bound becomes null. */
static json_t *describe(const struct bats_sched_sampled *sampled,
                        bats_money budget)
{
    const struct bats_schedule *p = sampled->chosen;
    bats_money most = p->cost_high;
    if (budget != BATS_UNLIMITED && budget - sampled->charged < most)
        most = budget - sampled->charged;
    if (most < p->plan.cost)
        most = p->plan.cost;
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "schedule",
        bats_offer_name(p->offer), "chosen_us", (json_int_t)sampled->time,
        "charged_before", (json_int_t)sampled->charged, "cost",
        (json_int_t)p->plan.cost, "cost_high",
        p->is_bounded ? json_integer(most) : json_null(), "makespan_us",
        whole(p->makespan.estimate), "makespan_low_us",
        p->is_bounded ? whole(p->makespan.low) : json_null(),
        "makespan_high_us",
        p->is_bounded ? whole(p->makespan.high) : json_null());
}

int bats_record_promise(struct bats_record *r,
                        const struct bats_sched_sampled *sampled,
                        bats_money budget, struct bats_error *err)
{
    json_t *object = describe(sampled, budget);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    int rc = text == NULL
                 ? bats_no_memory(err)
                 : PUT("UPDATE session SET options = json_set("
                       "coalesce(nullif(options, ''), '{}'), '$.promise',"
                       " json(?)) WHERE id = ?",
                       C(text), I(r->session));
    free(text);
    json_decref(object);
    return rc;
}
