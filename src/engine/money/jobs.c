/*
 * jobs: machines that are jobs of their own (bats/billing.h). The price of a
 * job's longest time is held from its request until its bill, so that the
 * batch system can never exceed the budget. With leases (billing.lease) only a
 * lease is held, and prolonged at each tick; a job that is not prolonged
 * leaves when its lease is over. See money.h.
 */
#include "engine/money/kinds.h"

#include <assert.h>

#define SOON (BATS_SECOND / 2)

bats_money job_price(const struct state *s, size_t cluster, bats_time length)
{
    return bats_billing_use(s->clusters[cluster].price, s->run.window,
                            length + s->money.ledger.billing.overrun);
}

/* Money held for the machine's job, or 0. */
static bats_money job_held(const struct state *s, uint32_t id)
{
    const struct machine_rest *r = &s->rest[id];
    return r->asked ? job_price(s, s->machines[id].cluster,
                                r->leased > 0 ? r->leased : r->length)
                    : 0;
}

bats_time job_end(const struct state *s, uint32_t id)
{
    const struct machine_rest *r = &s->rest[id];
    bats_time end = s->machines[id].paid_end;
    return r->leased > 0 && r->began_at + r->leased < end
               ? r->began_at + r->leased
               : end;
}

bats_money jobs_waiting(const struct state *s)
{
    bats_money sum = 0;
    for (uint32_t i = 0; s->money.n_asked_slots > 0 && i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_ASKED)
            sum += job_held(s, i);
    return sum;
}

bats_time job_wait(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    double waited = c->waited;
    uint32_t left = c->n_asked;
    for (uint32_t i = 0; i < c->n_machines && left > 0; i++) {
        uint32_t id = s->members[c->first_machine + i];
        if (s->machines[id].state != MACHINE_ASKED)
            continue;
        waited += (double)(s->now - s->rest[id].asked_at);
        left--;
    }
    return (bats_time)(waited / (c->n_began > 0 ? c->n_began : 1) + 0.5);
}

/* Time before a job's end at which its successor is requested. */
static bats_time lead_of(const struct state *s, uint32_t id)
{
    bats_time wait = job_wait(s, s->machines[id].cluster);
    bats_time length = s->rest[id].length;
    return s->run.preempt_lead + (wait < length ? wait : length);
}

/* Time for which the price of a job of this length and age is held. */
static bats_time held_time(const struct state *s, bats_time length,
                           bats_time age)
{
    bats_time lease = s->money.ledger.billing.lease;
    return lease > 0 && age + lease < length ? age + lease : length;
}

bats_time job_ahead(const struct state *s, bats_time length)
{
    const struct bats_billing *b = &s->money.ledger.billing;
    return held_time(s, length, 0) + (b->lease > 0 ? b->starting : 0);
}

bats_money job_first(const struct state *s, size_t cluster)
{
    return job_price(s, cluster, job_ahead(s, s->run.window));
}

bool job_take_over(struct state *s, uint32_t id, bats_time length,
                   bats_time age)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    bats_time time =
        age == 0 ? job_ahead(s, length) : held_time(s, length, age);
    assert(m->state == MACHINE_PARKED && !s->rest[id].asked);
    if (!bats_ledger_hold(&s->money.ledger, job_price(s, m->cluster, time)))
        return false;
    books_open(s, id);
    s->rest[id].length = length;
    s->rest[id].leased = s->money.ledger.billing.lease > 0 ? time : 0;
    state_set_latest(s);
    bats_heap_remove(&c->parked, s->rest[id].member);
    m->state = MACHINE_ASKED;
    s->rest[id].asked = true;
    purse_match(s, id, job_held(s, id));
    s->rest[id].asked_at = s->now;
    s->rest[id].began_at = s->rest[id].idle_at = BATS_NEVER;
    c->n_asked++;
    s->money.n_asked_slots += m->n_slots;
    s->money.n_jobs++;
    return true;
}

bool job_ask(struct state *s, uint32_t id, bats_time length)
{
    if (!job_take_over(s, id, length, 0))
        return false;
    if (s->money.n_jobs == 1)
        s->run.next_tick = s->now + s->run.interval;
    state_emit(s, BATS_COMMAND_ACQUIRE, id)->time = length;
    return true;
}

static void stop_waiting(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    s->clusters[m->cluster].n_asked--;
    s->money.n_asked_slots -= m->n_slots;
    m->state = MACHINE_ENDING;
}

bool job_wants_successor(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    return m->state == MACHINE_ACTIVE && !m->last &&
           (s->rest[id].leased == 0 || s->now >= m->paid_end - lead_of(s, id));
}

/* Turns: first to request the successor, then the end of the lease and of the
 * job. */
static void schedule(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bats_time end = job_end(s, id);
    bats_time turn = end - s->run.preempt_lead;
    if (!m->last && m->paid_end - lead_of(s, id) < turn)
        turn = m->paid_end - lead_of(s, id);
    if (m->state == MACHINE_LEAVING)
        turn = end;
    else if (turn <= s->now && s->rest[id].leased > 0) /* its task may end */
        turn = s->now + SOON < end ? s->now + SOON : end;
    bats_heap_set(&s->turns, id, turn > s->now ? turn : s->now);
}

void job_prolong(struct state *s, uint32_t id, bats_time until)
{
    struct machine_rest *r = &s->rest[id];
    if (r->leased == 0)
        return;
    bats_time time = held_time(s, s->machines[id].paid_end - r->began_at,
                               s->now - r->began_at);
    if (until != BATS_NEVER && time > until - r->began_at)
        time = until - r->began_at;
    bats_money more =
        job_price(s, s->machines[id].cluster, time) - job_held(s, id);
    if (time > r->leased && bats_ledger_hold(&s->money.ledger, more)) {
        r->leased = time;
        books_change(s, id);
    }
    schedule(s, id);
}

/* The job has begun: nothing is held for its start any more. */
static void shorten(struct state *s, uint32_t id, bats_time age)
{
    struct machine_rest *r = &s->rest[id];
    bats_time time = held_time(s, r->length, age);
    if (r->leased <= time)
        return;
    bats_money before = job_held(s, id);
    r->leased = time;
    bats_ledger_give_up(&s->money.ledger, before - job_held(s, id));
    books_change(s, id);
}

void job_leave(struct state *s, uint32_t id)
{
    s->machines[id].paid_end = job_end(s, id);
    machine_leave(s, id);
}

void job_begin(struct state *s, uint32_t id, bats_time age)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    stop_waiting(s, id);
    c->waited += (double)(s->now - s->rest[id].asked_at);
    c->n_began++;
    c->windows++;
    s->rest[id].windows++;
    s->rest[id].age = s->rest[id].leased > 0 ? age : 0;
    s->rest[id].began_at = s->now - s->rest[id].age;
    books_begin(s, id);
    machine_hold(s, id, s->rest[id].began_at + s->rest[id].length);
    m->last = false;
    shorten(s, id, age);
    schedule(s, id);
    job_prolong(s, id, BATS_NEVER);
}

void job_set_end(struct state *s, uint32_t id, bats_time time)
{
    struct machine *m = &s->machines[id];
    if (!machine_is_held(m))
        return;
    m->paid_end = s->now + time;
    books_change(s, id);
    schedule(s, id);
}

void job_set_last(struct state *s, uint32_t id)
{
    s->machines[id].last = true;
    if (!s->machines[id].marked)
        machine_mark(s, id, true);
    schedule(s, id);
}

void job_withdraw(struct state *s, uint32_t id)
{
    stop_waiting(s, id);
    books_end(s, id);
    state_emit(s, BATS_COMMAND_PARK, id);
}

void job_vanish(struct state *s, uint32_t id)
{
    if (s->machines[id].state == MACHINE_ASKED) {
        stop_waiting(s, id);
        books_end(s, id);
    } else if (machine_is_held(&s->machines[id])) {
        machine_end(s, id);
    }
}

void job_bill(struct state *s, uint32_t id, bats_money amount)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    bats_ledger_give_up(&s->money.ledger, job_held(s, id));
    bats_ledger_bill(&s->money.ledger, amount);
    c->used += amount;
    purse_share(s, id, amount, 0);
    purse_close(s, id);
    s->rest[id].asked = false;
    books_change(s, id);
    if (amount > 0)
        state_tell_charge(s, id, amount);
    machine_absolve(s, id); /* the next job may get another node */
    m->on_trial = false;
    if (--s->money.n_jobs == 0)
        s->run.next_tick = BATS_NEVER;
    machine_wait(s, id);
    if (s->rest[id].closed)
        machine_lose(s, id);
    state_set_latest(s);
}

void job_bill_other(struct state *s, bats_money amount)
{
    bats_ledger_bill(&s->money.ledger, amount);
    s->money.billed_others += amount;
    state_emit(s, BATS_NOTICE_CHARGE, BATS_NO_MACHINE)->amount = amount;
    state_set_latest(s);
}

void job_close(struct state *s, uint32_t id)
{
    s->rest[id].closed = true;
    if (s->machines[id].state == MACHINE_PARKED)
        machine_lose(s, id);
}

const struct lease_kind lease_job = {
    .name = "job",
    .terms = {.waits = true, .returns = true, .ahead = true, .later = true},
    .is_own = true,
    .first = job_first,
    .next = money_of_window,
    .held = job_held,
    .notice = money_cut};
