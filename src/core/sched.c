/* sched: events in, commands out. See sched.h and sched_state.h. */
#include "core/sched_state.h"

#include <assert.h>
#include <stdlib.h>

#define SAMPLE_Z 1.96
#define SAMPLE_ERROR 0.25
#define TIME_MAX (INT64_MAX / 4) /* sums of two times never wrap */

/* ---- life cycle ---- */

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

static void set_up_machines(struct bats_sched *s,
                            const struct bats_machine_spec *specs)
{
    for (uint32_t i = 0; i < s->n_machines; i++) {
        struct cluster *c = &s->clusters[specs[i].cluster];
        s->machines[i] = (struct machine){.cluster = specs[i].cluster,
                                          .first_slot = s->n_slots,
                                          .n_slots = specs[i].slots};
        for (uint32_t k = 0; k < specs[i].slots; k++)
            s->slots[s->n_slots++] = (struct slot){
                .machine = i, .head = BATS_NO_TASK, .tail = BATS_NO_TASK};
        c->n_slots += specs[i].slots;
        c->n_machines++;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct cluster *c = &s->clusters[i];
        c->first_machine = next;
        next += c->n_machines;
        if (c->spec.max > c->n_machines)
            c->spec.max = c->n_machines;
        uint32_t at = c->first_machine;
        for (uint32_t id = 0; id < s->n_machines; id++)
            if (s->machines[id].cluster == i)
                s->members[at++] = id;
    }
}

int bats_sched_create(const struct bats_sched_options *o,
                      struct bats_sched **sched, struct bats_error *err)
{
    int rc = check_options(o, err);
    if (rc < 0)
        return rc;
    struct bats_sched *s = calloc(1, sizeof *s);
    if (!s)
        goto no_memory;
    s->policy = o->policy;
    s->window = o->window;
    s->interval =
        o->monitor_interval > 0 ? o->monitor_interval : (o->window + 11) / 12;
    s->preempt_lead = o->preempt_lead;
    s->prefetch = o->prefetch;
    s->sample_size = bats_stats_sample_size(
        o->n_tasks, o->confidence_z > 0 ? o->confidence_z : SAMPLE_Z,
        o->sample_error > 0 ? o->sample_error : SAMPLE_ERROR);
    s->next_tick = BATS_NEVER;
    s->n_machines = s->n_absent = o->n_machines;
    s->n_clusters = o->n_clusters;
    s->idle_first = s->idle_last = NO_SLOT;
    bats_ledger_init(&s->ledger, o->budget);

    uint32_t n_slots = 0;
    for (uint32_t i = 0; i < o->n_machines; i++)
        n_slots += o->machines[i].slots;
    s->machines = calloc(o->n_machines, sizeof *s->machines);
    s->members = calloc(o->n_machines, sizeof *s->members);
    s->slots = calloc(n_slots, sizeof *s->slots);
    s->tasks = calloc(o->n_tasks, sizeof *s->tasks);
    if (!s->machines || !s->members || !s->slots || !s->tasks ||
        !bats_heap_init(&s->due, o->n_machines) ||
        bats_bag_init(&s->bag, o->n_tasks, o->seed, NULL) < 0)
        goto no_memory;
    for (size_t i = 0; i < o->n_clusters; i++) {
        s->clusters[i].spec = o->clusters[i];
        if (bats_stats_init(&s->clusters[i].stats, s->sample_size, NULL) < 0)
            goto no_memory;
    }
    for (uint32_t i = 0; i < o->n_tasks; i++)
        s->tasks[i] = (struct task){.slot = NO_SLOT, .next = BATS_NO_TASK};
    set_up_machines(s, o->machines);
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
    for (size_t i = 0; i < s->n_clusters; i++)
        bats_stats_release(&s->clusters[i].stats);
    bats_bag_release(&s->bag);
    bats_heap_release(&s->due);
    free(s->machines);
    free(s->members);
    free(s->slots);
    free(s->tasks);
    free(s->queue);
    free(s->decisions);
    free(s);
}

/* ---- commands ---- */

void sched_emit(struct bats_sched *s, struct bats_command command)
{
    if (s->queue_n == s->queue_capacity) {
        size_t capacity = s->queue_capacity ? 2 * s->queue_capacity : 64;
        struct bats_command *queue = malloc(capacity * sizeof *queue);
        if (!queue) {
            s->failure = BATS_ENOMEM;
            return;
        }
        for (size_t i = 0; i < s->queue_n; i++)
            queue[i] = s->queue[(s->queue_first + i) % s->queue_capacity];
        free(s->queue);
        s->queue = queue;
        s->queue_first = 0;
        s->queue_capacity = capacity;
    }
    s->queue[(s->queue_first + s->queue_n++) % s->queue_capacity] = command;
}

bool bats_sched_next(struct bats_sched *s, struct bats_command *command)
{
    if (s->queue_n == 0)
        return false;
    *command = s->queue[s->queue_first];
    s->queue_first = (s->queue_first + 1) % s->queue_capacity;
    s->queue_n--;
    return true;
}

bats_time bats_sched_wakeup(const struct bats_sched *s)
{
    uint32_t id;
    if (s->finish != BATS_FINISH_NOT_YET)
        return BATS_NEVER;
    bats_time due = bats_heap_first(&s->due, &id);
    return due < s->next_tick ? due : s->next_tick;
}

/* ---- what follows from every step ---- */

static void finish(struct bats_sched *s, enum bats_finish why)
{
    s->finish = why;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state != MACHINE_ABSENT &&
            s->machines[i].state != MACHINE_LOST)
            sched_emit(s, (struct bats_command){.type = BATS_COMMAND_RELEASE,
                                                .machine = i});
    sched_emit(s, (struct bats_command){.type = BATS_COMMAND_FINISHED,
                                        .finish = why});
}

/* Tasks are left, nothing runs and every machine has been heard of: either the
 * policy finds something to start, or the run is over. */
static int unstall(struct bats_sched *s, struct bats_error *err)
{
    if (s->n_lost == s->n_machines) {
        finish(s, BATS_FINISH_NO_MACHINES);
        return 0;
    }
    int rc = s->policy->review(s, BATS_REASON_STALLED, err);
    if (rc < 0)
        return rc;
    dispatch_rescan(s);
    dispatch_idle(s);
    /* A machine that is leaving may be wanted again once it is parked. */
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->machines[i].state == MACHINE_LEAVING)
            return 0;
    if (s->n_busy == 0)
        finish(s, BATS_FINISH_BUDGET);
    return 0;
}

static int settle(struct bats_sched *s, struct bats_error *err)
{
    const uint32_t *count = s->bag.count;
    int rc = 0;
    if (s->finish != BATS_FINISH_NOT_YET)
        return 0;
    dispatch_idle(s);
    if (count[BATS_TASK_DONE] + count[BATS_TASK_FAILED] == s->bag.n)
        finish(s, BATS_FINISH_ALL_DONE);
    else if (s->draining && s->n_busy == 0)
        finish(s, BATS_FINISH_STOPPED);
    else if (s->n_busy == 0 && s->n_absent == 0)
        rc = unstall(s, err);
    if (rc == 0 && s->failure < 0)
        rc =
            bats_error_set(err, s->failure, "no memory for a scheduling step");
    return rc;
}

/* Does what falls due before `limit`, or at it if `inclusive`. Monitoring goes
 * before ends of windows at the same time, so that these see the new plan. */
static int advance(struct bats_sched *s, bats_time limit, bool inclusive,
                   struct bats_error *err)
{
    while (s->finish == BATS_FINISH_NOT_YET) {
        uint32_t id = 0;
        bats_time due = bats_heap_first(&s->due, &id);
        bats_time time = due < s->next_tick ? due : s->next_tick;
        if (time > limit || (time == limit && !inclusive))
            break;
        if (time > s->now)
            s->now = time;
        int rc = 0;
        if (s->next_tick <= due) {
            s->next_tick += s->interval;
            forecast_means(s);
            dispatch_rescan(s);
            if (!s->draining)
                rc = s->policy->review(s, BATS_REASON_VIOLATION, err);
        } else {
            fleet_turn(s, id);
        }
        if (rc == 0)
            rc = settle(s, err);
        if (rc < 0)
            return rc;
    }
    if (limit > s->now)
        s->now = limit;
    return 0;
}

/* ---- events ---- */

static int check_task_event(const struct bats_sched *s,
                            const struct bats_event *ev,
                            struct bats_error *err)
{
    const struct machine *m = &s->machines[ev->machine];
    if (ev->task >= s->bag.n || ev->slot >= m->n_slots ||
        s->tasks[ev->task].slot != m->first_slot + ev->slot)
        return bats_error_set(err, BATS_ESTATE,
                              "task %u is not on machine %u, slot %u",
                              ev->task, ev->machine, ev->slot);
    if (ev->type == BATS_EVENT_PREEMPTED &&
        s->bag.state[ev->task] != BATS_TASK_CANCELLING)
        return bats_error_set(err, BATS_ESTATE,
                              "task %u was preempted without a reason",
                              ev->task);
    if (ev->type != BATS_EVENT_PREEMPTED && ev->runtime < 0)
        return bats_error_set(err, BATS_ESTATE,
                              "task %u ran for a negative time", ev->task);
    return 0;
}

static int check_event(const struct bats_sched *s, bats_time now,
                       const struct bats_event *ev, struct bats_error *err)
{
    if (now < 0 || now > TIME_MAX)
        return bats_error_set(err, BATS_EOVERFLOW, "the time %lld is no time",
                              (long long)now);
    if (ev->type == BATS_EVENT_TICK || ev->type == BATS_EVENT_DRAIN ||
        ev->type == BATS_EVENT_STOP)
        return 0;
    if (ev->machine >= s->n_machines)
        return bats_error_set(err, BATS_ESTATE, "there is no machine %u",
                              ev->machine);
    enum machine_state state = s->machines[ev->machine].state;
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        if (state != MACHINE_ABSENT)
            return bats_error_set(err, BATS_ESTATE,
                                  "machine %u joined a second time",
                                  ev->machine);
        return 0;
    case BATS_EVENT_LOST:
        if (state == MACHINE_LOST)
            return bats_error_set(err, BATS_ESTATE,
                                  "machine %u was lost a second time",
                                  ev->machine);
        return 0;
    default:
        return check_task_event(s, ev, err);
    }
}

static void start_run(struct bats_sched *s)
{
    s->started = true;
    s->policy->start(s);
    struct bats_decision d = {.time = s->now,
                              .reason = BATS_REASON_START,
                              .feasible = true,
                              .tasks_left = s->bag.n,
                              .tasks_paid = -1,
                              .budget_left =
                                  bats_ledger_available(&s->ledger)};
    for (size_t i = 0; i < s->n_clusters; i++)
        d.machines[i] = s->clusters[i].target;
    fleet_record(s, &d);
}

static void joined(struct bats_sched *s, uint32_t machine)
{
    struct machine *m = &s->machines[machine];
    m->state = MACHINE_PARKED;
    s->n_absent--;
    s->clusters[m->cluster].n_joined++;
    if (s->finish != BATS_FINISH_NOT_YET) {
        sched_emit(s, (struct bats_command){.type = BATS_COMMAND_RELEASE,
                                            .machine = machine});
        return;
    }
    if (!s->started)
        start_run(s);
    fleet_fill(s, m->cluster);
}

static int lost(struct bats_sched *s, uint32_t machine, struct bats_error *err)
{
    fleet_lose(s, machine);
    if (s->finish != BATS_FINISH_NOT_YET || s->draining)
        return 0;
    return s->policy->review(s, BATS_REASON_LOST, err);
}

static int ended(struct bats_sched *s, const struct bats_event *ev,
                 struct bats_error *err)
{
    struct machine *m = &s->machines[ev->machine];
    struct cluster *c = &s->clusters[m->cluster];
    uint32_t slot = m->first_slot + ev->slot;
    bool in_sample = s->tasks[ev->task].in_sample;

    dispatch_take_out(s, ev->task);
    if (ev->type == BATS_EVENT_DONE) {
        c->done++;
        bats_bag_finish(&s->bag, ev->task, BATS_TASK_DONE);
    } else {
        c->failed++;
        bats_bag_finish(&s->bag, ev->task, BATS_TASK_FAILED);
    }
    bats_stats_add(&c->stats, ev->runtime, in_sample);
    c->busy_time += (double)ev->runtime;
    c->sample_back += in_sample;
    s->slots[slot].n_done++;
    s->slots[slot].rt_done += (double)ev->runtime;
    fleet_drained(s, ev->machine);
    if (in_sample && !s->planned && !s->draining) {
        int rc = s->policy->review(s, BATS_REASON_SAMPLED, err);
        if (rc < 0)
            return rc;
    }
    dispatch_fill(s, slot);
    return 0;
}

static void preempted(struct bats_sched *s, const struct bats_event *ev)
{
    struct machine *m = &s->machines[ev->machine];
    if (s->slots[m->first_slot + ev->slot].head == ev->task)
        s->preempted++;
    dispatch_take_out(s, ev->task);
    bats_bag_put_back(&s->bag, ev->task);
    if (s->tasks[ev->task].in_sample)
        s->clusters[m->cluster].sample_sent--;
    fleet_drained(s, ev->machine);
}

int bats_sched_handle(struct bats_sched *s, bats_time now,
                      const struct bats_event *ev, struct bats_error *err)
{
    int rc = check_event(s, now, ev, err);
    if (rc < 0)
        return rc;
    /* A result that arrives at the very end of a window counts before it. */
    rc = advance(s, now, ev->type == BATS_EVENT_TICK, err);
    if (rc < 0)
        return rc;
    switch (ev->type) {
    case BATS_EVENT_JOINED:
        joined(s, ev->machine);
        break;
    case BATS_EVENT_LOST:
        rc = lost(s, ev->machine, err);
        break;
    case BATS_EVENT_DONE:
    case BATS_EVENT_FAILED:
        rc = ended(s, ev, err);
        break;
    case BATS_EVENT_PREEMPTED:
        preempted(s, ev);
        break;
    case BATS_EVENT_TICK:
        break;
    case BATS_EVENT_STOP:
        for (uint32_t i = 0; i < s->n_machines; i++)
            dispatch_cancel(s, i);
        s->draining = true;
        break;
    case BATS_EVENT_DRAIN:
        s->draining = true;
        break;
    }
    return rc < 0 ? rc : settle(s, err);
}
