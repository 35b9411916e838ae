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
#include "helpers/history_draw.h"
#include "helpers/history_jobs.h"

/* The digests of all histories, by what they are of. */
static const struct {
    const char *name;
    uint64_t digest;
} kinds[KINDS] = {
    [KIND_BATS] = {"bats", UINT64_C(0xfe69fbfe47869256)},
    [KIND_BKP] = {"bkp", UINT64_C(0x0cdba5576e7b330e)},
    [KIND_RR] = {"rr", UINT64_C(0x749752d202d77981)},
    [KIND_DBC] = {"dbc", UINT64_C(0x9745e82ff0ba428f)},
    [KIND_EXPERT] = {"expert", UINT64_C(0x599dff7afba75391)},
    [KIND_GRAPH] = {"graph", UINT64_C(0x6ee33c13e7f1c700)},
    [KIND_WORKFLOWS] = {"workflows", UINT64_C(0x111945d30f44ec01)},
    [KIND_NOTICE] = {"notice", UINT64_C(0x8ed142a3b049fcdd)},
    [KIND_SECOND] = {"second", UINT64_C(0x0f52a22f150176f1)},
    [KIND_JOB] = {"job", UINT64_C(0x29d90204a5c1181f)},
    [KIND_ALLOCATION] = {"allocation", UINT64_C(0x88dfa00318e4866a)},
    [KIND_NEEDS] = {"needs", UINT64_C(0xbf88b36d06cbcffe)}};

static void answer(struct world *w, uint32_t m, uint32_t slot)
{
    struct queue *q = &w->queue[m][slot];
    uint32_t at = 0;
    /* Cancelled tasks may answer in any order, results only in theirs. */
    uint32_t other = pick(q->n);
    if (q->e[other].cancelled)
        at = other;
    struct execution e = q->e[at];
    struct bats_event ev = {.type = chance(0.2) ? BATS_EVENT_FAILED
                                                : BATS_EVENT_DONE,
                            .machine = m,
                            .slot = slot,
                            .task = e.task,
                            .runtime = pick(3000) * w->scale};
    ev.out_of_memory =
        w->o.needs && ev.type == BATS_EVENT_FAILED && chance(0.5);
    if (e.cancelled && (at > 0 || chance(0.7)))
        ev.type = BATS_EVENT_PREEMPTED;
    else if (chance(0.03))
        ev.type = BATS_EVENT_YIELDED;
    w->all->superseded += w->results[e.task];
    memmove(&q->e[at], &q->e[at + 1], (--q->n - at) * sizeof q->e[0]);
    w->ends = e.task;
    assert_int_equal(tell(w, ev), 0);
    w->ends = UINT32_MAX;
}

/* The master dies, and comes back to say so. */
static void kill_it(struct world *w)
{
    w->killed = true;
    w->all->kills++;
    say(w, BATS_EVENT_KILLED, 0, 0);
    w->finished = true;
}

static void nonsense(struct world *w)
{
    struct bats_event ev = {.type = (enum bats_event_type)pick(6),
                            .machine = pick(MACHINES + 2),
                            .slot = pick((w->o.needs ? WIDEST : SLOTS) + 1),
                            .task = pick(TASKS + 2),
                            .runtime = -1};
    if (is_billed(w, BATS_BILLING_JOB) && ev.type == BATS_EVENT_JOINED)
        return; /* any of them may begin */
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
    bats_time next = w->now + pick(700) * w->scale;
    if (w->punctual && next >= wakeup)
        next = wakeup;
    bool tick = next >= wakeup || chance(0.1);
    w->now = next;
    if (tick)
        say(w, BATS_EVENT_TICK, 0, 0);
}

static void choose(struct world *w)
{
    struct bats_event ev = {
        .type = BATS_EVENT_CHOSEN,
        .choice = {.offer = (enum bats_offer)pick(BATS_OFFER_KINDS),
                   .budget = pick(100000000),
                   .deadline = pick(100000) * w->scale}};
    int rc = tell(w, ev);
    if (rc < 0) {
        assert_true(rc == BATS_EBUDGET || rc == BATS_EDEADLINE ||
                    rc == BATS_EINPUT);
        ev.choice.offer = BATS_OFFER_NONE;
        assert_int_equal(tell(w, ev), 0);
    }
    w->chosen = true;
    w->all->choices += rc == 0;
    assert_int_equal(tell(w, ev), BATS_ESTATE); /* once is enough */
}

/* A machine runs a task already, or so it says. */
static void find(struct world *w)
{
    uint32_t m = pick(w->o.n_machines);
    uint64_t before = w->n_executions; /* if the engine wants it */
    struct bats_event ev = {.type = BATS_EVENT_FOUND,
                            .machine = m,
                            .slot = pick(w->machines[m].slots),
                            .task = pick(w->o.n_tasks)};
    assert_int_equal(tell(w, ev), 0);
    w->all->found += w->n_executions > before;
}

static void something_happens(struct world *w)
{
    uint32_t m = pick(w->o.n_machines);
    double dice = uniform();
    if (is_billed(w, BATS_BILLING_JOB) && job_happens(w, m))
        return;
    if (w->finds && chance(0.1)) {
        find(w);
    } else if (w->sampled && !w->chosen && chance(0.1)) {
        choose(w);
    } else if (!w->joined[m] && !w->lost[m]) {
        w->joined[m] = true;
        say(w, BATS_EVENT_JOINED, m, 0);
    } else if (w->kind >= KIND_NOTICE && dice < 0.0003) {
        kill_it(w);
    } else if (w->kind >= KIND_NOTICE && dice < 0.0025 && !w->lost[m]) {
        w->all->notices++;
        say(w, BATS_EVENT_NOTICE, m, pick(3000) * w->scale);
    } else if (dice < 0.004 && !w->lost[m]) {
        lose(w, m);
    } else if (dice < 0.005) {
        assert_int_equal(
            tell(w,
                 (struct bats_event){.type = chance(0.5) ? BATS_EVENT_STOP
                                                         : BATS_EVENT_DRAIN}),
            0);
    } else if (dice < 0.007 || (w->on_hold && dice < 0.02)) {
        w->on_hold = !w->on_hold;
        say(w, w->on_hold ? BATS_EVENT_HOLD : BATS_EVENT_GO, 0, 0);
    } else if (dice < 0.03) {
        nonsense(w);
    } else if (dice < 0.5) {
        uint32_t slot = pick(w->machines[m].slots);
        if (w->queue[m][slot].n > 0)
            answer(w, m, slot);
    } else {
        pass_time(w);
    }
}

#define ALL_HISTORIES                                                         \
    (HISTORIES + DBC_HISTORIES + GRAPH_HISTORIES + EXPERT_HISTORIES +         \
     PURSE_HISTORIES + LEASE_HISTORIES + NEED_HISTORIES)

/* By what was told before, for each machine and workflow. */
static void check_killed(struct world *w)
{
    bats_money paid[MACHINES], shares[MACHINES][PURSES], before = w->booked;
    foresee(w, paid, shares);
    kill_it(w);
    assert_memory_equal(w->paid, paid, sizeof paid);
    assert_memory_equal(w->shares, shares, sizeof shares);
    w->all->due += w->booked > before;
}

/* `kill_at`: so many things happen before the master is killed; or, if the
 * history is over by then, it is not. */
static void play(struct world *w, unsigned long seed, int kill_at)
{
    make_world(w, seed);
    if (w->leases) {
        w->leases->n = 0;
        memset(w->leases->stakes, 0, sizeof w->leases->stakes);
        hear_leases(w);
    }
    if (is_billed(w, BATS_BILLING_JOB)) /* what the engine wants at once */
        say(w, BATS_EVENT_TICK, 0, 0);
    for (int i = 0; i < 20000 && !w->finished; i++)
        if (i == kill_at)
            check_killed(w);
        else
            something_happens(w);
    /* Every history comes to an end, and leaves nothing on a machine. */
    if (!w->finished)
        fail_msg("history %lu does not end", seed);
    end_jobs(w);
    add_end(w);
    if (w->finish == BATS_FINISH_ALL_DONE)
        for (uint32_t t = 0; t < w->o.n_tasks; t++)
            assert_int_equal(w->results[t],
                             w->earlier[t] != BATS_TASK_LEFT_OUT &&
                                 !w->skipped[t]);
    bats_sched_destroy(w->sched);
    bats_graph_release(&w->graph);
}

static struct world *begin(struct totals *all)
{
    struct world *w = calloc(1, sizeof *w);
    w->all = all;
    return w;
}

TEST(nor_do_tasks_that_are_found)
{
    struct totals all = {0};
    struct world *w = begin(&all);
    w->finds = true;
    for (unsigned long seed = 1; seed <= ALL_HISTORIES; seed += 17)
        play(w, seed, -1);
    print_message("# %llu tasks were found\n", (unsigned long long)all.found);
    assert_true(all.found > ALL_HISTORIES / 100);
    free(w);
}

/* A record is settled by this when its run was killed. */
TEST(killed_it_charges_what_was_told)
{
    struct totals all = {0};
    struct world *w = begin(&all);
    w->leases = calloc(1, sizeof *w->leases);
    for (unsigned long seed = 1; seed <= ALL_HISTORIES; seed += 11)
        play(w, seed, (int)(seed * 2654435761u % 300));
    print_message("# %llu leases and %llu stakes were told, %llu of %llu "
                  "kills charged\n",
                  (unsigned long long)all.leases,
                  (unsigned long long)all.stakes, (unsigned long long)all.due,
                  (unsigned long long)all.kills);
    assert_true(all.stakes > ALL_HISTORIES / 10);
    assert_true(all.due > ALL_HISTORIES / 200);
    free(w->leases);
    free(w);
}

/* Histories of each kind end in each way, and all that is to be drawn is. */
static void check_drawn(const struct totals *all, const uint64_t *ends)
{
    for (int i = BATS_FINISH_ALL_DONE; i <= BATS_FINISH_TOO_LATE; i++)
        assert_true(ends[i] > HISTORIES / 1000);
    assert_true(all->choices > HISTORIES / 100);
    assert_true(all->replicas > HISTORIES / 10);
    assert_true(all->superseded > HISTORIES / 20);
    assert_true(all->skips > GRAPH_HISTORIES);
    assert_true(all->shares > PURSE_HISTORIES);
    assert_true(all->unpaid > PURSE_HISTORIES);
    assert_true(all->bills > LEASE_HISTORIES);
    assert_true(all->notices > LEASE_HISTORIES / 5);
    assert_true(all->kills > LEASE_HISTORIES / 100);
    for (enum bats_idle i = BATS_IDLE_NO_TASK; i <= BATS_IDLE_NO_COPY; i++)
        assert_true(all->idle[i] > 0 || i == BATS_IDLE_TRIAL);
}

TEST(random_histories_break_no_invariant)
{
    struct totals all = {0};
    struct world *w = begin(&all);
    uint64_t ends[BATS_FINISH_TOO_LATE + 1] = {0};
    for (unsigned long seed = 1; seed <= ALL_HISTORIES; seed++) {
        play(w, seed, -1);
        ends[w->finish]++;
    }
    free(w);
    for (int i = 0; i <= BATS_FINISH_TOO_LATE; i++)
        print_message("# finish %d: %llu\n", i, (unsigned long long)ends[i]);
    print_message(
        "# %llu replicas, %llu too many, %llu choices, %llu skips\n",
        (unsigned long long)all.replicas, (unsigned long long)all.superseded,
        (unsigned long long)all.choices, (unsigned long long)all.skips);
    print_message(
        "# %llu shares, %llu unpaid, %llu bills, %llu notices, %llu "
        "kills\n",
        (unsigned long long)all.shares, (unsigned long long)all.unpaid,
        (unsigned long long)all.bills, (unsigned long long)all.notices,
        (unsigned long long)all.kills);
    check_drawn(&all, ends);
    for (enum bats_idle i = BATS_IDLE_NO_TASK; i <= BATS_IDLE_NO_COPY; i++)
        print_message("# idle, %s: %llu\n", bats_idle_name(i),
                      (unsigned long long)all.idle[i]);
    bool same = true;
    for (int i = 0; i < KINDS; i++) {
        print_message("# %s 0x%016llx\n", kinds[i].name,
                      (unsigned long long)all.digest[i]);
        same &= all.digest[i] == kinds[i].digest;
    }
    assert_true(same);
}

TEST_MAIN(NULL, NULL)
