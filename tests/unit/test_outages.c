/* Machines on which one task after another fails, that are retired, or that run
 * tasks as they join: told by hand. Two machines at 1 per hour, and tasks
 * enough. */
#include "bats/bag.h"
#include "bats/sched.h"
#include "helpers/play_fixture.h"

#define BAD 1 /* the machine that all is about */
#define FAILURES 5

static void prepare(uint32_t n_tasks)
{
    *p = (struct play){.clusters = {{"c", BATS_UNIT, 2}},
                       .o = {.policy = &bats_policy_rr,
                             .n_tasks = n_tasks,
                             .n_clusters = 1,
                             .n_machines = 2,
                             .window = 100 * BATS_HOUR,
                             .budget = BATS_UNLIMITED,
                             .seed = 5}};
    p->machines[0] = p->machines[BAD] = (struct bats_machine_spec){0, 1};
}

static void begin(void)
{
    prepare(100);
    join();
}

static struct bats_cluster_status status(void)
{
    struct bats_cluster_status c;
    bats_sched_cluster_status(p->s, 0, &c);
    return c;
}

/* The other machine has ended a task well, and BAD fails at once until it gets
 * no more. */
static void send_to_quarantine(void)
{
    begin();
    steps("0 done 0 1s; 0 fails 1 1s: run 1; 0 fails 1 1s: run 1;"
          "0 fails 1 1s: run 1; 0 fails 1 1s: run 1;"
          "0 fails 1 1s: quarantine 1");
    assert_int_equal(status().machines_now, 2);
    assert_int_equal(status().machines_out, 1);
    assert_int_equal(bats_sched_wakeup(p->s), MINUTES(5));
}

/* Two jobs were asked for by an earlier session. */
static void begin_jobs(void)
{
    static const bats_time asked[] = {BATS_HOUR, BATS_HOUR};
    prepare(6);
    p->o.billing.model = BATS_BILLING_JOB;
    p->o.earlier.asked = asked;
    p->o.window = BATS_HOUR;
    assert_ok(create(&err));
    tick(0);
}

static const struct {
    const char *what;
    void (*before)(void);
    const char *steps;
    uint32_t quarantined, out, lost; /* machines, in the end */
} rows[] = {
    /* It has to fail as often again. */
    {"a machine gets another chance after a while", send_to_quarantine,
     "5m tick: readmit 1, run 1; 6m done 1: run 1; 6m fails 1 1s: run 1;"
     "6m fails 1 1s: run 1; 6m fails 1 1s: run 1; 6m fails 1 1s: run 1",
     0, 0, 0},
    /* One task at a time, and each quarantine is twice as long, the fifth for
     * good. */
    {"who fails again waits longer", send_to_quarantine,
     "4m59s tick:; 5m tick: readmit 1, run 1; 5m fails 1 1s: quarantine 1;"
     "14m59s tick:; 15m tick: readmit 1, run 1; 15m fails 1 1s: quarantine 1;"
     "34m59s tick:; 35m tick: readmit 1, run 1; 35m fails 1 1s: quarantine 1;"
     "74m59s tick:; 75m tick: readmit 1, run 1; 75m fails 1 1s: quarantine 1;"
     "51h tick:",
     1, 1, 0},
    {"who is left alone gets its chances at once", send_to_quarantine,
     "1m lost 0: lose 0, readmit 1, run 1; 1m fails 1 1s: quarantine 1, readmit 1, run 1; 1m fails 1 1s: quarantine 1, readmit 1, run 1;"
     "1m fails 1 1s: quarantine 1, readmit 1, run 1; 1m fails 1 1s: quarantine 1, finish",
     1, 1, 1},
    /* It is about to be taken away: what it would do then is nobody's. */
    {"what is reclaimed gets no chance", send_to_quarantine,
     "1m notice 1 1h; 5m tick:; 6m lost 1", 0, 0, 1},
    /* A machine that will be reclaimed, and has not failed, is in no
     * quarantine. */
    {"what is retired is out and in no quarantine", begin, "0 retire 1:", 0, 1,
     0},
    {"a machine that is no job ends its last task", begin,
     "0 retire 0:; 0 done 0 1s:; 0 done 1 1s: run 1; 0 lost 0", 0, 0, 1},
    /* To be told so once is enough. On the other one tasks do begin. */
    {"what runs on a job may end and nothing new comes", begin_jobs,
     "0 joins 0: run 0; 0 retire 0:; 0 retire 0:; 0 done 0 1s: park 0;"
     "0 joins 1: run 1",
     0, 0, 0},
    {"the next job may have tasks again", begin_jobs,
     "0 joins 0: run 0; 0 retire 0:; 0 lost 0: lose 0; 0 bill 0: acquire 0;"
     "0 joins 0: run 0",
     0, 0, 0},
    {"a job that waits is not retired", begin_jobs,
     "0 retire 1:; 0 joins 1: run 1", 0, 0, 0}};

TEST(machines_get_tasks_as_the_rows_say)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("# %s\n", rows[i].what);
        rows[i].before();
        steps("%s", rows[i].steps);
        assert_int_equal(status().machines_quarantined, rows[i].quarantined);
        assert_int_equal(status().machines_out, rows[i].out);
        assert_int_equal(status().machines_lost, rows[i].lost);
    }
}

TEST(neither_a_running_task_nor_its_own_success_speaks_against_a_machine)
{
    begin(); /* and the other one runs its first task all the time */
    steps("0 done 1 1s: run 1");
    for (int i = 1; i < 4 * FAILURES; i++) {
        end(MINUTES(i), BAD, BATS_EVENT_FAILED, BATS_SECOND);
        assert_string_equal(p->answer, "run 1");
    }
    /* Only what has ended well says that it is the machine. */
    steps("60m done 0; 60m fails 1 1s: quarantine 1");
}

TEST(stop_cancels_and_drain_waits)
{
    begin();
    steps("0 stop: cancel 0, cancel 1; 1s stopped 0:; 1s stopped 1: finish");
    assert_int_equal(p->finish, BATS_FINISH_STOPPED);
    begin();
    steps("0 drain:; 1s done 0:; 1s done 1: finish");
    assert_int_equal(p->finish, BATS_FINISH_STOPPED);
}

/* A machine is to go in 10 minutes; a minute later somebody says in 30. */
TEST(the_earliest_notice_counts)
{
    prepare(4);
    p->o.n_machines = 1;
    p->o.window = BATS_HOUR;
    p->o.billing.model = BATS_BILLING_SECOND;
    p->clusters[0] = (struct bats_cluster){
        .max = 1,
        .reclaimable = true,
        .tariff = {.per = BATS_HOUR, .n_steps = 1, .step = {{0, BATS_UNIT}}}};
    join();
    steps(
        "1m notice 0 10m:; 2m notice 0 30m:; 11m tick: cancel 0, charge 0, park 0");
}

/* ---- tasks that machines run already as they join, begun earlier ---- */

#define TASKS 4

static void begin_found(struct bats_sched_options o)
{
    prepare(TASKS);
    p->o.earlier = o.earlier;
    p->o.once = o.once;
    p->o.window = BATS_HOUR;
    if (o.budget > 0)
        p->o.budget = o.budget;
    assert_ok(create(&err));
}

/* It joins with that task. */
static void bring(uint32_t machine, uint32_t task)
{
    steps("0 hold; 0 joins %u; 0 finds %u %u; 0 go", machine, machine, task);
}

static bool runs(uint32_t machine, uint32_t task)
{
    return bats_sched_execution(p->s, machine, 0, task) == BATS_EXECUTION_RUNS;
}

static bool is_cancelled(uint32_t machine, uint32_t task)
{
    return bats_sched_execution(p->s, machine, 0, task) ==
           BATS_EXECUTION_CANCELLED;
}

TEST(a_task_that_is_found_runs_where_it_is)
{
    for (uint32_t task = 0; task < TASKS; task++) {
        begin_found((struct bats_sched_options){0});
        bring(1, task);
        assert_true(runs(1, task));
        assert_int_equal(p->n_run, 1); /* the slot has nothing else to do */
        done(0, 1, 7);
        assert_true(bats_sched_has_result(p->s, task));
        assert_int_equal(p->n_run, 2);
    }
}

TEST(results_that_are_found_leave_room_for_more)
{
    begin_found((struct bats_sched_options){0});
    steps("0 hold; 0 joins 0; 0 finds 0 0: charge 0, acquire 0, run 0;"
          "0 done 0 1s:; 0 finds 0 1: run 0; 0 done 0 1s:; 0 finds 0 2: run 0;"
          "0 done 0 1s:; 0 go: run 0");
    assert_true(runs(0, TASKS - 1));
    steps("0 done 0 1s: finish");
    assert_int_equal(p->charged, BATS_UNIT);
}

static const uint8_t all_but[2][TASKS] = {
    {BATS_TASK_DONE, BATS_TASK_PENDING, BATS_TASK_PENDING, BATS_TASK_PENDING},
    {BATS_TASK_DONE, BATS_TASK_DONE, BATS_TASK_DONE, BATS_TASK_PENDING}};

TEST(what_has_its_result_is_not_wanted)
{
    begin_found((struct bats_sched_options){.earlier.state = all_but[0]});
    bring(0, 0);
    assert_false(runs(0, 0));
    assert_int_equal(p->n_run, 1); /* another task instead */
}

/* As the last task, which machine 0 runs already. */
TEST(the_first_result_counts_if_it_runs_elsewhere)
{
    for (uint32_t first = 0; first < 2; first++) {
        begin_found((struct bats_sched_options){.earlier.state = all_but[1]});
        happen(0, BATS_EVENT_JOINED, 0);
        bring(1, 3);
        assert_true(runs(0, 3) && runs(1, 3));
        done(0, first, 7);
        assert_int_equal(p->cancels[1 - first], 1);
        assert_true(is_cancelled(1 - first, 3));
    }
}

TEST(where_tasks_wait_what_was_begun_later_makes_room)
{
    begin_found((struct bats_sched_options){0});
    happen(0, BATS_EVENT_JOINED, 0);
    uint32_t task = p->runs[0];
    bring(1, task);
    assert_true(runs(1, task) && is_cancelled(0, task));
    steps("0 stopped 0: run 0; 0 done 1 1s: run 1");
    assert_true(bats_sched_has_result(p->s, task));
}

TEST(one_that_must_not_run_twice_does_not)
{
    static const uint8_t once[TASKS] = {1, 1, 1, 1};
    begin_found((struct bats_sched_options){.once = once});
    happen(0, BATS_EVENT_JOINED, 0);
    bring(1, p->runs[0]);
    assert_true(runs(0, p->runs[0]) && !runs(1, p->runs[0]));
}

TEST(a_machine_that_cannot_be_paid_runs_nothing)
{
    begin_found((struct bats_sched_options){.budget = 1});
    steps("0 hold; 0 joins 0; 0 finds 0 2:");
}

TEST(what_cannot_be_there_is_refused)
{
    static const struct bats_event wrong[] = {
        {.type = BATS_EVENT_RETIRED, .machine = 2},
        {.type = BATS_EVENT_FOUND, .machine = 2},
        {.type = BATS_EVENT_FOUND, .task = TASKS}};
    begin_found((struct bats_sched_options){0});
    for (int i = 0; i < 3; i++)
        assert_int_equal(bats_sched_handle(p->s, 0, &wrong[i], &err),
                         BATS_ESTATE);
    /* It is absent, and then it is busy. */
    steps("0 finds 0 0:; 0 joins 0; 0 finds 0 0:");
}

TEST_MAIN(NULL, NULL)
