/* assign: which slot runs which task. See engine.h. */
#include "engine/engine.h"

#define TAIL_SLOTS 64 /* idle slots that find nothing, for one event */

/* The machine may start a task now. */
static bool admits(const struct bats_sched *e, uint32_t machine)
{
    const struct state *s = &e->state;
    const struct machine *m = &s->machines[machine];
    return m->state == MACHINE_ACTIVE && !m->quarantined && !s->draining &&
           !(m->on_trial && m->n_busy > 0) &&
           !s->on_hold && !forecast_too_late(s, m->cluster) &&
           (s->n_noticed == 0 || forecast_ends_before(s, machine)) &&
           (e->policy->place ||
            use_affordable(s, machine, BATS_NO_POSITION)) &&
           !(s->clusters[m->cluster].done == 0 &&
             e->sampling->refuses(e->own.sampling, m->cluster)) &&
           (!e->policy->admit || e->policy->admit(e->own.policy, s, machine));
}

/* False: the sampling has no task that the slot's cluster has to run, too. */
static bool measure(struct bats_sched *e, uint32_t slot)
{
    struct state *s = &e->state;
    if (s->phase != PHASE_SAMPLING || s->slots[slot].n_tasks > 0)
        return false;
    struct bats_position task = e->sampling->give(e->own.sampling, s, slot);
    if (!bats_is_position(task))
        return false;
    execution_measure(s, slot, task);
    return true;
}

/* False: the slot takes over no task that runs. */
static bool migrate(struct bats_sched *e, uint32_t slot)
{
    struct state *s = &e->state;
    if (!e->tail->migrate)
        return false;
    struct bats_position task = e->tail->migrate(e->own.tail, s, slot);
    if (!bats_is_position(task) ||
        !purse_admits(s, s->slots[slot].machine, task))
        return false;
    execution_replica(s, slot, task);
    execution_cancel_others(s, slot, task);
    return true;
}

/* The first of the tasks at hand that is paid there. */
static struct bats_position find_paid(const struct state *s, uint32_t machine)
{
    uint32_t n = bats_bag_ready(&s->bag);
    for (uint32_t i = 0; i < n && i < BATS_BAG_AHEAD; i++) {
        struct bats_position task = bats_bag_peek(&s->bag, i);
        if (s->tasks[task.i].avoid != machine &&
            purse_admits(s, machine, task))
            return task;
    }
    return BATS_NO_POSITION;
}

/* A task for the slot, if there is one. */
static struct bats_position ask(struct bats_sched *e, uint32_t slot)
{
    const struct state *s = &e->state;
    uint32_t machine = s->slots[slot].machine;
    if (e->policy->place) {
        struct bats_position task = e->policy->place(e->own.policy, s, slot);
        /* It may wait for money since the policy has thought of it. */
        return bats_is_position(task) &&
                       s->bag.state[task.i] == BATS_TASK_PENDING &&
                       use_affordable(s, machine, task)
                   ? task
                   : BATS_NO_POSITION;
    }
    uint32_t behind = e->order->next(e->own.order, s, machine);
    return behind == ORDER_NONE ? BATS_NO_POSITION
                                : bats_bag_peek(&s->bag, behind);
}

/* The same, of those that their workflows can pay. */
static struct bats_position choose(struct bats_sched *e, uint32_t slot)
{
    struct state *s = &e->state;
    uint32_t machine = s->slots[slot].machine;
    /* Machines join one after the other at first, maybe the fastest last. */
    if (s->bag.graph && s->now == 0 && s->n_absent > 0)
        return BATS_NO_POSITION;
    if (s->purses.n_waiting > 0) {
        struct bats_position task = purse_waiting(s, machine);
        if (bats_is_position(task))
            return task;
    }
    while (bats_bag_ready(&s->bag) > 0) {
        struct bats_position task = ask(e, slot);
        if (!bats_is_position(task) || purse_admits(s, machine, task))
            return task;
        if (!purse_refuses(s, task))
            return find_paid(s, machine);
    }
    return BATS_NO_POSITION;
}

/* False: the tasks at hand are for other machines. */
static bool give(struct bats_sched *e, uint32_t slot)
{
    struct state *s = &e->state;
    struct bats_position task = choose(e, slot);
    if (!bats_is_position(task))
        return false;
    bats_bag_take(&s->bag, task);
    execution_begin(s, slot, task);
    if (s->phase == PHASE_SAMPLING &&
        e->sampling->drawn(e->own.sampling, s, slot, task))
        task_measure(s, task);
    return true;
}

/* One that could be run now, though its workflow may not be able to pay. */
static bool any_task(const struct state *s)
{
    return bats_bag_ready(&s->bag) > 0 || s->purses.n_waiting > 0;
}

/* False: there are tasks and time, but the tasks at hand are for others. */
static bool fill(struct bats_sched *e, uint32_t slot)
{
    struct state *s = &e->state;
    const struct slot *sl = &s->slots[slot];
    if (!any_task(s) || sl->is_replica || !admits(e, sl->machine) ||
        measure(e, slot) || migrate(e, slot))
        return true;
    bool one_each = s->prefetch == 0 || e->policy->one_each ||
                    s->purses.n > 0 || s->machines[sl->machine].on_trial;
    uint32_t depth =
        one_each ? 1 : e->order->depth(e->own.order, s, sl->machine);
    while (any_task(s) && sl->n_tasks < depth)
        if (!give(e, slot))
            return false;
    return true;
}

/* The machine may run what it has begun. One that is no job is acquired for
 * that, though no plan has asked for it. */
static bool is_held(struct bats_sched *e, uint32_t machine)
{
    struct state *s = &e->state;
    const struct machine *m = &s->machines[machine];
    if (m->state == MACHINE_PARKED && !s->terms.waits && !m->quarantined &&
        s->clusters[m->cluster].n_held < s->clusters[m->cluster].spec.max)
        machine_acquire(s, machine);
    return m->state == MACHINE_ACTIVE && !m->quarantined;
}

/* It also runs elsewhere, begun later: where tasks wait, that one makes
 * room. */
static void beside(struct state *s, uint32_t slot, struct bats_position task)
{
    struct task *t = &s->tasks[task.i];
    uint32_t later = t->slot;
    execution_replica(s, slot, task);
    if (bats_bag_ready(&s->bag) == 0 || s->in_tail ||
        s->slots[later].n_tasks > 1)
        return;
    s->clusters[slot_cluster(s, later)].sample_sent -= t->in_sample;
    t->in_sample = false;
    execution_swap(s, slot, task);
    execution_cancel_others(s, slot, task);
}

void assign_found(struct bats_sched *e, uint32_t slot, uint32_t number)
{
    struct state *s = &e->state;
    uint32_t machine = s->slots[slot].machine;
    struct bats_position task = s->bag.position[number];
    bool is_ready = s->bag.state[task.i] == BATS_TASK_PENDING;
    if (s->finish != BATS_FINISH_NOT_YET || s->draining ||
        s->phase != PHASE_NONE || s->slots[slot].n_tasks > 0 ||
        !(is_ready || task_may_be_replicated(s, task)) ||
        !is_held(e, machine) || !use_affordable(s, machine, task) ||
        !purse_admits(s, machine, task))
        return;
    if (is_ready) {
        bats_bag_take(&s->bag, task);
        execution_begin(s, slot, task);
    } else {
        beside(s, slot, task);
    }
}

void assign_slot(struct bats_sched *e, uint32_t slot)
{
    if (!e->state.in_tail)
        fill(e, slot);
}

/* Asks every idle slot once. True: one has left its tasks to another that
 * turned out to want none. */
static bool ask_idle(struct bats_sched *e)
{
    struct state *s = &e->state;
    uint32_t slot = s->idle_first;
    bool left = false, refused = false;
    while (slot != NO_SLOT && !s->draining && !s->in_tail && any_task(s)) {
        uint32_t next = s->slots[slot].next_idle;
        /* Refused: do not ask again before the next monitoring, unless
         * another machine only has to take its tasks first. */
        if (!fill(e, slot)) {
            left = true;
        } else {
            refused |= left && s->slots[slot].n_tasks == 0;
            slot_remove_idle(s, slot);
        }
        slot = next;
    }
    return refused;
}

void assign_idle(struct bats_sched *e)
{
    while (ask_idle(e))
        ;
}

void assign_release(struct bats_sched *e)
{
    struct bats_position task;
    while (bats_is_position(task = e->sampling->released(e->own.sampling)))
        task_release(&e->state, task);
}

/* ---- replicas ---- */

/* A slot that will be free in a moment. */
static bool is_stopping(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks == 1 && execution_cancelled(s, slot, sl->head) &&
           s->machines[sl->machine].state == MACHINE_ACTIVE;
}

/* The slot with the replica that began last and whose machine could run a task
 * instead. */
static uint32_t youngest_replica(const struct bats_sched *e)
{
    const struct state *s = &e->state;
    uint32_t youngest = NO_SLOT;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct slot *sl = &s->slots[i];
        if (slot_copies(s, i) &&
            !s->tasks[sl->head.i].point && !s->tasks[sl->head.i].cancelled &&
            (youngest == NO_SLOT ||
             sl->started > s->slots[youngest].started) &&
            admits(e, sl->machine))
            youngest = i;
    }
    return youngest;
}

void assign_make_room(struct bats_sched *e)
{
    struct state *s = &e->state;
    uint32_t wanted = bats_bag_ready(&s->bag), slot;
    if (wanted == 0 || s->n_replicas == 0 || s->draining || s->in_tail)
        return;
    for (uint32_t i = 0; i < s->n_slots && wanted > 0; i++)
        wanted -= is_stopping(s, i);
    for (; wanted > 0 && (slot = youngest_replica(e)) != NO_SLOT; wanted--)
        execution_cancel(s, slot, s->slots[slot].head, false);
}

void assign_replicas(struct bats_sched *e)
{
    struct state *s = &e->state;
    if (!e->tail->begin || s->draining || s->on_hold ||
        s->idle_first == NO_SLOT || bats_bag_pending(&s->bag) > 0)
        return;
    bool all;
    const bats_time *useless = e->tail->begin(e->own.tail, s, &all);
    if (all)
        s->idle_asked = NO_SLOT;
    uint32_t refused = 0, next, slot = s->idle_first;
    if (s->idle_asked != NO_SLOT)
        slot = s->slots[s->idle_asked].next_idle;
    for (; slot != NO_SLOT && refused < TAIL_SLOTS; slot = next) {
        const struct machine *m = &s->machines[s->slots[slot].machine];
        next = s->slots[slot].next_idle;
        if (m->quarantined || m->paid_end <= useless[m->cluster] ||
            !e->tail->may(e->own.tail, s, slot))
            continue;
        struct bats_position task = e->tail->replica(e->own.tail, s, slot);
        if (!bats_is_position(task) ||
            !purse_admits(s, s->slots[slot].machine, task))
            refused++;
        else
            execution_replica(s, slot, task);
    }
    s->idle_asked = s->idle_last;
}

/* ---- instances ---- */

static void end_all(struct state *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].n_tasks > 0)
            execution_cancel(s, i, s->slots[i].head, false);
}

void assign_instances(struct bats_sched *e)
{
    struct state *s = &e->state;
    if (bats_bag_left(&s->bag) == 0 && s->n_busy > 0)
        end_all(s);
    if (!s->in_tail)
        return;
    for (uint32_t next, slot = s->idle_first; slot != NO_SLOT; slot = next) {
        next = s->slots[slot].next_idle;
        if (!admits(e, s->slots[slot].machine))
            continue;
        struct bats_position task = e->tail->next(e->own.tail, s, slot);
        if (!bats_is_position(task))
            continue;
        if (s->bag.state[task.i] != BATS_TASK_PENDING) {
            execution_replica(s, slot, task);
            continue;
        }
        bats_bag_take(&s->bag, task);
        execution_begin(s, slot, task);
    }
}

void assign_hand_over(struct bats_sched *e, uint32_t machine)
{
    struct state *s = &e->state;
    const struct machine *m = &s->machines[machine];
    if (s->n_replicas == 0 || s->draining || s->phase != PHASE_NONE ||
        !e->tail->hand_over)
        return;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++) {
        struct bats_position task = s->slots[i].head;
        if (!bats_is_position(task))
            continue;
        uint32_t slot = e->tail->hand_over(e->own.tail, s, task);
        if (slot == s->tasks[task.i].slot)
            continue;
        execution_swap(s, slot, task);
        execution_cancel_others(s, slot, task);
    }
}
