/* tail: which task an idle machine copies. See tail.h and sched_state.h. */
#include "engine/sched_state.h"

#include <math.h>
#include <string.h>

#define FRESH 0.03 /* of the longest runtime: for so long a look suffices */

static const char *const names[] = {
    "none",    "random",  "stochastic", "stochastic-random",
    "migrate", "perfect", "soonest"};

bool bats_tail_find(const char *name, enum bats_tail *tail)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *tail = (enum bats_tail)i;
            return true;
        }
    return false;
}

const char *bats_tail_name(enum bats_tail tail)
{
    return names[tail];
}

/* A number below n > 0. (splitmix64: Steele, Lea and Flood, 2014.) */
static uint32_t draw(struct bats_sched *s, uint32_t n)
{
    uint64_t z = s->tail.random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((((z ^ (z >> 31)) >> 32) * n) >> 32);
}

void tail_learn(struct bats_sched *s, size_t cluster, bats_time runtime)
{
    struct bats_histogram *h = &s->clusters[cluster].histogram;
    if (s->tail.strategy == BATS_TAIL_NONE)
        return;
    if (!bats_histogram_add(h, runtime))
        s->failure = BATS_ENOMEM;
    s->tail.is_news |= (double)runtime >= h->longest;
}

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

/* ---- runtimes, on one cluster or another ---- */

/* By the regression of the sampling phase, or else by the ratio of the means.
 */
static struct bats_regression find_line(const struct bats_sched *s,
                                        size_t from, size_t to)
{
    const struct sampling *p = &s->sampling;
    if (from == to)
        return (struct bats_regression){.b1 = 1};
    if (p->has_line[from] && p->has_line[to])
        return bats_regression_compose(&p->lines[from], &p->lines[to]);
    double ratio = tail_mean(s, to) / tail_mean(s, from);
    return (struct bats_regression){.b1 = ratio};
}

/* The canonical cluster is the one of which most is known. */
static void find_canonical(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    size_t most = 0;
    for (size_t i = 1; i < s->n_clusters; i++)
        if (s->clusters[i].stats.n_done > s->clusters[most].stats.n_done)
            most = i;
    tail->has_likely &= most == tail->canonical;
    tail->canonical = most;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (tail_mean(s, i) > 0) {
            tail->to_canonical[i] = find_line(s, i, most);
            tail->from_canonical[i] = find_line(s, most, i);
        }
}

/* E[T | T > tau] on the canonical cluster. */
static double expect(struct bats_sched *s, double tau)
{
    double n = 0, sum = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        double n_here, sum_here;
        if (tail_mean(s, i) == 0)
            continue;
        bats_histogram_above(&s->clusters[i].histogram,
                             tail_from_canonical(s, tau, i), &n_here,
                             &sum_here);
        n += n_here;
        if (n_here > 0)
            sum += n_here * tail_to_canonical(s, sum_here / n_here, i);
    }
    return n > 0 ? sum / n : tau + tail_mean(s, s->tail.canonical);
}

/* The expected runtime of a running task on a cluster. */
static double total(const struct bats_sched *s, const struct tail_task *t,
                    size_t cluster)
{
    if (s->tail.strategy == BATS_TAIL_PERFECT)
        return (double)s->tail.true_runtime(
            s->tail.true_context, s->bag.task[t->task], (uint32_t)cluster);
    return tail_from_canonical(s, t->total, cluster);
}

/* ---- the tasks that run ---- */

/* Something has ended on every cluster that runs the task. */
static bool is_known(const struct bats_sched *s, uint32_t task)
{
    for (uint32_t slot = s->tasks[task].slot; slot != NO_SLOT;
         slot = tail_next(s, task, slot))
        if (tail_mean(s, tail_cluster(s, slot)) == 0)
            return false;
    return true;
}

/* `soonest` expects nothing any more of an execution that has been running for
 * far longer than any other ever was. (Of very short tasks this says nothing:
 * anything may have held one up.) */
static bool is_stuck(const struct bats_sched *s, uint32_t slot)
{
    return s->tail.strategy == BATS_TAIL_SOONEST &&
           tail_elapsed(s, slot) >= s->tail.stuck[tail_cluster(s, slot)];
}

/* How long the execution in `slot` is still expected to take. */
static double rest(const struct bats_sched *s, const struct tail_task *t,
                   uint32_t slot)
{
    return total(s, t, tail_cluster(s, slot)) - tail_elapsed(s, slot);
}

/* Estimates t->total, by all executions of the task or only by those that are
 * not stuck. */
static void estimate(struct bats_sched *s, struct tail_task *t, bool all)
{
    double tau = 0;
    for (uint32_t slot = s->tasks[t->task].slot; slot != NO_SLOT;
         slot = tail_next(s, t->task, slot))
        if (all || !is_stuck(s, slot))
            tau = larger(tau, tail_to_canonical(s, tail_elapsed(s, slot),
                                                tail_cluster(s, slot)));
    t->total = s->tail.strategy == BATS_TAIL_SOONEST ? soonest_total(s, tau)
                                                     : expect(s, tau);
}

/* Estimates t->total and t->left. */
static void look_at(struct bats_sched *s, struct tail_task *t)
{
    estimate(s, t, false);
    t->left = INFINITY;
    for (uint32_t slot = s->tasks[t->task].slot; slot != NO_SLOT;
         slot = tail_next(s, t->task, slot))
        if (!copies_cancelled(s, slot, t->task) && !is_stuck(s, slot))
            t->left = smaller(t->left, rest(s, t, slot));
}

/* It alone does not ask for t->total and t->left. */
static bool is_random(const struct bats_sched *s)
{
    return s->tail.strategy == BATS_TAIL_RANDOM;
}

static void add(struct bats_sched *s, uint32_t slot)
{
    uint32_t task = s->slots[slot].head, cluster = tail_cluster(s, slot);
    if (s->slots[slot].is_copy || !copies_allowed(s, task) ||
        tail_mean(s, cluster) == 0 ||
        (s->tasks[task].copies != NO_SLOT && !is_known(s, task)))
        return;
    struct tail_task *t = &s->tail.list[s->tail.n++];
    t->task = task;
    t->cluster = cluster;
    if (!is_random(s))
        look_at(s, t);
}

/* Where more tasks run than the list holds, each look goes on where the last
 * one has ended: an event must not take the longer the more there are, and the
 * best of so many is good enough. */
static void look_around(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    uint32_t n_words = (s->n_slots + 63) / 64, word = tail->next_busy;
    tail->n = tail->next_busy = 0;
    find_canonical(s);
    if (tail_mean(s, tail->canonical) == 0)
        return;
    tail->looked_at = s->now;
    soonest_look(s);
    for (uint32_t i = 0; i < n_words; i++) {
        if (tail->n > TAIL_TASKS - 64) {
            tail->next_busy = word;
            break;
        }
        for (uint64_t busy = s->busy[word]; busy > 0; busy &= busy - 1)
            add(s, 64 * word + (uint32_t)__builtin_ctzll(busy));
        word = word + 1 < n_words ? word + 1 : 0;
    }
}

/* For a moment the last look will do, but for what has ended since. */
static bool has_looked(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    uint32_t n = 0;
    if (tail->n == 0 || tail->next_busy > 0 ||
        (double)(s->now - tail->looked_at) > FRESH * tail->longest)
        return false;
    for (uint32_t i = 0; i < tail->n; i++)
        if (copies_allowed(s, tail->list[i].task))
            tail->list[n++] = tail->list[i];
    tail->n = n;
    return true;
}

/* ---- the choice for one slot ---- */

/* It does not run on this cluster or a faster one. */
static bool runs_slower(const struct bats_sched *s, const struct tail_task *t,
                        uint32_t cluster)
{
    double mean = tail_mean(s, cluster);
    if (tail_mean(s, t->cluster) <= mean)
        return false;
    for (uint32_t at = s->tasks[t->task].copies; at != NO_SLOT;
         at = s->slots[at].next_copy)
        if (tail_mean(s, tail_cluster(s, at)) <= mean)
            return false;
    return true;
}

static struct tail_task *choose_any(struct bats_sched *s, uint32_t slot)
{
    struct tail_task *chosen = NULL;
    uint32_t n = 0, cluster = tail_cluster(s, slot);
    for (uint32_t i = 0; i < s->tail.n; i++) {
        struct tail_task *t = &s->tail.list[i];
        if (runs_slower(s, t, cluster) &&
            s->tasks[t->task].avoid != s->slots[slot].machine &&
            draw(s, ++n) == 0)
            chosen = t; /* each of the n with the same chance */
    }
    return chosen;
}

/* Of those that are expected to end here first, the one that takes longest. */
static struct tail_task *choose_last(struct bats_sched *s, uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    size_t cluster = tail_cluster(s, slot);
    double paid = (double)(s->machines[machine].paid_end - s->now);
    struct tail_task *chosen = NULL;
    for (uint32_t i = 0; i < s->tail.n; i++) {
        struct tail_task *t = &s->tail.list[i];
        double here = total(s, t, cluster);
        if (t->left > here && (!chosen || t->left > chosen->left) &&
            s->tasks[t->task].avoid != machine &&
            (s->tail.strategy != BATS_TAIL_PERFECT || here <= paid))
            chosen = t;
    }
    return chosen;
}

static struct tail_task *choose(struct bats_sched *s, uint32_t slot)
{
    struct tail_task *t = NULL;
    switch (s->tail.strategy) {
    case BATS_TAIL_NONE:
        return NULL;
    case BATS_TAIL_RANDOM:
        break;
    case BATS_TAIL_STOCHASTIC:
    case BATS_TAIL_MIGRATE:
    case BATS_TAIL_PERFECT:
        return choose_last(s, slot);
    case BATS_TAIL_STOCHASTIC_RANDOM:
    case BATS_TAIL_SOONEST:
        t = choose_last(s, slot);
        break;
    }
    return t ? t : choose_any(s, slot);
}

static bool may_copy(const struct bats_sched *s, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    return !m->quarantined && tail_mean(s, m->cluster) > 0 &&
           !forecast_too_late(s, m->cluster);
}

/* False: there is nothing for the slot. */
static bool fill(struct bats_sched *s, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    struct tail_task *t = choose(s, slot);
    if (!t) {
        s->tail.useless[m->cluster] = m->paid_end;
        return false;
    }
    copies_start(s, slot, t->task);
    if (!is_random(s))
        t->left = smaller(t->left, total(s, t, m->cluster));
    return true;
}

/* Where an idle machine found nothing, time makes it no better: it is asked
 * again at the next monitoring, when a task that runs has one execution less,
 * or has been seen to take longer than any before. */
static void forget_asked(struct tail *tail)
{
    if (tail->is_news || tail->strategy != BATS_TAIL_SOONEST) {
        memset(tail->useless, 0, sizeof tail->useless);
        tail->asked = NO_SLOT;
        tail->has_likely = false;
        tail->n = 0;
    }
    tail->is_news = false;
}

void tail_fill(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    if (tail->strategy == BATS_TAIL_NONE || s->draining || s->on_hold ||
        s->idle_first == NO_SLOT || s->bag.count[BATS_TASK_PENDING] > 0)
        return;
    forget_asked(tail);
    bool knows = false;
    uint32_t refused = 0, next, slot = s->idle_first;
    if (tail->asked != NO_SLOT)
        slot = s->slots[tail->asked].next_idle;
    for (; slot != NO_SLOT && refused < TAIL_SLOTS; slot = next) {
        const struct machine *m = &s->machines[s->slots[slot].machine];
        next = s->slots[slot].next_idle;
        if (m->paid_end <= tail->useless[m->cluster] || !may_copy(s, slot))
            continue;
        if (!knows && !has_looked(s))
            look_around(s);
        knows = true;
        refused += !fill(s, slot);
    }
    tail->asked = s->idle_last;
}

bool tail_migrate(struct bats_sched *s, uint32_t slot)
{
    if (!may_copy(s, slot) || s->slots[slot].n_tasks > 0 ||
        s->sampling.phase == PHASE_SAMPLING ||
        s->bag.count[BATS_TASK_PENDING] > s->sample_size)
        return false;
    look_around(s);
    struct tail_task *t = choose_last(s, slot);
    if (!t)
        return false;
    copies_start(s, slot, t->task);
    for (uint32_t at = s->tasks[t->task].slot; at != NO_SLOT;
         at = tail_next(s, t->task, at))
        if (at != slot)
            copies_cancel(s, at, t->task, false);
    return true;
}

/*
 * ---- which execution goes on ----
 *
 * Windows are entered for originals only. But where a copy is expected to end
 * first, and to need no more money for that, the others are stopped when it
 * has to be decided on a window, and it is a task like any other.
 */

/* What the windows cost that it is expected to need beyond those that are paid
 * or promised. */
static double price(const struct bats_sched *s, const struct tail_task *t,
                    uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    double over = rest(s, t, slot) - (double)(m->paid_end - s->now) -
                  (m->renewing ? (double)s->window : 0);
    return fmax(ceil(over / (double)s->window), 0) *
           (double)s->clusters[m->cluster].spec.charge;
}

/* The machine works for nobody else. */
static bool is_alone(const struct bats_sched *s, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (i != slot && copies_works(s, i))
            return false;
    return true;
}

/* The machine could go on with what it has. */
static bool may_stay(const struct bats_sched *s, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    bats_money charge = s->clusters[m->cluster].spec.charge;
    return m->state == MACHINE_ACTIVE && !m->marked && !m->quarantined &&
           (m->renewing || bats_ledger_affordable(&s->ledger, charge) >= 1);
}

static void hand_over(struct bats_sched *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    struct tail_task look = {.task = task};
    if (t->copies == NO_SLOT || !copies_allowed(s, task) || t->in_sample ||
        s->slots[t->slot].n_tasks != 1 || !is_alone(s, t->slot) ||
        !is_known(s, task))
        return;
    /* What seems to be stuck may only be long: stopped for its copy at the end
     * of every window it would never end. */
    estimate(s, &look, true);
    uint32_t best = t->slot;
    for (uint32_t at = t->copies; at != NO_SLOT; at = s->slots[at].next_copy)
        if (!s->slots[at].copy_cancelled && may_stay(s, at) &&
            rest(s, &look, at) < rest(s, &look, best) &&
            price(s, &look, at) <= price(s, &look, t->slot))
            best = at;
    if (best == t->slot)
        return;
    copies_swap(s, best, task);
    for (uint32_t at = t->copies; at != NO_SLOT; at = s->slots[at].next_copy)
        copies_cancel(s, at, task, false);
}

void tail_hand_over(struct bats_sched *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (s->n_copies == 0 || s->draining || s->sampling.phase != PHASE_NONE)
        return;
    find_canonical(s);
    soonest_look(s);
    for (uint32_t i = 0; i < m->n_slots; i++) {
        uint32_t task = s->slots[m->first_slot + i].head;
        if (task != BATS_NO_TASK)
            hand_over(s, task);
    }
}
