/* open_tasks: tasks that wait for others, and those that are withdrawn. */
#include <signal.h>

#include "bats/sched.h"
#include "run/open_state.h"
#include "util/grow.h"

bool bats_open_is_done(const struct master *m, uint32_t task)
{
    return bats_sched_has_result(m->sched, task) &&
           !bats_sched_has_failed(m->sched, task);
}

static int add(struct master *m, uint32_t task, struct bats_error *err)
{
    uint16_t kind = m->open->category[task];
    struct bats_event event = {.type = BATS_EVENT_ADDED,
                               .task = task,
                               .category = kind,
                               .need = m->open->kinds.needs[kind]};
    struct bats_open_task *t = &m->open->tasks[task];
    m->open->n_held -= t->is_held;
    t->is_held = false;
    return bats_master_handle(m, &event, err);
}

/* Tells the client that waits for the task, if any, how it has ended. */
static void tell_end(struct bats_open *o, uint32_t task, int status,
                     int signal)
{
    struct bats_open_task *t = &o->tasks[task];
    if (t->client > 0)
        t->is_known |= bats_clients_send(
            o->clients, t->client,
            json_pack("{s:I, s:i, s:i}", "id", (json_int_t)task + 1, "exit",
                      status, "signal", signal),
            NULL, 0);
    t->client = 0;
}

/* Withdraws a task. *out: it has ended at once; a running task ends later,
 * with a result. */
static int withdraw_one(struct master *m, uint32_t task, bool *out,
                        struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_open_task *t = &o->tasks[task];
    struct bats_event event = {.type = BATS_EVENT_WITHDRAWN, .task = task};
    o->n_held -= t->is_held;
    t->is_held = false;
    int rc = bats_master_handle(m, &event, err);
    *out = rc >= 0 && bats_sched_is_skipped(m->sched, task);
    if (!*out)
        return rc;
    tell_end(o, task, BATS_STATUS_WITHDRAWN, SIGTERM);
    t->has_ended = true;
    return rc;
}

/* Adds the task to the list of tasks to withdraw, once. */
static void doom(struct bats_open *o, uint32_t task, uint32_t *list)
{
    struct bats_open_task *t = &o->tasks[task];
    if (t->has_ended || t->is_withdrawn)
        return;
    t->is_withdrawn = true;
    t->next = *list;
    *list = task;
}

/* Tells the children of the task that it has ended. Children that must not
 * begin any more are added to `doomed`. */
static int tell_each(struct master *m, uint32_t task, bool done,
                     uint32_t *doomed, struct bats_error *err)
{
    struct bats_open *o = m->open;
    int rc = 0;
    for (uint32_t e = o->tasks[task].first_child;
         rc >= 0 && e != BATS_OPEN_NONE; e = o->edges[e].next) {
        struct bats_open_task *child = &o->tasks[o->edges[e].child];
        if (!done && !o->edges[e].any)
            doom(o, o->edges[e].child, doomed);
        else if (--child->missing == 0 && child->is_held)
            rc = add(m, o->edges[e].child, err);
    }
    return rc;
}

/* Withdraws the tasks of the list, then all that wait for them. No recursion:
 * a chain may be as long as the bag. */
static int withdraw_all(struct master *m, uint32_t list,
                        struct bats_error *err)
{
    struct bats_open *o = m->open;
    int rc = 0;
    while (rc >= 0 && list != BATS_OPEN_NONE) {
        uint32_t task = list;
        bool out;
        list = o->tasks[task].next;
        rc = withdraw_one(m, task, &out, err);
        if (rc >= 0 && out)
            rc = tell_each(m, task, false, &list, err);
    }
    return rc;
}

int bats_open_withdraw(struct master *m, uint32_t task, struct bats_error *err)
{
    uint32_t list = BATS_OPEN_NONE;
    doom(m->open, task, &list);
    return withdraw_all(m, list, err);
}

int bats_open_tell_children(struct master *m, uint32_t task, bool done,
                            struct bats_error *err)
{
    uint32_t lost = BATS_OPEN_NONE;
    m->open->tasks[task].has_ended = true;
    int rc = tell_each(m, task, done, &lost, err);
    return rc >= 0 ? withdraw_all(m, lost, err) : rc;
}

bool bats_open_link(struct bats_open *o, uint32_t task, const json_t *after,
                    bool any)
{
    for (size_t i = 0; i < json_array_size(after); i++) {
        uint32_t parent =
            (uint32_t)json_integer_value(json_array_get(after, i)) - 1;
        if (!bats_grow(&o->edges, &o->edges_room, o->n_edges + 1,
                       sizeof *o->edges))
            return false;
        o->edges[o->n_edges] =
            (struct bats_open_edge){task, o->tasks[parent].first_child, any};
        o->tasks[parent].first_child = (uint32_t)o->n_edges++;
        o->tasks[task].missing++;
    }
    return true;
}

/* Stops waiting for parents that have ended. True: one of them is not done. */
static bool take_off_ended(const struct master *m, struct bats_open_task *t,
                           const json_t *after)
{
    bool is_lost = false;
    for (size_t i = 0; i < json_array_size(after); i++) {
        uint32_t parent =
            (uint32_t)json_integer_value(json_array_get(after, i)) - 1;
        bool is_over = m->open->tasks[parent].has_ended;
        t->missing -= is_over;
        is_lost |= is_over && !bats_open_is_done(m, parent);
    }
    return is_lost;
}

int bats_open_enter(struct master *m, uint32_t task,
                    const struct bats_submission *s, struct bats_error *err)
{
    struct bats_open_task *t = &m->open->tasks[task];
    bool is_lost = take_off_ended(m, t, s->after);
    take_off_ended(m, t, s->after_any);
    t->is_held = true;
    m->open->n_held++;
    return is_lost           ? bats_open_withdraw(m, task, err)
           : t->missing == 0 ? add(m, task, err)
                             : 0;
}

/* A client of this session wants the task. */
int bats_open_ask(struct master *m, uint32_t task, struct bats_error *err)
{
    struct bats_open_task *t = &m->open->tasks[task];
    if (!t->is_unasked)
        return 0;
    t->is_unasked = false;
    return --t->missing == 0 && t->is_held ? add(m, task, err) : 0;
}

/* Withdraws all tasks of earlier sessions that nobody asked for. */
int bats_open_withdraw_unasked(struct master *m, struct bats_error *err)
{
    uint32_t list = BATS_OPEN_NONE;
    for (uint32_t i = 0; i < m->open->n_unasked; i++)
        if (m->open->tasks[i].is_unasked) {
            m->open->tasks[i].is_known = true;
            doom(m->open, i, &list);
        }
    m->open->n_unasked = 0;
    return withdraw_all(m, list, err);
}

int bats_open_ended(struct master *m, uint32_t task,
                    const struct bats_usage *usage, struct bats_error *err)
{
    struct bats_open *o = m->open;
    if (o == NULL || o->tasks[task].has_ended)
        return 0;
    tell_end(o, task, usage->exit_status, usage->signal);
    return bats_open_tell_children(m, task, bats_open_is_done(m, task), err);
}

bool bats_open_output(struct master *m, const struct bats_output_lines *lines)
{
    struct bats_open *o = m->open;
    uint32_t client = o != NULL ? o->tasks[lines->task].client : 0;
    return client > 0 && lines->n > 0 &&
           bats_clients_send(o->clients, client,
                             json_pack("{s:I, s:i, s:I}", "id",
                                       (json_int_t)lines->task + 1, "stream",
                                       lines->stream, "bytes",
                                       (json_int_t)lines->n),
                             lines->bytes, lines->n);
}

const char *bats_open_class(const struct master *m, uint32_t task)
{
    return m->open != NULL ? m->open->kinds.classes[m->open->category[task]]
                           : NULL;
}

bool bats_open_is_withdrawn(const struct master *m, uint32_t task)
{
    return m->open != NULL && m->open->tasks[task].is_withdrawn;
}

uint32_t bats_open_known(struct master *m)
{
    const struct bats_open *o = m->open;
    uint32_t n = 0;
    for (uint32_t i = 0; i < bats_open_count(m); i++) {
        if (!o->tasks[i].is_known || (!bats_sched_is_skipped(m->sched, i) &&
                                      !bats_sched_has_failed(m->sched, i)))
            continue;
        n++;
        for (uint32_t e = o->tasks[i].first_child; e != BATS_OPEN_NONE;
             e = o->edges[e].next)
            o->tasks[o->edges[e].child].is_known |=
                bats_sched_is_skipped(m->sched, o->edges[e].child);
    }
    return n;
}
