/* past: loads the task states of earlier sessions when a record is
 * continued. */
#include <stdlib.h>

#include "record/state.h"
#include "util/asset.h"
#include "util/usage.h"

BATS_ASSET(past_sql, "record/write/past.sql");

_Static_assert(BATS_RECORD_PENDING == 0 && BATS_RECORD_DONE == 1 &&
                   BATS_RECORD_FAILED == 2 && BATS_NOW_FAILED == 2 &&
                   BATS_RECORD_RETRIED == 2 && BATS_STATUS_OUT_OF_MEMORY == -4,
               "past.sql says so");

/* In the order of struct bats_past. */
static int compare_tasks(const void *a, const void *b)
{
    const struct bats_past_task *x = a, *y = b;
    if (x->was_in_bag != y->was_in_bag)
        return x->was_in_bag ? -1 : 1;
    if (x->was_in_bag && x->number != y->number)
        return x->number > y->number ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

int bats_past_load(struct bats_past *past, struct bats_db *db,
                   struct bats_error *err)
{
#define P(member) BATS_COLUMN(struct bats_past, member)
#define C(member) BATS_COLUMN(struct bats_past_task, member)
    static const struct bats_db_column columns[] = {
        P(sessions), P(charged), P(preempted), P(last_id), P(last_place), {0}};
    static const struct bats_db_column task_columns[] = {C(id),
                                                         C(number),
                                                         C(line),
                                                         C(hash),
                                                         C(place),
                                                         C(was_in_bag),
                                                         C(state),
                                                         C(past.state),
                                                         C(past.attempts),
                                                         C(past.failures),
                                                         C(past.losses),
                                                         C(past.yields),
                                                         C(past.skipped),
                                                         C(past.memory_more),
                                                         C(past.time_more),
                                                         {0}};
#undef P
#undef C
    int rc = bats_db_get(
        db,
        "SELECT (SELECT max(id) FROM session), (SELECT sum(amount) FROM charge"
        "  WHERE account = 0), (SELECT preempted FROM now),"
        " (SELECT max(id) FROM task), (SELECT max(place) FROM task_now)",
        columns, past, err, NULL, 0);
    if (rc == 0 &&
        (past->sessions > INT32_MAX / 16 || past->last_id > UINT32_MAX ||
         past->last_place > UINT32_MAX))
        rc = bats_error_set(
            err, BATS_EINPUT, "%s is damaged: it has session %lu, task %lld",
            db->path, (unsigned long)past->sessions, (long long)past->last_id);
    if (rc == 0)
        rc =
            bats_db_list(db, past_sql.begin, task_columns, sizeof *past->tasks,
                         &past->tasks, &past->n, NULL, err, NULL, 0);
    if (past->n > 0)
        qsort(past->tasks, past->n, sizeof *past->tasks, compare_tasks);
    for (size_t i = 0; i < past->n; i++)
        past->n_in_bag += past->tasks[i].was_in_bag;
    return rc;
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
