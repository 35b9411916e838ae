/* state: creates, kills and releases the state. See state.h. */
#include "engine/state/moves.h"

#include <stdlib.h>

#define SAMPLE_Z 1.96
#define SAMPLE_ERROR 0.25
#define TICKS 8        /* ticks per lease of a job, at least */
#define LOOKS 40       /* looks until a deadline, at least */
#define CONFIDENCE 0.9 /* default confidence of a goal */

void state_stop(struct state *s, bool now, enum bats_finish why)
{
    if (!s->run.draining)
        s->run.why = why;
    s->run.draining = true;
    for (uint32_t i = 0; now && i < s->n_machines; i++)
        execution_cancel_machine(s, i);
}

void state_pass(struct state *s, bats_time now)
{
    s->now = now;
    bats_ledger_pass(&s->money.ledger, now);
}

void state_bill(struct state *s)
{
    bats_money amount = bats_ledger_book(&s->money.ledger);
    if (amount != 0) /* < 0: more was recorded than billed */
        state_tell_charge(s, BATS_NO_MACHINE, amount);
}

void state_set_latest(struct state *s)
{
    bats_time end = bats_ledger_lasts(&s->money.ledger);
    s->money.late =
        end < s->run.time_limit ? BATS_FINISH_BUDGET : BATS_FINISH_TIME_LIMIT;
    s->money.latest = end < s->run.time_limit ? end : s->run.time_limit;
}

void state_finish(struct state *s, enum bats_finish why)
{
    s->run.finish = why;
    state_bill(s);
    books_end(s, BATS_NO_MACHINE);
    for (uint32_t i = 0; i < s->n_machines; i++) {
        lease_end(s, i, BATS_END_USER);
        purse_close(s, i);
    }
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state != MACHINE_ABSENT &&
            s->machines[i].state != MACHINE_LOST)
            state_emit(s, BATS_COMMAND_RELEASE, i);
    state_emit(s, BATS_NOTICE_FINISHED, 0)->finish = why;
}

/* Workflows first: each pays what it holds, not a share of the charge. */
void state_kill(struct state *s)
{
    for (uint32_t i = 0; i < s->n_machines; i++) {
        purse_kill(s, i);
        if (s->money.lease->kill)
            s->money.lease->kill(s, i);
    }
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
    uint32_t left = o->open ? o->n_tasks : bats_bag_left(bag);
    return left == 0
               ? 0
               : bats_stats_sample_size(
                     left, o->confidence_z > 0 ? o->confidence_z : SAMPLE_Z,
                     o->sample_error > 0 ? o->sample_error : SAMPLE_ERROR);
}

/* Without --retry-time, earlier time-outs raise no limit. */
static uint8_t times_more(const struct bats_sched_options *o, uint32_t task)
{
    uint8_t n = o->earlier.time_more ? o->earlier.time_more[task] : 0;
    return o->rules.retry_time == 0 ? 0
           : n < BATS_TIMES_MORE    ? n
                                    : BATS_TIMES_MORE;
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
            .losses = o->earlier.losses ? o->earlier.losses[number] : 0,
            .times_more = times_more(o, number)};
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
            bats_stats_init(&c->stats, s->known.sample_size, NULL) < 0)
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
    s->machines = state_room(s, o->n_machines, sizeof *s->machines);
    s->rest = state_room(s, o->n_machines, sizeof *s->rest);
    s->members = state_room(s, o->n_machines, sizeof *s->members);
    s->held = state_room(s, o->n_machines, sizeof *s->held);
    s->slots = state_room(s, n_slots, sizeof *s->slots);
    s->tasks = state_room(s, o->n_tasks, sizeof *s->tasks);
    s->busy = state_room(s, n_slots / 64 + 1, sizeof *s->busy);
    s->any_busy = state_room(s, n_slots / 4096 + 2, sizeof *s->any_busy);
    s->idle.number = state_room(s, n_slots, sizeof *s->idle.number);
    s->idle.news = state_room(s, o->n_machines, sizeof *s->idle.news);
    return s->answers.failure == 0 &&
           bats_heap_init(&s->turns, o->n_machines) &&
           bats_heap_init(&s->limits, s->run.has_limits ? n_slots : 0) &&
           bats_heap_init(&s->quarantines, o->n_machines) &&
           bats_heap_init(&s->retries, has_delays ? o->n_tasks : 0) &&
           bats_bag_init(&s->bag, o->n_tasks, o->seed, NULL) == 0;
}

static int resume(struct state *s, const struct bats_sched_options *o)
{
    const struct bats_sched_earlier *earlier = &o->earlier;
    if (o->in_order)
        bats_bag_keep_order(&s->bag, o->order);
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

/* Ready tasks with the longest chain of dependents run first. */
static int connect(struct state *s, const struct bats_graph *graph,
                   struct bats_error *err)
{
    size_t n_nodes = graph->n_nodes;
    uint32_t *order = state_room(s, n_nodes, sizeof *order), n_circle;
    s->known.sorted = order;
    s->known.height = state_room(s, n_nodes, sizeof *s->known.height);
    if (s->answers.failure < 0)
        return BATS_ENOMEM;
    int64_t n = bats_graph_sort(graph, order, &n_circle, err);
    if (n < 0)
        return (int)n;
    if (n < graph->n_nodes)
        return bats_error_set(err, BATS_EINPUT,
                              "node %u of the graph waits for itself",
                              order[n]);
    bats_graph_heights(graph, order, s->known.height);
    return bats_bag_connect(&s->bag, graph, s->known.height, err);
}

/* Whether there is a sampling phase: a run that costs nothing offers no
 * choice. */
static bool has_phase(const struct state *s,
                      const struct bats_sched_sampling *sampling)
{
    bool charges = false;
    for (size_t i = 0; i < s->n_clusters; i++)
        charges |= s->clusters[i].price > 0;
    return sampling->on &&
           (!sampling->offers || charges || sampling->n_observations > 0);
}

static struct run run_of(const struct bats_sched_options *o,
                         struct bats_lease_terms terms, bool gives_up)
{
    struct run run = {
        .window = o->window,
        .interval = o->monitor_interval > 0 ? o->monitor_interval
                                            : (o->window + 11) / 12,
        .preempt_lead = o->preempt_lead,
        .prefetch = o->prefetch,
        .time_limit =
            o->rules.time_limit > 0 ? o->rules.time_limit : BATS_NEVER,
        .goal = o->goal,
        .next_tick = terms.waits ? 0 : BATS_NEVER,
        .lingers_until = BATS_NEVER,
        .is_open = o->open,
        .in_all = o->in_all,
        .gives_up = gives_up,
        .retry_time = o->rules.retry_time,
        .has_limits = o->rules.timeout > 0 || o->rules.timeout_median > 0 ||
                      gives_up || (o->open && o->needs),
        .limits_vary = o->rules.timeout_median > 0 || gives_up};
    if (run.goal.deadline == 0)
        run.goal.deadline = BATS_NEVER;
    if (o->billing.lease > 0 && run.interval > o->billing.lease / TICKS)
        run.interval = o->billing.lease / TICKS;
    run.interval_after = run.interval;
    if (o->monitor_interval == 0 && run.interval > run.goal.deadline / LOOKS)
        run.interval = run.goal.deadline / LOOKS + 1;
    if (run.goal.confidence <= 0)
        run.goal.confidence = CONFIDENCE;
    return run;
}

static void set_up_money(struct state *s, const struct bats_sched_options *o)
{
    const struct lease_kind *lease = s->money.lease;
    for (size_t i = 0; i < o->n_clusters; i++) {
        s->clusters[i].spec = o->clusters[i];
        s->clusters[i].price = o->clusters[i].charge;
        s->clusters[i].expected = o->expected ? o->expected[i] : 0;
        s->clusters[i].limit = BATS_NEVER;
        if (lease->set_up)
            lease->set_up(s, &s->clusters[i]);
    }
    bats_ledger_init(&s->money.ledger, o->budget, o->earlier.charged);
    if (lease->is_own)
        bats_ledger_allocate(&s->money.ledger, &o->billing);
    state_set_latest(s);
}

static int set_up_bag(struct state *s, const struct bats_sched_options *o,
                      struct bats_error *err)
{
    int rc = resume(s, o);
    if (rc == 0)
        rc = needs_init(s, o);
    if (rc == 0 && o->graph)
        rc = connect(s, o->graph, err);
    if (rc == 0 && o->open)
        rc = bats_bag_open(&s->bag, err);
    if (rc == 0)
        rc = categories_init(s, o);
    if (rc == 0)
        rc = purses_init(s, o);
    return rc == 0 ? books_init(s, o) : rc;
}

static void take_seen(struct state *s,
                      const struct bats_sched_earlier *earlier)
{
    for (size_t i = 0; i < earlier->n_seen; i++) {
        struct cluster *c = &s->clusters[earlier->seen[i].cluster];
        bats_stats_add(&c->stats, earlier->seen[i].runtime, true);
        c->is_seen = true;
    }
}

int state_init(struct state *s, const struct bats_sched_options *o,
               const struct lease_kind *lease, bool gives_up,
               struct bats_error *err)
{
    s->known.tops_up = o->earlier.tops_up;
    s->money.terms = lease->terms;
    s->money.lease = lease;
    s->money.earlier_charged = o->earlier.charged;
    s->run = run_of(o, lease->terms, gives_up);
    s->n_machines = s->n_absent = o->n_machines;
    s->clusters = state_room(s, o->n_clusters, sizeof *s->clusters);
    if (!s->clusters)
        return BATS_ENOMEM;
    s->n_clusters = o->n_clusters;
    for (size_t c = 0; c < o->n_clusters; c++)
        s->idle.of[c] = (struct idle_list){NO_SLOT, NO_SLOT, 0};
    set_up_money(s, o);
    state_believe(s, o->prior);
    if (!allocate(s, o))
        return BATS_ENOMEM;
    int rc = set_up_bag(s, o, err);
    if (rc < 0)
        return rc;
    s->known.sample_size = sample_size(&s->bag, o);
    set_up_tasks(s, o);
    set_up_machines(s, o->machines);
    s->run.phase = has_phase(s, &o->sampling) ? PHASE_SAMPLING : PHASE_NONE;
    if (!set_up_clusters(s))
        return BATS_ENOMEM;
    categories_take_told(s);
    for (uint32_t i = 0; s->money.terms.waits && i < s->n_machines; i++)
        machine_join(s, i);
    take_seen(s, &o->earlier);
    return 0;
}

void state_release(struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        bats_stats_release(&s->clusters[i].stats);
        bats_heap_release(&s->clusters[i].parked);
    }
    bats_bag_release(&s->bag);
    purses_release(s);
    books_release(s);
    bats_heap_release(&s->turns);
    bats_heap_release(&s->limits);
    bats_heap_release(&s->quarantines);
    bats_heap_release(&s->retries);
    free(s->answers.queue);
    free(s->answers.decisions);
    rooms_release(s);
}
