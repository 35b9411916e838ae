/* match: finds the tasks of the bag among those in the record. */
#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "util/grow.h"
#include "util/hash.h"

#define I BATS_I
#define T BATS_T
#define RUN(sql, ...) bats_rows_run(r, sql, err, BATS_VALUES(__VA_ARGS__))

/* The parameters, if there are any, follow the NUL of the command. */
static int64_t hash_of(const char *command, const char *parameters)
{
    if (parameters == NULL)
        return (int64_t)bats_hash(BATS_HASH, command, strlen(command));
    return (int64_t)bats_hash(bats_hash_text(BATS_HASH, command), parameters,
                              strlen(parameters));
}

/* Opens the transaction of the session's beginning, which includes all changes
 * of names. */
static int open_changes(struct bats_record *r, struct bats_error *err)
{
    return sqlite3_get_autocommit(r->db.sqlite)
               ? bats_db_run(&r->db, "BEGIN", err)
               : 0;
}

/* ---- the tasks are named ---- */

static int make_room(struct bats_record *r, struct bats_error *err)
{
    size_t n = (size_t)r->n_tasks + 1;
    bool ok = bats_grow(&r->id, &r->ids_room, n, sizeof *r->id) &&
              (r->past.sessions == 0 ||
               bats_grow(&r->named, &r->named_room, n, sizeof *r->named));
    return ok ? 0 : bats_no_memory(err);
}

/* Adds task `index` to the file. */
static int insert(struct bats_record *r, uint32_t index, int64_t hash,
                  uint32_t line, const char *command, const char *parameters,
                  struct bats_error *err)
{
    int64_t id = r->past.last_id + 1;
    int rc = open_changes(r, err);
    if (rc == 0)
        rc = RUN("INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)", I(id),
                 I((int64_t)index + 1), I(line), I(hash), T(command),
                 I(r->session));
    if (rc == 0 && parameters != NULL)
        rc = RUN("INSERT INTO point VALUES (?, ?)", I(id), T(parameters));
    if (rc == 0)
        r->id[index] = r->past.last_id = id;
    return rc;
}

/* Whether the command depends on its task number. */
static bool mentions_its_number(const char *command)
{
    return strstr(command, "BATS_TASK_ID") != NULL ||
           strstr(command, "DISBATCH_TASKID") != NULL;
}

/* Whether the task is there at its former number. */
static bool look(struct bats_record *r, uint32_t index, int64_t hash,
                 uint32_t line, const char *command)
{
    struct bats_past_task *there =
        index < r->past.n_in_bag ? &r->past.tasks[index] : NULL;
    bool is_same =
        there != NULL && there->number == index + 1 && there->hash == hash;
    r->named[index] = (struct bats_named_task){
        .hash = hash,
        .line = line,
        .found = is_same ? index + 1 : 0,
        .mentions_its_number = !is_same && mentions_its_number(command)};
    if (is_same) {
        there->is_in_bag = true;
        r->id[index] = there->id;
    }
    return is_same;
}

/* more: identifies the task beside command and parameters; or NULL. A task
 * that is elsewhere in the record is added for now, so that its text need not
 * be in memory until the match. */
static int add_task(struct bats_record *r, uint32_t index, uint32_t line,
                    const char *command, const char *parameters,
                    const char *more, struct bats_error *err)
{
    int64_t hash = hash_of(command, parameters != NULL ? parameters : more);
    if (index != r->n_tasks || r->has_begun || r->is_matched)
        return bats_error_set(err, BATS_ESTATE, "task %lu is out of turn",
                              (unsigned long)index);
    int rc = make_room(r, err);
    if (rc == 0 &&
        (r->past.sessions == 0 || !look(r, index, hash, line, command)))
        rc = insert(r, index, hash, line, command, parameters, err);
    r->n_tasks += rc == 0;
    return rc;
}

int bats_record_parameters(struct bats_record *r, const char *const *names,
                           size_t n, struct bats_error *err)
{
    int rc = open_changes(r, err);
    return rc == 0
               ? bats_parameters_name(&r->parameters, &r->db, names, n, err)
               : rc;
}

int bats_record_point(struct bats_record *r, uint32_t index,
                      const char *command, const char *const *values, size_t n,
                      struct bats_error *err)
{
    const char *text = bats_parameters_text(&r->parameters, values, n);
    return text == NULL ? bats_no_memory(err)
                        : add_task(r, index, 0, command, text, NULL, err);
}

int bats_record_task(struct bats_record *r, uint32_t index, uint32_t line,
                     const char *command, const char *sent,
                     struct bats_error *err)
{
    return add_task(r, index, line, command, NULL, sent, err);
}

/* ---- tasks that have moved ---- */

/* A task without a partner, in the record or in the bag. */
struct single {
    int64_t hash;
    uint32_t number; /* 0: any */
    uint32_t at;     /* index */
};

static int compare_keys(const struct single *a, const struct single *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int compare(const void *left, const void *right)
{
    const struct single *a = left, *b = right;
    int by = compare_keys(a, b);
    return by != 0 ? by : (a->at > b->at) - (a->at < b->at);
}

/* Pairs equal tasks in order. by_number: with the same number. */
static int join(struct bats_record *r, bool by_number, struct bats_error *err)
{
    size_t n_old = 0, n_new = 0;
    struct single *old = malloc((r->past.n + 1) * sizeof *old);
    struct single *new = malloc(((size_t)r->n_tasks + 1) * sizeof *new);
    int rc = old != NULL && new != NULL ? 0 : bats_no_memory(err);
    for (uint32_t i = 0; rc == 0 && i < r->past.n; i++) {
        const struct bats_past_task *t = &r->past.tasks[i];
        if (!t->is_in_bag)
            old[n_old++] =
                (struct single){t->hash, by_number ? t->number : 0, i};
    }
    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++) {
        const struct bats_named_task *t = &r->named[i];
        if (t->found == 0 && (by_number || !t->mentions_its_number))
            new[n_new++] = (struct single){t->hash, by_number ? i + 1 : 0, i};
    }
    if (n_old > 0 && n_new > 0) {
        qsort(old, n_old, sizeof *old, compare);
        qsort(new, n_new, sizeof *new, compare);
    }
    for (size_t i = 0, k = 0; i < n_old && k < n_new;) {
        int by = compare_keys(&old[i], &new[k]);
        if (by == 0) {
            r->past.tasks[old[i].at].is_in_bag = true;
            r->named[new[k].at].found = old[i].at + 1;
        }
        i += by <= 0;
        k += by >= 0;
    }
    free(old);
    free(new);
    return rc;
}

/* Classifies each task: an unknown task after one whose successor is gone has
 * changed. */
static void classify(struct bats_record *r)
{
    struct bats_past *past = &r->past;
    size_t next = 0; /* in the last bag: successor of the previous task */
    for (uint32_t i = 0; i < r->n_tasks; i++) {
        struct bats_named_task *t = &r->named[i];
        if (t->found > 0) {
            const struct bats_past_task *found = &past->tasks[t->found - 1];
            bool same = found->number == i + 1;
            t->match = same ? BATS_RECORD_SAME : BATS_RECORD_MOVED;
            t->was = found->number - 1;
            if (found->was_in_bag)
                next = t->found;
        } else if (next < past->n_in_bag && !past->tasks[next].is_in_bag) {
            t->match = BATS_RECORD_CHANGED;
            t->was = past->tasks[next].number - 1;
            past->tasks[next++].is_replaced = true;
        } else {
            t->match = BATS_RECORD_ADDED;
        }
    }
}

/* ---- writing to the file ---- */

/* Writes a task's number and line. A removed one keeps its number. */
static int write_task(struct bats_record *r, const struct bats_past_task *t,
                      uint32_t number, uint32_t line, struct bats_error *err)
{
    int rc = open_changes(r, err);
    if (rc == 0)
        rc = RUN("UPDATE task SET number = ?2, line = ?3 WHERE id = ?1",
                 I(t->id), I(number), I(line));
    return rc < 0 ? rc
                  : RUN("UPDATE task_now SET number = ?2, removed = ?3"
                        " WHERE place = ?1",
                        I(t->place), I(number), I(!t->is_in_bag));
}

/* Drops the row that was added for a task known from elsewhere. */
static int drop(struct bats_record *r, int64_t id, struct bats_error *err)
{
    int rc = RUN("DELETE FROM task WHERE id = ?", I(id));
    return rc < 0 ? rc : RUN("DELETE FROM point WHERE task = ?", I(id));
}

static int write_tasks(struct bats_record *r, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++) {
        const struct bats_named_task *t = &r->named[i];
        if (t->found == 0)
            continue;
        const struct bats_past_task *found = &r->past.tasks[t->found - 1];
        if (r->id[i] != found->id)
            rc = drop(r, r->id[i], err);
        r->id[i] = found->id;
        if (rc == 0 && (t->match == BATS_RECORD_MOVED || !found->was_in_bag ||
                        found->line != t->line))
            rc = write_task(r, found, i + 1, t->line, err);
    }
    for (size_t i = 0; rc == 0 && i < r->past.n_in_bag; i++) {
        const struct bats_past_task *t = &r->past.tasks[i];
        if (!t->is_in_bag)
            rc = write_task(r, t, t->number, t->line, err);
    }
    return rc;
}

int bats_record_match(struct bats_record *r, struct bats_error *err)
{
    if (r->past.sessions == 0 || r->is_matched)
        return 0;
    int rc = join(r, true, err); /* first, those that return */
    if (rc == 0)
        rc = join(r, false, err);
    if (rc == 0) {
        classify(r);
        rc = write_tasks(r, err);
    }
    if (rc == 0)
        rc = bats_now_remember(r, err);
    r->is_matched = rc == 0;
    return rc;
}

void bats_record_forget_past(struct bats_record *r)
{
    free(r->named);
    r->named = NULL;
    free(r->past.tasks);
    r->past.tasks = NULL;
    r->past.n = r->past.n_in_bag = 0;
}

/* ---- queries ---- */

struct bats_record_past bats_record_past(const struct bats_record *r,
                                         uint32_t index)
{
    struct bats_record_past past = {.match = BATS_RECORD_ADDED};
    if (r->named == NULL)
        return past;
    const struct bats_named_task *t = &r->named[index];
    if (t->found > 0)
        past = r->past.tasks[t->found - 1].past;
    past.match = t->match;
    past.was = t->was;
    return past;
}

static int take_command(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_record_gone *gone = context;
    gone->command = bats_db_copy(s, 0);
    return gone->command != NULL ? 0 : bats_no_memory(err);
}

int bats_record_next_gone(struct bats_record *r, size_t *at,
                          struct bats_record_gone *gone,
                          struct bats_error *err)
{
    const struct bats_past_task *t;
    do {
        if (*at >= r->past.n_in_bag)
            return 0;
        t = &r->past.tasks[(*at)++];
    } while (t->is_in_bag || t->is_replaced);
    *gone = (struct bats_record_gone){.was = t->number - 1};
    int rc = bats_db_each(&r->db, "SELECT command FROM task WHERE id = ?",
                          take_command, gone, err, BATS_VALUES(BATS_I(t->id)));
    if (rc == 0 && gone->command == NULL) /* in a damaged record */
        gone->command = strdup("");
    return rc < 0 ? rc : gone->command != NULL ? 1 : bats_no_memory(err);
}
