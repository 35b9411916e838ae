/* sched: events in, commands out. See sched.h and sched_state.h. */
#include "engine/sched_state.h"

#include <stdlib.h>

/* ---- commands ---- */

void sched_emit(struct bats_sched *s, struct bats_command command)
{
    if (s->queue_n == s->queue_capacity) { /* 0 or a power of two */
        size_t capacity = s->queue_capacity ? 2 * s->queue_capacity : 64;
        struct bats_command *queue = malloc(capacity * sizeof *queue);
        if (!queue) {
            s->failure = BATS_ENOMEM;
            return;
        }
        for (size_t i = 0; i < s->queue_n; i++)
            queue[i] =
                s->queue[(s->queue_first + i) & (s->queue_capacity - 1)];
        free(s->queue);
        s->queue = queue;
        s->queue_first = 0;
        s->queue_capacity = capacity;
    }
    size_t end = s->queue_first + s->queue_n++;
    s->queue[end & (s->queue_capacity - 1)] = command;
}

bool bats_sched_next(struct bats_sched *s, struct bats_command *command)
{
    if (s->queue_n == 0)
        return false;
    *command = s->queue[s->queue_first];
    s->queue_first = (s->queue_first + 1) & (s->queue_capacity - 1);
    if (--s->queue_n == 0)
        s->queue_first = 0; /* what was used last is in the cache */
    return true;
}

/* The next thing that falls due. At the same time they come in this order: the
 * deadline, time-outs, tasks to be tried again, monitoring, and ends of windows
 * last, so that these see the new plan. */
enum due { DUE_DEADLINE, DUE_LIMIT, DUE_RETRY, DUE_TICK, DUE_TURN };

static enum due next_due(const struct bats_sched *s, bats_time *time,
                         uint32_t *id)
{
    enum due first = DUE_DEADLINE;
    uint32_t slot = 0, task = 0, machine = 0;
    bats_time limit = bats_heap_first(&s->limits, &slot);
    bats_time retry = bats_heap_first(&s->retries, &task);
    bats_time turn = bats_heap_first(&s->due, &machine);

    *time = s->rules.deadline > 0 && s->why != BATS_FINISH_DEADLINE
                ? s->rules.deadline
                : BATS_NEVER;
    if (limit < *time) {
        *time = limit;
        *id = slot;
        first = DUE_LIMIT;
    }
    if (retry < *time) {
        *time = retry;
        *id = task;
        first = DUE_RETRY;
    }
    if (s->next_tick < *time) {
        *time = s->next_tick;
        first = DUE_TICK;
    }
    if (turn < *time) {
        *time = turn;
        *id = machine;
        first = DUE_TURN;
    }
    return first;
}

bats_time bats_sched_wakeup(const struct bats_sched *s)
{
    return s->finish == BATS_FINISH_NOT_YET ? s->wakeup : BATS_NEVER;
}

/* ---- what follows from every step ---- */

static void finish(struct bats_sched *s, enum bats_finish why)
{
    s->finish = why;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state != MACHINE_ABSENT &&
            s->machines[i].state != MACHINE_LOST)
            sched_emit(s, (struct bats_command){.type = BATS_COMMAND_RELEASE,
                                                .machine = i});
    sched_emit(s, (struct bats_command){.type = BATS_COMMAND_FINISHED,
                                        .finish = why});
}

static bool all_too_late(const struct bats_sched *s)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_joined > 0 && !forecast_too_late(s, i))
            return false;
    return true;
}

/* Tasks are left, nothing runs and every machine has been heard of: either the
 * policy finds something to start, or the run is over. */
static int unstall(struct bats_sched *s, struct bats_error *err)
{
    if (s->n_lost + s->n_quarantined == s->n_machines) {
        finish(s, BATS_FINISH_NO_MACHINES);
        return 0;
    }
    if (s->bag.count[BATS_TASK_PENDING] == 0)
        return 0; /* some are to be tried again later */
    if (s->sampling.phase == PHASE_SAMPLING) {
        sampling_settle(s, true);
        return 0;
    }
    if (s->sampling.phase == PHASE_SAMPLED)
        return 0;
    if (s->sampling.phase == PHASE_LEAVING) {
        finish(s, BATS_FINISH_SAMPLED);
        return 0;
    }
    int rc = s->policy->review(s, BATS_REASON_STALLED, err);
    if (rc < 0)
        return rc;
    dispatch_rescan(s);
    dispatch_idle(s);
    /* A machine that is leaving may be wanted again once it is parked. */
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_LEAVING)
            return 0;
    if (s->n_busy == 0)
        finish(s, all_too_late(s) ? BATS_FINISH_DEADLINE : BATS_FINISH_BUDGET);
    return 0;
}

/* The last tasks, that do not fit the windows of the plan, may cost more. */
static void grant_cushion(struct bats_sched *s)
{
    const uint32_t *count = s->bag.count;
    int64_t left = (int64_t)count[BATS_TASK_PENDING] +
                   count[BATS_TASK_WAITING] + count[BATS_TASK_ASSIGNED] +
                   count[BATS_TASK_CANCELLING];
    if (s->cushion == 0 || left > s->delta_n)
        return;
    s->ledger.budget += s->cushion;
    s->granted = s->cushion;
    s->cushion = 0;
}

static int settle(struct bats_sched *s, struct bats_error *err)
{
    const uint32_t *count = s->bag.count;
    uint32_t id;
    int rc = 0;
    if (s->finish != BATS_FINISH_NOT_YET)
        return 0;
    grant_cushion(s);
    if (s->sampling.phase == PHASE_SAMPLING)
        sampling_settle(s, false);
    if (s->idle_first != NO_SLOT)
        dispatch_idle(s);
    if (s->n_copies > 0)
        copies_make_room(s);
    if (s->idle_first != NO_SLOT)
        tail_fill(s);
    bool all_done = count[BATS_TASK_DONE] + count[BATS_TASK_FAILED] +
                        count[BATS_TASK_LEFT_OUT] ==
                    s->bag.n;
    if (s->n_busy == 0 && all_done)
        finish(s, BATS_FINISH_ALL_DONE);
    else if (s->n_busy == 0 && s->draining)
        finish(s, s->why);
    else if (s->n_busy == 0 && s->n_absent == 0 && !s->on_hold)
        rc = unstall(s, err);
    if (rc == 0 && s->failure < 0)
        rc =
            bats_error_set(err, s->failure, "no memory for a scheduling step");
    next_due(s, &s->wakeup, &id);
    return rc;
}

static int tick(struct bats_sched *s, struct bats_error *err)
{
    s->next_tick += s->interval;
    s->tail.is_news = true;
    forecast_means(s);
    failure_set_limits(s);
    sampling_watch(s);
    dispatch_rescan(s);
    if (s->draining)
        return 0;
    int rc = s->policy->review(s, BATS_REASON_VIOLATION, err);
    shrink_review(s);
    return rc;
}

static int fall_due(struct bats_sched *s, enum due what, uint32_t id,
                    struct bats_error *err)
{
    switch (what) {
    case DUE_DEADLINE:
        fleet_stop(s, true, BATS_FINISH_DEADLINE);
        s->why = BATS_FINISH_DEADLINE;
        return 0;
    case DUE_LIMIT:
        failure_time_out(s, id);
        return 0;
    case DUE_RETRY:
        bats_heap_remove(&s->retries, id);
        bats_bag_put_back(&s->bag, s->bag.place[id]);
        return 0;
    case DUE_TICK:
        return tick(s, err);
    case DUE_TURN:
        fleet_turn(s, id);
        shrink_review(s);
        return 0;
    }
    return 0;
}

/* Does what falls due before `limit`, or at it if `inclusive`. */
static int advance(struct bats_sched *s, bats_time limit, bool inclusive,
                   struct bats_error *err)
{
    while (s->finish == BATS_FINISH_NOT_YET && s->wakeup != BATS_NEVER &&
           (s->wakeup < limit || (s->wakeup == limit && inclusive))) {
        uint32_t id = 0;
        enum due what = next_due(s, &s->wakeup, &id);
        if (s->wakeup > s->now)
            s->now = s->wakeup;
        int rc = fall_due(s, what, id, err);
        if (rc == 0)
            rc = settle(s, err);
        if (rc < 0)
            return rc;
    }
    if (limit > s->now)
        s->now = limit;
    return 0;
}

/* ---- events ---- */

static int check_task_event(const struct bats_sched *s,
                            const struct bats_event *ev,
                            struct bats_error *err)
{
    enum bats_execution_state state =
        bats_sched_execution(s, ev->machine, ev->slot, ev->task);
    if (state == BATS_EXECUTION_NONE)
        return bats_error_set(err, BATS_ESTATE,
                              "task %u is not on machine %u, slot %u",
                              ev->task, ev->machine, ev->slot);
    if (ev->type == BATS_EVENT_PREEMPTED && state == BATS_EXECUTION_RUNS)
        return bats_error_set(err, BATS_ESTATE,
                              "task %u was preempted without a reason",
                              ev->task);
    if (ev->type != BATS_EVENT_PREEMPTED && ev->type != BATS_EVENT_YIELDED &&
        ev->runtime < 0)
        return bats_error_set(err, BATS_ESTATE,
                              "task %u ran for a negative time", ev->task);
    return 0;
}

static int check_event(const struct bats_sched *s, bats_time now,
                       const struct bats_event *ev, struct bats_error *err)
{
    if (now < 0 || now > TIME_MAX)
        return bats_error_set(err, BATS_EOVERFLOW, "the time %lld is no time",
                              (long long)now);
    if (ev->type == BATS_EVENT_TICK || ev->type == BATS_EVENT_DRAIN ||
        ev->type == BATS_EVENT_STOP || ev->type == BATS_EVENT_CHOSEN ||
        ev->type == BATS_EVENT_HOLD || ev->type == BATS_EVENT_GO)
        return 0;
    if (ev->machine >= s->n_machines)
        return bats_error_set(err, BATS_ESTATE, "there is no machine %u",
                              ev->machine);
    enum machine_state state = s->machines[ev->machine].state;
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        if (state != MACHINE_ABSENT)
            return bats_error_set(err, BATS_ESTATE,
                                  "machine %u joined a second time",
                                  ev->machine);
        return 0;
    case BATS_EVENT_LOST:
        if (state == MACHINE_LOST)
            return bats_error_set(err, BATS_ESTATE,
                                  "machine %u was lost a second time",
                                  ev->machine);
        return 0;
    default:
        return check_task_event(s, ev, err);
    }
}

static void start_run(struct bats_sched *s)
{
    s->started = true;
    s->policy->start(s);
    if (s->sampling.phase == PHASE_SAMPLING && sampling_start(s) == 0)
        return; /* nothing is to be started before the choice */
    struct bats_decision d = {.time = s->now,
                              .reason = BATS_REASON_START,
                              .feasible = true,
                              .tasks_left = s->bag.n,
                              .tasks_paid = -1,
                              .budget_left =
                                  bats_ledger_available(&s->ledger)};
    for (size_t i = 0; i < s->n_clusters; i++)
        d.machines[i] = s->clusters[i].target;
    fleet_record(s, &d);
}

static void joined(struct bats_sched *s, uint32_t machine)
{
    struct cluster *c = &s->clusters[s->machines[machine].cluster];
    fleet_parked(s, machine);
    s->n_absent--;
    c->n_joined++;
    if (s->finish != BATS_FINISH_NOT_YET) {
        sched_emit(s, (struct bats_command){.type = BATS_COMMAND_RELEASE,
                                            .machine = machine});
        return;
    }
    if (!s->started)
        start_run(s);
    fleet_take_over(s, machine);
    fleet_fill(s, s->machines[machine].cluster);
}

static int lost(struct bats_sched *s, uint32_t machine, struct bats_error *err)
{
    fleet_lose(s, machine);
    if (s->finish != BATS_FINISH_NOT_YET || s->draining)
        return 0;
    return s->policy->review(s, BATS_REASON_LOST, err);
}

/* What the slot has done, whoever gets the result. */
static void count_speed(struct bats_sched *s, uint32_t slot, bats_time runtime)
{
    uint32_t cluster = s->machines[s->slots[slot].machine].cluster;
    s->clusters[cluster].busy_time += (double)runtime;
    s->slots[slot].n_done++;
    s->slots[slot].rt_done += (double)runtime;
}

/* The task is out of the bag: it counts for the statistics. */
static void count_result(struct bats_sched *s, uint32_t slot, bool in_sample,
                         bats_time runtime)
{
    uint32_t cluster = s->machines[s->slots[slot].machine].cluster;
    struct cluster *c = &s->clusters[cluster];
    uint32_t before = c->stats.n_sample;
    /* Where the policy takes no sample, the first results are one. */
    bats_stats_add(&c->stats, runtime, in_sample || c->sample_want == 0);
    if (c->stats.n_sample > before)
        failure_set_limits(s);
    tail_learn(s, cluster, runtime);
    c->sample_back += in_sample;
    count_speed(s, slot, runtime);
}

static int ended(struct bats_sched *s, const struct bats_event *ev,
                 uint32_t task, struct bats_error *err)
{
    struct machine *m = &s->machines[ev->machine];
    uint32_t slot = m->first_slot + ev->slot;
    bool failed = ev->type == BATS_EVENT_FAILED;
    bool was_copy = s->slots[slot].was_copy;
    bool in_sample = !was_copy && s->tasks[task].in_sample;
    bool elsewhere = copies_take_out(s, slot, task);

    if (failed) {
        s->tail.is_news |= elsewhere;
        failure_of_task(s, ev->machine, task, elsewhere);
    } else {
        s->clusters[m->cluster].done++;
        s->copies_won += was_copy && !s->tasks[task].point;
        bats_bag_finish(&s->bag, task, BATS_TASK_DONE);
        if (!s->tasks[task].point)
            copies_cancel_all(s, task);
    }
    sampling_ended(s, ev->machine, task, failed ? -1 : ev->runtime);
    int rc = failure_watch(s, ev->machine, task, failed, ev->runtime, err);
    bool has_result = bats_bag_has_result(&s->bag, task);
    if (has_result && in_sample) /* copies_take_out has given it up */
        s->clusters[m->cluster].sample_sent++;
    if (has_result)
        count_result(s, slot, in_sample, ev->runtime);
    fleet_drained(s, ev->machine);
    if (rc == 0 && has_result && in_sample && !s->planned && !s->draining)
        rc = s->policy->review(s, BATS_REASON_SAMPLED, err);
    if (rc == 0)
        dispatch_fill(s, slot);
    return rc;
}

/* Stopped by a CANCEL (which may have been a time-out), or of its own accord
 * to be run again. Who can do that keeps a state, which two must not share. */
static void came_back(struct bats_sched *s, const struct bats_event *ev,
                      uint32_t task)
{
    struct machine *m = &s->machines[ev->machine];
    uint32_t slot = m->first_slot + ev->slot;
    const struct slot *sl = &s->slots[slot];
    bool yielded = ev->type == BATS_EVENT_YIELDED;
    bool cut_off = sl->head == task && !sl->is_copy && !yielded;
    bool timed_out = sl->head == task && sl->timed_out;
    bats_time ran = sl->head == task ? s->now - sl->started : 0;
    bool elsewhere = copies_take_out(s, slot, task);

    s->tasks[task].once |= yielded;
    s->tail.is_news |= elsewhere;
    if (timed_out) {
        failure_of_task(s, ev->machine, task, elsewhere);
    } else {
        s->preempted += cut_off;
        if (!elsewhere)
            failure_of_progress(s, ev->machine, task, yielded, ran);
    }
    sampling_ended(s, ev->machine, task, -1);
    fleet_drained(s, ev->machine);
    dispatch_fill(s, slot);
}

/* An execution of a task that has its result from another one. */
static void came_too_late(struct bats_sched *s, const struct bats_event *ev,
                          uint32_t task)
{
    uint32_t slot = s->machines[ev->machine].first_slot + ev->slot;
    copies_take_out(s, slot, task);
    if (ev->type == BATS_EVENT_DONE && s->tasks[task].point)
        count_speed(s, slot, ev->runtime);
    sampling_ended(s, ev->machine, task,
                   ev->type == BATS_EVENT_DONE ? ev->runtime : -1);
    fleet_drained(s, ev->machine);
    dispatch_fill(s, slot);
}

static int execution_ended(struct bats_sched *s, const struct bats_event *ev,
                           struct bats_error *err)
{
    uint32_t slot = s->machines[ev->machine].first_slot + ev->slot;
    uint32_t task = copies_find(s, slot, ev->task);
    if (bats_bag_has_result(&s->bag, task))
        came_too_late(s, ev, task);
    else if (ev->type == BATS_EVENT_DONE || ev->type == BATS_EVENT_FAILED)
        return ended(s, ev, task, err);
    else
        came_back(s, ev, task);
    return 0;
}

int bats_sched_handle(struct bats_sched *s, bats_time now,
                      const struct bats_event *ev, struct bats_error *err)
{
    int rc = check_event(s, now, ev, err);
    if (rc < 0)
        return rc;
    /* A result that arrives at the very end of a window counts before it. */
    rc = advance(s, now, ev->type == BATS_EVENT_TICK, err);
    if (rc < 0)
        return rc;
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        joined(s, ev->machine);
        break;
    case BATS_EVENT_LOST:
        rc = lost(s, ev->machine, err);
        break;
    case BATS_EVENT_DONE:
    case BATS_EVENT_FAILED:
    case BATS_EVENT_PREEMPTED:
    case BATS_EVENT_YIELDED:
        rc = execution_ended(s, ev, err);
        break;
    case BATS_EVENT_CHOSEN:
        rc = sampling_choose(s, &ev->choice, err);
        break;
    case BATS_EVENT_TICK:
        break;
    case BATS_EVENT_STOP:
    case BATS_EVENT_DRAIN:
        fleet_stop(s, ev->type == BATS_EVENT_STOP, BATS_FINISH_STOPPED);
        break;
    case BATS_EVENT_HOLD:
        s->on_hold = true;
        break;
    case BATS_EVENT_GO:
        s->on_hold = false;
        dispatch_rescan(s); /* those that were refused a task, too */
        break;
    }
    return rc < 0 ? rc : settle(s, err);
}
