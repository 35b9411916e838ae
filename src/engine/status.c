/* status: reports the engine's state to people. See bats/status.h. */
#include <math.h>

#include "bats/plan.h"
#include "engine/engine.h"

/* The cost of the allocation while its machines run this many tasks. */
static bats_money cost_of_all(const struct state *s, uint32_t pending)
{
    double rate = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->stats.mean > 0)
            rate += c->n_joined * cluster_slots(c) / c->stats.mean;
    }
    double time = rate > 0 ? pending / rate : (double)BATS_LONGEST;
    return time < (double)BATS_LONGEST
               ? bats_billing_cost(s->money.ledger.billing.rate,
                                   (bats_time)time)
               : -1;
}

static bats_money rest_cost(const struct state *s)
{
    size_t best = forecast_most_profitable(s);
    uint32_t pending =
        (uint32_t)ceil(bats_bag_pending(&s->bag) * needs_width(s));
    bats_money cost;
    if (pending == 0)
        return 0;
    if (best == SIZE_MAX)
        return -1;
    if (s->money.terms.lasts)
        return cost_of_all(s, pending);
    const struct cluster *c = &s->clusters[best];
    double use = pending * c->stats.mean / cluster_slots(c);
    if (s->money.terms.idle_is_free)
        return use < (double)BATS_LONGEST
                   ? bats_billing_use(c->price, s->run.window, (bats_time)use)
                   : -1;
    double rate = cluster_slots(c) * (double)s->run.window / c->stats.mean;
    return bats_units_multiply(bats_plan_windows(pending, rate), c->price,
                               &cost)
               ? cost
               : -1;
}

void bats_sched_status(const struct bats_sched *e,
                       struct bats_sched_status *status)
{
    const struct state *s = &e->state;
    const uint32_t *count = s->bag.count;
    *status = (struct bats_sched_status){
        .now = s->now,
        .finish = s->run.finish,
        .pending = bats_bag_pending(&s->bag) + count[BATS_TASK_WAITING],
        .blocked = count[BATS_TASK_BLOCKED],
        .longest_chain = state_longest_chain(s, NULL),
        .running = bats_bag_running(&s->bag),
        .done = count[BATS_TASK_DONE],
        .failed = count[BATS_TASK_FAILED],
        .skipped = count[BATS_TASK_SKIPPED],
        .is_open = s->run.is_open,
        .expected = s->run.is_open ? s->run.in_all : 0,
        .budget = s->money.ledger.budget,
        .charged = s->money.ledger.charged,
        .held = s->money.ledger.held,
        .charged_before = s->money.terms.lasts ? s->money.ledger.base
                                               : s->money.earlier_charged,
        .retried = s->retried,
        .timed_out = s->timed_out,
        .preempted = s->preempted,
        .replicas = s->replicas,
        .replicas_won = s->replicas_won,
        .estimated_end = forecast_end(s),
        .deadline =
            s->run.goal.deadline < BATS_NEVER ? s->run.goal.deadline : 0,
        .late_end = s->run.late_end,
        .rest_cost = rest_cost(s),
        .sample_size = s->known.sample_size};
}

uint32_t bats_sched_holds(const struct bats_sched *e, uint32_t machine,
                          uint32_t slot, uint32_t *slots)
{
    const struct state *s = &e->state;
    const struct machine *m = &s->machines[machine];
    uint32_t n = 0;
    if (s->slots[m->first_slot + slot].n_tasks > 0)
        slots[n++] = slot;
    for (uint32_t i = slot + 1; n > 0 && s->needs.lead && i < m->n_slots; i++)
        if (s->needs.lead[m->first_slot + i] == m->first_slot + slot)
            slots[n++] = i;
    return n;
}

const struct bats_need *bats_sched_need(const struct bats_sched *e,
                                        uint32_t task)
{
    const struct state *s = &e->state;
    return s->needs.list ? need_of(s, s->bag.position[task]) : NULL;
}

uint64_t bats_sched_gpus(const struct bats_sched *e, uint32_t machine,
                         uint32_t slot)
{
    const struct state *s = &e->state;
    return s->needs.gpus
               ? s->needs.gpus[s->machines[machine].first_slot + slot]
               : 0;
}

/* Mean task runtime T, or the expected one; 0: unknown. */
static double mean_of(const struct cluster *c)
{
    return c->stats.mean > 0 ? c->stats.mean : (double)c->expected;
}

static const struct cluster *cheapest(const struct state *s)
{
    const struct cluster *best = NULL;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (mean_of(c) > 0 && (!best || c->price < best->price))
            best = c;
    }
    return best;
}

static bats_money hourly(const struct state *s, const struct cluster *c)
{
    return (bats_money)((double)c->price * c->n_machines * (double)BATS_HOUR /
                            (double)s->run.window +
                        0.5);
}

void bats_sched_cluster_status(const struct bats_sched *e, size_t cluster,
                               struct bats_cluster_status *status)
{
    const struct state *s = &e->state;
    const struct cluster *c = &s->clusters[cluster];
    const struct cluster *m = cheapest(s);
    *status = (struct bats_cluster_status){
        .machines_used = c->n_used,
        .machines_now = c->n_held,
        .machines_lost = c->n_lost,
        .windows = c->windows,
        .charged =
            (s->money.terms.later ? 0 : c->windows * c->price) + c->used,
        .done = c->done,
        .failed = c->failed,
        .mean_runtime = mean_of(c),
        .is_guess = cluster_is_guess(c),
        .energy_j = c->energy_j};
    for (uint32_t i = 0; c->n_quarantined > 0 && i < c->n_machines; i++) {
        uint32_t id = s->members[c->first_machine + i];
        const struct machine *machine = &s->machines[id];
        status->machines_quarantined += s->rest[id].fails;
        status->machines_out +=
            machine->quarantined && machine_is_held(machine);
    }
    if (m && mean_of(c) > 0 && c->price > 0)
        status->profitability = (mean_of(m) / cluster_slots(m)) /
                                (mean_of(c) / cluster_slots(c)) *
                                ((double)m->price / (double)c->price);
    double paid = c->paid_slot_time;
    if (s->money.terms.lasts) {
        status->charged = bats_billing_cost(hourly(s, c), s->now);
        paid = (double)c->n_slots * (double)s->now;
    }
    if (paid > 0)
        status->utilisation = c->busy_time / paid;
}

void bats_sched_category_status(const struct bats_sched *e, uint32_t category,
                                struct bats_category_status *status)
{
    const struct categories *k = &e->state.known.categories;
    const struct category_stats *stats = &k->stats[category];
    *status = (struct bats_category_status){
        .done = stats->n, .left = k->left[category], .mean = stats->mean};
    if (stats->n > 1)
        status->deviation = sqrt(stats->squares / (stats->n - 1));
}

double bats_sched_weight(const struct bats_sched *e, uint32_t task)
{
    return categories_weight(&e->state, task);
}

static enum bats_task_state state_of(const struct bats_sched *e, uint32_t task)
{
    const struct bats_bag *bag = &e->state.bag;
    return (enum bats_task_state)bag->state[bag->position[task].i];
}

bool bats_sched_has_result(const struct bats_sched *e, uint32_t task)
{
    return state_of(e, task) == BATS_TASK_DONE ||
           state_of(e, task) == BATS_TASK_FAILED;
}

bool bats_sched_has_failed(const struct bats_sched *e, uint32_t task)
{
    return state_of(e, task) == BATS_TASK_FAILED;
}

bool bats_sched_is_skipped(const struct bats_sched *e, uint32_t task)
{
    return state_of(e, task) == BATS_TASK_SKIPPED;
}

bool bats_sched_purse_status(const struct bats_sched *e, uint32_t purse,
                             struct bats_purse_status *status)
{
    if (purse >= e->state.money.purses.n)
        return false;
    const struct purse *a = &e->state.money.purses.list[purse];
    *status = a->is;
    status->budget = a->ledger.budget;
    status->charged = a->ledger.charged;
    status->held = a->ledger.held;
    return true;
}

void bats_sched_purses_soonest(const struct bats_sched *e, bats_time *soonest)
{
    const struct state *s = &e->state;
    for (uint32_t i = 0; i < s->money.purses.n; i++)
        soonest[i] = 0;
    state_longest_chain(s, soonest);
    for (uint32_t i = 0; i < s->money.purses.n; i++) {
        const struct bats_purse_status *a = &s->money.purses.list[i].is;
        /* A task that runs longer than expected may end at any moment. */
        bool overdue = a->left > 0 && a->deadline > 0 && s->now > a->deadline;
        soonest[i] += soonest[i] > 0 || overdue ? s->now : 0;
    }
}

bool bats_sched_is_busy(const struct bats_sched *e, uint32_t machine,
                        uint32_t slot)
{
    const struct state *s = &e->state;
    return s->slots[s->machines[machine].first_slot + slot].n_tasks > 0;
}

bats_time bats_sched_paid_age(const struct bats_sched *e, uint32_t machine)
{
    const struct machine_rest *r = &e->state.rest[machine];
    return r->asked ? r->leased : 0;
}

bool bats_sched_runs_once(const struct bats_sched *e, uint32_t task)
{
    return e->state.tasks[e->state.bag.position[task].i].once;
}

bool bats_sched_has_replicas(const struct bats_sched *e, uint32_t task)
{
    const struct state *s = &e->state;
    return task < s->bag.n &&
           s->tasks[s->bag.position[task].i].replicas != NO_SLOT;
}

enum bats_execution_state bats_sched_execution(const struct bats_sched *e,
                                               uint32_t machine, uint32_t slot,
                                               uint32_t task)
{
    return execution_state(&e->state, machine, slot, task);
}

int bats_sched_estimator(struct bats_sched *e,
                         struct bats_estimator *estimator,
                         struct bats_error *err)
{
    forecast_look(&e->state);
    return sampling_estimator(e->state.own.sampling, &e->state, estimator,
                              err);
}

double bats_sched_room(const struct bats_sched *e, size_t cluster)
{
    return cluster_slots(&e->state.clusters[cluster]) /
           needs_width_in(&e->state, cluster);
}

const struct bats_decision *bats_sched_decisions(const struct bats_sched *e,
                                                 size_t *n)
{
    *n = e->state.answers.n_decisions;
    return e->state.answers.decisions;
}

/* Inserts `one` into the list of the n longest tasks, at most max. */
static size_t insert(struct bats_running *list, size_t n, size_t max,
                     struct bats_running one)
{
    if (n == max && list[max - 1].since <= one.since)
        return n;
    size_t at = n < max ? n : max - 1;
    for (; at > 0 && list[at - 1].since > one.since; at--)
        list[at] = list[at - 1];
    list[at] = one;
    return n < max ? n + 1 : n;
}

size_t bats_sched_longest(const struct bats_sched *e,
                          struct bats_running *list, size_t max)
{
    const struct state *s = &e->state;
    size_t n = 0;
    for (uint32_t i = 0; max > 0 && i < s->n_slots; i++) {
        const struct slot *slot = &s->slots[i];
        if (slot->n_tasks == 0)
            continue;
        n = insert(list, n, max,
                   (struct bats_running){
                       .task = s->bag.index[slot->head.i],
                       .machine = slot->machine,
                       .since = slot->started,
                       .is_replica = slot->is_replica,
                   });
    }
    return n;
}

void bats_sched_turns(const struct bats_sched *e, size_t cluster,
                      struct bats_turns *turns)
{
    const struct state *s = &e->state;
    *turns = (struct bats_turns){.at = BATS_NEVER};
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        if (m->cluster != cluster || !machine_is_held(m))
            continue;
        turns->busy += m->n_busy;
        turns->slots += m->n_slots;
        if (m->paid_end < turns->at)
            turns->at = m->paid_end;
    }
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        if (m->cluster != cluster || !machine_is_held(m) ||
            m->paid_end - turns->at > s->run.window / 60)
            continue;
        turns->ending++;
        turns->parked += m->state == MACHINE_LEAVING || m->marked;
    }
}

bool bats_sched_strategy(const struct bats_sched *e,
                         struct bats_sched_strategy *strategy)
{
    if (!e->state.tail->strategy)
        return false;
    e->state.tail->strategy(e->state.own.tail, strategy);
    return true;
}

/* ---- names ---- */

const char *bats_reason_name(enum bats_reason reason)
{
    static const char *const names[] = {
        [BATS_REASON_START] = "start",
        [BATS_REASON_SAMPLED] = "sampled",
        [BATS_REASON_VIOLATION] = "violation",
        [BATS_REASON_LOST] = "machines lost",
        [BATS_REASON_STALLED] = "stalled",
        [BATS_REASON_CHOSEN] = "chosen",
        [BATS_REASON_PLANNED] = "planned again",
        [BATS_REASON_LATE] = "late"};
    return names[reason];
}

const char *bats_idle_name(enum bats_idle reason)
{
    static const char *const names[] = {[BATS_IDLE_NOT] = "not",
                                        [BATS_IDLE_NO_TASK] = "no task",
                                        [BATS_IDLE_DRAINING] = "draining",
                                        [BATS_IDLE_ON_HOLD] = "on hold",
                                        [BATS_IDLE_ABSENT] = "machines absent",
                                        [BATS_IDLE_MONEY] = "money",
                                        [BATS_IDLE_TOO_LATE] = "too late",
                                        [BATS_IDLE_FAILS] = "fails",
                                        [BATS_IDLE_PLAN] = "plan",
                                        [BATS_IDLE_SHORT] = "short",
                                        [BATS_IDLE_LEAVING] = "leaving",
                                        [BATS_IDLE_QUARANTINE] = "quarantine",
                                        [BATS_IDLE_TRIAL] = "trial",
                                        [BATS_IDLE_RETIRED] = "retired",
                                        [BATS_IDLE_TAKEN] = "taken",
                                        [BATS_IDLE_FAILED_HERE] =
                                            "failed here",
                                        [BATS_IDLE_ELSEWHERE] = "elsewhere",
                                        [BATS_IDLE_WORKFLOW] = "workflow",
                                        [BATS_IDLE_NO_ROOM] = "no room",
                                        [BATS_IDLE_NO_COPY] = "no copy"};
    return names[reason];
}

const char *bats_trigger_name(enum bats_trigger trigger)
{
    static const char *const names[] = {
        [BATS_TRIGGER_NONE] = NULL,
        [BATS_TRIGGER_RESULTS] = "more results",
        [BATS_TRIGGER_WINDOW] = "a window ends",
        [BATS_TRIGGER_READY] = "more tasks can begin",
        [BATS_TRIGGER_DEADLINE] = "the deadline is nearer"};
    return names[trigger];
}
