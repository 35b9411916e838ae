/*
 * Random workflows on machines that may be reclaimed, by the simulator. What is
 * asserted is added up from events and commands alone: what is charged is within
 * the budget at every instant, no task begins before its parents are done, on a
 * machine that is gone or that is not held, and each is done once. 2,000 histories, or
 * as many as the environment says:
 *
 *     GRAPH_HISTORIES=200000 build/tests/test_graph_reclaims
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/policy.h"
#include "sim/sim.h"

#define HISTORIES 2000
#define CLUSTERS 3
#define MACHINES 8
#define TASKS 30
#define JOINTS 3
#define EDGES 80

static const struct bats_policy *const policies[] = {
    &bats_policy_flow,     &bats_policy_miser,    &bats_policy_mw_dbs,
    &bats_policy_dbc_time, &bats_policy_dbc_cost, &bats_policy_bats,
    &bats_policy_bkp,      &bats_policy_rr};
#define PLACING 3 /* the first ones, only where use is charged */

static gsl_rng *rng;

static struct {
    struct bats_cluster clusters[CLUSTERS];
    struct bats_machine_spec machines[MACHINES];
    double speed[CLUSTERS];
    bats_time work[TASKS], told[TASKS];
    uint16_t category[TASKS];
    struct bats_graph graph;
    struct bats_sim_options o;
    bats_money booked;
    bool held[MACHINES], lost[MACHINES], finished;
    uint32_t done[TASKS];
} world;

/* Of all histories. */
static struct {
    uint64_t done, notices, losses, all_done, out_of_money, tasks;
} seen;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(rng, n);
}

static bool chance(double p)
{
    return gsl_rng_uniform(rng) < p;
}

/* ---- what is asserted ---- */

/* The node is over: done, or a joint of nodes that are. */
static bool is_over(uint32_t node)
{
    const struct bats_graph *g = &world.graph;
    if (node < g->n_tasks)
        return world.done[node] > 0;
    for (uint32_t parent = 0; parent < g->n_nodes; parent++)
        for (uint64_t k = g->first[parent]; k < g->first[parent + 1]; k++)
            if (g->child[k] == node && !is_over(parent))
                return false;
    return true;
}

static void check_parents(uint32_t task)
{
    const struct bats_graph *g = &world.graph;
    for (uint32_t parent = 0; parent < g->n_nodes; parent++)
        for (uint64_t k = g->first[parent]; k < g->first[parent + 1]; k++)
            if (g->child[k] == task)
                assert_true(is_over(parent));
}

static void on_command(void *context, bats_time now,
                       const struct bats_command *c)
{
    (void)context;
    (void)now;
    assert_false(world.finished);
    switch (c->type) {
    case BATS_COMMAND_ACQUIRE:
        assert_false(world.held[c->machine] || world.lost[c->machine]);
        world.held[c->machine] = true;
        break;
    case BATS_COMMAND_RUN:
        assert_true(world.held[c->machine] && !world.lost[c->machine]);
        assert_true(world.done[c->task] == 0);
        check_parents(c->task);
        break;
    case BATS_COMMAND_PARK:
    case BATS_COMMAND_RELEASE:
        world.held[c->machine] = false;
        break;
    case BATS_NOTICE_CHARGE:
        world.booked += c->amount;
        assert_true(world.booked <= world.o.sched.budget);
        break;
    case BATS_NOTICE_FINISHED:
        world.finished = true;
        break;
    default:
        break;
    }
}

/* The first execution of a task that is done is its result. */
static void on_event(void *context, bats_time now,
                     const struct bats_event *ev)
{
    (void)context;
    (void)now;
    if (ev->type == BATS_EVENT_DONE)
        world.done[ev->task]++;
    if (ev->type == BATS_EVENT_LOST) {
        world.lost[ev->machine] = true;
        world.held[ev->machine] = false;
        seen.losses++;
    }
    seen.notices += ev->type == BATS_EVENT_NOTICE;
}

static void after(void *context, const struct bats_sched *s)
{
    (void)context;
    bats_sched_check(s);
}

/* ---- a world ---- */

static void make_graph(void)
{
    struct bats_edge edges[EDGES];
    uint32_t order[TASKS + JOINTS], m = 0;
    uint32_t n = world.o.sched.n_tasks + pick(JOINTS + 1);
    struct bats_error err;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    gsl_ran_shuffle(rng, order, n, sizeof *order);
    for (uint32_t i = pick(EDGES + 1); n > 1 && i > 0; i--) {
        uint32_t from = pick(n - 1), to = from + 1;
        to += chance(0.5) ? 0 : pick(n - to);
        edges[m++] = (struct bats_edge){order[from], order[to]};
    }
    assert_int_equal(bats_graph_init(&world.graph, world.o.sched.n_tasks, n,
                                     edges, m, &err),
                     0);
    world.o.sched.graph = &world.graph;
}

static void make_clusters(void)
{
    struct bats_sched_options *o = &world.o.sched;
    o->n_clusters = 1 + pick(CLUSTERS);
    o->n_machines = (uint32_t)o->n_clusters + pick(MACHINES - CLUSTERS + 1);
    for (uint32_t i = 0; i < o->n_clusters; i++) {
        struct bats_cluster *c = &world.clusters[i];
        world.speed[i] = 0.5 + 4 * gsl_rng_uniform(rng);
        *c = (struct bats_cluster){.name = "c", .max = 1 + pick(MACHINES)};
        c->charge = chance(0.1) ? 0 : 1 + pick(100 * BATS_UNIT);
        c->reclaimable = chance(0.5);
        if (!c->reclaimable)
            continue;
        c->notice = chance(0.3) ? 0 : pick(600) * BATS_SECOND;
        c->lifetime = (struct bats_lifetime){
            .survival = BATS_SURVIVAL_LOGNORMAL,
            .a = (1 + pick(300)) * 60e6,
            .b = 1.39,
            .share = 0.1 + 0.9 * gsl_rng_uniform(rng)};
    }
    for (uint32_t i = 0; i < o->n_machines; i++)
        world.machines[i] = (struct bats_machine_spec){
            i < o->n_clusters ? i : pick((uint32_t)o->n_clusters),
            1 + (chance(0.3) ? pick(3) : 0)};
}

static void make_tasks(void)
{
    struct bats_sched_options *o = &world.o.sched;
    double error = gsl_rng_uniform(rng);
    o->n_categories = 1 + pick(4);
    for (uint32_t i = 0; i < o->n_tasks; i++) {
        world.category[i] = (uint16_t)pick(o->n_categories);
        world.work[i] =
            chance(0.1) ? pick(3) : (bats_time)(1 + pick(7200)) * BATS_SECOND;
        world.told[i] = (bats_time)((double)world.work[i] *
                                    (1 + error * (gsl_rng_uniform(rng) - 0.5)));
    }
    o->category = world.category;
    if (chance(0.5))
        world.o.told = world.told;
}

static void make_world(void)
{
    static const enum bats_billing_model models[] = {
        BATS_BILLING_USE, BATS_BILLING_WINDOW, BATS_BILLING_SECOND};
    struct bats_sched_options *o = &world.o.sched;
    memset(&world, 0, sizeof world);
    o->n_tasks = 1 + pick(TASKS);
    o->clusters = world.clusters;
    o->machines = world.machines;
    o->window = (1 + pick(120)) * BATS_MINUTE;
    o->billing.model = models[chance(0.5) ? 0 : pick(3)];
    o->policy = policies[o->billing.model == BATS_BILLING_USE
                             ? pick(8)
                             : PLACING + pick(8 - PLACING)];
    o->budget = chance(0.2) ? BATS_UNLIMITED : pick(3000) * BATS_UNIT;
    o->seed = pick(1000000);
    if (chance(0.3)) {
        o->goal.deadline = (1 + pick(1000)) * BATS_MINUTE;
        o->goal.minimize =
            chance(0.5) ? BATS_MINIMIZE_COST : BATS_MINIMIZE_TIME;
    }
    if (chance(0.3))
        o->preempt_lead = pick(60) * BATS_SECOND;
    world.o.work = world.work;
    world.o.speed = world.speed;
    world.o.noise_seed = pick(1000000);
    world.o.on_command = on_command;
    world.o.on_event = on_event;
    world.o.after = after;
    make_clusters();
    make_tasks();
    make_graph();
}

static void run(unsigned long history)
{
    struct bats_sched_status status;
    struct bats_sched *s;
    struct bats_error err;
    bats_time end;
    make_world();
    if (bats_sim_run(&world.o, &s, &end, &err) < 0)
        fail_msg("history %lu, policy %s: %s", history,
                 bats_policy_name(world.o.sched.policy), err.text);
    bats_sched_status(s, &status);
    assert_true(world.finished && status.charged == world.booked);
    for (uint32_t i = 0; i < world.o.sched.n_tasks; i++) {
        bool done = bats_sched_has_result(s, i) && !bats_sched_has_failed(s, i);
        assert_int_equal(world.done[i], done); /* once, or never */
        seen.done += world.done[i] > 0;
    }
    seen.tasks += world.o.sched.n_tasks;
    seen.all_done += status.finish == BATS_FINISH_ALL_DONE;
    seen.out_of_money += status.finish == BATS_FINISH_BUDGET;
    bats_sched_destroy(s);
    bats_graph_release(&world.graph);
}

static void budgets_and_dependencies_hold_when_machines_are_reclaimed(
    void **state)
{
    (void)state;
    const char *wanted = getenv("GRAPH_HISTORIES");
    unsigned long n = wanted ? strtoul(wanted, NULL, 10) : HISTORIES;
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (unsigned long i = 1; i <= n; i++) {
        gsl_rng_set(rng, i);
        run(i);
    }
    gsl_rng_free(rng);
    print_message("# %lu histories: %llu of %llu tasks done, %llu all, %llu out "
                  "of money; %llu notices, %llu machines lost\n",
                  n, (unsigned long long)seen.done,
                  (unsigned long long)seen.tasks,
                  (unsigned long long)seen.all_done,
                  (unsigned long long)seen.out_of_money,
                  (unsigned long long)seen.notices,
                  (unsigned long long)seen.losses);
    assert_true(seen.all_done > n / 4 && seen.out_of_money > n / 50);
    assert_true(seen.notices > n / 20 && seen.losses > n / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(
        budgets_and_dependencies_hold_when_machines_are_reclaimed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
