/* outcome: ends of executions and losses of machines. See engine.h. */
#include "engine/engine.h"

#include "engine/money/kinds.h"

#define CUTS 3 /* a task cut off after this many whole jobs has failed */

/* ---- the parts ---- */

/* Tells the sampling how an execution ended; runtime < 0: it failed. */
static void tell_sampling(struct state *s, uint32_t machine,
                          struct bats_position task, bats_time runtime)
{
    if (s->run.phase != PHASE_SAMPLING)
        return;
    if (sampling_ended(s->own.sampling, s, machine, task, runtime) < 0)
        s->answers.failure = BATS_ENOMEM;
    assign_release(s);
}

/* Fails the task for good. Halts the run if too many have failed. */
static void give_up(struct state *s, uint32_t machine,
                    struct bats_position task)
{
    task_finish(s, task, BATS_TASK_FAILED, s->machines[machine].cluster);
    enum failure_halt halt = failure_halt(s->own.failure, s);
    if (halt != FAILURE_GO_ON)
        state_stop(s, halt == FAILURE_STOP, BATS_FINISH_HALTED);
}

static void put_back(struct state *s, struct bats_position task,
                     bats_time wait)
{
    if (wait == 0)
        bats_bag_put_back(&s->bag, task);
    else
        task_put_aside(s, task, s->now + wait);
}

/* Why an execution has failed. */
enum lack { LACK_NOTHING, LACK_MEMORY, LACK_TIME };

/* The task runs nowhere; its next execution gets more time or memory. False:
 * it cannot. */
static bool gets_more(struct state *s, struct bats_position task,
                      enum lack lack)
{
    struct task *t = &s->tasks[task.i];
    if (s->run.draining || t->withdrawn)
        return false;
    if (lack == LACK_MEMORY)
        return needs_grow(s, task);
    if (lack != LACK_TIME || s->run.retry_time == 0 ||
        t->times_more == BATS_TIMES_MORE)
        return false;
    t->times_more++;
    return true;
}

/* Handles a failed execution: the task is retried, continues `elsewhere`, or
 * has failed. */
static void fail(struct state *s, uint32_t machine, struct bats_position task,
                 bool elsewhere, enum lack lack)
{
    if (!elsewhere && gets_more(s, task, lack)) {
        s->retried++;
        put_back(s, task, 0);
        return;
    }
    bats_time wait = failure_failed(s->own.failure, s, task, elsewhere);
    if (wait == FAILURE_FOR_GOOD || s->tasks[task.i].withdrawn) {
        give_up(s, machine, task);
        execution_cancel_all(s, task);
        return;
    }
    task_note_failure(s, task, machine);
    if (!elsewhere)
        put_back(s, task, wait);
}

/* The execution was stopped or yielded, and no other one runs. */
static void come_back(struct state *s, uint32_t machine,
                      struct bats_position task, bool yielded, bats_time ran)
{
    bats_time wait = failure_came_back(s->own.failure, task, yielded, ran);
    if (wait == FAILURE_FOR_GOOD)
        give_up(s, machine, task);
    else
        put_back(s, task, wait);
}

/* Tells the tail how an execution ends, while it is still in its slot. */
static void tell_tail(struct state *s, uint32_t slot,
                      struct bats_position task, bool answers, bool noticed)
{
    if (s->tail->ended)
        s->tail->ended(s->own.tail, s, slot, task, answers, noticed);
}

static void succeed(struct state *s, uint32_t machine,
                    struct bats_position task, bool was_replica,
                    bool elsewhere)
{
    if (s->run.in_tail) /* other instances continue */
        task_measure(s, task);
    bool point = s->tasks[task.i].point;
    task_finish(s, task, BATS_TASK_DONE, s->machines[machine].cluster);
    s->replicas_won += was_replica && (!point || s->run.in_tail);
    if (elsewhere && !point)
        execution_cancel_all(s, task);
}

/* Adds the result to the statistics; the task has left the bag. */
static void count(struct state *s, uint32_t slot, struct bats_position task,
                  bool in_sample, bats_time runtime)
{
    if (task_count_result(s, slot, in_sample, runtime) &&
        s->run.limits_vary && configure_limits(s))
        slots_set_limits(s);
    if (s->tail->learn &&
        !s->tail->learn(s->own.tail, s, slot_cluster(s, slot), runtime))
        s->answers.failure = BATS_ENOMEM;
    state_belief_note(s);
    slot_worked(s, slot, task, runtime);
    if (s->bag.state[task.i] == BATS_TASK_DONE)
        categories_note(s, task, slot_cluster(s, slot), runtime);
}

static int quarantine(struct state *s, uint32_t machine, bats_time time,
                      struct bats_error *err)
{
    machine_quarantine(s, machine,
                       time < BATS_NEVER ? s->now + time : BATS_NEVER);
    return configure_review(
        s, &(struct occasion){.type = OCCASION_LOST, .machine = machine}, err);
}

/* ---- the ends ---- */

static int ended(struct state *s, const struct bats_event *ev, uint32_t slot,
                 struct bats_position task, struct bats_error *err)
{
    bool failed = ev->type == BATS_EVENT_FAILED;
    bool was_replica = s->slots[slot].was_replica;
    bool in_sample = !was_replica && s->tasks[task.i].in_sample;
    tell_tail(s, slot, task, !failed, failed);
    bool elsewhere = execution_end(s, slot, task, !failed);
    int rc = 0;
    if (failed)
        fail(s, ev->machine, task, elsewhere,
             ev->out_of_memory ? LACK_MEMORY : LACK_NOTHING);
    else
        succeed(s, ev->machine, task, was_replica, elsewhere);
    tell_sampling(s, ev->machine, task, failed ? -1 : ev->runtime);
    bats_time time =
        failed && ev->out_of_memory
            ? 0 /* the machine is not to blame */
            : failure_note(s->own.failure, s, ev->machine, task, failed);
    if (time > 0)
        rc = quarantine(s, ev->machine, time, err);
    if (!failed && s->machines[ev->machine].on_trial) {
        s->machines[ev->machine].on_trial = false;
        slots_rescan(s);
    }
    bool has_result = bats_bag_has_result(&s->bag, task);
    if (has_result)
        count(s, slot, task, in_sample, ev->runtime);
    machine_drained(s, ev->machine);
    if (rc == 0 && has_result && !s->run.draining)
        rc = configure_review(s,
                              &(struct occasion){.type = OCCASION_RESULT,
                                                 .machine = ev->machine,
                                                 .task = task,
                                                 .runtime = ev->runtime,
                                                 .in_sample = in_sample},
                              err);
    return rc;
}

/* A cut-off task filled a job of this length. Its next jobs are longer
 * (outlook/jobs.h): a cut-off counts only in a window at least as long as the
 * earlier ones. */
static bool is_no_news(struct state *s, bats_time length)
{
    bool is_news = length < s->run.window ||
                   (length > s->run.window && length > s->known.filled);
    if (length > s->known.filled)
        s->known.filled = length;
    return !is_news;
}

/* Counts the cut-off if the task had a whole job or block. A copy in the same
 * job began later, so it is not counted. */
static void note_cut(struct state *s, uint32_t machine,
                     struct bats_position task, bats_time ran)
{
    bats_time life = s->rest[machine].length;
    struct task *t = &s->tasks[task.i];
    if (t->slot != NO_SLOT && s->slots[t->slot].machine == machine)
        s->slots[t->slot].judged = true;
    ran += s->run.preempt_lead + s->rest[machine].age;
    if (life > 0 && !s->run.draining && ran >= life - life / 10 &&
        (!s->money.terms.waits || is_no_news(s, life)) && t->cuts < CUTS)
        t->cuts++;
}

/* The task filled CUTS windows without finishing: give it up. */
static bool is_too_long(const struct state *s, struct bats_position task)
{
    return !s->run.draining && s->tasks[task.i].cuts >= CUTS;
}

/* The execution was stopped by a CANCEL (perhaps a time-out), or yielded. A
 * task that yields keeps a state, which two executions must not share. */
static void came_back(struct state *s, const struct bats_event *ev,
                      uint32_t slot, struct bats_position task)
{
    const struct slot *sl = &s->slots[slot];
    bool yielded = ev->type == BATS_EVENT_YIELDED;
    bool is_head = bats_same_position(sl->head, task);
    bool cut_off = is_head && !sl->is_replica && !yielded;
    bool timed_out = is_head && sl->timed_out;
    bool judged = is_head && sl->judged;
    bats_time ran = is_head ? s->now - sl->started : 0;
    if (!yielded && is_head)
        lease_forgive(s, ev->machine);
    tell_tail(s, slot, task, false, !timed_out);
    bool elsewhere = execution_end(s, slot, task, false);
    s->tasks[task.i].once |= yielded;
    s->preempted += cut_off && !timed_out;
    if (cut_off && !timed_out && !judged)
        note_cut(s, ev->machine, task, ran);
    if (timed_out && s->tail->limit && s->tasks[task.i].given_up < UINT8_MAX)
        s->tasks[task.i].given_up++;
    if (timed_out && !s->tail->limit)
        fail(s, ev->machine, task, elsewhere, LACK_TIME);
    else if (!elsewhere && (s->tasks[task.i].withdrawn ||
                            (!yielded && is_too_long(s, task))))
        give_up(s, ev->machine, task);
    else if (!elsewhere)
        come_back(s, ev->machine, task, yielded, ran);
    tell_sampling(s, ev->machine, task, -1);
    machine_drained(s, ev->machine);
}

/* The execution ended after another one gave the task its result. */
static void came_too_late(struct state *s, const struct bats_event *ev,
                          uint32_t slot, struct bats_position task)
{
    bool done = ev->type == BATS_EVENT_DONE;
    if (ev->type == BATS_EVENT_PREEMPTED &&
        bats_same_position(s->slots[slot].head, task))
        lease_forgive(s, ev->machine);
    tell_tail(s, slot, task, done, false);
    execution_end(s, slot, task, done);
    if (done && s->tasks[task.i].point)
        slot_worked(s, slot, task, ev->runtime);
    tell_sampling(s, ev->machine, task, done ? ev->runtime : -1);
    machine_drained(s, ev->machine);
}

int outcome_of_execution(struct state *s, const struct bats_event *ev,
                         struct bats_error *err)
{
    uint32_t slot = s->machines[ev->machine].first_slot + ev->slot;
    struct bats_position task = execution_find(s, slot, ev->task);
    int rc = 0;
    if (bats_bag_has_result(&s->bag, task))
        came_too_late(s, ev, slot, task);
    else if (ev->type == BATS_EVENT_DONE || ev->type == BATS_EVENT_FAILED)
        rc = ended(s, ev, slot, task, err);
    else
        came_back(s, ev, slot, task);
    if (rc == 0)
        assign_slot(s, slot);
    return rc;
}

static void lose(struct state *s, uint32_t machine, uint32_t slot)
{
    struct bats_position task = s->slots[slot].head;
    tell_tail(s, slot, task, false, true);
    bool elsewhere = execution_end(s, slot, task, false);
    if (!elsewhere && !bats_bag_has_result(&s->bag, task)) {
        bool again = failure_lost(s->own.failure, s, task) &&
                     !s->tasks[task.i].withdrawn;
        task_lose(s, slot, task);
        if (again)
            bats_bag_put_back(&s->bag, task);
        else
            give_up(s, machine, task);
    }
    tell_sampling(s, machine, task, -1);
}

/* Expected remaining time of a task in the slot's queue. */
static double rest_of(const struct state *s, uint32_t slot,
                      struct bats_position task)
{
    size_t cluster = slot_cluster(s, slot);
    bool runs = bats_same_position(task, s->slots[slot].head);
    if (runs && s->clusters[cluster].stats.n_done > 0 && !s->known.is_ranked)
        return forecast_rest(s, slot);
    return task_runtime(s, s->bag.index[task.i], cluster) -
           (runs ? slot_elapsed(s, slot) : 0);
}

/* Stops the slot's tasks that are not expected to finish in time. */
static void move(struct state *s, uint32_t slot, bats_time time)
{
    double end = 0;
    for (struct bats_position t = s->slots[slot].head; bats_is_position(t);
         t = slot_next(s, slot, t)) {
        end += rest_of(s, slot, t);
        if (end > (double)time && !execution_cancelled(s, slot, t))
            execution_cancel(s, slot, t, false);
    }
}

/* Asks the policy after a machine was lost, unless the run is ending. */
static int review_loss(struct state *s, uint32_t machine,
                       struct bats_error *err)
{
    const struct run *run = &s->run;
    if (run->finish != BATS_FINISH_NOT_YET || run->draining)
        return 0;
    return configure_review(
        s, &(struct occasion){.type = OCCASION_LOST, .machine = machine}, err);
}

/* Tasks that save their state migrate with it: they yield when told to
 * stop. */
int outcome_of_notice(struct state *s, uint32_t machine, bats_time time,
                      struct bats_error *err)
{
    const struct machine *m = &s->machines[machine];
    machine_notice(s, machine, s->now + time);
    time = s->rest[machine].taken_at - s->now;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        move(s, i, s->money.terms.idle_is_free ? time : m->paid_end - s->now);
    return review_loss(s, machine, err);
}

int outcome_of_retirement(struct state *s, uint32_t machine,
                          struct bats_error *err)
{
    const struct machine *m = &s->machines[machine];
    bats_heap_remove(&s->quarantines, machine);
    if (m->state != MACHINE_ACTIVE || m->quarantined)
        return 0;
    machine_retire(s, machine);
    return review_loss(s, machine, err);
}

int outcome_of_loss(struct state *s, uint32_t machine, struct bats_error *err)
{
    const struct machine *m = &s->machines[machine];
    lease_forgive(s, machine);
    if (s->rest[machine].asked)
        job_vanish(s, machine);
    else
        machine_lose(s, machine);
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        while (s->slots[i].n_tasks > 0)
            lose(s, machine, i);
    machine_drained(s, machine);
    return review_loss(s, machine, err);
}
