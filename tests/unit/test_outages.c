/* Machines on which one task after another fails, that are retired, or that run
 * tasks as they join: told by hand. Two machines at 1 per hour, and tasks
 * enough. */
#include "bats/bag.h"
#include "bats/sched.h"
#include "bats/status.h"
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
    happen(0, BATS_EVENT_RETIRED, BAD);
    assert_int_equal(status().machines_quarantined, 0);
    assert_int_equal(status().machines_out, 1);
}

/* ---- machines that get no more tasks ---- */

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

TEST(what_runs_may_end_and_nothing_new_comes)
{
    begin_jobs();
    happen(0, BATS_EVENT_JOINED, 0);
    happen(0, BATS_EVENT_RETIRED, 0);
    happen(0, BATS_EVENT_RETIRED, 0); /* once is enough */
    assert_int_equal(p->parks[0], 0); /* its task goes on */
    done(0, 0, 7);
    assert_false(works(0));
    assert_int_equal(p->parks[0], 1);
    happen(0, BATS_EVENT_JOINED, 1);
    assert_true(works(1)); /* there tasks do begin */
}

TEST(the_next_job_may_have_tasks_again)
{
    begin_jobs();
    happen(0, BATS_EVENT_JOINED, 0);
    happen(0, BATS_EVENT_RETIRED, 0);
    lose(0, 0);
    happen(0, BATS_EVENT_BILLED, 0);
    assert_int_equal(p->acquired, 1);
    happen(0, BATS_EVENT_JOINED, 0);
    assert_true(works(0));
}

TEST(a_job_that_waits_is_not_retired)
{
    begin_jobs();
    struct bats_event none = {.type = BATS_EVENT_RETIRED, .machine = 2};
    assert_int_equal(bats_sched_handle(p->s, 0, &none, &err), BATS_ESTATE);
    happen(0, BATS_EVENT_RETIRED, 1);
    happen(0, BATS_EVENT_JOINED, 1);
    assert_true(works(1));
}

TEST(a_machine_that_is_no_job_ends_its_last_task)
{
    begin();
    happen(0, BATS_EVENT_RETIRED, 0);
    done(0, 0, 7);
    assert_false(works(0));
    done(0, 1, 7);
    assert_true(works(1));
    lose(0, 0);
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

static void find(uint32_t machine, uint32_t task)
{
    tell(0, (struct bats_event){
                .type = BATS_EVENT_FOUND, .machine = machine, .task = task});
}

/* It joins with that task. */
static void bring(uint32_t machine, uint32_t task)
{
    happen(0, BATS_EVENT_HOLD, 0);
    happen(0, BATS_EVENT_JOINED, machine);
    find(machine, task);
    happen(0, BATS_EVENT_GO, 0);
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
    happen(0, BATS_EVENT_HOLD, 0);
    happen(0, BATS_EVENT_JOINED, 0);
    for (uint32_t task = 0; task < TASKS - 1; task++) {
        find(0, task);
        done(0, 0, 7);
    }
    assert_int_equal(p->n_run, TASKS - 1);
    happen(0, BATS_EVENT_GO, 0);
    assert_true(runs(0, TASKS - 1));
    done(0, 0, 7);
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
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
    end(0, 0, BATS_EVENT_PREEMPTED, 0);
    assert_int_equal(p->n_run, 3);
    done(0, 1, 7);
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
    happen(0, BATS_EVENT_HOLD, 0);
    happen(0, BATS_EVENT_JOINED, 0);
    find(0, 2);
    assert_false(runs(0, 2));
    assert_int_equal(p->n_run, 0);
}

TEST(what_cannot_be_there_is_refused)
{
    static const struct bats_event wrong[] = {
        {.type = BATS_EVENT_FOUND, .machine = 2},
        {.type = BATS_EVENT_FOUND, .task = TASKS}};
    begin_found((struct bats_sched_options){0});
    for (int i = 0; i < 2; i++)
        assert_int_equal(bats_sched_handle(p->s, 0, &wrong[i], &err),
                         BATS_ESTATE);
    find(0, 0); /* it is absent */
    assert_int_equal(p->n_run, 0);
    happen(0, BATS_EVENT_JOINED, 0);
    find(0, 0); /* it is busy */
    assert_int_equal(p->n_run, 1);
}

TEST_MAIN(NULL, NULL)
