/* Machines that are billed by the second, and reclaimed. The simulator plays
 * them; in random runs the money is added up from the commands alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bats/policy.h"
#include "sim/sim.h"

#define MACHINES 12
#define TASKS 40
#define EDGES 60

struct run {
    struct bats_cluster clusters[3];
    struct bats_machine_spec machines[MACHINES];
    double speed[3];
    bats_time work[TASKS];
    struct bats_sim_options o;
    struct bats_sched_status status;
    bats_time makespan, now;
    /* by machine: held since then, or -1; and whether it was taken. */
    bats_time since[MACHINES], noticed[MACHINES];
    bats_money low, high, booked; /* owed, at the prices of a block's ends */
    uint32_t notices, losses, acquired, begun_late, n_open, results[TASKS];
    bool finished;
    struct bats_graph graph; /* n_nodes = 0: nobody waits */
};

static const struct bats_cluster *cluster_of(const struct run *r, uint32_t m)
{
    return &r->clusters[r->machines[m].cluster];
}

static void settle(struct run *r, uint32_t m, enum bats_end end)
{
    struct bats_tariff t = cluster_of(r, m)->tariff;
    if (r->since[m] < 0)
        return;
    bats_time age = r->now - r->since[m];
    r->low += bats_tariff_cost(&t, t.shortest, 0, age, end);
    r->high += bats_tariff_cost(&t, t.longest, 0, age, end);
    r->since[m] = -1;
}

static void on_event(void *context, bats_time now, const struct bats_event *ev)
{
    struct run *r = context;
    r->now = now;
    if (ev->type == BATS_EVENT_NOTICE) {
        r->notices++;
        r->noticed[ev->machine] = now + ev->runtime;
        r->n_open++;
    } else if (ev->type == BATS_EVENT_LOST) {
        r->losses++;
        r->n_open -= r->noticed[ev->machine] >= 0;
        r->noticed[ev->machine] = -1;
        if (!r->finished)
            settle(r, ev->machine, BATS_END_RECLAIMED);
    } else if (ev->type == BATS_EVENT_DONE) {
        r->results[ev->task]++;
    }
}

static void on_command(void *context, bats_time now,
                       const struct bats_command *c)
{
    struct run *r = context;
    r->now = now;
    switch (c->type) {
    case BATS_COMMAND_ACQUIRE:
        assert_true(r->since[c->machine] < 0);
        r->since[c->machine] = now;
        r->acquired++;
        /* Nothing new of that kind while one is about to go. */
        assert_false(r->n_open > 0 && cluster_of(r, c->machine)->reclaimable);
        break;
    case BATS_COMMAND_RUN:
        r->begun_late += r->noticed[c->machine] >= 0;
        assert_int_equal(r->results[c->task], 0);
        for (uint32_t p = 0; p < r->graph.n_nodes; p++)
            for (uint64_t k = r->graph.first[p]; k < r->graph.first[p + 1]; k++)
                if (r->graph.child[k] == c->task)
                    assert_int_equal(r->results[p], 1);
        break;
    case BATS_COMMAND_PARK:
    case BATS_COMMAND_RELEASE:
        settle(r, c->machine,
               r->noticed[c->machine] >= 0 && now >= r->noticed[c->machine]
                   ? BATS_END_RECLAIMED
                   : BATS_END_USER);
        r->n_open -= r->noticed[c->machine] >= 0;
        r->noticed[c->machine] = -1;
        break;
    case BATS_NOTICE_CHARGE:
        assert_true(c->amount > 0);
        r->booked += c->amount;
        break;
    case BATS_NOTICE_FINISHED:
        r->finished = true;
        break;
    default:
        break;
    }
}

static void check(void *context, const struct bats_sched *s)
{
    struct bats_sched_status st;
    (void)context;
    bats_sched_check(s);
    bats_sched_status(s, &st);
    assert_true(st.charged <= st.budget);
}

static void play(struct run *r)
{
    struct bats_sched *s;
    struct bats_error err;
    for (uint32_t m = 0; m < MACHINES; m++)
        r->since[m] = r->noticed[m] = -1;
    r->o.sched.clusters = r->clusters;
    r->o.sched.machines = r->machines;
    r->o.sched.billing.model = BATS_BILLING_SECOND;
    r->o.work = r->work;
    r->o.speed = r->speed;
    r->o.after = check;
    r->o.on_event = on_event;
    r->o.on_command = on_command;
    r->o.context = r;
    if (bats_sim_run(&r->o, &s, &r->makespan, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_status(s, &r->status);
    bats_sched_destroy(s);
    assert_int_equal(r->booked, r->status.charged);
    assert_true(r->low <= r->status.charged && r->status.charged <= r->high);
}

/* ---- by hand ---- */

/* One machine at 1 an hour, tasks of 20 minutes, windows of an hour. */
static struct run prepare(uint32_t n_tasks, uint32_t n_machines)
{
    struct run r = {
        .clusters = {{.max = n_machines,
                      .tariff = {.per = BATS_HOUR,
                                 .n_steps = 1,
                                 .step = {{0, BATS_UNIT}}}}},
        .speed = {1, 1, 1},
        .o.sched = {.policy = &bats_policy_rr,
                    .n_tasks = n_tasks,
                    .n_clusters = 1,
                    .n_machines = n_machines,
                    .window = BATS_HOUR,
                    .budget = BATS_UNLIMITED,
                    .seed = 7}};
    for (uint32_t i = 0; i < n_machines; i++)
        r.machines[i].slots = 1;
    for (uint32_t i = 0; i < n_tasks; i++)
        r.work[i] = 20 * BATS_MINUTE;
    return r;
}

static void take_at(struct run *r, size_t cluster, bats_time age)
{
    r->clusters[cluster].reclaimable = true;
    r->clusters[cluster].notice = 2 * BATS_MINUTE;
    r->clusters[cluster].lifetime =
        (struct bats_lifetime){.survival = BATS_SURVIVAL_EXPONENTIAL,
                               .a = 1,
                               .share = 1,
                               .guaranteed = age};
}

/* 80 minutes, of which the last 40 of a window are not paid. */
static void a_machine_with_nothing_to_do_is_given_back_at_once(void **state)
{
    (void)state;
    struct run r = prepare(4, 1);
    play(&r);
    assert_int_equal(r.makespan, 80 * BATS_MINUTE);
    assert_int_equal(r.status.charged, (80 * BATS_UNIT + 59) / 60);
}

/* Two machines; both are taken at 70 minutes, after three tasks each. */
static void what_is_reclaimed_is_charged_until_then(void **state)
{
    (void)state;
    struct run r = prepare(8, 2);
    take_at(&r, 0, 70 * BATS_MINUTE);
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_NO_MACHINES);
    assert_int_equal(r.status.done, 6);
    assert_int_equal(r.notices, 2);
    /* The task that will not make it is told to stop at the notice; with
     * nothing more to do there, the machine is given back. */
    assert_in_range(r.status.charged, 2 * 68 * BATS_UNIT / 60,
                    2 * 70 * BATS_UNIT / 60 + 2);
}

/* The same at 50 minutes, in an hour that is free then: it stays to the end. */
static void an_hour_in_which_it_is_reclaimed_is_free(void **state)
{
    (void)state;
    struct run r = prepare(8, 2);
    r.clusters[0].tariff.free = BATS_HOUR;
    take_at(&r, 0, 50 * BATS_MINUTE);
    play(&r);
    assert_int_equal(r.status.done, 4);
    assert_int_equal(r.status.charged, 0);
}

/* Half a budget's worth of machines could be had if the first hour counted as
 * free; but it may turn out not to be. */
static void what_may_be_free_is_held_all_the_same(void **state)
{
    (void)state;
    struct run r = prepare(12, 4);
    r.clusters[0].tariff.free = BATS_HOUR;
    r.clusters[0].reclaimable = true;
    r.o.sched.budget = 2 * BATS_UNIT;
    play(&r);
    assert_int_equal(r.acquired, 2);
    assert_int_equal(r.status.charged, 2 * BATS_UNIT);
    assert_int_equal(r.status.done, 6);
}

/* A task of 20 minutes, told after 8, saves its state and goes on on the machine
 * on demand, 10 s later; nobody acquires a third one of the first kind. */
static void a_task_migrates_with_its_state(void **state)
{
    (void)state;
    struct run r = prepare(1, 3);
    r.o.sched.n_clusters = 2;
    r.clusters[1] = r.clusters[0];
    r.clusters[1].max = 1;
    r.clusters[0].max = 2;
    r.machines[2].cluster = 1;
    take_at(&r, 0, 10 * BATS_MINUTE);
    r.o.sched.n_tasks = 2;
    r.work[1] = 30 * BATS_MINUTE;
    r.work[0] = 30 * BATS_MINUTE;
    r.clusters[0].max = 2;
    r.o.saves = true;
    r.o.migration = 10 * BATS_SECOND;
    bats_time expected[2] = {30 * BATS_MINUTE, 30 * BATS_MINUTE};
    r.o.sched.expected = expected;
    play(&r);
    assert_int_equal(r.status.done, 2);
    assert_int_equal(r.losses, 0); /* given back before: nothing ran there */
    assert_int_equal(r.begun_late, 0);
    /* Both migrate to the one machine, one after the other. */
    assert_int_equal(r.makespan, (8 + 22 + 22) * BATS_MINUTE +
                                     20 * BATS_SECOND);
}

/* A block of 1 to 2 hours ends with its length, and is bought anew. */
static void a_block_does_not_last_longer_than_it_was_bought_for(void **state)
{
    (void)state;
    struct run r = prepare(9, 1);
    r.clusters[0].tariff.shortest = r.clusters[0].tariff.longest = BATS_HOUR;
    r.clusters[0].tariff.charge_longest = BATS_UNIT;
    play(&r);
    assert_int_equal(r.status.done, 9);
    assert_int_equal(r.acquired, 3);
    assert_int_equal(r.status.charged, 3 * BATS_UNIT);
}

/* ---- at random ---- */

static uint64_t at(uint64_t *x, uint64_t n)
{
    *x += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *x;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

static void draw_tariff(struct bats_tariff *t, uint64_t *x)
{
    *t = (struct bats_tariff){.per = BATS_HOUR, .n_steps = 1};
    t->step[0].charge = (bats_money)at(x, 3 * BATS_UNIT);
    if (at(x, 3) == 0) {
        t->n_steps = 2;
        t->step[1].from = (bats_time)(1 + at(x, 3 * BATS_HOUR));
        t->step[1].charge = (bats_money)at(x, 3 * BATS_UNIT);
    }
}

static void draw_cluster(struct bats_cluster *c, uint32_t max, uint64_t *x)
{
    *c = (struct bats_cluster){.max = max};
    draw_tariff(&c->tariff, x);
    if (at(x, 4) == 0) {
        c->tariff.n_steps = 1;
        c->tariff.shortest = (bats_time)(1 + at(x, BATS_HOUR));
        c->tariff.longest =
            c->tariff.shortest + (bats_time)at(x, 4 * BATS_HOUR);
        c->tariff.charge_longest =
            c->tariff.step[0].charge + (bats_money)at(x, BATS_UNIT);
    } else if (at(x, 3) > 0) {
        c->reclaimable = true;
        c->notice = (bats_time)at(x, 10 * BATS_MINUTE);
        c->tariff.free = (bats_time)at(x, 2) * (bats_time)at(x, 2 * BATS_HOUR);
        c->lifetime = (struct bats_lifetime){
            .survival = BATS_SURVIVAL_LOGNORMAL,
            .a = (double)(1 + at(x, 4 * BATS_HOUR)),
            .b = 1.39,
            .share = at(x, 2) ? .34 : 1,
            .guaranteed = (bats_time)(at(x, 3) == 0 ? at(x, BATS_HOUR) : 0)};
    }
}

/* Each edge leads to a later task. */
static void add_graph(struct run *r, uint64_t *x)
{
    struct bats_edge edges[EDGES];
    struct bats_error err;
    uint32_t n = r->o.sched.n_tasks, n_edges = 0;
    for (uint32_t i = 0; n > 1 && i < EDGES; i++) {
        uint32_t child = 1 + (uint32_t)at(x, n - 1);
        edges[n_edges++] = (struct bats_edge){(uint32_t)at(x, child), child};
    }
    assert_int_equal(
        bats_graph_init(&r->graph, n, n, edges, n_edges, &err), 0);
    r->o.sched.graph = &r->graph;
}

static void draw(struct run *r, uint64_t *x)
{
    static const struct bats_policy *const policies[] = {
        &bats_policy_bats, &bats_policy_rr, &bats_policy_bkp};
    memset(r, 0, sizeof *r);
    uint32_t n_clusters = 1 + (uint32_t)at(x, 3);
    uint32_t n = n_clusters + (uint32_t)at(x, MACHINES - n_clusters + 1);
    r->o.sched = (struct bats_sched_options){
        .policy = policies[at(x, 3)],
        .n_tasks = 1 + (uint32_t)at(x, TASKS),
        .n_clusters = n_clusters,
        .n_machines = n,
        .window = BATS_MINUTE + (bats_time)at(x, 2 * BATS_HOUR),
        .budget = at(x, 4) ? (bats_money)at(x, 30 * BATS_UNIT)
                           : BATS_UNLIMITED,
        .seed = at(x, 1000)};
    r->o.sched.preempt_lead =
        at(x, 2) ? (bats_time)at(x, (uint64_t)r->o.sched.window / 2) : 0;
    uint32_t of[3] = {0};
    for (uint32_t m = 0; m < n; m++) {
        r->machines[m].cluster = m < n_clusters ? m
                                                : (uint32_t)at(x, n_clusters);
        r->machines[m].slots = 1 + (uint32_t)at(x, 3);
        of[r->machines[m].cluster]++;
    }
    for (uint32_t i = 0; i < n_clusters; i++) {
        draw_cluster(&r->clusters[i], 1 + (uint32_t)at(x, of[i]), x);
        r->speed[i] = 0.5 + (double)at(x, 4);
    }
    for (uint32_t i = 0; i < r->o.sched.n_tasks; i++)
        r->work[i] = (bats_time)(1 + at(x, BATS_HOUR));
    r->o.saves = at(x, 2);
    r->o.migration = 10 * BATS_SECOND;
    r->o.noise_seed = at(x, UINT32_MAX);
}

/* check() has looked at it after every event. Every second bag is a graph. */
static void no_budget_is_exceeded_whatever_is_reclaimed(void **state)
{
    (void)state;
    const char *runs = getenv("BATS_RECLAIMS");
    uint32_t n = runs ? (uint32_t)atol(runs) : 3000, notices = 0, losses = 0;
    uint64_t done = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct run r;
        uint64_t x = i;
        draw(&r, &x);
        if (i % 2 == 1)
            add_graph(&r, &x);
        play(&r);
        bats_graph_release(&r.graph);
        assert_true(r.status.charged <= r.o.sched.budget);
        for (uint32_t t = 0; t < r.o.sched.n_tasks; t++)
            assert_true(r.results[t] <= 1);
        notices += r.notices;
        losses += r.losses;
        done += r.status.done;
        if (r.o.sched.budget == BATS_UNLIMITED &&
            r.o.sched.policy != &bats_policy_bkp &&
            r.status.finish != BATS_FINISH_NO_MACHINES)
            assert_int_equal(r.status.done + r.status.failed +
                                 r.status.skipped,
                             r.o.sched.n_tasks);
    }
    assert_true(notices > n / 4 && losses > n / 8 && done > 2 * n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_with_nothing_to_do_is_given_back_at_once),
        cmocka_unit_test(what_is_reclaimed_is_charged_until_then),
        cmocka_unit_test(an_hour_in_which_it_is_reclaimed_is_free),
        cmocka_unit_test(what_may_be_free_is_held_all_the_same),
        cmocka_unit_test(a_task_migrates_with_its_state),
        cmocka_unit_test(a_block_does_not_last_longer_than_it_was_bought_for),
        cmocka_unit_test(no_budget_is_exceeded_whatever_is_reclaimed)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
