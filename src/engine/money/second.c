/*
 * second: machines that are billed by the second, by their age
 * (bats/billing.h, bats/tariff.h). The most that a machine may cost until the
 * end of its window or block is held. The certain part is charged as windows
 * end, the rest when the machine is given back or reclaimed. See moves.h.
 */
#include "engine/money/kinds.h"

static const struct bats_cluster *spec_of(const struct state *s, uint32_t id)
{
    return &s->clusters[s->machines[id].cluster].spec;
}

static bool is_metered(const struct state *s, uint32_t id)
{
    return s->rest[id].since != BATS_NEVER;
}

/* Cost of the machine if it ends at `time`. */
static bats_money cost_until(const struct state *s, uint32_t id,
                             bats_time time, enum bats_end end)
{
    return bats_tariff_cost(&spec_of(s, id)->tariff, s->rest[id].length, 0,
                            time - s->rest[id].since, end);
}

/* End of the next window, of the block, or of the machine. */
static bats_time next_end(const struct state *s, uint32_t id)
{
    const struct machine_rest *r = &s->rest[id];
    bats_time end = s->machines[id].paid_end + s->run.window;
    if (r->length > 0 && end > r->since + r->length)
        end = r->since + r->length;
    return end < r->taken_at ? end : r->taken_at;
}

static bats_money held(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    if (!is_metered(s, id))
        return 0;
    return cost_until(s, id, m->renewing ? next_end(s, id) : m->paid_end,
                      BATS_END_USER) -
           s->rest[id].booked;
}

static bool begin(struct state *s, uint32_t id)
{
    const struct cluster *c = &s->clusters[s->machines[id].cluster];
    const struct bats_tariff *t = &c->spec.tariff;
    struct machine_rest *r = &s->rest[id];
    int64_t windows = c->plan_windows > 0 ? c->plan_windows : 1;
    bats_time wanted, first = s->run.window;
    if (!bats_units_multiply(windows, s->run.window, &wanted))
        wanted = BATS_LONGEST;
    bats_time length = bats_tariff_block(t, wanted);
    if (length > 0 && first > length)
        first = length;
    bats_money cost = bats_tariff_cost(t, length, 0, first, BATS_END_USER);
    if (cost == BATS_UNLIMITED || !bats_ledger_hold(&s->money.ledger, cost))
        return false;
    r->length = length;
    r->since = s->now;
    r->booked = 0;
    s->machines[id].paid_end = s->now + first;
    purse_match(s, id, held(s, id));
    return true;
}

static bats_money price_of_first(const struct state *s, size_t cluster)
{
    const struct bats_tariff *t = &s->clusters[cluster].spec.tariff;
    bats_time length = bats_tariff_block(t, s->run.window);
    return bats_tariff_cost(
        t, length, 0,
        length > 0 && length < s->run.window ? length : s->run.window,
        BATS_END_USER);
}

/* Extends the money held from `from` to `end`. False: the money does not
 * suffice, and nothing has changed. */
static bool hold_until(struct state *s, uint32_t id, bats_time from,
                       bats_time end)
{
    bats_money before = cost_until(s, id, from, BATS_END_USER);
    bats_money after = cost_until(s, id, end, BATS_END_USER);
    if (after == BATS_UNLIMITED)
        return false;
    if (after >= before)
        return bats_ledger_hold(&s->money.ledger, after - before);
    bats_ledger_give_up(&s->money.ledger, before - after);
    return true;
}

static bats_money price_of_next(const struct state *s, uint32_t id)
{
    if (!is_metered(s, id))
        return s->clusters[s->machines[id].cluster].spec.charge;
    bats_money until = cost_until(s, id, next_end(s, id), BATS_END_USER);
    return until == BATS_UNLIMITED
               ? until
               : until - cost_until(s, id, s->machines[id].paid_end,
                                    BATS_END_USER);
}

static bool extend(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    bats_time end = next_end(s, id);
    if (end <= m->paid_end || !hold_until(s, id, m->paid_end, end))
        return false;
    m->renewing = true;
    purse_match(s, id, held(s, id));
    return true;
}

static void drop(struct state *s, uint32_t id)
{
    hold_until(s, id, next_end(s, id), s->machines[id].paid_end);
}

static void notice(struct state *s, uint32_t id, bats_time end)
{
    bats_time paid = s->machines[id].paid_end;
    s->machines[id].paid_end =
        is_metered(s, id) && hold_until(s, id, paid, end) ? end
        : end < paid                                      ? end
                                                          : paid;
    purse_match(s, id, held(s, id));
}

static void charge(struct state *s, uint32_t id, bats_money until)
{
    if (until > s->rest[id].booked)
        money_charge(s, id, until - s->rest[id].booked);
}

static void enter(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    m->paid_end = next_end(s, id);
    m->renewing = false;
    if (is_metered(s, id))
        charge(s, id,
               bats_tariff_certain(&spec_of(s, id)->tariff, s->rest[id].length,
                                   s->now - s->rest[id].since));
    purse_match(s, id, held(s, id));
}

static void kill(struct state *s, uint32_t id)
{
    if (is_metered(s, id))
        charge(s, id, s->rest[id].booked + held(s, id));
}

static void finish(struct state *s, uint32_t id, enum bats_end end)
{
    struct machine *m = &s->machines[id];
    if (!is_metered(s, id))
        return;
    if (m->renewing)
        drop(s, id);
    m->renewing = false;
    bats_time until = s->now < m->paid_end ? s->now : m->paid_end;
    charge(s, id, cost_until(s, id, until, end));
    bats_ledger_give_up(&s->money.ledger, held(s, id));
    s->clusters[m->cluster].paid_slot_time +=
        (double)(until - s->rest[id].since) * m->n_slots;
    s->rest[id].since = BATS_NEVER;
}

/* Plans use the price of a new machine's first window. */
static void set_up(const struct state *s, struct cluster *c)
{
    struct bats_tariff *t = &c->spec.tariff;
    if (t->n_steps == 0)
        *t = (struct bats_tariff){.per = s->run.window,
                                  .n_steps = 1,
                                  .step = {{.charge = c->price}}};
    c->price = c->spec.charge =
        bats_tariff_cost(t, t->shortest, 0, s->run.window, BATS_END_USER);
}

const struct lease_kind lease_second = {
    .name = "second",
    .terms = {.prolongs = true, .returns = true, .ahead = true},
    .set_up = set_up,
    .first = price_of_first,
    .next = price_of_next,
    .held = held,
    .begin = begin,
    .extend = extend,
    .enter = enter,
    .drop = drop,
    .notice = notice,
    .end = finish,
    .kill = kill};
