/* dispatch: which slot runs which task. See sched_state.h. */
#include "engine/sched_state.h"

#include <assert.h>

/* A slot never queues more than this, however short the tasks. */
#define DEPTH_MAX 512
/* Tasks that are looked at to find one that did not fail here. */
#define LOOK_AHEAD 4

void dispatch_add_idle(struct bats_sched *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    if (sl->is_idle)
        return;
    sl->is_idle = true;
    sl->next_idle = NO_SLOT;
    sl->prev_idle = s->idle_last;
    if (s->idle_last == NO_SLOT)
        s->idle_first = slot;
    else
        s->slots[s->idle_last].next_idle = slot;
    s->idle_last = slot;
}

void dispatch_remove_idle(struct bats_sched *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    if (!sl->is_idle)
        return;
    sl->is_idle = false;
    if (s->tail.asked == slot)
        s->tail.asked = sl->prev_idle;
    if (sl->prev_idle == NO_SLOT)
        s->idle_first = sl->next_idle;
    else
        s->slots[sl->prev_idle].next_idle = sl->next_idle;
    if (sl->next_idle == NO_SLOT)
        s->idle_last = sl->prev_idle;
    else
        s->slots[sl->next_idle].prev_idle = sl->prev_idle;
}

void dispatch_rescan(struct bats_sched *s)
{
    for (uint32_t i = 0; i < s->n_held && s->n_free > 0; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (m->state != MACHINE_ACTIVE || m->n_busy == m->n_slots)
            continue;
        for (uint32_t k = 0; k < m->n_slots; k++)
            if (s->slots[m->first_slot + k].n_tasks == 0)
                dispatch_add_idle(s, m->first_slot + k);
    }
}

/*
 * Tasks a slot may hold: the running one, and as many ahead as fill the
 * prefetch time, but never more than its share of what is left, so that no
 * task waits behind another while a slot elsewhere goes idle.
 */
static uint32_t depth(const struct bats_sched *s, const struct machine *m)
{
    double mean = s->clusters[m->cluster].stats.mean;
    if (s->prefetch == 0 || mean == 0 || m->marked ||
        s->sampling.phase == PHASE_SAMPLING)
        return 1;
    uint32_t share = s->bag.count[BATS_TASK_PENDING] / s->n_open;
    double ahead = (double)s->prefetch / mean;
    uint32_t n = ahead < DEPTH_MAX - 1 ? (uint32_t)ahead : DEPTH_MAX - 1;
    return 1 + (n < share ? n : share);
}

/* A task that failed on this machine goes to another one, if one is open. */
static uint32_t choose(const struct bats_sched *s, uint32_t machine)
{
    uint32_t pending = s->bag.count[BATS_TASK_PENDING];
    uint32_t look = pending < LOOK_AHEAD ? pending : LOOK_AHEAD;
    for (uint32_t behind = 0; behind < look; behind++)
        if (s->tasks[bats_bag_peek(&s->bag, behind)].avoid != machine)
            return behind;
    /* Nobody else may want it: better here than nowhere. */
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return elsewhere && s->n_busy > 0 ? look : 0;
}

void dispatch_begin(struct bats_sched *s, uint32_t slot)
{
    s->slots[slot].started = s->now;
    if (s->rules.timeout > 0 || s->rules.timeout_median > 0)
        failure_set_limit(s, slot);
}

void dispatch_run(struct bats_sched *s, uint32_t slot, uint32_t task,
                  uint32_t copy)
{
    struct slot *sl = &s->slots[slot];
    struct machine *m = &s->machines[sl->machine];
    assert(sl->n_tasks == 0 || !sl->is_copy);
    if (sl->n_tasks++ == 0) {
        sl->head = task;
        dispatch_begin(s, slot);
        m->n_busy++;
        s->n_busy++;
        s->n_free--;
        s->busy[slot / 64] |= UINT64_C(1) << slot % 64;
        dispatch_remove_idle(s, slot);
    } else {
        s->tasks[sl->tail].next = task;
    }
    sl->tail = task;
    s->tail.is_news |= copy == 0;
    sched_emit(s, (struct bats_command){.type = BATS_COMMAND_RUN,
                                        .machine = sl->machine,
                                        .slot = slot - m->first_slot,
                                        .task = s->bag.task[task],
                                        .copy = copy});
}

/* False: the tasks at hand are for other machines. */
static bool give(struct bats_sched *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    struct cluster *c = &s->clusters[s->machines[sl->machine].cluster];
    uint32_t behind = choose(s, sl->machine);
    if (behind >= LOOK_AHEAD || behind >= s->bag.count[BATS_TASK_PENDING])
        return false;
    uint32_t id = bats_bag_draw(&s->bag, behind);
    struct task *t = &s->tasks[id];

    t->slot = slot;
    t->next = BATS_NO_TASK;
    t->n_copies = 0;
    t->in_sample = t->cancelled = false;
    if (c->sample_sent < c->sample_want) {
        t->in_sample = true;
        c->sample_sent++;
    }
    sampling_drawn(s, slot, id);
    dispatch_run(s, slot, id, 0);
    return true;
}

bool dispatch_admits(const struct bats_sched *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    return m->state == MACHINE_ACTIVE && !m->quarantined && !s->draining &&
           !s->on_hold && !forecast_too_late(s, m->cluster) &&
           !sampling_refuses(s, m->cluster) &&
           (!s->policy->admit || s->policy->admit(s, machine));
}

/* False: there are tasks and time, but the tasks at hand are for others. */
static bool fill(struct bats_sched *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    if (s->bag.count[BATS_TASK_PENDING] == 0 || sl->is_copy ||
        !dispatch_admits(s, sl->machine) || sampling_give(s, slot))
        return true;
    if (s->tail.strategy == BATS_TAIL_MIGRATE && tail_migrate(s, slot))
        return true;
    uint32_t wanted = depth(s, &s->machines[sl->machine]);
    while (s->bag.count[BATS_TASK_PENDING] > 0 && sl->n_tasks < wanted)
        if (!give(s, slot))
            return false;
    return true;
}

void dispatch_fill(struct bats_sched *s, uint32_t slot)
{
    fill(s, slot);
}

void dispatch_idle(struct bats_sched *s)
{
    uint32_t slot = s->idle_first;
    while (slot != NO_SLOT && !s->draining &&
           s->bag.count[BATS_TASK_PENDING] > 0) {
        uint32_t next = s->slots[slot].next_idle;
        /* Refused: do not ask again before the next monitoring, unless
         * another machine only has to take its tasks first. */
        if (fill(s, slot))
            dispatch_remove_idle(s, slot);
        slot = next;
    }
}

uint32_t dispatch_next(const struct bats_sched *s, uint32_t slot,
                       uint32_t task)
{
    return s->slots[slot].is_copy ? BATS_NO_TASK : s->tasks[task].next;
}

void dispatch_take_out(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    struct slot *sl = &s->slots[slot];
    struct machine *m = &s->machines[sl->machine];
    uint32_t before = BATS_NO_TASK, next = dispatch_next(s, slot, task);

    for (uint32_t id = sl->head; id != task; id = s->tasks[id].next)
        before = id;
    if (before == BATS_NO_TASK)
        sl->head = next;
    else
        s->tasks[before].next = next;
    if (sl->tail == task)
        sl->tail = before;
    sl->n_tasks--;
    sl->is_copy = false;
    if (before == BATS_NO_TASK) {
        sl->timed_out = sl->was_copy = false;
        dispatch_begin(s, slot);
    }
    if (sl->n_tasks == 0) {
        assert(m->n_busy > 0);
        m->n_busy--;
        s->n_busy--;
        s->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        if (m->state == MACHINE_ACTIVE) {
            s->n_free++;
            dispatch_add_idle(s, slot);
        }
    }
}

void dispatch_cancel(struct bats_sched *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    for (uint32_t i = 0; i < m->n_slots; i++) {
        uint32_t slot = m->first_slot + i;
        for (uint32_t id = s->slots[slot].head; id != BATS_NO_TASK;
             id = dispatch_next(s, slot, id))
            copies_cancel(s, slot, id, false);
    }
}
