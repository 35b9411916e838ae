/*
 * assign: which slot runs which task. See engine.h.
 *
 * For an idle slot the advisors are asked one after the other, and the first
 * proposal is carried out. If there is none, the slot records the last reason
 * (bats_sched_next_idle).
 */
#include "engine/engine.h"

#include <string.h>

#include "engine/money/kinds.h"
#include "engine/outlook/jobs.h"

#define TAIL_SLOTS 64 /* idle slots that may find nothing per event */

enum proposal_kind {
    PROPOSAL_TASK,      /* draw from the bag */
    PROPOSAL_POINT,     /* run once more, only to measure it */
    PROPOSAL_TAKE_OVER, /* move a running task to this slot */
    PROPOSAL_COPY       /* run again; an instance may also be pending */
};

struct proposal {
    struct bats_position task; /* BATS_NO_POSITION: none; */
    enum bats_idle reason;     /* then the reason */
};

/* ---- proposals ---- */

static struct proposal nothing(enum bats_idle reason)
{
    return (struct proposal){BATS_NO_POSITION, reason};
}

/* Whether the money suffices for the task; BATS_NO_POSITION: for any task. The
 * first task of all may be tried with the last of the money. */
static bool affords(const struct state *s, uint32_t machine,
                    struct bats_position task)
{
    return !s->money.terms.idle_is_free ||
           use_affordable(s, machine,
                          s->n_busy > 0 ? task_allowed(s, machine, task)
                                        : task_typical(s, machine, task));
}

static enum bats_idle out_of_use(const struct state *s, uint32_t machine)
{
    const struct machine_rest *r = &s->rest[machine];
    return r->fails                    ? BATS_IDLE_QUARANTINE
           : r->taken_at != BATS_NEVER ? BATS_IDLE_TAKEN
                                       : BATS_IDLE_RETIRED;
}

/* Why the machine may not start a task now; BATS_IDLE_NOT: it may. */
static enum bats_idle refused(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (m->state != MACHINE_ACTIVE)
        return BATS_IDLE_LEAVING;
    if (m->quarantined)
        return out_of_use(s, machine);
    if (s->run.draining)
        return BATS_IDLE_DRAINING;
    if (m->on_trial && m->n_busy > 0)
        return BATS_IDLE_TRIAL;
    if (s->run.on_hold)
        return BATS_IDLE_ON_HOLD;
    if (forecast_too_late(s, m->cluster))
        return BATS_IDLE_TOO_LATE;
    if (s->n_noticed > 0 && !forecast_ends_before(s, machine))
        return BATS_IDLE_TAKEN;
    if (!s->policy->place && !affords(s, machine, BATS_NO_POSITION))
        return BATS_IDLE_MONEY;
    if (s->clusters[m->cluster].done == 0 &&
        sampling_refuses(s->own.sampling, m->cluster))
        return BATS_IDLE_FAILS;
    return s->policy->refuses ? s->policy->refuses(s->own.policy, s, machine)
                              : BATS_IDLE_NOT;
}

/* ---- tasks that run elsewhere, too ---- */

static struct proposal point(struct state *s, uint32_t slot)
{
    return s->slots[slot].n_tasks > 0
               ? nothing(BATS_IDLE_NO_TASK)
               : (struct proposal){sampling_give(s->own.sampling, s, slot),
                                   BATS_IDLE_NO_TASK};
}

/* On a job that was bought a copy costs as much as a task: none is run if the
 * money may be needed, or where the least cost is all that counts. */
static bool pays_copy(const struct state *s, uint32_t machine)
{
    bool is_least = s->run.goal.minimize == BATS_MINIMIZE_COST &&
                    s->run.goal.deadline == BATS_NEVER;
    return !(is_least && width_matters(s)) && width_pays_task(s, machine);
}

/* The task, if it fits, and if the run and its workflow can pay for it there. */
static struct proposal if_paid(const struct state *s, uint32_t slot,
                               struct bats_position task)
{
    if (!bats_is_position(task))
        return nothing(BATS_IDLE_NO_COPY);
    if (!task_has_room(s, slot, task))
        return nothing(BATS_IDLE_NO_ROOM);
    if (!pays_copy(s, s->slots[slot].machine))
        return nothing(BATS_IDLE_MONEY);
    return purse_admits(s, s->slots[slot].machine, task)
               ? (struct proposal){.task = task}
               : nothing(BATS_IDLE_WORKFLOW);
}

static struct proposal copy(struct state *s, uint32_t slot)
{
    return if_paid(s, slot, s->tail->replica(s->own.tail, s, slot));
}

static struct proposal instance(struct state *s, uint32_t slot)
{
    return (struct proposal){s->tail->next(s->own.tail, s, slot),
                             s->needs.list ? BATS_IDLE_NO_ROOM
                                           : BATS_IDLE_NO_COPY};
}

/* ---- tasks of the bag ---- */

/* The first ready task whose workflow can pay for it there. */
static struct proposal find_paid(const struct state *s, uint32_t machine)
{
    uint32_t n = bats_bag_ready(&s->bag);
    for (uint32_t i = 0; i < n && i < BATS_BAG_AHEAD; i++) {
        struct bats_position task = bats_bag_peek(&s->bag, i);
        if (s->tasks[task.i].avoid != machine &&
            purse_admits(s, machine, task))
            return (struct proposal){.task = task};
    }
    return nothing(BATS_IDLE_WORKFLOW);
}

static struct proposal placed(struct state *s, uint32_t slot)
{
    struct bats_position task = s->policy->place(s->own.policy, s, slot);
    /* The task may have begun to wait for money after the policy chose it. */
    if (!bats_is_position(task) || s->bag.state[task.i] != BATS_TASK_PENDING)
        return nothing(BATS_IDLE_ELSEWHERE);
    if (!task_has_room(s, slot, task))
        return nothing(BATS_IDLE_NO_ROOM);
    return affords(s, s->slots[slot].machine, task)
               ? (struct proposal){.task = task}
               : nothing(BATS_IDLE_MONEY);
}

/* Chosen by the policy if it places tasks, else in order; only tasks that
 * their workflows can pay for. */
static struct proposal ready(struct state *s, uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    while (bats_bag_ready(&s->bag) > 0) {
        struct proposal p =
            s->policy->place
                ? placed(s, slot)
                : (struct proposal){s->order->next(s->own.order, s, slot),
                                    s->order->refusal};
        if (s->money.purses.n == 0 || !bats_is_position(p.task) ||
            purse_admits(s, machine, p.task))
            return p;
        if (!purse_refuses(s, p.task))
            return find_paid(s, machine);
    }
    return nothing(BATS_IDLE_NO_TASK);
}

/* ---- the slots ---- */

static void carry_out(struct state *s, uint32_t slot,
                      struct bats_position task, enum proposal_kind kind)
{
    if (s->needs.list)
        slot = needs_take(s, slot, task);
    switch (kind) {
    case PROPOSAL_TASK:
        bats_bag_take(&s->bag, task);
        execution_begin(s, slot, task);
        if (s->run.phase == PHASE_SAMPLING &&
            sampling_drawn(s->own.sampling, s, slot, task))
            task_measure(s, task);
        break;
    case PROPOSAL_POINT:
        execution_measure(s, slot, task);
        break;
    case PROPOSAL_TAKE_OVER:
        execution_replica(s, slot, task);
        execution_cancel_others(s, slot, task);
        break;
    case PROPOSAL_COPY:
        if (s->bag.state[task.i] == BATS_TASK_PENDING) {
            bats_bag_take(&s->bag, task);
            execution_begin(s, slot, task);
        } else {
            execution_replica(s, slot, task);
        }
        break;
    }
}

/* Carries out the proposal. Returns BATS_IDLE_NOT, or why there is none. */
static enum bats_idle take(struct state *s, uint32_t slot, struct proposal p,
                           enum proposal_kind kind)
{
    uint32_t machine = s->slots[slot].machine;
    if (!bats_is_position(p.task))
        return p.reason;
    carry_out(s, slot, p.task, kind);
    if (s->money.terms.waits)
        job_prolong(s, machine, width_task_end(s, machine));
    return BATS_IDLE_NOT;
}

/* The slot takes over, or measures, a task that runs elsewhere. */
static bool take_running(struct state *s, uint32_t slot)
{
    return (s->run.phase == PHASE_SAMPLING &&
            take(s, slot, point(s, slot), PROPOSAL_POINT) == BATS_IDLE_NOT) ||
           (s->tail->migrate &&
            take(s, slot,
                 if_paid(s, slot, s->tail->migrate(s->own.tail, s, slot)),
                 PROPOSAL_TAKE_OVER) == BATS_IDLE_NOT);
}

static enum bats_idle take_task(struct state *s, uint32_t slot)
{
    enum bats_idle reason = BATS_IDLE_NO_TASK;
    if (s->money.purses.n_waiting > 0)
        reason =
            take(s, slot,
                 (struct proposal){purse_waiting(s, s->slots[slot].machine),
                                   BATS_IDLE_WORKFLOW},
                 PROPOSAL_TASK);
    if (reason != BATS_IDLE_NOT && bats_bag_ready(&s->bag) > 0)
        reason = take(s, slot, ready(s, slot), PROPOSAL_TASK);
    return reason;
}

/* Notes the reason. Returns true if the slot may be used. */
static bool note(struct state *s, uint32_t slot, enum bats_idle reason)
{
    if (reason != BATS_IDLE_NOT)
        slot_note_idle(s, slot, reason);
    return reason == BATS_IDLE_NOT;
}

static bool admits(struct state *s, uint32_t slot)
{
    return note(s, slot, refused(s, s->slots[slot].machine));
}

/* Machines join one by one at the start; the fastest may come last. */
static bool waits_for_machines(const struct state *s)
{
    return s->bag.graph && s->now == 0 && s->n_absent > 0;
}

/* Some task is ready, even if its workflow may be unable to pay. */
static bool any_task(const struct state *s)
{
    return bats_bag_ready(&s->bag) > 0 || s->money.purses.n_waiting > 0;
}

/* False: tasks and time remain, but the ready tasks are for other machines. */
static bool fill(struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    if (!any_task(s) || sl->is_replica || slot_lead(s, slot) != slot ||
        !admits(s, slot) || take_running(s, slot))
        return true;
    bool one_each = s->run.prefetch == 0 || s->policy->one_each ||
                    s->money.purses.n > 0 || s->needs.list ||
                    s->machines[sl->machine].on_trial;
    uint32_t depth = one_each ? 1 : order_depth(s, sl->machine);
    while (any_task(s) && sl->n_tasks < depth && slot_lead(s, slot) == slot)
        if (!note(s, slot,
                  waits_for_machines(s) ? BATS_IDLE_ABSENT
                                        : take_task(s, slot)))
            return false;
    return true;
}

/* Makes sure that a machine with a running task is held. If it is not a job,
 * it is acquired without a plan. */
static bool is_held(struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (m->state == MACHINE_PARKED && !s->money.terms.waits &&
        !m->quarantined &&
        s->clusters[m->cluster].n_held < s->clusters[m->cluster].spec.max)
        machine_acquire(s, machine);
    return m->state == MACHINE_ACTIVE && !m->quarantined;
}

/* The task also runs elsewhere and began there later: that execution makes
 * room if tasks wait. */
static void beside(struct state *s, uint32_t slot, struct bats_position task)
{
    struct task *t = &s->tasks[task.i];
    uint32_t later = t->slot;
    execution_replica(s, slot, task);
    if (bats_bag_ready(&s->bag) == 0 || s->run.in_tail ||
        s->slots[later].n_tasks > 1)
        return;
    s->clusters[slot_cluster(s, later)].sample_sent -= t->in_sample;
    t->in_sample = false;
    execution_swap(s, slot, task);
    execution_cancel_others(s, slot, task);
}

/* A task that uses several cores cannot be taken over: the other slots that it
 * holds are unknown. */
static bool may_be_there(const struct state *s, uint32_t slot,
                         struct bats_position task)
{
    const struct bats_need *need = need_of(s, task);
    return !s->needs.list || (need->cores == 1 && slot_is_free(s, slot) &&
                              need_fits(s, node_of(s, slot), need));
}

void assign_found(struct state *s, uint32_t slot, uint32_t number)
{
    uint32_t machine = s->slots[slot].machine;
    struct bats_position task = s->bag.position[number];
    bool is_ready = s->bag.state[task.i] == BATS_TASK_PENDING;
    if (s->run.finish != BATS_FINISH_NOT_YET || s->run.draining ||
        s->run.phase != PHASE_NONE || s->slots[slot].n_tasks > 0 ||
        !(is_ready || task_may_be_replicated(s, task)) ||
        !is_held(s, machine) || !affords(s, machine, task) ||
        !purse_admits(s, machine, task) || !may_be_there(s, slot, task))
        return;
    if (s->needs.list)
        needs_take(s, slot, task);
    if (is_ready) {
        bats_bag_take(&s->bag, task);
        execution_begin(s, slot, task);
    } else {
        beside(s, slot, task);
    }
}

/* A pass begins: what the order has cached may be out of date. */
static void begin_pass(struct state *s)
{
    if (s->order->begin)
        s->order->begin(s->own.order);
}

void assign_slot(struct state *s, uint32_t slot)
{
    begin_pass(s);
    if (!s->run.in_tail)
        fill(s, slot);
}

/* No slot of the cluster would get anything now, whoever is asked. */
static bool refuses_cluster(const struct state *s, uint32_t cluster)
{
    if (s->tail->migrate || s->needs.list || s->money.purses.n > 0 ||
        s->run.phase == PHASE_SAMPLING)
        return false;
    return s->policy->place ? s->policy->is_over(s->own.policy, s, cluster)
                            : s->order->refuses &&
                                  s->order->refuses(s->own.order, s, cluster);
}

/* The slot was refused: if that is so for its whole cluster, the walk leaves
 * that, from `left` on. */
static void leave_cluster(struct state *s, struct idle_walk *walk,
                          struct idle_walk *left, uint32_t slot)
{
    uint32_t cluster = slot_cluster(s, slot);
    if (!refuses_cluster(s, cluster))
        return;
    left->next[cluster] = walk->next[cluster];
    walk->next[cluster] = NO_SLOT;
    for (uint32_t at = s->idle.of[cluster].last;
         at != NO_SLOT && s->slots[at].idle != s->order->refusal;
         at = s->slots[at].prev_idle)
        slot_note_idle(s, at, s->order->refusal);
}

/* Goes back to the clusters left, where the walk left them. */
static void return_to_clusters(const struct state *s, struct idle_walk *walk,
                               struct idle_walk *left)
{
    for (size_t c = 0; c < s->n_clusters; c++)
        if (left->next[c] != NO_SLOT) {
            walk->next[c] = left->next[c];
            left->next[c] = NO_SLOT;
        }
}

/* Offers work to every idle slot once; while machines join, only to new ones.
 * True: a slot left its tasks to another one, which then wanted none. */
static bool ask_idle(struct state *s)
{
    bool is_left = false, refused = false;
    struct idle_walk walk, left;
    uint32_t slot;
    begin_pass(s);
    memset(&left, 0xff, sizeof left); /* NO_SLOT */
    idle_walk_begin(s, &walk, waits_for_machines(s) ? s->idle.asked : 0);
    while (!s->run.draining && !s->run.in_tail && any_task(s) &&
           (slot = idle_walk_next(s, &walk)) != NO_SLOT) {
        /* Refused: ask again at the next monitoring, or at once if another
         * machine only has to take its tasks first. */
        if (!fill(s, slot)) {
            is_left = true;
            leave_cluster(s, &walk, &left, slot);
        } else {
            refused |= is_left && slot_is_free(s, slot);
            return_to_clusters(s, &walk, &left);
            slot_remove_idle(s, slot);
        }
    }
    if (waits_for_machines(s))
        s->idle.asked = s->idle.last_number;
    return refused;
}

void assign_idle(struct state *s)
{
    while (ask_idle(s))
        ;
}

void assign_release(struct state *s)
{
    struct bats_position task;
    while (bats_is_position(task = sampling_released(s->own.sampling)))
        task_release(s, task);
}

/* ---- replicas ---- */

/* The slot's execution is stopping, so it will soon be free. */
static bool is_stopping(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks == 1 && execution_cancelled(s, slot, sl->head) &&
           s->machines[sl->machine].state == MACHINE_ACTIVE;
}

/* Slot of the youngest replica on a machine that could run a task instead. */
static uint32_t youngest_replica(const struct state *s)
{
    uint32_t youngest = NO_SLOT;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct slot *sl = &s->slots[i];
        if (slot_copies(s, i) && !s->tasks[sl->head.i].point &&
            !s->tasks[sl->head.i].cancelled &&
            (youngest == NO_SLOT ||
             sl->started > s->slots[youngest].started) &&
            refused(s, sl->machine) == BATS_IDLE_NOT)
            youngest = i;
    }
    return youngest;
}

void assign_make_room(struct state *s)
{
    uint32_t wanted = bats_bag_ready(&s->bag), slot;
    if (wanted == 0 || s->n_replicas == 0 || s->run.draining || s->run.in_tail)
        return;
    for (uint32_t i = 0; i < s->n_slots && wanted > 0; i++)
        wanted -= is_stopping(s, i);
    for (; wanted > 0 && (slot = youngest_replica(s)) != NO_SLOT; wanted--)
        execution_cancel(s, slot, s->slots[slot].head, false);
}

void assign_replicas(struct state *s)
{
    if (!s->tail->begin || s->run.draining || s->run.on_hold ||
        s->idle.n == 0 || bats_bag_pending(&s->bag) > 0)
        return;
    const struct tail_pass *pass = s->tail->begin(s->own.tail, s);
    struct idle_walk walk;
    uint32_t refused = 0, slot;
    idle_walk_begin(s, &walk, pass->all ? 0 : s->idle.asked);
    while (refused < TAIL_SLOTS &&
           (slot = idle_walk_next(s, &walk)) != NO_SLOT) {
        const struct machine *m = &s->machines[s->slots[slot].machine];
        if (pass->closed[m->cluster])
            walk.next[m->cluster] = NO_SLOT;
        else if (!m->quarantined && m->paid_end > pass->useless[m->cluster])
            refused +=
                !note(s, slot, take(s, slot, copy(s, slot), PROPOSAL_COPY));
    }
    s->idle.asked = s->idle.last_number;
}

/* ---- instances ---- */

static void end_all(struct state *s)
{
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].n_tasks > 0)
            execution_cancel(s, i, s->slots[i].head, false);
}

/* The cluster's other idle slots would be refused for the same reason. */
static bool is_of_cluster(uint8_t reason)
{
    return reason == BATS_IDLE_NO_COPY || reason == BATS_IDLE_TOO_LATE ||
           reason == BATS_IDLE_MONEY || reason == BATS_IDLE_ON_HOLD;
}

void assign_instances(struct state *s)
{
    if (bats_bag_left(&s->bag) == 0 && s->n_busy > 0)
        end_all(s);
    if (!s->run.in_tail)
        return;
    struct idle_walk walk;
    uint32_t slot;
    idle_walk_begin(s, &walk, 0);
    while ((slot = idle_walk_next(s, &walk)) != NO_SLOT)
        if ((!admits(s, slot) ||
             !note(s, slot,
                   take(s, slot, instance(s, slot), PROPOSAL_COPY))) &&
            is_of_cluster(s->slots[slot].idle))
            walk.next[slot_cluster(s, slot)] = NO_SLOT;
}

void assign_hand_over(struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (s->n_replicas == 0 || s->run.draining || s->run.phase != PHASE_NONE ||
        !s->tail->hand_over)
        return;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++) {
        struct bats_position task = s->slots[i].head;
        if (!bats_is_position(task))
            continue;
        uint32_t slot = s->tail->hand_over(s->own.tail, s, task);
        if (slot == s->tasks[task.i].slot)
            continue;
        execution_swap(s, slot, task);
        execution_cancel_others(s, slot, task);
    }
}
