/*
 * record_fixture: what the tests of the run record share. An empty directory
 * that is the current one, and a small session to write.
 */
#ifndef BATS_RECORD_FIXTURE_H
#define BATS_RECORD_FIXTURE_H

#include <sqlite3.h>
#include <sys/wait.h>

#include "bats/policy.h"
#include "bats/sample.h"
#include "bats/sched.h"
#include "directory.h"
#include "record/write/record.h"

#define PATH "bag.txt.bats"

#define TEST_IN_DIRECTORY(name)                                               \
    TEST_WITH(name, enter_directory, leave_directory)

/* The result of `sql` from SQLite itself: the columns of all rows, separated
 * by blanks. Not for use while this process has the record open. */
static inline const char *ask(const char *path, const char *sql)
{
    static char text[4096];
    sqlite3 *db;
    sqlite3_stmt *s;
    size_t used = 0;

    text[0] = '\0';
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *cell = (const char *)sqlite3_column_text(s, i);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used > 0 ? " " : "", cell ? cell : "-");
            assert_true(used < sizeof text);
        }
    if (rc != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(s);
    sqlite3_close(db);
    return text;
}

/* All rows of the record, as text: what `sql` asks. */
static inline void expect_rows(const char *sql, const char *rows)
{
    assert_string_equal(ask(PATH, sql), rows);
}

/* Opens the record and names the tasks "task 0", "task 1", ... */
static inline struct bats_record *open_with_tasks(uint32_t n)
{
    struct bats_record *r;
    char command[32];

    assert_ok(bats_record_open(PATH, &r, &err));
    for (uint32_t i = 0; i < n; i++) {
        snprintf(command, sizeof command, "task %u", i);
        assert_ok(bats_record_task(r, i, i + 1, command, NULL, &err));
    }
    assert_ok(bats_record_match(r, &err));
    return r;
}

/* Per task: done before the session; NULL: none is. */
static const uint8_t *fresh_tasks;

/* Two clusters, "slow" with one machine and "fast" with two. */
static inline void begin(struct bats_record *r, bats_money budget)
{
    static const struct bats_cluster clusters[] = {
        {.name = "slow", .charge = 3 * BATS_UNIT, .max = 4},
        {.name = "fast", .charge = 8 * BATS_UNIT, .max = UINT32_MAX},
    };
    static const struct bats_machine_spec machines[] = {
        {.cluster = 1, .slots = 1},
        {.cluster = 0, .slots = 2},
        {.cluster = 1, .slots = 1},
    };
    static const char *const hosts[] = {"f1", "s1", "f2"};
    struct bats_sched_options engine = {
        .policy = &bats_policy_bats,
        .seed = 42,
        .budget = budget,
        .window = BATS_HOUR,
        .clusters = clusters,
        .n_clusters = 2,
        .machines = machines,
        .n_machines = 3,
        .n_tasks = fresh_tasks != NULL ? 4 : 0,
        .earlier.fresh = fresh_tasks,
    };
    struct bats_record_session session = {
        .run_id = "run",
        .bag = "bag.txt",
        .version = "9.9",
        .time_scale = 60,
        .currency = "SU",
        .options = "{\"given\":{\"retries\":\"2\"}}",
        .started_us = 1700000000000000,
        .engine = &engine,
        .hosts = hosts,
    };

    assert_ok(bats_record_begin(r, &session, &err));
}

/* A session of any engine; what every one has is filled in. */
static inline void begin_as(struct bats_record *r,
                            struct bats_sched_options engine,
                            struct bats_record_session session)
{
    engine.window = BATS_HOUR;
    session.bag = "bag.txt";
    session.version = "9.9";
    session.engine = &engine;
    assert_ok(bats_record_begin(r, &session, &err));
}

static inline struct bats_record *begun(uint32_t n_tasks, bats_money budget)
{
    struct bats_record *r = open_with_tasks(n_tasks);
    begin(r, budget);
    return r;
}

static inline struct bats_record *reopened(struct bats_record *r,
                                           uint32_t n_tasks)
{
    assert_ok(bats_record_close(r, &err));
    return open_with_tasks(n_tasks);
}

/* bats_record_WHAT takes a struct with these members. */
#define put(what, r, ...)                                                     \
    assert_ok(bats_record_##what(r, &(struct bats_##what){__VA_ARGS__}, &err))
#define put_at(what, as, r, now, ...)                                         \
    assert_ok(bats_record_##what(r, now, &(struct as){__VA_ARGS__}, &err))
#define put_attempt(...) put_at(attempt, bats_record_attempt, __VA_ARGS__)
#define tell_command(...) put_at(command, bats_command, __VA_ARGS__)
#define tell_event(...) put_at(event, bats_event, __VA_ARGS__)

/* What needs no more words, of tasks in the first slot. */
static inline void put_command(struct bats_record *r, bats_time now,
                               enum bats_command_type type, uint32_t machine,
                               uint32_t task)
{
    tell_command(r, now, .type = type, .machine = machine, .task = task);
}

static inline void put_event(struct bats_record *r, bats_time now,
                             enum bats_event_type type, uint32_t machine,
                             uint32_t task)
{
    tell_event(r, now, .type = type, .machine = machine, .task = task);
}

/* The command, the event and the attempt of a task that ran for 2 s. */
static inline void run_in_slot(struct bats_record *r, bats_time now,
                               uint32_t machine, uint32_t slot, uint32_t task,
                               int exit_status)
{
    tell_command(r, now, .type = BATS_COMMAND_RUN, .machine = machine,
                 .slot = slot, .task = task);
    tell_event(r, now + 2 * BATS_SECOND,
               .type = exit_status == 0 ? BATS_EVENT_DONE : BATS_EVENT_FAILED,
               .machine = machine, .slot = slot, .task = task,
               .runtime = 2 * BATS_SECOND);
    put_attempt(r, now + 2 * BATS_SECOND, .task = task, .attempt = 1,
                .machine = machine, .stream = 3,
                .usage = {.start_us = 1700000000000000 + now,
                          .wall_us = 2 * BATS_SECOND + task,
                          .user_us = 1000,
                          .system_us = 500,
                          .max_rss_kib = 1234,
                          .exit_status = exit_status,
                          .written = {7, 2},
                          .begin = 100,
                          .end = 191});
}

/* Runs `body` in a child, which says by its exit code that all is well. */
static inline void in_child(void (*body)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Leaves a record of a session in which nothing happened. */
static inline void leave_record(void)
{
    assert_ok(bats_record_close(begun(1, 1), &err));
}

static inline void run_task(struct bats_record *r, bats_time now,
                            uint32_t machine, uint32_t task, int exit_status)
{
    run_in_slot(r, now, machine, 0, task, exit_status);
}

static inline void close_record(struct bats_record *r)
{
    assert_ok(bats_record_close(r, &err));
}

#endif
