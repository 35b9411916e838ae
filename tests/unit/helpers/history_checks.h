/*
 * history_checks: what test_sched_property.c asserts after every event: the
 * invariants of the engine, and a second bookkeeping that knows its commands
 * only.
 */
#ifndef BATS_HISTORY_CHECKS_H
#define BATS_HISTORY_CHECKS_H

#include "history_world.h"

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
    w->idle[m] = BATS_IDLE_NOT;
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

static int right_to_run(const struct world *w, uint32_t node);

/* The fate of a node: of a task, or of all that a joint waits for. */
static int fate(const struct world *w, uint32_t node)
{
    if (node >= w->o.n_tasks)
        return right_to_run(w, node);
    if (w->results[node] > 0)
        return bats_sched_has_failed(w->sched, node) ? DOOMED : LET;
    return w->skipped[node] || w->earlier[node] == BATS_TASK_LEFT_OUT ? DOOMED
                                                                      : WAITS;
}

/* The task may run (LET), waits, or must be skipped: found through all edges,
 * with the fates of those before it first. */
static int right_to_run(const struct world *w, uint32_t node)
{
    const struct bats_graph *g = &w->graph;
    int worst = LET;
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

static void leave_out(struct world *w, uint32_t task)
{
    assert_true(w->results[task] == 0 && !w->skipped[task]);
    assert_int_equal(executions(w, task, UINT64_MAX, true), 0);
    w->skipped[task] = true;
    w->n_skipped++;
    w->all->skips++;
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
    assert_true(w->idle[c->machine] != BATS_IDLE_LEAVING); /* as it was told */
    assert_true(w->results[c->task] == 0 || (w->sampling && c->replica > 0));
    if (c->replica == 0) {
        assert_int_equal(n, 0);
    } else {
        assert_true(q->n == 0 && !w->once[c->task]);
        assert_true(w->results[c->task] > 0 ||
                    executions(w, c->task, UINT64_MAX, false) > 0);
        w->all->replicas++;
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
    if (i == q->n && w->ends == c->task) /* it fell due before the end */
        return;
    assert_true(i < q->n && !q->e[i].cancelled);
    q->e[i].cancelled = true;
}

/* The machine is there: a job has only been asked for. */
static void acquire(struct world *w, const struct bats_command *c)
{
    assert_true(w->joined[c->machine] && !w->lost[c->machine]);
    assert_false(w->held[c->machine]);
    if (is_billed(w, BATS_BILLING_JOB)) {
        assert_true(w->job[c->machine] == NO_JOB && !w->closed[c->machine]);
        assert_true(c->time > 0);
        w->job[c->machine] = JOB_ASKED;
        w->length[c->machine] = c->time;
        return;
    }
    w->held[c->machine] = true;
    w->acquired[c->machine] = w->now;
}

static void park(struct world *w, uint32_t m)
{
    assert_true(w->held[m] || w->job[m] == JOB_ASKED);
    end_holding(w, m, true);
    if (is_billed(w, BATS_BILLING_JOB))
        w->job[m] = JOB_ENDED;
}

static void obey(struct world *w)
{
    struct bats_command c;
    while (bats_sched_next(w->sched, &c)) {
        /* Only bills of jobs may follow. */
        assert_true(!w->finished || (is_billed(w, BATS_BILLING_JOB) &&
                                     (c.type == BATS_NOTICE_CHARGE ||
                                      c.type == BATS_NOTICE_SHARE)));
        add_command(w, &c);
        switch (c.type) {
        case BATS_COMMAND_ACQUIRE:
            acquire(w, &c);
            break;
        case BATS_COMMAND_RUN:
            run(w, &c);
            break;
        case BATS_COMMAND_CANCEL:
            cancel(w, &c);
            break;
        case BATS_COMMAND_PARK:
            park(w, c.machine);
            break;
        case BATS_COMMAND_RELEASE:
            end_holding(w, c.machine, false);
            break;
        case BATS_NOTICE_CHARGE:
            w->booked += c.amount;
            if (c.machine != BATS_NO_MACHINE)
                w->paid[c.machine] += c.amount;
            if (is_billed(w, BATS_BILLING_WINDOW) && w->held[c.machine] &&
                w->punctual && !w->finds) /* not the first window */
                assert_true(w->pending_before > 0 || works(w, c.machine));
            break;
        case BATS_NOTICE_QUARANTINE:
        case BATS_NOTICE_READMIT:
        case BATS_NOTICE_LOSE:
            break;
        case BATS_NOTICE_SKIP:
            leave_out(w, c.task);
            w->unpaid[c.task] = c.unpaid;
            w->all->unpaid += c.unpaid;
            assert_true(!c.unpaid || w->o.n_purses > 0);
            break;
        case BATS_NOTICE_SHARE:
            assert_true(c.amount > 0 && c.purse < w->o.n_purses);
            w->shared[c.purse] += c.amount;
            w->shares[c.machine][c.purse] += c.amount;
            w->all->shares++;
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

/* The charges of the machines that are held by executions of a workflow, which
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
        if (is_billed(w, BATS_BILLING_WINDOW) && !w->killed)
            assert_true(may_cost(w, i) <= p.held);
        sum += w->shared[i];
    }
    bats_money before = w->o.billing.before;
    assert_true(w->killed || sum <= w->booked - w->o.earlier.charged -
                                        (before < 0 ? before : 0));
}

/* It is over, and all is billed: nothing is held, and all that is charged was
 * told. */
static void check_settled(const struct world *w)
{
    struct bats_sched_status st;
    bats_sched_status(w->sched, &st);
    for (uint32_t i = 0; !w->killed && i < w->o.n_purses; i++) {
        struct bats_purse_status p;
        bats_sched_purse_status(w->sched, i, &p);
        assert_int_equal(p.held, 0);
    }
    if (!w->killed && w->o.billing.rate == 0) /* else time has passed since */
        assert_int_equal(st.charged, w->booked);
}

/* Machines that are held and have a slot without a task say why, once for each
 * reason; what a reason says is so. */
static void check_idle(struct world *w)
{
    struct bats_idle_machine idle;
    while (bats_sched_next_idle(w->sched, &idle)) {
        uint32_t m = idle.machine;
        bool any = false;
        assert_true(m < w->o.n_machines && w->held[m]);
        for (uint32_t k = 0; k < w->machines[m].slots; k++)
            any |= w->queue[m][k].n == 0;
        assert_true(any);
        assert_true(idle.reason != BATS_IDLE_NOT);
        assert_true(idle.reason != w->idle[m]);
        assert_true(idle.reason != BATS_IDLE_ON_HOLD || w->on_hold);
        assert_true(idle.reason != BATS_IDLE_SHORT || idle.until >= w->now);
        w->idle[m] = idle.reason;
        w->all->idle[idle.reason]++;
    }
}

/* The node, with slots from first on, has what its executions need, told to
 * stop or not; and the slots that they hold are held by nobody else. */
static void check_node(const struct world *w, uint32_t m, uint32_t first,
                       uint32_t n_slots)
{
    int64_t cores = 0, gpus = 0, memory = 0;
    bool held[WIDEST] = {false};
    uint64_t tokens = 0;
    const struct bats_stock *stock = &w->stocks[m];
    for (uint32_t k = first; k < first + n_slots; k++) {
        if (w->queue[m][k].n == 0)
            continue;
        const struct bats_need *need =
            bats_sched_need(w->sched, w->queue[m][k].e[0].task);
        uint32_t slots[WIDEST];
        assert_int_equal(w->queue[m][k].n, 1);
        assert_int_equal(bats_sched_holds(w->sched, m, k, slots), need->cores);
        assert_int_equal(slots[0], k);
        for (uint32_t i = 0; i < need->cores; i++) {
            assert_true(slots[i] >= k && slots[i] < first + n_slots &&
                        !held[slots[i]]);
            held[slots[i]] = true;
        }
        cores += need->cores;
        uint64_t own = bats_sched_gpus(w->sched, m, k);
        assert_int_equal(__builtin_popcountll(own), need->gpus);
        assert_true((tokens & own) == 0);
        tokens |= own;
        gpus += need->gpus;
        memory += need->memory_kib;
    }
    assert_true(cores <= n_slots);
    if (w->o.stocks)
        assert_true(gpus <= stock->gpus &&
                    (stock->memory_kib == 0 || memory <= stock->memory_kib));
}

static void check_room(const struct world *w, uint32_t m)
{
    uint32_t nodes = w->o.stocks ? w->stocks[m].nodes : 1;
    uint32_t n_slots = w->machines[m].slots / nodes;
    for (uint32_t k = 0; k < nodes; k++)
        check_node(w, m, k * n_slots, n_slots);
}

static void check(struct world *w)
{
    struct bats_sched_status st;
    check_sched(w->sched);
    bats_sched_status(w->sched, &st);
    /* What others bill is charged in any case. */
    if (!w->overbilled && w->o.billing.rate == 0)
        assert_true(st.charged <= w->o.budget);
    if (w->o.billing.rate == 0 && w->o.billing.before == 0)
        assert_int_equal(st.charged, w->booked);
    if (w->punctual && !w->finished && is_billed(w, BATS_BILLING_WINDOW))
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
    for (uint32_t m = 0; w->o.needs && m < w->o.n_machines; m++)
        check_room(w, m);
    check_skips(w);
    check_purses(w);
    check_idle(w);
}

#endif
