/*
 * history_leases: what test_sched_property.c knows of the leases and stakes of
 * a world by what the engine tells of them, and what it asserts of that: it
 * adds up to what the engine says, and to what KILLED charges.
 */
#ifndef BATS_HISTORY_LEASES_H
#define BATS_HISTORY_LEASES_H

#include "bats/sched.h"
#include "bats/status.h"
#include "history_world.h"

#define LEASES 20000

struct leases {
    struct bats_lease list[LEASES]; /* by id - 1; */
    uint32_t n;
    bats_money stakes[MACHINES][PURSES]; /* by machine: one lease has any */
};

/* It is of the kind that machines are billed by, and lasts until now. */
static void check_times(const struct world *w, const struct bats_lease *l)
{
    static const char *const kinds[] = {[BATS_BILLING_WINDOW] = "window",
                                        [BATS_BILLING_ALLOCATION] = "free",
                                        [BATS_BILLING_USE] = "use",
                                        [BATS_BILLING_JOB] = "job",
                                        [BATS_BILLING_SECOND] = "second"};
    struct bats_sched_status st;
    bats_sched_status(w->sched, &st);
    assert_true(l->asked <= st.now);
    assert_true(
        l->state != BATS_LEASE_BEGUN ||
        (l->asked <= l->begun && l->begun <= st.now && st.now <= l->until));
    assert_true(l->ended == BATS_NEVER ||
                (l->asked <= l->ended && l->ended <= st.now));
    if (l->machine == BATS_NO_MACHINE)
        return;
    assert_string_equal(l->kind, kinds[w->o.billing.model]);
    if (l->state == BATS_LEASE_ASKED) {
        assert_int_equal(l->length, w->length[l->machine]);
        assert_true(l->begun == BATS_NEVER && l->until == BATS_NEVER);
    }
    if (l->state == BATS_LEASE_BEGUN && is_billed(w, BATS_BILLING_WINDOW) &&
        w->all->notices == 0) /* which cut it short */
        assert_int_equal((l->until - l->begun) % w->o.window, 0);
}

/* A row is told when it is new, or another one. */
static void hear_lease(struct world *w, const struct bats_lease *l)
{
    struct leases *k = w->leases;
    assert_true(0 < l->id && l->id <= LEASES);
    for (; k->n < l->id; k->n++) /* in no order */
        k->list[k->n] = (struct bats_lease){.state = BATS_LEASE_ENDED};
    bool is_new = k->list[l->id - 1].id == 0;
    assert_true(
        l->machine < w->o.n_machines ||
        (l->machine == BATS_NO_MACHINE && strcmp(l->kind, "allocation") == 0));
    if (!is_new) {
        const struct bats_lease *old = &k->list[l->id - 1];
        assert_true(old->machine == l->machine && old->asked == l->asked);
        assert_true(old->state <= l->state);
        assert_true(old->charged <= l->charged ||
                    l->machine == BATS_NO_MACHINE); /* less than before */
    }
    check_times(w, l);
    assert_true(l->held >= 0 &&
                (l->if_killed == 0 || l->if_killed == l->held));
    assert_int_equal(l->ended == BATS_NEVER, l->state <= BATS_LEASE_BEGUN);
    k->list[l->id - 1] = *l;
    w->all->leases++;
}

/* The leases of a machine are as they were told. */
static void check_leases_of(const struct world *w, uint32_t machine,
                            bats_money *held)
{
    const struct leases *k = w->leases;
    uint32_t open = 0;
    bats_money charged = 0;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->list[i].machine == machine) {
            charged += k->list[i].charged;
            *held += k->list[i].held;
            open += k->list[i].state < BATS_LEASE_ENDED;
        }
    assert_true(open <= 1);
    if (machine < w->o.n_machines) {
        assert_int_equal(charged, w->paid[machine]);
        assert_true(!w->held[machine] || w->finished || open == 1);
    }
}

static void check_leases(struct world *w)
{
    struct bats_sched_status st;
    bats_money held = 0;
    bats_sched_status(w->sched, &st);
    for (uint32_t m = 0; m < w->o.n_machines; m++)
        check_leases_of(w, m, &held);
    check_leases_of(w, BATS_NO_MACHINE, &held);
    assert_int_equal(held, st.held);
    for (uint32_t i = 0; i < w->o.n_purses; i++) {
        struct bats_purse_status p;
        bats_money stakes = 0;
        bats_sched_purse_status(w->sched, i, &p);
        for (uint32_t m = 0; m < w->o.n_machines; m++)
            stakes += w->leases->stakes[m][i];
        assert_int_equal(stakes, p.held);
    }
}

static void hear_leases(struct world *w)
{
    struct bats_lease lease;
    struct bats_stake stake;
    while (bats_sched_next_lease(w->sched, &lease))
        hear_lease(w, &lease);
    while (bats_sched_next_stake(w->sched, &stake)) {
        struct leases *k = w->leases;
        assert_true(stake.lease > 0 && stake.lease <= k->n);
        assert_int_equal(k->list[stake.lease - 1].id, stake.lease);
        uint32_t m = k->list[stake.lease - 1].machine;
        assert_true(k->stakes[m][stake.purse] != stake.held);
        k->stakes[m][stake.purse] = stake.held;
        w->all->stakes++;
    }
    check_leases(w);
}

/* The charges of KILLED by what was told; *sum: of all. */
static void foresee(const struct world *w, bats_money *paid,
                    bats_money shares[MACHINES][PURSES])
{
    memcpy(paid, w->paid, sizeof w->paid);
    memcpy(shares, w->shares, sizeof w->shares);
    for (uint32_t i = 0; i < w->leases->n; i++)
        if (w->leases->list[i].machine != BATS_NO_MACHINE)
            paid[w->leases->list[i].machine] += w->leases->list[i].if_killed;
    for (uint32_t m = 0; m < MACHINES; m++)
        for (uint32_t i = 0; i < PURSES; i++)
            shares[m][i] += w->leases->stakes[m][i];
}

#endif
