/*
 * leases: machines that are charged for a whole window when they enter it, and
 * those that have no windows: they are free, or somebody else says when they
 * end. See leases.h.
 */
#include "engine/state/leases.h"

static bats_money charge_of(const struct state *s, uint32_t id)
{
    return s->clusters[s->machines[id].cluster].spec.charge;
}

static bats_money price_of_first(const struct state *s, size_t cluster)
{
    return s->clusters[cluster].spec.charge;
}

static bats_money held(const struct state *s, uint32_t id)
{
    return s->machines[id].renewing ? charge_of(s, id) : 0;
}

static bool extend(struct state *s, uint32_t id)
{
    if (!bats_ledger_hold(&s->ledger, charge_of(s, id)))
        return false;
    s->machines[id].renewing = true;
    if (s->purses.n > 0)
        purse_match(s, id, s->purses.stakes[id].window + charge_of(s, id));
    return true;
}

static void drop(struct state *s, uint32_t id)
{
    bats_ledger_give_up(&s->ledger, charge_of(s, id));
}

static void notice(struct state *s, uint32_t id, bats_time taken_at)
{
    struct machine *m = &s->machines[id];
    m->paid_end = taken_at < m->paid_end ? taken_at : m->paid_end;
}

/* ---- by windows ---- */

static void charge(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    purse_window(s, id, c->spec.charge);
    s->rest[id].windows++;
    c->windows++;
    c->paid_slot_time += (double)s->window * m->n_slots;
    state_emit(s, (struct bats_command){.type = BATS_NOTICE_CHARGE,
                                        .machine = id,
                                        .amount = c->spec.charge,
                                        .cushion = bats_ledger_take_cushion(
                                            &s->ledger, c->spec.charge)});
}

static bool begin(struct state *s, uint32_t id)
{
    if (!bats_ledger_charge(&s->ledger, charge_of(s, id)))
        return false;
    s->machines[id].paid_end = s->now + s->window;
    charge(s, id);
    return true;
}

/* The next window becomes the present one. */
static void enter_window(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    bats_ledger_charge_held(&s->ledger, charge_of(s, id));
    m->paid_end += s->window;
    m->renewing = false;
}

static void enter(struct state *s, uint32_t id)
{
    enter_window(s, id);
    charge(s, id);
}

static const struct lease_kind lease_window = {.first = price_of_first,
                                               .next = charge_of,
                                               .held = held,
                                               .begin = begin,
                                               .extend = extend,
                                               .enter = enter,
                                               .drop = drop,
                                               .notice = notice};

/* ---- without an end: the charge is 0 ---- */

static bool begin_free(struct state *s, uint32_t id)
{
    if (!bats_ledger_charge(&s->ledger, charge_of(s, id)))
        return false;
    s->machines[id].paid_end = TIME_MAX;
    return true;
}

static const struct lease_kind lease_free = {.first = price_of_first,
                                             .next = charge_of,
                                             .held = held,
                                             .begin = begin_free,
                                             .extend = extend,
                                             .enter = enter_window,
                                             .drop = drop,
                                             .notice = notice};

/* ---- jobs: jobs.c begins and ends them ---- */

static const struct lease_kind lease_job = {
    .first = job_first, .next = charge_of, .held = job_held, .notice = notice};

const struct lease_kind *lease_kind_of(enum bats_billing_model model)
{
    static const struct lease_kind *const kinds[] = {
        [BATS_BILLING_WINDOW] = &lease_window,
        [BATS_BILLING_ALLOCATION] = &lease_free,
        [BATS_BILLING_USE] = &lease_use,
        [BATS_BILLING_JOB] = &lease_job,
        [BATS_BILLING_SECOND] = &lease_second,
    };
    return kinds[model];
}
