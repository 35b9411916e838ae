/*
 * Machines that are billed by the second, and reclaimed: by hand. The simulator
 * plays them. Random ones, with all that holds of each event and command, are in
 * test_sched_property.c.
 */
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/test.h"
#include "sim/sim.h"

#define CLUSTERS 3
#define MACHINES 12
#define TASKS 40

struct world {
    struct bats_cluster clusters[CLUSTERS];
    struct bats_machine_spec machines[MACHINES];
    double speed[CLUSTERS];
    bats_time work[TASKS];
    struct bats_sim_options o;
    /* Set by the run: */
    struct bats_sched_status status;
    bats_time makespan;
    uint32_t notices, losses, acquired;
};

static void on_event(void *context, bats_time now, const struct bats_event *ev)
{
    struct world *w = context;
    w->notices += ev->type == BATS_EVENT_NOTICE;
    w->losses += ev->type == BATS_EVENT_LOST;
}

static void on_command(void *context, bats_time now,
                       const struct bats_command *c)
{
    struct world *w = context;
    w->acquired += c->type == BATS_COMMAND_ACQUIRE;
}

static void check(void *context, const struct bats_sched *s)
{
    check_sched(s);
}

static void play(struct world *w)
{
    struct bats_sched *s;
    w->o.sched.clusters = w->clusters;
    w->o.sched.machines = w->machines;
    w->o.work = w->work;
    w->o.speed = w->speed;
    w->o.watch.after = check;
    w->o.watch.on_event = on_event;
    w->o.watch.on_command = on_command;
    w->o.watch.context = w;
    assert_ok(bats_sim_run(&w->o, &s, &w->makespan, &err));
    bats_sched_status(s, &w->status);
    bats_sched_destroy(s);
}

/* One machine at 1 an hour, tasks of 20 minutes, windows of an hour. */
static struct world prepare(uint32_t n_tasks, uint32_t n_machines)
{
    struct world w = {.clusters = {{.max = n_machines,
                                    .tariff = {.per = BATS_HOUR,
                                               .n_steps = 1,
                                               .step = {{0, BATS_UNIT}}}}},
                      .speed = {1, 1, 1},
                      .o.sched = {.policy = &bats_policy_rr,
                                  .billing.model = BATS_BILLING_SECOND,
                                  .n_tasks = n_tasks,
                                  .n_clusters = 1,
                                  .n_machines = n_machines,
                                  .window = BATS_HOUR,
                                  .budget = BATS_UNLIMITED,
                                  .seed = 7}};
    for (uint32_t i = 0; i < n_machines; i++)
        w.machines[i].slots = 1;
    for (uint32_t i = 0; i < n_tasks; i++)
        w.work[i] = 20 * BATS_MINUTE;
    return w;
}

static void take_at(struct world *w, size_t cluster, bats_time age)
{
    w->clusters[cluster].reclaimable = true;
    w->clusters[cluster].notice = 2 * BATS_MINUTE;
    w->clusters[cluster].lifetime =
        (struct bats_lifetime){.survival = BATS_SURVIVAL_EXPONENTIAL,
                               .a = 1,
                               .share = 1,
                               .guaranteed = age};
}

/* 80 minutes, of which the last 40 of a window are not paid. */
TEST(a_machine_with_nothing_to_do_is_given_back_at_once)
{
    struct world w = prepare(4, 1);
    play(&w);
    assert_int_equal(w.makespan, 80 * BATS_MINUTE);
    assert_int_equal(w.status.charged, (80 * BATS_UNIT + 59) / 60);
}

/* Two machines; both are taken at 70 minutes, after three tasks each. */
TEST(what_is_reclaimed_is_charged_until_then)
{
    struct world w = prepare(8, 2);
    take_at(&w, 0, 70 * BATS_MINUTE);
    play(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_NO_MACHINES);
    assert_int_equal(w.status.done, 6);
    assert_int_equal(w.notices, 2);
    /* The task that will not make it is told to stop at the notice; with
     * nothing more to do there, the machine is given back. */
    assert_in_range(w.status.charged, 2 * 68 * BATS_UNIT / 60,
                    2 * 70 * BATS_UNIT / 60 + 2);
}

/* The same at 50 minutes, in an hour that is free then: it stays to the end. */
TEST(an_hour_in_which_it_is_reclaimed_is_free)
{
    struct world w = prepare(8, 2);
    w.clusters[0].tariff.free = BATS_HOUR;
    take_at(&w, 0, 50 * BATS_MINUTE);
    play(&w);
    assert_int_equal(w.status.done, 4);
    assert_int_equal(w.status.charged, 0);
}

/* Half a budget's worth of machines could be had if the first hour counted as
 * free; but it may turn out not to be. */
TEST(what_may_be_free_is_held_all_the_same)
{
    struct world w = prepare(12, 4);
    w.clusters[0].tariff.free = BATS_HOUR;
    w.clusters[0].reclaimable = true;
    w.o.sched.budget = 2 * BATS_UNIT;
    play(&w);
    assert_int_equal(w.acquired, 2);
    assert_int_equal(w.status.charged, 2 * BATS_UNIT);
    assert_int_equal(w.status.done, 6);
}

/* A task of 20 minutes, told after 8, saves its state and goes on on the
 * machine on demand, 10 s later; nobody acquires a third one of the first
 * kind. */
TEST(a_task_migrates_with_its_state)
{
    struct world w = prepare(1, 3);
    w.o.sched.n_clusters = 2;
    w.clusters[1] = w.clusters[0];
    w.clusters[1].max = 1;
    w.clusters[0].max = 2;
    w.machines[2].cluster = 1;
    take_at(&w, 0, 10 * BATS_MINUTE);
    w.o.sched.n_tasks = 2;
    w.work[1] = 30 * BATS_MINUTE;
    w.work[0] = 30 * BATS_MINUTE;
    w.clusters[0].max = 2;
    w.o.saves = true;
    w.o.migration = 10 * BATS_SECOND;
    bats_time expected[2] = {30 * BATS_MINUTE, 30 * BATS_MINUTE};
    w.o.sched.expected = expected;
    play(&w);
    assert_int_equal(w.status.done, 2);
    assert_int_equal(w.losses, 0); /* given back before: nothing ran there */
    /* Both migrate to the one machine, one after the other. */
    assert_int_equal(w.makespan,
                     (8 + 22 + 22) * BATS_MINUTE + 20 * BATS_SECOND);
}

/* A block of 1 to 2 hours ends with its length, and is bought anew. */
TEST(a_block_does_not_last_longer_than_it_was_bought_for)
{
    struct world w = prepare(9, 1);
    w.clusters[0].tariff.shortest = w.clusters[0].tariff.longest = BATS_HOUR;
    w.clusters[0].tariff.charge_longest = BATS_UNIT;
    play(&w);
    assert_int_equal(w.status.done, 9);
    assert_int_equal(w.acquired, 3);
    assert_int_equal(w.status.charged, 3 * BATS_UNIT);
}

/* Tells an event: does a command of this type come of it? */
static bool answers(struct bats_sched *s, bats_time now,
                    const struct bats_event *event,
                    enum bats_command_type type)
{
    struct bats_command c;
    bool found = false;
    assert_ok(bats_sched_handle(s, now, event, &err));
    check_sched(s);
    while (bats_sched_next(s, &c))
        found |= c.type == type;
    return found;
}

/* A machine is to go in 10 minutes; a minute later somebody says in 30. */
TEST(the_earliest_notice_counts)
{
    struct world w = prepare(4, 1);
    struct bats_sched *s;
    w.o.sched.clusters = w.clusters;
    w.o.sched.machines = w.machines;
    w.clusters[0].reclaimable = true;
    assert_ok(bats_sched_create(&w.o.sched, &s, &err));
    const struct bats_event joined = {.type = BATS_EVENT_JOINED},
                            tick = {.type = BATS_EVENT_TICK},
                            soon = {.type = BATS_EVENT_NOTICE,
                                    .runtime = 10 * BATS_MINUTE},
                            later = {.type = BATS_EVENT_NOTICE,
                                     .runtime = 30 * BATS_MINUTE};
    assert_true(answers(s, 0, &joined, BATS_COMMAND_RUN));
    answers(s, BATS_MINUTE, &soon, BATS_COMMAND_CANCEL);
    answers(s, 2 * BATS_MINUTE, &later, BATS_COMMAND_CANCEL);
    assert_true(answers(s, 11 * BATS_MINUTE, &tick, BATS_COMMAND_CANCEL));
    bats_sched_destroy(s);
}

TEST_MAIN(NULL, NULL)
