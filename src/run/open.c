/* open: the life of an open bag, and what clients ask of it
 * (src/doc/open.md). */
#include "run/open.h"

#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "run/clock.h"
#include "run/open_state.h"
#include "util/grow.h"

/* ---- requests ---- */

/* Remembers the key of the task. False: no memory. */
static bool keep_key(struct bats_open *o, const char *key, uint32_t task)
{
    bool is_new;
    uint32_t number = bats_names_add(&o->keys, key, &is_new);
    if (number == BATS_NO_NAME ||
        !bats_grow(&o->task_of_key, &o->keys_room, (size_t)number + 1,
                   sizeof *o->task_of_key))
        return false;
    o->task_of_key[number] = task;
    return true;
}

static int check_after(const struct master *m, const json_t *const after[2],
                       struct bats_error *err)
{
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < json_array_size(after[any]); i++) {
            json_int_t id = json_integer_value(json_array_get(after[any], i));
            if (id < 1 || id > bats_open_count(m))
                return bats_refuse(err,
                                   "there is no task %" JSON_INTEGER_FORMAT
                                   " to wait for",
                                   id);
        }
    return 0;
}

/* A task is acknowledged only once it is recorded. */
static int check_open(const struct master *m, struct bats_error *err)
{
    if (m->stopping || m->draining || m->finished || m->open->is_shut)
        return bats_refuse(err, "the run ends");
    if (m->journal.failing_since > 0)
        return bats_refuse(err, "the record cannot be written");
    return 0;
}

static int record_task(struct master *m, uint32_t task, const char *command,
                       const json_t *request, struct bats_error *err)
{
    bool ok;
    char *given = bats_submission_given(request, &ok);
    int rc =
        !ok ? bats_no_memory(err)
        : m->journal.record == NULL
            ? 0
            : bats_record_submit(m->journal.record, task, command, given, err);
    free(given);
    return rc;
}

/* Records the task and starts it, or holds it. */
static int enter(struct master *m, const struct bats_submission *s,
                 const json_t *request, uint32_t task, const char *command,
                 struct bats_error *err)
{
    struct bats_open *o = m->open;
    int rc = record_task(m, task, command, request, err);
    if (rc == 0 && ((s->key != NULL && !keep_key(o, s->key, task)) ||
                    !bats_open_link(o, task, s->after)))
        rc = bats_no_memory(err);
    if (rc == 0)
        rc = bats_open_enter(m, task, s, err);
    if (rc == BATS_EINPUT) /* the task is recorded: the error is fatal */
        rc = err->code = BATS_ESTATE;
    return rc;
}

static int submit_new(struct master *m, const struct bats_submission *s,
                      const json_t *request, uint32_t *task,
                      struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_text command = {0};
    uint16_t kind = 0;
    int rc = check_open(m, err);
    if (rc == 0)
        rc = check_after(m, s->after, err);
    if (rc == 0)
        rc = bats_open_take_kind(m, s, &kind, err);
    if (rc == 0)
        rc = bats_submission_command(request, &command, err);
    *task = bats_open_count(m);
    if (rc == 0)
        rc = bats_bagfile_add(m->options->open->bag, command.bytes, err);
    if (rc == 0) {
        o->tasks[*task].first_child = BATS_OPEN_NONE;
        o->category[*task] = kind;
        rc = enter(m, s, request, *task, command.bytes, err);
    }
    bats_text_release(&command);
    return rc;
}

/* Finds the task submitted with this key; BATS_OPEN_NONE: it is new. A task
 * with a repeated key that may still run is withdrawn first, and the new one
 * waits for its end. */
static int find_known(struct master *m, struct bats_submission *s,
                      json_t *request, uint32_t *task, struct bats_error *err)
{
    struct bats_open *o = m->open;
    uint32_t known =
        s->key != NULL ? bats_names_find(&o->keys, s->key) : BATS_NO_NAME;
    *task = known != BATS_NO_NAME ? o->task_of_key[known] : BATS_OPEN_NONE;
    if (*task == BATS_OPEN_NONE || !s->repeats)
        return 0;
    uint32_t old = *task;
    if (o->tasks[old].is_unasked)
        return bats_open_ask(m, old, err);
    *task = BATS_OPEN_NONE;
    o->tasks[old].is_known = true;
    if (o->tasks[old].has_ended)
        return 0;
    json_t *end = json_pack("[I]", (json_int_t)old + 1);
    s->after[1] = end;
    return json_object_set_new(request, "after_any", end) == 0
               ? bats_open_withdraw(m, old, err)
               : bats_no_memory(err);
}

/* The state of a task in Snakemake's words, for a client. */
static const char *word_of(const struct master *m, uint32_t task)
{
    bool failed = bats_sched_is_skipped(m->sched, task) ||
                  bats_sched_has_failed(m->sched, task);
    m->open->tasks[task].is_known |= failed;
    return failed                                  ? "failed"
           : bats_sched_has_result(m->sched, task) ? "success"
                                                   : "running";
}

static json_t *submit(struct master *m, uint32_t client, json_t *request,
                      struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_submission s;
    uint32_t task;
    if (bats_submission_read(request, &o->usual, &s, err) < 0 ||
        find_known(m, &s, request, &task, err) < 0 ||
        (task == BATS_OPEN_NONE && submit_new(m, &s, request, &task, err) < 0))
        return NULL;
    json_t *answer = json_pack("{s:I}", "id", (json_int_t)task + 1);
    struct bats_open_task *t = &o->tasks[task];
    bool waits = json_is_true(json_object_get(request, "wait"));
    t->is_known = waits && t->has_ended;
    if (t->is_known)
        json_object_set_new(answer, "exit",
                            json_integer(bats_open_is_done(m, task) ? 0 : 1));
    else if (waits)
        t->client = client;
    return answer;
}

/* The numbers of the tasks that have not ended; so the client knows of the
 * others. */
static json_t *list_running(const struct master *m)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < bats_open_count(m); i++)
        if (m->open->tasks[i].has_ended)
            m->open->tasks[i].is_known = true;
        else
            json_array_append_new(list, json_integer((json_int_t)i + 1));
    return json_pack("{s:o}", "running", list);
}

static json_t *tell_state(struct master *m, const json_t *id,
                          struct bats_error *err)
{
    if (json_is_string(id) && strcmp(json_string_value(id), "all") == 0)
        return list_running(m);
    json_int_t task = json_integer_value(id);
    if (task < 1 || task > bats_open_count(m)) {
        bats_refuse(err, "there is no such task");
        return NULL;
    }
    return bats_open_ask(m, (uint32_t)task - 1, err) < 0
               ? NULL
               : json_pack("{s:s}", "state", word_of(m, (uint32_t)task - 1));
}

/* Skips unknown numbers: tasks to cancel may have ended long ago. While the
 * run stops nothing is withdrawn: drivers that are stopped with it cancel all
 * that they have submitted, and --resume would miss it. */
static json_t *cancel(struct master *m, const json_t *ids,
                      struct bats_error *err)
{
    size_t n = m->stopping ? 0 : json_array_size(ids);
    for (size_t i = 0; i < n; i++) {
        json_int_t task = json_integer_value(json_array_get(ids, i));
        if (task < 1 || task > bats_open_count(m))
            continue;
        m->open->tasks[task - 1].is_known = true;
        if (bats_open_withdraw(m, (uint32_t)task - 1, err) < 0)
            return NULL;
    }
    return json_pack("{s:b}", "cancelled", 1);
}

static json_t *take(void *context, uint32_t client, json_t *request,
                    struct bats_error *err)
{
    struct master *m = context;
    json_t *value;
    if (json_object_get(request, "submit") != NULL) {
        json_t *answer = submit(m, client, request, err);
        if (answer != NULL)
            bats_clients_hold(m->open->clients, client);
        return answer;
    }
    if ((value = json_object_get(request, "state")) != NULL)
        return tell_state(m, value, err);
    if ((value = json_object_get(request, "cancel")) != NULL) {
        bats_clients_hold(m->open->clients, client);
        return cancel(m, value, err);
    }
    if (json_is_true(json_object_get(request, "close"))) {
        m->open->is_closed = true;
        return json_pack("{s:b}", "closed", 1);
    }
    bats_refuse(err, "a request must have submit, state, cancel or close");
    return NULL;
}

/* ---- the beginning ---- */

static int take_given(struct master *m, uint32_t task, const char *text,
                      struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_submission s = {.need = o->usual};
    json_t *given = text != NULL ? json_loads(text, 0, NULL) : NULL;
    bool is_left = o->state[task] == BATS_TASK_PENDING;
    int rc =
        given != NULL ? bats_submission_read(given, &o->usual, &s, err) : 0;
    if (rc == 0 && ((s.key != NULL && !keep_key(o, s.key, task)) ||
                    !bats_open_link(o, task, s.after)))
        rc = bats_no_memory(err);
    if (rc == 0 && is_left)
        rc = bats_open_take_kind(m, &s, &o->category[task], err);
    o->tasks[task].is_unasked = is_left && s.repeats;
    json_decref(given);
    return rc;
}

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
    return rc < 0 ? rc
                  : bats_open_driver_start(&o->driver, options->driver, err);
}

/* ---- the steps and the end ---- */

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
    int rc = bats_clients_step(o->clients, take, m, err);
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
