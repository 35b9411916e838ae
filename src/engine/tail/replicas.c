/* replicas: chooses the running task that an idle machine replicates; and the
 * list of tails, with the one that sends instances. See bats/tail.h. */
#include "engine/tail/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/histogram.h"
#include "util/hash.h"
#include "util/larger.h"

#define STUCK 2 /* an execution is stuck after this many longest runtimes */
#define FRESH                                                                 \
    0.03 /* validity of a look, as a fraction of the longest
                      runtime */

#define TAIL_TASKS 192 /* tasks examined at once */
#define TAIL_PASSES 24 /* and next ones after this many events */

/* Expected runtimes are kept for elapsed times in steps of 1/PER_MEAN of the
 * mean runtime, until there are 1/AS_NEW more results. */
#define STEPS 256
#define PER_MEAN 64
#define AS_NEW 64

/* A running task. */
struct replicated {
    struct bats_position task;
    uint32_t cluster; /* of its original */
    double total;     /* expected runtime on the canonical cluster */
    double left;      /* remaining time until its first execution ends */
};

struct replicas {
    enum bats_tail strategy;
    uint64_t random;         /* state of its generator */
    struct replicated *list; /* TAIL_TASKS at most */
    uint32_t n;
    bats_time looked_at; /* when the list was made */
    uint32_t next_busy;  /* where to continue: a word of `busy` */
    uint32_t passes;     /* since then, if the list is of some only */
    bool knows;          /* the list is valid for this pass */
    bool refused[BATS_CLUSTERS_MAX]; /* nothing in the list for the cluster */
    bool failed_here;      /* a task was not chosen because of that */
    bool is_news;          /* slots that found nothing may find a task now */
    uint64_t seen_changes; /* s->n_changes at the last pass */
    struct tail_pass pass;
    struct bats_histogram histogram[BATS_CLUSTERS_MAX]; /* of all results */
    size_t canonical; /* cluster to which histograms are converted */
    struct bats_regression to_canonical[BATS_CLUSTERS_MAX]; /* conversions */
    struct bats_regression from_canonical[BATS_CLUSTERS_MAX];
    double expected[STEPS]; /* E[T | T > tau] by tau, canonical; 0: unknown */
    uint32_t n_results;     /* when it was last emptied */
    /* For `soonest`: */
    bool has_longest; /* the following are up to date */
    double longest;   /* longest runtime seen, on the canonical cluster */
    double stuck[BATS_CLUSTERS_MAX]; /* time after which an execution is stuck,
                                        by cluster; INFINITY: never */
    bats_time (*true_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
    const void *true_context;
};

/* Mean of the results on the cluster; 0 without any. */
static inline double mean_on(const struct state *s, size_t cluster)
{
    return s->clusters[cluster].stats.mean_done;
}

/* Converts a runtime on a cluster to the canonical cluster, and back; both
 * have results. */
static double to_canonical(const struct replicas *c, double time, size_t from)
{
    const struct bats_regression *line = &c->to_canonical[from];
    return line->b0 + line->b1 * time;
}

static double from_canonical(const struct replicas *c, double time, size_t to)
{
    const struct bats_regression *line = &c->from_canonical[to];
    return line->b0 + line->b1 * time;
}

/* A number below n > 0. */
static uint32_t draw(struct replicas *c, uint32_t n)
{
    uint64_t z = bats_mix(c->random);
    c->random += BATS_MIX_STEP;
    return (uint32_t)(((z >> 32) * n) >> 32);
}

static bool learn(void *self, const struct state *s, size_t cluster,
                  bats_time runtime)
{
    struct replicas *c = self;
    struct bats_histogram *h = &c->histogram[cluster];
    bool ok = bats_histogram_add(h, runtime);
    c->is_news |= (double)runtime >= h->longest;
    return ok;
}

static void tick(void *self)
{
    struct replicas *c = self;
    c->is_news = true;
}

/* ---- runtimes, on one cluster or another ---- */

/* From the regression of the sampling phase, or else the ratio of means. */
static struct bats_regression find_line(const struct state *s, size_t from,
                                        size_t to)
{
    if (from == to)
        return (struct bats_regression){.b1 = 1};
    if (s->clusters[from].has_line && s->clusters[to].has_line)
        return bats_regression_compose(&s->clusters[from].line,
                                       &s->clusters[to].line);
    double ratio = mean_on(s, to) / mean_on(s, from);
    return (struct bats_regression){.b1 = ratio};
}

/* The canonical cluster is the one with the most results. */
static void find_canonical(struct replicas *c, const struct state *s)
{
    size_t most = 0;
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        n += s->clusters[i].stats.n_done;
        if (s->clusters[i].stats.n_done > s->clusters[most].stats.n_done)
            most = i;
    }
    c->has_longest &=
        most == c->canonical && n <= c->n_results + c->n_results / AS_NEW;
    if (!c->has_longest) {
        memset(c->expected, 0, sizeof c->expected);
        c->n_results = n;
    }
    c->canonical = most;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (mean_on(s, i) > 0) {
            c->to_canonical[i] = find_line(s, i, most);
            c->from_canonical[i] = find_line(s, most, i);
        }
}

/* For `soonest`: finds the longest runtime seen, and what is too long. */
static void find_longest(struct replicas *c, const struct state *s)
{
    if (c->strategy != BATS_TAIL_SOONEST || c->has_longest)
        return;
    c->has_longest = true;
    c->longest = 1;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (mean_on(s, i) > 0)
            c->longest =
                fmax(c->longest, to_canonical(c, c->histogram[i].longest, i));
    for (size_t i = 0; i < s->n_clusters; i++)
        if (mean_on(s, i) > 0)
            c->stuck[i] = fmax((double)s->run.interval,
                               from_canonical(c, STUCK * c->longest, i));
}

static double find_expected(struct replicas *c, const struct state *s,
                            double tau)
{
    double n = 0, sum = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        double n_here, sum_here;
        if (mean_on(s, i) == 0)
            continue;
        bats_histogram_above(&c->histogram[i], from_canonical(c, tau, i),
                             &n_here, &sum_here);
        n += n_here;
        if (n_here > 0)
            sum += n_here * to_canonical(c, sum_here / n_here, i);
    }
    return n > 0 ? sum / n : tau + mean_on(s, c->canonical);
}

/* E[T | T > tau] on the canonical cluster. */
static inline double expect(struct replicas *c, const struct state *s,
                            double tau)
{
    double step = tau * PER_MEAN / mean_on(s, c->canonical);
    if (!(step < STEPS))
        return find_expected(c, s, tau);
    double *known = &c->expected[(size_t)step];
    if (*known == 0)
        *known = find_expected(c, s, tau);
    return *known;
}

/* Expected runtime of a running task on a cluster. */
static inline double total(const struct replicas *c, const struct state *s,
                           const struct replicated *t, size_t cluster)
{
    if (c->strategy == BATS_TAIL_PERFECT)
        return (double)c->true_runtime(
            c->true_context, s->bag.index[t->task.i], (uint32_t)cluster);
    return from_canonical(c, t->total, cluster);
}

/* ---- running tasks ---- */

/* The execution's cluster has no results yet. */
static inline bool is_blind(const struct state *s, uint32_t slot)
{
    return mean_on(s, slot_cluster(s, slot)) == 0;
}

/* Every execution of the task is on a cluster with results. */
static inline bool is_known(const struct replicas *c, const struct state *s,
                            struct bats_position task)
{
    if (c->strategy == BATS_TAIL_SOONEST)
        return true;
    for (uint32_t slot = s->tasks[task.i].slot; slot != NO_SLOT;
         slot = execution_next(s, task, slot))
        if (is_blind(s, slot))
            return false;
    return true;
}

/* `soonest` gives up hope for an execution that has run far longer than any
 * other. (Not for very short tasks, which anything may have held up.) */
static inline bool is_stuck(const struct replicas *c, const struct state *s,
                            uint32_t slot)
{
    return slot_elapsed(s, slot) >= c->stuck[slot_cluster(s, slot)];
}

/* Expected remaining time of the execution in `slot`; the elapsed time again
 * if its cluster has no results. */
static inline double rest(const struct replicas *c, const struct state *s,
                          const struct replicated *t, uint32_t slot)
{
    double elapsed = slot_elapsed(s, slot);
    return is_blind(s, slot) ? elapsed
                             : total(c, s, t, slot_cluster(s, slot)) - elapsed;
}

/* Estimates t->total from all executions of the task, or only from those not
 * stuck. */
static void estimate(struct replicas *c, const struct state *s,
                     struct replicated *t, bool all)
{
    double tau = 0;
    for (uint32_t slot = s->tasks[t->task.i].slot; slot != NO_SLOT;
         slot = execution_next(s, t->task, slot))
        if (!is_blind(s, slot) && (all || !is_stuck(c, s, slot)))
            tau = larger(tau, to_canonical(c, slot_elapsed(s, slot),
                                           slot_cluster(s, slot)));
    t->total = expect(c, s, tau);
}

static void look_at(struct replicas *c, const struct state *s,
                    struct replicated *t)
{
    estimate(c, s, t, false);
    t->left = INFINITY;
    for (uint32_t slot = s->tasks[t->task.i].slot; slot != NO_SLOT;
         slot = execution_next(s, t->task, slot))
        if (!execution_cancelled(s, slot, t->task) && !is_stuck(c, s, slot))
            t->left = smaller(t->left, rest(c, s, t, slot));
}

/* The random strategy needs neither t->total nor t->left. */
static bool is_random(const struct replicas *c)
{
    return c->strategy == BATS_TAIL_RANDOM;
}

static void add(struct replicas *c, const struct state *s, uint32_t slot)
{
    struct bats_position task = s->slots[slot].head;
    uint32_t cluster = slot_cluster(s, slot);
    if (s->slots[slot].is_replica || !task_may_be_replicated(s, task) ||
        !is_known(c, s, task))
        return;
    struct replicated *t = &c->list[c->n++];
    t->task = task;
    t->cluster = cluster;
    if (!is_random(c))
        look_at(c, s, t);
}

/* If more tasks run than the list holds, each look continues where the last
 * one ended: this bounds the cost of an event, and the best of that many is
 * good enough. */
static void look_around(struct replicas *c, const struct state *s)
{
    uint32_t n_words = (s->n_slots + 63) / 64, word = c->next_busy;
    c->n = c->next_busy = c->passes = 0;
    memset(c->refused, 0, sizeof c->refused);
    find_canonical(c, s);
    if (mean_on(s, c->canonical) == 0)
        return;
    c->looked_at = s->now;
    find_longest(c, s);
    for (uint32_t i = 0; i < n_words; i++) {
        if (c->n > TAIL_TASKS - 64) {
            c->next_busy = word;
            break;
        }
        for (uint64_t busy = s->busy[word]; busy > 0; busy &= busy - 1)
            add(c, s, 64 * word + (uint32_t)__builtin_ctzll(busy));
        word = word + 1 < n_words ? word + 1 : 0;
    }
}

/* Whether the last look is still valid. */
static bool has_looked(struct replicas *c, const struct state *s)
{
    return c->n > 0 && (c->next_busy == 0 || ++c->passes <= TAIL_PASSES) &&
           (double)(s->now - c->looked_at) <= FRESH * c->longest;
}

/* ---- the choice for one slot ---- */

/* The task does not run on this cluster or a faster one. */
static bool runs_slower(const struct state *s, const struct replicated *t,
                        uint32_t cluster)
{
    double mean = mean_on(s, cluster);
    if (mean_on(s, t->cluster) <= mean)
        return false;
    for (uint32_t at = s->tasks[t->task.i].replicas; at != NO_SLOT;
         at = s->slots[at].next_replica)
        if (mean_on(s, slot_cluster(s, at)) <= mean)
            return false;
    return true;
}

/* The task failed there last: other machines of the cluster may take it. */
static bool avoids(struct replicas *c, const struct state *s,
                   const struct replicated *t, uint32_t machine)
{
    bool failed = s->tasks[t->task.i].avoid == machine;
    c->failed_here |= failed;
    return failed;
}

static struct replicated *choose_any(struct replicas *c, const struct state *s,
                                     uint32_t slot)
{
    struct replicated *chosen = NULL;
    uint32_t n = 0, cluster = slot_cluster(s, slot);
    for (uint32_t i = 0; i < c->n; i++) {
        struct replicated *t = &c->list[i];
        if (runs_slower(s, t, cluster) && task_may_be_replicated(s, t->task) &&
            !avoids(c, s, t, s->slots[slot].machine) && draw(c, ++n) == 0)
            chosen = t; /* each of the n is equally likely */
    }
    return chosen;
}

/* Among tasks expected to end here first, the longest. */
static struct replicated *choose_last(struct replicas *c,
                                      const struct state *s, uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    size_t cluster = slot_cluster(s, slot);
    double paid = (double)(s->machines[machine].paid_end - s->now);
    double longest = -INFINITY;
    struct replicated *chosen = NULL, *end = c->list + c->n;
    for (struct replicated *t = c->list; t < end; t++) {
        double here;
        if (t->left <= longest || t->left <= (here = total(c, s, t, cluster)))
            continue;
        /* The task may have ended since the last look. */
        if (task_may_be_replicated(s, t->task) && !avoids(c, s, t, machine) &&
            (c->strategy != BATS_TAIL_PERFECT || here <= paid)) {
            longest = t->left;
            chosen = t;
        }
    }
    return chosen;
}

static struct replicated *choose(struct replicas *c, const struct state *s,
                                 uint32_t slot)
{
    struct replicated *t = NULL;
    switch (c->strategy) {
    case BATS_TAIL_NONE:
        return NULL;
    case BATS_TAIL_RANDOM:
        break;
    case BATS_TAIL_STOCHASTIC:
    case BATS_TAIL_MIGRATE:
    case BATS_TAIL_PERFECT:
        return choose_last(c, s, slot);
    case BATS_TAIL_STOCHASTIC_RANDOM:
    case BATS_TAIL_SOONEST:
        t = choose_last(c, s, slot);
        break;
    }
    return t ? t : choose_any(c, s, slot);
}

/* Machines of the cluster may run replicas. */
static bool may(const struct state *s, size_t cluster)
{
    return mean_on(s, cluster) > 0 && !forecast_too_late(s, cluster);
}

static struct bats_position replica(void *self, const struct state *s,
                                    uint32_t slot)
{
    struct replicas *c = self;
    const struct machine *m = &s->machines[s->slots[slot].machine];
    if (!c->knows)
        look_around(c, s);
    c->knows = true;
    c->failed_here = false;
    struct replicated *t = choose(c, s, slot);
    if (!t) {
        c->pass.useless[m->cluster] = m->paid_end;
        c->refused[m->cluster] = c->pass.closed[m->cluster] =
            !c->failed_here && c->strategy != BATS_TAIL_PERFECT;
        return BATS_NO_POSITION;
    }
    if (!is_random(c))
        t->left = smaller(t->left, total(c, s, t, m->cluster));
    return t->task;
}

/* An idle machine that found nothing is asked again only at the next tick,
 * when a running task has one execution less, or after a record runtime. */
static const struct tail_pass *begin(void *self, const struct state *s)
{
    struct replicas *c = self;
    struct tail_pass *p = &c->pass;
    p->all = c->is_news || c->seen_changes != s->n_changes ||
             c->strategy != BATS_TAIL_SOONEST;
    if (p->all) {
        memset(p->useless, 0, sizeof p->useless);
        c->has_longest = false;
        c->n = c->next_busy > 0 ? c->n : 0;
    }
    c->is_news = false;
    c->seen_changes = s->n_changes;
    c->knows = has_looked(c, s);
    for (size_t i = 0; i < s->n_clusters; i++)
        p->closed[i] = !may(s, i) || (c->knows && c->refused[i]);
    return p;
}

static struct bats_position migrate(void *self, const struct state *s,
                                    uint32_t slot)
{
    struct replicas *c = self;
    const struct machine *m = &s->machines[s->slots[slot].machine];
    if (m->quarantined || !may(s, m->cluster) || s->slots[slot].n_tasks > 0 ||
        s->run.phase == PHASE_SAMPLING ||
        bats_bag_pending(&s->bag) > s->known.sample_size)
        return BATS_NO_POSITION;
    look_around(c, s);
    struct replicated *t = choose_last(c, s, slot);
    return t ? t->task : BATS_NO_POSITION;
}

/*
 * ---- which execution continues ----
 *
 * Windows are entered only for originals. But when a window is decided and a
 * replica is expected to end first at no extra cost, it becomes the original
 * and the others are stopped.
 */

/* Cost of the windows it is expected to need beyond those paid or promised. */
static double price(const struct replicas *c, const struct state *s,
                    const struct replicated *t, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    double over = rest(c, s, t, slot) - (double)(m->paid_end - s->now) -
                  (m->renewing ? (double)s->run.window : 0);
    return fmax(ceil(over / (double)s->run.window), 0) *
           (double)s->clusters[m->cluster].spec.charge;
}

static bool is_alone(const struct state *s, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (i != slot && slot_works(s, i))
            return false;
    return true;
}

/* The machine could continue with its tasks. */
static bool may_stay(const struct state *s, uint32_t slot)
{
    const struct machine *m = &s->machines[s->slots[slot].machine];
    bats_money charge = s->clusters[m->cluster].spec.charge;
    return m->state == MACHINE_ACTIVE && !m->marked && !m->quarantined &&
           (m->renewing ||
            bats_ledger_affordable(&s->money.ledger, charge) >= 1);
}

static uint32_t hand_over(void *self, const struct state *s,
                          struct bats_position task)
{
    struct replicas *c = self;
    const struct task *t = &s->tasks[task.i];
    struct replicated look = {.task = task};
    find_canonical(c, s);
    find_longest(c, s);
    if (t->replicas == NO_SLOT || !task_may_be_replicated(s, task) ||
        t->in_sample || s->slots[t->slot].n_tasks != 1 ||
        !is_alone(s, t->slot) || !is_known(c, s, task))
        return t->slot;
    /* A task that seems stuck may just be long: if its replica replaced it at
     * every window's end, it would never end. */
    estimate(c, s, &look, true);
    uint32_t best = t->slot;
    for (uint32_t at = t->replicas; at != NO_SLOT;
         at = s->slots[at].next_replica)
        if (!s->slots[at].replica_cancelled && may_stay(s, at) &&
            rest(c, s, &look, at) < rest(c, s, &look, best) &&
            price(c, s, &look, at) <= price(c, s, &look, t->slot))
            best = at;
    return best;
}

/* ---- the strategies ---- */

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct replicas *c = self;
    if (o->tail == BATS_TAIL_PERFECT && !o->true_runtime)
        return bats_error_set(err, BATS_EINPUT,
                              "the perfect tail needs true runtimes");
    c->strategy = o->tail;
    c->random = o->seed;
    c->true_runtime = o->true_runtime;
    c->true_context = o->true_context;
    for (size_t i = 0; i < BATS_CLUSTERS_MAX; i++)
        c->stuck[i] = INFINITY;
    c->list = calloc(s->n_slots < TAIL_TASKS ? s->n_slots : TAIL_TASKS,
                     sizeof *c->list);
    return c->list ? 0 : bats_no_memory(err);
}

static void release(void *self)
{
    struct replicas *c = self;
    for (size_t i = 0; i < BATS_CLUSTERS_MAX; i++)
        bats_histogram_release(&c->histogram[i]);
    free(c->list);
}

#define REPLICAS(name)                                                        \
    {                                                                         \
        name, sizeof(struct replicas), init, release                          \
    }

/* The sampling phase may use replicas even then. */
const struct tail tail_none = {.advisor = REPLICAS("none"),
                               .hand_over = hand_over};
const struct tail tail_replicas = {.advisor = REPLICAS("replicas"),
                                   .learn = learn,
                                   .tick = tick,
                                   .begin = begin,
                                   .replica = replica,
                                   .hand_over = hand_over};
const struct tail tail_migrate = {.advisor = REPLICAS("migrate"),
                                  .learn = learn,
                                  .tick = tick,
                                  .begin = begin,
                                  .replica = replica,
                                  .migrate = migrate,
                                  .hand_over = hand_over};

/* ---- the list ---- */

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

const struct tail *tail_find(const struct bats_sched_options *o,
                             bool sends_instances, bool idle_is_free)
{
    if (sends_instances)
        return &tail_expert;
    return idle_is_free || o->tail == BATS_TAIL_NONE ? &tail_none
           : o->tail == BATS_TAIL_MIGRATE            ? &tail_migrate
                                                     : &tail_replicas;
}
