/* executions: the running copies of a task; results, failures and losses of
 * tasks. See state.h. */
#include "engine/state/moves.h"

#include <assert.h>

enum bats_execution_state execution_state(const struct state *s,
                                          uint32_t machine, uint32_t slot,
                                          uint32_t number)
{
    if (machine >= s->n_machines || slot >= s->machines[machine].n_slots ||
        number >= s->bag.n)
        return BATS_EXECUTION_NONE;
    uint32_t at = s->machines[machine].first_slot + slot;
    struct bats_position task = execution_find(s, at, number);
    const struct slot *sl = &s->slots[at];
    bool is_head = sl->n_tasks > 0 && bats_same_position(sl->head, task);
    if (s->tasks[task.i].slot != at && !(is_head && sl->is_replica))
        return BATS_EXECUTION_NONE;
    if (is_head && sl->timed_out)
        return BATS_EXECUTION_TIMED_OUT;
    return execution_cancelled(s, at, task) ? BATS_EXECUTION_CANCELLED
                                            : BATS_EXECUTION_RUNS;
}

/* ---- beginnings ---- */

void execution_begin(struct state *s, uint32_t slot, struct bats_position task)
{
    struct cluster *c = &s->clusters[slot_cluster(s, slot)];
    struct task *t = &s->tasks[task.i];
    t->slot = slot;
    t->next = BATS_NO_POSITION;
    t->n_replicas = 0;
    t->in_sample = t->cancelled = false;
    c->begun++;
    if (c->sample_sent < c->sample_want) {
        t->in_sample = true;
        c->sample_sent++;
    }
    slot_run(s, slot, task, 0);
}

void execution_replica(struct state *s, uint32_t slot,
                       struct bats_position task)
{
    struct task *t = &s->tasks[task.i];
    struct slot *sl = &s->slots[slot];
    assert(sl->n_tasks == 0 && (task_may_be_replicated(s, task) || t->point));
    sl->is_replica = sl->was_replica = true;
    sl->replica_cancelled = false;
    sl->next_replica = t->replicas;
    t->replicas = slot;
    t->n_replicas++;
    s->n_replicas++;
    s->replicas += !t->point;
    slot_run(s, slot, task, t->n_replicas);
}

void execution_measure(struct state *s, uint32_t slot,
                       struct bats_position task)
{
    struct task *t = &s->tasks[task.i];
    assert(t->point);
    if (t->slot != NO_SLOT) {
        execution_replica(s, slot, task);
        return;
    }
    t->slot = slot;
    t->next = BATS_NO_POSITION;
    t->cancelled = t->in_sample = false;
    slot_run(s, slot, task, ++t->n_replicas);
}

/* ---- cancelling ---- */

/* Some execution of the task was not told to stop. */
static bool is_alive(const struct state *s, struct bats_position task)
{
    const struct task *t = &s->tasks[task.i];
    if (t->slot != NO_SLOT && !t->cancelled)
        return true;
    for (uint32_t at = t->replicas; at != NO_SLOT;
         at = s->slots[at].next_replica)
        if (!s->slots[at].replica_cancelled)
            return true;
    return false;
}

/* The task is CANCELLING once all of its executions were told to stop. */
static void update_state(struct state *s, struct bats_position task)
{
    if (s->bag.state[task.i] == BATS_TASK_ASSIGNED && !is_alive(s, task))
        bats_bag_cancel(&s->bag, task);
}

void execution_cancel(struct state *s, uint32_t slot,
                      struct bats_position task, bool time_out)
{
    struct slot *sl = &s->slots[slot];
    if (execution_cancelled(s, slot, task))
        return;
    if (sl->is_replica)
        sl->replica_cancelled = true;
    else
        s->tasks[task.i].cancelled = true;
    sl->timed_out |= time_out;
    s->timed_out += time_out;
    s->n_changes += !bats_bag_has_result(&s->bag, task);
    update_state(s, task);
    slot_tell(s, BATS_COMMAND_CANCEL, slot, task)->time_out = time_out;
}

void execution_cancel_others(struct state *s, uint32_t slot,
                             struct bats_position task)
{
    for (uint32_t at = s->tasks[task.i].slot; at != NO_SLOT;
         at = execution_next(s, task, at))
        if (at != slot)
            execution_cancel(s, at, task, false);
}

void execution_cancel_all(struct state *s, struct bats_position task)
{
    execution_cancel_others(s, NO_SLOT, task);
}

void execution_cancel_machine(struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    for (uint32_t i = 0; i < m->n_slots; i++) {
        uint32_t slot = m->first_slot + i;
        for (struct bats_position task = s->slots[slot].head;
             bats_is_position(task); task = slot_next(s, slot, task))
            execution_cancel(s, slot, task, false);
    }
}

/* ---- ends ---- */

/* Takes the replica in `slot` out of the list of its task. */
static void unlink_copy(struct state *s, uint32_t slot,
                        struct bats_position task)
{
    uint32_t *at = &s->tasks[task.i].replicas;
    while (*at != slot)
        at = &s->slots[*at].next_replica;
    *at = s->slots[slot].next_replica;
    s->n_replicas--;
}

/* The original has ended: the oldest of its replicas takes its place,
 * preferably one that was not told to stop. */
static void promote(struct state *s, struct bats_position task)
{
    struct task *t = &s->tasks[task.i];
    uint32_t oldest = NO_SLOT;
    for (uint32_t at = t->replicas; at != NO_SLOT;
         at = s->slots[at].next_replica)
        if (oldest == NO_SLOT || !s->slots[at].replica_cancelled ||
            s->slots[oldest].replica_cancelled)
            oldest = at; /* the list begins with the youngest */
    unlink_copy(s, oldest, task);
    t->slot = oldest;
    t->next = BATS_NO_POSITION;
    t->cancelled = s->slots[oldest].replica_cancelled;
    s->slots[oldest].is_replica = false;
}

void execution_swap(struct state *s, uint32_t slot, struct bats_position task)
{
    struct task *t = &s->tasks[task.i];
    uint32_t original = t->slot;
    assert(slot_copies(s, slot) && s->slots[original].n_tasks == 1 &&
           !t->in_sample);
    unlink_copy(s, slot, task);
    s->slots[original].is_replica = true;
    s->slots[original].replica_cancelled = t->cancelled;
    s->slots[original].next_replica = t->replicas;
    t->replicas = original;
    s->n_replicas++;
    t->slot = slot;
    t->next = BATS_NO_POSITION;
    t->cancelled = s->slots[slot].is_replica = false;
}

bool execution_end(struct state *s, uint32_t slot, struct bats_position task,
                   bool well)
{
    struct task *t = &s->tasks[task.i];
    bool is_replica = s->slots[slot].is_replica;
    if (is_replica)
        unlink_copy(s, slot, task);
    if (s->needs.list)
        needs_give_back(s, slot, task);
    slot_take_out(s, slot, task);
    if (!is_replica) {
        s->clusters[slot_cluster(s, slot)].sample_sent -= t->in_sample;
        t->in_sample = false;
        t->slot = NO_SLOT;
        if (t->replicas != NO_SLOT)
            promote(s, task);
    }
    if (t->slot == NO_SLOT || bats_bag_has_result(&s->bag, task))
        return false;
    update_state(s, task);
    s->n_changes += !well;
    return true;
}

/* ---- tasks ---- */

static void drop(struct state *s, uint32_t task, enum bats_task_state state)
{
    categories_drop(s, task);
    purse_ended(s, task, state);
}

void task_finish(struct state *s, struct bats_position task,
                 enum bats_task_state state, size_t cluster)
{
    struct cluster *c = &s->clusters[cluster];
    bats_bag_finish(&s->bag, task, state);
    if (state == BATS_TASK_DONE)
        c->done++;
    else
        c->failed++;
    drop(s, s->bag.index[task.i], state);
    if (s->bag.graph)
        tasks_tell_skipped(s);
}

void tasks_tell_skipped(struct state *s)
{
    for (; s->n_told < s->bag.count[BATS_TASK_SKIPPED]; s->n_told++) {
        uint32_t number = s->bag.skipped[s->n_told];
        drop(s, number, BATS_TASK_SKIPPED);
        struct bats_command *c =
            state_emit(s, BATS_NOTICE_SKIP, BATS_NO_MACHINE);
        c->task = number;
        c->unpaid =
            s->money.purses.n > 0 && s->money.purses.is_unpaid[number];
    }
}

void task_withdraw(struct state *s, struct bats_position task)
{
    uint32_t number = s->bag.index[task.i];
    enum bats_task_state was = (enum bats_task_state)s->bag.state[task.i];
    if (was == BATS_TASK_WAITING)
        bats_heap_remove(&s->retries, number);
    bats_bag_withdraw(&s->bag, task);
    s->n_told++;
    if (was != BATS_TASK_LEFT_OUT)
        drop(s, number, BATS_TASK_SKIPPED);
    struct bats_command *c = state_emit(s, BATS_NOTICE_SKIP, BATS_NO_MACHINE);
    c->task = number;
    c->withdrawn = true;
}

bool task_count_result(struct state *s, uint32_t slot, bool in_sample,
                       bats_time runtime)
{
    struct cluster *c = &s->clusters[slot_cluster(s, slot)];
    uint32_t before = c->stats.n_sample;
    /* If the policy takes no sample, the first results are the sample. */
    bats_stats_add(&c->stats, runtime, in_sample || c->sample_want == 0);
    c->sample_sent += in_sample; /* execution_end has removed it */
    c->sample_back += in_sample;
    return c->stats.n_sample > before;
}

void task_note_failure(struct state *s, struct bats_position task,
                       uint32_t machine)
{
    s->tasks[task.i].failures++;
    s->tasks[task.i].avoid = machine;
    s->retried++;
}

void task_put_aside(struct state *s, struct bats_position task,
                    bats_time until)
{
    bats_bag_put_aside(&s->bag, task);
    bats_heap_set(&s->retries, s->bag.index[task.i], until);
}

void task_try_again(struct state *s, uint32_t number)
{
    bats_heap_remove(&s->retries, number);
    bats_bag_put_back(&s->bag, s->bag.position[number]);
}

void task_lose(struct state *s, uint32_t slot, struct bats_position task)
{
    s->tasks[task.i].losses++;
    slot_tell(s, BATS_NOTICE_LOSE, slot, task);
}

void task_measure(struct state *s, struct bats_position task)
{
    s->tasks[task.i].point = true;
}

/* Executions that only measure the task are no longer needed. */
void task_release(struct state *s, struct bats_position task)
{
    s->tasks[task.i].point = false;
    if (bats_bag_has_result(&s->bag, task))
        execution_cancel_all(s, task);
}
