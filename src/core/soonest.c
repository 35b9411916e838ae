/*
 * soonest: the copy that lets the whole bag be expected to end soonest. See
 * tail.h and sched_state.h.
 */
#include "core/sched_state.h"

#include <math.h>
#include <string.h>

/* However unlikely it looks, a task may end at any time. */
#define UNLIKELY 1e-6
#define STUCK 2    /* times the longest runtime */
#define FACTORS 40 /* so small, and their product still is a number */

/* ---- how long tasks take ---- */

/* The share of the tasks that take longer, on the canonical cluster. */
static double longer(const struct tail *tail, double time)
{
    double at = time / tail->longest * TAIL_POINTS;
    if (at <= 0)
        return 1;
    if (!(at < TAIL_POINTS))
        return 0;
    size_t i = (size_t)at;
    double part = at - (double)i;
    return (1 - part) * tail->longer[i] + part * tail->longer[i + 1];
}

static void find_longest(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    tail->longest = 1;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (tail_mean(s, i) > 0)
            tail->longest =
                fmax(tail->longest,
                     tail_convert(s, s->clusters[i].histogram.longest, i,
                                  tail->canonical));
}

static void find_distribution(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    double n = 0;
    memset(tail->longer, 0, sizeof tail->longer);
    for (size_t i = 0; i < s->n_clusters; i++) {
        if (tail_mean(s, i) == 0)
            continue;
        n += s->clusters[i].histogram.n;
        for (size_t k = 0; k < TAIL_POINTS; k++) {
            double above, sum;
            double time = tail->longest * (double)k / TAIL_POINTS;
            bats_histogram_above(&s->clusters[i].histogram,
                                 tail_convert(s, time, tail->canonical, i),
                                 &above, &sum);
            tail->longer[k] += above;
        }
    }
    for (size_t k = 0; k < TAIL_POINTS; k++)
        tail->longer[k] /= n;
}

/* ---- when the running tasks will have ended ---- */

/* What the execution has done, on the canonical cluster. */
static double progress(const struct bats_sched *s, uint32_t slot)
{
    return tail_convert(s, tail_elapsed(s, slot), tail_cluster(s, slot),
                        s->tail.canonical);
}

/* An execution that has been running for far longer than any other ever was is
 * taken to be stuck; nothing is expected of it. (Of very short tasks this says
 * nothing: anything may have held one up.) */
static bool is_hopeful(const struct bats_sched *s, uint32_t slot,
                       uint32_t task)
{
    bool stuck = tail_elapsed(s, slot) >= (double)s->interval &&
                 progress(s, slot) >= STUCK * s->tail.longest;
    return !stuck && !copies_cancelled(s, slot, task);
}

/* Sets t->tau. How long until the last of the task's executions that can have
 * ended will have, if it is as long as any. */
static double look_at(struct bats_sched *s, struct tail_task *t)
{
    double end = INFINITY;
    t->tau = 0;
    for (uint32_t slot = s->tasks[t->task].slot; slot != NO_SLOT;
         slot = tail_next(s, t->task, slot)) {
        if (!is_hopeful(s, slot, t->task))
            continue;
        t->tau = fmax(t->tau, progress(s, slot));
        end = fmin(end, tail_convert(s, s->tail.longest, s->tail.canonical,
                                     tail_cluster(s, slot)) -
                            tail_elapsed(s, slot));
    }
    return end < INFINITY ? end : s->tail.longest;
}

/* How likely the task has ended once one of its executions has done `work`,
 * for which the share `longer_than` of the tasks takes longer. */
static double likely(const struct tail_task *t, double work,
                     double longer_than)
{
    if (work <= t->tau)
        return UNLIKELY;
    if (t->longer <= 0) /* it is the longest */
        return UNLIKELY;
    double p = 1 - longer_than / t->longer;
    return p > UNLIKELY ? p : UNLIKELY;
}

/* What the execution in `slot` will have done after each step, if that is
 * more. */
static void work_on(const struct bats_sched *s, uint32_t slot, double *work)
{
    const struct slot *sl = &s->slots[slot];
    size_t cluster = tail_cluster(s, slot);
    struct bats_regression line = tail_line(s, cluster, s->tail.canonical);
    double elapsed = sl->n_tasks > 0 ? tail_elapsed(s, slot) : 0;
    double paid = sl->n_tasks > 0 && !sl->is_copy
                      ? INFINITY
                      : (double)(s->machines[sl->machine].paid_end - s->now);
    for (int k = 0; k < TAIL_STEPS; k++) {
        double time = (k + 1) * s->tail.step;
        double done =
            line.b0 + line.b1 * (elapsed + (time < paid ? time : paid));
        work[k] = done > work[k] ? done : work[k];
    }
}

static void look_ahead(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    double end = 1, sum[TAIL_STEPS] = {0}, most = -INFINITY;
    double product[TAIL_STEPS]; /* of some factors: a logarithm takes long */
    find_distribution(s);
    for (uint32_t i = 0; i < tail->n; i++)
        end = fmax(end, look_at(s, &tail->list[i]));
    tail->step = end / TAIL_STEPS;
    for (int k = 0; k < TAIL_STEPS; k++)
        product[k] = 1;
    for (uint32_t i = 0; i < tail->n; i++) {
        struct tail_task *t = &tail->list[i];
        bool full = i % FACTORS == FACTORS - 1 || i == tail->n - 1;
        double work[TAIL_STEPS] = {0};
        for (uint32_t slot = s->tasks[t->task].slot; slot != NO_SLOT;
             slot = tail_next(s, t->task, slot))
            if (is_hopeful(s, slot, t->task))
                work_on(s, slot, work);
        t->longer = longer(tail, t->tau);
        for (int k = 0; k < TAIL_STEPS; k++) {
            t->done[k] = (float)likely(t, work[k], longer(tail, work[k]));
            product[k] *= (double)t->done[k];
            if (!full)
                continue;
            sum[k] += log(product[k]);
            product[k] = 1;
        }
    }
    for (int k = 0; k < TAIL_STEPS; k++)
        most = fmax(most, sum[k]);
    for (int k = 0; k < TAIL_STEPS; k++)
        tail->weight[k] = exp(sum[k] - most);
    tail->has_outlook = true;
}

/* ---- the choice ---- */

/* What a copy that begins in a slot has done after each step, and the share of
 * the tasks that take longer. */
struct copy {
    bool is_known;
    double work[TAIL_STEPS], longer[TAIL_STEPS];
};

static void look_at_copy(const struct bats_sched *s, uint32_t slot,
                         struct copy *copy)
{
    work_on(s, slot, copy->work);
    for (int k = 0; k < TAIL_STEPS; k++)
        copy->longer[k] = longer(&s->tail, copy->work[k]);
    copy->is_known = true;
}

/* By how many steps the end comes sooner; to scale. */
static double gain(const struct bats_sched *s, const struct copy *copy,
                   const struct tail_task *t)
{
    double sum = 0;
    for (int k = 0; k < TAIL_STEPS; k++) {
        double now = (double)t->done[k];
        double then = likely(t, copy->work[k], copy->longer[k]);
        if (then > now)
            sum += s->tail.weight[k] * (then / now - 1);
    }
    return sum;
}

/* A copy here may be of use: it is faster than the original, or that is
 * stuck. */
static bool may_help(const struct bats_sched *s, uint32_t slot, uint32_t task)
{
    uint32_t original = s->tasks[task].slot;
    double here = tail_mean(s, tail_cluster(s, slot));
    return s->tasks[task].avoid != s->slots[slot].machine &&
           (here < tail_mean(s, tail_cluster(s, original)) ||
            !is_hopeful(s, original, task));
}

struct tail_task *soonest_choose(struct bats_sched *s, uint32_t slot)
{
    struct tail_task *chosen = NULL;
    struct copy copy = {.is_known = false};
    double most = UNLIKELY;
    if (!s->tail.has_outlook)
        find_longest(s);
    for (uint32_t i = 0; i < s->tail.n; i++) {
        struct tail_task *t = &s->tail.list[i];
        if (!may_help(s, slot, t->task))
            continue;
        if (!s->tail.has_outlook)
            look_ahead(s);
        if (!copy.is_known)
            look_at_copy(s, slot, &copy);
        double here = gain(s, &copy, t);
        if (here > most) {
            most = here;
            chosen = t;
        }
    }
    return chosen;
}
