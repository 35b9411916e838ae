/* match: finds the tasks of the bag among those in the record. */
#include <stdlib.h>
#include <string.h>

#include "record/state.h"

/* FNV-1a, 64 bits: among a million tasks, the chance of a collision is
 * 3e-8. The parameters, if there are any, follow the NUL of the command. */
static int64_t hash_of(const char *command, const char *parameters)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *command != '\0'; command++)
        hash = (hash ^ (unsigned char)*command) * prime;
    if (parameters != NULL)
        hash *= prime;
    for (; parameters != NULL && *parameters != '\0'; parameters++)
        hash = (hash ^ (unsigned char)*parameters) * prime;
    return (int64_t)hash;
}

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

/* All changes for the names of the bag are in the transaction that begins the
 * session. */
static int open_changes(struct bats_record *r, struct bats_error *err)
{
    return sqlite3_get_autocommit(r->db.sqlite)
               ? bats_db_run(&r->db, "BEGIN", err)
               : 0;
}

/* ---- the tasks are named ---- */

static int make_room(struct bats_record *r, struct bats_error *err)
{
    if (r->n_tasks < r->tasks_capacity)
        return 0;
    uint32_t capacity = r->tasks_capacity > 0 ? 2 * r->tasks_capacity : 1024;
    void *ids = realloc(r->id, capacity * sizeof *r->id);
    if (ids == NULL)
        return no_memory(err);
    r->id = ids;
    if (r->past.sessions > 0) {
        void *named = realloc(r->named, capacity * sizeof *r->named);
        if (named == NULL)
            return no_memory(err);
        r->named = named;
    }
    r->tasks_capacity = capacity;
    return 0;
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
    sqlite3_bind_int64(s, 1, r->past.last_id + 1);
    sqlite3_bind_int64(s, 2, (int64_t)index + 1);
    sqlite3_bind_int64(s, 3, line);
    sqlite3_bind_int64(s, 4, hash);
    sqlite3_bind_text(s, 5, command, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, r->session);
    rc = bats_db_step(&r->db, s, err);
    if (rc == 0)
        r->id[index] = ++r->past.last_id;
    if (rc == 0 && parameters != NULL) {
        sqlite3_bind_int64(r->insert_point, 1, r->id[index]);
        sqlite3_bind_text(r->insert_point, 2, parameters, -1, SQLITE_STATIC);
        rc = bats_db_step(&r->db, r->insert_point, err);
    }
    return rc;
}

static int add_task(struct bats_record *r, uint32_t index, uint32_t line,
                    const char *command, const char *parameters,
                    struct bats_error *err)
{
    if (index != r->n_tasks || r->has_begun || r->is_matched)
        return bats_error_set(err, BATS_ESTATE, "task %lu is out of turn",
                              (unsigned long)index);
    int64_t hash = hash_of(command, parameters);
    int rc = make_room(r, err);
    if (rc < 0)
        return rc;
    if (r->past.sessions == 0) {
        rc = insert(r, index, hash, line, command, parameters, err);
        r->n_tasks += rc == 0;
        return rc;
    }
    struct bats_named_task *t = &r->named[index];
    *t = (struct bats_named_task){.line = line, .hash = hash};
    struct bats_past_task *there = &r->past.tasks[index];
    if (index < r->past.n_in_bag && there->number == (int64_t)index + 1 &&
        there->hash == hash) {
        t->found = there;
        there->is_in_bag = true;
    } else {
        t->command = strdup(command);
        t->parameters = parameters != NULL ? strdup(parameters) : NULL;
    }
    if (t->found == NULL &&
        (t->command == NULL || (parameters != NULL && t->parameters == NULL)))
        return no_memory(err);
    r->n_tasks++;
    return 0;
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
    return text == NULL ? no_memory(err)
                        : add_task(r, index, 0, command, text, err);
}

int bats_record_task(struct bats_record *r, uint32_t index, uint32_t line,
                     const char *command, struct bats_error *err)
{
    return add_task(r, index, line, command, NULL, err);
}

/* ---- tasks that have moved ---- */

/* A task of the bag or of the record without a partner. */
struct single {
    int64_t hash;
    bool was_removed; /* before the last session */
    int64_t number;
    size_t at; /* index in `named` or in past.tasks */
    bool is_taken;
};

/* By hash; then tasks of the last bag first; then by number. */
static int compare_singles(const void *a, const void *b)
{
    const struct single *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->was_removed != y->was_removed)
        return x->was_removed ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static size_t list_new(const struct bats_record *r, struct single *list)
{
    size_t n = 0;

    for (uint32_t i = 0; i < r->n_tasks; i++)
        if (r->named[i].found == NULL)
            list[n++] = (struct single){
                .hash = r->named[i].hash, .number = (int64_t)i + 1, .at = i};
    return n;
}

static size_t list_old(const struct bats_record *r, struct single *list)
{
    size_t n = 0;

    for (size_t i = 0; i < r->past.n; i++) {
        const struct bats_past_task *t = &r->past.tasks[i];
        if (!t->is_in_bag)
            list[n++] = (struct single){.hash = t->hash,
                                        .was_removed = !t->was_in_bag,
                                        .number = t->number,
                                        .at = i};
    }
    return n;
}

static void join(struct bats_record *r, struct single *new, struct single *old)
{
    r->named[new->at].found = &r->past.tasks[old->at];
    r->past.tasks[old->at].is_in_bag = true;
    new->is_taken = old->is_taken = true;
}

/* Matches tasks that return to the number they had. */
static void join_by_number(struct bats_record *r, struct single *new,
                           size_t n_new, struct single *old, size_t n_old)
{
    for (size_t i = 0; i < n_new; i++) {
        struct single key = new[i];
        key.was_removed = true;
        struct single *found =
            n_old == 0
                ? NULL
                : bsearch(&key, old, n_old, sizeof key, compare_singles);
        if (found != NULL && !found->is_taken)
            join(r, &new[i], found);
    }
}

/* Such a command behaves differently under another number. */
static bool mentions_its_number(const char *command)
{
    return strstr(command, "BATS_TASK_ID") != NULL ||
           strstr(command, "DISBATCH_TASKID") != NULL;
}

static void join_by_hash(struct bats_record *r, struct single *new,
                         size_t n_new, struct single *old, size_t n_old)
{
    size_t i = 0, k = 0;

    while (i < n_new && k < n_old) {
        if (new[i].is_taken || new[i].hash < old[k].hash ||
            mentions_its_number(r->named[new[i].at].command))
            i++;
        else if (old[k].is_taken || old[k].hash < new[i].hash)
            k++;
        else
            join(r, &new[i++], &old[k++]);
    }
}

static int find_moved(struct bats_record *r, struct bats_error *err)
{
    struct single *new = malloc((r->n_tasks + 1) * sizeof *new);
    struct single *old = malloc((r->past.n + 1) * sizeof *old);
    int rc = new == NULL || old == NULL ? no_memory(err) : 0;

    if (rc == 0) {
        size_t n_new = list_new(r, new), n_old = list_old(r, old);
        qsort(new, n_new, sizeof *new, compare_singles);
        qsort(old, n_old, sizeof *old, compare_singles);
        join_by_number(r, new, n_new, old, n_old);
        join_by_hash(r, new, n_new, old, n_old);
    }
    free(new);
    free(old);
    return rc;
}

/* Classifies each task: an unknown task after one whose successor is gone has
 * changed. */
static void classify(struct bats_record *r)
{
    struct bats_past *past = &r->past;
    size_t next = 0; /* in the last bag: after the previous one */

    for (uint32_t i = 0; i < r->n_tasks; i++) {
        struct bats_named_task *t = &r->named[i];
        if (t->found != NULL) {
            bool same = t->found->number == (int64_t)i + 1;
            t->match = same ? BATS_RECORD_SAME : BATS_RECORD_MOVED;
            t->was = (uint32_t)(t->found->number - 1);
            if (t->found->was_in_bag)
                next = (size_t)(t->found - past->tasks) + 1;
        } else if (next < past->n_in_bag && !past->tasks[next].is_in_bag) {
            t->match = BATS_RECORD_CHANGED;
            t->was = (uint32_t)(past->tasks[next].number - 1);
            past->tasks[next++].is_replaced = true;
        } else {
            t->match = BATS_RECORD_ADDED;
        }
    }
}

/* ---- writing to the file ---- */

static int write_place(struct bats_record *r, sqlite3_stmt *s, int64_t task,
                       int64_t number, struct bats_error *err)
{
    int rc = open_changes(r, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, r->session);
    sqlite3_bind_int64(s, 2, task);
    if (number > 0)
        sqlite3_bind_int64(s, 3, number);
    else
        sqlite3_bind_null(s, 3);
    return bats_db_step(&r->db, s, err);
}

static int write_line(struct bats_record *r, sqlite3_stmt *s, int64_t task,
                      uint32_t line, struct bats_error *err)
{
    int rc = open_changes(r, err);

    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, line);
    sqlite3_bind_int64(s, 2, task);
    return bats_db_step(&r->db, s, err);
}

static int write_tasks(struct bats_record *r, sqlite3_stmt *place,
                       sqlite3_stmt *line, struct bats_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < r->n_tasks; i++) {
        const struct bats_named_task *t = &r->named[i];
        if (t->found == NULL) {
            rc =
                insert(r, i, t->hash, t->line, t->command, t->parameters, err);
            continue;
        }
        r->id[i] = t->found->id;
        if (t->match == BATS_RECORD_MOVED || !t->found->was_in_bag)
            rc = write_place(r, place, t->found->id, (int64_t)i + 1, err);
        if (rc == 0 && t->found->line != t->line)
            rc = write_line(r, line, t->found->id, t->line, err);
    }
    for (size_t i = 0; rc == 0 && i < r->past.n_in_bag; i++)
        if (!r->past.tasks[i].is_in_bag)
            rc = write_place(r, place, r->past.tasks[i].id, 0, err);
    return rc;
}

int bats_record_match(struct bats_record *r, struct bats_error *err)
{
    sqlite3_stmt *place = NULL, *line = NULL;
    int rc = 0;

    if (r->past.sessions == 0 || r->is_matched)
        return 0;
    rc = find_moved(r, err);
    if (rc == 0) {
        classify(r);
        rc = bats_db_prepare(&r->db, "INSERT INTO place VALUES (?, ?, ?)",
                             &place, err);
    }
    if (rc == 0)
        rc = bats_db_prepare(&r->db, "UPDATE task SET line = ? WHERE id = ?",
                             &line, err);
    if (rc == 0)
        rc = write_tasks(r, place, line, err);
    sqlite3_finalize(place);
    sqlite3_finalize(line);
    r->is_matched = rc == 0;
    return rc;
}

void bats_match_release(struct bats_record *r)
{
    for (uint32_t i = 0; r->named != NULL && i < r->n_tasks; i++) {
        free(r->named[i].command);
        free(r->named[i].parameters);
    }
    free(r->named);
    r->named = NULL;
    bats_past_release(&r->past);
}

/* ---- queries ---- */

struct bats_record_past bats_record_past(const struct bats_record *r,
                                         uint32_t index)
{
    struct bats_record_past past = {.match = BATS_RECORD_ADDED};

    if (r->named == NULL)
        return past;
    const struct bats_named_task *t = &r->named[index];
    if (t->found != NULL)
        past = t->found->past;
    past.match = t->match;
    past.was = t->was;
    return past;
}

int bats_record_next_gone(struct bats_record *r, size_t *at,
                          struct bats_record_gone *gone,
                          struct bats_error *err)
{
    sqlite3_stmt *s;
    const struct bats_past_task *t;

    do {
        if (*at >= r->past.n_in_bag)
            return 0;
        t = &r->past.tasks[(*at)++];
    } while (t->is_in_bag || t->is_replaced);
    int rc = bats_db_prepare(&r->db, "SELECT command FROM task WHERE id = ?",
                             &s, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, t->id);
    rc = bats_db_step(&r->db, s, err);
    const char *text = rc > 0 ? (const char *)sqlite3_column_text(s, 0) : NULL;
    gone->was = (uint32_t)(t->number - 1);
    gone->command = strdup(text != NULL ? text : "");
    sqlite3_finalize(s);
    if (rc >= 0 && gone->command == NULL)
        rc = no_memory(err);
    return rc < 0 ? rc : 1;
}
