/* Machines that are jobs, in runs that can be checked by hand: 3 per hour, a
 * window of an hour, tasks of 20 minutes at 1 each. The simulator plays the
 * batch system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bats/billing.h"
#include "bats/policy.h"
#include "sim/sim.h"

#define TASK (20 * BATS_MINUTE)
#define TASKS 400
#define MACHINES 8

struct run {
    struct bats_cluster clusters[2];
    struct bats_machine_spec machines[MACHINES];
    double speed[2];
    bats_time work[TASKS], queue[2], startup[2];
    struct bats_sim_loss losses[MACHINES];
    struct bats_sim_options o;
    struct bats_sched_status status;
    struct bats_cluster_status used[2];
    bats_money booked;
    bats_time makespan;
    uint32_t asked, most_asked, waiting, begun;
    bats_time asked_at[2], joined_at[2]; /* of the first two */
    bats_time longest, length[MACHINES]; /* of any, and of the first ones */
};

static void check_invariants(void *context, const struct bats_sched *s)
{
    (void)context;
    bats_sched_check(s);
}

static void hear(void *context, bats_time now, const struct bats_event *ev)
{
    struct run *r = context;
    if (ev->type == BATS_EVENT_JOINED && r->begun++ < 2)
        r->joined_at[r->begun - 1] = now;
    r->waiting -= ev->type == BATS_EVENT_BILLED;
}

static void note(void *context, bats_time now, const struct bats_command *c)
{
    struct run *r = context;
    if (c->type == BATS_NOTICE_CHARGE)
        r->booked += c->amount;
    if (c->type == BATS_COMMAND_ACQUIRE) {
        if (r->asked < MACHINES)
            r->length[r->asked] = c->time;
        if (c->time > r->longest)
            r->longest = c->time;
        if (r->asked++ < 2)
            r->asked_at[r->asked - 1] = now;
        r->waiting++;
    }
    if (r->waiting > r->most_asked)
        r->most_asked = r->waiting;
}

static struct run prepare(uint32_t n_tasks, uint32_t n_machines,
                          bats_money budget)
{
    struct run r = {.clusters = {{.charge = 3 * BATS_UNIT, .max = n_machines},
                                 {.charge = 3 * BATS_UNIT, .max = n_machines}},
                    .speed = {1, 1},
                    .o.sched = {.policy = &bats_policy_bats,
                                .n_tasks = n_tasks,
                                .n_clusters = 1,
                                .n_machines = n_machines,
                                .window = BATS_HOUR,
                                .budget = budget,
                                .billing.model = BATS_BILLING_JOB,
                                .tail = BATS_TAIL_NONE,
                                .seed = 7}};
    for (uint32_t i = 0; i < n_tasks; i++)
        r.work[i] = TASK;
    for (uint32_t i = 0; i < n_machines; i++)
        r.machines[i].slots = 1;
    return r;
}

static void play(struct run *r)
{
    struct bats_sched *s;
    struct bats_error err;
    r->o.sched.clusters = r->clusters;
    r->o.sched.machines = r->machines;
    r->o.work = r->work;
    r->o.speed = r->speed;
    r->o.queue = r->queue;
    r->o.startup = r->startup;
    r->o.losses = r->losses;
    r->o.after = check_invariants;
    r->o.on_event = hear;
    r->o.on_command = note;
    r->o.context = r;
    if (bats_sim_run(&r->o, &s, &r->makespan, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_status(s, &r->status);
    for (size_t i = 0; i < r->o.sched.n_clusters; i++)
        bats_sched_cluster_status(s, i, &r->used[i]);
    bats_sched_destroy(s);
    assert_int_equal(r->booked + r->o.sched.earlier.charged,
                     r->status.charged);
    assert_int_equal(r->waiting, 0);
}

/* Three tasks are an hour of one job; the fourth needs another one. */
static void what_jobs_were_billed_is_charged(void **state)
{
    (void)state;
    struct run r = prepare(4, 2, BATS_UNLIMITED);
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.makespan, 2 * TASK);
    assert_int_equal(r.status.charged, 4 * BATS_UNIT);
    assert_int_equal(r.asked, 2);
}

/* One machine: its job ends after an hour, and the next one begins then. */
static void a_job_that_is_still_needed_is_followed_by_another(void **state)
{
    (void)state;
    struct run r = prepare(7, 2, BATS_UNLIMITED);
    r.clusters[0].max = 1;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.status.charged, 7 * BATS_UNIT);
    assert_int_equal(r.begun, 3);
    assert_int_equal(r.makespan, 7 * TASK);
}

/* One machine, which may be two jobs for a while. The first job waited for so
 * long, and the second one is asked for as long before the first one ends. */
static void the_next_job_is_asked_for_as_early_as_jobs_wait(void **state)
{
    (void)state;
    struct run r = prepare(5, 2, BATS_UNLIMITED);
    r.queue[0] = 20 * BATS_MINUTE;
    r.o.sched.billing.jobs = 1;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.asked, 2);
    bats_time wait = r.joined_at[0];
    assert_true(wait > BATS_MINUTE && wait < BATS_HOUR);
    assert_int_equal(r.asked_at[1], wait + BATS_HOUR - wait);
    assert_int_equal(r.status.charged, 5 * BATS_UNIT);
}

/* 7 buys two jobs of 3; the bill of these leaves 1, which pays no third. */
static void money_is_held_for_jobs_that_wait(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 7 * BATS_UNIT);
    r.queue[0] = BATS_HOUR;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.most_asked, 2);
    assert_int_equal(r.status.done, 6);
    assert_int_equal(r.status.charged, 6 * BATS_UNIT);
}

/* A job may be billed for 30 minutes more: then 7 buys only one at a time. */
static void what_the_site_may_bill_beyond_the_window_is_held_too(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 7 * BATS_UNIT);
    r.o.sched.billing.overrun = 30 * BATS_MINUTE;
    play(&r);
    assert_int_equal(r.most_asked, 1);
    assert_true(r.status.charged <= 7 * BATS_UNIT);
    assert_int_equal(r.status.done, 3);
}

static void no_more_jobs_are_asked_for_than_tasks_wait(void **state)
{
    (void)state;
    struct run r = prepare(5, MACHINES, BATS_UNLIMITED);
    for (int i = 0; i < MACHINES; i++)
        r.machines[i].slots = 2;
    play(&r);
    assert_int_equal(r.most_asked, 3);
    assert_int_equal(r.status.done, 5);
}

static void no_more_jobs_are_asked_for_than_are_allowed(void **state)
{
    (void)state;
    struct run r = prepare(9, MACHINES, BATS_UNLIMITED);
    r.o.sched.billing.jobs = 3;
    play(&r);
    assert_int_equal(r.most_asked, 3);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
}

/* The first job that comes does both tasks; the one that waits is given up. */
static void jobs_that_nobody_needs_any_more_are_withdrawn(void **state)
{
    (void)state;
    struct run r = prepare(2, 2, BATS_UNLIMITED);
    r.queue[0] = 1000 * BATS_HOUR;
    play(&r);
    assert_int_equal(r.status.done, 2);
    assert_int_equal(r.asked, 2);
    assert_int_equal(r.begun, 1);
    assert_int_equal(r.status.charged, 2 * BATS_UNIT);
}

/* A task is lost after 10 minutes, which are billed, and runs again. */
static void a_job_that_is_lost_is_replaced(void **state)
{
    (void)state;
    struct run r = prepare(1, 1, BATS_UNLIMITED);
    r.losses[0] = (struct bats_sim_loss){10 * BATS_MINUTE, 0};
    r.o.n_losses = 1;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.status.charged, 3 * BATS_UNIT / 2);
    assert_int_equal(r.makespan, 30 * BATS_MINUTE);
}

/* The job of the run itself costs 1 per hour: 5 pay a window of 3, and the run
 * meanwhile. */
static void the_job_of_the_run_itself_counts(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 5 * BATS_UNIT);
    r.o.sched.billing.rate = BATS_UNIT;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.most_asked, 1);
    assert_int_equal(r.status.done, 3);
    assert_int_equal(r.status.charged, 4 * BATS_UNIT);
}

/* The window of 3 could be paid, but not the hour of the run as well. */
static void the_job_of_the_run_is_paid_to_the_end_of_the_others(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 7 * BATS_UNIT / 2);
    r.o.sched.billing.rate = BATS_UNIT;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.asked, 0);
}

/* It pays nothing but its own time, until nothing else can be paid. */
static void a_run_that_waits_in_vain_ends_with_its_money(void **state)
{
    (void)state;
    struct run r = prepare(20, 1, 5 * BATS_UNIT);
    r.o.sched.billing.rate = BATS_UNIT;
    r.queue[0] = 1000000 * BATS_HOUR;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.begun, 0);
    assert_true(r.status.charged <= 5 * BATS_UNIT);
    assert_true(r.makespan >= BATS_HOUR);
}

/* 2 were billed for jobs that an earlier session has lost sight of. */
static void what_was_billed_before_is_charged(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 7 * BATS_UNIT);
    r.o.sched.earlier.charged = BATS_UNIT;
    r.o.sched.billing.before = 2 * BATS_UNIT;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.most_asked, 1);
    assert_int_equal(r.status.charged, 6 * BATS_UNIT);
}

/* The second task takes 70 minutes, and no job has more than 60. */
static void a_task_that_is_longer_than_a_job_fails_in_the_end(void **state)
{
    (void)state;
    struct run r = prepare(2, 2, BATS_UNLIMITED);
    r.work[1] = 70 * BATS_MINUTE;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.status.done, 1);
    assert_int_equal(r.status.failed, 1);
    assert_int_equal(r.status.charged, BATS_UNIT + 3 * 3 * BATS_UNIT);
}

/* It is told to stop 10 minutes before the end of the job, and stops at once. */
static void so_does_one_that_has_time_to_stop(void **state)
{
    (void)state;
    struct run r = prepare(1, 1, 20 * BATS_UNIT);
    r.work[0] = 70 * BATS_MINUTE;
    r.o.sched.preempt_lead = 10 * BATS_MINUTE;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.status.failed, 1);
    assert_int_equal(r.begun, 3);
}

/* So does one that has copies, which begin soon after it in each job and are cut
 * off with it: a job counts once. */
static void copies_in_the_same_job_do_not_count(void **state)
{
    (void)state;
    struct run r = prepare(2, 1, 60 * BATS_UNIT);
    r.machines[0].slots = 2;
    r.work[0] = BATS_MINUTE;
    r.work[1] = 70 * BATS_MINUTE;
    r.o.sched.tail = BATS_TAIL_SOONEST;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.status.failed, 1);
    assert_int_equal(r.status.replicas, 3);
    assert_int_equal(r.begun, 3);
}

/* ---- for how long they work ---- */

/* One job at a time. Tasks of a minute: after 60 the next one is asked for, and
 * needs no more than 20 minutes for the other ten. Not to have been asked for an
 * hour again is what lets the budget suffice. */
static void the_last_job_is_as_short_as_the_rest_of_the_bag(void **state)
{
    (void)state;
    struct run r = prepare(70, 2, 4 * BATS_UNIT);
    r.clusters[0].max = 1;
    r.o.sched.billing.step = BATS_MINUTE;
    for (uint32_t i = 0; i < 70; i++)
        r.work[i] = BATS_MINUTE;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.asked, 2);
    assert_int_equal(r.length[0], BATS_HOUR);
    assert_in_range(r.length[1], 10 * BATS_MINUTE, 20 * BATS_MINUTE);
    assert_int_equal(r.status.charged, 7 * BATS_UNIT / 2);
}

/* Three tasks are an hour: then jobs are asked for that lose less with what is cut
 * off at their ends, but not beyond the end of the bag. */
static void where_tasks_are_long_jobs_become_longer(void **state)
{
    (void)state;
    struct run r = prepare(60, 2, BATS_UNLIMITED);
    r.clusters[0].max = 1;
    r.o.sched.billing.step = BATS_MINUTE;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.length[0], BATS_HOUR);
    assert_true(r.length[1] >= 3 * BATS_HOUR);
    assert_true(r.longest < 60 * TASK);
    assert_true(r.asked < 10);
}

static void no_job_is_longer_than_is_allowed(void **state)
{
    (void)state;
    struct run r = prepare(60, 2, BATS_UNLIMITED);
    r.clusters[0].max = 1;
    r.o.sched.billing.step = BATS_MINUTE;
    r.o.sched.billing.longest = BATS_HOUR + 90 * BATS_SECOND;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.longest, BATS_HOUR + BATS_MINUTE);
}

/* 30 pay ten hours. Four jobs of an hour have 12 when the next four are asked for:
 * 18 pay each of these an hour and a half. */
static void longer_jobs_leave_the_others_their_money(void **state)
{
    (void)state;
    struct run r = prepare(200, MACHINES, 30 * BATS_UNIT);
    r.clusters[0].max = 4;
    r.o.sched.billing.step = BATS_MINUTE;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    for (int i = 4; i < MACHINES; i++)
        assert_int_equal(r.length[i], 90 * BATS_MINUTE);
    assert_true(r.status.charged <= 30 * BATS_UNIT);
}

/* The others take a minute. It fills jobs of 1, 4 and 16 hours before it has one
 * that is long enough, and none of the two longer ones tells against it. */
static void a_task_that_is_much_longer_than_a_window_is_done(void **state)
{
    (void)state;
    struct run r = prepare(20, 2, BATS_UNLIMITED);
    r.o.sched.billing.step = BATS_MINUTE;
    for (uint32_t i = 1; i < 20; i++)
        r.work[i] = BATS_MINUTE;
    r.work[0] = 17 * BATS_HOUR;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.status.done, 20);
    assert_in_range(r.longest, 17 * BATS_HOUR, 64 * BATS_HOUR);
}

/* ---- jobs of an earlier session ---- */

static struct bats_sched *begin(struct run *r, const bats_time *asked,
                                int code)
{
    struct bats_sched *s = NULL;
    struct bats_error err;
    r->o.sched.clusters = r->clusters;
    r->o.sched.machines = r->machines;
    r->o.sched.earlier.asked = asked;
    assert_int_equal(bats_sched_create(&r->o.sched, &s, &err), code);
    return s;
}

/* Returns how many commands of a type answer the event. */
static uint32_t answers(struct bats_sched *s, struct bats_event event,
                        enum bats_command_type type)
{
    struct bats_error err;
    struct bats_command c;
    uint32_t n = 0;
    if (bats_sched_handle(s, 0, &event, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_check(s);
    while (bats_sched_next(s, &c))
        n += c.type == type;
    return n;
}

/* 7 pay two jobs. One is there: another one is asked for, and a third when the
 * first was billed 1. */
static void the_price_of_a_job_taken_over_is_held_from_the_start(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 7 * BATS_UNIT);
    struct bats_sched *s = begin(&r, (bats_time[MACHINES]){[2] = BATS_HOUR}, 0);
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    struct bats_event bill = {
        .type = BATS_EVENT_BILLED, .machine = 2, .amount = BATS_UNIT};
    assert_int_equal(answers(s, tick, BATS_COMMAND_ACQUIRE), 1);
    assert_int_equal(answers(s, bill, BATS_COMMAND_ACQUIRE), 1);
    bats_sched_destroy(s);
}

static void a_job_taken_over_works_like_any_other(void **state)
{
    (void)state;
    struct run r = prepare(20, 1, 7 * BATS_UNIT);
    struct bats_sched *s = begin(&r, (bats_time[1]){BATS_HOUR}, 0);
    struct bats_event join = {.type = BATS_EVENT_JOINED};
    struct bats_event again = {.type = BATS_EVENT_BILLED,
                               .amount = 3 * BATS_UNIT};
    assert_int_equal(answers(s, join, BATS_COMMAND_RUN), 1);
    assert_int_equal(answers(s, again, BATS_COMMAND_ACQUIRE), 1);
    bats_sched_destroy(s);
}

/* Two jobs wait for one task. The first that begins takes it, and the other one
 * is withdrawn, but begins before it hears of that. */
static void a_job_that_begins_as_it_is_withdrawn_does_nothing(void **state)
{
    (void)state;
    struct run r = prepare(1, 2, BATS_UNLIMITED);
    struct bats_sched *s =
        begin(&r, (bats_time[2]){BATS_HOUR, BATS_HOUR}, 0);
    struct bats_event first = {.type = BATS_EVENT_JOINED};
    struct bats_event join = {.type = BATS_EVENT_JOINED, .machine = 1};
    struct bats_event lost = {.type = BATS_EVENT_LOST, .machine = 1};
    struct bats_event bill = {.type = BATS_EVENT_BILLED,
                              .machine = 1,
                              .amount = BATS_UNIT / 100};
    struct bats_command c;
    struct bats_error err;
    assert_int_equal(answers(s, first, BATS_COMMAND_PARK), 1);
    assert_int_equal(bats_sched_handle(s, 0, &join, &err), 0);
    assert_false(bats_sched_next(s, &c));
    assert_int_equal(answers(s, lost, BATS_COMMAND_ACQUIRE), 0);
    assert_int_equal(answers(s, bill, BATS_NOTICE_CHARGE), 1);
    assert_int_equal(bats_sched_handle(s, 0, &first, &err), BATS_ESTATE);
    bats_sched_destroy(s);
}

static void jobs_are_not_taken_over_beyond_the_budget(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 5 * BATS_UNIT);
    static const bats_time two[MACHINES] = {BATS_HOUR, BATS_HOUR};
    begin(&r, two, BATS_EBUDGET);
    r.clusters[0].max = 1;
    r.o.sched.budget = BATS_UNLIMITED;
    begin(&r, two, BATS_EINPUT);
}

/* Half an hour is 1.5: of 7.5, 6 are left, which pay two of an hour. */
static void a_job_taken_over_holds_what_it_was_asked_for(void **state)
{
    (void)state;
    struct run r = prepare(20, MACHINES, 15 * BATS_UNIT / 2);
    struct bats_sched *s =
        begin(&r, (bats_time[MACHINES]){BATS_HOUR / 2}, 0);
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    assert_int_equal(answers(s, tick, BATS_COMMAND_ACQUIRE), 2);
    bats_sched_destroy(s);
}

/* A generator of numbers that the test does not share with the simulator. */
static uint32_t next(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*x >> 33);
}

/* The policy expert, some of whose machines lose executions without a word. */
static void be_unreliable(struct run *r, struct bats_reliability *loses,
                          uint64_t *seed)
{
    static const char *const names[] = {
        "AR",    "TRR",   "TR",
        "AUR",   "CNinf", "CN1T0", "N=2,T=0x,D=2x,Mr=0.5",
        "N=1,T=1x,D=2x", "N=inf,T=1x,D=2x"};
    assert_int_equal(bats_strategy_parse(names[next(seed) % 9],
                                         &r->o.sched.strategy, NULL),
                     0);
    if (next(seed) % 8 == 0)
        r->o.sched.utility = "product";
    r->o.sched.policy = &bats_policy_expert;
    r->clusters[0].unreliable = true;
    if (next(seed) % 2 == 0) {
        *loses = (struct bats_reliability){.n_steps = 1, .share = {0.7}};
        r->clusters[0].noticed =
            next(seed) % 2 * (1 + next(seed) % 60) * BATS_MINUTE;
    }
    r->o.reliability = loses;
}

static void random_run(uint64_t seed, bool is_expert)
{
    struct bats_reliability loses[2] = {{.n_steps = 0}};
    uint32_t n = 2 + next(&seed) % (MACHINES - 1);
    struct run r = prepare(1 + next(&seed) % TASKS, n,
                           (1 + next(&seed) % 200) * BATS_UNIT);
    r.o.sched.seed = next(&seed);
    r.o.noise_seed = next(&seed);
    if (next(&seed) % 4 == 0)
        r.o.sched.policy = &bats_policy_rr;
    r.o.sched.n_clusters = 2;
    r.clusters[1].charge = (1 + next(&seed) % 9) * BATS_UNIT;
    r.speed[1] = 0.5 + next(&seed) % 100 / 20.0;
    for (uint32_t i = 0; i < n; i++)
        r.machines[i] = (struct bats_machine_spec){i % 2, 1 + next(&seed) % 3};
    for (uint32_t i = 0; i < r.o.sched.n_tasks; i++)
        r.work[i] = (1 + next(&seed) % 120) * BATS_MINUTE;
    for (int i = 0; i < 2; i++) {
        r.queue[i] = next(&seed) % 90 * BATS_MINUTE;
        r.startup[i] = next(&seed) % 3 * BATS_MINUTE;
    }
    r.o.sched.billing.overrun = 3 * BATS_MINUTE;
    r.o.sched.billing.jobs = next(&seed) % 5;
    r.o.sched.preempt_lead = next(&seed) % 2 * BATS_MINUTE;
    r.o.sched.tail = next(&seed) % 2 ? BATS_TAIL_DEFAULT : BATS_TAIL_NONE;
    bats_time at = 0;
    r.o.n_losses = next(&seed) % MACHINES;
    for (size_t i = 0; i < r.o.n_losses; i++)
        r.losses[i] = (struct bats_sim_loss){
            at += next(&seed) % 100 * BATS_MINUTE, next(&seed) % n};
    if (is_expert)
        be_unreliable(&r, loses, &seed);
    r.o.sched.billing.step = next(&seed) % 4 * 7 * BATS_MINUTE;
    if (next(&seed) % 2 == 0)
        r.o.sched.billing.longest = BATS_HOUR + next(&seed) % 3 * BATS_HOUR;
    play(&r);
    assert_true(r.status.charged <= r.o.sched.budget);
    assert_true(r.o.sched.billing.longest == 0 ||
                r.longest <= r.o.sched.billing.longest);
    assert_true(r.status.finish == BATS_FINISH_ALL_DONE ||
                r.status.finish == BATS_FINISH_BUDGET);
}

static void random_runs_never_cost_more_than_the_budget(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        random_run(seed, false);
}

static void nor_do_those_of_strategies(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        random_run(seed, true);
}

/* ---- jobs that may not answer ---- */

/* One in each pool, and a safe one only for the tail. */
static struct run prepare_pools(uint32_t n_tasks, const char *strategy)
{
    struct run r = prepare(n_tasks, 4, BATS_UNLIMITED);
    r.o.sched.policy = &bats_policy_expert;
    r.o.sched.n_clusters = 2;
    r.clusters[0].unreliable = true;
    r.clusters[0].max = r.clusters[1].max = 2;
    for (uint32_t i = 0; i < 4; i++)
        r.machines[i].cluster = i / 2;
    assert_int_equal(bats_strategy_parse(strategy, &r.o.sched.strategy, NULL),
                     0);
    return r;
}

static void safe_jobs_are_not_asked_for_before_they_are_needed(void **state)
{
    (void)state;
    struct run r = prepare_pools(6, "TR");
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.used[0].done, 6);
    assert_int_equal(r.used[1].machines_used, 0);
}

/* N = 0, T = 0: when one task is left, it goes to the safe pool at once, whose
 * job is given back when the other one has answered. */
static void a_safe_job_is_asked_for_when_the_tail_needs_it(void **state)
{
    (void)state;
    struct run r = prepare_pools(3, "TRR");
    r.work[0] = r.work[1] = r.work[2] = TASK;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.used[1].machines_used, 1);
    assert_int_equal(r.makespan, 2 * TASK);
}

/* Nothing answers in the unreliable pool: D, and then a safe job. */
static void what_does_not_answer_is_done_by_a_safe_job(void **state)
{
    (void)state;
    struct bats_reliability loses[2] = {{.n_steps = 1, .share = {1e-9}}};
    bats_time expected[2] = {TASK, TASK};
    struct run r = prepare_pools(1, "N=0,T=1x,D=2x");
    r.o.sched.expected = expected;
    r.o.reliability = loses;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(r.used[1].done, 1);
    assert_int_equal(r.makespan, 2 * TASK);
}

/* The time limits of jobs as well as their losses: no task fails for that. */
static void jobs_that_are_lost_are_asked_for_again(void **state)
{
    (void)state;
    struct run r = prepare_pools(1, "AUR");
    r.clusters[0].max = 1;
    r.o.n_losses = 8;
    for (uint32_t i = 0; i < r.o.n_losses; i++)
        r.losses[i] = (struct bats_sim_loss){(i + 1) * BATS_MINUTE, i % 2};
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_ALL_DONE);
    assert_true(r.asked > 4);
    assert_int_equal(r.used[0].done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_jobs_were_billed_is_charged),
        cmocka_unit_test(a_job_that_is_still_needed_is_followed_by_another),
        cmocka_unit_test(the_next_job_is_asked_for_as_early_as_jobs_wait),
        cmocka_unit_test(money_is_held_for_jobs_that_wait),
        cmocka_unit_test(what_the_site_may_bill_beyond_the_window_is_held_too),
        cmocka_unit_test(no_more_jobs_are_asked_for_than_tasks_wait),
        cmocka_unit_test(no_more_jobs_are_asked_for_than_are_allowed),
        cmocka_unit_test(jobs_that_nobody_needs_any_more_are_withdrawn),
        cmocka_unit_test(a_job_that_is_lost_is_replaced),
        cmocka_unit_test(the_job_of_the_run_itself_counts),
        cmocka_unit_test(the_job_of_the_run_is_paid_to_the_end_of_the_others),
        cmocka_unit_test(what_was_billed_before_is_charged),
        cmocka_unit_test(a_task_that_is_longer_than_a_job_fails_in_the_end),
        cmocka_unit_test(so_does_one_that_has_time_to_stop),
        cmocka_unit_test(copies_in_the_same_job_do_not_count),
        cmocka_unit_test(a_run_that_waits_in_vain_ends_with_its_money),
        cmocka_unit_test(the_last_job_is_as_short_as_the_rest_of_the_bag),
        cmocka_unit_test(where_tasks_are_long_jobs_become_longer),
        cmocka_unit_test(no_job_is_longer_than_is_allowed),
        cmocka_unit_test(longer_jobs_leave_the_others_their_money),
        cmocka_unit_test(a_task_that_is_much_longer_than_a_window_is_done),
        cmocka_unit_test(the_price_of_a_job_taken_over_is_held_from_the_start),
        cmocka_unit_test(a_job_taken_over_works_like_any_other),
        cmocka_unit_test(a_job_that_begins_as_it_is_withdrawn_does_nothing),
        cmocka_unit_test(jobs_are_not_taken_over_beyond_the_budget),
        cmocka_unit_test(a_job_taken_over_holds_what_it_was_asked_for),
        cmocka_unit_test(random_runs_never_cost_more_than_the_budget),
        cmocka_unit_test(nor_do_those_of_strategies),
        cmocka_unit_test(safe_jobs_are_not_asked_for_before_they_are_needed),
        cmocka_unit_test(a_safe_job_is_asked_for_when_the_tail_needs_it),
        cmocka_unit_test(what_does_not_answer_is_done_by_a_safe_job),
        cmocka_unit_test(jobs_that_are_lost_are_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
