/*
 * history_draw: the worlds of test_sched_property.c, drawn at random. The seeds
 * of each kind follow those of the one before.
 */
#ifndef BATS_HISTORY_DRAW_H
#define BATS_HISTORY_DRAW_H

#include "history_billing.h"

#define HISTORIES 9000
#define DBC_HISTORIES 3000    /* and more, half of them charged for use */
#define GRAPH_HISTORIES 3000  /* and more, with dependencies */
#define EXPERT_HISTORIES 2000 /* and more, with instances */
#define PURSE_HISTORIES 2500  /* and more, of several workflows */
#define LEASE_HISTORIES 9000  /* and more, billed in every way */
#define NEED_HISTORIES 4000   /* and more, the same, with needs */

static bats_time any_runtime(const void *context, uint32_t task,
                             uint32_t cluster)
{
    const struct world *w = context;
    return (task * 2654435761u >> 20) / (cluster + 1) * w->scale;
}

/* With runtimes and failures of an earlier session. */
static void go_on(struct world *w)
{
    for (uint32_t i = 0; i < w->o.n_tasks; i++)
        w->failures[i] = (uint8_t)pick(3);
    w->o.earlier.failures = w->failures;
    w->o.earlier.n_seen = pick(SEEN + 1);
    for (uint32_t i = 0; i < w->o.earlier.n_seen; i++)
        w->seen[i] = (struct bats_observation){
            pick(w->o.n_tasks), pick((uint32_t)w->o.n_clusters), pick(3000)};
    w->o.earlier.seen = w->seen;
    w->o.earlier.tops_up = chance(0.5);
}

/* The seeds after those of the other policies. */
static void use_dbc(struct world *w, unsigned long seed)
{
    static const struct bats_policy *const policies[] = {
        &bats_policy_dbc_cost, &bats_policy_dbc_time,
        &bats_policy_dbc_conservative_time, &bats_policy_dbc_cost_time};
    w->o.policy = policies[seed % 4];
    w->o.goal.deadline = chance(0.5) ? 1 + pick(40000) : 0;
    for (uint32_t i = 0; i < w->o.n_clusters; i++)
        w->expected[i] = chance(0.5) ? pick(3000) : 0;
    if (chance(0.7))
        w->o.expected = w->expected;
    if (chance(0.5))
        w->o.billing.model = BATS_BILLING_USE;
    w->o.sampling.on = w->o.sampling.offers = w->sampling = false;
}

/* Edges from a node to a later one, in an order of all that is drawn first. */
static void add_graph(struct world *w)
{
    struct bats_edge edges[EDGES];
    uint32_t order[TASKS + JOINTS];
    uint32_t n = w->o.n_tasks + pick(JOINTS + 1), m = 0;
    uint32_t wanted = chance(0.2) ? n : pick(EDGES + 1);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    gsl_ran_shuffle(rng, order, n, sizeof *order);
    for (uint32_t i = 0; n > 1 && i < wanted; i++) {
        uint32_t from = pick(n - 1), to = from + 1;
        to += chance(0.5) ? 0 : pick(n - to);
        edges[m++] = (struct bats_edge){order[from], order[to]};
    }
    assert_ok(bats_graph_init(&w->graph, w->o.n_tasks, n, edges, m, &err));
    w->graph.any = calloc(n, 1);
    for (uint32_t i = 0; i < n; i++)
        w->graph.any[i] = chance(0.2);
    w->o.graph = &w->graph;
    if (chance(0.5)) {
        w->o.n_categories = 1 + pick(4);
        for (uint32_t i = 0; i < w->o.n_tasks; i++)
            w->category[i] = (uint16_t)pick(w->o.n_categories);
        w->o.category = w->category;
    }
}

/* Workflows that share the run, some of which have little money. */
static void add_purses(struct world *w)
{
    w->o.n_purses = 1 + pick(PURSES);
    for (uint32_t i = 0; i < w->o.n_purses; i++)
        w->purses[i] = (struct bats_purse){
            .name = "one",
            .budget = chance(0.2) ? BATS_UNLIMITED : pick(40000000)};
    for (uint32_t i = 0; i < w->o.n_tasks; i++)
        w->purse[i] = (uint16_t)pick(w->o.n_purses);
    if (w->o.earlier.charged > 0) /* by earlier sessions */
        w->purses[0].charged = w->o.earlier.charged < w->purses[0].budget
                                   ? w->o.earlier.charged
                                   : w->purses[0].budget;
    w->o.purse = w->purse;
    w->o.purses = w->purses;
    w->o.sampling.on = w->sampling = false;
}

/* Machines that may not answer, and any strategy for them. */
static void use_expert(struct world *w)
{
    static const char *const names[] = {"AR",
                                        "TRR",
                                        "TR",
                                        "AUR",
                                        "CNinf",
                                        "CN1T0",
                                        "N=2,T=0x,D=2x,Mr=0.3",
                                        "N=1,T=300us,D=2x",
                                        "N=3,T=0.5x,D=1x",
                                        "N=inf,T=1x,D=2x"};
    assert_ok(bats_strategy_parse(names[pick(10)], &w->o.strategy, NULL));
    if (chance(0.02)) /* 420 strategies are played */
        w->o.utility = "product";
    w->o.policy = &bats_policy_expert;
    if (chance(0.7))
        w->o.billing.model = BATS_BILLING_USE;
    w->o.sampling.on = w->o.sampling.offers = w->sampling = false;
    w->o.rules.timeout = 0;
    w->o.rules.timeout_median = 0;
    if (w->o.n_clusters == 1)
        w->o.n_clusters = 2;
    for (uint32_t i = 0; i < w->o.n_clusters; i++) {
        w->clusters[i].max = 1 + pick(6);
        w->clusters[i].unreliable = i == 0 || (i > 1 && chance(0.5));
        w->clusters[i].lost_is_free = w->clusters[i].unreliable &&
                                      chance(0.5) &&
                                      w->o.billing.model == BATS_BILLING_USE;
        w->expected[i] = chance(0.5) ? pick(3000) : 0;
    }
    if (chance(0.7))
        w->o.expected = w->expected;
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        w->machines[i].slots = 1;
}

/* Tasks that need several slots, memory and GPUs, of machines that have them. */
static void add_needs(struct world *w)
{
    uint32_t widest = 0;
    bool counts = chance(0.5);
    for (uint32_t i = 0; i < w->o.n_machines; i++) {
        uint32_t slots = w->machines[i].slots;
        widest = slots > w->machines[widest].slots ? i : widest;
        w->stocks[i] = (struct bats_stock){slots, counts ? pick(4) : 0,
                                           chance(0.7) ? 100 : 0, 1};
    }
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        if (w->o.policy == &bats_policy_expert) { /* all fit on all machines */
            w->machines[i].slots = w->machines[widest].slots;
            w->stocks[i] = w->stocks[widest];
        } else if (i != widest && w->stocks[i].cores % 2 == 0) {
            w->stocks[i].cores /= 2; /* two nodes */
            w->stocks[i].nodes = 2;
        }
    const struct bats_stock *most = &w->stocks[widest];
    w->o.n_categories = 1 + pick(CATEGORIES);
    for (uint32_t i = 0; i < w->o.n_categories; i++)
        w->needs[i] =
            (struct bats_need){1 + pick(most->cores), pick(most->gpus + 1),
                               chance(0.5) ? pick(101) : 0, 0};
    for (uint32_t i = 0; i < w->o.n_tasks; i++)
        w->category[i] = (uint16_t)pick(w->o.n_categories);
    for (uint32_t i = 0; i < w->o.n_categories; i++) {
        uint32_t k = pick(w->o.n_categories);
        w->more[i] =
            (uint16_t)(w->needs[k].memory_kib > w->needs[i].memory_kib ? k
                                                                       : i);
    }
    if (chance(0.5))
        w->o.more = w->more;
    w->o.rules.retry_time = chance(0.5) ? 2 : 0;
    w->o.category = w->category;
    w->o.needs = w->needs;
    if (counts || chance(0.5))
        w->o.stocks = w->stocks;
    w->kind = KIND_NEEDS;
}

static void create(struct world *w)
{
    w->o.policy =
        bats_policy_for(w->o.policy, w->o.billing.model, w->o.graph != NULL);
    int rc = bats_sched_create(&w->o, &w->sched, &err);
    if (rc == BATS_EBUDGET) { /* for what is owed already */
        w->o.billing.least = 0;
        w->o.earlier.asked = NULL;
        rc = bats_sched_create(&w->o, &w->sched, &err);
    }
    if (rc < 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; w->o.earlier.asked && i < w->o.n_machines; i++)
        if (w->asked[i] > 0) {
            w->job[i] = JOB_ASKED;
            w->length[i] = w->asked[i];
        }
}

static enum kind kind_of(const struct world *w)
{
    return w->o.n_purses > 0                    ? KIND_WORKFLOWS
           : w->o.graph                         ? KIND_GRAPH
           : w->o.policy == &bats_policy_bats   ? KIND_BATS
           : w->o.policy == &bats_policy_bkp    ? KIND_BKP
           : w->o.policy == &bats_policy_rr     ? KIND_RR
           : w->o.policy == &bats_policy_expert ? KIND_EXPERT
                                                : KIND_DBC;
}

static void make_world(struct world *w, unsigned long seed)
{
    *w = (struct world){.all = w->all,
                        .finds = w->finds,
                        .leases = w->leases,
                        .ends = UINT32_MAX,
                        .scale = 1};
    draw_from(seed);
    uint32_t n_clusters = 1 + pick(4);
    for (uint32_t i = 0; i < n_clusters; i++)
        w->clusters[i] = (struct bats_cluster){
            .charge = chance(0.05) ? 0 : 1 + pick(5000000),
            .max = 1 + pick(6)};
    bool has_needs = seed > HISTORIES + DBC_HISTORIES + GRAPH_HISTORIES +
                                EXPERT_HISTORIES + PURSE_HISTORIES +
                                LEASE_HISTORIES;
    w->o = (struct bats_sched_options){
        .policy = !chance(0.7)    ? &bats_policy_rr
                  : seed % 2 == 0 ? &bats_policy_bats
                                  : &bats_policy_bkp,
        .n_tasks = 1 + pick(TASKS),
        .clusters = w->clusters,
        .n_clusters = n_clusters,
        .machines = w->machines,
        .n_machines = 1 + pick(MACHINES),
        .window = 1 + pick(4000),
        .budget = chance(0.2) ? BATS_UNLIMITED : pick(100000000),
        .seed = seed,
        .tells_leases = w->leases != NULL};
    for (uint32_t i = 0; i < w->o.n_machines; i++)
        w->machines[i] =
            (struct bats_machine_spec){pick(n_clusters), 1 + pick(SLOTS)};
    for (uint32_t i = 0; has_needs && i < w->o.n_machines; i++)
        w->machines[i].slots = 1 + pick(WIDEST);
    w->o.rules.losses = 200; /* no task fails for its machines */
    if (chance(0.3))
        w->o.rules.retries = pick(3);
    if (chance(0.2))
        w->o.rules.retry_delay = pick(3000);
    if (chance(0.3))
        w->o.rules.yields = 1 + pick(2);
    if (chance(0.2))
        w->o.rules.timeout = 1 + pick(3000);
    if (chance(0.2))
        w->o.rules.timeout_median = 0.5 + pick(4);
    if (chance(0.1))
        w->o.rules.halt_failed = 1 + pick(8);
    if (chance(0.1))
        w->o.rules.halt_share = 0.05 * (1 + pick(10));
    w->o.rules.halt_now = chance(0.5);
    if (chance(0.1))
        w->o.rules.time_limit = 1 + pick(40000);
    if (chance(0.2)) {
        static const uint8_t states[] = {BATS_TASK_PENDING, BATS_TASK_LEFT_OUT,
                                         BATS_TASK_DONE, BATS_TASK_FAILED};
        for (uint32_t i = 0; i < w->o.n_tasks; i++) {
            w->earlier[i] = states[pick(4)];
            w->results[i] = w->earlier[i] == BATS_TASK_DONE ||
                            w->earlier[i] == BATS_TASK_FAILED;
            w->left_out += w->earlier[i] == BATS_TASK_LEFT_OUT;
        }
        w->o.earlier.state = w->earlier;
        w->o.earlier.charged =
            (bats_money)(uniform() * (double)(w->o.budget == BATS_UNLIMITED
                                                  ? 1000
                                                  : w->o.budget));
        w->booked = w->low = w->high = w->o.earlier.charged;
    }
    w->o.tail = (enum bats_tail)pick(BATS_TAIL_SOONEST + 1);
    w->o.true_runtime = any_runtime;
    w->o.true_context = w;
    if (chance(0.2)) {
        for (uint32_t i = 0; i < w->o.n_tasks; i++)
            w->once[i] = chance(0.3);
        w->o.once = w->once;
    }
    if (w->o.policy != &bats_policy_rr && chance(0.3)) {
        w->o.sampling.on = w->sampling = true;
        w->o.sampling.workers = pick(8);
        w->o.sampling.offers =
            w->o.policy == &bats_policy_bats && w->o.sampling.workers % 2 == 0;
    }
    if (chance(0.3))
        w->o.monitor_interval = 1 + pick(1000);
    w->punctual = chance(0.5);
    if (chance(0.2))
        go_on(w);
    if (chance(0.5))
        w->o.preempt_lead = pick((uint32_t)w->o.window);
    if (chance(0.3))
        w->o.prefetch = pick(5000);
    const unsigned long simple = HISTORIES + DBC_HISTORIES;
    const unsigned long one = simple + GRAPH_HISTORIES + EXPERT_HISTORIES;
    bool any = seed > one + PURSE_HISTORIES;
    bool has_purses = has_needs ? false : any ? chance(0.3) : seed > one;
    bool is_expert = any ? !has_purses && chance(0.1)
                         : seed > simple + GRAPH_HISTORIES && !has_purses;
    bool has_graph =
        any ? has_purses || chance(0.2) : seed > simple && !is_expert;
    if (is_expert)
        use_expert(w);
    else if (has_graph ? seed % 3 == 0
             : any     ? seed % 5 == 0
                       : seed > HISTORIES)
        use_dbc(w, seed);
    if (has_graph || (is_expert && chance(0.3)))
        add_graph(w);
    if (any)
        bill(w, seed);
    if (has_needs)
        add_needs(w);
    if (has_graph && is_billed(w, BATS_BILLING_USE) && chance(0.5))
        w->o.policy = chance(0.3)   ? &bats_policy_miser
                      : chance(0.5) ? &bats_policy_mw_dbs
                                    : &bats_policy_flow;
    if (has_purses && w->kind != KIND_ALLOCATION)
        add_purses(w);
    if (!any)
        w->kind = kind_of(w);
    create(w);
}

#endif
