/* past: loads the task states of earlier sessions when a record is
 * continued. */
#include <stdio.h>
#include <stdlib.h>

#include "record/state.h"
#include "util/usage.h"

static int compare_ids(const void *a, const void *b)
{
    const struct bats_past_task *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* In the order of struct bats_past. */
static int compare_places(const void *a, const void *b)
{
    const struct bats_past_task *x = a, *y = b;
    if (x->was_in_bag != y->was_in_bag)
        return x->was_in_bag ? -1 : 1;
    if (x->was_in_bag && x->number != y->number)
        return x->number > y->number ? 1 : -1;
    return compare_ids(a, b);
}

static uint8_t count_of(int64_t n)
{
    return n < 0 ? 0 : n > UINT8_MAX ? UINT8_MAX : (uint8_t)n;
}

/* Loads the texts. Number 0 means a damaged record. */
static int load_texts(struct bats_past *past, struct bats_db *db,
                      struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_past_task, member)
    static const struct bats_db_column columns[] = {
        C(id), C(number), C(line), C(hash), C(was_in_bag), {0}};
#undef C
    int rc = bats_db_list(db,
                          "SELECT iif(id BETWEEN 1 AND 4294967295, id, 0),"
                          " iif(number BETWEEN 1 AND 4294967295, number, 0),"
                          " line, hash, 1 FROM task ORDER BY id",
                          columns, sizeof *past->tasks, &past->tasks, &past->n,
                          NULL, err);
    for (size_t i = 0; rc == 0 && i < past->n; i++) {
        int64_t id = past->tasks[i].id;
        if (id <= past->last_id)
            rc =
                bats_error_set(err, BATS_EINPUT,
                               "%s is damaged: task %lld occurs twice, or has "
                               "an invalid number",
                               db->path, (long long)id);
        past->last_id = id;
    }
    return rc;
}

/* Finds the task by id while they are sorted by id; NULL: it was lost, as may
 * happen in a recovered record. */
static struct bats_past_task *find(struct bats_past *past, int64_t id)
{
    struct bats_past_task key = {.id = (uint32_t)id};
    if (past->n == 0 || id <= 0 || id > past->last_id)
        return NULL;
    if (id <= (int64_t)past->n && past->tasks[id - 1].id == id)
        return &past->tasks[id - 1];
    return bsearch(&key, past->tasks, past->n, sizeof key, compare_ids);
}

/* A task that was skipped, or done without a run because its outputs existed,
 * is pending. */
static void take_state(struct bats_past *past, sqlite3_stmt *row)
{
    struct bats_past_task *t = find(past, sqlite3_column_int64(row, 1));
    int64_t place = sqlite3_column_int64(row, 0);
    if (place > past->last_place)
        past->last_place = place;
    if (t == NULL || place < 1 || place > UINT32_MAX || t->place != 0)
        return;
    bool has_result = sqlite3_column_type(row, 9) != SQLITE_NULL;
    t->place = (uint32_t)place;
    t->was_in_bag = sqlite3_column_int(row, 2) == 0;
    t->state = (uint8_t)sqlite3_column_int(row, 3);
    t->past = (struct bats_record_past){
        .state = !has_result                   ? BATS_RECORD_PENDING
                 : t->state == BATS_NOW_FAILED ? BATS_RECORD_FAILED
                                               : BATS_RECORD_DONE,
        .attempts = (uint32_t)sqlite3_column_int64(row, 4),
        .failures = count_of(sqlite3_column_int64(row, 5)),
        .losses = count_of(sqlite3_column_int64(row, 6)),
        .yields = count_of(sqlite3_column_int64(row, 7)),
        .skipped = !has_result && sqlite3_column_type(row, 8) != SQLITE_NULL,
    };
}

static int load_states(struct bats_past *past, struct bats_db *db,
                       struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        db,
        "SELECT place, task, removed, state, executions, failures, losses,"
        " yields, reason, session FROM task_now",
        &s, err);
    while (rc >= 0 && (rc = bats_db_step(db, s, err)) > 0)
        take_state(past, s);
    sqlite3_finalize(s);
    for (size_t i = 0; i < past->n; i++)
        past->n_in_bag += past->tasks[i].was_in_bag;
    return rc;
}

/* How often tasks had too little memory or time, and were repeated. */
static int load_lacks(struct bats_past *past, struct bats_db *db,
                      struct bats_error *err)
{
    char query[256];
    sqlite3_stmt *s;
    snprintf(query, sizeof query,
             "SELECT task, total(exit_status = %d), total(cancelled = 2)"
             " FROM execution WHERE outcome = %d GROUP BY task",
             BATS_STATUS_OUT_OF_MEMORY, BATS_RECORD_RETRIED);
    int rc = bats_db_prepare(db, query, &s, err);
    while (rc >= 0 && (rc = bats_db_step(db, s, err)) > 0) {
        struct bats_past_task *t = find(past, sqlite3_column_int64(s, 0));
        if (t == NULL)
            continue;
        t->past.memory_more = count_of(sqlite3_column_int64(s, 1));
        t->past.time_more = count_of(sqlite3_column_int64(s, 2));
    }
    sqlite3_finalize(s);
    return rc;
}

/* True as long as no bag was edited. */
static bool is_in_order(const struct bats_past *past)
{
    for (size_t i = 1; i < past->n; i++)
        if (compare_places(&past->tasks[i - 1], &past->tasks[i]) > 0)
            return false;
    return true;
}

int bats_past_load(struct bats_past *past, struct bats_db *db,
                   struct bats_error *err)
{
    int64_t sessions = 0;
    int rc = bats_db_integer(db, "SELECT coalesce(max(id), 0) FROM session",
                             &sessions, err);

    if (rc == 0 && (sessions < 0 || sessions > INT32_MAX / 16))
        rc = bats_error_set(err, BATS_EINPUT, "%s is damaged: session %lld",
                            db->path, (long long)sessions);
    past->sessions = (uint32_t)sessions;
    if (rc == 0)
        rc = bats_db_integer(
            db, "SELECT sum(amount) FROM charge WHERE account = 0",
            &past->charged, err);
    if (rc == 0)
        rc = bats_db_integer(db, "SELECT preempted FROM now", &past->preempted,
                             err);
    if (rc == 0)
        rc = load_texts(past, db, err);
    if (rc == 0)
        rc = load_states(past, db, err);
    if (rc == 0)
        rc = load_lacks(past, db, err);
    if (rc == 0 && !is_in_order(past))
        qsort(past->tasks, past->n, sizeof *past->tasks, compare_places);
    return rc;
}

void bats_past_release(struct bats_past *past)
{
    free(past->tasks);
    past->tasks = NULL;
    past->n = past->n_in_bag = 0;
}

/* ---- consequences for the engine ---- */

enum bats_task_state bats_record_state(enum bats_record_resume resume,
                                       const struct bats_record_past *past)
{
    bool failed = past->state == BATS_RECORD_FAILED;

    if (resume == BATS_RECORD_NOT)
        return BATS_TASK_PENDING;
    if (past->state == BATS_RECORD_DONE)
        return BATS_TASK_DONE;
    if (resume == BATS_RECORD_RETRY_FAILED)
        return failed || past->skipped ? BATS_TASK_PENDING
                                       : BATS_TASK_LEFT_OUT;
    return failed && resume == BATS_RECORD_RESUME ? BATS_TASK_FAILED
                                                  : BATS_TASK_PENDING;
}
