/* log: turns events into rows, which wait in memory and are written together,
 * so that a failed commit can be retried. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "record/state.h"
#include "util/complaint.h"
#include "util/grow.h"
#include "util/hash.h"
#include "util/text.h"

#define I BATS_I
#define T BATS_T
#define NONE BATS_DB_NULL
#define PUT(which, text, ...)                                                 \
    bats_rows_put(r, BATS_PUT_##which, text, err, BATS_VALUES(__VA_ARGS__))

static int64_t known(uint32_t id)
{
    return id == UINT32_MAX ? NONE : id;
}

/* `value` may be NONE, `sentence` NULL. */
static int put_happened(struct bats_record *r, bats_time now, const char *what,
                        uint32_t machine, uint32_t task, int64_t value,
                        const char *sentence, struct bats_error *err)
{
    return PUT(HAPPENED, sentence, I(++r->seq), I(r->session), I(now), T(what),
               I(known(machine)), I(bats_record_id(r, task)), I(value),
               T(bats_row_text));
}

static int put_state(struct bats_record *r, bats_time now, uint32_t machine,
                     const char *state, struct bats_error *err)
{
    return PUT(MACHINE, NULL, I(r->session), I(machine), I(now), T(state));
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
    return rc;
}

int bats_record_submit(struct bats_record *r, uint32_t index,
                       const char *command, const char *given,
                       struct bats_error *err)
{
    struct bats_now *n = &r->now;
    size_t room = n->n_tasks;
    if (index != r->n_tasks)
        return bats_error_set(err, BATS_ESTATE, "task %lu is out of turn",
                              (unsigned long)index);
    if (n->tasks_room > room)
        room = n->tasks_room;
    if (!bats_grow(&r->id, &r->ids_room, (size_t)index + 2, sizeof *r->id) ||
        !bats_grow(&n->tasks, &room, (size_t)index + 2, sizeof *n->tasks))
        return bats_no_memory(err);
    n->tasks_room = room;
    int64_t id = r->past.last_id + 1, place = r->past.last_place + 1;
    int64_t number = (int64_t)index + 1;
    int64_t hash = (int64_t)bats_hash(BATS_HASH, command, strlen(command));
    /* The line is the number, as if the bag were a file. */
    int rc = PUT(TASK, command, I(id), I(number), I(hash), T(bats_row_text),
                 I(r->session));
    if (rc == 0)
        rc = PUT(PLACE, NULL, I(place), I(id), I(number));
    if (rc == 0 && given != NULL)
        rc = PUT(GIVEN, given, I(id), T(bats_row_text));
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
        bats_now_skip(&r->now, c->task);
        return PUT(SKIP, NULL, I(bats_record_place(r, c->task)),
                   T(why != NULL ? why : "parent"));
    case BATS_NOTICE_LOSE:
        return PUT(LOSE, NULL, I(bats_record_place(r, c->task)));
    case BATS_NOTICE_QUARANTINE:
        return PUT(QUARANTINE, NULL, I(r->session), I(c->machine), I(1));
    case BATS_NOTICE_READMIT:
        return PUT(QUARANTINE, NULL, I(r->session), I(c->machine), I(NONE));
    case BATS_NOTICE_SAMPLED:
        r->now.sampled = true;
        return 0;
    default:
        return 0;
    }
}

/* ---- leases ---- */

/* A job's mark consists of the session, the machine and the count of requests
 * there; a job taken over at the start keeps its mark. */
static const char *mark_of(struct bats_record *r, const struct bats_lease *l,
                           char mark[64])
{
    if (strcmp(l->kind, "job") != 0 || l->machine >= r->now.n_machines ||
        !r->now.has_events)
        return NULL;
    snprintf(mark, 64, "%" PRId64 ".%" PRIu32 ".%" PRIu32, r->session,
             l->machine, ++r->now.machines[l->machine].n_jobs);
    return mark;
}

static struct bats_now_lease *find_lease(struct bats_now *now, uint32_t id)
{
    if (!bats_grow(&now->leases, &now->leases_room, (size_t)id + 1,
                   sizeof *now->leases))
        return NULL;
    for (; now->n_leases <= id; now->n_leases++)
        now->leases[now->n_leases] = (struct bats_now_lease){0};
    return &now->leases[id];
}

static int64_t time_of(bats_time t)
{
    return t == BATS_NEVER ? NONE : t;
}

int bats_record_lease(struct bats_record *r, const struct bats_lease *l,
                      struct bats_error *err)
{
    struct bats_now_lease *told = find_lease(&r->now, l->id);
    char mark[64];
    if (told == NULL)
        return bats_no_memory(err);
    *(l->machine < r->now.n_machines ? &r->now.machines[l->machine].lease
                                     : &r->now.own_lease) = l->id;
    bool rises = l->if_killed > told->if_killed && strcmp(l->kind, "use") != 0;
    told->if_killed = l->if_killed;
    int64_t id = r->now.leases_before + l->id;
    enum { HELD = 1, STATE = 4, MARK = 5 };
    const struct bats_db_value values[] = {I(id),
                                           I(r->session),
                                           I(known(l->machine)),
                                           T(l->kind),
                                           T(bats_lease_state_name(l->state)),
                                           T(bats_row_text),
                                           I(l->length > 0 ? l->length : NONE),
                                           I(time_of(l->asked)),
                                           I(time_of(l->begun)),
                                           I(time_of(l->until)),
                                           I(time_of(l->ended)),
                                           I(l->charged),
                                           I(l->held),
                                           I(l->if_killed)};
    int n = sizeof values / sizeof *values;
    if (told->batch == r->batch) { /* its rows are pending */
        struct bats_db_value *waits = r->rows[told->row + 1].u.put.values;
        r->rows[told->row].u.put.values[HELD] = I(l->held);
        for (int i = STATE; i < n; i++)
            waits[i] = i == MARK ? waits[i] : values[i];
        return rises;
    }
    const char *mark_text = told->batch == 0 ? mark_of(r, l, mark) : NULL;
    told->batch = r->batch;
    told->row = r->n_rows;
    int rc = PUT(HELD, NULL, I(r->session), I(l->held), I(id));
    if (rc == 0)
        rc = bats_rows_put(r, BATS_PUT_LEASE, mark_text, err, values, n);
    return rc < 0 ? rc : rises;
}

int bats_record_stake(struct bats_record *r, const struct bats_stake *stake,
                      struct bats_error *err)
{
    int64_t lease = r->now.leases_before + stake->lease;
    int64_t account = (int64_t)stake->purse + 1;
    int rc =
        PUT(STAKED, NULL, I(r->session), I(account), I(stake->held), I(lease));
    return rc < 0 ? rc
           : stake->held > 0
               ? PUT(STAKE, NULL, I(lease), I(account), I(stake->held))
               : PUT(UNSTAKE, NULL, I(lease), I(account));
}

/* ---- money ---- */

static int put_charge(struct bats_record *r, bats_time now, uint32_t machine,
                      int64_t account, bats_money amount, bats_money cushion,
                      struct bats_error *err)
{
    uint32_t lease = machine < r->now.n_machines
                         ? r->now.machines[machine].lease
                         : r->now.own_lease;
    int rc = PUT(CHARGE, NULL, I(++r->seq), I(r->session), I(now),
                 I(lease > 0 ? r->now.leases_before + lease : NONE),
                 I(known(machine)), I(account), I(amount), I(cushion));
    return rc == 0 ? PUT(ACCOUNT, NULL, I(r->session), I(account), I(amount))
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
                          0, err);
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
                       bats_money amount, bats_money cushion,
                       struct bats_error *err)
{
    r->now.time = now;
    bats_now_charge(&r->now, machine, amount);
    return put_charge(r, now, machine, 0, amount, cushion, err);
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
    return PUT(DECISION, machines, I(++r->seq), I(r->session), I(d->time),
               T(bats_reason_name(d->reason)), I(d->feasible),
               I(d->tasks_left), I(d->tasks_paid >= 0 ? d->tasks_paid : NONE),
               I(d->budget_left != BATS_UNLIMITED ? d->budget_left : NONE),
               I(d->windows), T(bats_row_text),
               T(bats_trigger_name(d->trigger)), I(d->tasks_open),
               I(d->end > 0 ? d->end : NONE), I(d->end > 0 ? d->cost : NONE),
               I(d->replaces));
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
    return PUT(HAPPENED, NULL, I(m->idle), I(r->session), I(now), T("idle"),
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
    return PUT(HAPPENED, NULL, I(r->reservation), I(r->session), I(now),
               T("reserved"), I(is_none ? NONE : v->machine),
               I(is_none ? NONE : bats_record_id(r, v->task)),
               I(is_none ? NONE : v->from), T(NULL));
}

int bats_record_last(struct bats_record *r, bats_time now,
                     const struct bats_record_last *last,
                     struct bats_error *err)
{
    uint64_t key = bats_complaint_key(last->exit_status, last->signal,
                                      last->host, last->bytes, last->n);
    int64_t same, seq = ++r->seq;
    char *text = NULL;

    if (bats_kinds_keep(&r->kinds, key, seq, last->n, &same)) {
        text = malloc(last->n + 1);
        if (text == NULL)
            return bats_no_memory(err);
        for (size_t i = 0; i < last->n; i++)
            text[i] = last->bytes[i] == '\0' ? ' ' : last->bytes[i];
        text[last->n] = '\0';
    }
    int rc = PUT(LAST, text, I(seq), I(r->session), I(now),
                 I(bats_record_id(r, last->task)), I(last->attempt),
                 I(same != 0 ? same : NONE), T(bats_row_text));
    free(text);
    return rc;
}
