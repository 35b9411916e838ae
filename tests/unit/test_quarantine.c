/* Machines on which one task after another fails, told by hand: two machines at
 * 1 per hour, and tasks enough. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/play_fixture.h"

#define BAD 1 /* the machine that all is about */
#define FAILURES 5

static void begin(void)
{
    *p = (struct play){.clusters = {{"c", BATS_UNIT, 2}},
                       .o = {.policy = &bats_policy_rr,
                             .n_tasks = 100,
                             .n_clusters = 1,
                             .n_machines = 2,
                             .window = 100 * BATS_HOUR,
                             .budget = BATS_UNLIMITED,
                             .seed = 5}};
    p->machines[0] = p->machines[BAD] = (struct bats_machine_spec){0, 1};
    join();
}

static void fail_on(bats_time now, uint32_t machine)
{
    end(now, machine, BATS_EVENT_FAILED, BATS_SECOND);
}

static struct bats_cluster_status status(void)
{
    struct bats_cluster_status c;
    bats_sched_cluster_status(p->s, 0, &c);
    return c;
}

static bool works(uint32_t machine)
{
    return p->runs[machine] != BATS_NO_TASK;
}

/* The other machine has ended a task well, and BAD fails at once until it gets
 * no more. */
static void send_to_quarantine(void)
{
    begin();
    done(0, 0, BATS_SECOND);
    for (int i = 0; i < FAILURES; i++) {
        assert_true(works(BAD));
        fail_on(0, BAD);
    }
    assert_false(works(BAD));
    assert_int_equal(status().machines_quarantined, 1);
    assert_int_equal(status().machines_now, 2);
    assert_int_equal(status().machines_out, 1);
}

TEST(a_running_task_is_no_success)
{
    begin(); /* and the other one runs its first task all the time */
    for (int i = 1; i < 4 * FAILURES; i++) {
        fail_on(MINUTES(i), BAD);
        assert_true(works(BAD));
    }
    assert_int_equal(status().machines_quarantined, 0);
    /* Only what has ended well says that it is the machine. */
    done(MINUTES(60), 0, MINUTES(60));
    fail_on(MINUTES(60), BAD);
    assert_false(works(BAD));
}

TEST(a_machine_gets_another_chance_after_a_while)
{
    send_to_quarantine();
    assert_int_equal(bats_sched_wakeup(p->s), MINUTES(5));
    tick(MINUTES(5));
    assert_true(works(BAD));
    assert_int_equal(status().machines_quarantined, 0);
    assert_int_equal(status().machines_out, 0);
    done(MINUTES(6), BAD, MINUTES(1));
    for (int i = 0; i < FAILURES - 1;
         i++) { /* it has to fail as often again */
        assert_true(works(BAD));
        fail_on(MINUTES(6), BAD);
    }
    assert_true(works(BAD));
}

/* One task at a time, and each quarantine is twice as long, the fifth for
 * good. */
TEST(who_fails_again_waits_longer)
{
    bats_time now = 0;
    send_to_quarantine();
    for (int minutes = 5; minutes <= 40; minutes *= 2) {
        tick(now + MINUTES(minutes) - 1);
        assert_false(works(BAD));
        now += MINUTES(minutes);
        tick(now);
        assert_true(works(BAD));
        fail_on(now, BAD);
        assert_false(works(BAD));
    }
    tick(now + 50 * BATS_HOUR);
    assert_false(works(BAD));
    assert_int_equal(status().machines_quarantined, 1);
}

TEST(who_is_left_alone_gets_its_chances_at_once)
{
    send_to_quarantine();
    lose(MINUTES(1), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(works(BAD));
        assert_int_equal(p->finish, BATS_FINISH_NOT_YET);
        fail_on(MINUTES(1), BAD);
    }
    assert_int_equal(p->finish, BATS_FINISH_NO_MACHINES);
}

/* It is about to be taken away: what it would do then is nobody's. */
TEST(what_is_reclaimed_gets_no_chance)
{
    send_to_quarantine();
    tell(MINUTES(1), (struct bats_event){.type = BATS_EVENT_NOTICE,
                                         .machine = BAD,
                                         .runtime = BATS_HOUR});
    tick(MINUTES(5));
    assert_false(works(BAD));
    lose(MINUTES(6), BAD);
    assert_int_equal(status().machines_quarantined, 0);
    assert_int_equal(status().machines_lost, 1);
}

/* A machine that will be reclaimed, and has not failed, is in no
 * quarantine. */
TEST(what_is_retired_is_out_and_in_no_quarantine)
{
    begin();
    tell(0, (struct bats_event){.type = BATS_EVENT_RETIRED, .machine = BAD});
    assert_int_equal(status().machines_quarantined, 0);
    assert_int_equal(status().machines_out, 1);
}

TEST_MAIN(NULL, NULL)
