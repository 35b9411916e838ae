#include "engine/tail/papers/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAYS 10
/* Only a sample of this many tasks of a longer tail plays, in pools that are
 * smaller by as much. */
#define SAMPLE 200

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

bool decide(const struct decide_question *q, struct bats_candidate *answer)
{
    struct bats_plays_model model = q->model;
    struct bats_plays_task part[SAMPLE];
    if (model.n_tasks > SAMPLE)
        take_sample(&model, part, (double)model.n_tasks / SAMPLE);
    double best[KEYS] = {INFINITY}, value[KEYS];
    struct bats_plays *plays = NULL;
    struct bats_error err;
    struct bats_candidate *list = calloc(BATS_CANDIDATES_MAX, sizeof *list);
    size_t n = 0, played = 0;
    if (list && bats_plays_create(&model, PLAYS, q->seed, &plays, &err) == 0)
        n = bats_candidates_grid(model.n_unreliable, model.n_reliable,
                                 model.noticed > 0, list);
    for (; played < n; played++) {
        if (bats_candidate_play(plays, PLAYS, &list[played], &err) < 0)
            break;
        judge(q, &list[played], value);
        if (played == 0 || is_better(value, best)) {
            memcpy(best, value, sizeof best);
            *answer = list[played];
        }
    }
    bats_plays_destroy(plays);
    free(list);
    return played > 0;
}
