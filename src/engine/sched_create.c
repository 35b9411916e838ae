/* sched_create: the engine's life cycle. See sched.h and sched_state.h. */
#include "engine/sched_state.h"

#include <stdlib.h>

#define SAMPLE_Z 1.96
#define SAMPLE_ERROR 0.25

static int check_options(const struct bats_sched_options *o,
                         struct bats_error *err)
{
    if (o->n_tasks < 1 || o->n_tasks == BATS_NO_TASK)
        return bats_error_set(err, BATS_EINPUT, "the bag has no tasks");
    if (o->n_clusters < 1 || o->n_clusters > BATS_CLUSTERS_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "%zu clusters: there must be 1 to %d",
                              o->n_clusters, BATS_CLUSTERS_MAX);
    if (o->n_machines < 1)
        return bats_error_set(err, BATS_EINPUT, "there are no machines");
    if (o->window < 1 || o->window > TIME_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "the window must be longer than 0");
    if (o->budget < 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the budget must not be negative");
    if (o->tail == BATS_TAIL_PERFECT && !o->true_runtime)
        return bats_error_set(err, BATS_EINPUT,
                              "the perfect tail needs true runtimes");
    if (o->earlier.charged < 0 || o->earlier.charged > o->budget)
        return bats_error_set(err, BATS_EINPUT,
                              "more has been charged already than the budget "
                              "allows");
    if (o->rules.retry_delay < 0 || o->rules.timeout < 0 ||
        o->rules.deadline < 0 || o->rules.retries > UINT8_MAX ||
        o->rules.losses >= UINT8_MAX || o->rules.yields > 31 ||
        o->rules.retry_delay > TIME_MAX || o->rules.timeout > TIME_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "a rule for failed tasks is out of range");
    if (o->monitor_interval < 0 || o->prefetch < 0 || o->preempt_lead < 0 ||
        o->preempt_lead >= o->window)
        return bats_error_set(err, BATS_EINPUT,
                              "the monitoring interval, the prefetch time and "
                              "the preemption lead must not be negative, and "
                              "the lead must be shorter than the window");
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i].charge < 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "cluster %s has a negative charge",
                                  o->clusters[i].name);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < o->n_machines; i++) {
        slots += o->machines[i].slots;
        if (o->machines[i].cluster >= o->n_clusters ||
            o->machines[i].slots < 1 || slots >= NO_SLOT)
            return bats_error_set(err, BATS_EINPUT,
                                  "machine %u has no cluster or no slots", i);
    }
    return 0;
}

static bool set_up_machines(struct bats_sched *s,
                            const struct bats_machine_spec *specs,
                            const bats_time *paid)
{
    for (uint32_t i = 0; i < s->n_machines; i++) {
        struct cluster *c = &s->clusters[specs[i].cluster];
        s->machines[i] = (struct machine){.cluster = specs[i].cluster,
                                          .first_slot = s->n_slots,
                                          .n_slots = specs[i].slots};
        s->rest[i] = (struct machine_rest){.member = c->n_machines++,
                                           .paid_before = paid ? paid[i] : 0};
        for (uint32_t k = 0; k < specs[i].slots; k++)
            s->slots[s->n_slots++] = (struct slot){.machine = i,
                                                   .head = BATS_NO_TASK,
                                                   .tail = BATS_NO_TASK,
                                                   .next_copy = NO_SLOT};
        c->n_slots += specs[i].slots;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct cluster *c = &s->clusters[i];
        c->first_machine = next;
        next += c->n_machines;
        if (c->spec.max > c->n_machines)
            c->spec.max = c->n_machines;
    }
    for (uint32_t id = 0; id < s->n_machines; id++) {
        const struct machine *m = &s->machines[id];
        s->members[s->clusters[m->cluster].first_machine +
                   s->rest[id].member] = id;
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        if (!bats_heap_init(&s->clusters[i].parked, s->clusters[i].n_machines))
            return false;
    return true;
}

static bool has_timeouts(const struct bats_sched_options *o)
{
    return o->rules.timeout > 0 || o->rules.timeout_median > 0;
}

static bool has_delays(const struct bats_sched_options *o)
{
    return o->rules.retry_delay > 0 || o->rules.yields > 0;
}

/* What is known of the clusters already. */
static void take_earlier(struct bats_sched *s,
                         const struct bats_sched_earlier *earlier)
{
    s->tops_up = earlier->tops_up;
    for (size_t i = 0; i < earlier->n_seen; i++) {
        const struct bats_observation *seen = &earlier->seen[i];
        bats_stats_add(&s->clusters[seen->cluster].stats, seen->runtime, true);
        if (s->tops_up)
            tail_learn(s, seen->cluster, seen->runtime);
    }
}

static bool earlier_fits(const struct bats_sched_options *o)
{
    const struct bats_sched_earlier *e = &o->earlier;
    for (size_t i = 0; i < e->n_seen; i++)
        if (e->seen[i].cluster >= o->n_clusters || e->seen[i].runtime < 0)
            return false;
    for (uint32_t i = 0; e->paid && i < o->n_machines; i++)
        if (e->paid[i] > o->window)
            return false;
    return true;
}

static bool shrink_fits(const struct bats_sched_options *o)
{
    for (uint32_t i = 0; o->shrink.node != NULL && i < o->n_machines; i++)
        if (o->shrink.node[i] >= o->n_machines)
            return false;
    return o->shrink.restart >= 0;
}

int bats_sched_create(const struct bats_sched_options *o,
                      struct bats_sched **sched, struct bats_error *err)
{
    int rc = check_options(o, err);
    if (rc == 0 && !(shrink_fits(o) && earlier_fits(o)))
        rc = bats_error_set(err, BATS_EINPUT,
                            "what is known of the nodes or of an earlier "
                            "session is out of range");
    if (rc < 0)
        return rc;
    struct bats_sched *s = calloc(1, sizeof *s);
    if (!s)
        goto no_memory;
    s->policy = o->policy;
    s->reconfigure = o->reconfigure;
    s->window = o->window;
    s->interval =
        o->monitor_interval > 0 ? o->monitor_interval : (o->window + 11) / 12;
    s->preempt_lead = o->preempt_lead;
    s->prefetch = o->prefetch;
    s->next_tick = BATS_NEVER;
    s->wakeup = o->rules.deadline > 0 ? o->rules.deadline : BATS_NEVER;
    s->n_machines = s->n_absent = o->n_machines;
    s->n_clusters = o->n_clusters;
    s->idle_first = s->idle_last = NO_SLOT;
    s->rules = o->rules;
    s->tail = (struct tail){.strategy = o->tail,
                            .random = o->seed,
                            .asked = NO_SLOT,
                            .true_runtime = o->true_runtime,
                            .true_context = o->true_context};
    s->earlier_charged = o->earlier.charged;
    bats_ledger_init(&s->ledger, o->budget, o->earlier.charged);

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
    s->tail.list = calloc(n_slots < TAIL_TASKS ? n_slots : TAIL_TASKS,
                          sizeof *s->tail.list);
    if (!s->machines || !s->rest || !s->members || !s->held || !s->slots ||
        !s->tasks || !s->busy || !s->tail.list ||
        !bats_heap_init(&s->due, o->n_machines) ||
        bats_bag_init(&s->bag, o->n_tasks, o->seed, NULL) < 0 ||
        !bats_heap_init(&s->limits, has_timeouts(o) ? n_slots : 0) ||
        !bats_heap_init(&s->retries, has_delays(o) ? o->n_tasks : 0))
        goto no_memory;
    if (o->earlier.state)
        bats_bag_resume(&s->bag, o->earlier.state);
    if (s->bag.count[BATS_TASK_PENDING] > 0)
        s->sample_size = bats_stats_sample_size(
            s->bag.count[BATS_TASK_PENDING],
            o->confidence_z > 0 ? o->confidence_z : SAMPLE_Z,
            o->sample_error > 0 ? o->sample_error : SAMPLE_ERROR);
    rc = sampling_init(s, o, err);
    if (rc < 0) {
        bats_sched_destroy(s);
        return rc;
    }
    for (size_t i = 0; i < o->n_clusters; i++) {
        s->clusters[i].spec = o->clusters[i];
        if (bats_stats_init(&s->clusters[i].stats, s->sample_size, NULL) < 0)
            goto no_memory;
    }
    for (uint32_t i = 0; i < o->n_tasks; i++) {
        uint32_t number = s->bag.task[i];
        s->tasks[i] = (struct task){
            .slot = NO_SLOT,
            .next = BATS_NO_TASK,
            .copies = NO_SLOT,
            .avoid = NO_MACHINE,
            .once = o->once && o->once[number],
            .failures = o->earlier.failures ? o->earlier.failures[number] : 0,
            .losses = o->earlier.losses ? o->earlier.losses[number] : 0};
    }
    take_earlier(s, &o->earlier);
    if (!set_up_machines(s, o->machines, o->earlier.paid) ||
        !shrink_init(s, &o->shrink))
        goto no_memory;
    *sched = s;
    return 0;

no_memory:
    bats_sched_destroy(s);
    return bats_error_set(err, BATS_ENOMEM,
                          "no memory to schedule %u tasks on %u machines",
                          o->n_tasks, o->n_machines);
}

void bats_sched_destroy(struct bats_sched *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_clusters; i++) {
        bats_stats_release(&s->clusters[i].stats);
        bats_heap_release(&s->clusters[i].parked);
        bats_histogram_release(&s->clusters[i].histogram);
    }
    sampling_release(s);
    shrink_release(s);
    bats_bag_release(&s->bag);
    bats_heap_release(&s->due);
    bats_heap_release(&s->limits);
    bats_heap_release(&s->retries);
    free(s->machines);
    free(s->rest);
    free(s->members);
    free(s->held);
    free(s->slots);
    free(s->busy);
    free(s->tasks);
    free(s->tail.list);
    free(s->queue);
    free(s->decisions);
    free(s);
}
