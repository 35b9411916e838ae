/* open_tasks: tasks that wait for others, those that are withdrawn, and their
 * kinds. */
#include <signal.h>
#include <string.h>

#include "bats/rules.h"
#include "bats/sched.h"
#include "run/needs.h"
#include "run/open_state.h"
#include "util/grow.h"

/* ---- kinds ---- */

/* Writes a distinct name for each need of a class. */
static void name(struct bats_text *text, const char *class,
                 const struct bats_need *need)
{
    char part[BATS_NEED_TEXT];
    bats_text_cut(text, 0);
    bats_text_add(text, class != NULL ? class : BATS_NO_CLASS);
    bats_need_format(part, sizeof part, need);
    if (need->cores > 1 || need->gpus > 0 || need->memory_kib > 0)
        bats_text_format(text, ", %s", part);
    if (need->limit > 0)
        bats_text_format(text, ", %s",
                         bats_duration_format(part, need->limit));
}

/* Adds a kind. Returns its number, or BATS_NO_NAME: no memory. */
static uint32_t add_kind(struct bats_open_kinds *kinds, const char *text,
                         const char *class, const struct bats_need *need)
{
    bool is_new;
    size_t n = kinds->names.n + 1;
    if (!bats_grow(&kinds->needs, &kinds->room, n, sizeof *kinds->needs) ||
        !bats_grow(&kinds->classes, &kinds->classes_room, n,
                   sizeof *kinds->classes))
        return BATS_NO_NAME;
    kinds->needs[n - 1] = *need;
    kinds->classes[n - 1] = class != NULL ? strdup(class) : NULL;
    return bats_names_add(&kinds->names, text, &is_new);
}

int bats_open_take_kind(struct master *m, const struct bats_submission *s,
                        uint16_t *kind, struct bats_error *err)
{
    struct bats_open_kinds *kinds = &m->open->kinds;
    struct bats_text text = {0};
    const char *class = s->class;
    bool is_full = kinds->names.n == BATS_CATEGORIES_MAX;
    int rc =
        bats_needs_check(m->options, &m->survey, &s->need, m->has_budget, err);
    if (rc < 0)
        return rc;
    name(&text, class, &s->need);
    uint32_t found = BATS_NO_NAME;
    if (bats_text_length(&text) >= 0)
        found = bats_names_find(&kinds->names, text.bytes);
    if (found == BATS_NO_NAME && is_full) {
        name(&text, class = NULL, &s->need);
        if (bats_text_length(&text) >= 0)
            found = bats_names_find(&kinds->names, text.bytes);
    }
    if (found == BATS_NO_NAME && is_full)
        rc = bats_refuse(err,
                         "tasks of this run differ in %d classes and needs "
                         "already",
                         BATS_CATEGORIES_MAX);
    else if (found == BATS_NO_NAME &&
             (bats_text_length(&text) < 0 ||
              (found = add_kind(kinds, text.bytes, class, &s->need)) ==
                  BATS_NO_NAME))
        rc = bats_no_memory(err);
    *kind = (uint16_t)found;
    bats_text_release(&text);
    return rc;
}

/* ---- tasks ---- */

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

static uint32_t parent_of(const json_t *after, size_t i)
{
    return (uint32_t)json_integer_value(json_array_get(after, i)) - 1;
}

bool bats_open_link(struct bats_open *o, uint32_t task,
                    const json_t *const after[2])
{
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < json_array_size(after[any]); i++) {
            struct bats_open_task *parent =
                &o->tasks[parent_of(after[any], i)];
            if (!bats_grow(&o->edges, &o->edges_room, o->n_edges + 1,
                           sizeof *o->edges))
                return false;
            o->edges[o->n_edges] =
                (struct bats_open_edge){task, parent->first_child, any};
            parent->first_child = (uint32_t)o->n_edges++;
            o->tasks[task].missing++;
        }
    return true;
}

int bats_open_enter(struct master *m, uint32_t task,
                    const struct bats_submission *s, struct bats_error *err)
{
    struct bats_open_task *t = &m->open->tasks[task];
    bool is_lost = false;
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < json_array_size(s->after[any]); i++) {
            uint32_t parent = parent_of(s->after[any], i);
            bool is_over = m->open->tasks[parent].has_ended;
            t->missing -= is_over;
            is_lost |= !any && is_over && !bats_open_is_done(m, parent);
        }
    t->is_held = true;
    m->open->n_held++;
    return is_lost           ? bats_open_withdraw(m, task, err)
           : t->missing == 0 ? add(m, task, err)
                             : 0;
}

int bats_open_ask(struct master *m, uint32_t task, struct bats_error *err)
{
    struct bats_open_task *t = &m->open->tasks[task];
    if (!t->is_unasked)
        return 0;
    t->is_unasked = false;
    return --t->missing == 0 && t->is_held ? add(m, task, err) : 0;
}

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

void bats_open_describe(const struct master *m, struct bats_execution *e)
{
    if (m->open == NULL)
        return;
    uint16_t kind = m->open->category[e->task];
    e->class = m->open->kinds.classes[kind];
    e->need = m->open->kinds.needs[kind];
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
