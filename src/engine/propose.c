/* propose: proposes a task for an idle slot. See propose.h. */
#include "engine/propose.h"

#include "engine/money/money.h"

static struct proposal nothing(enum bats_idle reason)
{
    return (struct proposal){BATS_NO_POSITION, reason};
}

/* reason: why there is no task, if there is none. */
static struct proposal answer(struct bats_position task, enum bats_idle reason)
{
    return bats_is_position(task) ? (struct proposal){.task = task}
                                  : nothing(reason);
}

/* ---- the machine ---- */

/* The first task of all may be tried with the last of the money. */
bool propose_affords(const struct state *s, uint32_t machine,
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

enum bats_idle propose_refused(const struct state *s, uint32_t machine)
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
    if (!s->policy->place && !propose_affords(s, machine, BATS_NO_POSITION))
        return BATS_IDLE_MONEY;
    if (s->clusters[m->cluster].done == 0 &&
        sampling_refuses(s->own.sampling, m->cluster))
        return BATS_IDLE_FAILS;
    return s->policy->refuses ? s->policy->refuses(s->own.policy, s, machine)
                              : BATS_IDLE_NOT;
}

/* ---- tasks that run elsewhere, too ---- */

static bool is_sampling(const struct state *s)
{
    return s->run.phase == PHASE_SAMPLING;
}

static struct proposal point(struct state *s, uint32_t slot)
{
    return answer(s->slots[slot].n_tasks == 0
                      ? sampling_give(s->own.sampling, s, slot)
                      : BATS_NO_POSITION,
                  BATS_IDLE_NO_TASK);
}

/* The task, if it fits and its workflow can pay for it there. */
static struct proposal if_paid(const struct state *s, uint32_t slot,
                               struct bats_position task)
{
    if (bats_is_position(task) && !task_has_room(s, slot, task))
        return nothing(BATS_IDLE_NO_ROOM);
    return bats_is_position(task) &&
                   !purse_admits(s, s->slots[slot].machine, task)
               ? nothing(BATS_IDLE_WORKFLOW)
               : answer(task, BATS_IDLE_NO_COPY);
}

static bool migrates(const struct state *s)
{
    return s->tail->migrate != NULL;
}

static struct proposal migration(struct state *s, uint32_t slot)
{
    return if_paid(s, slot, s->tail->migrate(s->own.tail, s, slot));
}

static bool copies(const struct state *s)
{
    return s->tail->replica != NULL;
}

static struct proposal copy(struct state *s, uint32_t slot)
{
    return if_paid(s, slot, s->tail->replica(s->own.tail, s, slot));
}

static bool is_in_tail(const struct state *s)
{
    return s->run.in_tail;
}

static struct proposal instance(struct state *s, uint32_t slot)
{
    return answer(s->tail->next(s->own.tail, s, slot),
                  s->needs.list ? BATS_IDLE_NO_ROOM : BATS_IDLE_NO_COPY);
}

/* ---- tasks of the bag ---- */

static bool any_waits(const struct state *s)
{
    return s->money.purses.n_waiting > 0;
}

static struct proposal waiting(struct state *s, uint32_t slot)
{
    return answer(purse_waiting(s, s->slots[slot].machine),
                  BATS_IDLE_WORKFLOW);
}

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
    return propose_affords(s, s->slots[slot].machine, task)
               ? (struct proposal){.task = task}
               : nothing(BATS_IDLE_MONEY);
}

static struct proposal ordered(struct state *s, uint32_t slot)
{
    return answer(s->order->next(s->own.order, s, slot), s->order->refusal);
}

static bool any_ready(const struct state *s)
{
    return bats_bag_ready(&s->bag) > 0;
}

/* Chosen by the policy if it places tasks, else in order; only tasks that
 * their workflows can pay for. */
static struct proposal ready(struct state *s, uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    while (bats_bag_ready(&s->bag) > 0) {
        struct proposal p =
            s->policy->place ? placed(s, slot) : ordered(s, slot);
        if (!bats_is_position(p.task) || purse_admits(s, machine, p.task))
            return p;
        if (!purse_refuses(s, p.task))
            return find_paid(s, machine);
    }
    return nothing(BATS_IDLE_NO_TASK);
}

const struct proposer propose_point = {PROPOSAL_POINT, is_sampling, point},
                      propose_migration = {PROPOSAL_TAKE_OVER, migrates,
                                           migration},
                      propose_waiting = {PROPOSAL_TASK, any_waits, waiting},
                      propose_ready = {PROPOSAL_TASK, any_ready, ready},
                      propose_copy = {PROPOSAL_COPY, copies, copy},
                      propose_instance = {PROPOSAL_INSTANCE, is_in_tail,
                                          instance};
