/*
 * soonest: the copy that lets the whole bag be expected to end soonest. See
 * tail.h and sched_state.h.
 */
#include "core/sched_state.h"

#include <math.h>
#include <string.h>

/* However unlikely it looks, a task may end at any time. */
#define UNLIKELY 1e-6
#define SURELY (1 - 1e-9) /* for sums that were rounded */
#define STUCK 2           /* times the longest runtime */
#define FACTORS 40        /* so small, and their product still is a number */

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

/* What takes some time on `cluster`, on the canonical one. */
static double convert(const struct bats_sched *s, double time, size_t cluster)
{
    const struct bats_regression *line = &s->tail.to_canonical[cluster];
    return line->b0 + line->b1 * time;
}

static void find_range(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    tail->shortest = INFINITY;
    tail->longest = 1;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_histogram *h = &s->clusters[i].histogram;
        if (tail_mean(s, i) == 0)
            continue;
        bool same = i == tail->canonical;
        tail->to_canonical[i] = same ? (struct bats_regression){.b1 = 1}
                                     : tail_line(s, i, tail->canonical);
        tail->from_canonical[i] = same ? (struct bats_regression){.b1 = 1}
                                       : tail_line(s, tail->canonical, i);
        tail->shortest = fmin(tail->shortest, convert(s, h->shortest, i));
        tail->longest = fmax(tail->longest, convert(s, h->longest, i));
    }
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
        struct bats_regression line = tail->from_canonical[i];
        for (size_t k = 0; k < TAIL_POINTS; k++) {
            double above, sum;
            double time = tail->longest * (double)k / TAIL_POINTS;
            bats_histogram_above(&s->clusters[i].histogram,
                                 line.b0 + line.b1 * time, &above, &sum);
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
    return convert(s, tail_elapsed(s, slot), tail_cluster(s, slot));
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

/* How long the execution still runs if it is as long as any. */
static double rest(const struct bats_sched *s, uint32_t slot)
{
    const struct tail *tail = &s->tail;
    size_t cluster = tail_cluster(s, slot);
    const struct bats_regression *line = &tail->from_canonical[cluster];
    return line->b0 + line->b1 * tail->longest - tail_elapsed(s, slot);
}

/* For how long the execution, or a copy that begins there, goes on. */
static double paid(const struct bats_sched *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 && !sl->is_copy
               ? INFINITY
               : (double)(s->machines[sl->machine].paid_end - s->now);
}

/* Sets t->stuck, t->tau and t->end. How long until the last of the task's
 * executions that can have ended will have, if it is as long as any. */
static double look_at(struct bats_sched *s, struct tail_task *t)
{
    uint32_t original = s->tasks[t->task].slot;
    double end = INFINITY;
    t->stuck = !is_hopeful(s, original, t->task);
    t->tau = 0;
    t->end = INFINITY;
    for (uint32_t slot = original; slot != NO_SLOT;
         slot = tail_next(s, t->task, slot)) {
        if (slot == original ? t->stuck : !is_hopeful(s, slot, t->task))
            continue;
        double here = rest(s, slot);
        t->tau = fmax(t->tau, progress(s, slot));
        end = fmin(end, here);
        if (here <= paid(s, slot))
            t->end = fmin(t->end, here);
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
    double most = paid(s, slot);
    for (int k = 0; k < TAIL_STEPS; k++) {
        double time = (k + 1) * s->tail.step;
        double done =
            line.b0 + line.b1 * (elapsed + (time < most ? time : most));
        work[k] = done > work[k] ? done : work[k];
    }
}

/* How far the outlook goes. */
static void find_end(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    double end = 1;
    find_range(s);
    for (uint32_t i = 0; i < tail->n; i++)
        end = fmax(end, look_at(s, &tail->list[i]));
    tail->step = end / TAIL_STEPS;
    tail->has_end = true;
    tail->has_outlook = false;
}

static void look_ahead(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    double sum[TAIL_STEPS] = {0}, most = -INFINITY;
    double product[TAIL_STEPS]; /* of some factors: a logarithm takes long */
    find_distribution(s);
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
        int sure = TAIL_STEPS; /* from here on, for sure */
        while (t->longer > 0 && sure > 0 && work[sure - 1] >= tail->longest)
            t->done[--sure] = 1;
        for (int k = 0; k < sure; k++) {
            t->done[k] = (float)likely(t, work[k], longer(tail, work[k]));
            product[k] *= (double)t->done[k];
        }
        for (int k = 0; full && k < TAIL_STEPS; k++) {
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

/* Whether a copy that begins here may be ahead of the execution in `slot` at
 * some time from now to `end`. (Both advance in straight lines.) */
static bool may_overtake(const struct bats_sched *s, size_t here,
                         uint32_t slot, double end)
{
    size_t there = tail_cluster(s, slot);
    double elapsed = tail_elapsed(s, slot);
    return convert(s, 0, here) > SURELY * convert(s, elapsed, there) ||
           convert(s, end, here) > SURELY * convert(s, elapsed + end, there);
}

/* A copy here is not out of the question: it is faster than the original, or
 * that is stuck. */
static bool is_eligible(const struct bats_sched *s, uint32_t slot,
                        const struct tail_task *t)
{
    const struct task *task = &s->tasks[t->task];
    return task->avoid != s->slots[slot].machine &&
           (t->stuck || tail_mean(s, tail_cluster(s, slot)) <
                            tail_mean(s, tail_cluster(s, task->slot)));
}

/* And its gain is not 0 for sure: before its window is over, and one of the
 * task's executions as long as any, it has done what some task takes, and has
 * overtaken them all. (Most have not, and the outlook takes long.) */
static bool may_help(const struct bats_sched *s, uint32_t slot,
                     const struct tail_task *t)
{
    const struct tail *tail = &s->tail;
    size_t here = tail_cluster(s, slot);
    double end = fmin(t->end, paid(s, slot));
    double most = fmax(convert(s, 0, here), convert(s, end, here));
    if (t->end == INFINITY)
        return true;
    if (most + tail->longest / TAIL_POINTS < SURELY * tail->shortest)
        return false;
    for (uint32_t at = s->tasks[t->task].slot; at != NO_SLOT;
         at = tail_next(s, t->task, at))
        if (is_hopeful(s, at, t->task) && end <= paid(s, at) &&
            !may_overtake(s, here, at, end))
            return false;
    return true;
}

struct tail_task *soonest_choose(struct bats_sched *s, uint32_t slot)
{
    struct tail_task *chosen = NULL;
    struct copy copy = {.is_known = false};
    double most = UNLIKELY;
    if (!s->tail.has_end)
        find_end(s);
    for (uint32_t i = 0; i < s->tail.n; i++) {
        struct tail_task *t = &s->tail.list[i];
        if (!is_eligible(s, slot, t) || !may_help(s, slot, t))
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
