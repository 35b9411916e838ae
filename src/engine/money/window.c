/*
 * window: machines that are charged for a whole window when they enter it, and
 * free machines, which have no windows; and what kinds have in common. See
 * kinds.h.
 */
#include "engine/money/kinds.h"

void money_set_free(const struct state *s, struct cluster *c)
{
    c->spec.charge = 0;
}

bats_money money_of_window(const struct state *s, uint32_t id)
{
    return s->clusters[s->machines[id].cluster].spec.charge;
}

void money_cut(struct state *s, uint32_t id, bats_time taken_at)
{
    struct machine *m = &s->machines[id];
    m->paid_end = taken_at < m->paid_end ? taken_at : m->paid_end;
}

void money_charge(struct state *s, uint32_t id, bats_money amount)
{
    bats_ledger_charge_held(&s->money.ledger, amount);
    s->rest[id].booked += amount;
    s->clusters[s->machines[id].cluster].used += amount;
    if (amount > 0)
        state_tell_charge(s, id, amount);
    purse_share(s, id, amount, s->money.lease->held(s, id));
}

/* ---- by windows, or free ---- */

static bats_money price_of_first(const struct state *s, size_t cluster)
{
    return s->clusters[cluster].spec.charge;
}

static bats_money held(const struct state *s, uint32_t id)
{
    return s->machines[id].renewing ? money_of_window(s, id) : 0;
}

static bool extend(struct state *s, uint32_t id)
{
    if (!bats_ledger_hold(&s->money.ledger, money_of_window(s, id)))
        return false;
    s->machines[id].renewing = true;
    purse_match(s, id, 2 * money_of_window(s, id));
    return true;
}

static void drop(struct state *s, uint32_t id)
{
    bats_ledger_give_up(&s->money.ledger, money_of_window(s, id));
}

/* ---- by windows ---- */

static void charge(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    purse_window(s, id, c->spec.charge);
    s->rest[id].windows++;
    c->windows++;
    c->paid_slot_time += (double)s->run.window * m->n_slots;
    state_tell_charge(s, id, c->spec.charge);
}

static bool begin(struct state *s, uint32_t id)
{
    if (!bats_ledger_charge(&s->money.ledger, money_of_window(s, id)))
        return false;
    s->machines[id].paid_end = s->now + s->run.window;
    charge(s, id);
    return true;
}

/* Makes the next window the current one. */
static void enter_window(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    bats_ledger_charge_held(&s->money.ledger, money_of_window(s, id));
    m->paid_end += s->run.window;
    m->renewing = false;
}

static void enter(struct state *s, uint32_t id)
{
    enter_window(s, id);
    charge(s, id);
}

const struct lease_kind lease_window = {
    .name = "window",
    .terms = {.prolongs = true, .in_windows = true, .ahead = true},
    .first = price_of_first,
    .next = money_of_window,
    .held = held,
    .begin = begin,
    .extend = extend,
    .enter = enter,
    .drop = drop,
    .notice = money_cut};

/* ---- without an end: the charge is 0 ---- */

static bool begin_free(struct state *s, uint32_t id)
{
    if (!bats_ledger_charge(&s->money.ledger, money_of_window(s, id)))
        return false;
    s->machines[id].paid_end = TIME_MAX;
    return true;
}

const struct lease_kind lease_free = {.name = "free",
                                      .terms = {.lasts = true},
                                      .is_own = true,
                                      .set_up = money_set_free,
                                      .next = money_of_window,
                                      .held = held,
                                      .begin = begin_free,
                                      .extend = extend,
                                      .enter = enter_window,
                                      .drop = drop,
                                      .notice = money_cut};
