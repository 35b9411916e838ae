/*
 * configure: which machines are held. preempt_lead before a window ends the
 * machine is either renewed, and the next charge is held at once; or its
 * running tasks are told to stop, and it is parked when the window ends. See
 * engine.h.
 */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "engine/money/kinds.h"
#include "engine/outlook/jobs.h"

/* ---- acquiring ---- */

/* Tasks waiting for a slot of the cluster: the ready ones, or those that the
 * tail has queued for its pool. */
static uint32_t waiting(const struct state *s, const struct cluster *c,
                        uint32_t most)
{
    return s->tail->waiting && (s->run.in_tail || !s->money.terms.idle_is_free)
               ? s->tail->waiting(s->own.tail, s, (size_t)(c - s->clusters),
                                  most)
               : bats_bag_ready(&s->bag);
}

/* Jobs of both clusters serve the same tasks, so they count together. */
static bool same_pool(const struct state *s, const struct cluster *a,
                      const struct cluster *b)
{
    return !s->tail->waiting || a->spec.unreliable == b->spec.unreliable;
}

/* Slots of requested jobs that may take the waiting tasks. */
static uint64_t asked_slots(const struct state *s, const struct cluster *c)
{
    uint64_t n = 0;
    if (!s->tail->waiting)
        return s->money.n_asked_slots;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_ASKED &&
            same_pool(s, c, &s->clusters[s->machines[i].cluster]))
            n += s->machines[i].n_slots;
    return n;
}

/* Work time of the cluster's next job. Jobs for instances last a window. */
static bats_time length_of(const struct state *s, const struct cluster *c)
{
    return s->tail->next ? s->run.window
                         : length_of_job(s, (size_t)(c - s->clusters));
}

/* Number of jobs that get no new task and are to be replaced. */
static uint32_t outgoing(const struct state *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; width_matters(s) && i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        n += m->state == MACHINE_ACTIVE && m->marked && !m->last;
    }
    return n;
}

/* Tasks need another job of this cluster, and the money suffices, for the
 * run's own job too. */
static bool worth_asking(const struct state *s, const struct cluster *c)
{
    size_t cluster = (size_t)(c - s->clusters);
    bats_time length = length_of(s, c);
    const struct bats_billing *b = &s->money.ledger.billing;
    bats_time held = job_ahead(s, length);
    bats_money price;
    uint32_t n = s->tail->next ? 0 : outgoing(s);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (same_pool(s, c, &s->clusters[i]))
            n += s->clusters[i].n_active + s->clusters[i].n_asked;
    uint64_t asked = asked_slots(s, c);
    return (double)asked < waiting(s, c, UINT32_MAX) * needs_width(s) &&
           (s->money.purses.n == 0 ||
            (double)asked < purses_pay(s, cluster)) &&
           (b->jobs == 0 || n < b->jobs) && c->stats.mean <= (double)length &&
           bats_units_add(
               job_price(s, cluster, held),
               bats_billing_cost(b->rate, held + b->overrun + b->leaving),
               &price) &&
           price <= bats_ledger_available(&s->money.ledger) &&
           width_pays_job(s, cluster);
}

/* The last tasks waiting for the pool already have slots. */
static bool has_slots(const struct state *s, const struct cluster *c)
{
    if (!s->run.in_tail || !s->tail->waiting)
        return false;
    uint32_t idle = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (same_pool(s, c, &s->clusters[i]))
            idle += s->idle.of[i].n;
    return waiting(s, c, idle + 1) <= idle;
}

/* False for a machine that cannot finish a task of mean length. */
static bool worth_acquiring(const struct state *s, const struct cluster *c)
{
    if (s->money.terms.waits)
        return worth_asking(s, c);
    if (has_slots(s, c))
        return false;
    int64_t windows = bats_ledger_affordable(&s->money.ledger, c->spec.charge);
    return windows >= 1 &&
           c->stats.mean <= (double)windows * (double)s->run.window;
}

/* The cluster is below its target, has work for more machines, and may get
 * them. After a reclaim notice others may follow, so no machine of that kind
 * is acquired until the noticed one is gone. */
static bool wants_more(const struct state *s, const struct cluster *c)
{
    uint32_t n = c->n_active + c->n_asked;
    if (s->run.draining || s->run.on_hold || n >= c->target ||
        (s->n_noticed > 0 && c->spec.reclaimable))
        return false;
    /* A job and the one that replaces it may overlap. */
    return (s->money.terms.waits ? n : c->n_held) < c->spec.max &&
           waiting(s, c, 1) > 0;
}

/* Acquires machines of the cluster up to its target, at most so many. */
static void fill_up(struct state *s, struct cluster *c, uint32_t most)
{
    uint32_t first;
    while (most-- > 0 && wants_more(s, c) &&
           bats_heap_first(&c->parked, &first) == 0 && worth_acquiring(s, c)) {
        uint32_t machine = s->members[c->first_machine + first];
        if (s->money.terms.waits ? !job_ask(s, machine, length_of(s, c))
                                 : !machine_acquire(s, machine))
            break;
        const struct machine *m = &s->machines[machine];
        for (uint32_t i = 0; !s->money.terms.waits && i < m->n_slots; i++)
            assign_slot(s, m->first_slot + i);
    }
}

/* The money may not suffice for all jobs, so each cluster gets one before any
 * gets more. */
void configure_refill(struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct cluster *c = &s->clusters[i];
        if (s->money.terms.waits && !s->run.planned &&
            c->n_active + c->n_asked == 0)
            fill_up(s, c, 1);
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        fill_up(s, &s->clusters[i], UINT32_MAX);
}

/* ---- a new configuration ---- */

struct candidate {
    bats_time end; /* end of the paid time, including a held window */
    uint32_t id;
};

static int by_end(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Marks surplus machines, those whose windows end soonest first; or unmarks
 * missing ones, those whose windows end last first. */
static void adjust_marks(struct state *s, struct cluster *c)
{
    bool surplus = c->n_active > c->target;
    struct candidate *list = malloc((s->n_held + 1) * sizeof *list);
    if (!list) {
        s->answers.failure = BATS_ENOMEM;
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t id = s->held[i];
        const struct machine *m = &s->machines[id];
        if (&s->clusters[m->cluster] == c && m->state == MACHINE_ACTIVE &&
            m->marked == !surplus && !m->quarantined && !m->last)
            list[n++] = (struct candidate){
                m->paid_end + (m->renewing ? s->run.window : 0), id};
    }
    qsort(list, n, sizeof *list, by_end);
    for (uint32_t i = 0; i < n && c->n_active != c->target; i++)
        machine_mark(s, surplus ? list[i].id : list[n - 1 - i].id, surplus);
    free(list);
}

/* Marks exactly the machines that the plan does not keep. */
static void mark_as_told(struct state *s, const bool *keeps)
{
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (m->state == MACHINE_ACTIVE && !m->quarantined && !m->last &&
            m->marked == keeps[s->held[i]])
            machine_mark(s, s->held[i], !m->marked);
    }
}

/* Withdraws surplus queued jobs of the cluster, the latest first. Only if two
 * plans in a row did not want them: plans change, and a place in a queue is
 * lost. */
static void withdraw(struct state *s, struct cluster *c)
{
    bool again = c->has_surplus;
    c->has_surplus = c->n_asked > 0 && c->n_active + c->n_asked > c->target;
    if (!again)
        return;
    while (c->n_asked > 0 && c->n_active + c->n_asked > c->target) {
        uint32_t latest = NO_MACHINE;
        for (uint32_t i = 0; i < c->n_machines; i++) {
            uint32_t id = s->members[c->first_machine + i];
            if (s->machines[id].state == MACHINE_ASKED &&
                (latest == NO_MACHINE ||
                 s->rest[id].asked_at >= s->rest[latest].asked_at))
                latest = id;
        }
        job_withdraw(s, latest);
    }
}

/* Applies the plan: marks machines, or unmarks and acquires them as far as
 * tasks and money allow. */
static void configure(struct state *s, const struct policy_plan *plan)
{
    /* An allocation always holds all machines. */
    for (size_t i = 0; i < s->n_clusters && !s->money.terms.lasts; i++) {
        struct cluster *c = &s->clusters[i];
        c->target = plan->target[i];
        c->plan_windows = plan->windows[i];
        if (!plan->keeps && c->n_machines > 0 && c->n_active != c->target)
            adjust_marks(s, c);
        withdraw(s, c);
    }
    if (plan->keeps)
        mark_as_told(s, plan->keeps);
    for (uint32_t i = 0; i < s->n_held; i++) {
        struct machine *m = &s->machines[s->held[i]];
        m->plan_windows = plan->windows[m->cluster];
    }
    slots_rescan(s); /* unmarked machines take tasks again */
    assign_idle(s);
    configure_refill(s);
}

static bool was_last(const struct state *s, const struct bats_decision *d)
{
    if (s->answers.n_decisions == 0)
        return false;
    const struct bats_decision *last =
        &s->answers.decisions[s->answers.n_decisions - 1];
    for (size_t i = 0; i < s->n_clusters; i++)
        if (last->machines[i] - last->ending[i] !=
            d->machines[i] - d->ending[i])
            return false;
    return last->feasible == d->feasible;
}

static void adopt(struct state *s, const struct policy_plan *plan)
{
    s->run.planned = true;
    s->run.feasible = plan->decision.feasible;
    if (!plan->confirms || !was_last(s, &plan->decision))
        state_record(s, &plan->decision);
    configure(s, plan);
}

/* ---- the deadline ---- */

/* A deadline missed by less than this fraction may still be met. */
#define ROUGHLY 0.01

static void record_late(struct state *s)
{
    struct bats_decision d = state_decision(s, BATS_REASON_LATE);
    d.feasible |= !s->run.planned;
    d.windows = 1 + (s->run.late_end - s->now - 1) / s->run.window;
    for (size_t i = 0; i < s->n_clusters; i++)
        d.machines[i] = s->clusters[i].n_active;
    state_record(s, &d);
}

/* After a review: records that the bag is likely to miss its deadline. */
static void watch_promise(struct state *s)
{
    bats_time deadline = s->run.goal.deadline, end;
    if (deadline == BATS_NEVER || s->run.draining)
        return;
    end = s->policy->end ? s->policy->end(s->own.policy, s) : forecast_end(s);
    if (end == BATS_NEVER)
        return;
    end = end > s->now ? end : s->now;
    bool was_late = s->run.late_end > 0;
    double limit = (double)deadline * (was_late ? 1 : 1 + ROUGHLY);
    s->run.late_end = (double)end > limit ? end : 0;
    if (s->run.late_end > 0 && !was_late)
        record_late(s);
}

/* ---- the policy ---- */

void configure_start(struct state *s)
{
    struct policy_start start = {{0}, {0}};
    struct policy_sample sample = {.is_on = s->run.phase == PHASE_SAMPLING};
    bool runs = !sample.is_on || sampling_start(s->own.sampling, s,
                                                sample.workers, sample.lacks);
    s->policy->start(s->own.policy, s, &sample, &start);
    for (size_t i = 0; i < s->n_clusters; i++) {
        s->clusters[i].target = start.machines[i];
        s->clusters[i].sample_want = start.sample[i];
    }
    if (!runs)
        return; /* nothing starts before the choice */
    struct bats_decision d = state_decision(s, BATS_REASON_START);
    d.feasible = true;
    d.tasks_left = s->bag.n;
    memcpy(d.machines, start.machines, sizeof d.machines);
    state_record(s, &d);
}

void configure_joined(struct state *s, uint32_t machine)
{
    fill_up(s, &s->clusters[s->machines[machine].cluster], UINT32_MAX);
}

void configure_look(struct state *s)
{
    if (s->policy->forecasts || s->money.terms.waits)
        forecast_means(s);
}

static int make_plan(struct state *s, const struct occasion *why,
                     struct bats_error *err)
{
    struct policy_plan plan = {.keeps = NULL};
    bool is_new = false;
    if (why->type != OCCASION_TICK) /* a tick has already looked */
        configure_look(s);
    int rc = s->policy->plan(s->own.policy, s, why, &is_new, &plan, err);
    if (rc == 0 && is_new)
        adopt(s, &plan);
    return rc;
}

int configure_review(struct state *s, const struct occasion *why,
                     struct bats_error *err)
{
    const struct bats_policy *policy = s->policy;
    bool is_short = why->type == OCCASION_LOST ||
                    why->type == OCCASION_STALLED ||
                    why->type == OCCASION_READY;
    if (is_short && policy->refill && policy->refill(s->own.policy, s, why))
        configure_refill(s);
    int rc = policy->wants && policy->wants(s->own.policy, s, why)
                 ? make_plan(s, why, err)
                 : 0;
    watch_promise(s);
    return rc;
}

/* ---- windows ---- */

static bool renews(const struct state *s, uint32_t machine)
{
    bats_money charge = s->money.lease->next(s, machine);
    if (s->run.on_hold || s->rest[machine].taken_at != BATS_NEVER ||
        bats_ledger_affordable(&s->money.ledger, charge) < 1)
        return false;
    return s->run.phase != PHASE_NONE
               ? sampling_needs(s->own.sampling, s, machine)
               : s->policy->renew(s->own.policy, s, machine);
}

/* Whether there is still work for the held window; if not, it is not
 * entered. */
static bool is_useful(const struct state *s, uint32_t machine)
{
    return machine_works(s, machine) ||
           (!s->run.draining && bats_bag_ready(&s->bag) > 0);
}

/* Requests a successor, because a job cannot be prolonged. */
static void follow(struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    struct cluster *c = &s->clusters[m->cluster];
    assign_hand_over(s, machine);
    bool wanted = !m->marked && renews(s, machine);
    job_set_last(s, machine);
    if (!wanted && c->target > 0 && !s->tail->next)
        c->target--;
    fill_up(s, c, UINT32_MAX);
}

/* The lease ends before the machine's tasks: they have to be told to stop. */
static bool ends_too_soon(const struct state *s, uint32_t machine)
{
    bats_time end = job_end(s, machine);
    return s->now >= end - s->run.preempt_lead &&
           (s->now >= end || s->rest[machine].leased == 0 ||
            width_is_short(s, machine));
}

static void turn_of_job(struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (job_wants_successor(s, machine)) {
        follow(s, machine);
    } else if (m->state == MACHINE_ACTIVE) {
        job_prolong(s, machine, width_lease_end(s, machine));
        if (ends_too_soon(s, machine))
            job_leave(s, machine); /* another lease is not affordable */
    }
    if (s->now >= job_end(s, machine))
        machine_park(s, machine);
}

/* Decides on the next window, or enters it. False: neither is due yet. */
static bool turn_of_window(struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (m->state == MACHINE_ACTIVE && !m->renewing) {
        assign_hand_over(s, machine);
        if (!renews(s, machine) || !machine_renew(s, machine))
            machine_leave(s, machine);
    }
    if (s->now < m->paid_end)
        return false;
    if (m->renewing && is_useful(s, machine) && !s->run.on_hold)
        machine_enter_window(s, machine);
    else
        machine_park(s, machine);
    return true;
}

void configure_prolong(struct state *s)
{
    for (uint32_t pass = 0; s->money.terms.waits && pass < 2; pass++)
        for (uint32_t i = 0; i < s->n_held; i++)
            if (s->machines[s->held[i]].state == MACHINE_ACTIVE)
                job_prolong(s, s->held[i],
                            pass == 0 ? width_task_end(s, s->held[i])
                                      : width_lease_end(s, s->held[i]));
}

int configure_turn(struct state *s, uint32_t machine, struct bats_error *err)
{
    if (!s->money.terms.prolongs && !s->money.terms.lasts)
        turn_of_job(s, machine);
    else if (!turn_of_window(s, machine))
        return 0;
    if (s->run.draining)
        return 0;
    return configure_review(
        s, &(struct occasion){.type = OCCASION_WINDOW, .machine = machine},
        err);
}

/* Gives back idle machines billed by the second. One about to be reclaimed is
 * kept if it costs nothing then. */
static void give_back_idle(struct state *s)
{
    for (uint32_t i = s->n_held; i-- > 0;) {
        uint32_t id = s->held[i];
        const struct machine *m = &s->machines[id];
        const struct bats_tariff *t = &s->clusters[m->cluster].spec.tariff;
        bats_time taken_at = s->rest[id].taken_at;
        bool is_free = taken_at != BATS_NEVER && m->paid_end == taken_at &&
                       taken_at - s->rest[id].since < t->free;
        if (m->n_busy == 0 && !is_free &&
            (m->marked || s->run.draining || bats_bag_ready(&s->bag) == 0))
            machine_park(s, id);
    }
}

/* A job of the cluster has, or will have, something to run. */
static bool is_wanted(const struct state *s, const struct cluster *c)
{
    return !s->run.draining &&
           (s->run.in_tail ? waiting(s, c, 1) > 0
                           : bats_bag_pending(&s->bag) > 0 ||
                                 s->bag.count[BATS_TASK_WAITING] > 0);
}

/* Ends an idle job. If tasks are ready, the policy refuses them there, so the
 * job gets no successor until a new plan is made. */
static void give_back_job(struct state *s, uint32_t machine)
{
    struct cluster *c = &s->clusters[s->machines[machine].cluster];
    bool counts = !width_matters(s) || !s->machines[machine].marked;
    machine_park(s, machine);
    if (counts && bats_bag_ready(&s->bag) > 0 && c->target > 0 &&
        !s->tail->next)
        c->target--;
}

#define LINGER_MOST BATS_MINUTE

/* An open bag may get a task at any moment: an idle job is kept for as long as
 * it took to join, which is what the next one would take; but not a job that
 * gets no task, or is refused those that are ready. */
static bool lingers(struct state *s, uint32_t machine)
{
    struct machine_rest *r = &s->rest[machine];
    bats_time wait = r->began_at + r->age - r->asked_at;
    if (r->idle_at == BATS_NEVER)
        r->idle_at = s->now;
    bats_time until = r->idle_at + (wait < LINGER_MOST ? wait : LINGER_MOST);
    const struct machine *m = &s->machines[machine];
    if (!s->run.is_open || s->run.draining || until <= s->now || m->marked ||
        m->quarantined || bats_bag_ready(&s->bag) > 0)
        return false;
    if (until < s->run.lingers_until)
        s->run.lingers_until = until;
    return true;
}

void configure_give_back(struct state *s)
{
    s->run.lingers_until = BATS_NEVER;
    if (s->money.terms.returns && s->money.terms.prolongs && !s->run.on_hold)
        give_back_idle(s);
    if (!s->money.terms.waits || s->run.on_hold)
        return;
    for (uint32_t i = s->n_held; i-- > 0;)
        if (s->machines[s->held[i]].n_busy > 0)
            s->rest[s->held[i]].idle_at = BATS_NEVER;
        else if (!lingers(s, s->held[i]) &&
                 (bats_bag_ready(&s->bag) == 0 || !width_waits(s, s->held[i])))
            give_back_job(s, s->held[i]);
    for (uint32_t i = 0; s->money.n_asked_slots > 0 && i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_ASKED &&
            !is_wanted(s, &s->clusters[s->machines[i].cluster]))
            job_withdraw(s, i);
}

static bool may_acquire(const struct state *s)
{
    uint32_t first;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_held < s->clusters[i].spec.max &&
            bats_heap_first(&s->clusters[i].parked, &first) == 0)
            return true;
    return false;
}

int configure_released(struct state *s, struct bats_error *err)
{
    if (s->run.n_released == s->bag.n_released || s->run.phase != PHASE_NONE)
        return 0;
    s->run.n_released = s->bag.n_released;
    if (s->run.draining || s->run.on_hold || bats_bag_ready(&s->bag) == 0 ||
        !may_acquire(s))
        return 0;
    return configure_review(s, &(struct occasion){.type = OCCASION_READY},
                            err);
}

bool configure_limits(struct state *s)
{
    bool has_changed = !s->tail->limit; /* by the mean: with each result */
    for (size_t i = 0; i < s->n_clusters; i++) {
        bats_time before = s->clusters[i].limit;
        s->clusters[i].limit = s->tail->limit
                                   ? s->tail->limit(s->own.tail, s, i)
                                   : failure_limit(s->own.failure, s, i);
        has_changed |= s->clusters[i].limit != before;
    }
    return has_changed;
}

/* ---- the sampling phase, and the choice ---- */

/* Uses machines of this cluster only. */
static void configure_one(struct state *s, size_t cluster, uint32_t machines)
{
    struct policy_plan plan = {.keeps = NULL};
    plan.target[cluster] = machines;
    configure(s, &plan);
}

static void end_phase(struct state *s)
{
    struct bats_sample sample;
    if (sampling_conclude(s->own.sampling, s, &sample) == 0) {
        state_take_sample(s, &sample);
        bats_sample_release(&sample);
    } else {
        s->answers.failure = BATS_ENOMEM;
    }
    configure_limits(s);
    assign_release(s);
    s->run.phase = PHASE_SAMPLED;
    configure_one(s, 0, 0);
    state_emit(s, BATS_NOTICE_SAMPLED, 0);
}

void configure_sampling(struct state *s, bool stalled)
{
    size_t cluster;
    switch (sampling_step(s->own.sampling, s, stalled, &cluster)) {
    case SAMPLING_GOES_ON:
        break;
    case SAMPLING_RESTS:
        configure_one(s, 0, 0);
        break;
    case SAMPLING_CALLS:
        configure_one(s, cluster, 1);
        if (s->n_busy == 0)
            end_phase(s);
        break;
    case SAMPLING_IS_OVER:
        end_phase(s);
        break;
    }
}

/* Sets the budget to the charge so far plus the schedule's limit, unless it is
 * already lower. */
static void limit_budget(struct state *s, const struct sampling_choice *chosen)
{
    struct bats_ledger *ledger = &s->money.ledger;
    bats_money budget;
    if (chosen->limit < bats_ledger_available(ledger) &&
        bats_units_add(ledger->charged + ledger->held, chosen->limit, &budget))
        bats_ledger_limit(ledger, budget);
}

/* If the budget covers the schedule's upper bound, the configuration is kept
 * for that many windows, so that a bag within its bounds finishes as promised.
 * Otherwise the policy plans at once. */
int configure_choice(struct state *s, const struct bats_choice *choice,
                     struct bats_error *err)
{
    struct sampling_choice chosen;
    const struct bats_schedule *schedule = &chosen.schedule;
    forecast_look(s);
    int rc = sampling_choose(s->own.sampling, s, choice, &chosen, err);
    if (rc < 0)
        return rc;
    if (chosen.is_none) {
        if (s->run.phase == PHASE_SAMPLED)
            s->run.phase = PHASE_LEAVING;
        if (s->run.phase == PHASE_LEAVING && s->money.terms.lasts)
            state_stop(s, false, BATS_FINISH_SAMPLED);
        return 0;
    }
    bool is_windows = chosen.plans == BATS_PLANS_WINDOWS && s->policy->plan;
    if (is_windows && schedule->offer == BATS_OFFER_DEADLINE) {
        s->run.goal.deadline = s->now + choice->deadline;
        s->run.goal.minimize = BATS_MINIMIZE_COST;
    } else if (!s->money.terms.lasts || schedule->offer == BATS_OFFER_BUDGET) {
        limit_budget(s, &chosen);
    }
    state_set_latest(s);
    s->run.phase = PHASE_NONE;
    if (is_windows) {
        s->run.aim = schedule->aim > 0 ? s->now + schedule->aim : 0;
        return make_plan(s, &(struct occasion){.type = OCCASION_CHOSEN}, err);
    }
    s->run.kept =
        bats_ledger_available(&s->money.ledger) >= schedule->cost_high;
    struct policy_plan plan = {.decision =
                                   state_decision(s, BATS_REASON_CHOSEN)};
    plan.decision.feasible = schedule->plan.feasible;
    plan.decision.tasks_left = (int64_t)chosen.n_tasks;
    plan.decision.windows = schedule->plan.windows;
    for (size_t i = 0; i < s->n_clusters; i++) {
        plan.decision.machines[i] = plan.target[i] =
            s->money.terms.lasts ? s->clusters[i].n_joined
                                 : schedule->plan.machines[i];
        plan.windows[i] =
            s->run.kept ? schedule->windows_high : schedule->plan.windows;
    }
    adopt(s, &plan);
    return 0;
}
