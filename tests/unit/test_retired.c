/* A job that gets no more tasks, told by hand: two machines of two slots, a job
 * each, asked for before. */
#include "bats/policy.h"
#include "bats/sched.h"
#include "helpers/test.h"

#define TASKS 6

static struct play {
    struct bats_sched *s;
    uint32_t begun[2], parked[2], asked[2]; /* by machine */
    uint32_t slot[TASKS];                   /* of the last execution */
    uint32_t first;                         /* task that was begun first */
} the_play, *const p = &the_play;

static int handle(struct bats_event event)
{
    struct bats_command c;
    int rc = bats_sched_handle(p->s, 0, &event, &err);
    check_sched(p->s);
    while (bats_sched_next(p->s, &c))
        if (c.type == BATS_COMMAND_RUN) {
            p->first = p->begun[0] + p->begun[1] == 0 ? c.task : p->first;
            p->begun[c.machine]++;
            p->slot[c.task] = c.slot;
        } else if (c.type == BATS_COMMAND_PARK) {
            p->parked[c.machine]++;
        } else if (c.type == BATS_COMMAND_ACQUIRE) {
            p->asked[c.machine]++;
        }
    return rc;
}

static void tell(enum bats_event_type type, uint32_t machine)
{
    assert_int_equal(
        handle((struct bats_event){.type = type, .machine = machine}), 0);
}

static void end(uint32_t task)
{
    assert_int_equal(handle((struct bats_event){.type = BATS_EVENT_DONE,
                                                .slot = p->slot[task],
                                                .task = task,
                                                .runtime = 7}),
                     0);
}

static void begin_with(bool is_job)
{
    static const struct bats_cluster cluster = {
        .name = "c", .charge = BATS_UNIT, .max = 2};
    static const struct bats_machine_spec machines[] = {{0, 2}, {0, 2}};
    static const bats_time asked[] = {BATS_HOUR, BATS_HOUR};
    struct bats_sched_options o = {.policy = &bats_policy_rr,
                                   .n_tasks = TASKS,
                                   .n_machines = 2,
                                   .clusters = &cluster,
                                   .n_clusters = 1,
                                   .machines = machines,
                                   .window = BATS_HOUR,
                                   .budget = 1000 * BATS_UNIT};
    if (is_job) {
        o.billing.model = BATS_BILLING_JOB;
        o.earlier.asked = asked;
    }
    bats_sched_destroy(p->s);
    *p = (struct play){.s = NULL};
    assert_ok(bats_sched_create(&o, &p->s, &err));
    tell(BATS_EVENT_TICK, 0);
}

static void begin(void)
{
    begin_with(true);
}

TEST(what_runs_may_end_and_nothing_new_comes)
{
    begin();
    tell(BATS_EVENT_JOINED, 0);
    assert_int_equal(p->begun[0], 2);
    tell(BATS_EVENT_RETIRED, 0);
    tell(BATS_EVENT_RETIRED, 0); /* once is enough */
    end(p->first);
    assert_int_equal(p->begun[0], 2);
    assert_int_equal(p->parked[0], 0); /* the other task goes on */
    for (uint32_t task = 0; task < TASKS; task++)
        if (bats_sched_execution(p->s, 0, 1, task) == BATS_EXECUTION_RUNS ||
            bats_sched_execution(p->s, 0, 0, task) == BATS_EXECUTION_RUNS)
            end(task);
    assert_int_equal(p->begun[0], 2);
    assert_int_equal(p->parked[0], 1);
    tell(BATS_EVENT_JOINED, 1);
    assert_int_equal(p->begun[1], 2); /* there tasks do begin */
}

TEST(the_next_job_may_have_tasks_again)
{
    begin();
    tell(BATS_EVENT_JOINED, 0);
    tell(BATS_EVENT_RETIRED, 0);
    tell(BATS_EVENT_LOST, 0);
    tell(BATS_EVENT_BILLED, 0);
    assert_int_equal(p->asked[0], 1);
    tell(BATS_EVENT_JOINED, 0);
    assert_int_equal(p->begun[0], 4);
}

TEST(only_jobs_are_retired)
{
    begin();
    assert_int_equal(
        handle((struct bats_event){.type = BATS_EVENT_RETIRED, .machine = 2}),
        BATS_ESTATE);
    tell(BATS_EVENT_RETIRED, 1); /* it waits: nothing happens */
    tell(BATS_EVENT_JOINED, 1);
    assert_int_equal(p->begun[1], 2);
}

/* It is acquired for windows. Then its task is the last one that it runs. */
TEST(so_is_a_machine_that_is_no_job)
{
    begin_with(false);
    tell(BATS_EVENT_JOINED, 0);
    assert_int_equal(p->begun[0], 2);
    tell(BATS_EVENT_RETIRED, 0);
    end(p->first);
    assert_int_equal(p->begun[0], 2);
    tell(BATS_EVENT_JOINED, 1);
    assert_int_equal(p->begun[1], 2);
    tell(BATS_EVENT_LOST, 0);
    assert_int_equal(p->begun[0], 2);
}

TEST_MAIN(NULL, NULL)
