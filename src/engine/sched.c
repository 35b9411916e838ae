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
 * Commands are emitted where the state changes (state.h).
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

static struct next next_due(const struct bats_sched *e)
{
    const struct state *s = &e->state;
    struct next next = {.what = DUE_LATEST,
                        .time =
                            s->money.is_late ? BATS_NEVER : s->money.latest};
    sooner_of(&next, DUE_LIMIT, &s->limits);
    sooner_of(&next, DUE_RETRY, &s->retries);
    sooner_of(&next, DUE_CHANCE, &s->quarantines);
    if (s->run.in_tail)
        sooner(&next, DUE_TAIL, e->tail->wakeup(e->own.tail));
    sooner(&next, DUE_IDLE, s->run.lingers_until);
    sooner(&next, DUE_TICK, s->run.next_tick);
    sooner_of(&next, DUE_TURN, &s->turns);
    return next;
}

static void time_out(struct state *s, uint32_t slot)
{
    bats_heap_remove(&s->limits, slot);
    execution_cancel(s, slot, s->slots[slot].head, true);
}

/* Skips tasks that their workflows cannot pay before any machine is bought. */
static void start(struct bats_sched *e)
{
    if (e->started)
        return;
    purses_review(&e->state);
    configure_start(e);
    e->started = true;
}

static int tick(struct bats_sched *e, struct bats_error *err)
{
    struct state *s = &e->state;
    if (s->now >= s->run.goal.deadline)
        s->run.interval = s->run.interval_after;
    s->run.next_tick += s->run.interval;
    state_bill(s);
    if (e->tail->tick)
        e->tail->tick(e->own.tail);
    forecast_means(s);
    if (s->run.limits_vary) {
        configure_limits(e);
        slots_set_limits(s);
    }
    if (s->run.phase == PHASE_SAMPLING) {
        sampling_watch(e->own.sampling, s);
        assign_release(e);
    }
    configure_prolong(s);
    slots_rescan(s);
    if (s->run.draining)
        return 0;
    if (s->money.terms.waits) {
        start(e);
        configure_refill(e);
    }
    return configure_review(e, &(struct occasion){.type = OCCASION_TICK}, err);
}

static void readmit(struct bats_sched *e, uint32_t machine)
{
    machine_readmit(&e->state, machine);
    slots_rescan(&e->state);
    if (!e->state.run.draining)
        configure_refill(e);
}

static int fall_due(struct bats_sched *e, enum due what, uint32_t id,
                    struct bats_error *err)
{
    struct state *s = &e->state;
    switch (what) {
    case DUE_LATEST:
        state_stop(s, true, s->money.late);
        s->run.why = s->money.late;
        s->money.is_late = true;
        break;
    case DUE_LIMIT:
        time_out(s, id);
        break;
    case DUE_RETRY:
        task_try_again(s, id);
        break;
    case DUE_CHANCE:
        readmit(e, id);
        break;
    case DUE_TAIL: /* settle() does the rest */
    case DUE_IDLE:
        break;
    case DUE_TICK:
        return tick(e, err);
    case DUE_TURN:
        return configure_turn(e, id, err);
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
static int last_try(struct bats_sched *e, struct bats_error *err)
{
    struct state *s = &e->state;
    int rc =
        configure_review(e, &(struct occasion){.type = OCCASION_STALLED}, err);
    if (rc < 0)
        return rc;
    slots_rescan(s);
    assign_idle(e);
    /* A machine that is leaving may be wanted again once it is parked. */
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_LEAVING)
            return 0;
    if (s->money.n_jobs > 0 || s->n_noticed > 0 || purses_begin_later(s))
        return 0;
    bool is_late = e->policy->is_late && e->policy->is_late(e->own.policy, s);
    if (s->n_busy == 0)
        state_finish(s, all_too_late(s) ? s->money.late
                        : is_late       ? BATS_FINISH_TOO_LATE
                                        : BATS_FINISH_BUDGET);
    return 0;
}

/* Tasks are left, nothing runs and every machine has joined or is lost: starts
 * something, or ends the run. */
static int unstall(struct bats_sched *e, struct bats_error *err)
{
    struct state *s = &e->state;
    uint32_t machine;
    /* Only machines in quarantine are left: give one another chance. */
    if (s->n_lost + s->n_quarantined == s->n_machines &&
        bats_heap_first(&s->quarantines, &machine) < BATS_NEVER)
        readmit(e, machine);
    if (s->n_lost + s->n_quarantined == s->n_machines)
        state_finish(s, BATS_FINISH_NO_MACHINES);
    else if (bats_bag_ready(&s->bag) == 0 ||
             (s->run.in_tail && e->tail->wakeup(e->own.tail) != BATS_NEVER))
        return 0; /* tasks are waiting for a retry */
    else if (s->run.phase == PHASE_SAMPLING)
        configure_sampling(e, true);
    else if (s->run.phase == PHASE_LEAVING)
        state_finish(s, BATS_FINISH_SAMPLED);
    else if (s->run.phase == PHASE_NONE)
        return last_try(e, err);
    return 0;
}

/* Begins the tail. New executions get another time limit; running ones keep
 * theirs. */
static void begin_tail(struct bats_sched *e)
{
    struct state *s = &e->state;
    if (s->run.in_tail || !e->tail->begins(e->own.tail, s))
        return;
    e->tail->begin_tail(e->own.tail, s);
    s->run.in_tail = true;
    s->run.limits_vary = false;
    configure_limits(e);
    slots_rescan(s);
}

static void settle_tail(struct bats_sched *e)
{
    struct state *s = &e->state;
    begin_tail(e);
    if (s->run.in_tail) {
        e->tail->update(e->own.tail, s);
        configure_limits(e); /* D may have changed */
    }
    assign_instances(e);
    if (s->run.in_tail) {
        configure_refill(e);
        if (!s->money.terms.waits)
            assign_instances(e);
    }
}

/* Nothing runs: ends the run, or starts something. */
static int settle_end(struct bats_sched *e, struct bats_error *err)
{
    struct state *s = &e->state;
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
        return unstall(e, err);
    return 0;
}

static int settle(struct bats_sched *e, struct bats_error *err)
{
    struct state *s = &e->state;
    if (s->run.finish != BATS_FINISH_NOT_YET)
        return 0;
    state_grant_cushion(s);
    purses_review(s);
    if (s->run.phase == PHASE_SAMPLING)
        configure_sampling(e, false);
    if (e->tail->next)
        settle_tail(e);
    if (s->idle.n > 0)
        assign_idle(e);
    int rc = configure_released(e, err);
    if (s->n_replicas > 0)
        assign_make_room(e);
    if (s->idle.n > 0)
        assign_replicas(e);
    configure_give_back(e);
    if (rc == 0 && s->n_busy == 0)
        rc = settle_end(e, err);
    if (rc == 0 && s->answers.failure < 0)
        rc = bats_error_set(err, s->answers.failure,
                            "no memory for a scheduling step");
    e->wakeup = next_due(e).time;
    return rc;
}

/* Handles everything due before `limit`, or up to it if `inclusive`. */
static int advance(struct bats_sched *e, bats_time limit, bool inclusive,
                   struct bats_error *err)
{
    struct state *s = &e->state;
    while (s->run.finish == BATS_FINISH_NOT_YET && e->wakeup != BATS_NEVER &&
           (e->wakeup < limit || (e->wakeup == limit && inclusive))) {
        struct next next = next_due(e);
        e->wakeup = next.time;
        if (e->wakeup > s->now)
            state_pass(s, e->wakeup);
        int rc = fall_due(e, next.what, next.id, err);
        if (rc == 0)
            rc = settle(e, err);
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

static const char *contradiction(const struct state *s,
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
                       ev->amount >= 0
                   ? NULL
                   : "no such job was asked for";
    default:
        return contradiction_of_task(s, ev);
    }
}

/* The event concerns the whole run, not a machine. */
static bool is_of_run(const struct state *s, const struct bats_event *ev)
{
    switch (ev->type) {
    case BATS_EVENT_TICK:
    case BATS_EVENT_DRAIN:
    case BATS_EVENT_STOP:
    case BATS_EVENT_CHOSEN:
    case BATS_EVENT_HOLD:
    case BATS_EVENT_GO:
    case BATS_EVENT_KILLED:
    case BATS_EVENT_SHUT:
        return true;
    case BATS_EVENT_ADDED:
        return s->run.is_open && ev->task < s->bag.n &&
               s->bag.state[s->bag.position[ev->task].i] ==
                   BATS_TASK_LEFT_OUT &&
               needs_may_add(s, ev->category, &ev->need);
    case BATS_EVENT_WITHDRAWN:
        return s->run.is_open && ev->task < s->bag.n;
    case BATS_EVENT_BILLED:
        return s->money.terms.later && ev->machine == BATS_NO_MACHINE &&
               ev->amount >= 0;
    default:
        return false;
    }
}

static int check_event(const struct state *s, bats_time now,
                       const struct bats_event *ev, struct bats_error *err)
{
    if (now < 0 || now > TIME_MAX)
        return bats_error_set(err, BATS_EOVERFLOW,
                              "the time %lld is out of range", (long long)now);
    if (is_of_run(s, ev))
        return 0;
    bool is_of_bag =
        ev->type == BATS_EVENT_ADDED || ev->type == BATS_EVENT_WITHDRAWN;
    const char *what = is_of_bag ? "the task cannot be added or withdrawn"
                       : ev->machine < s->n_machines
                           ? contradiction(s, ev)
                           : "there is no such machine";
    return what ? bats_error_set(err, BATS_ESTATE,
                                 "%s: machine %u, slot %u, task %u", what,
                                 ev->machine, ev->slot, ev->task)
                : 0;
}

static void join(struct bats_sched *e, uint32_t machine, bats_time age)
{
    struct state *s = &e->state;
    if (!s->money.terms.waits)
        machine_join(s, machine);
    if (s->run.finish != BATS_FINISH_NOT_YET) {
        state_tell(s, BATS_COMMAND_RELEASE, machine);
        return;
    }
    if (s->money.terms.waits) {
        if (!is_withdrawn(s, machine))
            job_begin(s, machine, age);
        return;
    }
    start(e);
    configure_joined(e, machine);
}

static int bill(struct bats_sched *e, const struct bats_event *ev,
                struct bats_error *err)
{
    struct state *s = &e->state;
    if (ev->machine == BATS_NO_MACHINE) {
        job_bill_other(s, ev->amount);
        return 0;
    }
    int rc = s->machines[ev->machine].state == MACHINE_ENDING
                 ? 0
                 : outcome_of_loss(e, ev->machine, err);
    job_bill(s, ev->machine, ev->amount);
    if (s->run.finish == BATS_FINISH_NOT_YET && !s->run.draining)
        configure_refill(e);
    return rc;
}

static int add(struct bats_sched *e, const struct bats_event *ev,
               struct bats_error *err)
{
    struct state *s = &e->state;
    needs_add(s, ev->task, ev->category, &ev->need);
    int rc = bats_bag_add(&s->bag, s->bag.position[ev->task], err);
    if (rc < 0)
        return rc;
    categories_add(s, ev->task);
    if (!s->run.draining)
        configure_refill(e);
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

static int happen(struct bats_sched *e, const struct bats_event *ev,
                  struct bats_error *err)
{
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        join(e, ev->machine, ev->runtime);
        break;
    case BATS_EVENT_LOST:
        return outcome_of_loss(e, ev->machine, err);
    case BATS_EVENT_DONE:
    case BATS_EVENT_FAILED:
    case BATS_EVENT_PREEMPTED:
    case BATS_EVENT_YIELDED:
        return outcome_of_execution(e, ev, err);
    case BATS_EVENT_NOTICE:
        return outcome_of_notice(e, ev->machine, ev->runtime, err);
    case BATS_EVENT_CHOSEN:
        return configure_choice(e, &ev->choice, err);
    case BATS_EVENT_ENDS:
        job_set_end(&e->state, ev->machine, ev->runtime);
        break;
    case BATS_EVENT_RETIRED:
        return outcome_of_retirement(e, ev->machine, err);
    case BATS_EVENT_CLOSED:
        job_close(&e->state, ev->machine);
        break;
    case BATS_EVENT_BILLED:
        return bill(e, ev, err);
    case BATS_EVENT_TICK:
        break;
    case BATS_EVENT_STOP:
    case BATS_EVENT_DRAIN:
        state_stop(&e->state, ev->type == BATS_EVENT_STOP,
                   BATS_FINISH_STOPPED);
        break;
    case BATS_EVENT_HOLD:
        e->state.run.on_hold = true;
        break;
    case BATS_EVENT_GO:
        e->state.run.on_hold = false;
        slots_rescan(&e->state); /* including slots that were refused a task */
        configure_refill(e);     /* including machines that joined meanwhile */
        break;
    case BATS_EVENT_KILLED:
        state_kill(&e->state);
        break;
    case BATS_EVENT_ADDED:
        return add(e, ev, err);
    case BATS_EVENT_WITHDRAWN:
        withdraw(&e->state, e->state.bag.position[ev->task]);
        break;
    case BATS_EVENT_SHUT:
        e->state.run.is_open = false;
        break;
    case BATS_EVENT_FOUND:
        assign_found(e, e->state.machines[ev->machine].first_slot + ev->slot,
                     ev->task);
        break;
    }
    return 0;
}

int bats_sched_handle(struct bats_sched *e, bats_time now,
                      const struct bats_event *ev, struct bats_error *err)
{
    int rc = check_event(&e->state, now, ev, err);
    if (rc == 0)
        tasks_tell_skipped(&e->state); /* those skipped from the start */
    /* A result that arrives exactly when a window ends counts first. */
    if (rc == 0)
        rc = advance(e, now, ev->type == BATS_EVENT_TICK, err);
    if (rc == 0)
        rc = happen(e, ev, err);
    return rc < 0 || ev->type == BATS_EVENT_KILLED ? rc : settle(e, err);
}

bool bats_sched_next(struct bats_sched *e, struct bats_command *command)
{
    return state_next(&e->state, command);
}

bool bats_sched_next_lease(struct bats_sched *e, struct bats_lease *lease)
{
    return books_next_lease(&e->state, lease);
}

bool bats_sched_next_stake(struct bats_sched *e, struct bats_stake *stake)
{
    return books_next_stake(&e->state, stake);
}

bool bats_sched_next_idle(struct bats_sched *e, struct bats_idle_machine *idle)
{
    return slots_next_idle(&e->state, idle);
}

struct bats_reservation bats_sched_reservation(const struct bats_sched *e)
{
    struct bats_reservation r = {.machine = UINT32_MAX};
    if (e->order->reservation)
        e->order->reservation(e->own.order, &e->state, &r);
    return r;
}

bats_time bats_sched_wakeup(const struct bats_sched *e)
{
    return e->state.run.finish == BATS_FINISH_NOT_YET ? e->wakeup : BATS_NEVER;
}
