/* match: finds the tasks of the bag among those in the record. */
#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "util/grow.h"
#include "util/hash.h"

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
    sqlite3_stmt *s = r->insert_task;
    int rc = open_changes(r, err);

    if (rc < 0)
        return rc;
    rc = bats_db_put(&r->db, s, err,
                     BATS_VALUES(BATS_I(r->past.last_id + 1),
                                 BATS_I((int64_t)index + 1), BATS_I(line),
                                 BATS_I(hash), BATS_T(command),
                                 BATS_I(r->session)));
    if (rc == 0)
        r->id[index] = ++r->past.last_id;
    if (rc == 0 && parameters != NULL)
        rc =
            bats_db_put(&r->db, r->insert_point, err,
                        BATS_VALUES(BATS_I(r->id[index]), BATS_T(parameters)));
    return rc;
}

/* Whether the command depends on its task number. */
static bool mentions_its_number(const char *command)
{
    return strstr(command, "BATS_TASK_ID") != NULL ||
           strstr(command, "DISBATCH_TASKID") != NULL;
}

/* Looks for the task at its former number. */
static void look(struct bats_record *r, uint32_t index, int64_t hash,
                 uint32_t line, const char *command)
{
    struct bats_past_task *there =
        index < r->past.n_in_bag ? &r->past.tasks[index] : NULL;

    r->named[index] = (struct bats_named_task){.line = line};
    r->id[index] = hash;
    if (there != NULL && there->number == index + 1 && there->hash == hash) {
        there->is_in_bag = true;
        r->named[index].found = index + 1;
    } else {
        r->named[index].mentions_its_number = mentions_its_number(command);
        r->n_lacking++;
    }
}

/* more: identifies the task beside command and parameters; or NULL. */
static int add_task(struct bats_record *r, uint32_t index, uint32_t line,
                    const char *command, const char *parameters,
                    const char *more, struct bats_error *err)
{
    int64_t hash = hash_of(command, parameters != NULL ? parameters : more);
    int rc;

    if (bats_record_lacks(r, index)) {
        rc = insert(r, index, hash, line, command, parameters, err);
        r->named[index].is_lacking = rc < 0;
        r->n_lacking -= rc == 0;
        return rc;
    }
    if (index != r->n_tasks || r->has_begun || r->is_matched)
        return bats_error_set(err, BATS_ESTATE, "task %lu is out of turn",
                              (unsigned long)index);
    rc = make_room(r, err);
    if (rc == 0 && r->past.sessions == 0)
        rc = insert(r, index, hash, line, command, parameters, err);
    else if (rc == 0)
        look(r, index, hash, line, command);
    r->n_tasks += rc == 0;
    return rc;
}

bool bats_record_lacks(const struct bats_record *r, uint32_t index)
{
    return r->is_matched && r->named != NULL && index < r->n_tasks &&
           r->named[index].is_lacking;
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
                     const char *command, struct bats_error *err)
{
    return add_task(r, index, line, command, NULL, NULL, err);
}

int bats_record_rule(struct bats_record *r, uint32_t index, uint32_t line,
                     const char *command, const char *sent,
                     struct bats_error *err)
{
    return add_task(r, index, line, command, NULL, sent, err);
}

/* ---- tasks that have moved ---- */

/* Unmatched recorded tasks, in lists by hash: 8 bytes per task. */
struct lists {
    uint32_t *first; /* by list: index in past.tasks, from 1; 0: empty */
    uint32_t *next;  /* by task: next in its list, likewise */
    uint64_t last;   /* last list; their number is a power of 2 */
};

static int make_lists(struct lists *l, size_t n, struct bats_error *err)
{
    l->last = 0;
    while (2 * l->last + 1 < n)
        l->last = 2 * l->last + 1;
    l->first = malloc((l->last + 1) * sizeof *l->first);
    l->next = malloc((n + 1) * sizeof *l->next);
    return l->first != NULL && l->next != NULL ? 0 : bats_no_memory(err);
}

/* With lookup by number, the number is hashed as well: so a hundred thousand
 * tasks with one command are not in a single list. */
static uint32_t *list_of(struct lists *l, int64_t hash, uint32_t number)
{
    uint64_t x = (uint64_t)hash + number * UINT64_C(0x9e3779b97f4a7c15);
    return &l->first[(x ^ x >> 32) & l->last];
}

/* Fills the lists in the order of past.tasks; by number: only tasks not in the
 * last bag. */
static void fill_lists(const struct bats_record *r, struct lists *l,
                       bool by_number)
{
    memset(l->first, 0, (l->last + 1) * sizeof *l->first);
    for (size_t i = r->past.n; i-- > 0;) {
        const struct bats_past_task *t = &r->past.tasks[i];
        if (t->is_in_bag || (by_number && t->was_in_bag))
            continue;
        uint32_t *list = list_of(l, t->hash, by_number ? t->number : 0);
        l->next[i] = *list;
        *list = (uint32_t)i + 1;
    }
}

/* Removes the first matching task from the lists; returns its place, from 1,
 * or 0. Number 0 matches any. */
static uint32_t take(const struct bats_record *r, struct lists *l,
                     int64_t hash, uint32_t number)
{
    uint32_t *at = list_of(l, hash, number);
    for (; *at > 0; at = &l->next[*at - 1]) {
        const struct bats_past_task *t = &r->past.tasks[*at - 1];
        if (t->hash != hash || (number > 0 && t->number != number))
            continue;
        uint32_t found = *at;
        *at = l->next[found - 1];
        return found;
    }
    return 0;
}

/* Matches tasks: first those that return to their former number, then the
 * others. */
static void join(struct bats_record *r, struct lists *l, bool by_number)
{
    fill_lists(r, l, by_number);
    for (uint32_t i = 0; i < r->n_tasks; i++) {
        struct bats_named_task *t = &r->named[i];
        if (t->found > 0 || (!by_number && t->mentions_its_number))
            continue;
        t->found = take(r, l, r->id[i], by_number ? i + 1 : 0);
        if (t->found == 0)
            continue;
        r->past.tasks[t->found - 1].is_in_bag = true;
        r->n_lacking--;
    }
}

static int find_moved(struct bats_record *r, struct bats_error *err)
{
    struct lists lists;
    if (r->n_lacking == 0)
        return 0;
    int rc = make_lists(&lists, r->past.n, err);
    if (rc == 0) {
        join(r, &lists, true);
        join(r, &lists, false);
    }
    free(lists.first);
    free(lists.next);
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

/* Writes a task's number and line (number 0: it was removed, and keeps
 * them). */
static int write_task(struct bats_record *r, sqlite3_stmt *text,
                      sqlite3_stmt *state, const struct bats_past_task *t,
                      uint32_t number, uint32_t line, struct bats_error *err)
{
    int rc = open_changes(r, err);

    if (rc < 0)
        return rc;
    int64_t known = number > 0 ? number : t->number;
    rc = bats_db_put(&r->db, text, err,
                     BATS_VALUES(BATS_I(t->id), BATS_I(known), BATS_I(line)));
    return rc < 0 ? rc
                  : bats_db_put(&r->db, state, err,
                                BATS_VALUES(BATS_I(t->place), BATS_I(known),
                                            BATS_I(number == 0)));
}

static int write_tasks(struct bats_record *r, sqlite3_stmt *text,
                       sqlite3_stmt *state, struct bats_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++) {
        struct bats_named_task *t = &r->named[i];
        t->is_lacking = t->found == 0;
        if (t->is_lacking)
            continue;
        const struct bats_past_task *found = &r->past.tasks[t->found - 1];
        r->id[i] = found->id;
        if (t->match == BATS_RECORD_MOVED || !found->was_in_bag ||
            found->line != t->line)
            rc = write_task(r, text, state, found, i + 1, t->line, err);
    }
    for (size_t i = 0; rc == 0 && i < r->past.n_in_bag; i++)
        if (!r->past.tasks[i].is_in_bag)
            rc = write_task(r, text, state, &r->past.tasks[i], 0,
                            r->past.tasks[i].line, err);
    return rc;
}

int bats_record_match(struct bats_record *r, struct bats_error *err)
{
    sqlite3_stmt *text = NULL, *state = NULL;
    int rc = 0;

    if (r->past.sessions == 0 || r->is_matched)
        return 0;
    rc = find_moved(r, err);
    if (rc == 0) {
        classify(r);
        rc = bats_db_prepare(&r->db,
                             "UPDATE task SET number = ?2, line = ?3"
                             " WHERE id = ?1",
                             &text, err);
    }
    if (rc == 0)
        rc = bats_db_prepare(&r->db,
                             "UPDATE task_now SET number = ?2, removed = ?3"
                             " WHERE place = ?1",
                             &state, err);
    if (rc == 0)
        rc = write_tasks(r, text, state, err);
    if (rc == 0)
        rc = bats_now_remember(r, err);
    sqlite3_finalize(text);
    sqlite3_finalize(state);
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
