/* The driver: start-up, noise and what it tells. Small worlds that can be
 * followed by hand. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/sim_fixture.h"

#define TASKS 64

static double noise;
static bats_time startup;

/* Machines at 1 per hour; rr, because it holds all of them. */
static void set_up(uint32_t n_tasks, bats_time work, uint32_t n_machines)
{
    noise = 0;
    startup = 0;
    set_up_world(&bats_policy_rr, n_tasks, work, n_machines, 1, 0,
                 BATS_UNLIMITED);
    w->o.sched.seed = 3;
    w->o.startup = &startup;
    w->o.noise = &noise;
}

/* What begins in the first two minutes is lost at once, but only at 5 min is it
 * said that the task of 50 min is lost. */
TEST(a_loss_that_is_noticed_puts_the_task_back)
{
    struct bats_reliability loses = {
        .n_steps = 2, .share = {0, 1}, .from = {0, 2 * BATS_MINUTE}};
    set_up(1, 50 * BATS_MINUTE, 1);
    w->clusters[0].unreliable = true;
    w->clusters[0].noticed = 5 * BATS_MINUTE;
    w->o.reliability = &loses;
    play();
    assert_end(.makespan = 55 * BATS_MINUTE, .preempted = 1, .done = 1);
}

/* Tasks of two hours, after some of a minute, on machines that lose nothing in
 * the first 900 hours. */
static void set_up_unreliable(uint32_t n_tasks, uint32_t n_short,
                              const char *strategy)
{
    static const struct bats_reliability loses = {
        .n_steps = 2, .share = {1, 0.5}, .from = {0, 900 * BATS_HOUR}};
    set_up(n_tasks, 2 * BATS_HOUR, 4);
    for (uint32_t i = 0; i < n_short; i++)
        w->work[i] = BATS_MINUTE;
    w->clusters[0].unreliable = true;
    w->o.reliability = &loses;
    w->o.sched.policy = &bats_policy_expert;
    w->o.sched.billing.model = BATS_BILLING_USE;
    assert_ok(bats_strategy_parse(strategy, &w->o.sched.strategy, &err));
}

/* Eight tasks of a minute end first; the next eight take two hours, which is
 * longer than a notice of 10 min, and far longer than 4 minutes. */
TEST(where_losses_are_noticed_long_tasks_are_not_given_up)
{
    set_up_unreliable(16, 8, "N=inf,T=inf,D=inf");
    w->clusters[0].noticed = 10 * BATS_MINUTE;
    play();
    assert_int_equal(w->status.done, 16);
    /* 8 min and 16 hours of work */
    assert_int_equal(w->status.charged,
                     16 * BATS_UNIT + 8 * (BATS_UNIT / 60 + 1));
}

/* 15 min of start-up and a task of 50: the machine is charged from the start,
 * and the task counts with its own 50 min. */
TEST(start_up_is_charged_and_delays_the_first_task)
{
    set_up(1, 50 * BATS_MINUTE, 1);
    play();
    assert_end(.makespan = 50 * BATS_MINUTE, .charged = BATS_UNIT);

    startup = 15 * BATS_MINUTE;
    play();
    assert_end(.makespan = 65 * BATS_MINUTE, .charged = 2 * BATS_UNIT);
    assert_float_equal(w->of[0].mean_runtime, 50.0 * BATS_MINUTE, 1e-6);
}

TEST(a_machine_that_is_up_does_not_start_again)
{
    set_up(6, 20 * BATS_MINUTE, 2);
    startup = 5 * BATS_MINUTE;
    play();
    assert_int_equal(w->makespan, 65 * BATS_MINUTE);
}

/* ---- what the run tells about itself ---- */

static void write_event(void *context, bats_time now,
                        const struct bats_event *e)
{
    char *text = context;
    size_t used = strlen(text);
    snprintf(text + used, 512 - used, "%d e%d.%u ", (int)(now / BATS_MINUTE),
             e->type, e->machine);
}

static void write_command(void *context, bats_time now,
                          const struct bats_command *c)
{
    char *text = context;
    size_t used = strlen(text);
    snprintf(text + used, 512 - used, "%d c%d.%u ", (int)(now / BATS_MINUTE),
             c->type, c->machine);
}

TEST(every_event_and_command_is_shown_in_order)
{
    char text[512] = "", expected[512];
    set_up(1, 50 * BATS_MINUTE, 1);
    startup = 5 * BATS_MINUTE;
    w->o.sched.monitor_interval = 40 * BATS_MINUTE;
    w->o.watch.on_event = write_event;
    w->o.watch.on_command = write_command;
    w->o.watch.context = text;
    play();
    snprintf(expected, sizeof expected,
             "0 e%d.0 0 c%d.0 0 c%d.0 0 c%d.0 40 e%d.0 55 e%d.0 55 c%d.0 "
             "55 c%d.0 ",
             BATS_EVENT_JOINED, BATS_NOTICE_CHARGE, BATS_COMMAND_ACQUIRE,
             BATS_COMMAND_RUN, BATS_EVENT_TICK, BATS_EVENT_DONE,
             BATS_COMMAND_RELEASE, BATS_NOTICE_FINISHED);
    assert_string_equal(text, expected);
}

/* ---- noise ---- */

struct log {
    bats_time first[TASKS], second[TASKS]; /* runtimes of the executions */
};

static void note_runtime(void *context, bats_time now,
                         const struct bats_event *e)
{
    struct log *log = context;
    if (e->type == BATS_EVENT_DONE || e->type == BATS_EVENT_FAILED) {
        bats_time *at = log->first[e->task] ? log->second : log->first;
        at[e->task] = e->runtime;
    }
}

/* Other machines, another order, another policy: the n-th execution of a task
 * takes as long as ever. */
TEST(noise_does_not_depend_on_the_policy)
{
    static const struct bats_policy *const policies[] = {&bats_policy_rr,
                                                         &bats_policy_bats};
    static uint8_t fails[TASKS];
    struct log log[2] = {0};
    memset(fails, 1, sizeof fails);
    for (uint32_t i = 0; i < 2; i++) {
        set_up(TASKS, 10 * BATS_MINUTE, 2 + 3 * i);
        noise = 0.2;
        w->o.noise_seed = 11;
        w->o.sched.seed = 3 + i;
        w->o.sched.policy = policies[i];
        w->o.fails = fails; /* so that there is a second execution */
        w->o.sched.rules.retries = 1;
        w->o.watch.on_event = note_runtime;
        w->o.watch.context = &log[i];
        play();
    }
    assert_memory_equal(&log[0], &log[1], sizeof log[0]);
    for (int i = 0; i < TASKS; i++) {
        assert_int_not_equal(log[0].first[i], log[0].second[i]);
        assert_int_not_equal(log[0].first[i], 10 * BATS_MINUTE);
    }
}

/* ---- many machines ---- */

/* 400 machines need 1000 minutes for a task, and one a minute, as is known from
 * earlier: that one does all 500 tasks, most of them as copies, and never has
 * to wait for one, however many there are to choose from. */
TEST(every_running_task_is_found)
{
    const struct bats_observation seen[2] = {{0, 0, BATS_MINUTE},
                                             {0, 1, 1000 * BATS_MINUTE}};
    set_up_world(&bats_policy_rr, 500, 1000 * BATS_MINUTE, 200, 1, 1,
                 BATS_UNLIMITED);
    for (uint32_t i = 0; i < 401; i++)
        w->machines[i] = (struct bats_machine_spec){i > 0, 1};
    w->clusters[0].charge = w->clusters[1].charge = 0;
    w->clusters[0].max = 1;
    w->clusters[1].max = 400;
    w->speed[0] = 1000;
    w->o.sched.n_machines = 401;
    w->o.sched.window = 1000 * BATS_HOUR;
    w->o.sched.tail = BATS_TAIL_SOONEST;
    w->o.sched.earlier.seen = seen;
    w->o.sched.earlier.n_seen = 2;
    play();
    assert_end(.makespan = 500 * BATS_MINUTE, .done0 = 500);
}

TEST_MAIN(NULL, NULL)
