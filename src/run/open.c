/* open: the beginning, the steps and the end of an open bag. */
#include "run/open.h"

#include <stdlib.h>
#include <string.h>

#include "run/clock.h"
#include "run/open_state.h"

/* Takes keys, parents and needs of a task of an earlier session. */
static int take_given(struct master *m, uint32_t task, const char *text,
                      struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_submission s = {.need = o->usual};
    json_t *given = text != NULL ? json_loads(text, 0, NULL) : NULL;
    bool is_left = o->state[task] == BATS_TASK_PENDING;
    int rc =
        given != NULL ? bats_submission_read(given, &o->usual, &s, err) : 0;
    if (rc == 0 && ((s.key != NULL && !bats_open_keep_key(o, s.key, task)) ||
                    !bats_open_link(o, task, s.after)))
        rc = bats_no_memory(err);
    if (rc == 0 && is_left)
        rc = bats_open_take_kind(m, &s, &o->category[task], err);
    o->tasks[task].is_unasked = is_left && s.repeats;
    json_decref(given);
    return rc;
}

/* Takes over the state of a task of an earlier session. */
static void take_state(struct bats_open *o, uint32_t task)
{
    struct bats_open_task *t = &o->tasks[task];
    bool is_done = o->state[task] == BATS_TASK_DONE;
    t->has_ended = o->state[task] != BATS_TASK_PENDING;
    t->missing += t->is_unasked;
    for (uint32_t e = t->first_child; is_done && e != BATS_OPEN_NONE;
         e = o->edges[e].next)
        o->tasks[o->edges[e].child].missing--;
    t->is_known = t->has_ended;
    t->is_withdrawn = o->state[task] == BATS_TASK_LEFT_OUT;
}

/* Tells the engine about present and future tasks. */
static void tell_engine(struct master *m, struct bats_sched_options *engine)
{
    struct bats_open *o = m->open;
    engine->n_tasks = bats_bagfile_room(m->options->bag);
    engine->open = engine->in_order = true;
    engine->in_all = m->options->open->in_all;
    engine->once = NULL;
    engine->category = o->category;
    engine->n_categories = (uint32_t)o->kinds.names.n;
    engine->needs = o->kinds.needs;
    engine->stocks = m->survey.stocks;
}

int bats_open_begin(struct master *m, struct bats_sched_options *engine,
                    struct bats_error *err)
{
    const struct bats_run_options *options = m->options;
    uint32_t n = bats_open_count(m), room = bats_bagfile_room(options->bag);
    uint16_t usual;
    struct bats_open *o = m->open = calloc(1, sizeof *o);
    if (o == NULL)
        return bats_no_memory(err);
    o->driver.lock = -1;
    m->has_budget = engine->budget != BATS_UNLIMITED;
    o->tasks = calloc(room, sizeof *o->tasks);
    o->category = calloc(room, sizeof *o->category);
    o->state = malloc(room);
    if (o->tasks == NULL || o->category == NULL || o->state == NULL)
        return bats_no_memory(err);
    memcpy(o->state, engine->earlier.state, room);
    engine->earlier.state = o->state;
    /* Kind 0 of tasks has the default needs. */
    o->usual = options->need;
    if (o->usual.cores == 0)
        o->usual.cores = 1;
    int rc = bats_open_take_kind(
        m, &(struct bats_submission){.need = o->usual}, &usual, err);
    for (uint32_t i = 0; i < n; i++)
        o->tasks[i].first_child = BATS_OPEN_NONE;
    for (uint32_t i = 0; rc == 0 && options->open->given != NULL && i < n; i++)
        rc = take_given(m, i, options->open->given[i], err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < n; i++) /* parents come before their children */
        take_state(o, i);
    for (uint32_t i = 0; i < n; i++)
        if (o->tasks[i].missing > 0 && !o->tasks[i].has_ended) {
            o->state[i] = BATS_TASK_LEFT_OUT;
            o->tasks[i].is_held = true;
            o->n_held++;
        }
    o->n_unasked = n;
    tell_engine(m, engine);
    return 0;
}

int bats_open_start(struct master *m, struct bats_error *err)
{
    const struct bats_run_open *options = m->options->open;
    struct bats_open *o = m->open;
    if (o == NULL)
        return 0;
    o->busy_us = bats_clock_now_us();
    int rc = bats_open_driver_lock(&o->driver, options->socket, err);
    if (rc == 0)
        rc = bats_clients_open(options->socket, &o->clients, err);
    /* Withdraw tasks whose parents failed in the last session. */
    for (uint32_t i = 0; rc == 0 && i < bats_open_count(m); i++)
        if (o->tasks[i].has_ended && !bats_open_is_done(m, i))
            rc = bats_open_tell_children(m, i, false, err);
    if (rc == 0)
        rc = bats_open_driver_start(&o->driver, options->driver, err);
    if (rc == 0 && o->driver.pid > 0 && m->crew.own != NULL)
        rc = bats_executor_spare(m->crew.own, o->driver.pid, err);
    return rc;
}

static bool is_to_be_closed(struct master *m)
{
    struct bats_open *o = m->open;
    const struct bats_run_open *options = m->options->open;
    struct bats_sched_status status;
    if (o->is_closed)
        return true;
    if (options->driver != NULL)
        return bats_open_driver_has_ended(&o->driver);
    if (options->idle_us == 0)
        return false;
    bats_sched_status(m->sched, &status);
    if (status.pending + status.running + o->n_held > 0)
        o->busy_us = bats_clock_now_us();
    return bats_clock_now_us() - o->busy_us >= options->idle_us;
}

int bats_open_step(struct master *m, struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_event shut = {.type = BATS_EVENT_SHUT};
    if (o == NULL || m->finished)
        return 0;
    int rc = bats_clients_step(o->clients, bats_open_take, m, err);
    if (rc < 0)
        return rc;
    if (rc > 0)
        bats_quiet_ended(&m->quiet, false);
    if (o->is_shut || !is_to_be_closed(m))
        return 0;
    rc = bats_open_withdraw_unasked(m, err);
    if (rc < 0 || o->n_held > 0)
        return rc;
    o->is_shut = true;
    return bats_master_handle(m, &shut, err);
}

void bats_open_answer(struct master *m, bool committed)
{
    if (m->open != NULL && m->open->clients != NULL)
        bats_clients_flush(m->open->clients, committed);
}

/* Keeps the names of the kinds for the report. */
static void keep_names(struct master *m)
{
    const struct bats_names *names = &m->open->kinds.names;
    if (names->n < 2)
        return;
    m->names.list = calloc(names->n, sizeof *m->names.list);
    for (uint32_t i = 0; m->names.list != NULL && i < names->n;
         i++, m->names.n++)
        if ((m->names.list[i] = strdup(bats_names_text(names, i))) == NULL)
            return;
}

int bats_open_end(struct master *m, uint32_t *known)
{
    struct bats_open *o = m->open;
    *known = 0;
    if (o == NULL)
        return 0;
    bats_clients_close(o->clients);
    bats_open_driver_end(&o->driver, m->options->open->socket,
                         m->options->grace_ms);
    int status = o->driver.status;
    if (m->options->open->driver != NULL && m->sched != NULL)
        *known = bats_open_known(m);
    keep_names(m);
    for (size_t i = 0; i < o->kinds.names.n; i++)
        free(o->kinds.classes[i]);
    free(o->kinds.classes);
    free(o->kinds.needs);
    bats_names_release(&o->kinds.names);
    free(o->category);
    bats_names_release(&o->keys);
    free(o->task_of_key);
    free(o->tasks);
    free(o->edges);
    free(o->state);
    free(o);
    m->open = NULL;
    return status;
}
