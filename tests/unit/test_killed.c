/* A run that is killed and resumed: what was held when it was killed is
 * charged, and once. One machine at 3 an hour, tasks of 20 minutes; every
 * figure can be worked out by hand. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/record_fixture.h"

#include "bats/graph.h"
#include "record/verify/verify.h"
#include "run/journal.h"

#define TASKS 4
#define UNIT BATS_UNIT
#define MINUTES(n) ((n)*BATS_MINUTE)

struct life {
    struct bats_record *record;
    struct bats_journal journal;
    struct bats_sched *sched;
    struct bats_sched_options o;
    struct bats_cluster cluster;
    struct bats_machine_spec machine;
    bats_time expected;
    struct bats_graph graph;
    struct bats_purse purses[2];
    uint16_t purse[TASKS];
    uint8_t state[TASKS];
    uint32_t runs[2]; /* by slot */
    uint32_t n_run;
    bool finished;
};

static struct life prepare(enum bats_billing_model model, bats_money budget)
{
    unlink(PATH);
    return (struct life){
        .cluster = {.name = "a",
                    .charge = 3 * UNIT,
                    .max = 1,
                    .tariff = {.per = BATS_HOUR,
                               .n_steps = model == BATS_BILLING_SECOND,
                               .step = {{0, 3 * UNIT}},
                               .free = model == BATS_BILLING_SECOND
                                           ? MINUTES(90)
                                           : 0}},
        .machine = {.cluster = 0, .slots = 1},
        .expected = MINUTES(20),
        .o = {.policy = &bats_policy_rr,
              .tells_leases = true,
              .n_tasks = TASKS,
              .n_clusters = 1,
              .n_machines = 1,
              .window = BATS_HOUR,
              .budget = budget,
              .billing.model = model},
    };
}

/* Two workflows, of two tasks each. */
static void divide(struct life *l, bats_money first, bats_money second)
{
    static const struct bats_edge chain[] = {{0, 1}, {2, 3}};
    assert_ok(bats_graph_init(&l->graph, TASKS, TASKS, chain, 2, &err));
    l->purses[0] = (struct bats_purse){.name = "one", .budget = first};
    l->purses[1] = (struct bats_purse){.name = "two", .budget = second};
    l->purse[2] = l->purse[3] = 1;
    l->machine.slots = 2;
}

static void carry_out(struct life *l, bats_time now)
{
    struct bats_command c;
    size_t at = 0;
    int rc = bats_journal_commit(&l->journal, l->sched, now, now, &err);
    assert_true(rc >= 0);
    while (bats_journal_next(&l->journal, true, &at, &c)) {
        if (c.type == BATS_COMMAND_RUN) {
            l->runs[c.slot] = c.task;
            l->n_run++;
        }
        l->finished |= c.type == BATS_NOTICE_FINISHED;
    }
}

static void say(struct life *l, bats_time now, enum bats_event_type type,
                uint32_t slot)
{
    struct bats_event event = {.type = type,
                               .slot = slot,
                               .task = l->runs[slot],
                               .runtime = MINUTES(20)};
    assert_ok(bats_journal_handle(&l->journal, l->sched, now, &event, &err));
    carry_out(l, now);
}

static void open_bag(struct life *l)
{
    l->record = open_with_tasks(TASKS);
}

/* As bats-mpi begins and continues a run. */
static void live(struct life *l)
{
    open_bag(l);
    bool resumes = bats_record_earlier(l->record).sessions > 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct bats_record_past past = bats_record_past(l->record, i);
        l->state[i] = (uint8_t)bats_record_state(
            resumes ? BATS_RECORD_RESUME : BATS_RECORD_NOT, &past);
    }
    l->o.earlier.state = l->state;
    l->o.earlier.charged = bats_record_earlier(l->record).charged;
    l->o.clusters = &l->cluster;
    l->o.machines = &l->machine;
    l->o.expected = &l->expected;
    if (l->graph.n_nodes > 0) {
        l->o.graph = &l->graph;
        l->o.purse = l->purse;
        l->o.purses = l->purses;
        l->o.n_purses = 2;
        for (int i = 0; i < 2; i++)
            assert_ok(bats_record_share(l->record, l->purses[i].name,
                                        &l->purses[i].charged, &err));
    }
    l->finished = false;
    l->n_run = 0;
    assert_ok(bats_sched_create(&l->o, &l->sched, &err));
    struct bats_record_session session = {
        .engine = &l->o,
        .time_scale = 1,
        .resume = resumes ? BATS_RECORD_RESUME : BATS_RECORD_NOT};
    assert_ok(bats_record_begin(l->record, &session, &err));
    l->journal =
        (struct bats_journal){.record = l->record, .sync_us = BATS_HOUR};
    say(l, 0, BATS_EVENT_JOINED, 0);
}

static void kill_it(struct life *l)
{
    bats_journal_release(&l->journal);
    bats_sched_destroy(l->sched);
    bats_record_abandon(l->record);
}

/* The charges that a resumed run begins with, as `status` says before; it does
 * not begin, nor does it write more the next time. */
static bats_money charged(struct life *l)
{
    struct bats_view *view;
    struct bats_view_status status;
    assert_ok(bats_view_open(PATH, &view, &err));
    assert_ok(bats_view_status(view, &status, &err));
    bats_view_close(view);
    open_bag(l);
    bats_money sum = bats_record_earlier(l->record).charged;
    bats_record_abandon(l->record);
    assert_int_equal(status.charged, sum);
    return sum;
}

/* It begins so many tasks at once, and is killed; then this is charged. */
static void is_killed(struct life *l, uint32_t n_run, bats_money sum)
{
    live(l);
    assert_int_equal(l->n_run, n_run);
    kill_it(l);
    assert_int_equal(charged(l), sum);
}

static bats_money shared(struct life *l, int purse)
{
    bats_money sum;
    open_bag(l);
    assert_ok(bats_record_share(l->record, l->purses[purse].name, &sum, &err));
    bats_record_abandon(l->record);
    return sum;
}

static void verify(int sessions)
{
    struct bats_view *view;
    struct bats_verified verified;
    assert_ok(bats_view_open(PATH, &view, &err));
    assert_ok(bats_record_verify(view, &verified, &err));
    if (verified.n > 0)
        fail_msg("%s", verified.differences[0]);
    assert_int_equal(verified.sessions, sessions);
    bats_verified_release(&verified);
    bats_view_close(view);
}

TEST(window_that_was_held_by_the_second_is_charged)
{
    struct life l = prepare(BATS_BILLING_SECOND, 6 * UNIT);
    is_killed(&l, 1, 3 * UNIT);
    assert_int_equal(charged(&l), 3 * UNIT);
    is_killed(&l, 1, 6 * UNIT);
    is_killed(&l, 0, 6 * UNIT);
    assert_true(l.finished); /* its budget is spent */
    expect_rows("SELECT count(*) FROM happened WHERE sentence "
                "LIKE '%open when the run was killed%'",
                "2");
    verify(3);
}

/* Nothing is certain for 90 minutes, which are free if it is reclaimed. */
TEST(free_time_is_charged_too)
{
    struct life l = prepare(BATS_BILLING_SECOND, 7 * UNIT);
    live(&l);
    for (int i = 1; i <= 3; i++)
        say(&l, MINUTES(20 * i), BATS_EVENT_DONE, 0);
    say(&l, MINUTES(61), BATS_EVENT_TICK, 0);
    struct bats_sched_status status;
    bats_sched_status(l.sched, &status);
    assert_int_equal(status.charged, 0);
    kill_it(&l);
    assert_int_equal(charged(&l), 6 * UNIT);
    is_killed(&l, 0, 6 * UNIT);
    verify(2);
}

TEST(use_that_was_held_is_charged)
{
    struct life l = prepare(BATS_BILLING_USE, 5 * UNIT / 2);
    is_killed(&l, 1, UNIT);
    live(&l);
    say(&l, MINUTES(10), BATS_EVENT_TICK, 0);
    kill_it(&l);
    assert_int_equal(charged(&l), 2 * UNIT);
    live(&l);
    kill_it(&l);
    assert_true(charged(&l) <= 5 * UNIT / 2);
    verify(3);
}

TEST(run_that_ended_in_order_owes_nothing_more)
{
    struct life l = prepare(BATS_BILLING_SECOND, BATS_UNLIMITED);
    live(&l);
    for (int i = 1; i <= TASKS; i++)
        say(&l, MINUTES(20 * i), BATS_EVENT_DONE, 0);
    assert_true(l.finished);
    kill_it(&l); /* after the last commit */
    assert_int_equal(charged(&l), 4 * UNIT);

    l = prepare(BATS_BILLING_SECOND, BATS_UNLIMITED);
    live(&l);
    assert_ok(
        bats_record_finish(l.record, 0, BATS_FINISH_STOPPED, 15, 3, &err));
    kill_it(&l);
    assert_int_equal(charged(&l), 0);
}

/* It is booked every 5 minutes; the last sign of life is a result. */
TEST(own_job_is_charged_up_to_the_last_commit)
{
    struct life l = prepare(BATS_BILLING_ALLOCATION, BATS_UNLIMITED);
    l.o.billing.rate = 3 * UNIT;
    live(&l);
    say(&l, MINUTES(4), BATS_EVENT_TICK, 0);
    kill_it(&l);
    assert_int_equal(charged(&l), UNIT / 5);
    l.o.billing.least = MINUTES(10);
    live(&l);
    kill_it(&l);
    assert_int_equal(charged(&l), UNIT / 5 + UNIT / 2);
    l.o.billing.least = 0;
    live(&l);
    say(&l, MINUTES(19), BATS_EVENT_DONE, 0);
    kill_it(&l);
    assert_int_equal(charged(&l), 33 * UNIT / 20);
    verify(3);
}

/* The window is charged when it begins; its workflows have not shared it. */
TEST(each_workflow_pays_the_open_window_that_it_held)
{
    struct life l = prepare(BATS_BILLING_WINDOW, BATS_UNLIMITED);
    divide(&l, 4 * UNIT, 8 * UNIT);
    is_killed(&l, 2, 3 * UNIT);
    assert_numbers("3000000 3000000", shared(&l, 0), shared(&l, 1));
    is_killed(&l, 1, 6 * UNIT); /* one can pay no further window */
    assert_in_range(l.runs[0], 2, 3);
    assert_numbers("3000000 6000000", shared(&l, 0), shared(&l, 1));
    verify(2);
    bats_graph_release(&l.graph);
}

TEST(workflow_pays_use_and_seconds_that_it_held)
{
    const bats_money sum[] = {UNIT, 3 * UNIT};
    for (int i = 0; i < 2; i++) {
        struct life l = prepare(
            i == 0 ? BATS_BILLING_USE : BATS_BILLING_SECOND, BATS_UNLIMITED);
        divide(&l, BATS_UNLIMITED, 0);
        is_killed(&l, 1, sum[i]);
        assert_int_equal(shared(&l, 0), sum[i]);
        assert_int_equal(shared(&l, 1), 0);
        verify(1);
        bats_graph_release(&l.graph);
    }
}

TEST_MAIN(enter_directory, leave_directory)
