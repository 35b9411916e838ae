/* slots: the list of idle slots, and each slot's queue. See state.h. */
#include "engine/state/moves.h"

#include <assert.h>
#include <math.h>

void slot_add_idle(struct state *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    if (sl->is_idle)
        return;
    struct idle_list *list = &s->idle.of[slot_cluster(s, slot)];
    sl->is_idle = true;
    list->n++;
    s->idle.n++;
    s->idle.number[slot] = ++s->idle.last_number;
    sl->idle = BATS_IDLE_NOT;
    sl->next_idle = NO_SLOT;
    sl->prev_idle = list->last;
    if (list->last == NO_SLOT)
        list->first = slot;
    else
        s->slots[list->last].next_idle = slot;
    list->last = slot;
}

void slot_remove_idle(struct state *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    if (!sl->is_idle)
        return;
    struct idle_list *list = &s->idle.of[slot_cluster(s, slot)];
    sl->is_idle = false;
    list->n--;
    s->idle.n--;
    if (sl->prev_idle == NO_SLOT)
        list->first = sl->next_idle;
    else
        s->slots[sl->prev_idle].next_idle = sl->next_idle;
    if (sl->next_idle == NO_SLOT)
        list->last = sl->prev_idle;
    else
        s->slots[sl->next_idle].prev_idle = sl->prev_idle;
}

void idle_walk_begin(const struct state *s, struct idle_walk *walk,
                     uint64_t number)
{
    for (size_t c = 0; c < s->n_clusters; c++) {
        walk->next[c] = number == 0 ? s->idle.of[c].first : NO_SLOT;
        for (uint32_t at = s->idle.of[c].last;
             number > 0 && at != NO_SLOT && s->idle.number[at] > number;
             at = s->slots[at].prev_idle)
            walk->next[c] = at;
    }
}

uint32_t idle_walk_next(const struct state *s, struct idle_walk *walk)
{
    uint32_t oldest = NO_SLOT;
    for (size_t c = 0; c < s->n_clusters; c++) {
        uint32_t *next = &walk->next[c];
        while (*next != NO_SLOT && !s->slots[*next].is_idle)
            *next = s->slots[*next].next_idle;
        if (*next != NO_SLOT &&
            (oldest == NO_SLOT ||
             s->idle.number[*next] < s->idle.number[oldest]))
            oldest = *next;
    }
    if (oldest != NO_SLOT)
        walk->next[slot_cluster(s, oldest)] = s->slots[oldest].next_idle;
    return oldest;
}

void slot_note_idle(struct state *s, uint32_t slot, enum bats_idle reason)
{
    struct slot *sl = &s->slots[slot];
    struct machine_rest *r = &s->rest[sl->machine];
    if (!slot_is_free(s, slot) || sl->idle == reason)
        return;
    sl->idle = (uint8_t)reason;
    if (!r->is_news)
        s->idle.news[s->idle.n_news++] = sl->machine;
    r->is_news = true;
}

/* Idle reason of a held machine's first slot without a task. */
static enum bats_idle reason_of(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (machine_is_held(m) && slot_is_free(s, i))
            return (enum bats_idle)s->slots[i].idle;
    return BATS_IDLE_NOT;
}

/* Time at which a machine idle for this reason may get a task, or at which it
 * gets none any more. */
static bats_time until(const struct state *s, uint32_t id,
                       enum bats_idle reason)
{
    switch (reason) {
    case BATS_IDLE_TAKEN:
        return s->rest[id].taken_at;
    case BATS_IDLE_SHORT:
        return s->machines[id].paid_end;
    case BATS_IDLE_TOO_LATE:
        return s->money.latest;
    default:
        return BATS_NEVER;
    }
}

bool bats_sched_next_idle(struct bats_sched *e, struct bats_idle_machine *idle)
{
    struct state *s = &e->state;
    while (s->idle.n_news > 0 && s->run.finish == BATS_FINISH_NOT_YET) {
        uint32_t id = s->idle.news[--s->idle.n_news];
        enum bats_idle reason = reason_of(s, id);
        s->rest[id].is_news = false;
        if (reason == BATS_IDLE_NOT || reason == s->rest[id].told)
            continue;
        s->rest[id].told = (uint8_t)reason;
        *idle = (struct bats_idle_machine){id, reason, until(s, id, reason)};
        return true;
    }
    return false;
}

void slots_rescan(struct state *s)
{
    for (uint32_t i = 0; i < s->n_held && s->idle.n < s->n_free; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (m->state != MACHINE_ACTIVE || m->n_busy == m->n_slots)
            continue;
        for (uint32_t k = 0; k < m->n_slots; k++)
            if (slot_is_free(s, m->first_slot + k))
                slot_add_idle(s, m->first_slot + k);
    }
}

/* Time limit of a task that timed out before. */
static bats_time longer(const struct state *s, bats_time limit, uint8_t times)
{
    double time = (double)limit * pow(s->run.retry_time, times);
    return times == 0 || limit == BATS_NEVER ? limit
           : time < (double)TIME_MAX         ? (bats_time)time
                                             : BATS_NEVER;
}

static void slot_set_limit(struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    bats_time limit = s->clusters[slot_cluster(s, slot)].limit;
    if (sl->n_tasks > 0) {
        uint32_t task = s->bag.index[sl->head.i];
        bats_time own =
            s->needs.list ? s->needs.list[category_of(s, task)].limit : 0;
        limit = bats_strategy_longer(limit, s->tasks[sl->head.i].given_up);
        if (own > 0 && own < limit)
            limit = own;
        limit = longer(s, limit, s->tasks[sl->head.i].times_more);
    }
    bats_heap_remove(&s->limits, slot);
    if (sl->n_tasks == 0 || limit == BATS_NEVER ||
        execution_cancelled(s, slot, sl->head))
        return;
    bats_time end = sl->started + limit;
    bats_heap_set(&s->limits, slot, end > s->now ? end : s->now);
}

void slots_set_limits(struct state *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        slot_set_limit(s, i);
}

/* The slot's first task begins now. */
static inline void begin(struct state *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    sl->started = s->now;
    if (s->money.lease->work) {
        s->money.lease->work(s, sl->machine,
                             task_allowed(s, sl->machine, sl->head));
        books_change(s, sl->machine);
    }
    if (s->run.has_limits)
        slot_set_limit(s, slot);
}

void slot_run(struct state *s, uint32_t slot, struct bats_position task,
              uint32_t replica)
{
    struct slot *sl = &s->slots[slot];
    assert(sl->n_tasks == 0 || !sl->is_replica);
    if (sl->n_tasks++ == 0) {
        sl->head = task;
        sl->idle = BATS_IDLE_NOT;
        purse_join(s, sl->machine, task);
        begin(s, slot);
        s->machines[sl->machine].n_busy++;
        s->n_busy++;
        s->n_free--;
        s->busy[slot / 64] |= UINT64_C(1) << slot % 64;
        s->any_busy[slot / 4096] |= UINT64_C(1) << slot / 64 % 64;
        slot_remove_idle(s, slot);
    } else {
        s->tasks[sl->tail.i].next = task;
    }
    sl->tail = task;
    s->n_changes += replica == 0;
    slot_tell(s, BATS_COMMAND_RUN, slot, task)->replica = replica;
}

/* The last task has left the slot. */
static inline void rest(struct state *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    struct machine *m = &s->machines[sl->machine];
    assert(m->n_busy > 0);
    sl->works = false;
    if (s->run.has_limits)
        bats_heap_remove(&s->limits, slot);
    if (--m->n_busy == 0) {
        m->overrun = 0;
        lease_idle(s, sl->machine);
    }
    s->n_busy--;
    s->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    if (s->busy[slot / 64] == 0)
        s->any_busy[slot / 4096] &= ~(UINT64_C(1) << slot / 64 % 64);
    if (m->state == MACHINE_ACTIVE) {
        s->n_free++;
        slot_add_idle(s, slot);
    }
}

/* Takes a waiting task out of the slot's queue. */
static void take_from_queue(struct state *s, struct slot *sl,
                            struct bats_position task)
{
    struct bats_position before = sl->head, next = s->tasks[task.i].next;
    while (!bats_same_position(s->tasks[before.i].next, task))
        before = s->tasks[before.i].next;
    s->tasks[before.i].next = next;
    if (!bats_is_position(next))
        sl->tail = before;
    sl->n_tasks--;
}

void slot_take_out(struct state *s, uint32_t slot, struct bats_position task)
{
    struct slot *sl = &s->slots[slot];
    if (!bats_same_position(sl->head, task)) {
        take_from_queue(s, sl, task);
        return;
    }
    purse_leaves_slot(s, slot);
    sl->head = slot_next(s, slot, task);
    sl->is_replica = sl->was_replica = sl->timed_out = sl->judged = false;
    if (--sl->n_tasks == 0)
        rest(s, slot);
    else
        begin(s, slot);
}
