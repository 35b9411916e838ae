/* log: turns what happens into rows, which wait in memory and go into the file
 * together, so that a failed commit can be tried again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "record/state.h"
#include "util/complaint.h"
#include "util/grow.h"

static struct bats_row happened(const char *what, uint32_t machine,
                                uint32_t task)
{
    return (struct bats_row){.kind = BATS_ROW_HAPPENED,
                             .u.happened = {.what = what,
                                            .machine = machine,
                                            .task = task,
                                            .value = BATS_DB_NULL}};
}

/* ---- events ---- */

static int add_event(struct bats_record *r, bats_time now,
                     const struct bats_event *e, struct bats_error *err)
{
    bool of_machine =
        e->type == BATS_EVENT_JOINED || e->type == BATS_EVENT_LOST ||
        e->type == BATS_EVENT_FOUND || bats_is_job_event(e->type);
    struct bats_row row = happened(
        bats_schema_events[e->type], of_machine ? e->machine : BATS_NO_MACHINE,
        e->type == BATS_EVENT_FOUND ? e->task : BATS_NO_TASK);
    if (e->type == BATS_EVENT_JOINED)
        row.u.happened.state = "waiting";
    else if (e->type == BATS_EVENT_LOST)
        row.u.happened.state = "lost";
    else if (e->type == BATS_EVENT_CHOSEN)
        row.u.happened.value = e->choice.offer;
    else if (e->type == BATS_EVENT_BILLED)
        row.u.happened.value = e->amount;
    else if (e->type == BATS_EVENT_ENDS || e->type == BATS_EVENT_NOTICE)
        row.u.happened.value = e->runtime;
    r->now.ending |= e->type == BATS_EVENT_DRAIN || e->type == BATS_EVENT_STOP;
    r->now.chosen |= e->type == BATS_EVENT_CHOSEN;
    return bats_rows_add(r, row, now, NULL, err);
}

int bats_record_submit(struct bats_record *r, bats_time now, uint32_t index,
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
    char *copy = given != NULL ? strdup(given) : NULL;
    if ((given != NULL && copy == NULL) ||
        !bats_grow(&r->id, &r->ids_room, (size_t)index + 2, sizeof *r->id) ||
        !bats_grow(&n->tasks, &room, (size_t)index + 2, sizeof *n->tasks)) {
        free(copy);
        return bats_no_memory(err);
    }
    n->tasks_room = room;
    struct bats_row row = {.kind = BATS_ROW_TASK,
                           .u.task = {.index = index, .given = copy}};
    int rc = bats_rows_add(r, row, now, command, err);
    if (rc < 0) {
        free(copy);
        return rc;
    }
    r->id[index] = ++r->past.last_id;
    n->tasks[index] =
        (struct bats_now_task){.place = (uint32_t)++r->past.last_place};
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
        e->type == BATS_EVENT_WITHDRAWN) /* rows of their own tell of them */
        return 0;
    if (has_runtime || e->type == BATS_EVENT_PREEMPTED ||
        e->type == BATS_EVENT_YIELDED) {
        int rc = bats_runs_end(r, now, e->machine, e->slot, e->task,
                               has_runtime ? e->runtime : -1, false, err);
        return rc < 0 ? rc : 0;
    }
    int rc = add_event(r, now, e, err);
    if (rc < 0 || e->type != BATS_EVENT_LOST)
        return rc;
    bats_now_set(&r->now, e->machine, false, true);
    return e->machine < r->now.n_machines
               ? bats_runs_end_all(r, now, e->machine, true, err)
               : 0;
}

/* ---- commands ---- */

static struct bats_row row_of_command(struct bats_record *r,
                                      const struct bats_command *c)
{
    bool of_task = c->type == BATS_NOTICE_LOSE || c->type == BATS_NOTICE_SKIP;
    bool of_none =
        c->type == BATS_NOTICE_SAMPLED || c->type == BATS_NOTICE_FINISHED;
    struct bats_row row = happened(bats_schema_commands[c->type],
                                   of_none ? BATS_NO_MACHINE : c->machine,
                                   of_task ? c->task : BATS_NO_TASK);
    switch (c->type) {
    case BATS_COMMAND_ACQUIRE:
        bats_now_set(&r->now, c->machine, true, false);
        row.u.happened.state = "held";
        if (c->time > 0)
            row.u.happened.value = c->time;
        break;
    case BATS_COMMAND_PARK:
        bats_now_set(&r->now, c->machine, false, false);
        row.u.happened.state = "parked";
        break;
    case BATS_COMMAND_RELEASE:
        bats_now_set(&r->now, c->machine, false, false);
        row.u.happened.state = "released";
        break;
    case BATS_NOTICE_SKIP:
        bats_now_skip(&r->now, c->task);
        row.u.happened.skips = true;
        break;
    case BATS_NOTICE_LOSE:
        row.u.happened.loses = true;
        break;
    case BATS_NOTICE_SAMPLED:
        r->now.sampled = true;
        break;
    default:
        row.u.happened.quarantines = c->type == BATS_NOTICE_QUARANTINE;
        row.u.happened.readmits = c->type == BATS_NOTICE_READMIT;
        break;
    }
    return row;
}

/* ---- leases ---- */

/* The mark of a job is made of the session, the machine and how often one was
 * asked for there; one that was taken over, before anything has happened, keeps
 * that which it has. */
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

int bats_record_lease(struct bats_record *r, bats_time now,
                      const struct bats_lease *l, struct bats_error *err)
{
    struct bats_now_lease *known = find_lease(&r->now, l->id);
    char mark[64];
    int rc = 0;
    if (known == NULL)
        return bats_no_memory(err);
    *(l->machine < r->now.n_machines ? &r->now.machines[l->machine].lease
                                     : &r->now.own_lease) = l->id;
    bool rises =
        l->if_killed > known->if_killed && strcmp(l->kind, "use") != 0;
    if (known->batch == r->batch) {
        r->rows[known->row].u.lease = *l;
    } else {
        const char *text = known->batch == 0 ? mark_of(r, l, mark) : NULL;
        *known = (struct bats_now_lease){r->n_rows, r->batch, 0};
        rc = bats_rows_add(
            r, (struct bats_row){.kind = BATS_ROW_LEASE, .u.lease = *l}, now,
            text, err);
    }
    known->if_killed = l->if_killed;
    return rc < 0 ? rc : rises;
}

int bats_record_stake(struct bats_record *r, bats_time now,
                      const struct bats_stake *stake, struct bats_error *err)
{
    return bats_rows_add(
        r, (struct bats_row){.kind = BATS_ROW_STAKE, .u.stake = *stake}, now,
        NULL, err);
}

/* ---- money ---- */

static int charge(struct bats_record *r, bats_time now, uint32_t machine,
                  uint32_t account, bats_money amount, bats_money cushion,
                  struct bats_error *err)
{
    uint32_t lease = machine < r->now.n_machines
                         ? r->now.machines[machine].lease
                         : r->now.own_lease;
    return bats_rows_add(
        r,
        (struct bats_row){
            .kind = BATS_ROW_CHARGE,
            .u.charge = {machine, account, lease, amount, cushion}},
        now, NULL, err);
}

int bats_record_command(struct bats_record *r, bats_time now,
                        const struct bats_command *c, struct bats_error *err)
{
    r->now.time = now;
    if (c->type == BATS_COMMAND_RUN)
        return bats_runs_begin(r, now, c, err);
    if (c->type == BATS_COMMAND_CANCEL)
        return bats_runs_cancel(r, now, c, err);
    if (c->type == BATS_NOTICE_SHARE)
        return charge(r, now, c->machine, c->purse + 1, c->amount, 0, err);
    const char *text =
        c->type == BATS_NOTICE_FINISHED ? bats_schema_finishes[c->finish]
        : c->type != BATS_NOTICE_SKIP ? NULL
        : c->unpaid                   ? BATS_SCHEMA_UNPAID
        : c->withdrawn                ? BATS_SCHEMA_WITHDRAWN
                                      : NULL;
    return bats_rows_add(r, row_of_command(r, c), now, text, err);
}

int bats_record_charge(struct bats_record *r, bats_time now, uint32_t machine,
                       bats_money amount, bats_money cushion,
                       struct bats_error *err)
{
    r->now.time = now;
    bats_now_charge(&r->now, machine, amount);
    return charge(r, now, machine, 0, amount, cushion, err);
}

/* ---- for people ---- */

int bats_record_decision(struct bats_record *r,
                         const struct bats_decision *decision,
                         struct bats_error *err)
{
    struct bats_decision *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return bats_no_memory(err);
    *copy = *decision;
    int rc = bats_rows_add(
        r, (struct bats_row){.kind = BATS_ROW_DECISION, .u.decision = copy},
        decision->time, NULL, err);
    if (rc < 0)
        free(copy);
    return rc;
}

int bats_record_notice(struct bats_record *r, bats_time now, uint32_t machine,
                       uint32_t task, const char *sentence,
                       struct bats_error *err)
{
    return bats_rows_add(r, happened("notice", machine, task), now, sentence,
                         err);
}

int bats_record_idle(struct bats_record *r, bats_time now,
                     const struct bats_idle_machine *idle,
                     struct bats_error *err)
{
    struct bats_now_machine *m = &r->now.machines[idle->machine];
    struct bats_row row = happened("idle", idle->machine, BATS_NO_TASK);
    if (m->idle == 0)
        m->idle = ++r->seq;
    row.seq = m->idle;
    if (idle->until < BATS_NEVER)
        row.u.happened.value = idle->until;
    return bats_rows_add(r, row, now, bats_idle_name(idle->reason), err);
}

int bats_record_last(struct bats_record *r, bats_time now,
                     const struct bats_record_last *last,
                     struct bats_error *err)
{
    struct bats_row row = {.kind = BATS_ROW_LAST,
                           .u.last = {last->task, last->attempt, 0}};
    uint64_t key = bats_complaint_key(last->exit_status, last->signal,
                                      last->host, last->bytes, last->n);
    char *text = NULL;

    if (bats_kinds_keep(&r->kinds, key, r->seq + 1, last->n,
                        &row.u.last.same)) {
        text = malloc(last->n + 1);
        if (text == NULL)
            return bats_no_memory(err);
        for (size_t i = 0; i < last->n; i++)
            text[i] = last->bytes[i] == '\0' ? ' ' : last->bytes[i];
        text[last->n] = '\0';
    }
    int rc = bats_rows_add(r, row, now, text, err);
    free(text);
    return rc;
}
