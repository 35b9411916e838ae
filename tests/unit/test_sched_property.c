/*
 * Random histories of the engine: a small world of machines that answers its
 * commands in any order and at any time, loses machines, fails tasks, sends
 * nonsense and stops. Idle machines may run replicas. After every event the
 * engine's own invariants are checked, and a second bookkeeping that knows the
 * commands only. In some worlds tasks wait for others, with joints between
 * them, and belong to workflows with budgets of their own.
 *
 * The digest of all that the engine answers says whether it still answers the
 * same to the same events. A change that is meant to decide otherwise changes
 * it, and says so; one that only rebuilds the engine must not.
 */
#include "helpers/history_checks.h"
#include "helpers/history_draw.h"

/* The digests of all histories. */
#define DIGEST_BATS UINT64_C(0x971e5deb38590972)
#define DIGEST_BKP UINT64_C(0x8b9e9bd5cdc0f80b)
#define DIGEST_DBC UINT64_C(0x9a61a1e9e55aa637)
#define DIGEST_EXPERT UINT64_C(0x5144b530d5082779)
#define DIGEST_RR UINT64_C(0x9939c566013785c6)

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

/* A machine runs a task already, or so it says. */
static void find(struct world *w)
{
    uint32_t m = pick(w, w->o.n_machines);
    uint64_t before = w->n_executions;
    struct bats_event ev = {.type = BATS_EVENT_FOUND,
                            .machine = m,
                            .slot = pick(w, w->machines[m].slots),
                            .task = pick(w, w->o.n_tasks)};
    assert_int_equal(tell(w, ev), 0);
    w->found += w->n_executions > before;
}

static void something_happens(struct world *w)
{
    uint32_t m = pick(w, w->o.n_machines);
    double dice = gsl_rng_uniform(w->rng);
    if (w->finds && chance(w, 0.1)) {
        find(w);
    } else if (w->sampled && !w->chosen && chance(w, 0.1)) {
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

#define ALL_HISTORIES                                                        \
    (HISTORIES + DBC_HISTORIES + GRAPH_HISTORIES + EXPERT_HISTORIES +        \
     PURSE_HISTORIES)

static void nor_do_tasks_that_are_found(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    w->rng = gsl_rng_alloc(gsl_rng_mt19937);
    w->finds = true;
    for (unsigned long seed = 1; seed <= ALL_HISTORIES; seed += 17) {
        make_world(w, seed);
        for (int i = 0; i < 20000 && !w->finished; i++)
            something_happens(w);
        if (!w->finished)
            fail_msg("history %lu does not end", seed);
        bats_sched_destroy(w->sched);
        bats_graph_release(&w->graph);
    }
    print_message("# %llu tasks were found\n", (unsigned long long)w->found);
    assert_true(w->found > ALL_HISTORIES / 100);
    gsl_rng_free(w->rng);
    free(w);
}

static void random_histories_break_no_invariant(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    uint64_t ends[BATS_FINISH_TOO_LATE + 1] = {0};
    uint64_t events = 0;
    w->rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (unsigned long seed = 1; seed <= ALL_HISTORIES; seed++) {
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
        cmocka_unit_test(random_histories_break_no_invariant),
        cmocka_unit_test(nor_do_tasks_that_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
