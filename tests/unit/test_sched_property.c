/*
 * Random histories of the engine: a small world of machines that answers its
 * commands in any order and at any time, loses machines, fails tasks, sends
 * nonsense and stops. Idle machines may run replicas. After every event the
 * engine's own invariants are checked, and a second bookkeeping that knows the
 * commands only. In some worlds tasks wait for others, with joints between them,
 * and belong to workflows with budgets of their own.
 *
 * The digest of all that the engine answers says whether it still answers the
 * same to the same events. A change that is meant to decide otherwise changes
 * it, and says so; one that only rebuilds the engine must not.
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

#include "bats/bag.h"
#include "bats/policy.h"
#include "bats/sched.h"

#define HISTORIES 100000
#define DBC_HISTORIES 20000 /* and more, half of them charged for use */
#define GRAPH_HISTORIES 20000 /* and more, with dependencies */
#define EXPERT_HISTORIES 10000 /* and more, with instances */
#define PURSE_HISTORIES 20000 /* and more, of several workflows */
#define PURSES 4
#define MACHINES 12
#define SLOTS 3
#define TASKS 40
#define JOINTS 4
#define EDGES 120
#define SEEN 12

/* Of all histories; rr needs no planner. */
#define DIGEST_BATS UINT64_C(0x9d1d170fdfcc50d9)
#define DIGEST_BKP UINT64_C(0xb19e363c92247144)
#define DIGEST_DBC UINT64_C(0x91d75188b11a8265)
#define DIGEST_EXPERT UINT64_C(0x062cebe4b417a69c)
#define DIGEST_RR UINT64_C(0xc7b3dbcea9d4e686)

struct execution {
    uint32_t task;
    uint64_t number; /* in the order in which they were begun */
    bool cancelled;
};

struct queue {
    struct execution e[TASKS];
    uint32_t n;
};

struct world {
    gsl_rng *rng;
    struct bats_sched *sched;
    struct bats_sched_options o;
    struct bats_cluster clusters[4];
    struct bats_machine_spec machines[MACHINES];
    bats_time now;
    bool on_hold;
    bool punctual; /* every tick comes exactly when it is wanted */
    struct queue queue[MACHINES][SLOTS];
    uint64_t n_executions;
    uint64_t replicas, superseded; /* of all worlds */
    uint32_t pending_before;       /* the event */
    bool sampling;                 /* tasks may run for their runtime alone */
    bool sampled, chosen;          /* SAMPLED came, and was answered */
    uint64_t choices;              /* of all worlds */
    uint32_t results[TASKS];
    uint8_t earlier[TASKS], failures[TASKS], once[TASKS];
    struct bats_observation seen[SEEN];
    bats_time paid[MACHINES], expected[4];
    uint32_t node[MACHINES];
    uint32_t left_out;
    struct bats_graph graph; /* with dependencies: n_nodes > 0 */
    bool skipped[TASKS], unpaid[TASKS];
    struct bats_purse purses[PURSES];
    uint16_t purse[TASKS];
    bats_money shared[PURSES]; /* by the SHARE notices */
    uint64_t n_unpaid, n_shared; /* of all worlds */
    uint16_t category[TASKS];
    uint32_t n_skipped, skips; /* the second of all worlds */
    bool joined[MACHINES], lost[MACHINES], held[MACHINES];
    bats_time acquired[MACHINES];
    bats_money booked;    /* by the CHARGE commands */
    bats_money low, high; /* charged for acquisitions that are over */
    enum bats_finish finish;
    bool finished;
    uint64_t digest; /* of this world; of all with each policy: */
    uint64_t digest_bats, digest_bkp, digest_rr, digest_dbc, digest_graph,
        digest_expert;
};

/* ---- the digest (FNV-1a, word by word) ---- */

static void add(struct world *w, uint64_t word)
{
    w->digest = (w->digest ^ word) * UINT64_C(1099511628211);
    w->digest ^= w->digest >> 32;
}

static void add_number(struct world *w, double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    add(w, word);
}

static void add_command(struct world *w, const struct bats_command *c)
{
    add(w, c->type);
    add(w, c->machine);
    add(w, c->slot);
    add(w, c->task);
    add(w, c->replica);
    add(w, c->time_out);
    add(w, (uint64_t)c->amount);
    add(w, (uint64_t)c->cushion);
    add(w, c->finish);
}

static void add_status(struct world *w)
{
    struct bats_sched_status st;
    bats_sched_status(w->sched, &st);
    const uint64_t words[] = {(uint64_t)st.now,
                              st.finish,
                              st.pending,
                              st.running,
                              st.done,
                              st.failed,
                              (uint64_t)st.budget,
                              (uint64_t)st.charged,
                              st.retried,
                              st.timed_out,
                              st.preempted,
                              st.replicas,
                              st.replicas_won,
                              (uint64_t)st.estimated_end,
                              (uint64_t)st.rest_cost,
                              st.sample_size,
                              (uint64_t)st.cushion,
                              (uint64_t)st.cushion_spent};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(w, words[i]);
}

static void add_clusters(struct world *w)
{
    for (size_t i = 0; i < w->o.n_clusters; i++) {
        struct bats_cluster_status c;
        bats_sched_cluster_status(w->sched, i, &c);
        const uint64_t words[] = {c.machines_used,
                                  c.machines_now,
                                  c.machines_lost,
                                  c.machines_quarantined,
                                  (uint64_t)c.windows,
                                  (uint64_t)c.charged,
                                  c.done,
                                  c.failed};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            add(w, words[k]);
        add_number(w, c.mean_runtime);
        add_number(w, c.profitability);
        add_number(w, c.utilisation);
    }
}

static void add_decisions(struct world *w)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(w->sched, &n);
    for (size_t i = 0; i < n; i++) {
        add(w, (uint64_t)d[i].time);
        add(w, d[i].reason);
        add(w, d[i].feasible);
        add(w, (uint64_t)d[i].tasks_left);
        add(w, (uint64_t)d[i].tasks_paid);
        add(w, (uint64_t)d[i].budget_left);
        add(w, (uint64_t)d[i].windows);
        for (size_t k = 0; k < w->o.n_clusters; k++)
            add(w, d[i].machines[k]);
    }
}

/* Adds the values known only at the end. */
static void add_end(struct world *w)
{
    struct bats_sched_sampled sampled;
    bats_sched_sampled(w->sched, &sampled);
    add(w, (uint64_t)sampled.time);
    add(w, (uint64_t)sampled.charged);
    add(w, sampled.tasks);
    add(w, sampled.given_up);
    add(w, sampled.longest);
    add(w, sampled.n_observations);
    for (uint32_t m = 0; m < w->o.n_machines; m++)
        add(w, bats_sched_keeps(w->sched, m));
    add_clusters(w);
    add_decisions(w);
    if (w->o.n_purses > 0)
        return;
    uint64_t *all = w->o.graph                        ? &w->digest_graph
                    : w->o.policy == &bats_policy_bats  ? &w->digest_bats
                    : w->o.policy == &bats_policy_bkp ? &w->digest_bkp
                    : w->o.policy == &bats_policy_rr  ? &w->digest_rr
                    : w->o.policy == &bats_policy_expert
                        ? &w->digest_expert
                        : &w->digest_dbc;
    *all = (*all ^ w->digest) * UINT64_C(1099511628211);
}

static uint32_t pick(struct world *w, uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(w->rng, n);
}

static bool chance(struct world *w, double p)
{
    return gsl_rng_uniform(w->rng) < p;
}

/* Windows entered by a machine that was held from `acquired` to `until`. */
static int64_t windows(const struct world *w, bats_time acquired,
                       bats_time until, bool open)
{
    bats_time held = until - acquired;
    int64_t n = held / w->o.window;
    return n + (held % w->o.window > 0 || n == 0 || open);
}

/* `exact`: it was parked, at the end of a window. Else a window that began at
 * this very moment may or may not have been entered. */
static void end_holding(struct world *w, uint32_t m, bool exact)
{
    bats_money charge = w->clusters[w->machines[m].cluster].charge;
    if (!w->held[m])
        return;
    w->held[m] = false;
    w->low += charge * windows(w, w->acquired[m], w->now, false);
    w->high += charge * windows(w, w->acquired[m], w->now, !exact);
}

/* Executions of the task that were begun before `number`. */
static uint32_t executions(const struct world *w, uint32_t task,
                           uint64_t number, bool cancelled_too)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < w->o.n_machines; m++)
        for (uint32_t k = 0; k < w->machines[m].slots; k++)
            for (uint32_t i = 0; i < w->queue[m][k].n; i++) {
                const struct execution *e = &w->queue[m][k].e[i];
                n += e->task == task && e->number < number &&
                     (cancelled_too || !e->cancelled);
            }
    return n;
}

/* Something on the machine is neither a copy nor has its result elsewhere. */
static bool works(const struct world *w, uint32_t m)
{
    for (uint32_t k = 0; k < w->machines[m].slots; k++)
        for (uint32_t i = 0; i < w->queue[m][k].n; i++) {
            const struct execution *e = &w->queue[m][k].e[i];
            if (w->results[e->task] == 0 &&
                executions(w, e->task, e->number, false) == 0)
                return true;
        }
    return false;
}

/* ---- dependencies ---- */

enum { WAITS, LET, DOOMED };

/* The fate of a node, found through all edges, of those before it first. */
static int fate(const struct world *w, uint32_t node)
{
    if (node < w->o.n_tasks) {
        if (w->results[node] > 0)
            return bats_sched_has_failed(w->sched, node) ? DOOMED : LET;
        return w->skipped[node] || w->earlier[node] == BATS_TASK_LEFT_OUT
                   ? DOOMED
                   : WAITS;
    }
    int worst = LET;
    const struct bats_graph *g = &w->graph;
    for (uint32_t p = 0; p < g->n_nodes; p++)
        for (uint64_t k = g->first[p]; k < g->first[p + 1]; k++) {
            int of = g->child[k] == node ? fate(w, p) : LET;
            if (of == DOOMED && !g->any[node])
                return DOOMED;
            if (of == WAITS)
                worst = WAITS;
        }
    return worst;
}

/* The task may run (LET), waits, or must be skipped. */
static int right_to_run(const struct world *w, uint32_t task)
{
    const struct bats_graph *g = &w->graph;
    int worst = LET;
    for (uint32_t p = 0; p < g->n_nodes; p++)
        for (uint64_t k = g->first[p]; k < g->first[p + 1]; k++) {
            int of = g->child[k] == task ? fate(w, p) : LET;
            if (of == DOOMED && !g->any[task])
                return DOOMED;
            if (of == WAITS)
                worst = WAITS;
        }
    return worst;
}

static void leave_out(struct world *w, uint32_t task)
{
    assert_true(w->results[task] == 0 && !w->skipped[task]);
    assert_int_equal(executions(w, task, UINT64_MAX, true), 0);
    w->skipped[task] = true;
    w->n_skipped++;
    w->skips++;
}

static void check_skips(const struct world *w)
{
    for (uint32_t t = 0; t < w->o.n_tasks && w->o.graph; t++) {
        assert_int_equal(bats_sched_is_skipped(w->sched, t), w->skipped[t]);
        if (w->results[t] == 0 && w->earlier[t] != BATS_TASK_LEFT_OUT &&
            !w->unpaid[t])
            assert_int_equal(right_to_run(w, t) == DOOMED, w->skipped[t]);
    }
}

static void run(struct world *w, const struct bats_command *c)
{
    if (w->o.graph)
        assert_int_equal(right_to_run(w, c->task), LET);
    struct queue *q = &w->queue[c->machine][c->slot];
    uint32_t n = executions(w, c->task, UINT64_MAX, true);
    assert_true(w->held[c->machine]);
    assert_true(w->results[c->task] == 0 || (w->sampling && c->replica > 0));
    if (c->replica == 0) {
        assert_int_equal(n, 0);
    } else {
        assert_true(q->n == 0 && !w->once[c->task]);
        assert_true(w->results[c->task] > 0 ||
                    executions(w, c->task, UINT64_MAX, false) > 0);
        w->replicas++;
    }
    for (uint32_t i = 0; i < q->n; i++) /* nothing waits behind a copy */
        assert_int_equal(executions(w, q->e[i].task, q->e[i].number, false),
                         0);
    q->e[q->n++] = (struct execution){c->task, w->n_executions++, false};
}

static void cancel(struct world *w, const struct bats_command *c)
{
    struct queue *q = &w->queue[c->machine][c->slot];
    uint32_t i = 0;
    while (i < q->n && q->e[i].task != c->task)
        i++;
    assert_true(i < q->n && !q->e[i].cancelled);
    q->e[i].cancelled = true;
}

static bool is_use(const struct world *w)
{
    return w->o.billing.model == BATS_BILLING_USE;
}

static void obey(struct world *w)
{
    struct bats_command c;
    while (bats_sched_next(w->sched, &c)) {
        assert_false(w->finished);
        add_command(w, &c);
        switch (c.type) {
        case BATS_COMMAND_ACQUIRE:
            assert_true(w->joined[c.machine] && !w->lost[c.machine]);
            assert_false(w->held[c.machine]);
            w->held[c.machine] = true;
            w->acquired[c.machine] = w->now;
            break;
        case BATS_COMMAND_RUN:
            run(w, &c);
            break;
        case BATS_COMMAND_CANCEL:
            cancel(w, &c);
            break;
        case BATS_COMMAND_PARK:
            assert_true(w->held[c.machine]);
            end_holding(w, c.machine, true);
            break;
        case BATS_COMMAND_RELEASE:
            end_holding(w, c.machine, false);
            break;
        case BATS_NOTICE_CHARGE:
            w->booked += c.amount;
            if (w->held[c.machine] && w->punctual &&
                !is_use(w)) /* not the first window */
                assert_true(w->pending_before > 0 || works(w, c.machine));
            break;
        case BATS_NOTICE_QUARANTINE:
        case BATS_NOTICE_LOSE:
            break;
        case BATS_NOTICE_SKIP:
            leave_out(w, c.task);
            w->unpaid[c.task] = c.unpaid;
            w->n_unpaid += c.unpaid;
            assert_true(!c.unpaid || w->o.n_purses > 0);
            break;
        case BATS_NOTICE_SHARE:
            assert_true(c.amount > 0 && c.purse < w->o.n_purses);
            w->shared[c.purse] += c.amount;
            w->n_shared++;
            break;
        case BATS_NOTICE_SAMPLED:
            assert_true(w->sampling || w->o.sampling.offers);
            w->sampling = false;
            w->sampled = true;
            break;
        case BATS_NOTICE_FINISHED:
            w->finished = true;
            w->finish = c.finish;
            break;
        }
    }
}

/* Checks the charges against the commands. */
static void check_charge(const struct world *w,
                         const struct bats_sched_status *st)
{
    bats_money low = w->low, high = w->high;
    for (uint32_t m = 0; m < w->o.n_machines; m++) {
        bats_money charge = w->clusters[w->machines[m].cluster].charge;
        if (w->held[m]) {
            low += charge * windows(w, w->acquired[m], w->now, false);
            high += charge * windows(w, w->acquired[m], w->now, true);
        }
    }
    assert_in_range(st->charged, low, high);
}

/* What machines are charged that are held by executions of a workflow, which
 * were not told to stop. */
static bats_money may_cost(const struct world *w, uint32_t purse)
{
    bats_money sum = 0;
    for (uint32_t m = 0; m < w->o.n_machines; m++) {
        bool any = false;
        for (uint32_t k = 0; k < w->machines[m].slots; k++)
            for (uint32_t i = 0; i < w->queue[m][k].n; i++) {
                const struct execution *e = &w->queue[m][k].e[i];
                any |= !e->cancelled && w->purse[e->task] == purse;
            }
        sum += any ? w->clusters[w->machines[m].cluster].charge : 0;
    }
    return sum;
}

/* The budget of each workflow holds, by what was told, and what it holds is
 * enough for the windows of all machines that it has tasks on. */
static void check_purses(const struct world *w)
{
    bats_money sum = 0;
    for (uint32_t i = 0; i < w->o.n_purses; i++) {
        struct bats_purse_status p;
        bats_sched_purse_status(w->sched, i, &p);
        assert_int_equal(p.charged, w->purses[i].charged + w->shared[i]);
        assert_true(p.charged <= w->purses[i].budget - p.held);
        if (!is_use(w) && !w->o.earlier.paid)
            assert_true(may_cost(w, i) <= p.held);
        sum += w->shared[i];
    }
    assert_true(sum <= w->booked - w->o.earlier.charged);
    if (w->finished) /* nothing is held, and what nobody used is left over */
        for (uint32_t i = 0; i < w->o.n_purses; i++) {
            struct bats_purse_status p;
            bats_sched_purse_status(w->sched, i, &p);
            assert_int_equal(p.held, 0);
        }
}

static void check(struct world *w)
{
    struct bats_sched_status st;
    bats_sched_check(w->sched);
    bats_sched_status(w->sched, &st);
    assert_true(st.charged <= w->o.budget);
    assert_int_equal(st.charged, w->booked);
    if (w->punctual && !w->finished && !is_use(w))
        check_charge(w, &st);
    uint32_t on_machines = 0, done = 0;
    uint32_t begun[TASKS] = {0}, go_on[TASKS] = {0};
    for (uint32_t m = 0; m < w->o.n_machines; m++)
        for (uint32_t k = 0; k < w->machines[m].slots; k++)
            for (uint32_t i = 0; i < w->queue[m][k].n; i++) {
                const struct execution *e = &w->queue[m][k].e[i];
                begun[e->task]++;
                go_on[e->task] += !e->cancelled;
            }
    for (uint32_t t = 0; t < w->o.n_tasks; t++) {
        assert_true(w->results[t] <= 1);
        done += w->results[t];
        if (w->results[t] == 0)
            on_machines += begun[t] > 0;
        else if (!w->sampling && w->o.policy != &bats_policy_expert)
            assert_int_equal(go_on[t], 0);
    }
    assert_int_equal(st.running, on_machines);
    assert_int_equal(st.done + st.failed, done);
    assert_int_equal(st.pending, w->o.n_tasks - on_machines - done -
                                     w->left_out - w->n_skipped);
    assert_int_equal(st.skipped, w->n_skipped);
    check_skips(w);
    check_purses(w);
}

static int tell(struct world *w, struct bats_event ev)
{
    struct bats_sched_status before, after;
    struct bats_error err;
    bats_sched_status(w->sched, &before);
    w->pending_before = before.pending;
    int rc = bats_sched_handle(w->sched, w->now, &ev, &err);
    bats_sched_status(w->sched, &after);
    uint32_t results = after.done + after.failed - before.done - before.failed;
    if (results > 0) { /* a failed task may be tried again instead */
        assert_true(rc == 0 && results == 1);
        w->results[ev.task]++;
    }
    add(w, (uint64_t)rc);
    obey(w);
    add(w, (uint64_t)bats_sched_wakeup(w->sched));
    add_status(w);
    check(w);
    return rc;
}

static void answer(struct world *w, uint32_t m, uint32_t slot)
{
    struct queue *q = &w->queue[m][slot];
    uint32_t at = 0;
    /* Cancelled tasks may answer in any order, results only in theirs. */
    uint32_t other = pick(w, q->n);
    if (q->e[other].cancelled)
        at = other;
    struct execution e = q->e[at];
    struct bats_event ev = {.type = chance(w, 0.2) ? BATS_EVENT_FAILED
                                                   : BATS_EVENT_DONE,
                            .machine = m,
                            .slot = slot,
                            .task = e.task,
                            .runtime = pick(w, 3000)};
    if (e.cancelled && (at > 0 || chance(w, 0.7)))
        ev.type = BATS_EVENT_PREEMPTED;
    else if (chance(w, 0.03))
        ev.type = BATS_EVENT_YIELDED;
    w->superseded += w->results[e.task];
    memmove(&q->e[at], &q->e[at + 1], (--q->n - at) * sizeof q->e[0]);
    assert_int_equal(tell(w, ev), 0);
}

static void lose(struct world *w, uint32_t m)
{
    w->lost[m] = true;
    end_holding(w, m, false);
    for (uint32_t k = 0; k < w->machines[m].slots; k++)
        w->queue[m][k].n = 0;
    assert_int_equal(
        tell(w, (struct bats_event){.type = BATS_EVENT_LOST, .machine = m}),
        0);
}

static void nonsense(struct world *w)
{
    struct bats_event ev = {.type = (enum bats_event_type)pick(w, 6),
                            .machine = pick(w, MACHINES + 2),
                            .slot = pick(w, SLOTS + 1),
                            .task = pick(w, TASKS + 2),
                            .runtime = -1};
    bool real = ev.machine < w->o.n_machines &&
                ((ev.type == BATS_EVENT_JOINED && !w->joined[ev.machine] &&
                  !w->lost[ev.machine]) ||
                 (ev.type == BATS_EVENT_LOST && !w->lost[ev.machine]));
    /* A cancelled task may well be preempted: that is no nonsense. */
    if (!real && ev.type != BATS_EVENT_PREEMPTED &&
        ev.type != BATS_EVENT_YIELDED)
        assert_int_equal(tell(w, ev), BATS_ESTATE);
}

static void pass_time(struct world *w)
{
    bats_time wakeup = bats_sched_wakeup(w->sched);
    bats_time next = w->now + pick(w, 700);
    if (w->punctual && next >= wakeup)
        next = wakeup;
    bool tick = next >= wakeup || chance(w, 0.1);
    w->now = next;
    if (tick)
        assert_int_equal(tell(w, (struct bats_event){.type = BATS_EVENT_TICK}),
                         0);
}

static void choose(struct world *w)
{
    struct bats_event ev = {
        .type = BATS_EVENT_CHOSEN,
        .choice = {.offer = (enum bats_offer)pick(w, BATS_OFFER_STRATEGY),
                   .budget = pick(w, 100000000),
                   .deadline = pick(w, 100000)}};
    int rc = tell(w, ev);
    if (rc < 0) {
        assert_true(rc == BATS_EBUDGET || rc == BATS_EDEADLINE ||
                    rc == BATS_EINPUT);
        ev.choice.offer = BATS_OFFER_NONE;
        assert_int_equal(tell(w, ev), 0);
    }
    w->chosen = true;
    w->choices += rc == 0;
    assert_int_equal(tell(w, ev), BATS_ESTATE); /* once is enough */
}

static void something_happens(struct world *w)
{
    uint32_t m = pick(w, w->o.n_machines);
    double dice = gsl_rng_uniform(w->rng);
    if (w->sampled && !w->chosen && chance(w, 0.1)) {
        choose(w);
    } else if (!w->joined[m] && !w->lost[m]) {
        w->joined[m] = true;
        assert_int_equal(tell(w, (struct bats_event){.type = BATS_EVENT_JOINED,
                                                     .machine = m}),
                         0);
    } else if (dice < 0.004 && !w->lost[m]) {
        lose(w, m);
    } else if (dice < 0.005) {
        assert_int_equal(
            tell(w, (struct bats_event){.type = chance(w, 0.5)
                                                    ? BATS_EVENT_STOP
                                                    : BATS_EVENT_DRAIN}),
            0);
    } else if (dice < 0.007 || (w->on_hold && dice < 0.02)) {
        w->on_hold = !w->on_hold;
        assert_int_equal(
            tell(w, (struct bats_event){.type = w->on_hold ? BATS_EVENT_HOLD
                                                           : BATS_EVENT_GO}),
            0);
    } else if (dice < 0.03) {
        nonsense(w);
    } else if (dice < 0.5) {
        uint32_t slot = pick(w, w->machines[m].slots);
        if (w->queue[m][slot].n > 0)
            answer(w, m, slot);
    } else {
        pass_time(w);
    }
}

static bats_time any_runtime(const void *context, uint32_t task,
                             uint32_t cluster)
{
    (void)context;
    return (task * 2654435761u >> 20) / (cluster + 1);
}

static void give_back_nodes(struct world *w)
{
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        w->node[i] = pick(w, w->o.n_machines);
    w->o.shrink = (struct bats_sched_shrink){
        .node = w->node,
        .keep = chance(w, 0.5) ? w->node[0] : UINT32_MAX,
        .restart = pick(w, 500)};
}

/* With nodes, runtimes and failures of an earlier session. */
static void go_on(struct world *w)
{
    w->punctual = false; /* the first windows are no whole ones */
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        w->paid[i] = chance(w, 0.5) ? pick(w, (uint32_t)w->o.window + 1) : 0;
    w->o.earlier.paid = w->paid;
    for (uint32_t i = 0; i < w->o.n_tasks; i++)
        w->failures[i] = (uint8_t)pick(w, 3);
    w->o.earlier.failures = w->failures;
    w->o.earlier.n_seen = pick(w, SEEN + 1);
    for (uint32_t i = 0; i < w->o.earlier.n_seen; i++)
        w->seen[i] = (struct bats_observation){
            pick(w, w->o.n_tasks), pick(w, (uint32_t)w->o.n_clusters),
            pick(w, 3000)};
    w->o.earlier.seen = w->seen;
    w->o.earlier.tops_up = chance(w, 0.5);
}

/* The seeds after those of the other policies. */
static void use_dbc(struct world *w, unsigned long seed)
{
    static const struct bats_policy *const policies[] = {
        &bats_policy_dbc_cost, &bats_policy_dbc_time,
        &bats_policy_dbc_conservative_time, &bats_policy_dbc_cost_time};
    w->o.policy = policies[seed % 4];
    w->o.goal.deadline = chance(w, 0.5) ? 1 + pick(w, 40000) : 0;
    for (uint32_t i = 0; i < w->o.n_clusters; i++)
        w->expected[i] = chance(w, 0.5) ? pick(w, 3000) : 0;
    if (chance(w, 0.7))
        w->o.expected = w->expected;
    if (chance(w, 0.5))
        w->o.billing.model = BATS_BILLING_USE;
    w->o.sampling.on = w->o.sampling.offers = w->sampling = false;
}

/* Edges from a node to a later one, in an order of all that is drawn first. */
static void add_graph(struct world *w)
{
    struct bats_edge edges[EDGES];
    uint32_t order[TASKS + JOINTS];
    uint32_t n = w->o.n_tasks + pick(w, JOINTS + 1), m = 0;
    uint32_t wanted = chance(w, 0.2) ? n : pick(w, EDGES + 1);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    gsl_ran_shuffle(w->rng, order, n, sizeof *order);
    for (uint32_t i = 0; n > 1 && i < wanted; i++) {
        uint32_t from = pick(w, n - 1), to = from + 1;
        to += chance(w, 0.5) ? 0 : pick(w, n - to);
        edges[m++] = (struct bats_edge){order[from], order[to]};
    }
    struct bats_error err;
    assert_int_equal(
        bats_graph_init(&w->graph, w->o.n_tasks, n, edges, m, &err), 0);
    w->graph.any = calloc(n, 1);
    for (uint32_t i = 0; i < n; i++)
        w->graph.any[i] = chance(w, 0.2);
    w->o.graph = &w->graph;
    if (chance(w, 0.5)) {
        w->o.n_categories = 1 + pick(w, 4);
        for (uint32_t i = 0; i < w->o.n_tasks; i++)
            w->category[i] = (uint16_t)pick(w, w->o.n_categories);
        w->o.category = w->category;
    }
}

/* Workflows that share the run, some of which have little money. */
static void add_purses(struct world *w)
{
    w->o.n_purses = 1 + pick(w, PURSES);
    for (uint32_t i = 0; i < w->o.n_purses; i++)
        w->purses[i] = (struct bats_purse){
            .name = "one",
            .budget = chance(w, 0.2) ? BATS_UNLIMITED : pick(w, 40000000)};
    for (uint32_t i = 0; i < w->o.n_tasks; i++)
        w->purse[i] = (uint16_t)pick(w, w->o.n_purses);
    if (w->o.earlier.charged > 0) /* by earlier sessions */
        w->purses[0].charged = w->o.earlier.charged < w->purses[0].budget
                                   ? w->o.earlier.charged
                                   : w->purses[0].budget;
    w->o.purse = w->purse;
    w->o.purses = w->purses;
    w->o.sampling.on = w->sampling = false;
}

/* Machines that may not answer, and any strategy for them. */
static void use_expert(struct world *w)
{
    static const char *const names[] = {
        "AR",    "TRR",   "TR",    "AUR",
        "CNinf", "CN1T0", "B=900", "N=2,T=0x,D=2x,Mr=0.3",
        "N=1,T=300us,D=2x", "N=3,T=0.5x,D=1x", "N=inf,T=1x,D=2x"};
    assert_int_equal(bats_strategy_parse(names[pick(w, 11)], &w->o.strategy,
                                         NULL),
                     0);
    if (chance(w, 0.02)) /* 420 strategies are played */
        w->o.utility = "product";
    w->o.policy = &bats_policy_expert;
    w->o.billing.model = BATS_BILLING_USE;
    w->o.sampling.on = w->o.sampling.offers = w->sampling = false;
    w->o.rules.timeout = 0;
    w->o.rules.timeout_median = 0;
    w->o.shrink.node = NULL;
    if (w->o.n_clusters == 1)
        w->o.n_clusters = 2;
    for (uint32_t i = 0; i < w->o.n_clusters; i++) {
        w->clusters[i].max = 1 + pick(w, 6);
        w->clusters[i].unreliable = i == 0 || (i > 1 && chance(w, 0.5));
        w->clusters[i].lost_is_free =
            w->clusters[i].unreliable && chance(w, 0.5);
        w->expected[i] = chance(w, 0.5) ? pick(w, 3000) : 0;
    }
    if (chance(w, 0.7))
        w->o.expected = w->expected;
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        w->machines[i].slots = 1;
}

static void make_world(struct world *w, unsigned long seed)
{
    struct world last = *w;
    *w = (struct world){.rng = last.rng,
                        .replicas = last.replicas,
                        .superseded = last.superseded,
                        .choices = last.choices,
                        .digest_bats = last.digest_bats,
                        .digest_bkp = last.digest_bkp,
                        .digest_rr = last.digest_rr,
                        .digest_dbc = last.digest_dbc,
                        .digest_graph = last.digest_graph,
                        .digest_expert = last.digest_expert,
                        .skips = last.skips,
                        .n_unpaid = last.n_unpaid,
                        .n_shared = last.n_shared};
    gsl_rng *rng = w->rng;
    gsl_rng_set(rng, seed);
    uint32_t n_clusters = 1 + pick(w, 4);
    for (uint32_t i = 0; i < n_clusters; i++)
        w->clusters[i] = (struct bats_cluster){
            .charge = chance(w, 0.05) ? 0 : 1 + pick(w, 5000000),
            .max = 1 + pick(w, 6)};
    w->o = (struct bats_sched_options){
        .policy = !chance(w, 0.7) ? &bats_policy_rr
                  : seed % 2 == 0 ? &bats_policy_bats
                                  : &bats_policy_bkp,
        .n_tasks = 1 + pick(w, TASKS),
        .clusters = w->clusters,
        .n_clusters = n_clusters,
        .machines = w->machines,
        .n_machines = 1 + pick(w, MACHINES),
        .window = 1 + pick(w, 4000),
        .budget = chance(w, 0.2) ? BATS_UNLIMITED : pick(w, 100000000),
        .seed = seed};
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        w->machines[i] = (struct bats_machine_spec){pick(w, n_clusters),
                                                    1 + pick(w, SLOTS)};
    w->o.rules.losses = 200; /* no task fails for its machines */
    if (chance(w, 0.3))
        w->o.rules.retries = pick(w, 3);
    if (chance(w, 0.2))
        w->o.rules.retry_delay = pick(w, 3000);
    if (chance(w, 0.3))
        w->o.rules.yields = 1 + pick(w, 2);
    if (chance(w, 0.2))
        w->o.rules.timeout = 1 + pick(w, 3000);
    if (chance(w, 0.2))
        w->o.rules.timeout_median = 0.5 + pick(w, 4);
    if (chance(w, 0.1))
        w->o.rules.halt_failed = 1 + pick(w, 8);
    if (chance(w, 0.1))
        w->o.rules.halt_share = 0.05 * (1 + pick(w, 10));
    w->o.rules.halt_now = chance(w, 0.5);
    if (chance(w, 0.1))
        w->o.rules.time_limit = 1 + pick(w, 40000);
    if (chance(w, 0.2)) {
        static const uint8_t states[] = {BATS_TASK_PENDING, BATS_TASK_LEFT_OUT,
                                         BATS_TASK_DONE, BATS_TASK_FAILED};
        for (uint32_t i = 0; i < w->o.n_tasks; i++) {
            w->earlier[i] = states[pick(w, 4)];
            w->results[i] = w->earlier[i] == BATS_TASK_DONE ||
                            w->earlier[i] == BATS_TASK_FAILED;
            w->left_out += w->earlier[i] == BATS_TASK_LEFT_OUT;
        }
        w->o.earlier.state = w->earlier;
        w->o.earlier.charged =
            (bats_money)(gsl_rng_uniform(w->rng) *
                         (double)(w->o.budget == BATS_UNLIMITED
                                      ? 1000
                                      : w->o.budget));
        w->booked = w->low = w->high = w->o.earlier.charged;
    }
    w->o.tail = (enum bats_tail)pick(w, BATS_TAIL_SOONEST + 1);
    w->o.true_runtime = any_runtime;
    if (chance(w, 0.2)) {
        for (uint32_t i = 0; i < w->o.n_tasks; i++)
            w->once[i] = chance(w, 0.3);
        w->o.once = w->once;
    }
    if (w->o.policy != &bats_policy_rr && chance(w, 0.3)) {
        w->o.sampling.on = w->sampling = true;
        w->o.sampling.workers = pick(w, 8);
        w->o.sampling.offers = w->o.policy == &bats_policy_bats &&
                               w->o.sampling.workers % 2 == 0;
        w->o.sampling.cushion = chance(w, 0.5);
    }
    if (!w->o.sampling.on)
        w->o.sampling.offers = chance(w, 0.3);
    if (chance(w, 0.2))
        w->o.reconfigure = BATS_RECONFIGURE_IMPROVE;
    if (chance(w, 0.3))
        w->o.monitor_interval = 1 + pick(w, 1000);
    if (chance(w, 0.2))
        give_back_nodes(w);
    w->punctual = chance(w, 0.5);
    if (chance(w, 0.2))
        go_on(w);
    if (chance(w, 0.5))
        w->o.preempt_lead = pick(w, (uint32_t)w->o.window);
    if (chance(w, 0.3))
        w->o.prefetch = pick(w, 5000);
    const unsigned long simple = HISTORIES + DBC_HISTORIES;
    bool has_purses = seed > simple + GRAPH_HISTORIES + EXPERT_HISTORIES;
    bool is_expert = seed > simple + GRAPH_HISTORIES && !has_purses;
    bool has_graph = seed > simple && !is_expert;
    if (is_expert)
        use_expert(w);
    else if (has_graph ? seed % 3 == 0 : seed > HISTORIES)
        use_dbc(w, seed);
    if (has_graph)
        add_graph(w);
    if (has_graph && w->o.billing.model == BATS_BILLING_USE && chance(w, 0.5))
        w->o.policy = chance(w, 0.3)   ? &bats_policy_miser
                      : chance(w, 0.5) ? &bats_policy_mw_dbs
                                       : &bats_policy_flow;
    if (has_purses)
        add_purses(w);
    struct bats_error err;
    assert_int_equal(bats_sched_create(&w->o, &w->sched, &err), 0);
}

static void random_histories_break_no_invariant(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    uint64_t ends[BATS_FINISH_TOO_LATE + 1] = {0};
    uint64_t events = 0;
    w->rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (unsigned long seed = 1; seed <= HISTORIES + DBC_HISTORIES +
                                             GRAPH_HISTORIES + EXPERT_HISTORIES +
                                             PURSE_HISTORIES;
         seed++) {
        make_world(w, seed);
        for (int i = 0; i < 20000 && !w->finished; i++, events++)
            something_happens(w);
        /* Every history comes to an end, and leaves nothing on a machine. */
        if (!w->finished)
            fail_msg("history %lu does not end", seed);
        ends[w->finish]++;
        add_end(w);
        if (w->finish == BATS_FINISH_ALL_DONE)
            for (uint32_t t = 0; t < w->o.n_tasks; t++)
                assert_int_equal(w->results[t],
                                 w->earlier[t] != BATS_TASK_LEFT_OUT &&
                                     !w->skipped[t]);
        bats_sched_destroy(w->sched);
        bats_graph_release(&w->graph);
    }
    print_message("# %llu events; all done %llu, budget %llu, stopped %llu, "
                  "no machines %llu, halted %llu, time limit %llu, nodes "
                  "given back %llu, too late %llu\n",
                  (unsigned long long)events,
                  (unsigned long long)ends[BATS_FINISH_ALL_DONE],
                  (unsigned long long)ends[BATS_FINISH_BUDGET],
                  (unsigned long long)ends[BATS_FINISH_STOPPED],
                  (unsigned long long)ends[BATS_FINISH_NO_MACHINES],
                  (unsigned long long)ends[BATS_FINISH_HALTED],
                  (unsigned long long)ends[BATS_FINISH_TIME_LIMIT],
                  (unsigned long long)ends[BATS_FINISH_SHRINK],
                  (unsigned long long)ends[BATS_FINISH_TOO_LATE]);
    print_message("# %llu replicas; %llu executions of tasks that had their "
                  "result\n",
                  (unsigned long long)w->replicas,
                  (unsigned long long)w->superseded);
    print_message("# %llu schedules chosen after sampling, %llu runs only "
                  "sampled\n",
                  (unsigned long long)w->choices,
                  (unsigned long long)ends[BATS_FINISH_SAMPLED]);
    assert_true(w->choices > HISTORIES / 100);
    for (int i = BATS_FINISH_ALL_DONE; i <= BATS_FINISH_TOO_LATE; i++)
        assert_true(ends[i] > HISTORIES / 1000); /* each kind was tried */
    assert_true(w->replicas > HISTORIES / 10 &&
                w->superseded > HISTORIES / 20);
    print_message(
        "# digests: bats %016llx, bkp %016llx, rr %016llx, dbc "
        "%016llx, expert %016llx\n",
        (unsigned long long)w->digest_bats, (unsigned long long)w->digest_bkp,
        (unsigned long long)w->digest_rr, (unsigned long long)w->digest_dbc,
        (unsigned long long)w->digest_expert);
    print_message("# graphs: %u tasks skipped, digest %016llx\n", w->skips,
                  (unsigned long long)w->digest_graph);
    assert_true(w->skips > GRAPH_HISTORIES);
    print_message("# workflows: %llu shares of charges, %llu tasks unpaid\n",
                  (unsigned long long)w->n_shared,
                  (unsigned long long)w->n_unpaid);
    assert_true(w->n_shared > PURSE_HISTORIES &&
                w->n_unpaid > PURSE_HISTORIES);
    assert_true(w->digest_bats == DIGEST_BATS);
    assert_true(w->digest_bkp == DIGEST_BKP);
    assert_true(w->digest_rr == DIGEST_RR);
    assert_true(w->digest_dbc == DIGEST_DBC);
    assert_true(w->digest_expert == DIGEST_EXPERT);
    gsl_rng_free(w->rng);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories_break_no_invariant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
