/* create: the engine's life cycle. See bats/sched.h and engine.h. */
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/money/kinds.h"

static struct bats_lease_terms terms_of(const struct bats_sched_options *o)
{
    return lease_kind_of(o->billing.model)->terms;
}

struct bounds {
    const char *name;
    size_t at, size;
    int64_t least, most;
};

#define BOUNDS(member, least, most)                                           \
    {                                                                         \
        .name = #member, .at = offsetof(struct bats_sched_options, member),   \
        .size = sizeof((struct bats_sched_options *)NULL)->member, least,     \
        most                                                                  \
    }

static const struct bounds bounds[] = {
    BOUNDS(n_tasks, 1, BATS_NO_TASK - 1),
    BOUNDS(n_clusters, 1, BATS_CLUSTERS_MAX),
    BOUNDS(n_machines, 1, UINT32_MAX),
    BOUNDS(n_categories, 0, BATS_CATEGORIES_MAX),
    BOUNDS(n_purses, 0, BATS_PURSES_MAX),
    BOUNDS(window, 1, TIME_MAX),
    BOUNDS(budget, 0, INT64_MAX),
    BOUNDS(goal.deadline, 0, INT64_MAX),
    BOUNDS(billing.rate, 0, INT64_MAX),
    BOUNDS(billing.leaving, 0, TIME_MAX),
    BOUNDS(billing.least, 0, TIME_MAX),
    BOUNDS(billing.overrun, 0, TIME_MAX),
    BOUNDS(billing.step, 0, TIME_MAX),
    BOUNDS(billing.lease, 0, TIME_MAX),
    BOUNDS(billing.starting, 0, TIME_MAX),
    BOUNDS(earlier.charged, 0, INT64_MAX),
    BOUNDS(rules.retry_delay, 0, TIME_MAX),
    BOUNDS(rules.timeout, 0, TIME_MAX),
    BOUNDS(rules.time_limit, 0, INT64_MAX),
    BOUNDS(rules.retries, 0, UINT8_MAX),
    BOUNDS(rules.losses, 0, UINT8_MAX - 1),
    BOUNDS(rules.yields, 0, 31),
    BOUNDS(monitor_interval, 0, INT64_MAX),
    BOUNDS(prefetch, 0, INT64_MAX),
    BOUNDS(preempt_lead, 0, INT64_MAX),
};

static bool is_in(const struct bats_sched_options *o, const struct bounds *b)
{
    const char *at = (const char *)o + b->at;
    int64_t n = b->size == 8 ? *(const int64_t *)at : *(const uint32_t *)at;
    return b->least <= n && n <= b->most;
}

/* Every task's group is below n, or there are no groups. */
static bool are_groups(const struct bats_sched_options *o,
                       const uint16_t *group, uint32_t n)
{
    for (uint32_t i = 0; group && i < o->n_tasks; i++)
        if (group[i] >= n)
            return false;
    return (group != NULL) == (n > 0);
}

static bool purses_fit(const struct bats_sched_options *o)
{
    for (uint32_t i = 0; i < o->n_purses; i++) {
        const struct bats_purse *p = &o->purses[i];
        if (p->budget < 0 || p->charged < 0 || p->deadline < 0 ||
            p->begin < 0 || p->begin > TIME_MAX)
            return false;
    }
    return are_groups(o, o->purse, o->n_purses) &&
           (o->n_purses == 0 || o->graph);
}

static bool clusters_fit(const struct bats_sched_options *o)
{
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i].charge < 0 || (o->expected && o->expected[i] < 0))
            return false;
    return true;
}

static bool machines_fit(const struct bats_sched_options *o)
{
    uint64_t slots = 0;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        slots += o->machines[i].slots;
        if (o->machines[i].cluster >= o->n_clusters ||
            o->machines[i].slots < 1 || slots >= NO_SLOT)
            return false;
    }
    return true;
}

/* there[1]: there are unreliable machines; fits[1]: the need fits on one.
 * there[0], fits[0]: the same of the others. */
static void find_fits(const struct bats_sched_options *o,
                      const struct bats_need *need, bool *fits, bool *there)
{
    for (uint32_t i = 0; i < o->n_machines && need->cores > 0; i++) {
        struct bats_stock stock = needs_stock(o, i);
        uint32_t cluster = o->machines[i].cluster;
        bool pool = cluster < o->n_clusters && o->clusters[cluster].unreliable;
        there[pool] = true;
        fits[pool] |= bats_need_room(&stock, need) > 0;
    }
}

/* Every task fits on some machine; in_pools: on some machine of each pool. */
static bool needs_fit(const struct bats_sched_options *o, bool in_pools)
{
    for (uint32_t i = 0; o->stocks && i < o->n_machines; i++)
        if (o->stocks[i].gpus > BATS_GPUS_MOST ||
            (o->stocks[i].nodes > 1 &&
             o->machines[i].slots != o->stocks[i].nodes * o->stocks[i].cores))
            return false;
    for (uint32_t k = 0; o->needs && k < o->n_categories; k++) {
        const struct bats_need *need = &o->needs[k];
        bool fits[2] = {false}, there[2] = {false};
        find_fits(o, need, fits, there);
        uint16_t more = o->more ? o->more[k] : (uint16_t)k;
        if (!(fits[0] || fits[1]) || need->memory_kib < 0 ||
            more >= o->n_categories ||
            (more != k && o->needs[more].memory_kib <= need->memory_kib) ||
            (in_pools && (fits[0] != there[0] || fits[1] != there[1])))
            return false;
    }
    return !o->needs || o->n_categories > 0;
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
        if (cluster >= o->n_clusters || e->asked[i] < 0 ||
            e->asked[i] > TIME_MAX ||
            (e->asked[i] > 0 &&
             (!terms_of(o).waits || ++n[cluster] > o->clusters[cluster].max)))
            return false;
    }
    return true;
}

static int check_together(const struct bats_sched_options *o,
                          struct bats_error *err)
{
    struct bats_lease_terms terms = terms_of(o);
    bool is_expert = o->policy->sends_instances;
    double confidence = o->goal.confidence;
    const struct {
        bool is_kept;
        const char *text;
    } rules[] = {
        {!o->graph || o->graph->n_tasks == o->n_tasks,
         "the graph and the bag have different numbers of tasks"},
        {o->rules.retry_time == 0 ||
             (o->rules.retry_time > 1 && o->rules.retry_time <= 1000),
         "a timed-out task gets 1 to 1000 times as much time"},
        {!o->open || (o->in_order && !o->graph && !o->sampling.on &&
                      !is_expert && o->order == NULL),
         "an open bag is run in order, and has no graph, no sampling phase "
         "and another policy than expert"},
        {are_groups(o, o->category, o->n_categories),
         "the categories of the tasks are out of range"},
        {needs_fit(o, false), "a task needs more than any machine has"},
        {!o->needs || o->n_purses == 0,
         "tasks with needs of their own exclude workflows with budgets of "
         "their own"},
        {purses_fit(o), "the workflows of the tasks are out of range"},
        {o->n_purses == 0 || !(terms.lasts || o->sampling.on || is_expert),
         "workflows with budgets of their own need machines that are charged "
         "one by one (billing = window, use or second), no choice of a "
         "schedule, and another policy than expert"},
        {o->goal.minimize <= BATS_MINIMIZE_COST &&
             (o->goal.minimize != BATS_MINIMIZE_COST || o->goal.deadline > 0 ||
              o->billing.lease > 0),
         "the least cost needs a deadline, or jobs with leases"},
        {confidence == 0 || (confidence >= 0.5 && confidence < 1),
         "the goal's confidence is out of range"},
        {(o->billing.longest == 0 || o->billing.longest >= o->window) &&
             o->billing.before >= -o->earlier.charged,
         "a billing option is out of range"},
        {!(terms.idle_is_free || terms.returns) || !o->sampling.on,
         "a sampling phase needs machines that are charged by whole windows"},
        {terms.lasts || terms.later || o->earlier.charged <= o->budget,
         "earlier sessions were charged more than the budget"},
        {o->preempt_lead < o->window,
         "the preemption lead is not shorter than the window"},
        {o->billing.lease == 0 || o->preempt_lead < o->billing.lease / 2,
         "the preemption lead is not shorter than half of a lease"},
        {clusters_fit(o), "a cluster has a negative charge or runtime"},
        {machines_fit(o), "a machine has no cluster or no slots"},
        {!is_expert ||
             (!(o->rules.timeout > 0 || o->rules.timeout_median > 0)),
         "the policy expert takes no timeout: D of its strategy is the limit"},
        {!is_expert || needs_fit(o, true),
         "the policy expert replicates tasks: each has to fit on a reliable "
         "and on an unreliable machine"},
        {bats_policy_for(o->policy, o->billing.model, o->graph != NULL) ==
             o->policy,
         "this policy does not support this kind of billing"},
        {!o->policy->place || (terms.idle_is_free && o->graph),
         "this policy needs tasks with dependencies, and billing = use"},
        {earlier_fits(o), "the data of an earlier session are out of range"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!rules[i].is_kept)
            return bats_error_set(err, BATS_EINPUT, "%s", rules[i].text);
    return is_expert ? bats_strategy_check(&o->strategy, o->clusters,
                                           o->n_clusters, err)
                     : 0;
}

static int check_options(const struct bats_sched_options *o,
                         struct bats_error *err)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (!is_in(o, &bounds[i]))
            return bats_error_set(err, BATS_EINPUT, "%s is out of range",
                                  bounds[i].name);
    int rc = check_together(o, err);
    struct bats_lease_terms terms = terms_of(o);
    bats_money least = bats_billing_cost(o->billing.rate, o->billing.least);
    char bill[BATS_UNITS_TEXT], budget[BATS_UNITS_TEXT];
    if (rc < 0 || o->billing.least == 0 || !(terms.lasts || terms.later) ||
        least <= o->budget - o->earlier.charged - o->billing.before)
        return rc;
    return bats_error_set(err, BATS_EBUDGET,
                          "the site bills at least %s for this job, more than "
                          "is left of the budget of %s",
                          bats_money_format(bill, least),
                          bats_money_format(budget, o->budget));
}

/* ---- the advisors ---- */

#define ADVISORS 5

struct seat {
    const struct advisor *advisor;
    void **own;
};

static void list_seats(struct state *s, struct seat *seats)
{
    const struct seat all[ADVISORS] = {{&s->policy->advisor, &s->own.policy},
                                       {&sampling_points, &s->own.sampling},
                                       {&s->tail->advisor, &s->own.tail},
                                       {&failure_rules, &s->own.failure},
                                       {&s->order->advisor, &s->own.order}};
    for (int i = 0; i < ADVISORS; i++)
        seats[i] = all[i];
}

static int create_advisors(struct state *s, const struct bats_sched_options *o,
                           struct bats_error *err)
{
    struct seat seats[ADVISORS];
    list_seats(s, seats);
    for (int i = 0; i < ADVISORS; i++) {
        const struct advisor *a = seats[i].advisor;
        void *own = a->memory > 0 ? calloc(1, a->memory) : NULL;
        if (a->memory > 0 && !own)
            return bats_no_memory(err);
        *seats[i].own = own;
        int rc = a->init ? a->init(own, s, o, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void destroy_advisors(struct state *s)
{
    struct seat seats[ADVISORS];
    list_seats(s, seats);
    for (int i = 0; i < ADVISORS; i++) {
        if (*seats[i].own && seats[i].advisor->release)
            seats[i].advisor->release(*seats[i].own);
        free(*seats[i].own);
    }
}

/* ---- the engine ---- */

/* Also teaches the tail the runtimes of earlier sessions. */
static bool teach_tail(struct state *s,
                       const struct bats_sched_earlier *earlier)
{
    bool ok = true;
    if (!s->tail->learn || !earlier->tops_up)
        return true;
    for (size_t i = 0; i < earlier->n_seen; i++)
        ok &= s->tail->learn(s->own.tail, s, earlier->seen[i].cluster,
                             earlier->seen[i].runtime);
    return ok;
}

static int take_over(struct state *s, const struct bats_sched_earlier *earlier,
                     struct bats_error *err)
{
    const bats_time *asked = earlier->asked, *age = earlier->age;
    for (uint32_t i = 0; asked && i < s->n_machines; i++)
        if (asked[i] > 0 && !job_take_over(s, i, asked[i], age ? age[i] : 0))
            return bats_error_set(err, BATS_EBUDGET,
                                  "the budget does not pay for the jobs of an "
                                  "earlier session that are still there");
    return 0;
}

int bats_sched_create(const struct bats_sched_options *o,
                      struct bats_sched **sched, struct bats_error *err)
{
    int rc = check_options(o, err);
    if (rc < 0)
        return rc;
    struct bats_sched *e = calloc(1, sizeof *e);
    if (!e)
        return bats_no_memory(err);
    const struct lease_kind *lease = lease_kind_of(o->billing.model);
    struct state *s = &e->state;
    s->policy = o->policy;
    s->tail =
        tail_find(o, s->policy->sends_instances, lease->terms.idle_is_free);
    s->order = o->needs ? &order_fit : o->graph ? &order_chain : &order_random;
    rc = state_init(s, o, lease, s->tail->limit != NULL, err);
    /* With workflow budgets or instances, whole jobs are paid. */
    if (rc == 0 && (o->n_purses > 0 || s->policy->sends_instances))
        s->money.ledger.billing.lease = 0;
    if (rc == 0)
        rc = take_over(s, &o->earlier, err);
    s->wakeup = s->money.terms.waits ? s->run.next_tick : s->money.latest;
    if (rc == 0)
        rc = create_advisors(s, o, err);
    if (rc == 0 && !teach_tail(s, &o->earlier))
        rc = BATS_ENOMEM;
    if (rc < 0) {
        bats_sched_destroy(e);
        return rc == BATS_ENOMEM ? bats_no_memory(err) : rc;
    }
    configure_limits(s);
    *sched = e;
    return 0;
}

int bats_sched_may_begin(const struct bats_sched *e, struct bats_error *err)
{
    const struct state *s = &e->state;
    char left[BATS_UNITS_TEXT], budget[BATS_UNITS_TEXT],
        leaving[BATS_UNITS_TEXT];
    const struct bats_ledger *l = &s->money.ledger;
    bats_money rest = l->budget > l->base ? l->budget - l->base : 0;
    if (s->money.latest > 0 || s->money.late != BATS_FINISH_BUDGET ||
        bats_bag_left(&s->bag) == 0)
        return 0;
    return bats_error_set(
        err, BATS_EBUDGET,
        "%s of the budget of %s is left, too little to begin: giving the "
        "allocation back may alone cost %s",
        bats_money_format(left, rest), bats_money_format(budget, l->budget),
        bats_money_format(
            leaving, bats_billing_cost(l->billing.rate, l->billing.leaving)));
}

void bats_sched_destroy(struct bats_sched *e)
{
    if (!e)
        return;
    destroy_advisors(&e->state);
    state_release(&e->state);
    free(e);
}
