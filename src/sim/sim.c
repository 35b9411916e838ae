#include "sim/sim.h"
#include "bats/lease.h"

#include <stdbool.h>
#include <stdlib.h>

#include "input/model.h"
#include "sim/draw.h"
#include "util/hash.h"
#include "util/heap.h"

/* A slot and its queue of tasks, first come, first served. A replica is alone
 * in its slot. */
struct slot {
    uint32_t machine, slot;
    uint32_t head, tail;
    bool is_replica;
    bats_time runtime; /* runtime of the head's current execution */
    bats_time end;     /* end of the head; or BATS_NEVER */
    bool is_lost;      /* at `end` its loss is noticed */
};

struct machine {
    uint32_t first_slot;
    uint32_t jobs; /* acquisitions so far */
    bool lost;
    bats_time ready;   /* end of its start-up */
    bats_time started; /* a job: start of its bill */
    bats_time ended;
    bats_time taken_at; /* time of its reclaim, once noticed */
};

#define NO_SLOT UINT32_MAX
#define SILENCE 1000 /* fail after this many windows without an end */

struct world {
    const struct bats_sim_options *o;
    struct bats_lease_terms terms; /* waits: machines are jobs */
    struct bats_sched *sched;
    struct slot *slots;
    struct machine *machines;
    uint32_t *next;         /* by task: the next task in its slot's queue */
    uint32_t *executions;   /* by task, so far */
    bats_time answered;     /* last end of an execution */
    struct bats_heap ends;  /* slots, by the end of their running task */
    uint32_t ended;         /* a slot whose task has just ended, still in the
                               heap; or NO_SLOT */
    struct bats_heap joins; /* machines yet to join */
    struct bats_heap bills; /* ended jobs, yet to be billed */
    struct bats_heap takes; /* machines by the time of their notice, then of
                               their reclaim */
    double *left;           /* by task: fraction of its work left; NULL: no
                               state is saved */
    size_t next_loss;
    bats_time now;
    bats_money charged; /* an account of its own, from the notices alone */
    bool finished;
    struct bats_error *err;
};

static bool is_broken(const struct world *w, uint32_t machine)
{
    return w->o->broken && w->o->broken[machine];
}

/* For the tail `perfect`; ignores noise. */
static bats_time true_runtime(const void *context, uint32_t task,
                              uint32_t cluster)
{
    const struct bats_sim_options *o = context;
    return (bats_time)((double)o->work[task] / o->speed[cluster] + 0.5);
}

static bats_time told_runtime(const void *context, uint32_t task,
                              uint32_t cluster)
{
    const struct bats_sim_options *o = context;
    return (bats_time)((double)o->told[task] / o->speed[cluster] + 0.5);
}

/* Duration of an execution of `task` that begins now. */
static bats_time draw_runtime(const struct world *w, uint32_t machine,
                              uint32_t task, uint32_t execution)
{
    uint32_t cluster = w->o->sched.machines[machine].cluster;
    if (is_broken(w, machine))
        return BATS_SECOND;
    double work = (double)w->o->work[task];
    if (w->left)
        work *= w->left[task];
    if (w->o->noise)
        work *= bats_draw_noise(w->o->noise_seed, task, execution,
                                w->o->noise[cluster]);
    return (bats_time)(work / w->o->speed[cluster] + 0.5);
}

/* Sets the end of the head's execution, which begins at `start`. */
static void set_end(struct world *w, struct slot *sl, uint32_t execution,
                    bats_time start)
{
    uint32_t cluster = w->o->sched.machines[sl->machine].cluster;
    const struct bats_reliability *r =
        w->o->reliability ? &w->o->reliability[cluster] : NULL;
    bats_time lost = r ? bats_reliability_lost(r, w->o->noise_seed, sl->head,
                                               execution, start)
                       : BATS_NEVER;
    sl->is_lost = lost <= sl->runtime;
    bats_time noticed = w->o->sched.clusters[cluster].noticed;
    sl->end = !sl->is_lost   ? start + sl->runtime
              : noticed == 0 ? BATS_NEVER
                             : start + lost + noticed;
}

static void start_head(struct world *w, uint32_t slot)
{
    struct slot *sl = &w->slots[slot];
    if (sl->head == BATS_NO_TASK) {
        if (slot != w->ended)
            bats_heap_remove(&w->ends, slot);
        return;
    }
    bats_time ready = w->machines[sl->machine].ready;
    uint32_t execution = w->executions[sl->head]++;
    bats_time start = w->now > ready ? w->now : ready;
    sl->runtime = draw_runtime(w, sl->machine, sl->head, execution);
    set_end(w, sl, execution, start);
    if (sl->end == BATS_NEVER)
        bats_heap_remove(&w->ends, slot);
    else
        bats_heap_set(&w->ends, slot, sl->end);
}

static int tell(struct world *w, const struct bats_event *event);
static int lose(struct world *w, uint32_t machine);

/* Draws the reclaim time of a machine that begins at `start`. */
static void set_lifetime(struct world *w, uint32_t machine, bats_time start)
{
    uint32_t cluster = w->o->sched.machines[machine].cluster;
    const struct bats_cluster *c = &w->o->sched.clusters[cluster];
    uint32_t life = w->machines[machine].jobs++;
    bats_time age = bats_model_lifetime(c, w->o->noise_seed, machine, life);
    bats_time notice = age > c->notice ? age - c->notice : 0;
    if (age == BATS_NEVER)
        return;
    w->machines[machine].taken_at = start + age;
    bats_heap_set(&w->takes, machine, start + notice);
}

/* Sends the notice, or reclaims the machine. */
static int take(struct world *w, uint32_t machine)
{
    if (w->now >= w->machines[machine].taken_at)
        return lose(w, machine);
    bats_heap_set(&w->takes, machine, w->machines[machine].taken_at);
    return tell(w, &(struct bats_event){
                       .type = BATS_EVENT_NOTICE,
                       .machine = machine,
                       .runtime = w->machines[machine].taken_at - w->now});
}

/* The machine starts up, from then on. */
static void begin(struct world *w, uint32_t machine, bats_time start)
{
    uint32_t cluster = w->o->sched.machines[machine].cluster;
    w->machines[machine].ready =
        start + (w->o->startup ? w->o->startup[cluster] : 0);
    set_lifetime(w, machine, start);
}

/* Acquires a machine; a job is queued, then starts up; where use is charged, it
 * begins with its first task. */
static void acquire(struct world *w, uint32_t machine)
{
    struct machine *m = &w->machines[machine];
    uint32_t cluster = w->o->sched.machines[machine].cluster;
    bats_time mean = w->o->queue ? w->o->queue[cluster] : 0;
    if (w->terms.idle_is_free) {
        m->ready = BATS_NEVER;
    } else if (!w->terms.waits) {
        begin(w, machine, w->now);
    } else {
        uint64_t seed = bats_mix_at(w->o->noise_seed, machine);
        m->started =
            w->now + (mean > 0 ? bats_draw_loss(seed, m->jobs, mean) : 0);
        begin(w, machine, m->started);
        bats_heap_set(&w->joins, machine, m->ready);
    }
}

/* Age of a job that joins now. */
static bats_time age_of(const struct world *w, uint32_t machine)
{
    return w->terms.waits ? w->now - w->machines[machine].started : 0;
}

/* Ends the machine's job, if any. */
static void end_job(struct world *w, uint32_t machine)
{
    if (!w->terms.waits || w->machines[machine].started == BATS_NEVER)
        return;
    struct machine *m = &w->machines[machine];
    bool has_begun = m->started <= w->now;
    bats_heap_remove(&w->joins, machine);
    m->ended = w->now;
    bats_heap_set(&w->bills, machine, w->now + (has_begun ? w->o->bill : 0));
}

static int bill(struct world *w, uint32_t machine)
{
    uint32_t cluster = w->o->sched.machines[machine].cluster;
    bats_time time = w->machines[machine].ended - w->machines[machine].started;
    struct bats_event event = {
        .type = BATS_EVENT_BILLED,
        .machine = machine,
        .amount = bats_billing_use(w->o->sched.clusters[cluster].charge,
                                   w->o->sched.window, time > 0 ? time : 0)};
    w->machines[machine].started = BATS_NEVER;
    bats_heap_remove(&w->bills, machine);
    return tell(w, &event);
}

static void run(struct world *w, uint32_t slot, uint32_t task, bool is_replica)
{
    struct slot *sl = &w->slots[slot];
    if (w->machines[sl->machine].ready == BATS_NEVER)
        begin(w, sl->machine, w->now);
    sl->is_replica = is_replica;
    if (!is_replica)
        w->next[task] = BATS_NO_TASK;
    if (sl->head == BATS_NO_TASK) {
        sl->head = sl->tail = task;
        start_head(w, slot);
    } else {
        w->next[sl->tail] = task;
        sl->tail = task;
    }
}

static void take_out(struct world *w, uint32_t slot, uint32_t task)
{
    struct slot *sl = &w->slots[slot];
    uint32_t before = BATS_NO_TASK;
    for (uint32_t t = sl->head; t != task; t = w->next[t])
        before = t;
    if (sl->tail == task)
        sl->tail = before;
    if (before != BATS_NO_TASK) {
        w->next[before] = w->next[task];
        return;
    }
    sl->head = sl->is_replica ? BATS_NO_TASK : w->next[task];
    start_head(w, slot);
}

/* Stops a task: it yields if it has begun and saves its state. */
static enum bats_event_type stop(struct world *w, uint32_t slot, uint32_t task)
{
    struct slot *sl = &w->slots[slot];
    bool saves = w->left && sl->head == task && !sl->is_lost &&
                 sl->end - sl->runtime < w->now && !sl->is_replica;
    if (saves) {
        uint32_t cluster = w->o->sched.machines[sl->machine].cluster;
        double migration = (double)w->o->migration * w->o->speed[cluster] /
                           (double)w->o->work[task];
        w->left[task] *= (double)(sl->end - w->now) / (double)sl->runtime;
        w->left[task] += migration;
    }
    take_out(w, slot, task);
    return saves ? BATS_EVENT_YIELDED : BATS_EVENT_PREEMPTED;
}

static int tell(struct world *w, const struct bats_event *event)
{
    const struct bats_sim_watch *watch = &w->o->watch;
    if (watch->on_event)
        watch->on_event(watch->context, w->now, event);
    int rc = bats_sched_handle(w->sched, w->now, event, w->err);
    if (rc == 0 && watch->after)
        watch->after(watch->context, w->sched);
    return rc;
}

static int choose(struct world *w)
{
    struct bats_event event = {.type = BATS_EVENT_CHOSEN,
                               .choice = {.offer = BATS_OFFER_NONE}};
    if (w->o->choice)
        event.choice = *w->o->choice;
    int rc = tell(w, &event);
    if (rc != BATS_EBUDGET && rc != BATS_EDEADLINE && rc != BATS_EINPUT)
        return rc;
    event.choice.offer = BATS_OFFER_NONE;
    return tell(w, &event);
}

/* Carries out the commands; a cancelled task stops at once. */
static int obey(struct world *w)
{
    struct bats_command c;
    while (bats_sched_next(w->sched, &c)) {
        uint32_t slot = 0;
        int rc = 0;
        if (w->o->watch.on_command)
            w->o->watch.on_command(w->o->watch.context, w->now, &c);
        switch (c.type) {
        case BATS_COMMAND_ACQUIRE:
            acquire(w, c.machine);
            break;
        case BATS_COMMAND_RUN:
            run(w, w->machines[c.machine].first_slot + c.slot, c.task,
                c.replica > 0);
            break;
        case BATS_COMMAND_CANCEL:
            slot = w->machines[c.machine].first_slot + c.slot;
            rc = tell(w, &(struct bats_event){.type = stop(w, slot, c.task),
                                              .machine = c.machine,
                                              .slot = c.slot,
                                              .task = c.task});
            break;
        case BATS_NOTICE_SAMPLED:
            rc = choose(w);
            break;
        case BATS_NOTICE_FINISHED:
            w->finished = true;
            break;
        case BATS_COMMAND_PARK:
        case BATS_COMMAND_RELEASE:
            bats_heap_remove(&w->takes, c.machine);
            end_job(w, c.machine);
            break;
        case BATS_NOTICE_CHARGE:
            w->charged += c.amount;
            if (w->o->violations)
                *w->o->violations += w->charged > w->o->sched.budget;
            break;
        case BATS_NOTICE_QUARANTINE:
        case BATS_NOTICE_READMIT:
        case BATS_NOTICE_LOSE:
        case BATS_NOTICE_SKIP:
        case BATS_NOTICE_SHARE:
            break; /* these need nothing from the simulator */
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int end_task(struct world *w, uint32_t slot)
{
    struct slot *sl = &w->slots[slot];
    uint32_t task = sl->head;
    bool fails =
        is_broken(w, sl->machine) || (w->o->fails && w->o->fails[task]);
    struct bats_event event = {.type = sl->is_lost ? BATS_EVENT_PREEMPTED
                                       : fails     ? BATS_EVENT_FAILED
                                                   : BATS_EVENT_DONE,
                               .machine = sl->machine,
                               .slot = sl->slot,
                               .task = task,
                               .runtime = sl->runtime};
    w->ended = slot;
    w->answered = w->now;
    take_out(w, slot, task);
    return tell(w, &event);
}

/* Removes the ended slot from the heap, unless it got another task, which only
 * moved it. */
static void forget_ended(struct world *w)
{
    if (w->ended != NO_SLOT && w->slots[w->ended].head == BATS_NO_TASK)
        bats_heap_remove(&w->ends, w->ended);
    w->ended = NO_SLOT;
}

static int lose(struct world *w, uint32_t machine)
{
    bool is_job = w->terms.waits;
    if (w->machines[machine].lost ||
        (is_job && (w->machines[machine].started > w->now ||
                    bats_heap_has(&w->bills, machine))))
        return 0;
    w->machines[machine].lost = !is_job;
    bats_heap_remove(&w->joins, machine);
    bats_heap_remove(&w->takes, machine);
    end_job(w, machine);
    for (uint32_t i = 0; i < w->o->sched.machines[machine].slots; i++) {
        uint32_t slot = w->machines[machine].first_slot + i;
        w->slots[slot].head = w->slots[slot].tail = BATS_NO_TASK;
        bats_heap_remove(&w->ends, slot);
    }
    return tell(
        w, &(struct bats_event){.type = BATS_EVENT_LOST, .machine = machine});
}

static bats_time earlier(bats_time a, bats_time b)
{
    return a < b ? a : b;
}

/* Handles one event. At equal times, ends of tasks come first, then joining,
 * billed, reclaimed and lost machines, then the engine's wake-up. */
static int step(struct world *w)
{
    uint32_t slot = 0, machine = 0;
    bats_time end = bats_heap_first(&w->ends, &slot);
    bats_time join = bats_heap_first(&w->joins, &machine);
    bats_time loss = w->next_loss < w->o->n_losses
                         ? w->o->losses[w->next_loss].time
                         : BATS_NEVER;
    uint32_t ended = 0, taken = 0;
    bats_time billed = bats_heap_first(&w->bills, &ended);
    bats_time takes = bats_heap_first(&w->takes, &taken);
    bats_time first =
        earlier(earlier(earlier(end, join), earlier(billed, takes)),
                earlier(loss, bats_sched_wakeup(w->sched)));
    if (first == BATS_NEVER)
        return bats_error_set(w->err, BATS_ESTATE,
                              "the engine waits for nothing");
    if (w->o->reliability && first / SILENCE > w->o->sched.window &&
        (first - w->answered) / SILENCE > w->o->sched.window)
        return bats_error_set(
            w->err, BATS_ESTATE,
            "executions are lost, and the policy %s never notices",
            bats_policy_name(w->o->sched.policy));
    if (first > w->now)
        w->now = first;
    if (first == end)
        return end_task(w, slot);
    if (first == join) {
        bats_heap_remove(&w->joins, machine);
        return tell(w, &(struct bats_event){.type = BATS_EVENT_JOINED,
                                            .machine = machine,
                                            .runtime = age_of(w, machine)});
    }
    if (first == billed)
        return bill(w, ended);
    if (first == takes)
        return take(w, taken);
    if (first == loss)
        return lose(w, w->o->losses[w->next_loss++].machine);
    return tell(w, &(struct bats_event){.type = BATS_EVENT_TICK});
}

static int set_up(struct world *w)
{
    const struct bats_sched_options *so = &w->o->sched;
    uint32_t n_slots = 0;
    for (uint32_t i = 0; i < so->n_machines; i++)
        n_slots += so->machines[i].slots;
    w->slots = calloc(n_slots, sizeof *w->slots);
    w->machines = calloc(so->n_machines, sizeof *w->machines);
    w->next = calloc(so->n_tasks, sizeof *w->next);
    w->executions = calloc(so->n_tasks, sizeof *w->executions);
    w->left = w->o->saves ? malloc(so->n_tasks * sizeof *w->left) : NULL;
    for (uint32_t i = 0; w->left && i < so->n_tasks; i++)
        w->left[i] = 1;
    if (!w->slots || !w->machines || !w->next || !w->executions ||
        (w->o->saves && !w->left) || !bats_heap_init(&w->ends, n_slots) ||
        !bats_heap_init(&w->joins, so->n_machines) ||
        !bats_heap_init(&w->bills, so->n_machines) ||
        !bats_heap_init(&w->takes, so->n_machines))
        return bats_no_memory(w->err);
    n_slots = 0;
    for (uint32_t i = 0; i < so->n_machines; i++) {
        w->machines[i] =
            (struct machine){.first_slot = n_slots, .started = BATS_NEVER};
        for (uint32_t k = 0; k < so->machines[i].slots; k++)
            w->slots[n_slots++] = (struct slot){.machine = i,
                                                .slot = k,
                                                .head = BATS_NO_TASK,
                                                .tail = BATS_NO_TASK};
    }
    return 0;
}

int bats_sim_run(const struct bats_sim_options *options,
                 struct bats_sched **sched, bats_time *makespan,
                 struct bats_error *err)
{
    struct world w = {.o = options,
                      .terms = bats_lease_terms(options->sched.billing.model),
                      .ended = NO_SLOT,
                      .err = err};
    struct bats_sched_options so = options->sched;
    so.true_runtime = true_runtime;
    so.true_context = options;
    so.told_runtime = options->told ? told_runtime : NULL;
    *sched = NULL;
    int rc = bats_sched_create(&so, &w.sched, err);
    if (rc == 0)
        rc = set_up(&w);
    for (uint32_t i = 0;
         rc == 0 && !w.terms.waits && i < options->sched.n_machines; i++)
        bats_heap_set(&w.joins, i, options->joins ? options->joins[i] : 0);
    uint32_t machine;
    while (rc == 0 && !(w.finished &&
                        bats_heap_first(&w.bills, &machine) == BATS_NEVER)) {
        rc = step(&w);
        if (rc == 0)
            rc = obey(&w);
        forget_ended(&w);
    }
    free(w.slots);
    free(w.machines);
    free(w.next);
    free(w.executions);
    free(w.left);
    bats_heap_release(&w.ends);
    bats_heap_release(&w.joins);
    bats_heap_release(&w.bills);
    bats_heap_release(&w.takes);
    if (rc < 0) {
        bats_sched_destroy(w.sched);
        return rc;
    }
    *makespan = w.now;
    *sched = w.sched;
    return 0;
}
