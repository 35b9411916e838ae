/* state: its beginning and its end. See state.h. */
#include "engine/state/leases.h"

#include <stdlib.h>

#define SAMPLE_Z 1.96
#define SAMPLE_ERROR 0.25
#define LOOKS 40       /* at least, until a deadline */
#define CONFIDENCE 0.9 /* of a goal */

void state_stop(struct state *s, bool now, enum bats_finish why)
{
    if (!s->draining)
        s->why = why;
    s->draining = true;
    for (uint32_t i = 0; now && i < s->n_machines; i++)
        execution_cancel_machine(s, i);
}

void state_finish(struct state *s, enum bats_finish why)
{
    s->finish = why;
    state_bill(s);
    for (uint32_t i = 0; i < s->n_machines; i++) {
        lease_end(s, i, BATS_END_USER);
        purse_close(s, i);
    }
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state != MACHINE_ABSENT &&
            s->machines[i].state != MACHINE_LOST)
            state_emit(s, (struct bats_command){.type = BATS_COMMAND_RELEASE,
                                                .machine = i});
    state_emit(
        s, (struct bats_command){.type = BATS_NOTICE_FINISHED, .finish = why});
}

/* Workflows first: each pays what it held, not a share of what is charged. */
void state_kill(struct state *s)
{
    for (uint32_t i = 0; i < s->n_machines; i++) {
        purse_kill(s, i);
        if (s->lease->kill)
            s->lease->kill(s, i);
    }
}

void state_grant_cushion(struct state *s)
{
    if (s->ledger.put_by > 0 && bats_bag_left(&s->bag) <= s->cushion_tasks)
        bats_ledger_grant(&s->ledger);
}

void state_take_sample(struct state *s, const struct bats_sample *sample)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct cluster *c = &s->clusters[i];
        const struct bats_cluster_sample *found = &sample->clusters[i];
        c->stats.n_sample = c->stats.n_done = 0;
        c->stats.rt_done = c->stats.mean = 0;
        c->line = found->line;
        c->has_line = i == sample->base || found->n_pairs > 0;
        c->is_seen = found->n_measured > 0;
        for (uint32_t k = 0; k < found->n; k++)
            bats_stats_add(&c->stats, (bats_time)(found->runtimes[k] + 0.5),
                           true);
    }
}

/* ---- set up ---- */

static uint32_t sample_size(const struct bats_bag *bag,
                            const struct bats_sched_options *o)
{
    uint32_t left = bats_bag_left(bag);
    return left == 0
               ? 0
               : bats_stats_sample_size(
                     left, o->confidence_z > 0 ? o->confidence_z : SAMPLE_Z,
                     o->sample_error > 0 ? o->sample_error : SAMPLE_ERROR);
}

static void set_up_tasks(struct state *s, const struct bats_sched_options *o)
{
    for (uint32_t i = 0; i < o->n_tasks; i++) {
        uint32_t number = s->bag.index[i];
        s->tasks[i] = (struct task){
            .slot = NO_SLOT,
            .next = BATS_NO_POSITION,
            .replicas = NO_SLOT,
            .avoid = NO_MACHINE,
            .once = o->once && o->once[number],
            .failures = o->earlier.failures ? o->earlier.failures[number] : 0,
            .losses = o->earlier.losses ? o->earlier.losses[number] : 0};
    }
}

static void set_up_machines(struct state *s,
                            const struct bats_machine_spec *specs)
{
    for (uint32_t i = 0; i < s->n_machines; i++) {
        struct cluster *c = &s->clusters[specs[i].cluster];
        s->machines[i] = (struct machine){.cluster = specs[i].cluster,
                                          .first_slot = s->n_slots,
                                          .n_slots = specs[i].slots};
        s->rest[i] = (struct machine_rest){.member = c->n_machines++,
                                           .since = BATS_NEVER,
                                           .began_at = BATS_NEVER,
                                           .taken_at = BATS_NEVER};
        for (uint32_t k = 0; k < specs[i].slots; k++)
            s->slots[s->n_slots++] = (struct slot){.machine = i,
                                                   .head = BATS_NO_POSITION,
                                                   .tail = BATS_NO_POSITION,
                                                   .next_replica = NO_SLOT};
        c->n_slots += specs[i].slots;
    }
}

static bool set_up_clusters(struct state *s)
{
    uint32_t next = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct cluster *c = &s->clusters[i];
        c->first_machine = next;
        next += c->n_machines;
        if (c->spec.max > c->n_machines)
            c->spec.max = c->n_machines;
        if (!bats_heap_init(&c->parked, c->n_machines) ||
            bats_stats_init(&c->stats, s->sample_size, NULL) < 0)
            return false;
    }
    for (uint32_t id = 0; id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        s->members[s->clusters[m->cluster].first_machine +
                   s->rest[id].member] = id;
    }
    return true;
}

static bool allocate(struct state *s, const struct bats_sched_options *o)
{
    bool has_delays = o->rules.retry_delay > 0 || o->rules.yields > 0;
    for (uint32_t i = 0; i < o->n_purses; i++)
        has_delays |= o->purses[i].begin > 0;
    uint32_t n_slots = 0;
    for (uint32_t i = 0; i < o->n_machines; i++)
        n_slots += o->machines[i].slots;
    s->machines =
        aligned_alloc(CACHE_LINE, o->n_machines * sizeof *s->machines);
    s->rest = malloc(o->n_machines * sizeof *s->rest);
    s->members = calloc(o->n_machines, sizeof *s->members);
    s->held = calloc(o->n_machines, sizeof *s->held);
    s->slots = aligned_alloc(CACHE_LINE, n_slots * sizeof *s->slots);
    s->tasks = calloc(o->n_tasks, sizeof *s->tasks);
    s->busy = calloc(n_slots / 64 + 1, sizeof *s->busy);
    return s->machines && s->rest && s->members && s->held && s->slots &&
           s->tasks && s->busy && bats_heap_init(&s->turns, o->n_machines) &&
           bats_heap_init(&s->limits, s->has_limits ? n_slots : 0) &&
           bats_heap_init(&s->quarantines, o->n_machines) &&
           bats_heap_init(&s->retries, has_delays ? o->n_tasks : 0) &&
           bats_bag_init(&s->bag, o->n_tasks, o->seed, NULL) == 0;
}

static int resume(struct state *s, const struct bats_sched_earlier *earlier,
                  bool in_order)
{
    if (in_order)
        bats_bag_keep_order(&s->bag);
    if (!earlier->fresh) {
        if (earlier->state)
            bats_bag_resume(&s->bag, earlier->state);
        return 0;
    }
    uint8_t *state = malloc(s->bag.n);
    if (!state)
        return BATS_ENOMEM;
    for (uint32_t i = 0; i < s->bag.n; i++)
        state[i] = earlier->fresh[i] ? BATS_TASK_DONE
                   : earlier->state  ? earlier->state[i]
                                     : BATS_TASK_PENDING;
    bats_bag_resume(&s->bag, state);
    free(state);
    return 0;
}

/* The ready task that the longest chain of others waits for is run first. */
static int connect(struct state *s, const struct bats_graph *graph,
                   struct bats_error *err)
{
    uint32_t *order = s->sorted =
        malloc(((size_t)graph->n_nodes + 1) * sizeof *order);
    uint32_t n_circle;
    int64_t n =
        order ? bats_graph_sort(graph, order, &n_circle, err) : BATS_ENOMEM;
    int rc = n < 0 ? (int)n : 0;
    if (rc == 0 && n < graph->n_nodes)
        rc = bats_error_set(err, BATS_EINPUT,
                            "node %u of the graph waits for itself", order[n]);
    s->height = calloc((size_t)graph->n_nodes + 1, sizeof *s->height);
    if (rc == 0 && !s->height)
        rc = BATS_ENOMEM;
    if (rc == 0) {
        bats_graph_heights(graph, order, s->height);
        rc = bats_bag_connect(&s->bag, graph, s->height, err);
    }
    return rc;
}

/* A run that costs nothing has nothing to choose from. */
static bool has_phase(const struct state *s,
                      const struct bats_sched_sampling *sampling)
{
    bool charges = false;
    for (size_t i = 0; i < s->n_clusters; i++)
        charges |= s->clusters[i].price > 0;
    return sampling->on &&
           (!sampling->offers || charges || sampling->n_observations > 0);
}

/* A window of a new machine costs so much: what plans are made with. */
static void set_price(const struct state *s, struct cluster *c)
{
    struct bats_tariff *t = &c->spec.tariff;
    if (t->n_steps == 0)
        *t = (struct bats_tariff){
            .per = s->window, .n_steps = 1, .step = {{.charge = c->price}}};
    c->price = c->spec.charge =
        bats_tariff_cost(t, t->shortest, 0, s->window, BATS_END_USER);
}

int state_init(struct state *s, const struct bats_sched_options *o,
               struct bats_error *err)
{
    const struct bats_sched_earlier *earlier = &o->earlier;
    *s = (struct state){
        .window = o->window,
        .interval = o->monitor_interval > 0 ? o->monitor_interval
                                            : (o->window + 11) / 12,
        .preempt_lead = o->preempt_lead,
        .prefetch = o->prefetch,
        .time_limit =
            o->rules.time_limit > 0 ? o->rules.time_limit : BATS_NEVER,
        .goal = o->goal,
        .terms = lease_terms_of(o->billing.model),
        .lease = lease_kind_of(o->billing.model),
        .earlier_charged = earlier->charged,
        .tops_up = earlier->tops_up,
        .next_tick = o->billing.model == BATS_BILLING_JOB ? 0 : BATS_NEVER,
        .has_limits = o->rules.timeout > 0 || o->rules.timeout_median > 0 ||
                      o->policy == &bats_policy_expert,
        .limits_vary =
            o->rules.timeout_median > 0 || o->policy == &bats_policy_expert,
        .n_clusters = o->n_clusters,
        .n_machines = o->n_machines,
        .n_absent = o->n_machines,
        .idle_first = NO_SLOT,
        .idle_last = NO_SLOT,
        .idle_asked = NO_SLOT};
    if (s->goal.deadline == 0)
        s->goal.deadline = BATS_NEVER;
    s->interval_after = s->interval;
    if (o->monitor_interval == 0 && s->interval > s->goal.deadline / LOOKS)
        s->interval = s->goal.deadline / LOOKS + 1;
    if (s->goal.confidence <= 0)
        s->goal.confidence = CONFIDENCE;
    for (size_t i = 0; i < o->n_clusters; i++) {
        s->clusters[i].spec = o->clusters[i];
        s->clusters[i].price = o->clusters[i].charge;
        s->clusters[i].expected = o->expected ? o->expected[i] : 0;
        if (s->terms.lasts || s->terms.idle_is_free)
            s->clusters[i].spec.charge = 0;
        if (o->billing.model == BATS_BILLING_SECOND)
            set_price(s, &s->clusters[i]);
        s->clusters[i].limit = BATS_NEVER;
    }
    bats_ledger_init(&s->ledger, o->budget, earlier->charged);
    if (s->terms.lasts || s->terms.later)
        bats_ledger_allocate(&s->ledger, &o->billing);
    state_set_latest(s);
    if (!allocate(s, o))
        return BATS_ENOMEM;
    int rc = resume(s, earlier, o->in_order);
    if (rc < 0)
        return rc;
    rc = o->graph ? connect(s, o->graph, err) : 0;
    if (rc == 0)
        rc = categories_init(s, o);
    if (rc == 0)
        rc = levels_init(s);
    if (rc == 0)
        rc = purses_init(s, o);
    if (rc < 0)
        return rc;
    s->sample_size = sample_size(&s->bag, o);
    set_up_tasks(s, o);
    set_up_machines(s, o->machines);
    s->phase = has_phase(s, &o->sampling) ? PHASE_SAMPLING : PHASE_NONE;
    if (!set_up_clusters(s))
        return BATS_ENOMEM;
    categories_take_told(s);
    for (uint32_t i = 0; s->terms.waits && i < s->n_machines; i++)
        machine_join(s, i);
    for (size_t i = 0; i < earlier->n_seen; i++) {
        struct cluster *c = &s->clusters[earlier->seen[i].cluster];
        bats_stats_add(&c->stats, earlier->seen[i].runtime, true);
        c->is_seen = true;
    }
    return 0;
}

void state_release(struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        bats_stats_release(&s->clusters[i].stats);
        bats_heap_release(&s->clusters[i].parked);
    }
    bats_bag_release(&s->bag);
    free(s->height);
    free(s->sorted);
    categories_release(s);
    levels_release(s);
    purses_release(s);
    bats_heap_release(&s->turns);
    bats_heap_release(&s->limits);
    bats_heap_release(&s->quarantines);
    bats_heap_release(&s->retries);
    free(s->machines);
    free(s->rest);
    free(s->members);
    free(s->held);
    free(s->slots);
    free(s->busy);
    free(s->tasks);
    free(s->queue);
    free(s->decisions);
}
