/* frontier: the verb frontier. Shows the strategies of policy expert that no
 * other one beats in makespan and cost; runs nothing. */
#include "cli/frontier.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bats/strategy.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "report/page.h"
#include "report/strategies.h"

#define PLAYS 100

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

/* Plays the grid and the static strategies, and marks the best ones. */
static void find(const struct bats_settings *set,
                 const struct bats_pools *pools, struct bats_strategies *s)
{
    const struct bats_plays_model *m = &pools->model;
    struct bats_plays *plays;
    *s = (struct bats_strategies){
        .name = set->words[0],
        .currency = pools->currency,
        .model = m,
        .n_plays = set->plays > 0 ? set->plays : PLAYS,
        .list = bats_have(calloc(BATS_CANDIDATES_MAX, sizeof *s->list))};
    bats_must(bats_plays_create(
        m, s->n_plays,
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

int cmd_frontier(struct bats_look *l)
{
    const struct bats_settings *set = l->set;
    struct bats_pools pools = {0};
    struct bats_strategies s = {.n = 0};
    if (set->deadline.text != NULL && set->deadline.duration == 0)
        bats_die(BATS_EINPUT,
                 "--deadline: a frontier has no clock: give a duration");
    bats_must(bats_pools_of_record(l->view, set->online, &pools, &bats_why));
    find(set, &pools, &s);
    print(set, &s);
    if (s.asked[BATS_MARK_BUDGET] && s.best[BATS_MARK_BUDGET] == s.n)
        bats_die(BATS_EBUDGET, "no strategy is within the budget");
    if (s.asked[BATS_MARK_DEADLINE] && s.best[BATS_MARK_DEADLINE] == s.n)
        bats_die(BATS_EDEADLINE, "no strategy is within the deadline");
    bats_pools_release(&pools);
    free(s.list);
    return 0;
}
