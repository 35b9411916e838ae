/* past: loads the results of earlier sessions when a record is continued. */
#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "util/grow.h"
#include "util/now.h"

#define DAMAGED "%s is damaged: task %lld is there twice, or no task's number"

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

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM, "out of memory");
}

/* A statement with one parameter. */
static int prepare(struct bats_db *db, const char *sql, int64_t parameter,
                   sqlite3_stmt **s, struct bats_error *err)
{
    int rc = bats_db_prepare(db, sql, s, err);

    if (rc == 0)
        sqlite3_bind_int64(*s, 1, parameter);
    return rc;
}

/* 0, which no task has, if the record is damaged. */
static uint32_t number_of(int64_t number)
{
    return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int load_tasks(struct bats_past *past, struct bats_db *db, int64_t of,
                      struct bats_error *err)
{
    sqlite3_stmt *s;
    size_t capacity = 0;
    int rc = prepare(db,
                     "SELECT id, number, line, hash FROM task "
                     "WHERE session <= ? ORDER BY id",
                     of, &s, err);

    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        if (!bats_grow(&past->tasks, &capacity, past->n + 1,
                       sizeof *past->tasks)) {
            rc = no_memory(err);
            break;
        }
        int64_t id = sqlite3_column_int64(s, 0);
        if (id <= past->last_id || id > UINT32_MAX) {
            rc = bats_error_set(err, BATS_EINPUT, DAMAGED, db->path,
                                (long long)id);
            break;
        }
        past->tasks[past->n++] = (struct bats_past_task){
            .id = (uint32_t)id,
            .number = number_of(sqlite3_column_int64(s, 1)),
            .line = (uint32_t)sqlite3_column_int64(s, 2),
            .hash = sqlite3_column_int64(s, 3),
            .was_in_bag = true,
        };
        past->last_id = id;
    }
    sqlite3_finalize(s);
    return rc;
}

/* Finds the task with this id while they are sorted by id; NULL: it was lost,
 * as may happen in a recovered record. */
static struct bats_past_task *find(struct bats_past *past, int64_t id)
{
    struct bats_past_task key = {.id = (uint32_t)id};

    return past->n == 0 || id <= 0 || id > past->last_id
               ? NULL
               : bsearch(&key, past->tasks, past->n, sizeof key, compare_ids);
}

/* Calls `take` with every row of the query whose first column is a task that is
 * known. */
static int each_row(struct bats_past *past, struct bats_db *db,
                    const char *sql, int64_t parameter,
                    void (*take)(struct bats_past *past,
                                 struct bats_past_task *t, sqlite3_stmt *row),
                    struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = prepare(db, sql, parameter, &s, err);

    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(db, s, err)) > 0) {
        struct bats_past_task *t = find(past, sqlite3_column_int64(s, 0));
        if (t != NULL)
            take(past, t, s);
    }
    sqlite3_finalize(s);
    return rc;
}

static void take_place(struct bats_past *past, struct bats_past_task *t,
                       sqlite3_stmt *row)
{
    (void)past;
    t->was_in_bag = sqlite3_column_type(row, 1) != SQLITE_NULL;
    if (t->was_in_bag)
        t->number = number_of(sqlite3_column_int64(row, 1));
}

static int load_places(struct bats_past *past, struct bats_db *db, int64_t of,
                       struct bats_error *err)
{
    int rc = each_row(past, db,
                      "SELECT task, number FROM place WHERE session <= ? "
                      "ORDER BY session",
                      of, take_place, err);
    for (size_t i = 0; i < past->n; i++)
        past->n_in_bag += past->tasks[i].was_in_bag;
    return rc;
}

static void count(uint8_t *n, bool also)
{
    *n = (uint8_t)(*n + (also && *n < UINT8_MAX));
}

/* As the engine does: struct bats_sched_rules. */
static void count_yields(struct bats_record_past *p, int outcome, double ran)
{
    bool came_back =
        outcome == BATS_RECORD_YIELDED || outcome == BATS_RECORD_PREEMPTED;

    if (came_back && ran >= (double)BATS_YIELD_PROGRESS)
        p->yields = 0;
    else
        count(&p->yields, outcome == BATS_RECORD_YIELDED);
}

static void take_attempt(struct bats_past *past, struct bats_past_task *t,
                         sqlite3_stmt *row)
{
    struct bats_record_past *p = &t->past;
    int outcome = sqlite3_column_int(row, 3);
    p->attempts++;
    past->preempted += outcome == BATS_RECORD_PREEMPTED;
    if (outcome == BATS_RECORD_SUPERSEDED)
        return;
    count(&p->failures, outcome == BATS_RECORD_RETRIED);
    count_yields(p, outcome, sqlite3_column_double(row, 5));
    if (outcome != BATS_RECORD_RESULT)
        return;
    p->failures = p->yields = 0;
    t->result = sqlite3_column_int64(row, 4);
    t->wall_us = sqlite3_column_int64(row, 6);
    t->session = sqlite3_column_int(row, 7);
    t->machine = sqlite3_column_int(row, 8);
    bool failed =
        sqlite3_column_int(row, 1) != 0 || sqlite3_column_int(row, 2) != 0;
    p->state = failed ? BATS_RECORD_FAILED : BATS_RECORD_DONE;
}

static int load_attempts(struct bats_past *past, struct bats_db *db,
                         int64_t before, struct bats_error *err)
{
    return each_row(past, db,
                    "SELECT task, a.exit_status, a.signal, outcome, seq, "
                    "  wall_us * time_scale, wall_us, a.session, machine "
                    "FROM attempt a JOIN session s ON s.id = a.session "
                    "WHERE a.session < ? ORDER BY seq",
                    before, take_attempt, err);
}

/* Losses before its last result do not count any more. */
static void take_loss(struct bats_past *past, struct bats_past_task *t,
                       sqlite3_stmt *row)
{
    (void)past;
    count(&t->past.losses, sqlite3_column_int64(row, 1) > t->result);
}

static int load_losses(struct bats_past *past, struct bats_db *db,
                       int64_t before, struct bats_error *err)
{
    return each_row(past, db,
                    "SELECT task, seq FROM command "
                    "WHERE type = 'lose' AND session < ?",
                    before, take_loss, err);
}

static void take_skip(struct bats_past *past, struct bats_past_task *t,
                       sqlite3_stmt *row)
{
    (void)past;
    t->past.skipped |= sqlite3_column_int64(row, 1) > t->result;
}

static int load_skips(struct bats_past *past, struct bats_db *db,
                      int64_t before, struct bats_error *err)
{
    return each_row(past, db,
                    "SELECT task, seq FROM command "
                    "WHERE type = 'skip' AND session < ?",
                    before, take_skip, err);
}

static int load_money(struct bats_past *past, struct bats_db *db,
                      int64_t before, struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = prepare(db, "SELECT sum(amount) FROM ledger WHERE session < ?",
                     before, &s, err);

    if (rc == 0)
        rc = bats_db_step(db, s, err);
    past->charged = rc > 0 ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}

/* As long as no bag was edited. */
static bool is_in_order(const struct bats_past *past)
{
    for (size_t i = 1; i < past->n; i++)
        if (compare_places(&past->tasks[i - 1], &past->tasks[i]) > 0)
            return false;
    return true;
}

/* By place in the order of struct bats_past: where the task is now, while they
 * are sorted by id. False: a number is there twice, or missing (in a damaged
 * record). */
static bool find_places(const struct bats_past *past, uint32_t *from)
{
    size_t others = past->n_in_bag;
    memset(from, 0xff, past->n * sizeof *from);
    for (uint32_t i = 0; i < past->n; i++) {
        const struct bats_past_task *t = &past->tasks[i];
        size_t place = t->was_in_bag ? t->number - (size_t)1 : others++;
        if (t->was_in_bag &&
            (place >= past->n_in_bag || from[place] != UINT32_MAX))
            return false;
        from[place] = i;
    }
    return true;
}

/* Circle after circle: qsort would take as much memory as the tasks. */
static void move_to_places(struct bats_past_task *tasks, size_t n,
                           uint32_t *from)
{
    for (uint32_t i = 0; i < n; i++) {
        struct bats_past_task task = tasks[i];
        uint32_t at = i;
        while (from[at] != i) {
            uint32_t next = from[at];
            tasks[at] = tasks[next];
            from[at] = at;
            at = next;
        }
        tasks[at] = task;
        from[at] = at;
    }
}

static void sort_by_place(struct bats_past *past)
{
    uint32_t *from = malloc((past->n + 1) * sizeof *from);
    if (from != NULL && find_places(past, from))
        move_to_places(past->tasks, past->n, from);
    else
        qsort(past->tasks, past->n, sizeof *past->tasks, compare_places);
    free(from);
}

int bats_past_load(struct bats_past *past, struct bats_db *db, int64_t of,
                   int64_t before, struct bats_error *err)
{
    int64_t sessions = 0;
    int rc = bats_db_integer(db, "SELECT coalesce(max(id), 0) FROM session",
                             &sessions, err);

    if (rc == 0 && (sessions < 0 || sessions >= INT32_MAX))
        rc = bats_error_set(err, BATS_EINPUT, "%s is damaged: session %lld",
                            db->path, (long long)sessions);
    past->sessions = (uint32_t)sessions;
    if (rc == 0)
        rc = load_money(past, db, before, err);
    if (rc == 0)
        rc = load_tasks(past, db, of, err);
    if (rc == 0)
        rc = load_places(past, db, of, err);
    if (rc == 0)
        rc = load_attempts(past, db, before, err);
    if (rc == 0)
        rc = load_losses(past, db, before, err);
    if (rc == 0)
        rc = load_skips(past, db, before, err);
    if (rc == 0 && !is_in_order(past))
        sort_by_place(past);
    return rc;
}

void bats_past_release(struct bats_past *past)
{
    free(past->tasks);
    *past = (struct bats_past){0};
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
