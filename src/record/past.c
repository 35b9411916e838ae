/* past: what earlier sessions have done, read when a record is continued. */
#include <stdlib.h>
#include <string.h>

#include "record/state.h"

#define DAMAGED "%s is damaged: task %lld is there twice"

static int compare_ids(const void *a, const void *b)
{
    const struct bats_past_task *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct bats_past_task *x = a, *y = b;
    if (x->number != y->number)
        return x->number > y->number ? 1 : -1;
    return compare_ids(a, b);
}

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

static int load_tasks(struct bats_past *past, struct bats_db *db,
                      struct bats_error *err)
{
    sqlite3_stmt *s;
    size_t capacity = 0;
    int rc = bats_db_prepare(
        db, "SELECT id, number, hash, removed IS NULL FROM task ORDER BY id",
        &s, err);

    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        if (past->n == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 1024;
            void *more = realloc(past->tasks, capacity * sizeof *past->tasks);
            if (more == NULL) {
                rc = no_memory(err);
                break;
            }
            past->tasks = more;
        }
        struct bats_past_task *t = &past->tasks[past->n];
        *t = (struct bats_past_task){
            .id = sqlite3_column_int64(s, 0),
            .number = sqlite3_column_int64(s, 1),
            .hash = sqlite3_column_int64(s, 2),
            .was_in_bag = sqlite3_column_int(s, 3) != 0,
        };
        if (past->n > 0 && t->id <= past->last_id) {
            rc = bats_error_set(err, BATS_EINPUT, DAMAGED, db->path,
                                (long long)t->id);
            break;
        }
        past->last_id = t->id;
        past->n++;
    }
    sqlite3_finalize(s);
    return rc;
}

/* The tasks are sorted by id. */
static int load_attempts(struct bats_past *past, struct bats_db *db,
                         struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(db,
                             "SELECT task, exit_status, signal, outcome "
                             "FROM attempt ORDER BY seq",
                             &s, err);

    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        struct bats_past_task key = {.id = sqlite3_column_int64(s, 0)};
        struct bats_past_task *t =
            past->n == 0
                ? NULL
                : bsearch(&key, past->tasks, past->n, sizeof key, compare_ids);
        if (t == NULL) /* lost, as may happen where a record was recovered */
            continue;
        struct bats_record_past *p = &t->past;
        int outcome = sqlite3_column_int(s, 3);
        p->attempts++;
        if (outcome == BATS_RECORD_SUPERSEDED)
            continue;
        p->exit_status = sqlite3_column_int(s, 1);
        p->signal = sqlite3_column_int(s, 2);
        p->failures += outcome == BATS_RECORD_RETRIED;
        if (outcome != BATS_RECORD_RESULT)
            continue;
        p->failures = 0;
        p->state = p->exit_status == 0 && p->signal == 0 ? BATS_RECORD_DONE
                                                         : BATS_RECORD_FAILED;
    }
    sqlite3_finalize(s);
    return rc;
}

static int load_options(struct bats_past *past, struct bats_db *db,
                        struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        db, "SELECT options FROM session ORDER BY id DESC LIMIT 1", &s, err);

    if (rc < 0)
        return rc;
    rc = bats_db_step(db, s, err);
    const unsigned char *text = rc > 0 ? sqlite3_column_text(s, 0) : NULL;
    if (text != NULL && (past->options = strdup((const char *)text)) == NULL)
        rc = no_memory(err);
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

int bats_past_load(struct bats_past *past, struct bats_db *db,
                   struct bats_error *err)
{
    int64_t sessions = 0;
    int rc = bats_db_integer(db, "SELECT coalesce(max(id), 0) FROM session",
                             &sessions, err);

    if (rc == 0 && (sessions < 0 || sessions >= INT32_MAX))
        rc = bats_error_set(err, BATS_EINPUT, "%s is damaged: session %lld",
                            db->path, (long long)sessions);
    past->sessions = (uint32_t)sessions;
    if (rc == 0)
        rc = bats_db_integer(db, "SELECT sum(amount) FROM ledger",
                             &past->charged, err);
    if (rc == 0)
        rc = load_options(past, db, err);
    if (rc == 0)
        rc = load_tasks(past, db, err);
    if (rc == 0)
        rc = load_attempts(past, db, err);
    if (rc == 0 && past->n > 0)
        qsort(past->tasks, past->n, sizeof *past->tasks, compare_numbers);
    return rc;
}

void bats_past_release(struct bats_past *past)
{
    free(past->tasks);
    free(past->options);
    *past = (struct bats_past){0};
}

struct bats_past_task *bats_past_find(struct bats_past *past, int64_t number,
                                      int64_t hash, bool *is_known)
{
    size_t low = 0, high = past->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (past->tasks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    struct bats_past_task *found = NULL;
    *is_known = false;
    for (; low < past->n && past->tasks[low].number == number; low++) {
        if (past->tasks[low].was_in_bag)
            *is_known = true;
        if (past->tasks[low].hash == hash && found == NULL)
            found = &past->tasks[low];
    }
    return found;
}
