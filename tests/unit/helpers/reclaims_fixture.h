/*
 * reclaims_fixture: a world of machines that may be reclaimed, for the
 * simulator to play. A test fills it in and calls play(). What is asserted then
 * is added up from events and commands alone: what is charged is within the
 * budget at every instant, and so is what workflows with budgets of their own
 * are charged and hold, who begin no sooner than they may; machines are
 * acquired that are neither held nor gone, and none that may be reclaimed while
 * one of them is about to go; no task begins before its parents are done, on a
 * machine that is not held, or after it is done; each is done once; and what is
 * billed by the second is what the tariff says.
 */
#ifndef BATS_RECLAIMS_FIXTURE_H
#define BATS_RECLAIMS_FIXTURE_H

#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "sim/sim.h"
#include "test.h"

#define CLUSTERS 3
#define MACHINES 12
#define TASKS 40
#define PURSES 3

struct world {
    struct bats_cluster clusters[CLUSTERS];
    struct bats_machine_spec machines[MACHINES];
    double speed[CLUSTERS];
    bats_time work[TASKS], told[TASKS];
    uint16_t category[TASKS], purse[TASKS];
    struct bats_purse purses[PURSES]; /* o.sched.n_purses of them */
    struct bats_graph graph;          /* n_nodes = 0: nobody waits */
    struct bats_sim_options o;
    /* Set by the run: */
    struct bats_sched_status status;
    bats_time makespan, now;
    /* By machine: held since then, and to be reclaimed at; or -1. */
    bats_time since[MACHINES], noticed[MACHINES];
    bool lost[MACHINES];
    bats_money low, high, booked; /* owed, at the prices of a block's ends */
    bats_money shared[PURSES], all_shared;
    uint32_t unpaid; /* left out, for their workflow cannot pay them */
    uint32_t notices, losses, acquired, begun_late, n_open, done[TASKS];
    bool finished;
};

static const struct bats_cluster *cluster_of(const struct world *w, uint32_t m)
{
    return &w->clusters[w->machines[m].cluster];
}

static void settle(struct world *w, uint32_t m, enum bats_end end)
{
    const struct bats_cluster *c = cluster_of(w, m);
    struct bats_tariff t = c->tariff;
    if (w->since[m] < 0)
        return;
    if (t.n_steps == 0)
        t = (struct bats_tariff){
            .per = w->o.sched.window, .n_steps = 1, .step = {{0, c->charge}}};
    bats_time age = w->now - w->since[m];
    w->low += bats_tariff_cost(&t, t.shortest, 0, age, end);
    w->high += bats_tariff_cost(&t, t.longest, 0, age, end);
    w->since[m] = -1;
}

static void on_event(void *context, bats_time now, const struct bats_event *ev)
{
    struct world *w = context;
    w->now = now;
    if (ev->type == BATS_EVENT_NOTICE) {
        w->notices++;
        w->noticed[ev->machine] = now + ev->runtime;
        w->n_open++;
    } else if (ev->type == BATS_EVENT_LOST) {
        w->losses++;
        w->lost[ev->machine] = true;
        w->n_open -= w->noticed[ev->machine] >= 0;
        w->noticed[ev->machine] = -1;
        if (!w->finished)
            settle(w, ev->machine, BATS_END_RECLAIMED);
    } else if (ev->type == BATS_EVENT_DONE) {
        w->done[ev->task]++;
    }
}

static void check_parents(const struct world *w, uint32_t node);

/* The node is over: done, or a joint of nodes that are. */
static void check_over(const struct world *w, uint32_t node)
{
    if (node < w->graph.n_tasks)
        assert_true(w->done[node] > 0);
    else
        check_parents(w, node);
}

static void check_parents(const struct world *w, uint32_t node)
{
    const struct bats_graph *g = &w->graph;
    for (uint32_t parent = 0; parent < g->n_nodes; parent++)
        for (uint64_t k = g->first[parent]; k < g->first[parent + 1]; k++)
            if (g->child[k] == node)
                check_over(w, parent);
}

static void on_command(void *context, bats_time now,
                       const struct bats_command *c)
{
    struct world *w = context;
    w->now = now;
    assert_false(w->finished);
    switch (c->type) {
    case BATS_COMMAND_ACQUIRE:
        assert_true(w->since[c->machine] < 0 && !w->lost[c->machine]);
        w->since[c->machine] = now;
        w->acquired++;
        assert_false(w->n_open > 0 && cluster_of(w, c->machine)->reclaimable);
        break;
    case BATS_COMMAND_RUN:
        assert_true(w->since[c->machine] >= 0 && !w->lost[c->machine]);
        w->begun_late += w->noticed[c->machine] >= 0;
        assert_int_equal(w->done[c->task], 0);
        assert_true(w->o.sched.n_purses == 0 ||
                    w->purses[w->purse[c->task]].begin <= now);
        check_parents(w, c->task);
        break;
    case BATS_COMMAND_PARK:
    case BATS_COMMAND_RELEASE:
        settle(w, c->machine,
               w->noticed[c->machine] >= 0 && now >= w->noticed[c->machine]
                   ? BATS_END_RECLAIMED
                   : BATS_END_USER);
        w->n_open -= w->noticed[c->machine] >= 0;
        w->noticed[c->machine] = -1;
        break;
    case BATS_NOTICE_CHARGE:
        if (w->o.sched.billing.model == BATS_BILLING_SECOND)
            assert_true(c->amount > 0);
        w->booked += c->amount;
        assert_true(w->booked <= w->o.sched.budget);
        break;
    case BATS_NOTICE_SHARE:
        assert_true(c->amount > 0);
        w->shared[c->purse] += c->amount;
        w->all_shared += c->amount;
        assert_true(w->shared[c->purse] <= w->purses[c->purse].budget);
        break;
    case BATS_NOTICE_SKIP:
        w->unpaid += c->unpaid;
        break;
    case BATS_NOTICE_FINISHED:
        w->finished = true;
        break;
    default:
        break;
    }
}

static void check(void *context, const struct bats_sched *s)
{
    const struct world *w = context;
    struct bats_sched_status st;
    check_sched(s);
    bats_sched_status(s, &st);
    assert_true(st.charged <= st.budget);
    for (uint32_t i = 0; i < w->o.sched.n_purses; i++) {
        struct bats_purse_status p;
        bats_sched_purse_status(s, i, &p);
        assert_true(p.charged + p.held <= p.budget);
    }
}

static void check_purses_at_the_end(const struct world *w,
                                    const struct bats_sched *s)
{
    assert_true(w->all_shared <= w->booked);
    for (uint32_t i = 0; i < w->o.sched.n_purses; i++) {
        struct bats_purse_status p;
        bats_sched_purse_status(s, i, &p);
        assert_int_equal(p.charged, w->shared[i]);
        assert_int_equal(p.held, 0);
    }
}

static void play(struct world *w)
{
    struct bats_sched *s;
    for (uint32_t m = 0; m < MACHINES; m++)
        w->since[m] = w->noticed[m] = -1;
    w->o.sched.clusters = w->clusters;
    w->o.sched.machines = w->machines;
    w->o.work = w->work;
    w->o.speed = w->speed;
    w->o.watch.after = check;
    w->o.watch.on_event = on_event;
    w->o.watch.on_command = on_command;
    w->o.watch.context = w;
    if (bats_sim_run(&w->o, &s, &w->makespan, &err) < 0)
        fail_msg("seed %llu, policy %s: %s",
                 (unsigned long long)w->o.sched.seed,
                 bats_policy_name(w->o.sched.policy), err.text);
    bats_sched_status(s, &w->status);
    assert_true(w->finished);
    assert_int_equal(w->booked, w->status.charged);
    if (w->o.sched.billing.model == BATS_BILLING_SECOND)
        assert_true(w->low <= w->booked && w->booked <= w->high);
    for (uint32_t i = 0; i < w->o.sched.n_tasks; i++)
        assert_int_equal(w->done[i], /* once, or never */
                         bats_sched_has_result(s, i) &&
                             !bats_sched_has_failed(s, i));
    check_purses_at_the_end(w, s);
    bats_sched_destroy(s);
}

#endif
