/* Machines on which one task after another fails, told by hand: two machines at
 * 1 per hour, and tasks enough. */
#include "helpers/play_fixture.h"

#define BAD 1 /* the machine that all is about */
#define FAILURES 5

static void begin(struct play *p)
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
    join(p);
}

static void fail_on(struct play *p, bats_time now, uint32_t machine)
{
    end(p, now, machine, BATS_EVENT_FAILED, BATS_SECOND);
}

static void tick(struct play *p, bats_time now)
{
    tell(p, now, (struct bats_event){.type = BATS_EVENT_TICK});
}

static struct bats_cluster_status status(const struct play *p)
{
    struct bats_cluster_status c;
    bats_sched_cluster_status(p->s, 0, &c);
    return c;
}

static bool works(const struct play *p, uint32_t machine)
{
    return p->runs[machine] != BATS_NO_TASK;
}

/* The other machine has ended a task well, and BAD fails at once until it gets
 * no more. */
static void send_to_quarantine(struct play *p)
{
    begin(p);
    end(p, 0, 0, BATS_EVENT_DONE, BATS_SECOND);
    for (int i = 0; i < FAILURES; i++) {
        assert_true(works(p, BAD));
        fail_on(p, 0, BAD);
    }
    assert_false(works(p, BAD));
    assert_int_equal(status(p).machines_quarantined, 1);
    assert_int_equal(status(p).machines_now, 2);
    assert_int_equal(status(p).machines_out, 1);
}

static void a_running_task_is_no_success(void **state)
{
    (void)state;
    struct play p;
    begin(&p); /* and the other one runs its first task all the time */
    for (int i = 1; i < 4 * FAILURES; i++) {
        fail_on(&p, MINUTES(i), BAD);
        assert_true(works(&p, BAD));
    }
    assert_int_equal(status(&p).machines_quarantined, 0);
    /* Only what has ended well says that it is the machine. */
    end(&p, MINUTES(60), 0, BATS_EVENT_DONE, MINUTES(60));
    fail_on(&p, MINUTES(60), BAD);
    assert_false(works(&p, BAD));
    bats_sched_destroy(p.s);
}

static void a_machine_gets_another_chance_after_a_while(void **state)
{
    (void)state;
    struct play p;
    send_to_quarantine(&p);
    assert_int_equal(bats_sched_wakeup(p.s), MINUTES(5));
    tick(&p, MINUTES(5));
    assert_true(works(&p, BAD));
    assert_int_equal(status(&p).machines_quarantined, 0);
    assert_int_equal(status(&p).machines_out, 0);
    end(&p, MINUTES(6), BAD, BATS_EVENT_DONE, MINUTES(1));
    for (int i = 0; i < FAILURES - 1; i++) { /* it has to fail as often again */
        assert_true(works(&p, BAD));
        fail_on(&p, MINUTES(6), BAD);
    }
    assert_true(works(&p, BAD));
    bats_sched_destroy(p.s);
}

/* One task at a time, and each quarantine is twice as long, the fifth for
 * good. */
static void who_fails_again_waits_longer(void **state)
{
    (void)state;
    struct play p;
    bats_time now = 0;
    send_to_quarantine(&p);
    for (int minutes = 5; minutes <= 40; minutes *= 2) {
        tick(&p, now + MINUTES(minutes) - 1);
        assert_false(works(&p, BAD));
        now += MINUTES(minutes);
        tick(&p, now);
        assert_true(works(&p, BAD));
        fail_on(&p, now, BAD);
        assert_false(works(&p, BAD));
    }
    tick(&p, now + 50 * BATS_HOUR);
    assert_false(works(&p, BAD));
    assert_int_equal(status(&p).machines_quarantined, 1);
    bats_sched_destroy(p.s);
}

static void who_is_left_alone_gets_its_chances_at_once(void **state)
{
    (void)state;
    struct play p;
    send_to_quarantine(&p);
    lose(&p, MINUTES(1), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(works(&p, BAD));
        assert_int_equal(p.finish, BATS_FINISH_NOT_YET);
        fail_on(&p, MINUTES(1), BAD);
    }
    assert_int_equal(p.finish, BATS_FINISH_NO_MACHINES);
    bats_sched_destroy(p.s);
}

/* It is about to be taken away: what it would do then is nobody's. */
static void what_is_reclaimed_gets_no_chance(void **state)
{
    (void)state;
    struct play p;
    send_to_quarantine(&p);
    tell(&p, MINUTES(1),
         (struct bats_event){.type = BATS_EVENT_NOTICE,
                             .machine = BAD,
                             .runtime = BATS_HOUR});
    tick(&p, MINUTES(5));
    assert_false(works(&p, BAD));
    lose(&p, MINUTES(6), BAD);
    assert_int_equal(status(&p).machines_quarantined, 0);
    assert_int_equal(status(&p).machines_lost, 1);
    bats_sched_destroy(p.s);
}

/* A machine that will be reclaimed, and has not failed, is in no
 * quarantine. */
static void what_is_retired_is_out_and_in_no_quarantine(void **state)
{
    (void)state;
    struct play p;
    begin(&p);
    tell(&p, 0,
         (struct bats_event){.type = BATS_EVENT_RETIRED, .machine = BAD});
    assert_int_equal(status(&p).machines_quarantined, 0);
    assert_int_equal(status(&p).machines_out, 1);
    bats_sched_destroy(p.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_task_is_no_success),
        cmocka_unit_test(a_machine_gets_another_chance_after_a_while),
        cmocka_unit_test(who_fails_again_waits_longer),
        cmocka_unit_test(who_is_left_alone_gets_its_chances_at_once),
        cmocka_unit_test(what_is_reclaimed_gets_no_chance),
        cmocka_unit_test(what_is_retired_is_out_and_in_no_quarantine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
