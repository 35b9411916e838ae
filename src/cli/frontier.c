#include "cli/frontier.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bats/strategy.h"
#include "cli/jobs.h"

/* Shared by the threads. */
struct playing {
    struct bats_strategies *s;
    struct bats_plays *plays;
    atomic_size_t next;
    atomic_int failed;
    struct bats_error *err;
};

/* ---- playing ---- */

static int add_static(const struct bats_settings *set,
                      struct bats_strategies *s, struct bats_error *err)
{
    struct bats_error why;
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
        bats_strategy_parse(set->strategy, &s->list[s->n++].strategy, &why) <
            0)
        return bats_refuse(err, "--strategy: %s", why.text);
    return 0;
}

static void *work(void *context)
{
    struct playing *p = context;
    struct bats_strategies *s = p->s;
    struct bats_error err;
    size_t i;
    while ((i = atomic_fetch_add(&p->next, 1)) < s->n)
        if (bats_candidate_play(p->plays, s->n_plays, &s->list[i], &err) < 0 &&
            atomic_exchange(&p->failed, 1) == 0)
            *p->err = err;
    return NULL;
}

static int play_all(struct bats_strategies *s, struct bats_plays *plays,
                    uint32_t jobs, struct bats_error *err)
{
    struct playing p = {.s = s, .plays = plays, .err = err};
    pthread_t threads[64];
    unsigned n = bats_jobs_count(jobs), started = 0;
    while (started + 1 < n && started < 64 &&
           pthread_create(&threads[started], NULL, work, &p) == 0)
        started++;
    work(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return p.failed ? err->code : 0;
}

/* ---- choosing ---- */

static int value_of(const struct bats_settings *set,
                    const struct bats_strategies *s,
                    const struct bats_candidate *c, enum bats_mark mark,
                    double *value, struct bats_error *err)
{
    const struct bats_play *p = &c->mean;
    *value = mark == BATS_MARK_CHEAPEST || mark == BATS_MARK_DEADLINE ? p->cost
             : mark == BATS_MARK_PRODUCT ? p->makespan * p->cost
                                         : p->makespan;
    if (mark == BATS_MARK_BUDGET && p->cost > (double)set->run.budget)
        *value = INFINITY;
    if (mark == BATS_MARK_DEADLINE &&
        p->makespan > (double)set->deadline.duration)
        *value = INFINITY;
    return mark == BATS_MARK_UTILITY
               ? bats_utility_value(set->utility, p->makespan, p->tail,
                                    p->cost, s->model->n_tasks, value, err)
               : 0;
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
static int choose(const struct bats_settings *set, struct bats_strategies *s,
                  struct bats_error *err)
{
    ask(set, s);
    for (enum bats_mark mark = 0; mark < BATS_MARKS; mark++) {
        double least = INFINITY;
        s->best[mark] = s->n;
        for (size_t i = 0; s->asked[mark] && i < s->n_grid; i++) {
            double value;
            struct bats_error why;
            if (value_of(set, s, &s->list[i], mark, &value, &why) < 0)
                return bats_refuse(err, "--utility: %s", why.text);
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
        return bats_refuse(err,
                           "--utility: '%.60s' has no value for any strategy",
                           set->utility);
    return 0;
}

/* Checks the strategy of --strategy, which is the last one. */
static int check_given(const struct bats_settings *set,
                       const struct bats_strategies *s, struct bats_error *err)
{
    if (set->strategy == NULL ||
        s->list[s->n - 1].mean.makespan < (double)BATS_NEVER / 1000)
        return 0;
    return bats_refuse(err, "--strategy: this strategy never finishes the "
                            "bag: silent losses have to be given up");
}

int bats_frontier_find(const struct bats_settings *set,
                       const struct bats_pools *pools, const char *name,
                       uint32_t n_plays, struct bats_strategies *s,
                       struct bats_error *err)
{
    const struct bats_plays_model *m = &pools->model;
    struct bats_plays *plays;
    *s = (struct bats_strategies){
        .name = name,
        .currency = pools->currency,
        .model = m,
        .n_plays = n_plays,
        .list = calloc(BATS_CANDIDATES_MAX, sizeof *s->list)};
    if (!s->list)
        return bats_no_memory(err);
    int rc = bats_plays_create(
        m, n_plays, set->seed_given ? set->run.engine.seed : 1, &plays, err);
    if (rc < 0)
        return rc;
    s->n_grid = s->n = bats_candidates_grid(m->n_unreliable, m->n_reliable,
                                            m->noticed > 0, s->list);
    rc = add_static(set, s, err);
    if (rc == 0)
        rc = play_all(s, plays, set->jobs, err);
    bats_plays_destroy(plays);
    if (rc < 0)
        return rc;
    rc = check_given(set, s, err);
    if (rc < 0)
        return rc;
    bats_candidates_mark(s->list, s->n_grid);
    return choose(set, s, err);
}
