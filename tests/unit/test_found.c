/* Tasks that machines run already as they join, begun for an earlier session:
 * two machines at 1 per window, told by hand. */
#include "bats/bag.h"
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/test.h"

#define TASKS 4

static struct play {
    struct bats_sched *s;
    uint32_t begun[TASKS];     /* executions */
    uint32_t cancelled[TASKS]; /* the same */
} the_play, *const p = &the_play;

static int handle(enum bats_event_type type, uint32_t machine, uint32_t task)
{
    struct bats_event event = {
        .type = type, .machine = machine, .task = task, .runtime = 7};
    struct bats_command c;
    int rc = bats_sched_handle(p->s, 0, &event, &err);
    check_sched(p->s);
    while (bats_sched_next(p->s, &c)) {
        p->begun[c.task] += c.type == BATS_COMMAND_RUN;
        p->cancelled[c.task] += c.type == BATS_COMMAND_CANCEL;
    }
    return rc;
}

static void tell(enum bats_event_type type, uint32_t machine, uint32_t task)
{
    assert_int_equal(handle(type, machine, task), 0);
}

static void begin(struct bats_sched_options o)
{
    static const struct bats_cluster cluster = {
        .name = "c", .charge = BATS_UNIT, .max = 2};
    static const struct bats_machine_spec machines[] = {{0, 1}, {0, 1}};
    o.policy = &bats_policy_rr;
    o.n_tasks = TASKS;
    o.n_machines = 2;
    o.clusters = &cluster;
    o.n_clusters = 1;
    o.machines = machines;
    o.window = BATS_HOUR;
    if (o.budget == 0)
        o.budget = 1000 * BATS_UNIT;
    bats_sched_destroy(p->s);
    *p = (struct play){.s = NULL};
    assert_ok(bats_sched_create(&o, &p->s, &err));
}

/* It joins with that task. */
static void bring(uint32_t machine, uint32_t task)
{
    tell(BATS_EVENT_HOLD, 0, 0);
    tell(BATS_EVENT_JOINED, machine, 0);
    tell(BATS_EVENT_FOUND, machine, task);
    tell(BATS_EVENT_GO, 0, 0);
}

static uint32_t begun(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < TASKS; i++)
        n += p->begun[i];
    return n;
}

static bool runs(uint32_t machine, uint32_t task)
{
    return bats_sched_execution(p->s, machine, 0, task) == BATS_EXECUTION_RUNS;
}

TEST(a_task_that_is_found_runs_where_it_is)
{
    for (uint32_t task = 0; task < TASKS; task++) {
        begin((struct bats_sched_options){0});
        bring(1, task);
        assert_true(runs(1, task));
        assert_int_equal(p->begun[task], 1);
        assert_int_equal(begun(), 1); /* the slot has nothing else to do */
        tell(BATS_EVENT_DONE, 1, task);
        assert_true(bats_sched_has_result(p->s, task));
        assert_int_equal(begun(), 2);
    }
}

TEST(results_that_are_found_leave_room_for_more)
{
    begin((struct bats_sched_options){0});
    struct bats_sched_status status;
    tell(BATS_EVENT_HOLD, 0, 0);
    tell(BATS_EVENT_JOINED, 0, 0);
    for (uint32_t task = 0; task < TASKS - 1; task++) {
        tell(BATS_EVENT_FOUND, 0, task);
        tell(BATS_EVENT_DONE, 0, task);
    }
    assert_int_equal(begun(), TASKS - 1);
    tell(BATS_EVENT_GO, 0, 0);
    assert_true(runs(0, TASKS - 1));
    tell(BATS_EVENT_DONE, 0, TASKS - 1);
    bats_sched_status(p->s, &status);
    assert_int_equal(status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(status.charged, BATS_UNIT);
}

TEST(what_has_its_result_is_not_wanted)
{
    static const uint8_t earlier[TASKS] = {BATS_TASK_DONE, BATS_TASK_PENDING,
                                           BATS_TASK_PENDING,
                                           BATS_TASK_PENDING};
    begin((struct bats_sched_options){.earlier.state = earlier});
    bring(0, 0);
    assert_false(runs(0, 0));
    assert_int_equal(p->begun[0], 0);
    assert_int_equal(begun(), 1); /* another task instead */
}

/* As the last task, which machine 0 runs already. */
TEST(the_first_result_counts_if_it_runs_elsewhere)
{
    static const uint8_t earlier[TASKS] = {BATS_TASK_DONE, BATS_TASK_DONE,
                                           BATS_TASK_DONE, BATS_TASK_PENDING};
    for (uint32_t first = 0; first < 2; first++) {
        begin((struct bats_sched_options){.earlier.state = earlier});
        tell(BATS_EVENT_JOINED, 0, 0);
        bring(1, 3);
        assert_true(runs(0, 3) && runs(1, 3));
        tell(BATS_EVENT_DONE, first, 3);
        assert_int_equal(p->cancelled[3], 1);
        assert_int_equal(bats_sched_execution(p->s, 1 - first, 0, 3),
                         BATS_EXECUTION_CANCELLED);
    }
}

TEST(where_tasks_wait_what_was_begun_later_makes_room)
{
    begin((struct bats_sched_options){0});
    uint32_t task = 0;
    tell(BATS_EVENT_JOINED, 0, 0);
    while (p->begun[task] == 0)
        task++;
    bring(1, task);
    assert_true(runs(1, task));
    assert_int_equal(bats_sched_execution(p->s, 0, 0, task),
                     BATS_EXECUTION_CANCELLED);
    tell(BATS_EVENT_PREEMPTED, 0, task);
    assert_int_equal(begun(), 3);
    tell(BATS_EVENT_DONE, 1, task);
    assert_true(bats_sched_has_result(p->s, task));
}

TEST(one_that_must_not_run_twice_does_not)
{
    static const uint8_t once[TASKS] = {1, 1, 1, 1};
    begin((struct bats_sched_options){.once = once});
    uint32_t task = 0;
    tell(BATS_EVENT_JOINED, 0, 0);
    while (p->begun[task] == 0)
        task++;
    bring(1, task);
    assert_true(runs(0, task) && !runs(1, task));
    assert_int_equal(p->begun[task], 1);
}

TEST(a_machine_that_cannot_be_paid_runs_nothing)
{
    begin((struct bats_sched_options){.budget = 1});
    tell(BATS_EVENT_HOLD, 0, 0);
    tell(BATS_EVENT_JOINED, 0, 0);
    tell(BATS_EVENT_FOUND, 0, 2);
    assert_false(runs(0, 2));
    assert_int_equal(begun(), 0);
}

TEST(what_cannot_be_there_is_refused)
{
    begin((struct bats_sched_options){0});
    assert_int_equal(handle(BATS_EVENT_FOUND, 2, 0), BATS_ESTATE);
    assert_int_equal(handle(BATS_EVENT_FOUND, 0, TASKS), BATS_ESTATE);
    tell(BATS_EVENT_FOUND, 0, 0); /* which is absent */
    assert_int_equal(begun(), 0);
    tell(BATS_EVENT_JOINED, 0, 0);
    tell(BATS_EVENT_FOUND, 0, 0); /* which is busy */
    assert_int_equal(begun(), 1);
}

TEST_MAIN(NULL, NULL)
