/*
 * Random worlds of machines that may be reclaimed, most with tasks that wait
 * for others, and some of these with workflows that have budgets of their own:
 * all policies, and all ways in which a machine is billed by itself.
 * reclaims_fixture.h says what is asserted. 5,000 histories, or as many as the
 * environment says:
 *
 *     BATS_RECLAIMS=200000 build/tests/test_reclaims_property
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/reclaims_fixture.h"

#define HISTORIES 5000
#define JOINTS 3
#define EDGES 80

static const struct bats_policy *const policies[] = {
    &bats_policy_flow,     &bats_policy_miser,    &bats_policy_mw_dbs,
    &bats_policy_dbc_time, &bats_policy_dbc_cost, &bats_policy_bats,
    &bats_policy_bkp,      &bats_policy_rr};
#define POLICIES 8
#define PLACING                                                               \
    3 /* the first ones: only workflows, only where use is charged */

static gsl_rng *rng;

/* The sums of all histories. */
static struct {
    uint64_t done, tasks, notices, losses, all_done, out_of_money;
    uint64_t with_purses, unpaid; /* histories; tasks */
    bats_money shared;
} seen;

static uint32_t pick(uint64_t n)
{
    return (uint32_t)gsl_rng_uniform_int(rng, (unsigned long)n);
}

static bool chance(double p)
{
    return gsl_rng_uniform(rng) < p;
}

/* ---- a world ---- */

static void make_graph(struct world *w)
{
    struct bats_edge edges[EDGES];
    uint32_t order[TASKS + JOINTS], m = 0;
    uint32_t n = w->o.sched.n_tasks + pick(JOINTS + 1);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    gsl_ran_shuffle(rng, order, n, sizeof *order);
    for (uint32_t i = pick(EDGES + 1); n > 1 && i > 0; i--) {
        uint32_t from = pick(n - 1), to = from + 1;
        to += chance(0.5) ? 0 : pick(n - to);
        edges[m++] = (struct bats_edge){order[from], order[to]};
    }
    assert_ok(
        bats_graph_init(&w->graph, w->o.sched.n_tasks, n, edges, m, &err));
    w->o.sched.graph = &w->graph;
}

/* By age: one price or two, or a block. */
static void make_tariff(struct bats_tariff *t)
{
    *t = (struct bats_tariff){.per = BATS_HOUR, .n_steps = 1};
    t->step[0].charge = pick(3 * BATS_UNIT);
    if (chance(0.25)) {
        t->shortest = 1 + pick(BATS_HOUR);
        t->longest = t->shortest + pick(4) * BATS_HOUR + pick(BATS_HOUR);
        t->charge_longest = t->step[0].charge + pick(BATS_UNIT);
    } else if (chance(0.33)) {
        t->n_steps = 2;
        t->step[1].from = 1 + pick(3) * BATS_HOUR + pick(BATS_HOUR);
        t->step[1].charge = pick(3 * BATS_UNIT);
    }
}

static void make_cluster(struct world *w, struct bats_cluster *c)
{
    bool by_age =
        w->o.sched.billing.model == BATS_BILLING_SECOND && chance(0.9);
    *c = (struct bats_cluster){.name = "c", .max = 1 + pick(MACHINES)};
    c->charge = chance(0.1) ? 0 : 1 + pick(100 * BATS_UNIT);
    if (by_age)
        make_tariff(&c->tariff);
    c->reclaimable = c->tariff.longest == 0 && chance(0.6);
    if (!c->reclaimable)
        return;
    c->notice = chance(0.2) ? 0 : pick(600) * BATS_SECOND;
    if (by_age && chance(0.5))
        c->tariff.free = pick(120) * BATS_MINUTE;
    c->lifetime = (struct bats_lifetime){
        .survival = BATS_SURVIVAL_LOGNORMAL,
        .a = (1 + pick(300)) * 60e6,
        .b = 1.39,
        .share = chance(0.5) ? 1 : 0.1 + 0.9 * gsl_rng_uniform(rng),
        .guaranteed = chance(0.3) ? pick(60) * BATS_MINUTE : 0};
}

static void make_machines(struct world *w)
{
    struct bats_sched_options *o = &w->o.sched;
    o->n_clusters = 1 + pick(CLUSTERS);
    o->n_machines =
        (uint32_t)o->n_clusters + pick(MACHINES - o->n_clusters + 1);
    for (uint32_t i = 0; i < o->n_clusters; i++) {
        make_cluster(w, &w->clusters[i]);
        w->speed[i] = 0.5 + 4 * gsl_rng_uniform(rng);
    }
    for (uint32_t i = 0; i < o->n_machines; i++)
        w->machines[i] = (struct bats_machine_spec){
            i < o->n_clusters ? i : pick(o->n_clusters), 1 + pick(3)};
}

static void make_tasks(struct world *w)
{
    struct bats_sched_options *o = &w->o.sched;
    double error = gsl_rng_uniform(rng);
    o->n_tasks = 1 + pick(TASKS);
    o->n_categories = 1 + pick(4);
    for (uint32_t i = 0; i < o->n_tasks; i++) {
        w->category[i] = (uint16_t)pick(o->n_categories);
        w->work[i] =
            chance(0.1) ? pick(3) : (bats_time)(1 + pick(7200)) * BATS_SECOND;
        w->told[i] = (bats_time)((double)w->work[i] *
                                 (1 + error * (gsl_rng_uniform(rng) - 0.5)));
    }
    o->category = w->category;
    if (chance(0.5))
        w->o.told = w->told;
}

/* Budgets of about what the tasks cost, deadlines and beginnings. */
static void make_purses(struct world *w)
{
    struct bats_sched_options *o = &w->o.sched;
    o->n_purses = 1 + pick(PURSES);
    for (uint32_t i = 0; i < o->n_purses; i++)
        w->purses[i] = (struct bats_purse){
            .name = "w",
            .budget = chance(0.2) ? BATS_UNLIMITED
                      : o->billing.model == BATS_BILLING_SECOND
                          ? pick(20 * BATS_UNIT)
                          : pick(1500 * BATS_UNIT),
            .deadline = chance(0.3) ? (1 + pick(1000)) * BATS_MINUTE : 0,
            .begin = chance(0.2) ? pick(300) * BATS_MINUTE : 0};
    for (uint32_t i = 0; i < o->n_tasks; i++)
        w->purse[i] = (uint16_t)pick(o->n_purses);
    o->purses = w->purses;
    o->purse = w->purse;
}

static void make_world(struct world *w, unsigned long seed)
{
    static const enum bats_billing_model models[] = {
        BATS_BILLING_USE, BATS_BILLING_WINDOW, BATS_BILLING_SECOND};
    struct bats_sched_options *o = &w->o.sched;
    memset(w, 0, sizeof *w);
    gsl_rng_set(rng, seed);
    o->billing.model = chance(0.6)   ? BATS_BILLING_SECOND
                       : chance(0.5) ? BATS_BILLING_USE
                                     : models[pick(3)];
    bool is_use = o->billing.model == BATS_BILLING_USE;
    uint32_t policy =
        is_use ? pick(POLICIES) : PLACING + pick(POLICIES - PLACING);
    o->policy = policies[policy];
    o->window = BATS_MINUTE + pick(7200) * BATS_SECOND;
    o->budget = chance(0.2) ? BATS_UNLIMITED
                : o->billing.model == BATS_BILLING_SECOND
                    ? pick(30 * BATS_UNIT)
                    : pick(3000 * BATS_UNIT);
    o->seed = seed;
    if (chance(0.2)) {
        o->goal.deadline = (1 + pick(1000)) * BATS_MINUTE;
        o->goal.minimize =
            chance(0.5) ? BATS_MINIMIZE_COST : BATS_MINIMIZE_TIME;
    }
    if (chance(0.5))
        o->preempt_lead = pick((uint64_t)o->window / 2);
    w->o.noise_seed = pick(1000000);
    w->o.saves = chance(0.5);
    w->o.migration = 10 * BATS_SECOND;
    make_machines(w);
    make_tasks(w);
    if (policy < PLACING || chance(0.7))
        make_graph(w);
    if (o->graph && chance(0.4))
        make_purses(w);
    o->policy = bats_policy_for(o->policy, o->billing.model, o->graph != NULL);
}

/* ---- what it comes to ---- */

static void run(unsigned long seed)
{
    struct world w;
    make_world(&w, seed);
    play(&w);
    const struct bats_sched_status *st = &w.status;
    if (w.o.sched.budget == BATS_UNLIMITED && w.o.sched.n_purses == 0 &&
        w.o.sched.goal.deadline == 0 && w.o.sched.policy != &bats_policy_bkp &&
        st->finish != BATS_FINISH_NO_MACHINES)
        assert_int_equal(st->done + st->failed + st->skipped,
                         w.o.sched.n_tasks);
    seen.done += st->done;
    seen.tasks += w.o.sched.n_tasks;
    seen.notices += w.notices;
    seen.losses += w.losses;
    seen.all_done += st->finish == BATS_FINISH_ALL_DONE;
    seen.out_of_money += st->finish == BATS_FINISH_BUDGET;
    seen.with_purses += w.o.sched.n_purses > 0;
    seen.unpaid += w.unpaid;
    seen.shared += w.all_shared;
    bats_graph_release(&w.graph);
}

TEST(budgets_and_dependencies_hold_whatever_is_reclaimed)
{
    const char *wanted = getenv("BATS_RECLAIMS");
    unsigned long n = wanted ? strtoul(wanted, NULL, 10) : HISTORIES;
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (unsigned long i = 1; i <= n; i++)
        run(i);
    gsl_rng_free(rng);
    print_message(
        "# %lu histories: %llu of %llu tasks done, %llu all, %llu out "
        "of money; %llu notices, %llu machines lost; %llu with workflows, "
        "which left %llu tasks out for want of money\n",
        n, (unsigned long long)seen.done, (unsigned long long)seen.tasks,
        (unsigned long long)seen.all_done,
        (unsigned long long)seen.out_of_money,
        (unsigned long long)seen.notices, (unsigned long long)seen.losses,
        (unsigned long long)seen.with_purses, (unsigned long long)seen.unpaid);
    assert_true(seen.all_done > n / 4 && seen.out_of_money > n / 50);
    assert_true(seen.notices > n / 4 && seen.losses > n / 8);
    assert_true(seen.with_purses > n / 5 && seen.unpaid > n / 10);
    assert_true(seen.shared > 0 && seen.done > 2 * n);
}

TEST_MAIN(NULL, NULL)
