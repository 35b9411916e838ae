/*
 * sampling: a phase of its own before the rest of the bag. See sched.h and
 * sched_state.h. Source: Oprescu's thesis, 3.2.2, figure 3.2.
 *
 * The first tasks that are drawn are points: each is to run once on every
 * cluster, for the regression. Where the task still runs elsewhere that is a
 * copy, whose sibling's result does not stop it; where it has its result, it
 * is run for the sake of its runtime alone. A point that fails anywhere, or
 * goes back to the bag, is void, and another task takes its place.
 *
 * The sample is all tasks drawn first, not those that end first: those would
 * be the short ones.
 */
#include "engine/sched_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 7
#define POINTS 7
/* A task that runs for so many times the longest runtime seen may never end:
 * the phase does not wait for it. */
#define FOR_EVER 5

static int observe(struct bats_sched *s, uint32_t number, uint32_t cluster,
                   bats_time runtime)
{
    struct sampling *p = &s->sampling;
    if (p->n_observations == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 64;
        struct bats_observation *list =
            realloc(p->observations, capacity * sizeof *list);
        if (!list)
            return BATS_ENOMEM;
        p->observations = list;
        p->capacity = capacity;
    }
    p->observations[p->n_observations++] =
        (struct bats_observation){number, cluster, runtime};
    if ((double)runtime > p->longest_runtime)
        p->longest_runtime = (double)runtime;
    return 0;
}

static int take_over(struct bats_sched *s, const struct bats_observation *seen,
                     size_t n, struct bats_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (seen[i].cluster >= s->n_clusters)
            return bats_error_set(err, BATS_EINPUT,
                                  "an observation is of cluster %u, but there "
                                  "are %zu",
                                  seen[i].cluster + 1, s->n_clusters);
        if (observe(s, seen[i].task, seen[i].cluster, seen[i].runtime) < 0)
            return bats_error_set(err, BATS_ENOMEM, "no memory for a sample");
    }
    return 0;
}

/* What earlier sessions have seen is a part of the sample. A cluster of which
 * that is as much as the sample is to have gets no more of it, and points are
 * run on the others only. */
static int take_earlier(struct bats_sched *s,
                        const struct bats_sched_options *o,
                        struct bats_error *err)
{
    struct sampling *p = &s->sampling;
    const struct bats_sched_earlier *earlier = &o->earlier;
    struct bats_sample sample;
    int rc = bats_sample_init(&sample, s->n_clusters, earlier->seen,
                              earlier->n_seen, err);
    if (rc < 0)
        return rc;
    uint32_t fewest = p->n_points_wanted;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        uint32_t n = sample.clusters[o->machines[i].cluster].n_measured;
        p->is_known[o->machines[i].cluster] = n >= p->n_wanted;
        if (n < fewest)
            fewest = n;
    }
    p->n_points_wanted -= fewest;
    uint32_t n_tasks = sample.clusters[sample.base].n;
    p->n_wanted -= n_tasks < p->n_wanted ? n_tasks : p->n_wanted;
    bats_sample_release(&sample);
    return take_over(s, earlier->seen, earlier->n_seen, err);
}

int sampling_init(struct bats_sched *s, const struct bats_sched_options *o,
                  struct bats_error *err)
{
    struct sampling *p = &s->sampling;
    uint32_t n = s->bag.count[BATS_TASK_PENDING];
    p->offers = o->sampling.offers;
    p->cushion = o->sampling.cushion;
    p->cushion_percent = o->sampling.cushion_percent;
    p->confidence = o->sampling.confidence;
    p->longest = BATS_NO_TASK;
    p->over_at = BATS_NEVER;
    if (!o->sampling.on)
        return 0;
    p->phase = PHASE_SAMPLING;
    p->workers = o->sampling.workers > 0 ? o->sampling.workers : WORKERS;
    /* Half of a small bag at most. */
    uint32_t half = n / 2 + n % 2;
    p->n_wanted = s->sample_size < half ? s->sample_size : half;
    p->n_points_wanted = p->n_wanted < POINTS ? p->n_wanted : POINTS;
    if (s->n_clusters == 1) /* nothing to compare it with */
        p->n_points_wanted = 0;
    if (o->sampling.n_observations > 0)
        p->n_wanted = p->n_points_wanted = 0;
    else if (o->earlier.tops_up)
        return take_earlier(s, o, err);
    return take_over(s, o->sampling.observations, o->sampling.n_observations,
                     err);
}

void sampling_release(struct bats_sched *s)
{
    free(s->sampling.observations);
}

uint32_t sampling_start(struct bats_sched *s)
{
    const struct sampling *p = &s->sampling;
    return p->n_wanted > 0 || p->n_points_wanted > 0 ? p->workers : 0;
}

uint32_t sampling_lacks(const struct bats_sched *s, size_t cluster)
{
    const struct sampling *p = &s->sampling;
    if (p->is_known[cluster])
        return 0;
    return p->n_wanted > p->n_points_wanted ? p->n_wanted : p->n_points_wanted;
}

/* ---- points ---- */

static struct point *point_of(struct bats_sched *s, uint32_t task)
{
    for (uint32_t i = 0; i < s->sampling.n_points; i++)
        if (s->sampling.points[i].task == task)
            return &s->sampling.points[i];
    return NULL;
}

static uint32_t good_points(const struct bats_sched *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->sampling.n_points; i++)
        n += !s->sampling.points[i].is_void;
    return n;
}

static bool wants_point(const struct bats_sched *s)
{
    return s->sampling.n_points < POINTS_MAX &&
           good_points(s) < s->sampling.n_points_wanted;
}

bool sampling_refuses(const struct bats_sched *s, size_t cluster)
{
    return s->clusters[cluster].done == 0 &&
           s->sampling.n_bad[cluster] >= POINTS;
}

/* The cluster has, or may get, a machine that could run a task. */
static bool is_usable(const struct bats_sched *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return c->n_joined > 0 && c->spec.max > 0 &&
           !sampling_refuses(s, cluster) &&
           (c->n_held > 0 ||
            bats_ledger_affordable(&s->ledger, c->spec.charge) >= 1);
}

/* The first point that the cluster has still to run, or NULL. */
static struct point *wanted_by(struct bats_sched *s, size_t cluster)
{
    for (uint32_t i = 0; i < s->sampling.n_points; i++) {
        struct point *point = &s->sampling.points[i];
        if (!point->is_void && point->at[cluster] == POINT_WANTED)
            return point;
    }
    return NULL;
}

bool sampling_give(struct bats_sched *s, uint32_t slot)
{
    struct slot *sl = &s->slots[slot];
    if (s->sampling.phase != PHASE_SAMPLING || sl->n_tasks > 0)
        return false;
    size_t cluster = s->machines[sl->machine].cluster;
    struct point *point = wanted_by(s, cluster);
    if (!point)
        return false;
    struct task *t = &s->tasks[point->task];
    if (t->slot != NO_SLOT && t->cancelled &&
        !bats_bag_has_result(&s->bag, point->task))
        return false; /* is about to go back to the bag */
    point->at[cluster] = POINT_RUNS;
    if (t->slot != NO_SLOT) {
        copies_start(s, slot, point->task);
        return true;
    }
    t->slot = slot;
    t->next = BATS_NO_TASK;
    t->cancelled = false;
    t->in_sample = false;
    dispatch_run(s, slot, point->task, ++t->n_copies);
    return true;
}

void sampling_drawn(struct bats_sched *s, uint32_t slot, uint32_t task)
{
    struct sampling *p = &s->sampling;
    if (p->phase != PHASE_SAMPLING)
        return;
    size_t cluster = s->machines[s->slots[slot].machine].cluster;
    struct task *t = &s->tasks[task];
    if (!t->in_phase && p->n_drawn < p->n_wanted) {
        t->in_phase = true;
        p->n_drawn++;
        p->n_open++;
    }
    if (!wants_point(s) || t->once || point_of(s, task))
        return;
    struct point *point = &p->points[p->n_points++];
    *point = (struct point){.task = task};
    for (size_t c = 0; c < s->n_clusters; c++)
        if (p->is_known[c])
            point->at[c] = POINT_ENDED;
    point->at[cluster] = POINT_RUNS;
    t->point = true;
}

static void leave_sample(struct bats_sched *s, uint32_t task)
{
    if (s->tasks[task].in_phase)
        s->sampling.n_open--;
    s->tasks[task].in_phase = false;
}

/* What runs only for its runtime is not needed any more. */
static void void_point(struct bats_sched *s, struct point *point)
{
    point->is_void = true;
    s->tasks[point->task].point = false;
    if (bats_bag_has_result(&s->bag, point->task))
        copies_cancel_all(s, point->task);
}

void sampling_ended(struct bats_sched *s, uint32_t machine, uint32_t task,
                    bats_time runtime)
{
    if (s->sampling.phase != PHASE_SAMPLING)
        return;
    uint32_t cluster = s->machines[machine].cluster;
    struct point *point = point_of(s, task);
    s->sampling.n_bad[cluster] += runtime < 0;
    bool counts = s->tasks[task].in_phase || (point && !point->is_void);
    if (runtime >= 0 && counts &&
        observe(s, s->bag.task[task], cluster, runtime) < 0)
        s->failure = BATS_ENOMEM;
    if (bats_bag_has_result(&s->bag, task))
        leave_sample(s, task);
    if (!point || point->is_void)
        return;
    point->at[cluster] = POINT_ENDED;
    if (runtime < 0)
        void_point(s, point);
}

/* ---- the end of the phase ---- */

bool sampling_needs(const struct bats_sched *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (s->sampling.phase != PHASE_SAMPLING)
        return false;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        const struct slot *sl = &s->slots[m->first_slot + i];
        if (sl->n_tasks > 0 &&
            !copies_cancelled(s, m->first_slot + i, sl->head) &&
            (s->tasks[sl->head].in_phase || s->tasks[sl->head].point))
            return true;
    }
    return false;
}

static bool points_complete(struct bats_sched *s)
{
    if (wants_point(s) && s->bag.count[BATS_TASK_PENDING] > 0)
        return false;
    for (uint32_t i = 0; i < s->sampling.n_points; i++) {
        const struct point *point = &s->sampling.points[i];
        for (size_t c = 0; c < s->n_clusters && !point->is_void; c++)
            if (point->at[c] != POINT_ENDED && is_usable(s, c))
                return false;
    }
    return true;
}

static bool all_drawn(const struct bats_sched *s)
{
    return s->sampling.n_drawn == s->sampling.n_wanted ||
           s->bag.count[BATS_TASK_PENDING] == 0;
}

static void configure(struct bats_sched *s, size_t cluster, uint32_t machines)
{
    uint32_t target[BATS_CLUSTERS_MAX] = {0};
    if (machines > 0)
        target[cluster] = machines;
    fleet_configure(s, target, 0);
}

/* From here on every cluster is known as the sample says. */
static void take_statistics(struct bats_sched *s,
                            const struct bats_sample *sample)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct bats_stats *stats = &s->clusters[i].stats;
        const struct bats_cluster_sample *found = &sample->clusters[i];
        stats->n_sample = stats->n_done = 0;
        stats->rt_done = stats->mean = 0;
        s->sampling.lines[i] = found->line;
        s->sampling.has_line[i] = i == sample->base || found->n_pairs > 0;
        for (uint32_t k = 0; k < found->n; k++)
            bats_stats_add(stats, (bats_time)(found->runtimes[k] + 0.5), true);
    }
}

static void mark_time(struct bats_sched *s)
{
    s->sampling.over_at = s->now;
    s->sampling.over_charged = s->ledger.charged;
}

static void end_phase(struct bats_sched *s)
{
    struct sampling *p = &s->sampling;
    struct bats_sample sample;
    if (bats_sample_init(&sample, s->n_clusters, p->observations,
                         p->n_observations, NULL) == 0) {
        take_statistics(s, &sample);
        bats_sample_release(&sample);
    } else {
        s->failure = BATS_ENOMEM;
    }
    for (uint32_t i = 0; i < p->n_points; i++)
        if (!p->points[i].is_void)
            void_point(s, &p->points[i]);
    p->phase = PHASE_SAMPLED;
    mark_time(s);
    configure(s, 0, 0);
    sched_emit(s, (struct bats_command){.type = BATS_COMMAND_SAMPLED});
}

/* Nothing runs, but something is missing: a machine for it. */
static bool call_machine(struct bats_sched *s)
{
    size_t cluster = forecast_most_profitable(s);
    for (size_t c = 0; c < s->n_clusters; c++)
        if (wanted_by(s, c) && is_usable(s, c))
            cluster = c;
    for (size_t c = 0; c < s->n_clusters && cluster == SIZE_MAX; c++)
        if (is_usable(s, c))
            cluster = c;
    if (cluster == SIZE_MAX)
        return false;
    configure(s, cluster, 1);
    return s->n_busy > 0;
}

void sampling_settle(struct bats_sched *s, bool stalled)
{
    struct sampling *p = &s->sampling;
    if (p->phase != PHASE_SAMPLING || s->n_absent > 0 || s->draining)
        return;
    bool drawn = all_drawn(s), complete = drawn && points_complete(s);
    if (complete && p->n_open == 0) {
        end_phase(s);
        return;
    }
    if (stalled) {
        if (!call_machine(s))
            end_phase(s);
        return;
    }
    /* Nothing more to give for the sample: to the end of their windows. */
    bool wanted = !drawn || wants_point(s), active = false;
    for (size_t c = 0; c < s->n_clusters; c++) {
        wanted |= wanted_by(s, c) && is_usable(s, c);
        active |= s->clusters[c].n_active > 0;
    }
    if (active && !wanted)
        configure(s, 0, 0);
}

void sampling_watch(struct bats_sched *s)
{
    struct sampling *p = &s->sampling;
    if (p->phase != PHASE_SAMPLING || p->longest_runtime == 0 || !all_drawn(s))
        return;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct slot *sl = &s->slots[i];
        uint32_t task = sl->head;
        if (sl->n_tasks == 0 ||
            !(s->tasks[task].in_phase || s->tasks[task].point) ||
            (double)(s->now - sl->started) < FOR_EVER * p->longest_runtime)
            continue;
        leave_sample(s, task);
        p->given_up++;
        p->longest = s->bag.task[task];
        struct point *point = point_of(s, task);
        if (point && !point->is_void)
            void_point(s, point);
    }
}

/* ---- the choice ---- */

/* One cluster, or clusters that cost nothing, leave no choice. */
static bool is_choice(const struct bats_sched *s)
{
    size_t n = 0;
    bool charged = false;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        n += c->stats.n_sample > 0 && c->n_joined > 0;
        charged |= c->spec.charge > 0;
    }
    return n > 1 && charged;
}

void sampling_offer(struct bats_sched *s, int64_t tasks_left)
{
    s->sampling.offers = false; /* not again */
    if (tasks_left <= 0 || !is_choice(s))
        return;
    s->sampling.is_open = true;
    mark_time(s);
    sched_emit(s, (struct bats_command){.type = BATS_COMMAND_SAMPLED});
}

/* A plain run has nothing else than what each cluster has run itself. */
static int runtimes_of_plain_run(struct bats_sched *s, double confidence,
                                 struct bats_error *err)
{
    double *runtimes = malloc(s->sample_size * sizeof *runtimes);
    if (!runtimes)
        return bats_error_set(err, BATS_ENOMEM, "no memory for a sample");
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        for (uint32_t k = 0; k < stats->n_sample; k++)
            runtimes[k] = fmax((double)stats->sample[k], 1);
        s->sampling.runtimes[i] =
            stats->n_sample > 0
                ? bats_runtimes_of(runtimes, stats->n_sample, confidence)
                : (struct bats_runtimes){.mean = 0};
    }
    free(runtimes);
    return 0;
}

static int make_runtimes(struct bats_sched *s, const struct bats_estimator *e,
                         struct bats_error *err)
{
    struct bats_sample sample;
    struct sampling *p = &s->sampling;
    double confidence = bats_estimate_confidence(e);
    if (p->is_open)
        return runtimes_of_plain_run(s, confidence, err);
    int rc = bats_sample_init(&sample, s->n_clusters, p->observations,
                              p->n_observations, err);
    if (rc < 0)
        return rc;
    bats_sample_runtimes(&sample, confidence, p->runtimes);
    bats_sample_release(&sample);
    return 0;
}

static void make_clusters(struct bats_sched *s)
{
    struct sampling *p = &s->sampling;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        p->clusters[i] = c->spec;
        if (c->n_joined < c->spec.max)
            p->clusters[i].max = c->n_joined;
        p->slots[i] =
            c->n_machines > 0 ? (double)c->n_slots / c->n_machines : 1;
    }
}

int bats_sched_estimator(struct bats_sched *s, struct bats_estimator *e,
                         struct bats_error *err)
{
    struct sampling *p = &s->sampling;
    if (p->phase != PHASE_SAMPLED && !p->is_open)
        return bats_error_set(err, BATS_ESTATE,
                              "there is no sample to choose from");
    forecast_look(s);
    struct forecast f = forecast_make(s);
    *e = (struct bats_estimator){
        .clusters = p->clusters,
        .runtimes = p->runtimes,
        .slots = p->slots,
        .n_clusters = s->n_clusters,
        .n_tasks = f.tasks_left > 0 ? (uint64_t)f.tasks_left : 1,
        .window = s->window,
        .confidence = p->confidence,
        .cushion_percent = p->cushion_percent};
    make_clusters(s);
    return make_runtimes(s, e, err);
}

static void record(struct bats_sched *s, const struct bats_plan *plan,
                   uint64_t tasks, bats_money left)
{
    struct bats_decision d = {.time = s->now,
                              .reason = BATS_REASON_CHOSEN,
                              .feasible = plan->feasible,
                              .tasks_left = (int64_t)tasks,
                              .tasks_paid = -1,
                              .budget_left = left,
                              .windows = plan->windows};
    memcpy(d.machines, plan->machines, sizeof d.machines);
    fleet_record(s, &d);
}

/* What may be spent on the schedule. Of its cost nothing but the upper bound is
 * promised; more than a budget that was given is never spent. */
static bats_money limit_of(const struct bats_schedule *chosen)
{
    if (chosen->offer == BATS_OFFER_BUDGET)
        return chosen->budget;
    return chosen->cost_high > chosen->budget ? chosen->cost_high
                                              : chosen->budget;
}

/*
 * The budget of the run becomes what is charged already and the limit of the
 * schedule, unless the run's own is less. Where that pays for the upper bound,
 * the configuration is kept for as many windows: a bag that takes longer than
 * expected, but no longer than that, is done as it was promised. Where it does
 * not, there is nothing to wait for.
 */
static void carry_out(struct bats_sched *s, const struct bats_schedule *chosen,
                      uint64_t tasks)
{
    struct sampling *p = &s->sampling;
    struct bats_ledger *ledger = &s->ledger;
    bats_money left = bats_ledger_available(ledger);
    bats_money limit = limit_of(chosen), budget;
    const struct bats_plan *plan = &chosen->plan;
    if (limit < left &&
        bats_units_add(ledger->charged + ledger->held, limit, &budget)) {
        bats_money room = left - limit;
        if (p->cushion && chosen->cushion > 0) {
            s->cushion = chosen->cushion < room ? chosen->cushion : room;
            s->delta_n = chosen->delta_n;
            s->cushion_from = budget - limit + chosen->budget;
        }
        ledger->budget = budget;
    }
    s->planned = true;
    s->feasible = plan->feasible;
    p->chosen = *chosen;
    p->has_chosen = true;
    p->phase = PHASE_NONE;
    if (p->is_open) /* the promise is of what comes from now on */
        mark_time(s);
    p->is_open = false;
    record(s, plan, tasks, bats_ledger_available(ledger));
    p->is_kept = bats_ledger_available(ledger) >= chosen->cost_high;
    fleet_configure(s, plan->machines,
                    p->is_kept ? chosen->windows_high : plan->windows);
}

/* A cushion that buys machines is part of the promise. */
static int add_cushion(const struct bats_estimator *e,
                       struct bats_schedule *chosen, struct bats_error *err)
{
    enum bats_offer offer = chosen->offer;
    int rc = bats_estimate_for_budget(e, chosen->budget + chosen->cushion,
                                      chosen, err);
    chosen->offer = offer;
    return rc;
}

int sampling_choose(struct bats_sched *s, const struct bats_choice *choice,
                    struct bats_error *err)
{
    struct sampling *p = &s->sampling;
    struct bats_estimator e;
    struct bats_schedule chosen;
    if (choice->offer == BATS_OFFER_NONE && p->phase == PHASE_SAMPLED) {
        p->phase = PHASE_LEAVING;
        return 0;
    }
    if (choice->offer == BATS_OFFER_NONE && p->is_open) {
        p->is_open = false;
        return 0;
    }
    int rc = bats_sched_estimator(s, &e, err);
    if (rc < 0)
        return rc;
    rc = bats_estimate_choose(&e, choice, &chosen, err);
    if (rc == 0 && p->cushion && chosen.refits)
        rc = add_cushion(&e, &chosen, err);
    if (rc == 0)
        carry_out(s, &chosen, e.n_tasks);
    return rc;
}

void bats_sched_sampled(const struct bats_sched *s,
                        struct bats_sched_sampled *sampled)
{
    const struct sampling *p = &s->sampling;
    *sampled = (struct bats_sched_sampled){.time = p->over_at,
                                           .charged = p->over_charged,
                                           .tasks = p->n_drawn,
                                           .given_up = p->given_up,
                                           .longest = p->longest,
                                           .observations = p->observations,
                                           .n_observations = p->n_observations,
                                           .chosen = p->has_chosen ? &p->chosen
                                                                   : NULL};
}
