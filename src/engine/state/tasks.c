/* tasks: their results, failures and losses. See state.h. */
#include "engine/state/moves.h"

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
    tasks_tell_skipped(s);
}

void tasks_tell_skipped(struct state *s)
{
    for (; s->n_told < s->bag.count[BATS_TASK_SKIPPED]; s->n_told++) {
        uint32_t number = s->bag.skipped[s->n_told];
        drop(s, number, BATS_TASK_SKIPPED);
        state_emit(s, (struct bats_command){
                          .type = BATS_NOTICE_SKIP,
                          .machine = BATS_NO_MACHINE,
                          .task = number,
                          .unpaid = s->money.purses.n > 0 &&
                                    s->money.purses.is_unpaid[number]});
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
    state_emit(s, (struct bats_command){.type = BATS_NOTICE_SKIP,
                                        .machine = BATS_NO_MACHINE,
                                        .task = number,
                                        .withdrawn = true});
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
    uint32_t machine = s->slots[slot].machine;
    s->tasks[task.i].losses++;
    state_emit(s, (struct bats_command){
                      .type = BATS_NOTICE_LOSE,
                      .machine = machine,
                      .slot = slot - s->machines[machine].first_slot,
                      .task = s->bag.index[task.i]});
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
