#include "engine/tail/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/expression.h"

#define PLAYS 10
#define TASKS_PLAYED 4000 /* for large tails fewer plays: nobody waits for them */

const char *decide_expression(const char *text)
{
    return strcmp(text, "cheapest") == 0  ? "cost"
           : strcmp(text, "fastest") == 0 ? "makespan"
           : strcmp(text, "product") == 0 ? "makespan * cost"
                                          : text;
}

int decide_utility(const char *text, double makespan, double tail, double cost,
                   uint32_t n_tasks, double *value, struct bats_error *err)
{
    static const char *const names[] = {"makespan", "tail", "cost",
                                        "task_cost"};
    const double values[] = {makespan / 1e6, tail / 1e6,
                             cost / (double)BATS_UNIT,
                             cost / (double)BATS_UNIT / n_tasks};
    return bats_expression_value(decide_expression(text), names, values, 4,
                                 value, err);
}

static uint32_t plays_for(uint32_t n_tasks)
{
    uint32_t n = TASKS_PLAYED / n_tasks;
    return n < 1 ? 1 : n < PLAYS ? n : PLAYS;
}

/* How far the candidate misses money or time, and then its utility. */
static bool is_better(const double *a, const double *b)
{
    return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

static void judge(const struct decide_question *q,
                  const struct bats_candidate *c, double value[2])
{
    struct bats_error err;
    double over = fmax(c->mean.cost / fmax(q->money, 1), 1) - 1;
    double late = fmax(c->mean.makespan / fmax(q->time, 1), 1) - 1;
    value[0] = over + late;
    if (decide_utility(q->utility, q->elapsed + c->mean.makespan,
                       c->mean.makespan, q->charged + c->mean.cost, q->n_tasks,
                       &value[1], &err) < 0 ||
        isnan(value[1]))
        value[1] = INFINITY;
}

bool decide(const struct decide_question *q, struct bats_strategy *strategy)
{
    uint32_t n_plays = plays_for(q->model.n_tasks);
    double best[2] = {INFINITY, INFINITY}, value[2];
    struct bats_plays *plays = NULL;
    struct bats_error err;
    struct bats_candidate *list = calloc(BATS_CANDIDATES_MAX, sizeof *list);
    size_t n = 0;
    if (list && bats_plays_create(&q->model, n_plays, q->seed, &plays,
                                  &err) == 0)
        n = bats_candidates_grid(q->model.n_unreliable, q->model.n_reliable,
                                 list);
    for (size_t i = 0; i < n; i++) {
        if (bats_candidate_play(plays, n_plays, &list[i], &err) < 0)
            break;
        judge(q, &list[i], value);
        if (i == 0 || is_better(value, best)) {
            best[0] = value[0];
            best[1] = value[1];
            *strategy = list[i].strategy;
        }
    }
    bats_plays_destroy(plays);
    free(list);
    return n > 0;
}
