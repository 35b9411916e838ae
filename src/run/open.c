/* open: the tasks of an open bag, and the driver. */
#include "run/open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bats/bag.h"
#include "bats/sched.h"
#include "exec/process/environment.h"
#include "input/workflow/names.h"
#include "run/clock.h"
#include "run/needs.h"
#include "run/open_kinds.h"
#include "run/submission.h"
#include "util/grow.h"

#define NONE UINT32_MAX

/* A task as its clients see it. */
struct task {
    uint32_t client;      /* client that waits for it; 0: none */
    uint32_t missing;     /* number of tasks it waits for, including: */
    bool is_unasked;      /* no client of this session has asked for it yet */
    uint32_t first_child; /* in edges, or NONE */
    bool is_held;         /* the engine does not know it yet */
    uint32_t next;        /* next task to withdraw, or NONE */
    bool is_withdrawn;
    bool has_ended; /* tasks that wait for it were told */
};

struct edge {
    uint32_t child, next;
    bool any; /* the child starts however its parent ends */
};

struct bats_open {
    struct bats_clients *clients;
    struct task *tasks;
    struct edge *edges;
    size_t n_edges, edges_room;
    struct bats_need usual; /* default needs of a task */
    uint32_t n_held;
    uint32_t n_unasked;     /* only tasks below this one may be unasked */
    struct bats_names keys; /* keys of submissions, and by key: */
    uint32_t *task_of_key;
    size_t keys_room;
    struct bats_open_kinds kinds; /* of tasks */
    uint16_t *category; /* by task: its kind; NULL: tasks have no needs */
    uint8_t *state;     /* the engine's, of earlier sessions; also the three
                         * below */
    uint8_t *failures, *losses, *yields;
    int lock; /* the driver inherits it */
    pid_t driver;
    int driver_status;
    bool is_closed;  /* no more tasks will come, */
    bool is_shut;    /* and the engine knows */
    int64_t busy_us; /* when a task was last in the bag */
};

static uint32_t n_tasks(const struct master *m)
{
    return m->options->bag->n_tasks;
}

/* ---- tasks that wait for others ---- */

static bool is_done(const struct master *m, uint32_t task)
{
    return bats_sched_has_result(m->sched, task) &&
           !bats_sched_has_failed(m->sched, task);
}

static int add(struct master *m, uint32_t task, struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_ADDED, .task = task};
    struct task *t = &m->open->tasks[task];
    if (m->open->category != NULL) {
        event.category = m->open->category[task];
        event.need = m->open->kinds.needs[event.category];
    }
    m->open->n_held -= t->is_held;
    t->is_held = false;
    return bats_master_handle(m, &event, err);
}

/* Withdraws a task. *out: it has ended at once; a running task ends later,
 * with a result. */
static int withdraw_one(struct master *m, uint32_t task, bool *out,
                        struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct task *t = &o->tasks[task];
    struct bats_event event = {.type = BATS_EVENT_WITHDRAWN, .task = task};
    o->n_held -= t->is_held;
    t->is_held = false;
    int rc = bats_master_handle(m, &event, err);
    *out = rc >= 0 && bats_sched_is_skipped(m->sched, task);
    if (!*out)
        return rc;
    bats_clients_send(o->clients, t->client,
                      json_pack("{s:I, s:i, s:i}", "id", (json_int_t)task + 1,
                                "exit", BATS_STATUS_WITHDRAWN, "signal",
                                SIGTERM),
                      NULL, 0);
    t->client = 0;
    t->has_ended = true;
    return rc;
}

/* Adds the task to the list of tasks to withdraw, once. */
static void doom(struct bats_open *o, uint32_t task, uint32_t *list)
{
    struct task *t = &o->tasks[task];
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
    for (uint32_t e = o->tasks[task].first_child; rc >= 0 && e != NONE;
         e = o->edges[e].next) {
        struct task *child = &o->tasks[o->edges[e].child];
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
    while (rc >= 0 && list != NONE) {
        uint32_t task = list;
        bool out;
        list = o->tasks[task].next;
        rc = withdraw_one(m, task, &out, err);
        if (rc >= 0 && out)
            rc = tell_each(m, task, false, &list, err);
    }
    return rc;
}

static int withdraw(struct master *m, uint32_t task, struct bats_error *err)
{
    uint32_t list = NONE;
    doom(m->open, task, &list);
    return withdraw_all(m, list, err);
}

static int tell_children(struct master *m, uint32_t task, bool done,
                         struct bats_error *err)
{
    uint32_t lost = NONE;
    m->open->tasks[task].has_ended = true;
    int rc = tell_each(m, task, done, &lost, err);
    return rc >= 0 ? withdraw_all(m, lost, err) : rc;
}

/* Links the task with its parents. False: no memory. */
static bool link_parents(struct bats_open *o, uint32_t task,
                         const json_t *after, bool any)
{
    for (size_t i = 0; i < json_array_size(after); i++) {
        uint32_t parent =
            (uint32_t)json_integer_value(json_array_get(after, i)) - 1;
        if (!bats_grow(&o->edges, &o->edges_room, o->n_edges + 1,
                       sizeof *o->edges))
            return false;
        o->edges[o->n_edges] =
            (struct edge){task, o->tasks[parent].first_child, any};
        o->tasks[parent].first_child = (uint32_t)o->n_edges++;
        o->tasks[task].missing++;
    }
    return true;
}

/* Stops waiting for parents that have ended. True: one of them is not done. */
static bool take_off_ended(const struct master *m, struct task *t,
                           const json_t *after)
{
    bool is_lost = false;
    for (size_t i = 0; i < json_array_size(after); i++) {
        uint32_t parent =
            (uint32_t)json_integer_value(json_array_get(after, i)) - 1;
        bool is_over = m->open->tasks[parent].has_ended;
        t->missing -= is_over;
        is_lost |= is_over && !is_done(m, parent);
    }
    return is_lost;
}

/* Starts a new task, or holds it until its parents have ended. */
static int enter(struct master *m, uint32_t task,
                 const struct bats_submission *s, struct bats_error *err)
{
    struct task *t = &m->open->tasks[task];
    bool is_lost = take_off_ended(m, t, s->after);
    take_off_ended(m, t, s->after_any);
    t->is_held = true;
    m->open->n_held++;
    return is_lost           ? withdraw(m, task, err)
           : t->missing == 0 ? add(m, task, err)
                             : 0;
}

/* A client of this session wants the task. */
static int ask(struct master *m, uint32_t task, struct bats_error *err)
{
    struct task *t = &m->open->tasks[task];
    if (!t->is_unasked)
        return 0;
    t->is_unasked = false;
    return --t->missing == 0 && t->is_held ? add(m, task, err) : 0;
}

/* Withdraws all tasks of earlier sessions that nobody asked for. */
static int withdraw_unasked(struct master *m, struct bats_error *err)
{
    uint32_t list = NONE;
    for (uint32_t i = 0; i < m->open->n_unasked; i++)
        if (m->open->tasks[i].is_unasked)
            doom(m->open, i, &list);
    m->open->n_unasked = 0;
    return withdraw_all(m, list, err);
}

int bats_open_ended(struct master *m, uint32_t task,
                    const struct bats_usage *usage, struct bats_error *err)
{
    struct bats_open *o = m->open;
    if (o == NULL || o->tasks[task].has_ended)
        return 0;
    if (o->tasks[task].client > 0)
        bats_clients_send(
            o->clients, o->tasks[task].client,
            json_pack("{s:I, s:i, s:i}", "id", (json_int_t)task + 1, "exit",
                      usage->exit_status, "signal", usage->signal),
            NULL, 0);
    o->tasks[task].client = 0;
    return tell_children(m, task, is_done(m, task), err);
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

bool bats_open_is_withdrawn(const struct master *m, uint32_t task)
{
    return m->open != NULL && m->open->tasks[task].is_withdrawn;
}

/* ---- requests ---- */

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

static int check_after(const struct master *m, const json_t *after,
                       struct bats_error *err)
{
    for (size_t i = 0; i < json_array_size(after); i++) {
        json_int_t id = json_integer_value(json_array_get(after, i));
        if (id < 1 || id > n_tasks(m))
            return bats_error_set(
                err, BATS_EINPUT,
                "there is no task %" JSON_INTEGER_FORMAT " to wait for", id);
    }
    return 0;
}

/* A task is acknowledged only once it is recorded. */
static int check_open(const struct master *m, struct bats_error *err)
{
    if (m->stopping || m->draining || m->finished || m->open->is_shut)
        return bats_error_set(err, BATS_EINPUT, "the run ends");
    if (m->journal.failing_since > 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the record cannot be written");
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

/* Finds or adds the kind of the submission. */
static int take_kind(struct master *m, const struct bats_submission *s,
                     uint16_t *kind, struct bats_error *err)
{
    struct bats_open *o = m->open;
    *kind = 0;
    if (o->category == NULL)
        return s->need.cores == 1 && s->need.gpus == 0
                   ? 0
                   : bats_error_set(err, BATS_EINPUT,
                                    "tasks of this run have one core: its "
                                    "policy, or worker jobs, allow no more");
    int rc =
        bats_needs_check(m->options, &m->survey, &s->need, m->has_budget, err);
    return rc < 0 ? rc
                  : bats_open_kinds_find(&o->kinds, s->class, &s->need, kind,
                                         err);
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
        rc = check_after(m, s->after_any, err);
    if (rc == 0)
        rc = take_kind(m, s, &kind, err);
    if (rc == 0)
        rc = bats_submission_command(request, &command, err);
    *task = n_tasks(m);
    if (rc == 0)
        rc = bats_bagfile_add(m->options->open->bag, command.bytes, err);
    if (rc == 0) {
        o->tasks[*task] = (struct task){.first_child = NONE};
        if (o->category != NULL)
            o->category[*task] = kind;
        rc = record_task(m, *task, command.bytes, request, err);
        if (rc == 0 && ((s->key != NULL && !keep_key(o, s->key, *task)) ||
                        !link_parents(o, *task, s->after, false) ||
                        !link_parents(o, *task, s->after_any, true)))
            rc = bats_no_memory(err);
        if (rc == 0)
            rc = enter(m, *task, s, err);
        if (rc == BATS_EINPUT) /* the task is recorded: the error is fatal */
            rc = err->code = BATS_ESTATE;
    }
    bats_text_release(&command);
    return rc;
}

/* Finds the task submitted with this key; NONE: it is new. A task with a
 * repeated key that may still run is withdrawn first, and the new one waits
 * for its end. */
static int find_known(struct master *m, struct bats_submission *s,
                      json_t *request, uint32_t *task, struct bats_error *err)
{
    const struct bats_open *o = m->open;
    uint32_t known =
        s->key != NULL ? bats_names_find(&o->keys, s->key) : BATS_NO_NAME;
    *task = known != BATS_NO_NAME ? o->task_of_key[known] : NONE;
    if (*task == NONE || !s->repeats)
        return 0;
    uint32_t old = *task;
    if (o->tasks[old].is_unasked)
        return ask(m, old, err);
    *task = NONE;
    if (o->tasks[old].has_ended)
        return 0;
    s->after_any = json_pack("[I]", (json_int_t)old + 1);
    return json_object_set_new(request, "after_any", (json_t *)s->after_any) ==
                   0
               ? withdraw(m, old, err)
               : bats_no_memory(err);
}

/* The state of a task in Snakemake's words. */
static const char *word_of(const struct master *m, uint32_t task)
{
    return bats_sched_is_skipped(m->sched, task) ||
                   bats_sched_has_failed(m->sched, task)
               ? "failed"
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
        (task == NONE && submit_new(m, &s, request, &task, err) < 0))
        return NULL;
    json_t *answer = json_pack("{s:I}", "id", (json_int_t)task + 1);
    struct task *t = &o->tasks[task];
    if (json_is_true(json_object_get(request, "wait"))) {
        if (!t->has_ended)
            t->client = client;
        else
            json_object_set_new(answer, "exit",
                                json_integer(is_done(m, task) ? 0 : 1));
    }
    return answer;
}

/* The numbers of the tasks that have not ended. */
static json_t *list_running(const struct master *m)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n_tasks(m); i++)
        if (!m->open->tasks[i].has_ended)
            json_array_append_new(list, json_integer((json_int_t)i + 1));
    return json_pack("{s:o}", "running", list);
}

static json_t *tell_state(struct master *m, const json_t *id,
                          struct bats_error *err)
{
    if (json_is_string(id) && strcmp(json_string_value(id), "all") == 0)
        return list_running(m);
    json_int_t task = json_integer_value(id);
    if (task < 1 || task > n_tasks(m)) {
        bats_error_set(err, BATS_EINPUT, "there is no such task");
        return NULL;
    }
    return ask(m, (uint32_t)task - 1, err) < 0
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
        if (task >= 1 && task <= n_tasks(m) &&
            withdraw(m, (uint32_t)task - 1, err) < 0)
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
    bats_error_set(err, BATS_EINPUT,
                   "a request must have submit, state, cancel or close");
    return NULL;
}

/* ---- the beginning ---- */

/* A copy with room for future tasks, or NULL. */
static uint8_t *enlarge(const struct master *m, const uint8_t *old)
{
    uint8_t *copy = calloc(bats_bagfile_room(m->options->bag), 1);
    if (copy != NULL && old != NULL)
        memcpy(copy, old, n_tasks(m));
    return copy;
}

/* Finds the kind of a task of an earlier session that is still to be run. */
static int take_earlier_kind(struct master *m, uint32_t task, json_t *given,
                             struct bats_error *err)
{
    struct bats_open *o = m->open;
    struct bats_submission s = {.need = o->usual};
    int rc =
        given != NULL ? bats_submission_read(given, &o->usual, &s, err) : 0;
    return rc < 0 ? rc : take_kind(m, &s, &o->category[task], err);
}

/* Takes keys, parents and needs of a task of an earlier session. */
static int take_given(struct master *m, uint32_t task, const char *text,
                      struct bats_error *err)
{
    struct bats_open *o = m->open;
    json_t *given = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const char *key = json_string_value(json_object_get(given, "key"));
    bool is_left = o->state[task] == BATS_TASK_PENDING;
    bool ok = (key == NULL || keep_key(o, key, task)) &&
              link_parents(o, task, json_object_get(given, "after"), false) &&
              link_parents(o, task, json_object_get(given, "after_any"), true);
    o->tasks[task].is_unasked =
        is_left && json_is_true(json_object_get(given, "repeats"));
    int rc = !ok ? bats_no_memory(err)
             : is_left && o->category != NULL
                 ? take_earlier_kind(m, task, given, err)
                 : 0;
    json_decref(given);
    return rc;
}

/* Takes over the state of a task of an earlier session. */
static void take_state(struct bats_open *o, uint32_t task)
{
    struct task *t = &o->tasks[task];
    bool is_done = o->state[task] == BATS_TASK_DONE;
    t->has_ended = o->state[task] != BATS_TASK_PENDING;
    t->missing += t->is_unasked;
    for (uint32_t e = t->first_child; is_done && e != NONE;
         e = o->edges[e].next)
        o->tasks[o->edges[e].child].missing--;
    t->is_withdrawn = o->state[task] == BATS_TASK_LEFT_OUT;
}

/* Tasks have kinds with needs if policy and machines support them. Kind 0 has
 * the default needs. */
static int begin_kinds(struct master *m, const struct bats_sched_options *e,
                       struct bats_error *err)
{
    struct bats_open *o = m->open;
    uint16_t usual;
    m->has_budget = e->budget != BATS_UNLIMITED;
    o->usual = m->options->need;
    if (o->usual.cores == 0)
        o->usual.cores = 1;
    bool knows_needs =
        e->policy == &bats_policy_rr || e->policy == &bats_policy_bats;
    if (!knows_needs || m->options->joining != NULL)
        return 0;
    o->category =
        calloc(bats_bagfile_room(m->options->bag), sizeof *o->category);
    if (o->category == NULL)
        return bats_no_memory(err);
    int rc = bats_needs_check(m->options, &m->survey, &o->usual, m->has_budget,
                              err);
    return rc < 0
               ? rc
               : bats_open_kinds_find(&o->kinds, NULL, &o->usual, &usual, err);
}

/* Tells the engine about present and future tasks. */
static void tell_engine(struct master *m, struct bats_sched_options *engine)
{
    struct bats_open *o = m->open;
    engine->n_tasks = bats_bagfile_room(m->options->bag);
    engine->open = engine->in_order = true;
    engine->in_all = m->options->open->in_all;
    engine->once = NULL;
    if (o->category == NULL)
        return;
    engine->category = o->category;
    engine->n_categories = (uint32_t)o->kinds.names.n;
    engine->needs = o->kinds.needs;
    engine->stocks = m->survey.stocks;
}

int bats_open_begin(struct master *m, struct bats_sched_options *engine,
                    struct bats_error *err)
{
    const struct bats_run_options *options = m->options;
    struct bats_sched_earlier *earlier = &engine->earlier;
    uint32_t n = n_tasks(m), room = bats_bagfile_room(options->bag);
    struct bats_open *o = m->open = calloc(1, sizeof *o);
    if (o == NULL)
        return bats_no_memory(err);
    o->lock = -1;
    o->tasks = calloc(room, sizeof *o->tasks);
    earlier->state = o->state = enlarge(m, earlier->state);
    earlier->failures = o->failures = enlarge(m, earlier->failures);
    earlier->losses = o->losses = enlarge(m, earlier->losses);
    earlier->yields = o->yields = enlarge(m, earlier->yields);
    if (o->tasks == NULL || o->state == NULL || o->failures == NULL ||
        o->losses == NULL || o->yields == NULL)
        return bats_no_memory(err);
    int rc = begin_kinds(m, engine, err);
    for (uint32_t i = 0; i < n; i++)
        o->tasks[i].first_child = NONE;
    for (uint32_t i = 0; rc == 0 && options->open->given != NULL && i < n; i++)
        rc = take_given(m, i, options->open->given[i], err);
    if (rc < 0)
        return rc;
    memset(o->state + n, BATS_TASK_LEFT_OUT, room - n);
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

/* ---- the driver ---- */

/* Everything the driver starts inherits the lock, so that no other session
 * begins beside it. */
static int lock_driver(struct master *m, struct bats_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.driver", m->options->open->socket);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        m->open->lock = fd;
        return 0;
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    return bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                          why == EWOULDBLOCK
                              ? "the driver of an earlier session still runs"
                              : strerror(why));
}

static int start_driver(struct master *m, struct bats_error *err)
{
    char *const *words = m->options->open->driver;
    struct bats_environment clean;
    posix_spawnattr_t how;
    posix_spawn_file_actions_t actions;
    sigset_t all, none;
    unsetenv("MAKELEVEL"); /* set by a make that has started this run */
    int rc = bats_environment_init(&clean, environ, err);
    if (rc < 0)
        return rc;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    /* The same number: so the driver keeps it open. */
    posix_spawn_file_actions_adddup2(&actions, m->open->lock, m->open->lock);
    int code = posix_spawnp(&m->open->driver, words[0], &actions, &how, words,
                            bats_environment_merge(&clean, NULL));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    bats_environment_release(&clean);
    return code == 0 ? 0
                     : bats_error_set(err, BATS_EINPUT, "%s: %s", words[0],
                                      strerror(code));
}

int bats_open_start(struct master *m, struct bats_error *err)
{
    struct bats_open *o = m->open;
    if (o == NULL)
        return 0;
    o->busy_us = bats_clock_now_us();
    int rc = lock_driver(m, err);
    if (rc == 0)
        rc = bats_clients_open(m->options->open->socket, &o->clients, err);
    /* Withdraw tasks whose parents failed in the last session. */
    for (uint32_t i = 0; rc == 0 && i < n_tasks(m); i++)
        if (o->tasks[i].has_ended && o->state[i] != BATS_TASK_DONE)
            rc = tell_children(m, i, false, err);
    return rc == 0 && m->options->open->driver != NULL ? start_driver(m, err)
                                                       : rc;
}

/* Returns true if the driver has ended. */
static bool driver_has_ended(struct bats_open *o, bool wait)
{
    int status;
    if (o->driver == 0)
        return true;
    if (waitpid(o->driver, &status, wait ? 0 : WNOHANG) != o->driver)
        return false;
    o->driver = 0;
    o->driver_status =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

static bool is_to_be_closed(struct master *m)
{
    struct bats_open *o = m->open;
    const struct bats_run_open *options = m->options->open;
    struct bats_sched_status status;
    if (o->is_closed)
        return true;
    if (options->driver != NULL)
        return driver_has_ended(o, false);
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
    rc = withdraw_unasked(m, err);
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

static void end_driver(struct master *m)
{
    struct bats_open *o = m->open;
    int64_t until_us = bats_clock_now_us() + m->options->grace_ms * 1000;
    if (driver_has_ended(o, false))
        return;
    kill(o->driver, SIGTERM);
    while (!driver_has_ended(o, false) && bats_clock_now_us() < until_us)
        bats_clock_sleep(BATS_CLOCK_MASTER_US);
    if (o->driver != 0) {
        kill(o->driver, SIGKILL);
        driver_has_ended(o, true);
    }
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

int bats_open_end(struct master *m)
{
    struct bats_open *o = m->open;
    char path[4096];
    if (o == NULL)
        return 0;
    bats_clients_close(o->clients);
    end_driver(m);
    int status = o->driver_status;
    snprintf(path, sizeof path, "%s.driver", m->options->open->socket);
    if (o->lock >= 0) {
        unlink(path);
        close(o->lock);
    }
    keep_names(m);
    bats_open_kinds_release(&o->kinds);
    free(o->category);
    bats_names_release(&o->keys);
    free(o->task_of_key);
    free(o->tasks);
    free(o->edges);
    free(o->state);
    free(o->failures);
    free(o->losses);
    free(o->yields);
    free(o);
    m->open = NULL;
    return status;
}
