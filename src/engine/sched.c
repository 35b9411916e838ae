/*
 * sched: the life of an event. See bats/sched.h and engine.h.
 *
 *   1. The event is checked against the state (check_event).
 *   2. Everything due before it is handled first, in order of time (advance):
 *      time-outs, retries, monitoring, ends of windows. Each is followed by
 *      step 4.
 *   3. The event is applied to the state. The advisors are told and asked
 *      (happen).
 *   4. The consequences follow (settle): free slots get tasks, replicas make
 *      room, slots still free get replicas, and the run may end.
 *
 * Commands are emitted where the state changes (moves.h).
 */
#include "engine/engine.h"
#include "engine/money/kinds.h"

/* ---- due times ---- */

/* Order of things due at the same time. Ends of windows come last, so that
 * they see the new plan. */
enum due {
    DUE_LATEST,
    DUE_LIMIT,
    DUE_RETRY,
    DUE_CHANCE,
    DUE_TAIL,
    DUE_IDLE,
    DUE_TICK,
    DUE_TURN
};

struct next {
    enum due what;
    bats_time time;
    uint32_t id;
};

static inline void sooner(struct next *next, enum due what, bats_time time)
{
    if (time < next->time)
        *next = (struct next){.what = what, .time = time};
}

static inline void sooner_of(struct next *next, enum due what,
                             const struct bats_heap *heap)
{
    uint32_t id;
    bats_time time = bats_heap_first(heap, &id);
    if (time < next->time)
        *next = (struct next){what, time, id};
}

static inline struct next next_due(const struct state *s)
{
    struct next next = {.what = DUE_LATEST,
                        .time =
                            s->money.is_late ? BATS_NEVER : s->money.latest};
    sooner_of(&next, DUE_LIMIT, &s->limits);
    sooner_of(&next, DUE_RETRY, &s->retries);
    sooner_of(&next, DUE_CHANCE, &s->quarantines);
    if (s->run.in_tail)
        sooner(&next, DUE_TAIL, s->tail->wakeup(s->own.tail));
    sooner(&next, DUE_IDLE, s->run.lingers_until);
    sooner(&next, DUE_TICK, s->run.next_tick);
    sooner_of(&next, DUE_TURN, &s->turns);
    return next;
}

/* Skips tasks that their workflows cannot pay before any machine is bought. */
static void start(struct state *s)
{
    if (s->started)
        return;
    purses_review(s);
    configure_start(s);
    s->started = true;
}

static int tick(struct state *s, struct bats_error *err)
{
    if (s->now >= s->run.goal.deadline)
        s->run.interval = s->run.interval_after;
    s->run.next_tick += s->run.interval;
    state_bill(s);
    if (s->tail->tick)
        s->tail->tick(s->own.tail);
    configure_look(s);
    if (s->run.limits_vary && configure_limits(s))
        slots_set_limits(s);
    if (s->run.phase == PHASE_SAMPLING) {
        sampling_watch(s->own.sampling, s);
        assign_release(s);
    }
    configure_prolong(s);
    slots_rescan(s);
    if (s->run.draining)
        return 0;
    if (s->money.terms.waits) {
        start(s);
        configure_refill(s);
    }
    return configure_review(s, &(struct occasion){.type = OCCASION_TICK}, err);
}

static void readmit(struct state *s, uint32_t machine)
{
    machine_readmit(s, machine);
    slots_rescan(s);
    if (!s->run.draining)
        configure_refill(s);
}

static int fall_due(struct state *s, enum due what, uint32_t id,
                    struct bats_error *err)
{
    switch (what) {
    case DUE_LATEST:
        state_stop(s, true, s->money.late);
        s->run.why = s->money.late;
        s->money.is_late = true;
        break;
    case DUE_LIMIT:
        bats_heap_remove(&s->limits, id);
        execution_cancel(s, id, s->slots[id].head, true);
        break;
    case DUE_RETRY:
        task_try_again(s, id);
        break;
    case DUE_CHANCE:
        readmit(s, id);
        break;
    case DUE_TAIL: /* settle() does the rest */
    case DUE_IDLE:
        break;
    case DUE_TICK:
        return tick(s, err);
    case DUE_TURN:
        return configure_turn(s, id, err);
    }
    return 0;
}

/* ---- consequences of every step ---- */

static bool all_too_late(const struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_joined > 0 && !forecast_too_late(s, i))
            return false;
    return true;
}

/* No paid machine can do anything: asks the policy once more. */
static int last_try(struct state *s, struct bats_error *err)
{
    int rc =
        configure_review(s, &(struct occasion){.type = OCCASION_STALLED}, err);
    if (rc < 0)
        return rc;
    slots_rescan(s);
    assign_idle(s);
    /* A machine that is leaving may be wanted again once it is parked. */
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_LEAVING)
            return 0;
    if (s->money.n_jobs > 0 || s->n_noticed > 0 || purses_begin_later(s))
        return 0;
    bool is_late = s->policy->is_late && s->policy->is_late(s->own.policy, s);
    if (s->n_busy == 0)
        state_finish(s, all_too_late(s) ? s->money.late
                        : is_late       ? BATS_FINISH_TOO_LATE
                                        : BATS_FINISH_BUDGET);
    return 0;
}

/* Tasks are left, nothing runs and every machine has joined or is lost: starts
 * something, or ends the run. */
static int unstall(struct state *s, struct bats_error *err)
{
    uint32_t machine;
    /* Only machines in quarantine are left: give one another chance. */
    if (s->n_lost + s->n_quarantined == s->n_machines &&
        bats_heap_first(&s->quarantines, &machine) < BATS_NEVER)
        readmit(s, machine);
    if (s->n_lost + s->n_quarantined == s->n_machines)
        state_finish(s, BATS_FINISH_NO_MACHINES);
    else if (bats_bag_ready(&s->bag) == 0 ||
             (s->run.in_tail && s->tail->wakeup(s->own.tail) != BATS_NEVER))
        return 0; /* tasks are waiting for a retry */
    else if (s->run.phase == PHASE_SAMPLING)
        configure_sampling(s, true);
    else if (s->run.phase == PHASE_LEAVING)
        state_finish(s, BATS_FINISH_SAMPLED);
    else if (s->run.phase == PHASE_NONE)
        return last_try(s, err);
    return 0;
}

/* Begins the tail. New executions get another time limit; running ones keep
 * theirs. */
static void begin_tail(struct state *s)
{
    if (s->run.in_tail || !s->tail->begins(s->own.tail, s))
        return;
    s->tail->begin_tail(s->own.tail, s);
    s->run.in_tail = true;
    s->run.limits_vary = false;
    configure_limits(s);
    slots_rescan(s);
}

static void settle_tail(struct state *s)
{
    begin_tail(s);
    if (s->run.in_tail) {
        s->tail->update(s->own.tail, s);
        configure_limits(s); /* D may have changed */
    }
    assign_instances(s);
    if (s->run.in_tail) {
        configure_refill(s);
        if (!s->money.terms.waits)
            assign_instances(s);
    }
}

/* Nothing runs: ends the run, or starts something. */
static int settle_end(struct state *s, struct bats_error *err)
{
    purses_review(s); /* money was freed: some tasks may be affordable now, or
                         never */
    bool is_empty = bats_bag_left(&s->bag) == 0;
    if (is_empty && !s->run.is_open)
        state_finish(s, s->money.purses.n_unpaid > 0 ? BATS_FINISH_BUDGET
                                                     : BATS_FINISH_ALL_DONE);
    else if (s->run.draining)
        state_finish(s, s->run.why);
    else if (!is_empty && s->n_absent == 0 && !s->run.on_hold &&
             s->money.n_jobs == 0)
        return unstall(s, err);
    return 0;
}

static int settle(struct state *s, struct bats_error *err)
{
    if (s->run.finish != BATS_FINISH_NOT_YET)
        return 0;
    purses_review(s);
    if (s->run.phase == PHASE_SAMPLING)
        configure_sampling(s, false);
    if (s->tail->next)
        settle_tail(s);
    if (s->idle.n > 0)
        assign_idle(s);
    int rc = configure_released(s, err);
    if (s->n_replicas > 0)
        assign_make_room(s);
    if (s->idle.n > 0)
        assign_replicas(s);
    if (s->money.terms.returns)
        configure_give_back(s);
    if (rc == 0 && s->n_busy == 0)
        rc = settle_end(s, err);
    if (rc == 0 && s->answers.failure < 0)
        rc = bats_error_set(err, s->answers.failure,
                            "no memory for a scheduling step");
    s->wakeup = next_due(s).time;
    return rc;
}

/* Handles everything due before `limit`, or up to it if `inclusive`. */
static int advance(struct state *s, bats_time limit, bool inclusive,
                   struct bats_error *err)
{
    while (s->run.finish == BATS_FINISH_NOT_YET && s->wakeup != BATS_NEVER &&
           (s->wakeup < limit || (s->wakeup == limit && inclusive))) {
        struct next next = next_due(s);
        s->wakeup = next.time;
        if (s->wakeup > s->now)
            state_pass(s, s->wakeup);
        int rc = fall_due(s, next.what, next.id, err);
        if (rc == 0)
            rc = settle(s, err);
        if (rc < 0)
            return rc;
    }
    if (limit > s->now)
        state_pass(s, limit);
    return 0;
}

/* ---- events ---- */

/* Why the end of an execution contradicts the state, or NULL. */
static const char *contradiction_of_task(const struct state *s,
                                         const struct bats_event *ev)
{
    enum bats_execution_state state =
        execution_state(s, ev->machine, ev->slot, ev->task);
    if (state == BATS_EXECUTION_NONE)
        return "the task is not in that slot";
    if (ev->type == BATS_EVENT_YIELDED)
        return NULL;
    if (ev->type != BATS_EVENT_PREEMPTED)
        return ev->runtime < 0 ? "the task ran for a negative time" : NULL;
    return state == BATS_EXECUTION_RUNS &&
                   !s->clusters[s->machines[ev->machine].cluster]
                        .spec.unreliable
               ? "the task was preempted without a reason"
               : NULL;
}

/* The job was withdrawn, but its PARK may cross with its start. */
static bool is_withdrawn(const struct state *s, uint32_t machine)
{
    return s->machines[machine].state == MACHINE_ENDING &&
           s->rest[machine].began_at == BATS_NEVER;
}

static const char *contradiction_of_machine(const struct state *s,
                                            const struct bats_event *ev)
{
    const struct machine *m = &s->machines[ev->machine];
    const struct machine_rest *rest = &s->rest[ev->machine];
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        return m->state == (s->money.terms.waits ? MACHINE_ASKED
                                                 : MACHINE_ABSENT) ||
                       is_withdrawn(s, ev->machine)
                   ? NULL
                   : "the machine joined a second time";
    case BATS_EVENT_LOST:
        return m->state == MACHINE_LOST ? "the machine was lost a second time"
                                        : NULL;
    case BATS_EVENT_NOTICE:
        return m->state == MACHINE_LOST || ev->runtime < 0 ||
                       ev->runtime > TIME_MAX
                   ? "the machine cannot be taken away"
                   : NULL;
    case BATS_EVENT_FOUND:
        return ev->slot >= m->n_slots || ev->task >= s->bag.n
                   ? "the machine cannot run that task in that slot"
                   : NULL;
    case BATS_EVENT_CLOSED:
        return s->money.terms.later && !rest->closed
                   ? NULL
                   : "no such job can be closed";
    case BATS_EVENT_RETIRED:
        if (!s->money.terms.later)
            return NULL;
        /* fall through */
    case BATS_EVENT_ENDS:
    case BATS_EVENT_BILLED:
        return rest->asked && ev->runtime >= 0 && ev->runtime <= TIME_MAX &&
                       ev->amount >= 0 && ev->energy_j >= 0
                   ? NULL
                   : "no such job was asked for";
    default:
        return contradiction_of_task(s, ev);
    }
}

/* Why the event contradicts the state, or NULL. */
static const char *contradiction(const struct state *s,
                                 const struct bats_event *ev)
{
    bool is_open = s->run.is_open && ev->task < s->bag.n;
    switch (ev->type) {
    case BATS_EVENT_TICK:
    case BATS_EVENT_DRAIN:
    case BATS_EVENT_STOP:
    case BATS_EVENT_CHOSEN:
    case BATS_EVENT_HOLD:
    case BATS_EVENT_GO:
    case BATS_EVENT_KILLED:
    case BATS_EVENT_SHUT:
        return NULL;
    case BATS_EVENT_ADDED:
        is_open =
            is_open &&
            s->bag.state[s->bag.position[ev->task].i] == BATS_TASK_LEFT_OUT &&
            needs_may_add(s, ev->category, &ev->need);
        /* fall through */
    case BATS_EVENT_WITHDRAWN:
        return is_open ? NULL : "the task cannot be added or withdrawn";
    default:
        return ev->machine < s->n_machines ? contradiction_of_machine(s, ev)
               : ev->type == BATS_EVENT_BILLED && s->money.terms.later &&
                       ev->machine == BATS_NO_MACHINE && ev->amount >= 0
                   ? NULL
                   : "there is no such machine";
    }
}

static int check_event(const struct state *s, bats_time now,
                       const struct bats_event *ev, struct bats_error *err)
{
    if (now < 0 || now > TIME_MAX)
        return bats_error_set(err, BATS_EOVERFLOW,
                              "the time %lld is out of range", (long long)now);
    const char *what = contradiction(s, ev);
    return what ? bats_error_set(err, BATS_ESTATE,
                                 "%s: machine %u, slot %u, task %u", what,
                                 ev->machine, ev->slot, ev->task)
                : 0;
}

static void join(struct state *s, uint32_t machine, bats_time age)
{
    if (!s->money.terms.waits)
        machine_join(s, machine);
    if (s->run.finish != BATS_FINISH_NOT_YET) {
        state_emit(s, BATS_COMMAND_RELEASE, machine);
        return;
    }
    if (s->money.terms.waits) {
        if (!is_withdrawn(s, machine))
            job_begin(s, machine, age);
        return;
    }
    start(s);
    configure_joined(s, machine);
}

static int bill(struct state *s, const struct bats_event *ev,
                struct bats_error *err)
{
    if (ev->machine == BATS_NO_MACHINE) {
        job_bill_other(s, ev->amount);
        return 0;
    }
    int rc = s->machines[ev->machine].state == MACHINE_ENDING
                 ? 0
                 : outcome_of_loss(s, ev->machine, err);
    job_bill(s, ev->machine, ev->amount);
    s->clusters[s->machines[ev->machine].cluster].energy_j += ev->energy_j;
    if (s->run.finish != BATS_FINISH_NOT_YET) {
        state_bill(s); /* the run's own job went on until this bill came */
    } else if (!s->run.draining) {
        slots_rescan(s);
        assign_idle(s);
        configure_refill(s);
    }
    return rc;
}

static int add(struct state *s, const struct bats_event *ev,
               struct bats_error *err)
{
    needs_add(s, ev->task, ev->category, &ev->need);
    int rc = bats_bag_add(&s->bag, s->bag.position[ev->task], err);
    if (rc < 0)
        return rc;
    categories_add(s, ev->task);
    if (!s->run.draining)
        configure_refill(s);
    return 0;
}

/* Withdraws a task. A running execution is told to stop and ends as FAILED. */
static void withdraw(struct state *s, struct bats_position task)
{
    switch ((enum bats_task_state)s->bag.state[task.i]) {
    case BATS_TASK_PENDING:
    case BATS_TASK_WAITING:
    case BATS_TASK_LEFT_OUT:
        task_withdraw(s, task);
        break;
    case BATS_TASK_ASSIGNED:
    case BATS_TASK_CANCELLING:
        s->tasks[task.i].withdrawn = true;
        execution_cancel_all(s, task);
        break;
    default: /* it has ended */
        break;
    }
}

static int happen(struct state *s, const struct bats_event *ev,
                  struct bats_error *err)
{
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        join(s, ev->machine, ev->runtime);
        break;
    case BATS_EVENT_LOST:
        return outcome_of_loss(s, ev->machine, err);
    case BATS_EVENT_DONE:
    case BATS_EVENT_FAILED:
    case BATS_EVENT_PREEMPTED:
    case BATS_EVENT_YIELDED:
        return outcome_of_execution(s, ev, err);
    case BATS_EVENT_NOTICE:
        return outcome_of_notice(s, ev->machine, ev->runtime, err);
    case BATS_EVENT_CHOSEN:
        return configure_choice(s, &ev->choice, err);
    case BATS_EVENT_ENDS:
        job_set_end(s, ev->machine, ev->runtime);
        break;
    case BATS_EVENT_RETIRED:
        return outcome_of_retirement(s, ev->machine, err);
    case BATS_EVENT_CLOSED:
        job_close(s, ev->machine);
        break;
    case BATS_EVENT_BILLED:
        return bill(s, ev, err);
    case BATS_EVENT_TICK:
        break;
    case BATS_EVENT_STOP:
    case BATS_EVENT_DRAIN:
        state_stop(s, ev->type == BATS_EVENT_STOP, BATS_FINISH_STOPPED);
        break;
    case BATS_EVENT_HOLD:
        s->run.on_hold = true;
        break;
    case BATS_EVENT_GO:
        s->run.on_hold = false;
        slots_rescan(s);     /* including slots that were refused a task */
        configure_refill(s); /* including machines that joined meanwhile */
        break;
    case BATS_EVENT_KILLED:
        state_kill(s);
        break;
    case BATS_EVENT_ADDED:
        return add(s, ev, err);
    case BATS_EVENT_WITHDRAWN:
        withdraw(s, s->bag.position[ev->task]);
        break;
    case BATS_EVENT_SHUT:
        s->run.is_open = false;
        break;
    case BATS_EVENT_FOUND:
        assign_found(s, s->machines[ev->machine].first_slot + ev->slot,
                     ev->task);
        break;
    }
    return 0;
}

int bats_sched_handle(struct bats_sched *e, bats_time now,
                      const struct bats_event *ev, struct bats_error *err)
{
    struct state *s = &e->state;
    int rc = check_event(s, now, ev, err);
    if (rc == 0 && !s->started)
        tasks_tell_skipped(s); /* those skipped from the start */
    /* A result that arrives exactly when a window ends counts first. */
    if (rc == 0)
        rc = advance(s, now, ev->type == BATS_EVENT_TICK, err);
    if (rc == 0)
        rc = happen(s, ev, err);
    return rc < 0 || ev->type == BATS_EVENT_KILLED ? rc : settle(s, err);
}

struct bats_reservation bats_sched_reservation(const struct bats_sched *e)
{
    struct bats_reservation r = {.machine = UINT32_MAX};
    if (e->state.order->reservation)
        e->state.order->reservation(e->state.own.order, &e->state, &r);
    return r;
}

bats_time bats_sched_wakeup(const struct bats_sched *e)
{
    return e->state.run.finish == BATS_FINISH_NOT_YET ? e->state.wakeup
                                                      : BATS_NEVER;
}
