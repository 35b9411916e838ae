/* frontier: the verb frontier. Shows the strategies of policy expert that no
 * other one beats in makespan and cost; runs nothing. */
#include "cli/frontier.h"

#include <gsl/gsl_rng.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bats/strategy.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "report/page.h"
#include "sim/scenario.h"

#define DRAWS 20000 /* executions drawn from a scenario */
#define PLAYS 100

/* ---- the pools of a scenario ---- */

/* Executions of a pool; room for DRAWS each. */
struct drawn {
    bats_time *times, *lost; /* runtimes of all executions, < 0 if one does not
                              * answer; times until a loss */
    size_t n_times, n_lost, n_answers;
};

/* Draws executions of the scenario's tasks on the machines of the pool, in
 * turn. */
static void draw_times(const struct bats_scenario *s, int pool,
                       struct drawn *d)
{
    const struct bats_platform *p = &s->platform;
    gsl_rng *rng = bats_have(gsl_rng_alloc(gsl_rng_mt19937));
    uint32_t number[BATS_CLUSTERS_MAX] = {0}, machine = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint32_t c;
        do {
            c = p->machines[machine].cluster;
            number[c] = machine == 0 ? 0 : number[c] + 1;
            machine = (machine + 1) % p->n_machines;
        } while (p->clusters[c].unreliable != (pool == 0));
        double work = s->as_measured
                          ? (double)s->measured[i % s->n_tasks]
                          : (double)bats_draw_next(&s->runtime, rng);
        work *= bats_draw_noise(1, i, 0, s->noise[c]);
        bats_time time = (bats_time)llround(fmax(work / p->speed[c], 1));
        bats_time lost =
            bats_reliability_lost(&p->reliability[c], 1, number[c], i, 0, 0);
        lost = lost > 0 ? lost : 1;
        d->times[d->n_times++] = lost > time ? time : -time;
        if (lost < BATS_NEVER)
            d->lost[d->n_lost++] = lost < BATS_LONGEST ? lost : BATS_LONGEST;
        d->n_answers += lost > time;
    }
    gsl_rng_free(rng);
}

/* Keeps the times of all executions, or only of those that answer. */
static void sort_out(struct drawn *d, bool all)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_times; i++)
        if (all || d->times[i] > 0)
            d->times[n++] = d->times[i] > 0 ? d->times[i] : -d->times[i];
    d->n_times = n;
}

static void draw_pool(const struct bats_scenario *s, int pool,
                      struct bats_pools *pools)
{
    const struct bats_platform *p = &s->platform;
    struct bats_plays_model *m = &pools->model;
    double charge = 0;
    uint32_t slots = 0;
    for (uint32_t i = 0; i < p->n_machines; i++) {
        const struct bats_cluster *c = &p->clusters[p->machines[i].cluster];
        if (c->unreliable != (pool == 0))
            continue;
        slots += p->machines[i].slots;
        charge += (double)c->charge;
        if (pool == 0)
            m->lost_is_free = c->lost_is_free;
    }
    *(pool ? &m->n_reliable : &m->n_unreliable) = slots;
    if (slots == 0)
        return;
    struct drawn d = {.times = bats_have(malloc(DRAWS * sizeof *d.times)),
                      .lost = bats_have(malloc(DRAWS * sizeof *d.lost))};
    draw_times(s, pool, &d);
    if (d.n_answers == 0)
        bats_die(BATS_EINPUT, "no execution answers in a pool");
    bats_time noticed =
        pool == 0 ? bats_strategy_noticed(p->clusters, p->n_clusters) : 0;
    sort_out(&d, noticed > 0);
    if (pool == 0)
        m->gamma = (double)d.n_answers / DRAWS;
    bats_pools_set(pools, pool, d.times, d.n_times);
    if (noticed > 0)
        bats_pools_set_lost(pools, noticed, (double)d.n_lost / DRAWS, d.lost,
                            d.n_lost);
    else
        free(d.lost);
    bats_pools_set_charge(
        pools, pool,
        (bats_money)llround(charge / slots * (double)BATS_HOUR /
                            (double)p->window));
}

static void read_scenario(const char *path, struct bats_pools *pools)
{
    struct bats_scenario *s = NULL;
    bats_must(bats_scenario_load(path, &s, &bats_why));
    pools->model.n_tasks = s->n_tasks;
    strcpy(pools->currency, s->platform.currency);
    for (int i = 0; i < 2; i++)
        draw_pool(s, i, pools);
    bats_scenario_destroy(s);
}

/* A record begins as SQLite files do, a file of pools with '{', anything else
 * is a scenario. */
static void read_pools(const char *word, bool is_online,
                       struct bats_pools *pools)
{
    char head[16] = "", path[PATH_MAX];
    bats_look_find(word, path, sizeof path);
    FILE *in = fopen(path, "re");
    if (!in)
        bats_die(BATS_EINPUT, "cannot read %s", path);
    size_t n = fread(head, 1, sizeof head - 1, in);
    fclose(in);
    if (n > 0 && head[strspn(head, " \t\r\n")] == '{')
        bats_must(bats_pools_load(path, pools, &bats_why));
    else if (memcmp(head, "SQLite format 3", 15) == 0)
        bats_must(bats_pools_of_record(path, is_online, pools, &bats_why));
    else
        read_scenario(path, pools);
    if (pools->model.n_unreliable == 0)
        bats_die(BATS_EINPUT, "%s: there is no cluster with reliable = no",
                 path);
}

/* ---- playing ---- */

struct playing {
    struct bats_strategies *s;
    struct bats_plays *plays;
    atomic_size_t next;
    atomic_int failed;
};

static void add_static(const struct bats_settings *set,
                       struct bats_strategies *s)
{
    static const char *const names[] = {"AR",  "TRR",   "TR",
                                        "AUR", "CNinf", "CN1T0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bats_strategy strategy;
        bats_strategy_parse(names[i], &strategy, NULL);
        if (s->model->n_reliable > 0 ||
            !bats_strategy_needs_reliable(&strategy))
            s->list[s->n++].strategy = strategy;
    }
    if (set->strategy != NULL &&
        bats_strategy_parse(set->strategy, &s->list[s->n++].strategy,
                            &bats_why) < 0)
        bats_die(BATS_EINPUT, "--strategy: %s", bats_why.text);
}

/* Keeps the first error in bats_why. */
static void *work(void *context)
{
    struct playing *p = context;
    struct bats_strategies *s = p->s;
    struct bats_error err;
    size_t i;
    while ((i = atomic_fetch_add(&p->next, 1)) < s->n)
        if (bats_candidate_play(p->plays, s->n_plays, &s->list[i], &err) < 0 &&
            atomic_exchange(&p->failed, 1) == 0)
            bats_why = err;
    return NULL;
}

static void play_all(struct bats_strategies *s, struct bats_plays *plays,
                     uint32_t jobs)
{
    struct playing p = {.s = s, .plays = plays};
    pthread_t threads[64];
    unsigned n = bats_jobs_count(jobs), started = 0;
    while (started + 1 < n && started < 64 &&
           pthread_create(&threads[started], NULL, work, &p) == 0)
        started++;
    work(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bats_must(p.failed ? bats_why.code : 0);
}

/* ---- choosing ---- */

static double value_of(const struct bats_settings *set,
                       const struct bats_strategies *s,
                       const struct bats_candidate *c, enum bats_mark mark)
{
    const struct bats_play *p = &c->mean;
    double value = p->makespan;
    switch (mark) {
    case BATS_MARK_CHEAPEST:
        return p->cost;
    case BATS_MARK_PRODUCT:
        return p->makespan * p->cost;
    case BATS_MARK_BUDGET:
        return p->cost > (double)set->run.budget ? INFINITY : p->makespan;
    case BATS_MARK_DEADLINE:
        return p->makespan > (double)set->deadline.duration ? INFINITY
                                                            : p->cost;
    case BATS_MARK_UTILITY:
        if (bats_utility_value(set->utility, p->makespan, p->tail, p->cost,
                               s->model->n_tasks, &value, &bats_why) < 0)
            bats_die(BATS_EINPUT, "--utility: %s", bats_why.text);
        return value;
    default:
        return p->makespan;
    }
}

static void ask(const struct bats_settings *set, struct bats_strategies *s)
{
    for (enum bats_mark mark = 0; mark < BATS_MARKS; mark++)
        s->asked[mark] = true;
    s->asked[BATS_MARK_BUDGET] = set->run.budget != BATS_UNLIMITED;
    s->asked[BATS_MARK_DEADLINE] = set->deadline.text != NULL;
    s->asked[BATS_MARK_UTILITY] = set->utility != NULL;
}

static double product(const struct bats_candidate *c)
{
    return c->mean.makespan * c->mean.cost;
}

/* Marks the best strategies; ties go to the least product of makespan and
 * cost. */
static void choose(const struct bats_settings *set, struct bats_strategies *s)
{
    ask(set, s);
    for (enum bats_mark mark = 0; mark < BATS_MARKS; mark++) {
        double least = INFINITY;
        s->best[mark] = s->n;
        for (size_t i = 0; s->asked[mark] && i < s->n_grid; i++) {
            double value = value_of(set, s, &s->list[i], mark);
            bool is_better =
                value < least ||
                (value == least && s->best[mark] < s->n &&
                 product(&s->list[i]) < product(&s->list[s->best[mark]]));
            if (is_better &&
                (s->list[i].is_efficient || mark == BATS_MARK_UTILITY)) {
                least = value;
                s->best[mark] = i;
            }
        }
    }
    if (s->asked[BATS_MARK_UTILITY] && s->best[BATS_MARK_UTILITY] == s->n)
        bats_die(BATS_EINPUT,
                 "--utility: '%.60s' has no value for any strategy",
                 set->utility);
}

void bats_frontier_find(const struct bats_settings *set,
                        const struct bats_pools *pools, const char *name,
                        uint32_t n_plays, struct bats_strategies *s)
{
    const struct bats_plays_model *m = &pools->model;
    struct bats_plays *plays;
    *s = (struct bats_strategies){
        .name = name,
        .currency = pools->currency,
        .model = m,
        .n_plays = n_plays,
        .list = bats_have(calloc(BATS_CANDIDATES_MAX, sizeof *s->list))};
    bats_must(bats_plays_create(
        m, n_plays,
        bats_settings_given(set, "seed") ? set->run.engine.seed : 1, &plays,
        &bats_why));
    s->n_grid = s->n = bats_candidates_grid(m->n_unreliable, m->n_reliable,
                                            m->noticed > 0, s->list);
    add_static(set, s);
    play_all(s, plays, set->jobs);
    bats_plays_destroy(plays);
    /* The strategy of --strategy is the last one. */
    if (set->strategy != NULL &&
        s->list[s->n - 1].mean.makespan >= (double)BATS_NEVER / 1000)
        bats_die(BATS_EINPUT, "--strategy: this strategy never finishes the "
                              "bag: silent losses have to be given up");
    bats_candidates_mark(s->list, s->n_grid);
    choose(set, s);
}

/* ---- the verb ---- */

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    const struct bats_strategies *s = context;
    json_t *data = bats_strategies_page(s);
    json_object_set_new(data, "kind", json_string("strategies"));
    json_object_set_new(data, "title",
                        json_sprintf("Frontier of %s", s->name));
    return bats_page_write(out, data, NULL, NULL, err);
}

static void print(const struct bats_settings *set, struct bats_strategies *s)
{
    if (set->csv)
        bats_strategies_print_csv(stdout, s);
    else if (set->json)
        for (size_t i = 0; i < s->n; i++)
            bats_look_json(bats_strategies_json(s, &s->list[i]), 0);
    else if (set->html != NULL)
        bats_look_write(set->html, write_page, s);
    else
        bats_strategies_print(stdout, s);
    bats_must(bats_flush(&bats_why));
}

int cmd_frontier(const struct bats_settings *set)
{
    struct bats_pools pools = {0};
    struct bats_strategies s = {.n = 0};
    if (set->deadline.text != NULL && set->deadline.duration == 0)
        bats_die(BATS_EINPUT,
                 "--deadline: a frontier has no clock: give a duration");
    read_pools(set->words[0], set->online, &pools);
    if (set->save != NULL)
        bats_must(bats_pools_save(&pools, set->save, &bats_why));
    bats_frontier_find(set, &pools, set->words[0],
                       set->plays > 0 ? set->plays : PLAYS, &s);
    print(set, &s);
    if (s.asked[BATS_MARK_BUDGET] && s.best[BATS_MARK_BUDGET] == s.n)
        bats_die(BATS_EBUDGET, "no strategy is within the budget");
    if (s.asked[BATS_MARK_DEADLINE] && s.best[BATS_MARK_DEADLINE] == s.n)
        bats_die(BATS_EDEADLINE, "no strategy is within the deadline");
    bats_pools_release(&pools);
    free(s.list);
    return 0;
}
