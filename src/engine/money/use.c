/*
 * use: machines that are charged for use (bats/billing.h). A machine is in use
 * while it has a task. The money held pays for the longest runtime of the
 * sample, and is then extended by a quarter each time. The paid time does not
 * run out while the machine is unused. See moves.h.
 */
#include "engine/money/kinds.h"

static bats_money cost_until(const struct state *s, uint32_t id,
                             bats_time time)
{
    return bats_billing_use(s->clusters[s->machines[id].cluster].price,
                            s->run.window, time - s->rest[id].since);
}

static bool in_use(const struct state *s, uint32_t id)
{
    return s->rest[id].since != BATS_NEVER;
}

static bats_money held(const struct state *s, uint32_t id)
{
    return in_use(s, id) ? cost_until(s, id, s->machines[id].paid_end) -
                               s->rest[id].booked
                         : 0;
}

static void pay_until(struct state *s, uint32_t id, bats_time end)
{
    struct machine *m = &s->machines[id];
    m->paid_end = end;
    end -= s->run.preempt_lead;
    bats_heap_set(&s->turns, id, end > s->now ? end : s->now);
}

/* The least money left among the run and the workflows on this machine. */
static bats_money money_left(const struct state *s, uint32_t id)
{
    bats_money left = bats_ledger_available(&s->money.ledger);
    bats_money room = purse_room(s, id);
    return room < left ? room : left;
}

/* Holds the price of use until `end`, or as much as the money allows. */
static void hold_until(struct state *s, uint32_t id, bats_time end)
{
    const struct machine *m = &s->machines[id];
    bats_money before = held(s, id), sum;
    if (end <= m->paid_end)
        return;
    if (bats_units_add(before + s->rest[id].booked, money_left(s, id), &sum) &&
        cost_until(s, id, end) > sum)
        end = s->rest[id].since +
              bats_billing_lasts(s->clusters[m->cluster].price, s->run.window,
                                 sum);
    if (end > m->paid_end &&
        bats_ledger_hold(&s->money.ledger,
                         cost_until(s, id, end) - s->rest[id].booked - before))
        pay_until(s, id, end);
}

static void book(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bats_time until = s->now < m->paid_end ? s->now : m->paid_end;
    money_charge(s, id, cost_until(s, id, until) - s->rest[id].booked);
}

static void kill(struct state *s, uint32_t id)
{
    if (in_use(s, id))
        money_charge(s, id, held(s, id));
}

bool use_affordable(const struct state *s, uint32_t id, bats_time time)
{
    const struct machine *m = &s->machines[id];
    bats_time rest = in_use(s, id) ? m->paid_end - s->now : 0;
    bats_time lasts =
        bats_billing_lasts(s->clusters[m->cluster].price, s->run.window,
                           bats_ledger_available(&s->money.ledger));
    if (rest + lasts <= s->run.preempt_lead) /* too short to be useful */
        return false;
    time -= rest;
    return time <= 0 ||
           bats_billing_use(s->clusters[m->cluster].price, s->run.window,
                            time) <= bats_ledger_available(&s->money.ledger);
}

/* Holding the machine costs nothing until it has a task. */
static bool begin(struct state *s, uint32_t id)
{
    if (!bats_ledger_charge(&s->money.ledger, 0))
        return false;
    s->machines[id].paid_end = TIME_MAX;
    return true;
}

static void work(struct state *s, uint32_t id, bats_time allowed)
{
    struct machine *m = &s->machines[id];
    if (m->state != MACHINE_ACTIVE)
        return;
    if (in_use(s, id)) {
        book(s, id);
    } else {
        s->rest[id].since = m->paid_end = s->now;
        s->rest[id].booked = 0;
        if (s->rest[id].began_at == BATS_NEVER)
            s->rest[id].began_at = s->now;
    }
    hold_until(s, id, s->now + (allowed > 0 ? allowed : 1));
    purse_match(s, id, held(s, id));
}

static bool extend(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bats_time before = m->paid_end;
    double mean = cluster_runtime(&s->clusters[m->cluster]);
    double age = (double)(s->now - s->rest[id].since);
    if (!s->clusters[m->cluster].spec.lost_is_free)
        book(s, id);
    hold_until(s, id, before + (bats_time)((mean > age ? mean : age) / 4) + 1);
    purse_match(s, id, held(s, id));
    return m->paid_end > before;
}

/* A booked charge stays, so nothing is booked before the end, when it may be
 * forgiven. */
static void forgive(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    if (!s->clusters[m->cluster].spec.lost_is_free || !in_use(s, id))
        return;
    bats_ledger_give_up(&s->money.ledger, held(s, id));
    s->rest[id].since = s->machines[id].paid_end = s->now;
    s->rest[id].booked = 0;
    purse_match(s, id, held(s, id));
}

static void idle(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    if (!in_use(s, id))
        return;
    book(s, id);
    bats_ledger_give_up(&s->money.ledger, held(s, id));
    s->clusters[m->cluster].paid_slot_time +=
        (double)(s->now - s->rest[id].since) * m->n_slots;
    s->rest[id].since = BATS_NEVER;
    purse_close(s, id);
    if (m->state == MACHINE_ACTIVE)
        pay_until(s, id, TIME_MAX);
    else if (m->state == MACHINE_LEAVING)
        pay_until(s, id, s->now);
}

static bats_money price_of_next(const struct state *s, uint32_t id)
{
    return 0;
}

const struct lease_kind lease_use = {
    .name = "use",
    .terms = {.prolongs = true, .idle_is_free = true},
    .set_up = money_set_free,
    .next = price_of_next,
    .held = held,
    .begin = begin,
    .extend = extend,
    .work = work,
    .idle = idle,
    .forgive = forgive,
    .kill = kill};
