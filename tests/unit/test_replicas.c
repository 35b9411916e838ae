/* Several executions of one task, told by hand. A slow and a fast machine:
 * while the slow one runs the last task, the fast one replicas it. */
#include "bats/sched.h"
#include "helpers/play_fixture.h"

#define SLOW 0
#define FAST 1

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
    steps("10m done 1; 20m done 0; 20m done 1");
}

static void begin_copy(void)
{
    set_up();
    begin();
    assert_string_equal(p->answer, "copy 1");
    assert_int_equal(p->runs[FAST], p->runs[SLOW]);
    assert_int_equal(run_status().running, 1);
}

/* What happens to the last task and its copy; how the run ends, unless that is
 * left out. */
static const struct row {
    const char *what;
    struct bats_sched_rules rules;
    const char *steps;
    uint32_t ends[3]; /* done, failed, copies that were first */
    bats_money budget, fast_charge, charged; /* 0: any */
    bats_time lead;
    uint32_t tasks, timed_out;
} rows[] = {
    {"a copy that is first is the result",
     .steps = "30m done 1: cancel 0; 30m stopped 0: finish",
     .ends = {4, 0, 1}},
    {"an original that is first is the result",
     .steps = "25m done 0: cancel 1; 25m stopped 1: finish",
     .ends = {4, 0, 0}},
    {"the winner's machine may die after that",
     .steps = "30m done 1: cancel 0; 30m lost 1:; 30m stopped 0: finish",
     .ends = {4, 0, 1}},
    {"or that of the other one, while it stops",
     .steps = "30m done 1: cancel 0; 30m lost 0: finish", .ends = {4, 0, 1}},

    {"a failed original with a copy is no failure yet",
     .steps = "25m fails 0:; 30m done 1: finish", .ends = {4, 0, 1}},
    {"a task fails when its copies do",
     .steps = "25m fails 1:; 30m fails 0: finish", .ends = {3, 1, 0}},
    /* The next try of a machine that is lost does not count. */
    {"copies do not let a task fail for ever",
     .steps = "25m fails 0:; 26m lost 1: lose 1, run 0; 30m fails 0: finish",
     .ends = {3, 1, 0}},
    {"an execution that fails beside another counts",
     {.retries = 1},
     .steps = "25m fails 0:; 30m fails 1: finish",
     .ends = {3, 1, 0}},
    /* The copy was begun at the same time as the original. */
    {"a timed out original with a copy is no failure yet",
     {.timeout = MINUTES(30)},
     .steps =
         "45m tick:; 45m fails 1:; 50m tick: cancel 0; 50m stopped 0: finish",
     .timed_out = 1,
     .ends = {3, 1, 0}},
    {"one of both that are too late may end in time after all",
     {.timeout = MINUTES(30)},
     .steps =
         "50m tick: cancel 0, cancel 1; 50m stopped 0:; 50m done 1: finish",
     .timed_out = 2,
     .ends = {4, 0, 1}},
    {"a lost machine leaves the task to the copy",
     .steps = "25m lost 0:; 30m done 1: finish", .ends = {4, 0, 1}},
    {"or to the original", .steps = "25m lost 1:; 30m done 0: finish",
     .ends = {4, 0, 0}},

    /* The fast one would end sooner, but for twice the money. */
    {"a copy ends with its window",
     .steps =
         "60m tick: charge 0, cancel 1, park 1; 60m stopped 1:; 70m done 0: finish",
     .ends = {4, 0, 0}, .fast_charge = 2 * BATS_UNIT,
     .charged = 4 * BATS_UNIT},
    /* The windows end, and the task has been running for 40 minutes on both. It
     * is longer than any other, and so expected to take a mean one more, 20
     * minutes on the slow machine: 80 + 20 there and 50 on the fast one, which
     * has 10 left. Either costs a window. */
    {"a copy that ends first for the same money goes on",
     .steps =
         "60m tick: cancel 0, park 0, charge 1; 60m stopped 0:; 70m done 1: finish",
     .ends = {4, 0, 1}, .charged = 3 * BATS_UNIT},
    /* It fails there: no other one is left, and that is its result. */
    {"a copy that goes on is the task",
     .steps =
         "60m tick: cancel 0, park 0, charge 1; 60m stopped 0:; 61m fails 1: finish",
     .ends = {3, 1, 0}},
    /* It was decided that the fast machine stays when it had a task. */
    {"a window that was promised is not entered for a copy",
     .steps =
         "50m tick; 55m done 1: copy 1; 60m tick: charge 0, park 1, cancel 1",
     .lead = MINUTES(10), .tasks = 5, .charged = 3 * BATS_UNIT},
    {"a preempted original leaves the task to its copy",
     .steps = "60m tick: cancel 0, park 0, cancel 1, park 1;"
              "60m stopped 0:; 60m done 1: finish",
     .ends = {4, 0, 1}, .budget = 2 * BATS_UNIT},
    {"a copy that is left alone is worth a window",
     .steps = "50m lost 0:; 60m tick: charge 1; 70m done 1: finish",
     .ends = {4, 0, 1}, .charged = 3 * BATS_UNIT}};

static void ends_with(uint32_t done, uint32_t failed, uint32_t replicas_won)
{
    struct bats_sched_status st = run_status();
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(st.done, done);
    assert_int_equal(st.failed, failed);
    assert_int_equal(st.replicas, 1);
    assert_int_equal(st.replicas_won, replicas_won);
}

TEST(a_task_and_its_copy_end_as_the_rows_say)
{
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows;
         r++) {
        print_message("# %s\n", r->what);
        set_up();
        p->o.rules = r->rules;
        p->o.preempt_lead = r->lead;
        p->o.n_tasks = r->tasks > 0 ? r->tasks : 4;
        p->o.budget = r->budget > 0 ? r->budget : BATS_UNLIMITED;
        if (r->fast_charge > 0)
            p->clusters[FAST].charge = r->fast_charge;
        begin();
        steps("%s", r->steps);
        if (r->ends[0] > 0)
            ends_with(r->ends[0], r->ends[1], r->ends[2]);
        if (r->charged > 0)
            assert_int_equal(p->charged, r->charged);
        assert_int_equal(run_status().timed_out, r->timed_out);
        assert_int_equal(run_status().preempted, r->budget > 0);
    }
}

/* The second one ends by itself before it hears that it is not wanted any
 * more, well or not. */
TEST(second_one_changes_nothing)
{
    static const char *const ends[] = {"done", "fails", "yields"};
    for (size_t i = 0; i < 3; i++) {
        struct bats_cluster_status before, after;
        begin_copy();
        steps("30m done 1: cancel 0");
        bats_sched_cluster_status(p->s, SLOW, &before);
        steps("30m %s 0: finish", ends[i]);
        bats_sched_cluster_status(p->s, SLOW, &after);
        assert_memory_equal(&before, &after, sizeof before);
        assert_int_equal(run_status().retried, 0);
        ends_with(4, 0, 1);
    }
}

TEST(all_others_are_stopped)
{
    set_up();
    p->o.n_clusters = p->o.n_machines = 3;
    p->machines[2].cluster = 2;
    p->o.n_tasks = 5;
    begin();
    steps("20m done 2 5m: copy 2");
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(p->runs[i], p->runs[SLOW]);
    assert_int_equal(p->replicas[FAST], 1);
    assert_int_equal(p->replicas[2], 2);
    steps(
        "25m done 2: cancel 0, cancel 1; 25m done 1:; 25m stopped 0: finish");
    assert_int_equal(run_status().done, 5);
    assert_int_equal(run_status().replicas_won, 1);
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
    steps("10m done 0 15m; 10m done 1 15m; 40m tick: copy 1;"
          "60m tick: charge 0, cancel 1, park 1;"
          "60m stopped 1; 70m done 0: finish");
    ends_with(3, 0, 0);
}

/* ---- when there are replicas at all ---- */

TEST(task_that_must_not_run_twice_does_not)
{
    static const uint8_t once[] = {1, 1, 1, 1};
    set_up();
    p->o.once = once;
    begin();
    assert_string_equal(p->answer, "");

    set_up();
    p->o.tail = BATS_TAIL_NONE;
    begin();
    assert_string_equal(p->answer, "");
}

/* Two tasks would share what one has saved. */
TEST(task_that_has_yielded_is_not_copied)
{
    set_up();
    join();
    steps("10m done 1: run 1; 20m done 0: run 0; 20m yields 0: run 0;"
          "21m done 1:");
}

TEST(copy_makes_room_for_a_task_that_came_back)
{
    set_up();
    p->o.n_machines = 3;
    p->o.n_tasks = 7;
    p->o.rules.retries = 1;
    begin();
    steps("20m done 2; 30m done 1: copy 1");
    uint32_t copied = p->runs[FAST];
    uint32_t other = copied == p->runs[SLOW] ? 2 : SLOW;
    uint32_t task = p->runs[other];
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
