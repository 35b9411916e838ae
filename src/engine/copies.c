/*
 * copies: the executions of a task, of which there may be several. See
 * sched_state.h.
 */
#include "engine/sched_state.h"

#include <assert.h>

/* Mostly it is what the slot runs, and nothing far away in memory has to be
 * looked at. */
uint32_t copies_find(const struct bats_sched *s, uint32_t slot,
                     uint32_t number)
{
    uint32_t head = s->slots[slot].head;
    return head != BATS_NO_TASK && s->bag.task[head] == number
               ? head
               : s->bag.place[number];
}

enum bats_execution_state bats_sched_execution(const struct bats_sched *s,
                                               uint32_t machine, uint32_t slot,
                                               uint32_t number)
{
    if (machine >= s->n_machines || slot >= s->machines[machine].n_slots ||
        number >= s->bag.n)
        return BATS_EXECUTION_NONE;
    uint32_t at = s->machines[machine].first_slot + slot;
    uint32_t task = copies_find(s, at, number);
    const struct slot *sl = &s->slots[at];
    bool is_head = sl->n_tasks > 0 && sl->head == task;
    if (s->tasks[task].slot != at && !(is_head && sl->is_copy))
        return BATS_EXECUTION_NONE;
    if (is_head && sl->timed_out)
        return BATS_EXECUTION_TIMED_OUT;
    return copies_cancelled(s, at, task) ? BATS_EXECUTION_CANCELLED
                                         : BATS_EXECUTION_RUNS;
}

bool bats_sched_has_copies(const struct bats_sched *s, uint32_t number)
{
    return number < s->bag.n &&
           s->tasks[s->bag.place[number]].copies != NO_SLOT;
}

bool copies_machine_works(const struct bats_sched *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    for (uint32_t i = 0; i < m->n_slots; i++)
        if (copies_works(s, m->first_slot + i))
            return true;
    return false;
}

void copies_start(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    struct task *t = &s->tasks[task];
    struct slot *sl = &s->slots[slot];
    assert(sl->n_tasks == 0 && (copies_allowed(s, task) || t->point));
    sl->is_copy = sl->was_copy = true;
    sl->copy_cancelled = false;
    sl->next_copy = t->copies;
    t->copies = slot;
    t->n_copies++;
    s->n_copies++;
    s->copies += !t->point;
    dispatch_run(s, slot, task, t->n_copies);
}

/* An execution of the task goes on that was not told to stop. */
static bool is_alive(const struct bats_sched *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    if (t->slot != NO_SLOT && !t->cancelled)
        return true;
    for (uint32_t at = t->copies; at != NO_SLOT; at = s->slots[at].next_copy)
        if (!s->slots[at].copy_cancelled)
            return true;
    return false;
}

/* The task is CANCELLING once all of its executions were told to stop. */
static void update_state(struct bats_sched *s, uint32_t task)
{
    if (s->bag.state[task] == BATS_TASK_ASSIGNED && !is_alive(s, task))
        bats_bag_cancel(&s->bag, task);
}

void copies_cancel(struct bats_sched *s, uint32_t slot, uint32_t task,
                   bool time_out)
{
    struct slot *sl = &s->slots[slot];
    if (copies_cancelled(s, slot, task))
        return;
    if (sl->is_copy)
        sl->copy_cancelled = true;
    else
        s->tasks[task].cancelled = true;
    sl->timed_out |= time_out;
    s->tail.is_news |= !bats_bag_has_result(&s->bag, task);
    update_state(s, task);
    sched_emit(s, (struct bats_command){
                      .type = BATS_COMMAND_CANCEL,
                      .machine = sl->machine,
                      .slot = slot - s->machines[sl->machine].first_slot,
                      .task = s->bag.task[task],
                      .time_out = time_out});
}

void copies_cancel_all(struct bats_sched *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    if (t->slot != NO_SLOT)
        copies_cancel(s, t->slot, task, false);
    for (uint32_t at = t->copies; at != NO_SLOT; at = s->slots[at].next_copy)
        copies_cancel(s, at, task, false);
}

/* Takes the copy in `slot` out of the list of its task. */
static void unlink_copy(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    uint32_t *at = &s->tasks[task].copies;
    while (*at != slot)
        at = &s->slots[*at].next_copy;
    *at = s->slots[slot].next_copy;
    s->n_copies--;
}

/* The original has ended: the oldest copy takes its place, if possible one
 * that was not told to stop. */
static void promote(struct bats_sched *s, uint32_t task)
{
    struct task *t = &s->tasks[task];
    uint32_t oldest = NO_SLOT;
    for (uint32_t at = t->copies; at != NO_SLOT; at = s->slots[at].next_copy)
        if (oldest == NO_SLOT || !s->slots[at].copy_cancelled ||
            s->slots[oldest].copy_cancelled)
            oldest = at; /* the list begins with the youngest */
    if (oldest == NO_SLOT)
        return;
    unlink_copy(s, oldest, task);
    t->slot = oldest;
    t->next = BATS_NO_TASK;
    t->cancelled = s->slots[oldest].copy_cancelled;
    s->slots[oldest].is_copy = false;
}

void copies_swap(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    struct task *t = &s->tasks[task];
    uint32_t original = t->slot;
    assert(s->slots[slot].is_copy && !s->slots[slot].copy_cancelled &&
           s->slots[original].n_tasks == 1 && !t->in_sample);
    unlink_copy(s, slot, task);
    s->slots[original].is_copy = true;
    s->slots[original].copy_cancelled = t->cancelled;
    s->slots[original].next_copy = t->copies;
    t->copies = original;
    s->n_copies++;
    t->slot = slot;
    t->next = BATS_NO_TASK;
    t->cancelled = s->slots[slot].is_copy = false;
}

bool copies_take_out(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    struct task *t = &s->tasks[task];
    bool is_copy = s->slots[slot].is_copy;
    if (is_copy)
        unlink_copy(s, slot, task);
    dispatch_take_out(s, slot, task);
    if (!is_copy) {
        uint32_t machine = s->slots[slot].machine;
        s->clusters[s->machines[machine].cluster].sample_sent -= t->in_sample;
        t->in_sample = false;
        t->slot = NO_SLOT;
        promote(s, task);
    }
    update_state(s, task);
    return t->slot != NO_SLOT && !bats_bag_has_result(&s->bag, task);
}

/* A slot that will be free in a moment. */
static bool is_stopping(const struct bats_sched *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks == 1 && copies_cancelled(s, slot, sl->head) &&
           s->machines[sl->machine].state == MACHINE_ACTIVE;
}

void copies_make_room(struct bats_sched *s)
{
    uint32_t wanted = s->bag.count[BATS_TASK_PENDING];
    if (wanted == 0 || s->n_copies == 0 || s->draining)
        return;
    for (uint32_t i = 0; i < s->n_slots && wanted > 0; i++)
        wanted -= is_stopping(s, i);
    for (; wanted > 0; wanted--) {
        uint32_t youngest = NO_SLOT;
        for (uint32_t i = 0; i < s->n_slots; i++) {
            const struct slot *sl = &s->slots[i];
            if (sl->is_copy && !sl->copy_cancelled &&
                !s->tasks[sl->head].point && !s->tasks[sl->head].cancelled &&
                (youngest == NO_SLOT ||
                 sl->started > s->slots[youngest].started) &&
                dispatch_admits(s, sl->machine))
                youngest = i;
        }
        if (youngest == NO_SLOT)
            return;
        copies_cancel(s, youngest, s->slots[youngest].head, false);
    }
}
