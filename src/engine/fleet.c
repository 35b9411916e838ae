/*
 * fleet: the machines and their windows. A machine is charged for a whole
 * window when it enters it; its phase begins when it is acquired. Shortly
 * before a window ends (preempt_lead) it is decided whether the machine enters
 * another: then that window's charge is held at once, so that nobody else can
 * spend it; else what still runs is told to stop and the machine is parked at
 * the end of the window. See sched_state.h.
 */
#include "engine/sched_state.h"

#include <assert.h>
#include <stdlib.h>

static void schedule_turn(struct bats_sched *s, uint32_t id, bats_time time)
{
    bats_heap_set(&s->due, id, time);
}

/* What is charged for the last tasks beyond the cost of the schedule comes out
 * of the cushion as long as that lasts. */
static bats_money take_cushion(struct bats_sched *s, bats_money amount)
{
    bats_money part = s->ledger.charged - s->cushion_from;
    if (part > amount)
        part = amount;
    if (part > s->granted - s->cushion_spent)
        part = s->granted - s->cushion_spent;
    if (part < 0)
        part = 0;
    s->cushion_spent += part;
    return part;
}

static void charge_window(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    s->rest[id].windows++;
    c->windows++;
    c->paid_slot_time += (double)s->window * m->n_slots;
    schedule_turn(s, id, m->paid_end - s->preempt_lead);
    sched_emit(
        s, (struct bats_command){.type = BATS_COMMAND_CHARGE,
                                 .machine = id,
                                 .amount = c->spec.charge,
                                 .cushion = take_cushion(s, c->spec.charge)});
}

/* No use in paying for a machine that cannot end one task of mean length. */
static bool worth_acquiring(const struct bats_sched *s,
                            const struct cluster *c)
{
    int64_t windows = bats_ledger_affordable(&s->ledger, c->spec.charge);
    return windows >= 1 &&
           c->stats.mean <= (double)windows * (double)s->window;
}

/* It is held from now on, and paid until `end`. */
static void hold(struct bats_sched *s, uint32_t id, bats_time end)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    bats_heap_remove(&c->parked, s->rest[id].member);
    m->state = MACHINE_ACTIVE;
    m->marked = m->renewing = false;
    m->paid_end = end;
    m->plan_windows = s->plan_windows > 0 ? s->plan_windows - 1 : 0;
    if (!m->used)
        c->n_used++;
    m->used = true;
    c->n_active++;
    c->n_held++;
    s->n_open += m->n_slots;
    s->n_free += m->n_slots;
    if (s->n_held == 0)
        s->next_tick = s->now + s->interval;
    m->held_at = s->n_held;
    s->held[s->n_held++] = id;
}

static void put_to_work(struct bats_sched *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    sched_emit(
        s, (struct bats_command){.type = BATS_COMMAND_ACQUIRE, .machine = id});
    for (uint32_t i = 0; i < m->n_slots; i++) {
        dispatch_add_idle(s, m->first_slot + i);
        dispatch_fill(s, m->first_slot + i);
    }
}

static bool acquire(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    assert(m->state == MACHINE_PARKED);
    if (s->draining || s->on_hold || s->bag.count[BATS_TASK_PENDING] == 0 ||
        !worth_acquiring(s, c) ||
        !bats_ledger_charge(&s->ledger, c->spec.charge))
        return false;
    hold(s, id, s->now + s->window);
    charge_window(s, id);
    put_to_work(s, id);
    return true;
}

void fleet_take_over(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    bats_time paid = s->rest[id].paid_before;
    if (paid <= 0 || s->draining || c->n_held >= c->spec.max ||
        s->bag.count[BATS_TASK_PENDING] == 0)
        return;
    hold(s, id, s->now + paid);
    c->paid_slot_time += (double)paid * m->n_slots;
    bats_time turn = m->paid_end - s->preempt_lead;
    schedule_turn(s, id, turn > s->now ? turn : s->now);
    put_to_work(s, id);
}

void fleet_parked(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    m->state = MACHINE_PARKED;
    if (!m->quarantined)
        bats_heap_set(&s->clusters[m->cluster].parked, s->rest[id].member, 0);
}

void fleet_fill(struct bats_sched *s, size_t cluster)
{
    struct cluster *c = &s->clusters[cluster];
    uint32_t first;
    while (c->n_active < c->target && c->n_held < c->spec.max &&
           bats_heap_first(&c->parked, &first) == 0)
        if (!acquire(s, s->members[c->first_machine + first]))
            break;
}

static void set_marked(struct bats_sched *s, uint32_t id, bool marked)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    m->marked = marked;
    if (marked)
        c->n_active--;
    else
        c->n_active++;
}

struct candidate {
    bats_time end; /* of the paid time, a held window included */
    uint32_t id;
};

static int by_end(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Marks the surplus machines whose windows end soonest, or unmarks missing
 * ones whose windows end last. */
static void adjust_marks(struct bats_sched *s, struct cluster *c)
{
    bool surplus = c->n_active > c->target;
    struct candidate *list = malloc(c->n_machines * sizeof *list);
    if (!list) {
        s->failure = BATS_ENOMEM;
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_machines; i++) {
        uint32_t id = s->members[c->first_machine + i];
        const struct machine *m = &s->machines[id];
        if (m->state == MACHINE_ACTIVE && m->marked == !surplus &&
            !m->quarantined)
            list[n++] = (struct candidate){
                m->paid_end + (m->renewing ? s->window : 0), id};
    }
    qsort(list, n, sizeof *list, by_end);
    for (uint32_t i = 0; i < n && c->n_active != c->target; i++)
        set_marked(s, surplus ? list[i].id : list[n - 1 - i].id, surplus);
    free(list);
}

void fleet_configure(struct bats_sched *s, const uint32_t *target,
                     int64_t windows)
{
    s->plan_windows = windows;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct cluster *c = &s->clusters[i];
        c->target = target[i];
        if (c->n_machines > 0 && c->n_active != c->target)
            adjust_marks(s, c);
    }
    for (uint32_t i = 0; i < s->n_machines; i++)
        s->machines[i].plan_windows = windows;
    dispatch_rescan(s); /* an unmarked machine may take tasks again */
    dispatch_idle(s);
    for (size_t i = 0; i < s->n_clusters; i++)
        fleet_fill(s, i);
}

/* Takes the machine out of the configuration; it gets no new task. */
static void stop_using(struct bats_sched *s, uint32_t id)
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
        dispatch_remove_idle(s, m->first_slot + i);
}

/* Its time is not paid any more. */
static void let_go(struct bats_sched *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    uint32_t last = s->held[--s->n_held];
    s->held[m->held_at] = last;
    s->machines[last].held_at = m->held_at;
    s->clusters[m->cluster].n_held--;
    if (s->n_held == 0)
        s->next_tick = BATS_NEVER;
    bats_heap_remove(&s->due, id);
}

static void park(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    stop_using(s, id);
    let_go(s, id);
    m->state = MACHINE_DRAINING;
    sched_emit(
        s, (struct bats_command){.type = BATS_COMMAND_PARK, .machine = id});
    dispatch_cancel(s, id);
    fleet_drained(s, id);
}

void fleet_drained(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    if (m->state == MACHINE_DRAINING && m->n_busy == 0)
        fleet_parked(s, id);
}

static void decide(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    bats_money charge = s->clusters[m->cluster].spec.charge;
    if (!s->on_hold && bats_ledger_affordable(&s->ledger, charge) >= 1 &&
        s->policy->renew(s, id) && bats_ledger_hold(&s->ledger, charge)) {
        m->renewing = true;
    } else {
        stop_using(s, id);
        m->state = MACHINE_LEAVING;
        dispatch_cancel(s, id);
    }
    schedule_turn(s, id, m->paid_end);
}

/* The end of the paid time. */
static void end_window(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    bats_money charge = s->clusters[m->cluster].spec.charge;
    bool useful = copies_machine_works(s, id) ||
                  (!s->draining && s->bag.count[BATS_TASK_PENDING] > 0);
    if (m->renewing && useful && !s->on_hold) {
        bats_ledger_charge_held(&s->ledger, charge);
        m->renewing = false;
        m->paid_end += s->window;
        if (m->plan_windows > 0)
            m->plan_windows--;
        charge_window(s, id);
        return;
    }
    if (m->renewing)
        bats_ledger_give_up(&s->ledger, charge);
    m->renewing = false;
    park(s, id);
}

void fleet_turn(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    if (m->state == MACHINE_ACTIVE && !m->renewing) {
        tail_hand_over(s, id);
        decide(s, id);
    }
    if (s->now >= m->paid_end)
        end_window(s, id);
}

void fleet_lose(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    if (m->state == MACHINE_ABSENT) {
        s->n_absent--;
    } else if (m->quarantined) {
        c->n_quarantined--;
        s->n_quarantined--;
    } else {
        c->n_joined--;
    }
    m->quarantined = false;
    if (m->state == MACHINE_ACTIVE || m->state == MACHINE_LEAVING)
        let_go(s, id);
    stop_using(s, id);
    if (m->renewing)
        bats_ledger_give_up(&s->ledger, c->spec.charge);
    m->renewing = false;
    bats_heap_remove(&c->parked, s->rest[id].member);
    m->state = MACHINE_LOST;
    c->n_lost++;
    s->n_lost++;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        uint32_t slot = m->first_slot + i;
        while (s->slots[slot].n_tasks > 0) {
            uint32_t task = s->slots[slot].head;
            bool elsewhere = copies_take_out(s, slot, task);
            s->tail.is_news |= elsewhere;
            if (!elsewhere && !bats_bag_has_result(&s->bag, task))
                failure_of_machine(s, slot, task);
            sampling_ended(s, id, task, -1);
        }
    }
}

void fleet_quarantine(struct bats_sched *s, uint32_t id)
{
    struct machine *m = &s->machines[id];
    struct cluster *c = &s->clusters[m->cluster];
    if (m->state == MACHINE_ACTIVE && !m->marked)
        set_marked(s, id, true);
    m->quarantined = true;
    bats_heap_remove(&c->parked, s->rest[id].member);
    c->n_joined--;
    c->n_quarantined++;
    s->n_quarantined++;
    for (uint32_t i = 0; i < m->n_slots; i++)
        dispatch_remove_idle(s, m->first_slot + i);
    sched_emit(s, (struct bats_command){.type = BATS_COMMAND_QUARANTINE,
                                        .machine = id});
}

void fleet_stop(struct bats_sched *s, bool now, enum bats_finish why)
{
    if (!s->draining)
        s->why = why;
    s->draining = true;
    for (uint32_t i = 0; now && i < s->n_machines; i++)
        dispatch_cancel(s, i);
}

void fleet_record(struct bats_sched *s, const struct bats_decision *decision)
{
    if (s->n_decisions == s->decisions_capacity) {
        size_t capacity =
            s->decisions_capacity ? 2 * s->decisions_capacity : 16;
        struct bats_decision *list =
            realloc(s->decisions, capacity * sizeof *list);
        if (!list) {
            s->failure = BATS_ENOMEM;
            return;
        }
        s->decisions = list;
        s->decisions_capacity = capacity;
    }
    s->decisions[s->n_decisions++] = *decision;
}
