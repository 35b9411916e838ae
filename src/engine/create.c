/* create: the engine's life cycle. See bats/sched.h and engine.h. */
#include "engine/engine.h"

#include <stdlib.h>

/* A machine is not charged by the window. */
static bool is_by_time(const struct bats_sched_options *o)
{
    return o->billing.model == BATS_BILLING_USE ||
           o->billing.model == BATS_BILLING_JOB ||
           o->billing.model == BATS_BILLING_SECOND;
}

static int check_options(const struct bats_sched_options *o,
                         struct bats_error *err)
{
    if (o->n_tasks < 1 || o->n_tasks == BATS_NO_TASK)
        return bats_error_set(err, BATS_EINPUT, "the bag has no tasks");
    if (o->n_clusters < 1 || o->n_clusters > BATS_CLUSTERS_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "%zu clusters: there must be 1 to %d",
                              o->n_clusters, BATS_CLUSTERS_MAX);
    if (o->graph && o->graph->n_tasks != o->n_tasks)
        return bats_error_set(err, BATS_EINPUT,
                              "the graph is of %u tasks, the bag of %u",
                              o->graph->n_tasks, o->n_tasks);
    if (o->n_categories > BATS_CATEGORIES_MAX ||
        (o->category != NULL) != (o->n_categories > 0))
        return bats_error_set(err, BATS_EINPUT, "%u categories of tasks",
                              o->n_categories);
    for (uint32_t i = 0; o->category != NULL && i < o->n_tasks; i++)
        if (o->category[i] >= o->n_categories)
            return bats_error_set(err, BATS_EINPUT,
                                  "task %u is of no category", i);
    if (o->n_purses > BATS_PURSES_MAX ||
        (o->purse != NULL) != (o->n_purses > 0) ||
        (o->n_purses > 0 && !o->graph))
        return bats_error_set(err, BATS_EINPUT, "%u workflows in one run",
                              o->n_purses);
    for (uint32_t i = 0; o->purse != NULL && i < o->n_tasks; i++)
        if (o->purse[i] >= o->n_purses)
            return bats_error_set(err, BATS_EINPUT,
                                  "task %u is of no workflow", i);
    for (uint32_t i = 0; i < o->n_purses; i++)
        if (o->purses[i].budget < 0 || o->purses[i].charged < 0 ||
            o->purses[i].deadline < 0 || o->purses[i].begin < 0 ||
            o->purses[i].begin > TIME_MAX)
            return bats_error_set(err, BATS_EINPUT,
                                  "the budget, the deadline or the beginning "
                                  "of a workflow is out of range");
    if (o->n_purses > 0 &&
        (o->billing.model == BATS_BILLING_ALLOCATION || o->sampling.on))
        return bats_error_set(err, BATS_EINPUT,
                              "workflows with budgets of their own need "
                              "machines that are charged one by one (billing "
                              "= window, use or second) and no choice of "
                              "a schedule");
    if (o->n_machines < 1)
        return bats_error_set(err, BATS_EINPUT, "there are no machines");
    if (o->window < 1 || o->window > TIME_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "the window must be longer than 0");
    if (o->budget < 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the budget must not be negative");
    if (o->tail == BATS_TAIL_PERFECT && !o->true_runtime)
        return bats_error_set(err, BATS_EINPUT,
                              "the perfect tail needs true runtimes");
    const struct bats_goal *goal = &o->goal;
    if (goal->deadline < 0 ||
        (goal->minimize == BATS_MINIMIZE_COST && goal->deadline == 0) ||
        goal->minimize > BATS_MINIMIZE_COST || goal->confidence >= 1 ||
        (goal->confidence < 0.5 && goal->confidence != 0))
        return bats_error_set(err, BATS_EINPUT,
                              "the goal is out of range; the least cost needs "
                              "a deadline");
    bool is_allocation = o->billing.model == BATS_BILLING_ALLOCATION ||
                         o->billing.model == BATS_BILLING_JOB;
    if (is_allocation &&
        (o->billing.rate < 0 || o->billing.leaving < 0 ||
         o->billing.least < 0 || o->billing.least > TIME_MAX ||
         o->billing.leaving > TIME_MAX || o->billing.overrun < 0 ||
         o->billing.overrun > TIME_MAX || o->billing.step < 0 ||
         o->billing.step > TIME_MAX ||
         (o->billing.longest != 0 && o->billing.longest < o->window) ||
         o->billing.before < -o->earlier.charged))
        return bats_error_set(err, BATS_EINPUT,
                              "how the allocation is billed is out of range");
    bats_money least = bats_billing_cost(o->billing.rate, o->billing.least);
    if (is_allocation && o->billing.least > 0 &&
        least > o->budget - o->earlier.charged - o->billing.before) {
        char bill[BATS_UNITS_TEXT], budget[BATS_UNITS_TEXT];
        return bats_error_set(err, BATS_EBUDGET,
                              "the site bills at least %s for this job, more "
                              "than is left of the budget of %s",
                              bats_money_format(bill, least),
                              bats_money_format(budget, o->budget));
    }
    if (is_by_time(o) && o->sampling.on)
        return bats_error_set(err, BATS_EINPUT,
                              "a sampling phase offers whole windows; the "
                              "time is charged here");
    /* More may have been billed for it by now. */
    if (o->earlier.charged < 0 ||
        (!is_allocation && o->earlier.charged > o->budget))
        return bats_error_set(err, BATS_EINPUT,
                              "more has been charged already than the budget "
                              "allows");
    if (o->rules.retry_delay < 0 || o->rules.timeout < 0 ||
        o->rules.time_limit < 0 || o->rules.retries > UINT8_MAX ||
        o->rules.losses >= UINT8_MAX || o->rules.yields > 31 ||
        o->rules.retry_delay > TIME_MAX || o->rules.timeout > TIME_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "a rule for failed tasks is out of range");
    if (o->monitor_interval < 0 || o->prefetch < 0 || o->preempt_lead < 0 ||
        o->preempt_lead >= o->window)
        return bats_error_set(err, BATS_EINPUT,
                              "the monitoring interval, the prefetch time and "
                              "the preemption lead must not be negative, and "
                              "the lead must be shorter than the window");
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i].charge < 0 || (o->expected && o->expected[i] < 0))
            return bats_error_set(err, BATS_EINPUT,
                                  "cluster %s has a negative charge or "
                                  "runtime",
                                  o->clusters[i].name);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        slots += o->machines[i].slots;
        if (o->machines[i].cluster >= o->n_clusters ||
            o->machines[i].slots < 1 || slots >= NO_SLOT)
            return bats_error_set(err, BATS_EINPUT,
                                  "machine %u has no cluster or no slots", i);
    }
    return 0;
}

static int check_expert(const struct bats_sched_options *o,
                        struct bats_error *err)
{
    if (o->rules.timeout > 0 || o->rules.timeout_median > 0)
        return bats_error_set(
            err, BATS_EINPUT,
            "the policy expert gives up executions after D "
            "of its strategy: no other timeout goes with it");
    if (o->n_purses > 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the policy expert does not go with workflows "
                              "that have budgets of their own");
    return bats_strategy_check(&o->strategy, o->clusters, o->n_clusters, err);
}

static int check_places(const struct bats_sched_options *o,
                        struct bats_error *err)
{
    if (o->billing.model == BATS_BILLING_USE && o->graph)
        return 0;
    return bats_error_set(err, BATS_EINPUT,
                          "the policy %s is for tasks that wait for others, "
                          "and needs billing = use: what it compares is the "
                          "cost of single tasks",
                          bats_policy_name(o->policy));
}

static bool earlier_fits(const struct bats_sched_options *o)
{
    const struct bats_sched_earlier *e = &o->earlier;
    for (size_t i = 0; i < e->n_seen; i++)
        if (e->seen[i].cluster >= o->n_clusters || e->seen[i].runtime < 0)
            return false;
    uint32_t n[BATS_CLUSTERS_MAX] = {0};
    for (uint32_t i = 0; e->asked && i < o->n_machines; i++) {
        size_t cluster = o->machines[i].cluster;
        if (e->asked[i] < 0 || e->asked[i] > TIME_MAX ||
            (e->asked[i] > 0 && (o->billing.model != BATS_BILLING_JOB ||
                                 ++n[cluster] > o->clusters[cluster].max)))
            return false;
    }
    return true;
}

/* ---- the advisors ---- */

#define ADVISORS 5

struct seat {
    const struct advisor *advisor;
    void **own;
};

static void list_seats(struct bats_sched *e, struct seat *seats)
{
    const struct seat all[ADVISORS] = {
        {&e->policy->advisor, &e->own.policy},
        {&e->sampling->advisor, &e->own.sampling},
        {&e->tail->advisor, &e->own.tail},
        {&e->failure->advisor, &e->own.failure},
        {&e->order->advisor, &e->own.order}};
    for (int i = 0; i < ADVISORS; i++)
        seats[i] = all[i];
}

static int create_advisors(struct bats_sched *e,
                           const struct bats_sched_options *o,
                           struct bats_error *err)
{
    struct seat seats[ADVISORS];
    list_seats(e, seats);
    for (int i = 0; i < ADVISORS; i++) {
        const struct advisor *a = seats[i].advisor;
        void *own = a->memory > 0 ? calloc(1, a->memory) : NULL;
        if (a->memory > 0 && !own)
            return bats_error_set(err, BATS_ENOMEM, "no memory for advice");
        *seats[i].own = own;
        int rc = a->init ? a->init(own, &e->state, o, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void destroy_advisors(struct bats_sched *e)
{
    struct seat seats[ADVISORS];
    list_seats(e, seats);
    for (int i = 0; i < ADVISORS; i++) {
        if (*seats[i].own && seats[i].advisor->release)
            seats[i].advisor->release(*seats[i].own);
        free(*seats[i].own);
    }
}

/* ---- the engine ---- */

/* In an allocation all machines are held; and no policy plans windows where
 * there are none: dbc-time has the same aim, and flow where tasks wait for
 * others. */
static const struct bats_policy *
choose_policy(const struct bats_sched_options *o)
{
    if (o->billing.model == BATS_BILLING_ALLOCATION)
        return &bats_policy_rr;
    return o->billing.model == BATS_BILLING_USE && o->policy->plans_windows
               ? (o->graph ? &bats_policy_flow : &bats_policy_dbc_time)
               : o->policy;
}

/* Teaches the tail the runtimes of earlier sessions, too. */
static bool teach_tail(struct bats_sched *e,
                       const struct bats_sched_earlier *earlier)
{
    bool ok = true;
    if (!e->tail->learn || !earlier->tops_up)
        return true;
    for (size_t i = 0; i < earlier->n_seen; i++)
        ok &= e->tail->learn(e->own.tail, &e->state, earlier->seen[i].cluster,
                             earlier->seen[i].runtime);
    return ok;
}

static int take_over(struct state *s, const bats_time *asked,
                     struct bats_error *err)
{
    for (uint32_t i = 0; asked && i < s->n_machines; i++)
        if (asked[i] > 0 && !job_take_over(s, i, asked[i]))
            return bats_error_set(err, BATS_EBUDGET,
                                  "the budget does not pay for the jobs of an "
                                  "earlier session that are still there");
    return 0;
}

static int no_memory(const struct bats_sched_options *o,
                     struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM,
                          "no memory to schedule %u tasks on %u machines",
                          o->n_tasks, o->n_machines);
}

int bats_sched_create(const struct bats_sched_options *o,
                      struct bats_sched **sched, struct bats_error *err)
{
    int rc = check_options(o, err);
    if (rc == 0 && o->policy == &bats_policy_expert)
        rc = check_expert(o, err);
    if (rc == 0 && o->policy->place)
        rc = check_places(o, err);
    if (rc == 0 && !earlier_fits(o))
        rc = bats_error_set(err, BATS_EINPUT,
                            "what is known of an earlier session is out "
                            "of range");
    if (rc < 0)
        return rc;
    struct bats_sched *e = calloc(1, sizeof *e);
    if (!e)
        return no_memory(o, err);
    bool is_use = o->billing.model == BATS_BILLING_USE;
    e->policy = choose_policy(o);
    e->sampling = &sampling_points;
    e->tail = e->policy->sends_instances
                  ? &tail_expert
                  : tail_find(is_use ? BATS_TAIL_NONE : o->tail);
    e->failure = &failure_rules;
    e->order = o->graph ? &order_chain : &order_random;
    rc = state_init(&e->state, o, err);
    if (rc == 0)
        rc = take_over(&e->state, o->earlier.asked, err);
    e->wakeup = e->state.terms.waits ? e->state.next_tick : e->state.latest;
    if (rc == 0)
        rc = create_advisors(e, o, err);
    if (rc == 0 && !teach_tail(e, &o->earlier))
        rc = BATS_ENOMEM;
    if (rc < 0) {
        bats_sched_destroy(e);
        return rc == BATS_ENOMEM ? no_memory(o, err) : rc;
    }
    configure_limits(e);
    e->asks = o->asks;
    e->may_offer =
        o->sampling.offers && e->state.phase == PHASE_NONE && !is_by_time(o);
    *sched = e;
    return 0;
}

int bats_sched_may_begin(const struct bats_sched *e, struct bats_error *err)
{
    const struct state *s = &e->state;
    char left[BATS_UNITS_TEXT], budget[BATS_UNITS_TEXT],
        leaving[BATS_UNITS_TEXT];
    const struct bats_ledger *l = &s->ledger;
    bats_money rest = l->budget > l->base ? l->budget - l->base : 0;
    if (s->latest > 0 || s->late != BATS_FINISH_BUDGET ||
        bats_bag_left(&s->bag) == 0)
        return 0;
    return bats_error_set(
        err, BATS_EBUDGET,
        "%s of the budget of %s is left, too little to begin: giving the "
        "allocation back may alone cost %s",
        bats_money_format(left, rest), bats_money_format(budget, l->budget),
        bats_money_format(leaving, bats_billing_cost(l->billing.rate,
                                                     l->billing.leaving)));
}

void bats_sched_destroy(struct bats_sched *e)
{
    if (!e)
        return;
    destroy_advisors(e);
    state_release(&e->state);
    free(e);
}
