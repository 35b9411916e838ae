#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/record_fixture.h"

#include <sys/stat.h>

/* ---- what is written ---- */

TEST_IN_DIRECTORY(a_session_is_there_for_sql)
{
    struct bats_record *r = begun(4, 600 * BATS_UNIT);
    put_event(r, 1, BATS_EVENT_JOINED, 2, 0);
    put_command(r, 1, BATS_COMMAND_ACQUIRE, 2, 0);
    assert_ok(bats_record_charge(r, 1, 2, 8 * BATS_UNIT, &err));
    assert_ok(bats_record_charge(r, 2, 1, 3 * BATS_UNIT, &err));
    assert_ok(bats_record_charge(r, 2 + BATS_HOUR, 1, 3 * BATS_UNIT, &err));
    run_task(r, 10, 2, 3, 0);
    run_task(r, 20, 1, 0, 7);
    put(decision, r, .time = 5, .reason = BATS_REASON_SAMPLED,
        .feasible = true, .tasks_left = 3, .tasks_paid = -1,
        .budget_left = 589 * BATS_UNIT, .windows = 2, .machines = {1, 2},
        .trigger = BATS_TRIGGER_RESULTS, .tasks_open = 4, .end = 7 * BATS_HOUR,
        .cost = 99 * BATS_UNIT, .replaces = true);
    assert_ok(bats_record_notice(r, 30, 1, UINT32_MAX, "It's odd.", &err));
    assert_true(bats_record_waiting(r));
    assert_ok(bats_record_commit(r, &err));
    assert_false(bats_record_waiting(r));
    assert_ok(bats_record_finish(r, 99, BATS_FINISH_BUDGET, 0, 4, &err));
    close_record(r);

    expect_rows("PRAGMA integrity_check", "ok");
    expect_rows("SELECT id, run_id, bag, version, policy, seed, budget, "
                "window_us, time_scale, currency, resume, started_us, "
                "n_tasks, ended_us, finish, signal, exit_code FROM session",
                "1 run bag.txt 9.9 bats 42 600000000 3600000000 60.0 SU new "
                "1700000000000000 4 99 budget 0 4");
    expect_rows("SELECT json_extract(options, '$.run'), "
                "json_extract(options, '$.engine.retries') FROM session",
                "{\"given\":{\"retries\":\"2\"}} 0");
    expect_rows("SELECT * FROM cluster",
                "1 0 slow 3000000 4 1.0 1 1 fast 8000000 - 1.0");
    expect_rows("SELECT name, host, slots FROM machine ORDER BY id",
                "fast-1 f1 1 slow-1 s1 2 fast-2 f2 1");
    expect_rows("SELECT * FROM happened",
                "1 1 1 joined 2 - - - 2 1 1 acquire 2 - - - "
                "11 1 30 notice 1 - - It's odd.");
    expect_rows("SELECT * FROM execution WHERE task = 4",
                "7 1 4 1 0 2 0 - 6 10 2000010 2000000 "
                "1700000000000010 2000003 1000 500 1234 0 0 0 - 7 2 "
                "3 100 191");
    expect_rows("SELECT task, state, executions, attempts, session, machine,"
                " cluster, host, exit_status, wall_us, cpu_us, cost"
                " FROM task_now WHERE task = 1 OR task = 4 ORDER BY task",
                "1 2 1 1 1 1 slow s1 7 2000000 1500 50000.0 "
                "4 1 1 1 1 2 fast f2 0 2000003 1500 266667.066666667");
    expect_rows("SELECT * FROM decision",
                "10 1 5 sampled 1 3 - 589000000 2 [1,2] more results 4 "
                "25200000000 99000000 1");
    expect_rows("SELECT * FROM cost_by_cluster", "fast 1 1 8.0 slow 1 2 6.0");
    expect_rows("SELECT number, state FROM tasks ORDER BY number",
                "1 failed 2 pending 3 pending 4 done");
    expect_rows("SELECT * FROM failed_tasks", "1 7 0 s1 1 2.0 1 task 0");
    expect_rows("SELECT number FROM slowest_tasks", "4 1");
    expect_rows("SELECT * FROM progress", "4 1 1 0 2 14.0 600.0 1 budget");
}

TEST_IN_DIRECTORY(fnv_1a_has_its_published_value)
{
    struct bats_record *r;
    assert_ok(bats_record_create(PATH, &r, &err));
    assert_ok(bats_record_task(r, 0, 1, "foobar", NULL, &err));
    begin(r, BATS_UNLIMITED);
    close_record(r);
    /* From the authors' test vectors: 0x85944171f73967e8. */
    expect_rows("SELECT printf('%x', hash) FROM task", "85944171f73967e8");
    expect_rows("SELECT budget FROM session", "-");
}

TEST_IN_DIRECTORY(a_closed_record_is_one_plain_file)
{
    leave_record();
    assert_int_equal(access(PATH "-wal", F_OK), -1);
    assert_int_equal(access(PATH "-shm", F_OK), -1);
    expect_rows("PRAGMA journal_mode", "delete");
}

TEST_IN_DIRECTORY(a_record_that_loses_its_name_is_written_again)
{
    struct bats_record *r = begun(2, 1);
    run_task(r, 10, 1, 0, 0);
    assert_int_equal(unlink(PATH), 0);
    unlink(PATH "-wal");
    run_task(r, 20, 0, 1, 0);
    close_record(r);
    expect_rows("SELECT done FROM progress", "2");
    expect_rows("PRAGMA journal_mode", "delete");
    expect_rows("PRAGMA integrity_check", "ok");
}

TEST_IN_DIRECTORY(a_record_that_is_replaced_is_written_beside)
{
    struct bats_record *r = open_with_tasks(2), *other;
    begin(r, 1);
    run_task(r, 10, 1, 0, 0);
    assert_int_equal(rename(PATH, "moved"), 0);
    other = open_with_tasks(2);
    begin(other, 1);
    assert_says(bats_record_close(r, &err), BATS_ESYS,
                "the record of this run is " PATH ".1");
    close_record(other);
    expect_rows("SELECT done FROM progress", "0");
    assert_string_equal(ask(PATH ".1", "SELECT done FROM progress"), "1");
}

TEST_IN_DIRECTORY(a_record_that_is_cut_off_is_said_to_be)
{
    struct bats_record *r = begun(2, 1);
    run_task(r, 10, 1, 0, 0);
    assert_ok(bats_record_commit(r, &err));
    assert_int_equal(truncate(PATH, 0), 0);
    run_task(r, 20, 0, 1, 0);
    assert_says(bats_record_close(r, &err), BATS_ESYS,
                PATH " was truncated while");
}

/* ---- what is known of earlier sessions ---- */

/* What is known of a task: its match, state and numbers of attempts, failures,
 * losses and yields. */
#define PAST(r, task, words)                                                  \
    do {                                                                      \
        struct bats_record_past p_ = bats_record_past(r, task);               \
        static const char *const match_[] = {"same", "moved", "changed",      \
                                             "added"};                        \
        static const char *const state_[] = {"pending", "done", "failed"};    \
        assert_reads(words, "%s %s %u %u %u %u", match_[p_.match],            \
                     state_[p_.state], p_.attempts, p_.failures, p_.losses,   \
                     p_.yields);                                              \
    } while (0)

TEST_IN_DIRECTORY(resume_knows_results_and_money)
{
    struct bats_record *r = open_with_tasks(3);
    assert_int_equal(bats_record_earlier(r).sessions, 0);
    assert_int_equal(bats_record_earlier(r).charged, 0);
    begin(r, 600 * BATS_UNIT);
    assert_ok(bats_record_charge(r, 1, 2, 8 * BATS_UNIT, &err));
    run_task(r, 10, 2, 0, 0);
    run_task(r, 20, 1, 1, 7);
    put_attempt(r, 30, .task = 2, .attempt = 1, .usage.signal = 15,
                .outcome = BATS_RECORD_PREEMPTED);
    static const enum bats_record_outcome outcomes[] = {
        BATS_RECORD_RETRIED, BATS_RECORD_YIELDED, BATS_RECORD_RETRIED,
        BATS_RECORD_FAILED_BESIDE};
    for (int i = 0; i < 4; i++)
        put_attempt(r, 40 + i, .task = 2, .usage.exit_status = 9,
                    .outcome = outcomes[i]);
    for (uint32_t i = 0; i < 4; i++) {
        put_command(r, 50 + i, BATS_NOTICE_LOSE, 0, i == 0 ? 1 : 2);
        if (i == 0) /* that is now its result */
            run_task(r, 51, 2, 1, 7);
    }
    r = reopened(r, 3);
    assert_int_equal(bats_record_earlier(r).sessions, 1);
    assert_int_equal(bats_record_earlier(r).charged, 8 * BATS_UNIT);
    PAST(r, 0, "same done 1 0 0 0");
    PAST(r, 1, "same failed 2 0 0 0"); /* it has its result */
    PAST(r, 2, "same pending 5 2 3 1");
    begin(r, 600 * BATS_UNIT);
    run_task(r, 10, 2, 1, 0);
    assert_ok(bats_record_charge(r, 1, 1, 3 * BATS_UNIT, &err));
    close_record(r);

    expect_rows("SELECT number, state FROM tasks ORDER BY number",
                "1 done 2 done 3 pending");
    expect_rows("SELECT charged, sessions FROM progress", "11.0 2");
    expect_rows("SELECT count(*) FROM task", "3");
}

TEST_IN_DIRECTORY(resume_counts_yields_without_progress_in_a_row)
{
    static const struct {
        uint32_t task;
        enum bats_record_outcome outcome;
        int64_t seconds; /* of bag time, 60 times as fast */
    } ends[] = {
        {0, BATS_RECORD_YIELDED, 1},    {0, BATS_RECORD_PREEMPTED, 1},
        {0, BATS_RECORD_YIELDED, 1},    {1, BATS_RECORD_YIELDED, 1},
        {1, BATS_RECORD_YIELDED, 12},   {2, BATS_RECORD_YIELDED, 1},
        {2, BATS_RECORD_PREEMPTED, 12}, {2, BATS_RECORD_YIELDED, 1},
        {3, BATS_RECORD_YIELDED, 1},    {3, BATS_RECORD_RESULT, 1},
    };
    struct bats_record *r = begun(4, 600 * BATS_UNIT);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        put_attempt(r, 10, .task = ends[i].task, .usage.exit_status = 85,
                    .outcome = ends[i].outcome,
                    .usage.wall_us = ends[i].seconds * 1000000 / 60);
    r = reopened(r, 4);
    assert_numbers("2 0 1 0", bats_record_past(r, 0).yields,
                   bats_record_past(r, 1).yields,
                   bats_record_past(r, 2).yields,
                   bats_record_past(r, 3).yields);
    close_record(r);
}

TEST_IN_DIRECTORY(a_history_is_read_as_it_was_written)
{
    struct bats_record *r = begun(1000, 600 * BATS_UNIT);
    for (uint32_t i = 0; i < 1000; i++)
        run_task(r, i, 2, i, 0);
    put_attempt(r, 3, .task = UINT32_MAX, .host = "a\"b\\c\nd\xc3\xa9",
                .usage.start_us = -INT64_MAX, .usage.wall_us = INT64_MAX,
                .usage.signal = -7, .stream = -1, .usage.begin = 5);
    struct bats_event events[] = {
        {.type = BATS_EVENT_TICK},
        {.type = BATS_EVENT_LOST, .machine = 1},
        {.type = BATS_EVENT_YIELDED, .machine = 1, .slot = 1, .task = 4},
        {.type = BATS_EVENT_FAILED, .task = UINT32_MAX, .runtime = 9},
        {.type = BATS_EVENT_CHOSEN,
         .choice = {.offer = BATS_OFFER_DEADLINE, .budget = 3, .deadline = 8}},
    };
    struct bats_command commands[] = {
        {.type = BATS_NOTICE_SAMPLED},
        {.type = BATS_COMMAND_PARK, .machine = 2},
        {.type = BATS_COMMAND_CANCEL, .machine = 1, .task = 3, .time_out = 1},
        {.type = BATS_NOTICE_SKIP, .machine = BATS_NO_MACHINE, .unpaid = true},
        {.type = BATS_NOTICE_FINISHED, .finish = BATS_FINISH_HALTED},
    };
    for (int i = 0; i < 5; i++) {
        assert_ok(bats_record_event(r, 40 + i, &events[i], &err));
        assert_ok(bats_record_command(r, -40 - i, &commands[i], &err));
    }
    close_record(r);

    expect_rows("SELECT count(*), count(DISTINCT given), "
                "sum(seq - given) FROM execution",
                "1001 1000 1000");
    expect_rows("SELECT task, host, hex(host), start_us, wall_us, signal, "
                "stream, out_begin FROM execution WHERE seq = 2001",
                "- a\"b\\c\nd\xc3\xa9 6122625C630A64C3A9 "
                "-9223372036854775807 "
                "9223372036854775807 -7 - -");
    expect_rows(
        "SELECT time_us, what, machine, task, value, sentence FROM "
        "happened ORDER BY seq",
        "-40 sampled - - - - 41 lost 1 - - - -41 park 2 - - - "
        "-43 skip - 1 - unpaid 44 chosen - - 7 - -44 finished - - - halted");
    /* A task that has its result is not skipped. */
    expect_rows("SELECT done, skipped FROM now", "1000 0");
}

TEST_IN_DIRECTORY(tasks_are_listed_in_linear_time)
{
    struct bats_record *r = begun(3, 600 * BATS_UNIT);
    close_record(r);
    const char *plan = ask(PATH, "EXPLAIN QUERY PLAN SELECT * FROM tasks");
    assert_non_null(strstr(plan, "SCAN n "));
    assert_non_null(strstr(plan, "SEARCH task USING INTEGER PRIMARY KEY"));
}

TEST_IN_DIRECTORY(the_others_of_a_task_count_for_nothing)
{
    struct bats_record *r = begun(2, 600 * BATS_UNIT);
    for (uint32_t task = 0; task < 2; task++)
        tell_command(r, 5 + task, .type = BATS_COMMAND_RUN, .machine = 1,
                     .task = task, .replica = 1);
    run_task(r, 10, 2, 0, 0);
    close_record(r);
    expect_rows("SELECT number, state FROM tasks ORDER BY number",
                "1 done 2 running");
    expect_rows("SELECT task, copy, machine FROM running "
                "ORDER BY seq",
                "1 1 1 2 1 1");

    r = begun(2, 600 * BATS_UNIT);
    put_attempt(r, 30, .task = 0, .attempt = 2, .usage.exit_status = 9,
                .outcome = BATS_RECORD_SUPERSEDED);
    r = reopened(r, 2);
    PAST(r, 0, "same done 2 0 0 0");
    close_record(r);
    expect_rows("SELECT state, attempts FROM tasks ORDER BY number",
                "done 1 pending 0");
}

/* An execution of the task on a machine ends so. */
static void end_as(struct bats_record *r, uint32_t machine, uint32_t task,
                   int exit_status, enum bats_record_outcome outcome)
{
    put_command(r, 5, BATS_COMMAND_RUN, machine, task);
    tell_event(r, 10, .type = BATS_EVENT_DONE, .machine = machine,
               .task = task, .runtime = 2 * BATS_SECOND);
    put_attempt(r, 10, .task = task, .attempt = 1, .machine = machine,
                .usage.exit_status = exit_status, .outcome = outcome,
                .stream = -1);
    assert_ok(bats_record_commit(r, &err));
}

/* Task 0 fails once, task 1 has a copy that comes second, task 4 is removed. */
TEST_IN_DIRECTORY(runtimes_of_tasks_that_ran_on_two_clusters_come_first)
{
    static const struct bats_cluster clusters[] = {{.name = "fast"},
                                                   {.name = "slow"}};
    const struct bats_sched_options engine = {.clusters = clusters,
                                              .n_clusters = 2};
    char seen[64] = "";
    struct bats_record_rest rest = {0};
    struct bats_record *r = begun(5, 1);
    end_as(r, 0, 0, 1, BATS_RECORD_RETRIED);
    end_as(r, 0, 1, 0, BATS_RECORD_RESULT);
    end_as(r, 1, 1, 0, BATS_RECORD_SUPERSEDED);
    end_as(r, 0, 2, 0, BATS_RECORD_RESULT);
    end_as(r, 0, 0, 0, BATS_RECORD_RESULT);
    end_as(r, 0, 4, 0, BATS_RECORD_RESULT);
    end_as(r, 0, 3, 0, BATS_RECORD_RESULT);
    r = reopened(r, 4);
    assert_ok(bats_record_rest(r, &engine, &rest, &err));
    for (size_t i = 0; i < rest.n_seen; i++) {
        const struct bats_observation *o = &rest.seen[i];
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%u@%zu ",
                 o->task, (size_t)o->cluster);
        assert_int_equal(o->runtime, 2 * BATS_SECOND);
    }
    assert_string_equal(seen, "1@1 1@0 3@0 0@0 2@0 ");
    bats_record_rest_release(&rest);
    bats_record_abandon(r);
}

/* Both copies of a task end before their attempts are told, in a commit or
 * after it. */
TEST_IN_DIRECTORY(ends_of_copies_are_told_apart)
{
    static const uint32_t machines[] = {0, 2};
    struct bats_record *r = begun(1, 1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++) {
            tell_command(r, i, .type = BATS_COMMAND_RUN,
                         .machine = machines[i], .replica = (uint32_t)i);
            tell_event(r, 5 + i, .type = BATS_EVENT_FAILED,
                       .machine = machines[i], .runtime = 1);
        }
        if (round == 1)
            assert_ok(bats_record_commit(r, &err));
        for (int i = 0; i < 2; i++)
            put_attempt(r, 9, .machine = machines[i],
                        .attempt = (uint32_t)i + 1,
                        .outcome = BATS_RECORD_RETRIED, .stream = -1);
    }
    close_record(r);
    expect_rows("SELECT machine, copy, attempt, given_us,"
                " ended_us FROM execution ORDER BY seq",
                "0 0 1 0 5 2 1 2 1 6 0 0 1 0 5 2 1 2 1 6");
}

TEST_IN_DIRECTORY(tasks_come_in_order)
{
    struct bats_record *r = open_with_tasks(2);
    assert_int_equal(bats_record_task(r, 3, 4, "x", NULL, &err), BATS_ESTATE);
    bats_record_abandon(r);
}

TEST_IN_DIRECTORY(a_task_runs_until_it_ends_or_its_machine_is_lost)
{
    struct bats_record *r = begun(4, 1);
    for (uint32_t i = 0; i < 3; i++)
        put_command(r, i, BATS_COMMAND_RUN, i, i);
    put_event(r, 5, BATS_EVENT_PREEMPTED, 0, 0);
    put_event(r, 6, BATS_EVENT_LOST, 1, 0);
    assert_ok(bats_record_commit(r, &err));
    bats_record_abandon(r);
    expect_rows("SELECT task, machine, slot, given_us "
                "FROM running",
                "3 2 0 2");
    expect_rows("SELECT state FROM tasks ORDER BY number",
                "pending pending running pending");
    expect_rows("SELECT task, outcome FROM execution", "1 - 2 6");
}

TEST_IN_DIRECTORY(a_lease_says_when_a_kill_would_cost_more)
{
    static const bats_money if_killed[] = {5, 5, 3, 4, 0, 9};
    static const int rises[] = {1, 0, 0, 1, 0, 1};
    struct bats_lease second = {.id = 1, .kind = "second"};
    struct bats_lease use = {.id = 2, .kind = "use"};
    struct bats_record *r = begun(1, 1);
    for (size_t i = 0; i < sizeof rises / sizeof *rises; i++) {
        second.if_killed = use.if_killed = if_killed[i];
        assert_int_equal(bats_record_lease(r, &second, &err), rises[i]);
        assert_ok(bats_record_lease(r, &use, &err));
        if (i == 2)
            assert_ok(bats_record_commit(r, &err));
    }
    close_record(r);
    expect_rows("SELECT kind, if_killed FROM lease", "second 9 use 9");
}

/* ---- what is refused ---- */

TEST_IN_DIRECTORY(a_wrong_file_is_refused_and_left_alone)
{
    static const char *const rows[][2] = {
        {"notes", "is not a run record"},
        {"short", "is not a run record"},
        {"/", "/"},
        {"missing/" PATH, "No such file"},
        {"other.db", "is not a run record"},
        {"pipe", "pipe is not a run record"},
        {"cut", "cut is damaged: it is cut off after 511 bytes"},
        {"page", "page is damaged (file is not a database)"},
        {"new.bats", "was written by a newer bats-mpi (schema 12, this one "
                     "knows 11)"},
        {"old.bats", "was written by an older bats-mpi (schema 4, this one "
                     "knows 11)"}};
    static const char page[512] = "SQLite format 3";
    write_text("notes", "Dear diary, this is no database of any kind.\n");
    write_text("short", "SQLite");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    write_bytes("cut", page, 511);
    write_bytes("page", page, 512);
    ask("other.db", "CREATE TABLE t (a)");
    for (int i = 8; i < 10; i++) {
        leave_record();
        ask(PATH,
            i == 8 ? "PRAGMA user_version = 12" : "PRAGMA user_version = 4");
        assert_int_equal(rename(PATH, rows[i][0]), 0);
    }
    for (int i = 0; i < 10; i++) {
        struct bats_record *r = (void *)1;
        assert_says(bats_record_open(rows[i][0], &r, &err), BATS_EINPUT,
                    rows[i][1]);
        assert_null(r);
        assert_non_null(strstr(err.text, rows[i][0]));
    }
    assert_string_equal(ask("other.db", "SELECT name FROM sqlite_schema"),
                        "t");
    assert_string_equal(ask("other.db", "PRAGMA journal_mode"), "delete");
}

TEST_IN_DIRECTORY(an_empty_file_is_a_new_record)
{
    write_text(PATH, "");
    close_record(open_with_tasks(1));
}

/* Opens the record for a sweep over `rate`, a value without a name, and one
 * with the name of a column. */
static struct bats_record *open_sweep(const char *const (*values)[3],
                                      uint32_t n)
{
    static const char *const names[] = {"rate", NULL, "host"};
    struct bats_record *r;
    assert_ok(bats_record_open(PATH, &r, &err));
    assert_ok(bats_record_parameters(r, names, 3, &err));
    for (uint32_t i = 0; i < n; i++)
        assert_ok(bats_record_point(r, i, "x", values[i], 3, &err));
    assert_ok(bats_record_match(r, &err));
    return r;
}

TEST_IN_DIRECTORY(parameters_are_columns)
{
    static const char *const values[][3] = {{"0.10", "a \"b\"\\\n", "007"},
                                            {"-2e3", "", "\xff"},
                                            {"1.", "z", "0"}};
    struct bats_record *r = open_sweep(values, 3);
    begin(r, 1);
    close_record(r);
    expect_rows(
        "SELECT rate, typeof(rate), hex(p2), hex(p_host), "
        "typeof(p_host) FROM tasks ORDER BY number",
        "0.1 real 61202262225C0A 303037 text -2000.0 real  EEBFBF text "
        "1. text 7A 30 integer");
    expect_rows("SELECT parameters FROM point LIMIT 1",
                "{\"rate\":0.10,\"p2\":\"a \\\"b\\\"\\\\\\u000a\","
                "\"host\":\"007\"}");
}

TEST_IN_DIRECTORY(tasks_with_the_same_values_are_the_same)
{
    static const char *const before[][3] = {{"1", "a", ""}, {"2", "a", ""}};
    static const char *const after[][3] = {
        {"1", "a", ""}, {"1", "b", ""}, {"2", "a", ""}};
    struct bats_record *r = open_sweep(before, 2);
    begin(r, 1);
    run_task(r, 10, 0, 0, 0);
    run_task(r, 20, 0, 1, 0);
    close_record(r);
    r = open_sweep(after, 3);
    PAST(r, 0, "same done 1 0 0 0");
    PAST(r, 1, "added pending 0 0 0 0");
    PAST(r, 2, "moved done 1 0 0 0");
    begin(r, 1);
    close_record(r);
    expect_rows("SELECT number, rate, p2 FROM tasks "
                "ORDER BY number",
                "1 1 a 2 1 b 3 2 a");
}

TEST_IN_DIRECTORY(create_refuses_an_earlier_run)
{
    struct bats_record *r;
    leave_record();
    assert_says(bats_record_create(PATH, &r, &err), BATS_EINPUT,
                PATH " exists");
}

TEST_IN_DIRECTORY(an_earlier_run_is_set_aside)
{
    char moved[64];
    assert_ok(bats_record_set_aside(PATH, moved, sizeof moved, &err));
    assert_string_equal(moved, "");
    for (int i = 0; i < 2; i++) {
        struct bats_record *r = begun(1, 1 + i);
        bats_record_abandon(r);
        assert_ok(bats_record_set_aside(PATH, moved, sizeof moved, &err));
    }
    assert_string_equal(moved, PATH ".2");
    assert_int_equal(access(PATH, F_OK), -1);
    assert_string_equal(ask(PATH ".1", "SELECT budget FROM session"), "1");
    assert_string_equal(ask(PATH ".2", "SELECT budget FROM session"), "2");
}

static void be_second(void)
{
    char moved[64];
    struct bats_record *r;
    assert_true(bats_record_is_live(PATH));
    assert_refused(bats_record_open(PATH, &r, &err), BATS_EINPUT,
                   PATH " is in use by another run");
    assert_refused(bats_record_set_aside(PATH, moved, sizeof moved, &err),
                   BATS_EINPUT, PATH " is in use by another run");
}

TEST_IN_DIRECTORY(a_second_writer_is_refused)
{
    struct bats_record *r = open_with_tasks(1);
    in_child(be_second);
    begin(r, 1);
    in_child(be_second);
    close_record(r);
    assert_false(bats_record_is_live(PATH));
}

static void be_nobody(void)
{
    struct bats_record *r;
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
        _exit(2);
    /* A directory in which nothing can be made. */
    assert_says(bats_record_open("new", &r, &err), BATS_EINPUT,
                "Permission denied");
    assert_says(bats_record_open(PATH, &r, &err), BATS_EINPUT, "cannot be");
}

TEST_IN_DIRECTORY(a_record_without_a_session_is_not_kept)
{
    close_record(open_with_tasks(3));
    assert_int_equal(system("test -z \"$(ls)\""), 0);
}

TEST_IN_DIRECTORY(a_read_only_place_is_refused)
{
    leave_record();
    assert_int_equal(chmod(PATH, 0444), 0);
    assert_int_equal(chmod(directory, 0555), 0);
    in_child(be_nobody);
    assert_int_equal(chmod(directory, 0755), 0);
}

TEST_MAIN(NULL, NULL)
