/*
 * machines: their states and windows. A machine's windows begin when it is
 * acquired. Before it may enter another window, the money for that window is
 * held, so that it cannot be spent elsewhere. See state.h; for charges see
 * moves.h.
 */
#include "engine/state/moves.h"

#include <assert.h>

bool machine_works(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    for (uint32_t i = 0; i < m->n_slots; i++)
        if (slot_works(s, m->first_slot + i))
            return true;
    return false;
}

/* ---- held ---- */

static void add_idle(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    for (uint32_t i = 0; i < m->n_slots; i++)
        slot_add_idle(s, m->first_slot + i);
}

/* The machine is held from now on, and paid until `end`. */
static void hold(struct state *s, uint32_t id, bats_time end)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    bats_heap_remove(&c->parked, s->rest[id].member);
    m->state = MACHINE_ACTIVE;
    m->marked = m->renewing = m->last = false;
    s->rest[id].taken_at = BATS_NEVER;
    m->paid_end = end;
    m->plan_windows = c->plan_windows > 0 ? c->plan_windows - 1 : 0;
    if (!m->used)
        c->n_used++;
    m->used = true;
    c->n_active++;
    c->n_held++;
    s->n_open += m->n_slots;
    s->n_free += m->n_slots;
    if (s->n_held == 0 && !s->money.terms.waits)
        s->run.next_tick = s->now + s->run.interval;
    m->held_at = s->n_held;
    s->held[s->n_held++] = id;
}

void machine_hold(struct state *s, uint32_t id, bats_time end)
{
    hold(s, id, end);
    add_idle(s, id);
}

/* Schedules the next turn `preempt_lead` before the paid time ends. */
static void schedule_turn(struct state *s, uint32_t id)
{
    bats_time turn = s->machines[id].paid_end - s->run.preempt_lead;
    bats_heap_set(&s->turns, id, turn > s->now ? turn : s->now);
}

bool machine_acquire(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    assert(m->state == MACHINE_PARKED && !m->quarantined);
    books_open(s, id);
    if (!s->money.lease->begin(s, id)) {
        books_forget(s, id);
        return false;
    }
    hold(s, id, m->paid_end);
    schedule_turn(s, id);
    state_emit(s, BATS_COMMAND_ACQUIRE, id);
    add_idle(s, id);
    return true;
}

bool machine_renew(struct state *s, uint32_t id)
{
    books_change(s, id);
    if (s->money.terms.idle_is_free)
        return purses_stop_short(s, id) && s->money.lease->extend(s, id);
    if (s->rest[id].taken_at != BATS_NEVER || !s->money.lease->extend(s, id))
        return false;
    bats_heap_set(&s->turns, id, s->machines[id].paid_end);
    purses_stop_short(s, id);
    return true;
}

static void give_up_renewal(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    if (m->renewing)
        s->money.lease->drop(s, id);
    m->renewing = false;
    books_change(s, id);
}

void machine_enter_window(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    s->money.lease->enter(s, id);
    books_change(s, id);
    if (m->plan_windows > 0)
        m->plan_windows--;
    schedule_turn(s, id);
}

void machine_mark(struct state *s, uint32_t id, bool marked)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    assert(m->state == MACHINE_ACTIVE && m->marked != marked);
    m->marked = marked;
    if (marked)
        c->n_active--;
    else
        c->n_active++;
}

/* ---- let go ---- */

static void stop_using(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    if (m->state == MACHINE_ACTIVE) {
        s->n_open -= m->n_slots;
        s->n_free -= m->n_slots - m->n_busy;
        if (!m->marked)
            s->clusters[m->cluster].n_active--;
    }
    m->marked = false;
    for (uint32_t i = 0; i < m->n_slots; i++)
        slot_remove_idle(s, m->first_slot + i);
}

/* Releases the machine; its paid time is over. */
static void let_go(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    uint32_t last = s->held[--s->n_held];
    s->held[m->held_at] = last;
    s->machines[last].held_at = m->held_at;
    s->clusters[m->cluster].n_held--;
    if (s->n_held == 0 && !s->money.terms.waits)
        s->run.next_tick = BATS_NEVER;
    bats_heap_remove(&s->turns, id);
    s->n_noticed -= s->rest[id].taken_at != BATS_NEVER;
}

void machine_leave(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    assert(m->state == MACHINE_ACTIVE && !m->renewing);
    stop_using(s, id);
    m->state = MACHINE_LEAVING;
    execution_cancel_machine(s, id);
    bats_heap_set(&s->turns, id, m->paid_end);
}

void machine_absolve(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    if (!m->quarantined)
        return;
    bats_heap_remove(&s->quarantines, id);
    m->quarantined = s->rest[id].fails = false;
    c->n_quarantined--;
    s->n_quarantined--;
    c->n_joined++;
}

/* The machine gets no more tasks. */
static void retire(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    m->quarantined = true;
    bats_heap_remove(&c->parked, s->rest[id].member);
    c->n_joined--;
    c->n_quarantined++;
    s->n_quarantined++;
}

void machine_wait(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    m->state = s->rest[id].asked ? MACHINE_ENDING : MACHINE_PARKED;
    if (s->rest[id].taken_at != BATS_NEVER && !s->money.terms.waits &&
        !m->quarantined)
        retire(s, id);
    if (!m->quarantined && m->state == MACHINE_PARKED)
        bats_heap_set(&s->clusters[m->cluster].parked, s->rest[id].member, 0);
}

void machine_drained(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    if (m->state == MACHINE_DRAINING && m->n_busy == 0)
        machine_wait(s, id);
}

void machine_end(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    lease_idle(s, id);
    lease_end(s, id,
              s->now >= s->rest[id].taken_at ? BATS_END_RECLAIMED
                                             : BATS_END_USER);
    give_up_renewal(s, id);
    if (!s->money.terms.waits)
        purse_close(s, id);
    stop_using(s, id);
    let_go(s, id);
    if (s->money.terms.waits) {
        s->clusters[m->cluster].paid_slot_time +=
            (double)(s->now - s->rest[id].began_at) * m->n_slots;
        m->paid_end = s->now;
    }
    m->state = MACHINE_DRAINING;
}

void machine_park(struct state *s, uint32_t id)
{
    machine_end(s, id);
    state_emit(s, BATS_COMMAND_PARK, id);
    execution_cancel_machine(s, id);
    machine_drained(s, id);
}

/* ---- there and not there ---- */

void machine_join(struct state *s, uint32_t id)
{
    machine_wait(s, id);
    s->n_absent--;
    s->clusters[s->machines[id].cluster].n_joined++;
}

void machine_lose(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    if (m->state == MACHINE_ABSENT) {
        s->n_absent--;
    } else {
        machine_absolve(s, id);
        c->n_joined--;
    }
    lease_end(s, id, c->spec.reclaimable ? BATS_END_RECLAIMED : BATS_END_USER);
    if (machine_is_held(m))
        let_go(s, id);
    stop_using(s, id);
    give_up_renewal(s, id);
    if (!s->money.terms.idle_is_free)
        purse_close(s, id);
    bats_heap_remove(&c->parked, s->rest[id].member);
    m->state = MACHINE_LOST;
    c->n_lost++;
    s->n_lost++;
}

void machine_retire(struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    if (m->state == MACHINE_ACTIVE && !m->marked)
        machine_mark(s, id, true);
    retire(s, id);
    for (uint32_t i = 0; i < m->n_slots; i++)
        slot_remove_idle(s, m->first_slot + i);
}

void machine_quarantine(struct state *s, uint32_t id, bats_time until)
{
    machine_retire(s, id);
    s->rest[id].fails = true;
    if (until < BATS_NEVER)
        bats_heap_set(&s->quarantines, id, until);
    state_emit(s, BATS_NOTICE_QUARANTINE, id);
}

void machine_readmit(struct state *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    machine_absolve(s, id);
    m->on_trial = true;
    if (m->state == MACHINE_PARKED)
        bats_heap_set(&c->parked, s->rest[id].member, 0);
    if (m->state == MACHINE_ACTIVE && m->marked && !m->last &&
        !s->money.terms.waits && c->n_active < c->target)
        machine_mark(s, id, false);
    state_emit(s, BATS_NOTICE_READMIT, id);
}

void machine_notice(struct state *s, uint32_t id, bats_time taken_at)
{
    struct machine *m = &s->machines[id];
    bool is_held = machine_is_held(m);
    if (taken_at >= s->rest[id].taken_at)
        return;
    bats_heap_remove(&s->quarantines, id);
    give_up_renewal(s, id);
    s->n_noticed += is_held && s->rest[id].taken_at == BATS_NEVER;
    s->rest[id].taken_at = taken_at;
    if (m->state == MACHINE_PARKED && !s->money.terms.waits && !m->quarantined)
        retire(s, id);
    if (!is_held)
        return;
    m->last = true;
    if (m->state == MACHINE_ACTIVE && !m->marked)
        machine_mark(s, id, true);
    if (!s->money.lease->notice) /* its paid time ends with its task */
        return;
    s->money.lease->notice(s, id, taken_at);
    if (m->state == MACHINE_LEAVING)
        bats_heap_set(&s->turns, id, m->paid_end);
    else
        schedule_turn(s, id);
}
