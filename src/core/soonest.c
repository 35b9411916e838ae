/*
 * soonest: the copy that lets the whole bag be expected to end soonest. See
 * tail.h and sched_state.h.
 */
#include "core/sched_state.h"

#include <math.h>
#include <string.h>

#define FRESH 0.5         /* steps for which a look suffices */
#define SURELY (1 - 1e-9) /* for sums that were rounded */
#define STUCK 2           /* times the longest runtime */
/* However unlikely it looks, a task may end at any time. */
#define UNLIKELY 1e-6F
#define FACTORS 40 /* so small, and their product still is a number */

/* fmax() and fmin() know what to do without a number, which takes them four
 * times as long. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- how long tasks take ---- */

/* The share of the tasks that take longer than so many parts of `longest`. */
static float longer(const struct tail *tail, float parts)
{
    int i = (int)parts;
    float here = tail->longer[i];
    return here + (parts - (float)i) * (tail->longer[i + 1] - here);
}

/* What takes some time on `cluster`, on the canonical one. */
static double convert(const struct bats_sched *s, double time,
                      uint32_t cluster)
{
    const struct bats_regression *line = &s->tail.to_canonical[cluster];
    return line->b0 + line->b1 * time;
}

static void find_range(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    tail->shortest = INFINITY;
    tail->longest = 1;
    for (uint32_t i = 0; i < s->n_clusters; i++) {
        const struct bats_histogram *h = &s->clusters[i].histogram;
        if (tail_mean(s, i) == 0)
            continue;
        bool same = i == tail->canonical;
        tail->to_canonical[i] = same ? (struct bats_regression){.b1 = 1}
                                     : tail_line(s, i, tail->canonical);
        tail->from_canonical[i] = same ? (struct bats_regression){.b1 = 1}
                                       : tail_line(s, tail->canonical, i);
        tail->shortest = smaller(tail->shortest, convert(s, h->shortest, i));
        tail->longest = larger(tail->longest, convert(s, h->longest, i));
    }
    for (uint32_t i = 0; i < s->n_clusters; i++) {
        const struct bats_regression *line = &tail->from_canonical[i];
        tail->most[i] = line->b0 + line->b1 * tail->longest;
        tail->stuck[i] = larger((double)s->interval,
                                line->b0 + line->b1 * STUCK * tail->longest);
    }
}

static void find_shares(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    double n = 0, count[TAIL_POINTS + 1] = {0};
    for (uint32_t i = 0; i < s->n_clusters; i++) {
        const struct bats_regression *line = &tail->from_canonical[i];
        if (tail_mean(s, i) == 0)
            continue;
        n += s->clusters[i].histogram.n;
        bats_histogram_divide(&s->clusters[i].histogram, line->b0,
                              line->b1 * tail->longest / TAIL_POINTS,
                              TAIL_POINTS, count);
    }
    double left = n;
    for (int k = 0; k < TAIL_POINTS; k++)
        tail->longer[k] = (float)((left -= count[k]) / n);
    tail->has_shares = true;
}

/* ---- when the running tasks will have ended ---- */

/* An execution that has been running for far longer than any other ever was is
 * taken to be stuck; nothing is expected of it. (Of very short tasks this says
 * nothing: anything may have held one up.) */
static inline bool is_hopeful(const struct bats_sched *s, uint32_t slot,
                              uint32_t task)
{
    return tail_elapsed(s, slot) < s->tail.stuck[tail_cluster(s, slot)] &&
           !copies_cancelled(s, slot, task);
}

/* For how long the execution, or a copy that begins there, goes on. */
static double paid(const struct bats_sched *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 && !sl->is_copy
               ? INFINITY
               : (double)(s->machines[sl->machine].paid_end - s->now);
}

/* How long until the last of the task's executions that can have ended will
 * have, if it is as long as any. */
static void look_at(struct bats_sched *s, struct tail_task *t)
{
    const struct task *task = &s->tasks[t->task];
    double elapsed = tail_elapsed(s, task->slot);
    t->stuck = elapsed >= s->tail.stuck[t->cluster];
    t->tau = t->stuck ? 0 : larger(convert(s, elapsed, t->cluster), 0);
    t->end = t->last =
        t->stuck ? INFINITY : s->tail.most[t->cluster] - elapsed;
    for (uint32_t at = task->copies; at != NO_SLOT;
         at = s->slots[at].next_copy) {
        if (!is_hopeful(s, at, t->task))
            continue;
        uint32_t cluster = tail_cluster(s, at);
        elapsed = tail_elapsed(s, at);
        double rest = s->tail.most[cluster] - elapsed;
        t->tau = larger(t->tau, convert(s, elapsed, cluster));
        t->last = smaller(t->last, rest);
        if (rest <= paid(s, at))
            t->end = smaller(t->end, rest);
    }
    if (t->last == INFINITY)
        t->last = s->tail.longest;
}

/* So much work, in parts of `longest`; TAIL_POINTS at most. */
static float parts_of(const struct tail *tail, double work)
{
    double parts = work * (TAIL_POINTS / tail->longest);
    return (float)(parts < TAIL_POINTS ? larger(parts, 0) : TAIL_POINTS);
}

/* What the execution in `slot` will have done after each step, if that is
 * more; in these parts. (The loops here are such that they need no branches:
 * nobody could foresee them.) */
static void work_on(const struct bats_sched *s, uint32_t slot,
                    float work[TAIL_STEPS])
{
    const struct tail *tail = &s->tail;
    const struct slot *sl = &s->slots[slot];
    uint32_t cluster = tail_cluster(s, slot);
    double elapsed = sl->n_tasks > 0 ? tail_elapsed(s, slot) : 0;
    double speed = tail->to_canonical[cluster].b1 * tail->step;
    float done = parts_of(tail, convert(s, elapsed, cluster));
    float more = (float)(speed * (TAIL_POINTS / tail->longest));
    float most = (float)(paid(s, slot) / tail->step);
    float then[TAIL_STEPS];
    for (int k = 0; k < TAIL_STEPS; k++) {
        float steps = (float)(k + 1);
        float here = done + more * (steps < most ? steps : most);
        here = here < TAIL_POINTS ? here : TAIL_POINTS;
        then[k] = here > work[k] ? here : work[k];
    }
    memcpy(work, then, sizeof then);
}

/* How far the outlook goes. */
static void find_step(struct tail *tail)
{
    double end = 1;
    for (uint32_t i = 0; i < tail->n; i++)
        end = larger(end, tail->list[i].last);
    tail->step = end / TAIL_STEPS;
}

void soonest_look(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    find_range(s);
    for (uint32_t i = 0; i < tail->n; i++)
        look_at(s, &tail->list[i]);
    find_step(tail);
    tail->looked_at = s->now;
    tail->has_outlook = tail->has_weights = false;
}

bool soonest_knows(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    uint32_t n = 0;
    if (tail->n == 0 || tail->next_busy > 0 ||
        (double)(s->now - tail->looked_at) > FRESH * tail->step)
        return false;
    for (uint32_t i = 0; i < tail->n; i++) {
        if (!copies_allowed(s, tail->list[i].task))
            continue;
        if (n != i)
            tail->list[n] = tail->list[i];
        n++;
    }
    tail->has_weights = tail->has_weights && n == tail->n;
    tail->n = n;
    return true;
}

/* How likely tasks that take longer than a share of all, `one_in` being the
 * inverse of it, are not of the shares `longer_than`, too. */
static void find_likely(float one_in, const float longer_than[TAIL_STEPS],
                        float likely[TAIL_STEPS])
{
    float p[TAIL_STEPS];
    for (int k = 0; k < TAIL_STEPS; k++) {
        float here = 1 - longer_than[k] * one_in;
        p[k] = here > UNLIKELY ? here : UNLIKELY;
    }
    memcpy(likely, p, sizeof p);
}

/* When the task will have ended. */
static void foresee(const struct bats_sched *s, struct tail_task *t)
{
    const struct tail *tail = &s->tail;
    float work[TAIL_STEPS] = {0}, longer_than[TAIL_STEPS];
    if (!t->stuck)
        work_on(s, s->tasks[t->task].slot, work);
    for (uint32_t at = s->tasks[t->task].copies; at != NO_SLOT;
         at = s->slots[at].next_copy)
        if (is_hopeful(s, at, t->task))
            work_on(s, at, work);
    for (int k = 0; k < TAIL_STEPS; k++)
        longer_than[k] = longer(tail, work[k]);
    /* Of a task that is the longest so far nothing is known any more. */
    float share = longer(tail, parts_of(tail, t->tau));
    t->one_in = share > 0 ? 1 / share : INFINITY;
    find_likely(t->one_in, longer_than, t->done);
}

/* When all of them will have. */
static void weigh(struct tail *tail)
{
    double sum[TAIL_STEPS] = {0}, most = -INFINITY;
    double product[TAIL_STEPS]; /* of some factors: a logarithm takes long */
    for (int k = 0; k < TAIL_STEPS; k++)
        product[k] = 1;
    for (uint32_t i = 0; i < tail->n; i++) {
        bool full = i % FACTORS == FACTORS - 1 || i == tail->n - 1;
        for (int k = 0; k < TAIL_STEPS; k++)
            product[k] *= (double)tail->list[i].done[k];
        for (int k = 0; full && k < TAIL_STEPS; k++) {
            sum[k] += log(product[k]);
            product[k] = 1;
        }
    }
    for (int k = 0; k < TAIL_STEPS; k++)
        most = larger(most, sum[k]);
    for (int k = 0; k < TAIL_STEPS; k++)
        tail->weight[k] = (float)exp(sum[k] - most);
    tail->has_weights = true;
}

static void look_ahead(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    if (!tail->has_shares)
        find_shares(s);
    for (uint32_t i = 0; i < tail->n && !tail->has_outlook; i++)
        foresee(s, &tail->list[i]);
    if (!tail->has_weights)
        weigh(tail);
    tail->has_outlook = true;
}

void soonest_copied(struct bats_sched *s, struct tail_task *t)
{
    struct tail *tail = &s->tail;
    look_at(s, t);
    if (tail->has_outlook)
        foresee(s, t);
    tail->has_weights = false;
}

/* ---- the choice ---- */

/* Where a copy may begin: for how long it goes on, and the shares of the tasks
 * that take longer than what it has done after each step. */
struct place {
    uint32_t machine, cluster;
    double paid;
    bool is_known;
    float longer[TAIL_STEPS];
};

static void look_at_place(const struct bats_sched *s, uint32_t slot,
                          struct place *p)
{
    float work[TAIL_STEPS] = {0};
    work_on(s, slot, work);
    for (int k = 0; k < TAIL_STEPS; k++)
        p->longer[k] = longer(&s->tail, work[k]);
    p->is_known = true;
}

/* By how many steps the end comes sooner; to scale. */
static float gain(const struct bats_sched *s, const struct place *p,
                  const struct tail_task *t)
{
    float then[TAIL_STEPS], more[TAIL_STEPS], sum = 0;
    find_likely(t->one_in, p->longer, then);
    for (int k = 0; k < TAIL_STEPS; k++) {
        float here = then[k] / t->done[k] - 1;
        more[k] = s->tail.weight[k] * (here > 0 ? here : 0);
    }
    for (int k = 0; k < TAIL_STEPS; k++)
        sum += more[k];
    return sum;
}

/* Whether a copy that begins here may be ahead of the execution in `slot` at
 * some time from now to `end`. (Both advance in straight lines.) */
static bool may_overtake(const struct bats_sched *s, uint32_t here,
                         uint32_t slot, double end)
{
    uint32_t there = tail_cluster(s, slot);
    double elapsed = tail_elapsed(s, slot);
    return convert(s, 0, here) > SURELY * convert(s, elapsed, there) ||
           convert(s, end, here) > SURELY * convert(s, elapsed + end, there);
}

/* A copy here is not out of the question: it is faster than the original, or
 * that is stuck. */
static bool is_eligible(const struct bats_sched *s, const struct place *p,
                        const struct tail_task *t)
{
    return (tail_mean(s, p->cluster) < tail_mean(s, t->cluster) || t->stuck) &&
           s->tasks[t->task].avoid != p->machine;
}

/* And its gain is not 0 for sure: before its window is over, and one of the
 * task's executions as long as any, it has done what some task takes, and has
 * overtaken them all. (Most have not, and the outlook takes long.) */
static bool may_help(const struct bats_sched *s, const struct place *p,
                     const struct tail_task *t)
{
    const struct tail *tail = &s->tail;
    double end = smaller(t->end, p->paid);
    double most =
        larger(convert(s, 0, p->cluster), convert(s, end, p->cluster));
    if (t->end == INFINITY)
        return true;
    if (most + tail->longest / TAIL_POINTS < SURELY * tail->shortest)
        return false;
    for (uint32_t at = s->tasks[t->task].slot; at != NO_SLOT;
         at = tail_next(s, t->task, at))
        if (is_hopeful(s, at, t->task) && end <= paid(s, at) &&
            !may_overtake(s, p->cluster, at, end))
            return false;
    return true;
}

struct tail_task *soonest_choose(struct bats_sched *s, uint32_t slot)
{
    struct tail_task *chosen = NULL;
    struct place here;
    float most = UNLIKELY;
    here.machine = s->slots[slot].machine;
    here.cluster = s->machines[here.machine].cluster;
    here.paid = paid(s, slot);
    here.is_known = false;
    for (uint32_t i = 0; i < s->tail.n; i++) {
        struct tail_task *t = &s->tail.list[i];
        if (!is_eligible(s, &here, t) || !may_help(s, &here, t))
            continue;
        if (!s->tail.has_weights)
            look_ahead(s);
        if (!here.is_known)
            look_at_place(s, slot, &here);
        float now = gain(s, &here, t);
        if (now > most) {
            most = now;
            chosen = t;
        }
    }
    return chosen;
}
