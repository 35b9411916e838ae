/* Several executions of one task, told by hand. A slow and a fast machine:
 * while the slow one runs the last task, the fast one replicas it. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/play_fixture.h"

#define SLOW 0
#define FAST 1

static struct bats_sched_status status(void)
{
    struct bats_sched_status st;
    bats_sched_status(p->s, &st);
    return st;
}

static void set_up(void)
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
static void begin(void)
{
    join();
    done(MINUTES(10), FAST, MINUTES(10));
    done(MINUTES(20), SLOW, MINUTES(20));
    done(MINUTES(20), FAST, MINUTES(10));
}

static void begin_copy(void)
{
    set_up();
    begin();
    assert_int_equal(p->n_run, 5);
    assert_int_equal(p->runs[FAST], p->runs[SLOW]);
    assert_int_equal(p->replicas[SLOW], 0);
    assert_int_equal(p->replicas[FAST], 1);
    assert_int_equal(status().running, 1);
}

static void ends_with(uint32_t done, uint32_t failed, uint32_t replicas_won)
{
    struct bats_sched_status st = status();
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(st.done, done);
    assert_int_equal(st.failed, failed);
    assert_int_equal(st.replicas, 1);
    assert_int_equal(st.replicas_won, replicas_won);
}

/* ---- the first one wins ---- */

TEST(copy_that_is_first_is_the_result)
{
    begin_copy();
    done(MINUTES(30), FAST, MINUTES(10));
    assert_int_equal(p->cancels[SLOW], 1);
    assert_int_equal(status().done, 4);
    assert_int_equal(p->finish,
                     BATS_FINISH_NOT_YET); /* until it has stopped */
    end(MINUTES(30), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status().preempted, 0);
    ends_with(4, 0, 1);
}

TEST(original_that_is_first_is_the_result)
{
    begin_copy();
    done(MINUTES(25), SLOW, MINUTES(5));
    assert_int_equal(p->cancels[FAST], 1);
    end(MINUTES(25), FAST, BATS_EVENT_PREEMPTED, 0);
    ends_with(4, 0, 0);
}

/* The second one ends by itself before it hears that it is not wanted any
 * more, well or not. */
TEST(second_one_changes_nothing)
{
    static const enum bats_event_type ends[] = {
        BATS_EVENT_DONE, BATS_EVENT_FAILED, BATS_EVENT_YIELDED};
    for (size_t i = 0; i < 3; i++) {
        struct bats_cluster_status before, after;
        begin_copy();
        done(MINUTES(30), FAST, MINUTES(10));
        bats_sched_cluster_status(p->s, SLOW, &before);
        end(MINUTES(30), SLOW, ends[i], MINUTES(10));
        bats_sched_cluster_status(p->s, SLOW, &after);
        assert_memory_equal(&before, &after, sizeof before);
        assert_int_equal(status().retried, 0);
        ends_with(4, 0, 1);
    }
}

TEST(winner_s_machine_may_die_after_that)
{
    begin_copy();
    done(MINUTES(30), FAST, MINUTES(10));
    lose(MINUTES(30), FAST);
    assert_int_equal(p->finish, BATS_FINISH_NOT_YET);
    end(MINUTES(30), SLOW, BATS_EVENT_PREEMPTED, 0);
    ends_with(4, 0, 1);

    begin_copy(); /* or that of the other one, while it stops */
    done(MINUTES(30), FAST, MINUTES(10));
    lose(MINUTES(30), SLOW);
    ends_with(4, 0, 1);
}

TEST(all_others_are_stopped)
{
    set_up();
    p->o.n_clusters = p->o.n_machines = 3;
    p->machines[2].cluster = 2;
    p->o.n_tasks = 5;
    begin();
    done(MINUTES(20), 2, MINUTES(5));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(p->runs[i], p->runs[SLOW]);
    assert_int_equal(p->replicas[FAST], 1);
    assert_int_equal(p->replicas[2], 2);
    done(MINUTES(25), 2, MINUTES(5));
    assert_int_equal(p->cancels[SLOW], 1);
    assert_int_equal(p->cancels[FAST], 1);
    done(MINUTES(25), FAST, MINUTES(5));
    end(MINUTES(25), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status().done, 5);
    assert_int_equal(status().replicas_won, 1);
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
}

/* ---- executions that go wrong ---- */

TEST(failed_original_with_a_copy_is_no_failure_yet)
{
    begin_copy();
    end(MINUTES(25), SLOW, BATS_EVENT_FAILED, MINUTES(5));
    assert_int_equal(status().failed, 0);
    assert_int_equal(status().running, 1);
    assert_int_equal(p->n_run, 5); /* nothing is started again */
    done(MINUTES(30), FAST, MINUTES(10));
    ends_with(4, 0, 1);
}

TEST(task_fails_when_its_copies_do)
{
    begin_copy();
    end(MINUTES(25), FAST, BATS_EVENT_FAILED, MINUTES(5));
    assert_int_equal(status().failed, 0);
    end(MINUTES(30), SLOW, BATS_EVENT_FAILED, MINUTES(10));
    assert_int_equal(p->n_run, 5);
    ends_with(3, 1, 0);
}

TEST(copies_do_not_let_a_task_fail_for_ever)
{
    begin_copy();
    end(MINUTES(25), SLOW, BATS_EVENT_FAILED, MINUTES(5));
    lose(MINUTES(26), FAST); /* its next try does not count */
    assert_int_equal(p->n_run, 6);
    end(MINUTES(30), SLOW, BATS_EVENT_FAILED, MINUTES(4));
    ends_with(3, 1, 0);
}

TEST(execution_that_fails_beside_another_counts)
{
    set_up();
    p->o.rules.retries = 1; /* two may fail */
    begin();
    end(MINUTES(25), SLOW, BATS_EVENT_FAILED, MINUTES(5));
    assert_int_equal(status().retried, 1);
    end(MINUTES(30), FAST, BATS_EVENT_FAILED, MINUTES(10));
    ends_with(3, 1, 0);
}

TEST(timed_out_original_with_a_copy_is_no_failure_yet)
{
    set_up();
    p->o.rules.timeout = MINUTES(30);
    begin();
    tick(MINUTES(45)); /* the copy was begun at the same time */
    end(MINUTES(45), FAST, BATS_EVENT_FAILED, MINUTES(25));
    tick(MINUTES(50));
    assert_int_equal(p->cancels[SLOW], 1);
    end(MINUTES(50), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status().timed_out, 1);
    ends_with(3, 1, 0);

    set_up();
    p->o.rules.timeout = MINUTES(30);
    begin();
    tick(MINUTES(50)); /* both: then the copy ends in time after all */
    assert_int_equal(p->cancels[SLOW] + p->cancels[FAST], 2);
    end(MINUTES(50), SLOW, BATS_EVENT_PREEMPTED, 0);
    done(MINUTES(50), FAST, MINUTES(30));
    ends_with(4, 0, 1);
}

TEST(lost_machine_leaves_the_task_to_the_other)
{
    for (uint32_t machine = SLOW; machine <= FAST; machine++) {
        begin_copy();
        lose(MINUTES(25), machine);
        assert_int_equal(status().running, 1);
        assert_int_equal(status().pending, 0);
        done(MINUTES(30), 1 - machine, MINUTES(10));
        assert_int_equal(p->n_run, 5);
        ends_with(4, 0, machine == SLOW);
    }
}

/* ---- windows and money ---- */

/* The fast one would end sooner, but for twice the money. */
TEST(copy_ends_with_its_window)
{
    set_up();
    p->clusters[FAST].charge = 2 * BATS_UNIT;
    begin();
    tick(MINUTES(60));
    assert_int_equal(p->cancels[FAST], 1);
    assert_int_equal(p->cancels[SLOW], 0);
    assert_int_equal(p->charged, 4 * BATS_UNIT); /* the slow one goes on */
    end(MINUTES(60), FAST, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status().running, 1);
    assert_int_equal(status().preempted, 0);
    done(MINUTES(70), SLOW, MINUTES(50));
    ends_with(4, 0, 0);
}

/* The windows end, and the task has been running for 40 minutes on both. It is
 * longer than any other, and so expected to take a mean one more, 20 minutes on
 * the slow machine: 80 + 20 there and 50 on the fast one, which has 10 left.
 * Either costs a window. */
TEST(copy_that_ends_first_for_the_same_money_goes_on)
{
    begin_copy();
    tick(MINUTES(60));
    assert_int_equal(p->cancels[SLOW], 1);
    assert_int_equal(p->cancels[FAST], 0);
    assert_int_equal(p->charged, 3 * BATS_UNIT);
    end(MINUTES(60), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status().running, 1);
    done(MINUTES(70), FAST, MINUTES(50));
    assert_int_equal(p->charged, 3 * BATS_UNIT);
    ends_with(4, 0, 1);
}

/* Two tasks have taken 15 minutes, as they say; the third one runs since minute
 * 10 and is long. It seems to be stuck and is copied at minute 40; when the
 * windows end it has been running for 50 minutes, the copy for 20. */
TEST(what_seems_stuck_is_not_stopped_for_a_copy)
{
    set_up();
    p->o.n_tasks = 3;
    p->o.n_clusters = 1;
    p->machines[FAST].cluster = SLOW; /* another slow one */
    p->o.tail = BATS_TAIL_SOONEST;
    join();
    done(MINUTES(10), SLOW, MINUTES(15));
    done(MINUTES(10), FAST, MINUTES(15));
    tick(MINUTES(40));
    assert_int_equal(p->replicas[FAST], 1);
    tick(MINUTES(60));
    assert_int_equal(p->cancels[SLOW], 0);
    assert_int_equal(p->cancels[FAST], 1);
    end(MINUTES(60), FAST, BATS_EVENT_PREEMPTED, 0);
    done(MINUTES(70), SLOW, MINUTES(60));
    ends_with(3, 0, 0);
}

/* It fails there instead: no other one is left, and that is its result. */
TEST(copy_that_goes_on_is_the_task)
{
    begin_copy();
    tick(MINUTES(60));
    end(MINUTES(60), SLOW, BATS_EVENT_PREEMPTED, 0);
    end(MINUTES(61), FAST, BATS_EVENT_FAILED, MINUTES(41));
    ends_with(3, 1, 0);
}

/* It was decided that the fast machine stays when it had a task. */
TEST(window_that_was_promised_is_not_entered_for_a_copy)
{
    set_up();
    p->o.n_tasks = 5;
    p->o.preempt_lead = MINUTES(10);
    begin();
    tick(MINUTES(50));
    done(MINUTES(55), FAST, MINUTES(35));
    assert_int_equal(p->runs[FAST], p->runs[SLOW]);
    tick(MINUTES(60));
    assert_int_equal(p->cancels[FAST], 1);
    assert_int_equal(p->charged, 3 * BATS_UNIT);
}

TEST(preempted_original_leaves_the_task_to_its_copy)
{
    set_up();
    p->o.budget = 2 * BATS_UNIT;
    begin();
    tick(MINUTES(60)); /* neither machine can be kept */
    assert_int_equal(p->cancels[SLOW], 1);
    assert_int_equal(p->cancels[FAST], 1);
    end(MINUTES(60), SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(status().running, 1);
    assert_int_equal(p->finish, BATS_FINISH_NOT_YET);
    done(MINUTES(60), FAST, MINUTES(40));
    ends_with(4, 0, 1);
}

TEST(copy_that_is_left_alone_is_worth_a_window)
{
    begin_copy();
    lose(MINUTES(50), SLOW);
    tick(MINUTES(60));
    assert_int_equal(p->cancels[FAST], 0);
    assert_int_equal(p->charged, 3 * BATS_UNIT);
    done(MINUTES(70), FAST, MINUTES(50));
    ends_with(4, 0, 1);
}

/* ---- when there are replicas at all ---- */

TEST(task_that_must_not_run_twice_does_not)
{
    static const uint8_t once[] = {1, 1, 1, 1};
    set_up();
    p->o.once = once;
    begin();
    assert_int_equal(p->n_run, 4);

    set_up();
    p->o.tail = BATS_TAIL_NONE;
    begin();
    assert_int_equal(p->n_run, 4);
}

/* Two tasks would share what one has saved. */
TEST(task_that_has_yielded_is_not_copied)
{
    set_up();
    join();
    done(MINUTES(10), FAST, MINUTES(10));
    done(MINUTES(20), SLOW, MINUTES(20));
    end(MINUTES(20), SLOW, BATS_EVENT_YIELDED, 0);
    done(MINUTES(21), FAST, MINUTES(11));
    assert_int_equal(p->n_run, 5);
    assert_int_equal(status().replicas, 0);
}

TEST(copy_makes_room_for_a_task_that_came_back)
{
    set_up();
    p->o.n_machines = 3;
    p->o.n_tasks = 7;
    p->o.rules.retries = 1;
    begin();
    done(MINUTES(20), 2, MINUTES(20));
    done(MINUTES(30), FAST, MINUTES(10));
    uint32_t copied = p->runs[FAST];
    uint32_t other = copied == p->runs[SLOW] ? 2 : SLOW;
    uint32_t task = p->runs[other];
    assert_int_equal(p->replicas[FAST], 1);
    /* It goes to another machine, if there is one. */
    end(MINUTES(32), other, BATS_EVENT_FAILED, MINUTES(2));
    assert_int_equal(p->cancels[FAST], 1);
    end(MINUTES(32), FAST, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(p->runs[FAST], task);
    assert_int_equal(p->replicas[FAST], 0);
}

/* Only the last of the fast machines has room for the last task, and `small`
 * others are asked before. */
static bool copies_beyond(uint32_t small)
{
    static const struct bats_need needs[] = {{1, 0, 1, 0}, {1, 0, 9, 0}};
    uint16_t category[MACHINES_MOST] = {0};
    struct bats_stock stocks[MACHINES_MOST];
    uint32_t last = small + 1;
    set_up();
    for (uint32_t i = 0; i <= last; i++) {
        p->machines[i] = (struct bats_machine_spec){i != SLOW, 1};
        stocks[i] =
            (struct bats_stock){1, 0, i == SLOW || i == last ? 9 : 1, 1};
    }
    p->clusters[1].max = p->o.n_machines = last + 1;
    p->o.n_categories = 2;
    p->o.n_tasks = last + 2;
    p->o.in_order = true;
    p->o.needs = needs;
    p->o.stocks = stocks;
    p->o.category = category;
    category[last + 1] = 1;
    join();
    for (uint32_t i = 1; i < last; i++)
        done(MINUTES(10), i, MINUTES(10));
    done(MINUTES(20), SLOW, MINUTES(20));
    done(MINUTES(20), last, MINUTES(10));
    assert_int_equal(p->runs[SLOW], last + 1);
    return p->runs[last] == last + 1;
}

/* In vain, so that thousands of them do not take the time of the others. */
TEST(an_event_offers_copies_to_64_machines)
{
    assert_true(copies_beyond(63));
    assert_false(copies_beyond(64));
}

TEST_MAIN(NULL, NULL)
