/* Several executions of one task, told by hand. A slow and a fast machine:
 * while the slow one runs the last task, the fast one replicas it. */
#include "helpers/play_fixture.h"

#define SLOW 0
#define FAST 1

static void tick(struct play *p, bats_time now)
{
    tell(p, now, (struct bats_event){.type = BATS_EVENT_TICK});
}

static struct bats_sched_status status(const struct play *p)
{
    struct bats_sched_status st;
    bats_sched_status(p->s, &st);
    return st;
}

static void set_up(struct play *p)
{
    *p = (struct play){
        .clusters = {{.name = "slow", .charge = BATS_UNIT, .max = 2},
                     {.name = "fast", .charge = BATS_UNIT, .max = 1},
                     {.name = "fastest", .charge = BATS_UNIT, .max = 1}},
        .machines = {{0, 1}, {1, 1}, {0, 1}}};
    p->o = (struct bats_sched_options){.policy = &bats_policy_rr,
                                       .n_tasks = 4,
                                       .n_clusters = 2,
                                       .n_machines = 2,
                                       .window = BATS_HOUR,
                                       .budget = BATS_UNLIMITED,
                                       .tail = BATS_TAIL_RANDOM};
}

/* At minute 20 each has run what takes the slow one 20 minutes and the fast
 * one 10, and the last task has just begun on the slow one. */
static void begin(struct play *p)
{
    join(p);
    end(p, MINUTES(10), FAST, BATS_EVENT_DONE, MINUTES(10));
    end(p, MINUTES(20), SLOW, BATS_EVENT_DONE, MINUTES(20));
    end(p, MINUTES(20), FAST, BATS_EVENT_DONE, MINUTES(10));
}

static void begin_copy(struct play *p)
{
    set_up(p);
    begin(p);
    assert_int_equal(p->n_run, 5);
    assert_int_equal(p->runs[FAST], p->runs[SLOW]);
    assert_int_equal(p->replicas[SLOW], 0);
    assert_int_equal(p->replicas[FAST], 1);
    assert_int_equal(status(p).running, 1);
}

static void ends_with(struct play *p, uint32_t done, uint32_t failed,
                      uint32_t replicas_won)
{
    struct bats_sched_status st = status(p);
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(st.done, done);
    assert_int_equal(st.failed, failed);
    assert_int_equal(st.replicas, 1);
    assert_int_equal(st.replicas_won, replicas_won);
    bats_sched_destroy(p->s);
}

/* ---- the first one wins ---- */

static void copy_that_is_first_is_the_result(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    end(&p, MINUTES(30), FAST, BATS_EVENT_DONE, MINUTES(10));
    assert_int_equal(p.cancels[SLOW], 1);
    assert_int_equal(status(&p).done, 4);
    assert_int_equal(p.finish, BATS_FINISH_NOT_YET); /* until it has stopped */
    end(&p, MINUTES(30), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status(&p).preempted, 0);
    ends_with(&p, 4, 0, 1);
}

static void original_that_is_first_is_the_result(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    end(&p, MINUTES(25), SLOW, BATS_EVENT_DONE, MINUTES(5));
    assert_int_equal(p.cancels[FAST], 1);
    end(&p, MINUTES(25), FAST, BATS_EVENT_PREEMPTED, 0);
    ends_with(&p, 4, 0, 0);
}

/* The second one ends by itself before it hears that it is not wanted any
 * more, well or not. */
static void second_one_changes_nothing(void **state)
{
    (void)state;
    static const enum bats_event_type ends[] = {
        BATS_EVENT_DONE, BATS_EVENT_FAILED, BATS_EVENT_YIELDED};
    for (size_t i = 0; i < 3; i++) {
        struct play p;
        struct bats_cluster_status before, after;
        begin_copy(&p);
        end(&p, MINUTES(30), FAST, BATS_EVENT_DONE, MINUTES(10));
        bats_sched_cluster_status(p.s, SLOW, &before);
        end(&p, MINUTES(30), SLOW, ends[i], MINUTES(10));
        bats_sched_cluster_status(p.s, SLOW, &after);
        assert_memory_equal(&before, &after, sizeof before);
        assert_int_equal(status(&p).retried, 0);
        ends_with(&p, 4, 0, 1);
    }
}

static void winner_s_machine_may_die_after_that(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    end(&p, MINUTES(30), FAST, BATS_EVENT_DONE, MINUTES(10));
    lose(&p, MINUTES(30), FAST);
    assert_int_equal(p.finish, BATS_FINISH_NOT_YET);
    end(&p, MINUTES(30), SLOW, BATS_EVENT_PREEMPTED, 0);
    ends_with(&p, 4, 0, 1);

    begin_copy(&p); /* or that of the other one, while it stops */
    end(&p, MINUTES(30), FAST, BATS_EVENT_DONE, MINUTES(10));
    lose(&p, MINUTES(30), SLOW);
    ends_with(&p, 4, 0, 1);
}

static void all_others_are_stopped(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.n_clusters = p.o.n_machines = 3;
    p.machines[2].cluster = 2;
    p.o.n_tasks = 5;
    begin(&p);
    end(&p, MINUTES(20), 2, BATS_EVENT_DONE, MINUTES(5));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(p.runs[i], p.runs[SLOW]);
    assert_int_equal(p.replicas[FAST], 1);
    assert_int_equal(p.replicas[2], 2);
    end(&p, MINUTES(25), 2, BATS_EVENT_DONE, MINUTES(5));
    assert_int_equal(p.cancels[SLOW], 1);
    assert_int_equal(p.cancels[FAST], 1);
    end(&p, MINUTES(25), FAST, BATS_EVENT_DONE, MINUTES(5));
    end(&p, MINUTES(25), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status(&p).done, 5);
    assert_int_equal(status(&p).replicas_won, 1);
    assert_int_equal(p.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(p.s);
}

/* ---- executions that go wrong ---- */

static void failed_original_with_a_copy_is_no_failure_yet(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    end(&p, MINUTES(25), SLOW, BATS_EVENT_FAILED, MINUTES(5));
    assert_int_equal(status(&p).failed, 0);
    assert_int_equal(status(&p).running, 1);
    assert_int_equal(p.n_run, 5); /* nothing is started again */
    end(&p, MINUTES(30), FAST, BATS_EVENT_DONE, MINUTES(10));
    ends_with(&p, 4, 0, 1);
}

static void task_fails_when_its_copies_do(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    end(&p, MINUTES(25), FAST, BATS_EVENT_FAILED, MINUTES(5));
    assert_int_equal(status(&p).failed, 0);
    end(&p, MINUTES(30), SLOW, BATS_EVENT_FAILED, MINUTES(10));
    assert_int_equal(p.n_run, 5);
    ends_with(&p, 3, 1, 0);
}

static void copies_do_not_let_a_task_fail_for_ever(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    end(&p, MINUTES(25), SLOW, BATS_EVENT_FAILED, MINUTES(5));
    lose(&p, MINUTES(26), FAST); /* its next try does not count */
    assert_int_equal(p.n_run, 6);
    end(&p, MINUTES(30), SLOW, BATS_EVENT_FAILED, MINUTES(4));
    ends_with(&p, 3, 1, 0);
}

static void execution_that_fails_beside_another_counts(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.rules.retries = 1; /* two may fail */
    begin(&p);
    end(&p, MINUTES(25), SLOW, BATS_EVENT_FAILED, MINUTES(5));
    assert_int_equal(status(&p).retried, 1);
    end(&p, MINUTES(30), FAST, BATS_EVENT_FAILED, MINUTES(10));
    ends_with(&p, 3, 1, 0);
}

static void timed_out_original_with_a_copy_is_no_failure_yet(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.rules.timeout = MINUTES(30);
    begin(&p);
    tick(&p, MINUTES(45)); /* the copy was begun at the same time */
    end(&p, MINUTES(45), FAST, BATS_EVENT_FAILED, MINUTES(25));
    tick(&p, MINUTES(50));
    assert_int_equal(p.cancels[SLOW], 1);
    end(&p, MINUTES(50), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status(&p).timed_out, 1);
    ends_with(&p, 3, 1, 0);

    set_up(&p);
    p.o.rules.timeout = MINUTES(30);
    begin(&p);
    tick(&p, MINUTES(50)); /* both: then the copy ends in time after all */
    assert_int_equal(p.cancels[SLOW] + p.cancels[FAST], 2);
    end(&p, MINUTES(50), SLOW, BATS_EVENT_PREEMPTED, 0);
    end(&p, MINUTES(50), FAST, BATS_EVENT_DONE, MINUTES(30));
    ends_with(&p, 4, 0, 1);
}

static void lost_machine_leaves_the_task_to_the_other(void **state)
{
    (void)state;
    for (uint32_t machine = SLOW; machine <= FAST; machine++) {
        struct play p;
        begin_copy(&p);
        lose(&p, MINUTES(25), machine);
        assert_int_equal(status(&p).running, 1);
        assert_int_equal(status(&p).pending, 0);
        end(&p, MINUTES(30), 1 - machine, BATS_EVENT_DONE, MINUTES(10));
        assert_int_equal(p.n_run, 5);
        ends_with(&p, 4, 0, machine == SLOW);
    }
}

/* ---- windows and money ---- */

/* The fast one would end sooner, but for twice the money. */
static void copy_ends_with_its_window(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.clusters[FAST].charge = 2 * BATS_UNIT;
    begin(&p);
    tick(&p, MINUTES(60));
    assert_int_equal(p.cancels[FAST], 1);
    assert_int_equal(p.cancels[SLOW], 0);
    assert_int_equal(p.charged, 4 * BATS_UNIT); /* the slow one goes on */
    end(&p, MINUTES(60), FAST, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status(&p).running, 1);
    assert_int_equal(status(&p).preempted, 0);
    end(&p, MINUTES(70), SLOW, BATS_EVENT_DONE, MINUTES(50));
    ends_with(&p, 4, 0, 0);
}

/* The windows end, and the task has been running for 40 minutes on both. It is
 * longer than any other, and so expected to take a mean one more, 20 minutes on
 * the slow machine: 80 + 20 there and 50 on the fast one, which has 10 left.
 * Either costs a window. */
static void copy_that_ends_first_for_the_same_money_goes_on(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    tick(&p, MINUTES(60));
    assert_int_equal(p.cancels[SLOW], 1);
    assert_int_equal(p.cancels[FAST], 0);
    assert_int_equal(p.charged, 3 * BATS_UNIT);
    end(&p, MINUTES(60), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status(&p).running, 1);
    end(&p, MINUTES(70), FAST, BATS_EVENT_DONE, MINUTES(50));
    assert_int_equal(p.charged, 3 * BATS_UNIT);
    ends_with(&p, 4, 0, 1);
}

/* It fails there instead: no other one is left, and that is its result. */
/* Two tasks have taken 15 minutes, as they say; the third one runs since minute
 * 10 and is long. It seems to be stuck and is copied at minute 40; when the
 * windows end it has been running for 50 minutes, the copy for 20. */
static void what_seems_stuck_is_not_stopped_for_a_copy(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.n_tasks = 3;
    p.o.n_clusters = 1;
    p.machines[FAST].cluster = SLOW; /* another slow one */
    p.o.tail = BATS_TAIL_SOONEST;
    join(&p);
    end(&p, MINUTES(10), SLOW, BATS_EVENT_DONE, MINUTES(15));
    end(&p, MINUTES(10), FAST, BATS_EVENT_DONE, MINUTES(15));
    tick(&p, MINUTES(40));
    assert_int_equal(p.replicas[FAST], 1);
    tick(&p, MINUTES(60));
    assert_int_equal(p.cancels[SLOW], 0);
    assert_int_equal(p.cancels[FAST], 1);
    end(&p, MINUTES(60), FAST, BATS_EVENT_PREEMPTED, 0);
    end(&p, MINUTES(70), SLOW, BATS_EVENT_DONE, MINUTES(60));
    ends_with(&p, 3, 0, 0);
}

static void copy_that_goes_on_is_the_task(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    tick(&p, MINUTES(60));
    end(&p, MINUTES(60), SLOW, BATS_EVENT_PREEMPTED, 0);
    end(&p, MINUTES(61), FAST, BATS_EVENT_FAILED, MINUTES(41));
    ends_with(&p, 3, 1, 0);
}

/* It was decided that the fast machine stays when it had a task. */
static void window_that_was_promised_is_not_entered_for_a_copy(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.n_tasks = 5;
    p.o.preempt_lead = MINUTES(10);
    begin(&p);
    tick(&p, MINUTES(50));
    end(&p, MINUTES(55), FAST, BATS_EVENT_DONE, MINUTES(35));
    assert_int_equal(p.runs[FAST], p.runs[SLOW]);
    tick(&p, MINUTES(60));
    assert_int_equal(p.cancels[FAST], 1);
    assert_int_equal(p.charged, 3 * BATS_UNIT);
    bats_sched_destroy(p.s);
}

static void preempted_original_leaves_the_task_to_its_copy(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.budget = 2 * BATS_UNIT;
    begin(&p);
    tick(&p, MINUTES(60)); /* neither machine can be kept */
    assert_int_equal(p.cancels[SLOW], 1);
    assert_int_equal(p.cancels[FAST], 1);
    end(&p, MINUTES(60), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status(&p).running, 1);
    assert_int_equal(p.finish, BATS_FINISH_NOT_YET);
    end(&p, MINUTES(60), FAST, BATS_EVENT_DONE, MINUTES(40));
    ends_with(&p, 4, 0, 1);
}

static void copy_that_is_left_alone_is_worth_a_window(void **state)
{
    (void)state;
    struct play p;
    begin_copy(&p);
    lose(&p, MINUTES(50), SLOW);
    tick(&p, MINUTES(60));
    assert_int_equal(p.cancels[FAST], 0);
    assert_int_equal(p.charged, 3 * BATS_UNIT);
    end(&p, MINUTES(70), FAST, BATS_EVENT_DONE, MINUTES(50));
    ends_with(&p, 4, 0, 1);
}

/* ---- when there are replicas at all ---- */

static void task_that_must_not_run_twice_does_not(void **state)
{
    (void)state;
    struct play p;
    static const uint8_t once[] = {1, 1, 1, 1};
    set_up(&p);
    p.o.once = once;
    begin(&p);
    assert_int_equal(p.n_run, 4);
    bats_sched_destroy(p.s);

    set_up(&p);
    p.o.tail = BATS_TAIL_NONE;
    begin(&p);
    assert_int_equal(p.n_run, 4);
    bats_sched_destroy(p.s);
}

/* Two tasks would share what one has saved. */
static void task_that_has_yielded_is_not_copied(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    join(&p);
    end(&p, MINUTES(10), FAST, BATS_EVENT_DONE, MINUTES(10));
    end(&p, MINUTES(20), SLOW, BATS_EVENT_DONE, MINUTES(20));
    end(&p, MINUTES(20), SLOW, BATS_EVENT_YIELDED, 0);
    end(&p, MINUTES(21), FAST, BATS_EVENT_DONE, MINUTES(11));
    assert_int_equal(p.n_run, 5);
    assert_int_equal(status(&p).replicas, 0);
    bats_sched_destroy(p.s);
}

static void copy_makes_room_for_a_task_that_came_back(void **state)
{
    (void)state;
    struct play p;
    set_up(&p);
    p.o.n_machines = 3;
    p.o.n_tasks = 7;
    p.o.rules.retries = 1;
    begin(&p);
    end(&p, MINUTES(20), 2, BATS_EVENT_DONE, MINUTES(20));
    end(&p, MINUTES(30), FAST, BATS_EVENT_DONE, MINUTES(10));
    uint32_t copied = p.runs[FAST];
    uint32_t other = copied == p.runs[SLOW] ? 2 : SLOW;
    uint32_t task = p.runs[other];
    assert_int_equal(p.replicas[FAST], 1);
    /* It goes to another machine, if there is one. */
    end(&p, MINUTES(32), other, BATS_EVENT_FAILED, MINUTES(2));
    assert_int_equal(p.cancels[FAST], 1);
    end(&p, MINUTES(32), FAST, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(p.runs[FAST], task);
    assert_int_equal(p.replicas[FAST], 0);
    bats_sched_destroy(p.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_that_is_first_is_the_result),
        cmocka_unit_test(original_that_is_first_is_the_result),
        cmocka_unit_test(second_one_changes_nothing),
        cmocka_unit_test(winner_s_machine_may_die_after_that),
        cmocka_unit_test(all_others_are_stopped),
        cmocka_unit_test(failed_original_with_a_copy_is_no_failure_yet),
        cmocka_unit_test(task_fails_when_its_copies_do),
        cmocka_unit_test(copies_do_not_let_a_task_fail_for_ever),
        cmocka_unit_test(execution_that_fails_beside_another_counts),
        cmocka_unit_test(timed_out_original_with_a_copy_is_no_failure_yet),
        cmocka_unit_test(lost_machine_leaves_the_task_to_the_other),
        cmocka_unit_test(copy_ends_with_its_window),
        cmocka_unit_test(copy_that_ends_first_for_the_same_money_goes_on),
        cmocka_unit_test(what_seems_stuck_is_not_stopped_for_a_copy),
        cmocka_unit_test(copy_that_goes_on_is_the_task),
        cmocka_unit_test(window_that_was_promised_is_not_entered_for_a_copy),
        cmocka_unit_test(preempted_original_leaves_the_task_to_its_copy),
        cmocka_unit_test(copy_that_is_left_alone_is_worth_a_window),
        cmocka_unit_test(task_that_must_not_run_twice_does_not),
        cmocka_unit_test(task_that_has_yielded_is_not_copied),
        cmocka_unit_test(copy_makes_room_for_a_task_that_came_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
