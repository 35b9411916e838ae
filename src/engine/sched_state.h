/*
 * sched_state: what the engine remembers, shared by its parts.
 *
 * Layer: engine, private. sched.c takes events in and hands commands out
 * (sched_create.c sets it up, sched_status.c tells what it knows, and
 * sched_check.c whether it is consistent); fleet.c acquires, renews, marks and
 * parks machines; dispatch.c gives tasks to slots; copies.c keeps the
 * executions of a task apart, tail.c and soonest.c decide on copies;
 * forecast.c estimates; failure.c knows what to do when something goes wrong;
 * shrink.c gives nodes back; policy_*.c decide, initial.c how policy bats
 * begins.
 */
#ifndef BATS_SCHED_STATE_H
#define BATS_SCHED_STATE_H

#include "bats/bag.h"
#include "bats/ledger.h"
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/stats.h"
#include "estimate/histogram.h"
#include "util/heap.h"

#define NO_SLOT UINT32_MAX
#define NO_MACHINE UINT32_MAX
#define TIME_MAX (INT64_MAX / 4) /* sums of two times never wrap */

enum machine_state {
    MACHINE_ABSENT,   /* has not joined yet */
    MACHINE_PARKED,   /* there, uncharged */
    MACHINE_ACTIVE,   /* in a paid window */
    MACHINE_LEAVING,  /* in a paid window that will be its last: no new task,
                         what ran was told to stop */
    MACHINE_DRAINING, /* its paid time is over, the stopped tasks are not all
                         back yet */
    MACHINE_LOST
};

/*
 * Of machines and slots there may be more than a cache holds. What most events
 * ask of one is a cache line, and no more: what is new here has to go
 * elsewhere, or has to be worth a second one.
 */
#define CACHE_LINE 64

struct machine {
    _Alignas(CACHE_LINE) enum machine_state state;
    uint32_t cluster;
    uint32_t first_slot; /* its slots are consecutive */
    uint32_t n_slots;
    uint32_t n_busy;      /* slots that have a task */
    uint32_t held_at;     /* ACTIVE, LEAVING: its index in `held` */
    uint32_t n_failed;    /* executions that failed in a row, each of another
                             task */
    uint32_t n_done;      /* executions that went well */
    bool marked;          /* ACTIVE: not wanted after this window */
    bool renewing;        /* ACTIVE: the next window's charge is held */
    bool quarantined;     /* gets no more tasks */
    bool used;            /* was acquired at least once */
    bats_time paid_end;   /* end of the last window charged */
    int64_t plan_windows; /* that the plan still gives it after this one */
    int64_t overrun;      /* as of the last look: windows beyond the paid one
                        that the longest of its running tasks needs */
};

/* What few events ask of a machine. */
struct machine_rest {
    uint32_t member;       /* its index among the cluster's members */
    uint32_t failed_task;  /* the last of `n_failed` */
    bats_time paid_before; /* an earlier session has paid it for so long */
    int64_t windows;       /* entered so far, over all acquisitions */
};

/* A slot runs the first task of its queue; the others wait behind it. A copy
 * is alone there. */
struct slot {
    _Alignas(CACHE_LINE) uint32_t machine;
    uint32_t head, tail;           /* tasks; BATS_NO_TASK if empty */
    uint32_t n_tasks;              /* in the queue */
    uint32_t next_idle, prev_idle; /* in the list of idle slots */
    bool is_idle;                  /* in that list */
    bool is_copy;                  /* the head is a copy; then: */
    bool copy_cancelled;           /*   it was told to stop, and */
    bool was_copy;                 /* the head began as a copy */
    uint32_t next_copy;            /*   the slot of the next one of the task */
    bool timed_out;                /* the CANCEL of the head is a time-out */
    bool works;                    /* copies_works, as of the last look; */
    uint32_t n_done;               /* nt of the papers */
    double rt_done;                /* rt, microseconds */
    bats_time started;             /* when the head began */
    double expected;               /* as of the last look: its tau_e */
};

_Static_assert(sizeof(struct machine) == CACHE_LINE &&
                   sizeof(struct slot) == CACHE_LINE,
               "more than a cache line: see above");

/*
 * What the engine adds to a task's state in the bag, by place. Everywhere in
 * the engine a task is its place in the bag: those that run at the same time
 * were drawn one after the other, and so most of what an event needs is in the
 * cache. Only events, commands and observations have its number. Executions: the
 * original in `slot`, which may wait in a queue, and copies, each in a slot of
 * its own. Where the original ends without a result, a copy takes its place
 * (and from then on counts as any task). So a task that is on a machine has an
 * original. After the result those that are told to stop are still there.
 */
struct task {
    uint32_t slot;      /* of the original; NO_SLOT: on no machine */
    uint32_t next;      /* behind it in the slot's queue */
    uint32_t copies;    /* slot of its first copy; NO_SLOT: none */
    uint32_t avoid;     /* machine on which it failed last, or NO_MACHINE */
    uint16_t n_copies;  /* begun since it was last drawn */
    uint16_t failures;  /* executions so far that ended like this */
    uint8_t losses;     /* the same */
    uint8_t yields;     /* in a row, without progress */
    bool cancelled : 1; /* the original was told to stop */
    bool in_sample : 1; /* the original is, of its cluster */
    bool once : 1;      /* it must not be copied */
    bool in_phase : 1;  /* it is of the sampling phase's sample, and has no
                           result yet */
    bool point : 1;     /* it is run on every cluster, whoever is first */
};

struct cluster {
    struct bats_cluster spec;
    uint32_t first_machine, n_machines; /* indices into `members` */
    uint32_t n_joined; /* joined, and neither lost nor in quarantine */
    uint32_t n_lost, n_quarantined;
    uint32_t n_used;   /* machines acquired at least once */
    uint32_t n_active; /* ACTIVE and not marked */
    uint32_t n_held;   /* ACTIVE or LEAVING */
    uint64_t n_slots;  /* of all its machines */
    uint32_t target;   /* machines that the configuration wants */
    uint32_t sample_want, sample_sent, sample_back;
    /* Members that are PARKED and may be acquired; all times are 0, so that
     * the lowest index comes first. */
    struct bats_heap parked;
    struct bats_stats stats;
    struct bats_histogram histogram; /* of all results, if there are copies */
    uint32_t done, failed;
    int64_t windows;
    double busy_time, paid_slot_time; /* microseconds */
};

enum phase {
    PHASE_NONE, /* no sampling phase, or it is over and one was chosen */
    PHASE_SAMPLING,
    PHASE_SAMPLED, /* waits for CHOSEN */
    PHASE_LEAVING  /* nothing was chosen: ends with the windows paid */
};

#define POINTS_MAX 21 /* replacements of failed ones included */

/* A task that is run once on every cluster, for the regression. */
struct point {
    uint32_t task;
    bool is_void; /* it failed somewhere, or went back to the bag */
    enum { POINT_WANTED, POINT_RUNS, POINT_ENDED } at[BATS_CLUSTERS_MAX];
};

struct sampling {
    enum phase phase;
    bool offers;                                 /* in a plain run: to come, */
    bool is_open;                                /* and not answered yet */
    bool cushion;                                /* is allowed */
    uint32_t workers, n_points_wanted, n_wanted; /* slots; tasks */
    uint32_t n_points, n_drawn; /* void ones included; tasks of the sample */
    uint32_t n_open;            /* of these: without a result */
    uint32_t given_up, longest;
    double longest_runtime;            /* of all observations */
    uint32_t n_bad[BATS_CLUSTERS_MAX]; /* executions that did not end well */
    bool is_known[BATS_CLUSTERS_MAX];  /* seen enough by earlier sessions */
    struct point points[POINTS_MAX];
    struct bats_observation *observations;
    size_t n_observations, capacity;
    struct bats_regression lines[BATS_CLUSTERS_MAX]; /* from its base; only */
    bool has_line[BATS_CLUSTERS_MAX]; /* where tasks ran on both */
    bats_time over_at;
    bats_money over_charged;
    double confidence;
    unsigned cushion_percent;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX]; /* for the estimator */
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX];
    struct bats_schedule chosen;
    bool has_chosen;
    bool is_kept; /* there is money for the upper bound of its cost */
};

#define TAIL_TASKS 192  /* looked at for one event, however many run */
#define TAIL_SLOTS 64   /* the same of idle slots that find nothing */
#define TAIL_POINTS 256 /* of the distribution of runtimes */

/* A running task, as the tail sees it. */
struct tail_task {
    uint32_t task, cluster; /* of its original */
    double total;           /* expected, on the canonical cluster; `soonest`:
                               likely at most */
    double left;            /* until the first of its executions will have
                               ended then */
};

struct tail {
    enum bats_tail strategy;
    uint64_t random;        /* state of its generator */
    struct tail_task *list; /* TAIL_TASKS at most */
    uint32_t n;
    bats_time looked_at; /* when it was made */
    uint32_t next_busy;  /* where to go on: a word of `busy` */
    bool is_news;        /* who found nothing may find something now; else */
    uint32_t asked;      /* all idle slots up to this one need not be asked, */
    bats_time useless[BATS_CLUSTERS_MAX]; /* nor one that is paid until then */
    size_t canonical; /* the cluster that the histogram is converted to, */
    struct bats_regression to_canonical[BATS_CLUSTERS_MAX]; /* and how */
    struct bats_regression from_canonical[BATS_CLUSTERS_MAX];
    /* soonest.c: */
    bool has_likely; /* these are up to date: */
    double longest;  /* runtime that was seen, on the canonical cluster, */
    double stuck[BATS_CLUSTERS_MAX];  /* and what is too long on each */
    uint16_t likely[TAIL_POINTS + 1]; /* see find_likely() */
    bats_time (*true_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
    const void *true_context;
};

struct shrink {
    uint32_t n_nodes; /* 0: nothing is given back */
    uint32_t *node;   /* per machine */
    bool *kept;       /* per node, as of the last review */
    uint32_t keep;
    bats_time restart, reviewed_at;
};

struct bats_sched {
    const struct bats_policy *policy;
    bats_time window, interval, preempt_lead, prefetch;
    uint32_t sample_size;
    enum bats_reconfigure reconfigure;
    struct bats_sched_rules rules;
    bats_money earlier_charged;
    bool tops_up; /* what an earlier session has seen is part of the sample */

    bats_time now;
    bats_time wakeup;         /* something falls due, as of the last step */
    bats_time next_tick;      /* BATS_NEVER while no machine is held */
    struct bats_heap due;     /* machines by the next turn of their window */
    struct bats_heap limits;  /* slots by the time-out of their task; no
                                 capacity without time-outs */
    struct bats_heap retries; /* WAITING tasks, their numbers, by their next
                                 attempt; the same without delays */
    struct bats_bag bag;
    struct bats_ledger ledger;

    struct cluster clusters[BATS_CLUSTERS_MAX];
    size_t n_clusters;
    struct machine *machines;
    struct machine_rest *rest; /* by machine, too */
    uint32_t n_machines;
    uint32_t *members; /* machine ids, cluster by cluster, ascending */
    uint32_t *held;    /* n_held ACTIVE and LEAVING ones, in no order */
    struct slot *slots;
    uint32_t n_slots;
    struct task *tasks;
    uint32_t idle_first, idle_last; /* list of idle slots, oldest first */
    uint64_t *busy;                 /* a bit per slot: it has a task */

    uint32_t n_absent, n_lost, n_quarantined, n_held; /* machines */
    uint32_t n_open;   /* slots of ACTIVE machines, */
    uint32_t n_free;   /* and those of them without a task */
    uint32_t n_busy;   /* slots with a task */
    uint32_t n_copies; /* slots with a copy */
    uint32_t preempted, retried, timed_out, copies, copies_won;
    struct sampling sampling;
    struct shrink shrink;
    bats_money cushion; /* for the last `delta_n` tasks; 0 once granted */
    bats_money granted;
    bats_money cushion_from;  /* beyond so much charged, the granted comes */
    bats_money cushion_spent; /* first */
    int64_t delta_n;
    struct tail tail;
    bool started;         /* the start's configuration was chosen */
    bool planned;         /* the policy has made a plan from statistics */
    bool feasible;        /* the present plan does the whole bag */
    bool draining;        /* nothing more is started */
    bool on_hold;         /* the same, but only for the time being */
    enum bats_finish why; /* draining: what for */
    int64_t plan_windows; /* that the present plan gave every machine */
    enum bats_finish finish;

    struct bats_command *queue; /* commands, a ring */
    size_t queue_first, queue_n, queue_capacity;
    struct bats_decision *decisions;
    size_t n_decisions, decisions_capacity;
    int failure; /* errcode of a step that could not be completed */
};

/* A policy: see policy.h. Hooks get a state that is consistent. */
struct bats_policy {
    const char *name;
    /* Tasks per cluster in the sampling phase (0: none) and the configuration
     * of the start. Called once, when the first machine joins. */
    void (*start)(struct bats_sched *s);
    /* Something may have to change: every monitoring interval (reason
     * VIOLATION), or for the other reasons. */
    int (*review)(struct bats_sched *s, enum bats_reason reason,
                  struct bats_error *err);
    /* Shall this machine, at the end of its paid time, enter another window?
     * (Only asked if the money for it is there.) */
    bool (*renew)(const struct bats_sched *s, uint32_t machine);
    /* May this machine start a task now? NULL: always. */
    bool (*admit)(const struct bats_sched *s, uint32_t machine);
};

/* ---- sched.c ---- */

/* Appends a command; memory that runs out is kept in s->failure. */
void sched_emit(struct bats_sched *s, struct bats_command command);

/* ---- fleet.c ---- */

/* Cancels every task, or lets them end, and ends the run with `why`. */
void fleet_stop(struct bats_sched *s, bool now, enum bats_finish why);

/* A machine that gets no more tasks; it leaves at the end of its window. */
void fleet_quarantine(struct bats_sched *s, uint32_t machine);

/* Makes `target` (one count per cluster) the configuration: marks machines
 * whose windows end soonest, or unmarks and acquires, as far as tasks and
 * money last. Every machine of it gets `windows` more windows. */
void fleet_configure(struct bats_sched *s, const uint32_t *target,
                     int64_t windows);

/* The machine waits from now on, uncharged. */
void fleet_parked(struct bats_sched *s, uint32_t machine);

/* Holds a machine that has just joined for as long as it is paid already. */
void fleet_take_over(struct bats_sched *s, uint32_t machine);

/* Acquires machines of `cluster` up to its target. */
void fleet_fill(struct bats_sched *s, size_t cluster);

/* A turn of a machine's window: the decision shortly before its end, or the
 * end. `machine` is due at s->now. */
void fleet_turn(struct bats_sched *s, uint32_t machine);

/* A machine is gone: its tasks go back into the bag. */
void fleet_lose(struct bats_sched *s, uint32_t machine);

/* All slots of a DRAINING machine may be free again. */
void fleet_drained(struct bats_sched *s, uint32_t machine);

/* Records why the configuration became what it is now. */
void fleet_record(struct bats_sched *s, const struct bats_decision *decision);

/* ---- dispatch.c ---- */

void dispatch_add_idle(struct bats_sched *s, uint32_t slot);
void dispatch_remove_idle(struct bats_sched *s, uint32_t slot);

/* Puts every free slot of an ACTIVE machine back into the list of idle ones
 * (a slot that was refused a task has left it). */
void dispatch_rescan(struct bats_sched *s);

/* Gives tasks to idle slots while there are both. */
void dispatch_idle(struct bats_sched *s);

/* Fills a slot's queue to its depth. */
void dispatch_fill(struct bats_sched *s, uint32_t slot);

/* The machine may start a task now. */
bool dispatch_admits(const struct bats_sched *s, uint32_t machine);

/* The task behind `task` in the slot's queue, or BATS_NO_TASK. */
uint32_t dispatch_next(const struct bats_sched *s, uint32_t slot,
                       uint32_t task);

/* Puts `task` at the end of the slot's queue and sends RUN. */
void dispatch_run(struct bats_sched *s, uint32_t slot, uint32_t task,
                  uint32_t copy);

/* Takes the execution of `task` out of the slot. The task's state is the
 * caller's. */
void dispatch_take_out(struct bats_sched *s, uint32_t slot, uint32_t task);

/* Sends CANCEL for every task of the machine. */
void dispatch_cancel(struct bats_sched *s, uint32_t machine);

/* Takes the slot's first task to begin now. */
void dispatch_begin(struct bats_sched *s, uint32_t slot);

/* ---- copies.c ---- */

/* The execution of `task` in `slot` was told to stop. */
static inline bool copies_cancelled(const struct bats_sched *s, uint32_t slot,
                                    uint32_t task)
{
    const struct slot *sl = &s->slots[slot];
    return sl->is_copy ? sl->copy_cancelled : s->tasks[task].cancelled;
}

/* The slot has work that is nobody else's: not only a copy, or a task that has
 * its result already. */
static inline bool copies_works(const struct bats_sched *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 && !sl->is_copy &&
           (sl->n_tasks > 1 || !bats_bag_has_result(&s->bag, sl->head));
}

/* The same of any slot of the machine. */
bool copies_machine_works(const struct bats_sched *s, uint32_t machine);

/* The task may be copied: it runs (does not wait in a queue), and was not told
 * to stop. */
static inline bool copies_allowed(const struct bats_sched *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    return s->bag.state[task] == BATS_TASK_ASSIGNED && !t->once &&
           !t->cancelled && s->slots[t->slot].head == task;
}

/* The task with this number, of which the slot is told; it may be in another
 * one. */
uint32_t copies_find(const struct bats_sched *s, uint32_t slot,
                     uint32_t number);

/* Runs a copy of `task`, which is ASSIGNED, in an idle slot. */
void copies_start(struct bats_sched *s, uint32_t slot, uint32_t task);

/* Tells one execution to stop, or all that are left of a task. */
void copies_cancel(struct bats_sched *s, uint32_t slot, uint32_t task,
                   bool time_out);
void copies_cancel_all(struct bats_sched *s, uint32_t task);

/* The copy of `task` in `slot` becomes its original, and that a copy. */
void copies_swap(struct bats_sched *s, uint32_t slot, uint32_t task);

/* Takes the execution of `task` out of the slot. True: the task has no result
 * and goes on in another one. */
bool copies_take_out(struct bats_sched *s, uint32_t slot, uint32_t task);

/* Stops copies where tasks that are back in the bag could run. */
void copies_make_room(struct bats_sched *s);

/* ---- tail.c ---- */

/* Gives copies to idle slots, if the strategy wants it. */
void tail_fill(struct bats_sched *s);

/* A machine asks for work: true if it takes over a task that runs. */
bool tail_migrate(struct bats_sched *s, uint32_t slot);

/* It is about to be decided whether the machine enters another window: which
 * executions of its tasks are worth one? */
void tail_hand_over(struct bats_sched *s, uint32_t machine);

/* A task has ended on the cluster. */
void tail_learn(struct bats_sched *s, size_t cluster, bats_time runtime);

/* Mean of what has ended on the cluster; 0: nothing has. */
static inline double tail_mean(const struct bats_sched *s, size_t cluster)
{
    return s->clusters[cluster].stats.mean_done;
}

/* What takes some time on a cluster takes so long on the canonical one, and the
 * other way round; something has ended on both. */
static inline double tail_to_canonical(const struct bats_sched *s, double time,
                                       size_t from)
{
    const struct bats_regression *line = &s->tail.to_canonical[from];
    return line->b0 + line->b1 * time;
}

static inline double tail_from_canonical(const struct bats_sched *s,
                                         double time, size_t to)
{
    const struct bats_regression *line = &s->tail.from_canonical[to];
    return line->b0 + line->b1 * time;
}

static inline uint32_t tail_cluster(const struct bats_sched *s, uint32_t slot)
{
    return s->machines[s->slots[slot].machine].cluster;
}

/* The slot of the next execution of `task` after that in `slot`, the original
 * being the first; NO_SLOT: there is none. */
static inline uint32_t tail_next(const struct bats_sched *s, uint32_t task,
                                 uint32_t slot)
{
    return s->slots[slot].is_copy ? s->slots[slot].next_copy
                                  : s->tasks[task].copies;
}

/* How long the execution in `slot` has been running. */
static inline double tail_elapsed(const struct bats_sched *s, uint32_t slot)
{
    return (double)(s->now - s->slots[slot].started);
}

/* ---- soonest.c ---- */

/* Learns from the histograms, if that is the strategy and there is news. */
void soonest_look(struct bats_sched *s);

/* How long a task that has been running for tau takes at most, for all that is
 * likely; both on the canonical cluster. */
double soonest_total(const struct bats_sched *s, double tau);

/* ---- sampling.c ---- */

/* Takes over the options and, from an earlier phase, the observations. */
int sampling_init(struct bats_sched *s, const struct bats_sched_options *o,
                  struct bats_error *err);
void sampling_release(struct bats_sched *s);

/* The phase begins: how many slots per cluster. 0: it was an earlier one. */
uint32_t sampling_start(struct bats_sched *s);

/* Tasks that the phase still has to give to the cluster, at most. */
uint32_t sampling_lacks(const struct bats_sched *s, size_t cluster);

/* Starts a task in an idle slot that its cluster has to run, too. False: there
 * is none. */
bool sampling_give(struct bats_sched *s, uint32_t slot);

/* `task` was drawn for `slot`. */
void sampling_drawn(struct bats_sched *s, uint32_t slot, uint32_t task);

/* An execution of `task` on `machine` is over; `runtime` < 0: it did not end
 * well. What that means for the task is settled already. */
void sampling_ended(struct bats_sched *s, uint32_t machine, uint32_t task,
                    bats_time runtime);

/* Nothing has ever ended well on the cluster, and much has not: it would only
 * spoil the rest of the bag. */
bool sampling_refuses(const struct bats_sched *s, size_t cluster);

/* The machine runs what the sample waits for. */
bool sampling_needs(const struct bats_sched *s, uint32_t machine);

/* Monitoring: what runs for ever so long is left out. */
void sampling_watch(struct bats_sched *s);

/* After every step: is the phase over? `stalled`: nothing runs. */
void sampling_settle(struct bats_sched *s, bool stalled);

/* A run without the phase knows its clusters now, and leaves so many tasks to
 * windows that are still to be paid: SAMPLED, if there is a choice. */
void sampling_offer(struct bats_sched *s, int64_t tasks_left);

int sampling_choose(struct bats_sched *s, const struct bats_choice *choice,
                    struct bats_error *err);

/* ---- initial.c ---- */

/* Policy bats: the configuration of the start, and how much of it is sample. */
void initial_start(struct bats_sched *s);

/* The sample suffices for a first plan. */
bool initial_sampled(const struct bats_sched *s);

/* Some machine of it is about to ask for a second window. */
bool initial_window_closes(const struct bats_sched *s);

/* ---- failure.c ---- */

/* An execution of `task` on `machine` has failed. The task is put back, to be
 * tried again, or it has failed. While it goes on `elsewhere` that is its next
 * try, even beyond what the rules allow, but no more than one. */
void failure_of_task(struct bats_sched *s, uint32_t machine, uint32_t task,
                     bool elsewhere);

/* The task was in this slot, whose machine is lost. */
void failure_of_machine(struct bats_sched *s, uint32_t slot, uint32_t task);

/* An execution of `task` on `machine` came back after it `ran` for so long:
 * stopped, or because the task `yielded` of its own accord. The task is put
 * back, now or later, or it has failed, for it gets nowhere. */
void failure_of_progress(struct bats_sched *s, uint32_t machine, uint32_t task,
                         bool yielded, bats_time ran);

/* Notes how an execution on `machine` went, and quarantines a machine on which
 * they keep failing. */
int failure_watch(struct bats_sched *s, uint32_t machine, uint32_t task,
                  bool failed, bats_time runtime, struct bats_error *err);

/* Stops the run if too many tasks have failed. */
void failure_halt(struct bats_sched *s);

/* The running task of `slot` has reached its time-out. */
void failure_time_out(struct bats_sched *s, uint32_t slot);

/* Time-outs of the tasks that run, from the medians known now. */
void failure_set_limits(struct bats_sched *s);

/* The time-out of the task that begins in `slot` now. */
void failure_set_limit(struct bats_sched *s, uint32_t slot);

/* ---- forecast.c ---- */

/* Looks at what runs now: the slots' tau_e, which T and the forecast need. */
void forecast_look(struct bats_sched *s);

/* The same, and brings T of every cluster up to date with it. */
void forecast_means(struct bats_sched *s);

/* tau_e - tau of the slot's running task, microseconds, >= 0; 0 if none. */
double forecast_rest(const struct bats_sched *s, uint32_t slot);

struct forecast {
    int64_t tasks_left;    /* N_e */
    int64_t tasks_paid;    /* N_p */
    bats_money money_left; /* after the windows that running tasks are
                              expected to carry unmarked machines into */
};

/* The monitoring estimates of paper 2.2 (thesis 2.2.3), from the last look,
 * which is of now. */
struct forecast forecast_make(struct bats_sched *s);

/* A task of mean length can end on the machine with all further windows that
 * it could be paid; if it is `marked`, the quickest task of its cluster's
 * sample can, in its paid time. True if nothing is known yet. */
bool forecast_fits(const struct bats_sched *s, uint32_t machine);

/* A task of mean length that begins on the cluster now ends after the
 * deadline. */
bool forecast_too_late(const struct bats_sched *s, size_t cluster);

/* Cluster with the lowest c_i T_i per slot among those with statistics and
 * machines; SIZE_MAX if none. */
size_t forecast_most_profitable(const struct bats_sched *s);

/* ---- shrink.c ---- */

/* Ends the run where giving nodes back is worth it. */
void shrink_review(struct bats_sched *s);

/* false: out of memory. */
bool shrink_init(struct bats_sched *s, const struct bats_sched_shrink *o);
void shrink_release(struct bats_sched *s);

#endif
