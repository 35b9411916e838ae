/* Random runs go through the journal into a record, which has to agree with
 * itself; a change of it is noticed. */
#include "helpers/random_run.h"
#include "record/verify/verify.h"

#define RECORDS 40

static struct bats_verified verify(void)
{
    struct bats_view *view;
    struct bats_verified v;
    assert_ok(bats_view_open(PATH, &view, &err));
    assert_ok(bats_record_verify(view, &v, &err));
    bats_view_close(view);
    return v;
}

static void check(unsigned seed, int64_t sessions)
{
    struct bats_verified v = verify();
    if (v.n > 0)
        fail_msg("seed %u, session %d: %s", seed, (int)sessions,
                 v.differences[0]);
    assert_int_equal(v.sessions, sessions);
    bats_verified_release(&v);
}

TEST_IN_DIRECTORY(a_record_agrees_with_itself)
{
    int64_t charges = 0, executions = 0;
    for (unsigned seed = 1; seed <= RECORDS; seed++) {
        static struct run runs[3];
        srandom(seed);
        unlink(PATH);
        /* The second bag lacks lines and has new ones; the third is the
         * second. */
        play(&runs[0], 0, TASKS);
        play(&runs[1], 5 + pick(10), TASKS - 3);
        play(&runs[2], 5 + pick(10), TASKS);
        check(seed, 3);
        struct bats_verified v = verify();
        for (int i = 0; i < 3; i++)
            charges += runs[i].charges;
        executions += v.executions;
        bats_verified_release(&v);
    }
    assert_true(executions > 20 * RECORDS);
    assert_true(charges > 2 * RECORDS);
}

/* Money that was held when it was killed is charged when it is continued. */
TEST_IN_DIRECTORY(a_killed_run_stays_within_its_budget)
{
    static struct run run;
    int killed = 0;
    for (unsigned seed = 1; seed <= RECORDS; seed++) {
        srandom(seed);
        unlink(PATH);
        for (int i = 1; i <= 3; i++) {
            steps = 1 + (int)pick(150);
            play(&run, 0, TASKS);
            bats_money before = atoll(
                ask(PATH, "SELECT sum(amount) FROM charge WHERE account = 0"));
            open_bag(&run, 0, TASKS);
            bats_money after = bats_record_earlier(run.record).charged;
            assert_int_equal(after - before,
                             bats_record_earlier(run.record).killed);
            if (run.o.billing.model != BATS_BILLING_ALLOCATION)
                assert_true(after <= run.o.budget);
            killed += after > before;
            bats_record_abandon(run.record);
            check(seed, i);
        }
    }
    steps = STEPS;
    assert_true(killed > RECORDS / 2);
}

/* The row in the middle of the table. */
#define MIDDLE(table)                                                         \
    " WHERE rowid = (SELECT rowid FROM " table " ORDER BY rowid LIMIT 1 "     \
    "OFFSET (SELECT count(*) / 2 FROM " table "))"

TEST_IN_DIRECTORY(a_changed_record_is_noticed)
{
    static struct run run;
    static const char *const changes[] = {
        "UPDATE charge SET amount = amount + 1" MIDDLE("charge"),
        "DELETE FROM charge" MIDDLE("charge"),
        "INSERT INTO charge SELECT seq + 1000000, session, time_us, lease, "
        "machine, account, amount FROM charge" MIDDLE("charge"),
        "UPDATE account SET charged = charged - 1",
        "UPDATE account SET before = 1",
        "UPDATE account SET held = held + 1",
        "UPDATE lease SET held = held + 1" MIDDLE("lease"),
        "UPDATE cluster_now SET charged = charged + 1",
        "DELETE FROM execution" MIDDLE("execution"),
        "UPDATE execution SET ended_us = given_us - 1" MIDDLE("execution"),
        "UPDATE execution SET wall_us = wall_us + 1 WHERE seq = (SELECT "
        "max(seq) FROM execution WHERE outcome = 0)",
        "UPDATE execution SET exit_status = 9 WHERE seq = (SELECT max(seq) "
        "FROM execution WHERE outcome = 0)",
        "INSERT INTO execution (seq, session, task, outcome, given) SELECT "
        "seq - 1, session, task, 0, seq - 2 FROM execution WHERE outcome = 0 "
        "AND seq - 1 NOT IN (SELECT seq FROM execution) LIMIT 1",
        "UPDATE task_now SET state = 3 - state WHERE state IN (1, 2)",
        "UPDATE task_now SET executions = executions + 1" MIDDLE("task_now"),
        "DELETE FROM task_now" MIDDLE("task_now"),
        "UPDATE now SET done = done + 1",
        "UPDATE now SET removed = removed + 1",
        "UPDATE now SET seq = seq - 100",
    };
    only_windows = true;
    /* A run with all of that. */
    for (unsigned seed = 1;; seed++) {
        srandom(seed);
        unlink(PATH);
        play(&run, 0, TASKS);
        if (run.o.policy == &bats_policy_bats && run.charges > 3 &&
            atoi(ask(PATH, "SELECT count(*) FROM execution WHERE "
                           "outcome = 0")) > TASKS / 2)
            break;
        assert_true(seed < 1000);
    }
    check(0, 1);
    ask(PATH, "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_int_equal(system("cp " PATH " whole"), 0);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_int_equal(system("cp whole " PATH), 0);
        ask(PATH, changes[i]);
        struct bats_verified v = verify();
        if (v.n == 0)
            fail_msg("not noticed: %s", changes[i]);
        bats_verified_release(&v);
    }
    only_windows = false;
}

TEST_MAIN(NULL, NULL)
