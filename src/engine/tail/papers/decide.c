#include "engine/tail/papers/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAYS 10
/* Large tails get fewer plays, as each takes longer, and beyond SAMPLE tasks
 * only a sample of them plays, in pools that are smaller by as much. */
#define TASKS_PLAYED 4000
#define SAMPLE 1000

static uint32_t plays_for(uint32_t n_tasks)
{
    uint32_t n = TASKS_PLAYED / n_tasks;
    return n < 1 ? 1 : n < PLAYS ? n : PLAYS;
}

static uint32_t divided(uint32_t n, double by)
{
    return n == 0 ? 0 : (uint32_t)fmax(1, floor(n / by + 0.5));
}

/* Leaves a part of the tail's tasks in the model: one of `by`. */
static void take_sample(struct bats_plays_model *m,
                        struct bats_plays_task part[SAMPLE], double by)
{
    for (uint32_t i = 0; i < SAMPLE; i++)
        part[i] = m->tail[(uint32_t)((i + 0.5) * by)];
    m->tail = part;
    m->n_tasks = SAMPLE;
    m->n_unreliable = divided(m->n_unreliable, by);
    m->n_reliable = divided(m->n_reliable, by);
    m->price_unreliable *= by;
    m->price_reliable *= by;
}

#define KEYS 3

/* Compares by the miss of budget or deadline, then by utility, then by
 * makespan x cost. */
static bool is_better(const double *a, const double *b)
{
    int i = 0;
    while (i < KEYS - 1 && a[i] == b[i])
        i++;
    return a[i] < b[i];
}

static void judge(const struct decide_question *q,
                  const struct bats_candidate *c, double value[KEYS])
{
    struct bats_error err;
    double over = fmax(c->mean.cost / fmax(q->money, 1), 1) - 1;
    double late = fmax(c->mean.makespan / fmax(q->time, 1), 1) - 1;
    value[0] = over + late;
    value[2] = (q->elapsed + c->mean.makespan) * (q->charged + c->mean.cost);
    if (bats_utility_value(q->utility, q->elapsed + c->mean.makespan,
                           c->mean.makespan, q->charged + c->mean.cost,
                           q->n_tasks, &value[1], &err) < 0 ||
        isnan(value[1]))
        value[1] = INFINITY;
}

/* ---- alternatives for the user ---- */

static int by_makespan(const void *left, const void *right)
{
    const struct bats_candidate *a = *(struct bats_candidate *const *)left;
    const struct bats_candidate *b = *(struct bats_candidate *const *)right;
    return a->mean.makespan < b->mean.makespan   ? -1
           : a->mean.makespan > b->mean.makespan ? 1
           : a < b                               ? -1
                                                 : a > b;
}

static void offer(const struct decide_question *q, struct decide_answer *a,
                  const struct bats_candidate *c, bool is_best)
{
    if (is_best)
        a->best = a->n;
    a->offers[a->n++] =
        (struct bats_sched_offer){.strategy = c->strategy,
                                  .makespan = q->elapsed + c->mean.makespan,
                                  .cost = q->charged + c->mean.cost,
                                  .makespan_margin = c->margin.makespan,
                                  .cost_margin = c->margin.cost,
                                  .is_best = is_best};
}

/* Selects strategies evenly from the sorted list, including the first, the
 * last and the best. */
static void offer_some(const struct decide_question *q,
                       struct bats_candidate *const *sorted, size_t n,
                       const struct bats_candidate *best,
                       struct decide_answer *a)
{
    size_t at = 0, most = n < BATS_STRATEGIES ? n : BATS_STRATEGIES;
    while (at < n && sorted[at] != best)
        at++;
    a->n = 0;
    for (size_t i = 0, next = 0; i < most; i++) {
        size_t k = most > 1 ? i * (n - 1) / (most - 1) : 0;
        next = i + 1 < most ? (i + 1) * (n - 1) / (most - 1) : n;
        bool has_best = k <= at && at < next;
        offer(q, a, has_best ? best : sorted[k], has_best);
    }
}

/* Keeps efficient strategies that miss budget and deadline no more than the
 * best. */
static void keep_some(const struct decide_question *q,
                      struct bats_candidate *list, size_t n, size_t best,
                      double over, struct bats_candidate **sorted,
                      struct decide_answer *a)
{
    double value[KEYS];
    size_t kept = 0;
    bats_candidates_mark(list, n);
    for (size_t i = 0; i < n; i++) {
        judge(q, &list[i], value);
        if (i == best || (list[i].is_efficient && value[0] <= over))
            sorted[kept++] = &list[i];
    }
    qsort(sorted, kept, sizeof *sorted, by_makespan);
    offer_some(q, sorted, kept, &list[best], a);
}

bool decide(const struct decide_question *q, struct decide_answer *answer)
{
    struct bats_plays_model model = q->model;
    struct bats_plays_task part[SAMPLE];
    if (model.n_tasks > SAMPLE)
        take_sample(&model, part, (double)model.n_tasks / SAMPLE);
    uint32_t n_plays = plays_for(model.n_tasks);
    double best[KEYS] = {INFINITY}, value[KEYS];
    struct bats_plays *plays = NULL;
    struct bats_error err;
    struct bats_candidate *list = calloc(BATS_CANDIDATES_MAX, sizeof *list);
    struct bats_candidate **sorted =
        calloc(BATS_CANDIDATES_MAX, sizeof *sorted);
    size_t n = 0, played = 0, taken = 0;
    if (list && sorted &&
        bats_plays_create(&model, n_plays, q->seed, &plays, &err) == 0)
        n = bats_candidates_grid(model.n_unreliable, model.n_reliable,
                                 model.noticed > 0, list);
    for (; played < n; played++) {
        if (bats_candidate_play(plays, n_plays, &list[played], &err) < 0)
            break;
        judge(q, &list[played], value);
        if (played == 0 || is_better(value, best)) {
            memcpy(best, value, sizeof best);
            taken = played;
        }
    }
    if (played > 0)
        keep_some(q, list, played, taken, best[0], sorted, answer);
    bats_plays_destroy(plays);
    free(list);
    free(sorted);
    return played > 0;
}
