#include "engine/tail/papers/decide.h"

#include <math.h>
#include <stdlib.h>

/* Candidates play in rounds: all of them once, then twice as often and half as
 * many each time, until 4 have played PLAYS times. */
#define PLAYS 32
#define KEPT 64 /* after the first round */
/* Only a sample of this many tasks of a longer tail plays, in pools that are
 * smaller by as much. */
#define SAMPLE 50

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

struct racer {
    const struct bats_strategy *strategy; /* in the grid's order */
    double makespan, cost;                /* means so far */
    double value[KEYS];
};

/* Orders by the miss of budget or deadline, then by utility, then by
 * makespan x cost. */
static int by_value(const void *left, const void *right)
{
    const struct racer *a = left, *b = right;
    for (int i = 0; i < KEYS; i++)
        if (a->value[i] != b->value[i])
            return a->value[i] < b->value[i] ? -1 : 1;
    return (a->strategy > b->strategy) - (a->strategy < b->strategy);
}

static void judge(const struct decide_question *q, struct racer *r)
{
    struct bats_error err;
    double makespan = q->elapsed + r->makespan, cost = q->charged + r->cost;
    double over = fmax(r->cost / fmax(q->money, 1), 1) - 1;
    double late = fmax(r->makespan / fmax(q->time, 1), 1) - 1;
    r->value[0] = over + late;
    r->value[2] = makespan * cost;
    if (bats_utility_value(q->utility, makespan, r->makespan, cost, q->n_tasks,
                           &r->value[1], &err) < 0 ||
        isnan(r->value[1]))
        r->value[1] = INFINITY;
}

/* Plays the n racers until they have played `to` times, that is, once or twice
 * as often as before. */
static bool play(const struct bats_plays *plays, uint32_t to,
                 const struct decide_question *q, struct racer *racers,
                 size_t n)
{
    struct bats_play results[PLAYS];
    struct bats_error err;
    uint32_t from = to / 2;
    for (size_t i = 0; i < n; i++) {
        struct racer *r = &racers[i];
        if (bats_plays_run(plays, r->strategy, from, to, results, &err) < 0)
            return false;
        r->makespan *= from;
        r->cost *= from;
        for (uint32_t k = 0; k < to - from; k++) {
            r->makespan += results[k].makespan;
            r->cost += results[k].cost;
        }
        r->makespan /= to;
        r->cost /= to;
        judge(q, r);
    }
    qsort(racers, n, sizeof *racers, by_value);
    return true;
}

bool decide(const struct decide_question *q, struct decide_answer *answer)
{
    struct bats_plays_model model = q->model;
    struct bats_plays_task part[SAMPLE];
    if (model.n_tasks > SAMPLE)
        take_sample(&model, part, (double)model.n_tasks / SAMPLE);
    struct bats_plays *plays = NULL;
    struct bats_error err;
    struct bats_candidate *list = malloc(BATS_CANDIDATES_MAX * sizeof *list);
    struct racer *racers = calloc(BATS_CANDIDATES_MAX, sizeof *racers);
    bool ok = list && racers &&
              bats_plays_create(&model, PLAYS, q->seed, &plays, &err) == 0;
    if (ok) {
        size_t n = bats_candidates_grid(model.n_unreliable, model.n_reliable,
                                        model.noticed > 0, list);
        for (size_t i = 0; i < n; i++)
            racers[i].strategy = &list[i].strategy;
        for (uint32_t k = 1; ok && k <= PLAYS; k *= 2) {
            ok = play(plays, k, q, racers, n);
            n = n < KEPT / k ? n : KEPT / k;
        }
        *answer = (struct decide_answer){*racers[0].strategy,
                                         racers[0].makespan, racers[0].cost};
    }
    bats_plays_destroy(plays);
    free(racers);
    free(list);
    return ok;
}
