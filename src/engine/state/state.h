/*
 * state: what the engine remembers, and the moves that change it.
 *
 * Layer: engine, the bottom room. Here are the machines and their windows, the
 * slots, the tasks and their executions, the bag, the ledger and what is known
 * of the clusters. A move keeps the invariants (state_check) and emits its
 * command. It decides nothing and asks nobody: advisors read this, sched.c
 * alone calls the moves.
 *
 *   machines.c    joined, acquired, renewed, marked, parked, lost
 *   leases.c      what a machine costs, by how it is billed: a table of moves
 *   use.c         for each kind (leases.h); one that is charged for use,
 *   second.c      or by its age
 *   jobs.c        machines that are jobs: asked for, begun, billed
 *   allocation.c  the job that the run itself is in
 *   slots.c       the list of idle slots, and their queues
 *   executions.c  the executions of a task, of which there may be several
 *   tasks.c       their results, failures and losses
 *   categories.c  what tasks of one kind take
 *   chains.c      how long chains of tasks take
 *   purses.c      the money of workflows that share the run, by machine, and
 *   payment.c     what they can pay for (both: purses.h)
 *   answers.c     commands and decisions
 *   state.c       set-up and end
 */
#ifndef BATS_ENGINE_STATE_H
#define BATS_ENGINE_STATE_H

#include "bats/bag.h"
#include "bats/estimate.h"
#include "bats/ledger.h"
#include "bats/regression.h"
#include "bats/sample.h"
#include "bats/sched.h"
#include "bats/stats.h"
#include "engine/money/lease.h"
#include "engine/state/purses.h"
#include "util/heap.h"

#define NO_SLOT UINT32_MAX
#define NO_MACHINE UINT32_MAX
#define TIME_MAX BATS_LONGEST

enum machine_state {
    MACHINE_ABSENT,   /* has not joined yet */
    MACHINE_PARKED,   /* there, uncharged */
    MACHINE_ASKED,    /* a job: waits in a queue; what it may cost is held, from
                         here to the bill */
    MACHINE_ACTIVE,   /* in a paid window */
    MACHINE_LEAVING,  /* in a paid window that will be its last: no new task,
                         what ran was told to stop */
    MACHINE_DRAINING, /* its paid time is over, the stopped tasks are not all
                         back yet */
    MACHINE_ENDING,   /* a job: it is over, the bill is still to come */
    MACHINE_LOST
};

/*
 * There may be more machines and slots than a cache holds. What most events
 * ask of one is one cache line: a new member goes elsewhere, or has to be worth
 * a second line.
 */
#define CACHE_LINE 64

struct machine {
    _Alignas(CACHE_LINE) enum machine_state state;
    uint32_t cluster;
    uint32_t first_slot; /* its slots are consecutive */
    uint32_t n_slots;
    uint32_t n_busy;      /* slots that have a task */
    uint32_t held_at;     /* ACTIVE, LEAVING: its index in `held` */
    bool marked;          /* ACTIVE: not wanted after this window */
    bool renewing;        /* ACTIVE: the next window's charge is held */
    bool quarantined;     /* gets no tasks: in quarantine, or it will be taken
                             away */
    bool on_trial;        /* its quarantine is over: gets one task at a time
                             until one ends well */
    bool used;            /* was acquired at least once */
    bool last;            /* ACTIVE: whether another job follows is decided, or
                             it is about to be reclaimed */
    bats_time paid_end;   /* end of the last window charged */
    int64_t plan_windows; /* that the plan still gives it after this one */
    int64_t overrun;      /* as of the last look (forecast.h): windows beyond
                             the paid one that the longest of its running tasks
                             needs */
};

/* The members of a machine that few events use. */
struct machine_rest {
    uint32_t member;       /* its index among the cluster's members */
    int64_t windows;       /* entered so far, over all acquisitions */
    bats_time since;       /* charged for use or by age: it is in use, or
                              held, since then, or BATS_NEVER; */
    bats_money booked;     /* and so much of that is charged */
    bats_time length;      /* by age: that of its block; 0: it has none. A job:
                              the time for which it works */
    bool keeps_copy;       /* the plan pays windows for the copy it runs */
    bats_time taken_at;    /* it will be reclaimed then; or BATS_NEVER */
    bool fails;            /* in quarantine since things keep failing on it */
    bool closed;           /* no other job can be had there */
    bool asked;            /* a job was asked for, and is not billed yet: */
    bats_time asked_at;    /*   since then; */
    bats_time began_at;    /*   it began then, or BATS_NEVER; where use is
                              charged, with its first task */
};

/* A slot runs the first task of its queue; the others wait behind it. A replica
 * is alone there. */
struct slot {
    _Alignas(CACHE_LINE) uint32_t machine;
    struct bats_position head, tail; /* BATS_NO_POSITION if empty */
    uint32_t n_tasks;                /* in the queue */
    uint32_t next_idle, prev_idle;   /* in the list of idle slots */
    bool is_idle;                    /* in that list */
    bool is_replica;                 /* the head is a replica; then: */
    bool replica_cancelled;          /*   it was told to stop, and */
    bool was_replica;                /* the head began as a replica */
    uint32_t next_replica; /*   the slot of the next one of the task */
    bool timed_out;        /* the CANCEL of the head is a time-out */
    bool judged;           /* whether the head fills a job is known: it is a
                              copy of one that was cut off with this job */
    bool works;            /* slot_works, as of the last look; */
    uint32_t n_done;       /* nt of the papers */
    double rt_done;        /* rt, microseconds */
    bats_time started;     /* when the head began */
    double expected;       /* as of the last look: its tau_e */
};

_Static_assert(sizeof(struct machine) == CACHE_LINE &&
                   sizeof(struct slot) == CACHE_LINE,
               "more than a cache line: see above");

/*
 * A task's state beside that in the bag, by position. Everywhere in
 * the engine a task is its position in the draw order: those that run at the
 * same time were drawn one after the other, and so most of what an event needs
 * is in the cache. Only events, commands and observations have its index, a
 * plain uint32_t. Executions: the
 * original in `slot`, which may wait in a queue, and replicas, each in a slot
 * of its own. Where the original ends without a result, a replica takes its
 * place (and from then on counts as any task). So a task that is on a machine
 * has an original. After the result those that are told to stop are still
 * there.
 */
struct task {
    uint32_t slot;             /* of the original; NO_SLOT: on no machine */
    struct bats_position next; /* behind it in the slot's queue */
    uint32_t replicas;         /* slot of its first replica; NO_SLOT: none */
    uint32_t avoid;      /* machine on which it failed last, or NO_MACHINE */
    uint16_t n_replicas; /* begun since it was last drawn */
    uint16_t failures;   /* executions so far that ended like this */
    uint8_t losses;      /* the same */
    uint8_t cuts;        /* those cut off after all of the window of a job */
    uint8_t given_up;    /* executions that a strategy gave up after D */
    bool cancelled : 1;  /* the original was told to stop */
    bool in_sample : 1;  /* the original is, of its cluster */
    bool once : 1;       /* it must not be replicated */
    bool point : 1; /* it is run on every cluster for its runtime: a result
                           stops no other execution */
};

struct cluster {
    struct bats_cluster spec; /* its charge: what the ledger pays for a window,
                                 0 in an allocation */
    bats_money price;         /* what it is in either */
    bats_time expected;       /* runtime of a task; 0: not known */
    uint32_t first_machine, n_machines; /* indices into `members` */
    uint32_t n_joined; /* joined, and neither lost nor in quarantine */
    uint32_t n_lost, n_quarantined;
    uint32_t n_used;      /* machines acquired at least once */
    uint32_t n_active;    /* ACTIVE and not marked */
    uint32_t n_held;      /* ACTIVE or LEAVING */
    uint64_t n_slots;     /* of all its machines */
    uint32_t target;      /* machines that the configuration wants */
    uint32_t spares;      /* to be acquired though no task waits */
    int64_t plan_windows; /* that it gave each of them */
    uint32_t sample_want, sample_sent, sample_back;
    bats_time limit; /* an execution that lasts longer is a time-out; or
                        BATS_NEVER */
    /* Members that are PARKED and may be acquired; all times are 0, so that
     * the lowest index comes first. */
    struct bats_heap parked;
    struct bats_stats stats;
    struct bats_regression
        line;      /* from the base of the sampling phase; only */
    bool has_line; /* where tasks ran on both */
    uint32_t begun; /* executions, without replicas */
    uint32_t done, failed;
    bool is_seen; /* tasks have ended well there in an earlier session, too, or
                     in a sampling phase */
    int64_t windows;
    bats_money used;                  /* charged for use, by age or for jobs */
    uint32_t n_asked; /* jobs that wait; */
    uint32_t n_began; /* those that began, */
    double waited;    /* and how long all of them waited, microseconds */
    bool has_surplus; /* the last plan wanted fewer jobs than wait */
    double busy_time, paid_slot_time; /* microseconds */
};

/* The runtimes of tasks of a category on a cluster. */
struct category_seen {
    double sum;
    uint32_t n;
};

/* The moments of its DONE tasks, wherever they ran (Welford). */
struct category_stats {
    uint32_t n;
    double mean, squares;
};

/* How tasks of a category have differed from what was told: in weights. */
struct category_told {
    double mean;   /* of what is told of all of them; by results, the sums of */
    double spread; /* (told - mean)^2 */
    double drawn;  /* (runtime - told) (told - mean) */
};

struct categories {
    uint32_t n;          /* at least 1 */
    const uint16_t *of;  /* by task, or NULL: all are of one; not owned */
    double *weight;      /* by category, microseconds; 0: not known; */
    double mean;         /* and of a task of any */
    double factor[BATS_CLUSTERS_MAX]; /* by cluster: what tasks take there, in
                                         weights */
    /* sched.h: NULL, or the runtimes that are told. */
    bats_time (*told)(const void *context, uint32_t task, uint32_t cluster);
    const void *told_context;
    struct category_told *doubts; /* by category; */
    double n_told, told_squares;  /* results, and the sum of the squares of
                                     relative errors */
    uint32_t n_ranked; /* how often weights were made */
    uint32_t *left;      /* by category: tasks without a result */
    struct category_seen *seen; /* by category and cluster */
    struct category_stats *stats;
    bool is_news;   /* results of some category have doubled */
    double results; /* since weights were made */
};

enum phase {
    PHASE_NONE, /* no sampling phase, or it is over and one was chosen */
    PHASE_SAMPLING,
    PHASE_SAMPLED, /* waits for CHOSEN */
    PHASE_LEAVING  /* nothing was chosen: ends with the windows paid */
};

/* Tasks with equally long chains before the bag's end: those between two
 * barriers, for one. */
struct levels {
    uint32_t *of;     /* by node of the graph: the longest chain */
    uint32_t *left;   /* by level: tasks that will have a result */
    uint32_t *sorted; /* room for as many */
    uint32_t n;       /* 0: there is no graph */
};

struct state {
    bats_time window, interval, preempt_lead, prefetch;
    bats_time interval_after; /* what `interval` is from the deadline on */
    struct bats_goal goal; /* its deadline: or BATS_NEVER */
    bats_time late_end;    /* expected, if it is after the deadline; or 0 */
    bats_time time_limit;  /* or BATS_NEVER; */
    bats_time latest;      /* it, or how long the budget lasts if that is
                              sooner: */
    enum bats_finish late; /* which of them it is */
    bool is_late;          /* it is over */
    struct lease_terms terms; /* of machines, by how they are billed */
    const struct lease_kind *lease; /* and how money moves for one */
    uint32_t sample_size;
    bats_money earlier_charged;
    bool tops_up; /* what an earlier session has seen is part of the sample */

    bats_time now;
    bats_time next_tick;      /* BATS_NEVER while no machine is held */
    struct bats_heap turns;   /* machines by the next turn of their window */
    struct bats_heap limits;  /* slots by the time-out of their task; no */
    bool has_limits;          /* capacity without time-outs */
    bool limits_vary;         /* with what is known of the clusters */
    struct bats_heap quarantines; /* machines that get another chance, by the
                                     time of it */
    struct bats_heap retries; /* WAITING tasks, their numbers, by their next
                                 attempt; the same without delays */
    struct bats_bag bag;
    int64_t *height;  /* by node of the graph: tasks in the longest chain that
                         begins with it or, once it is_ranked, microseconds of
                         the heaviest one; NULL: there is no graph */
    uint32_t *sorted; /* its nodes, parents first */
    bool is_ranked;
    struct levels levels;
    struct categories categories;
    struct bats_ledger ledger;
    struct purses purses;
    int64_t cushion_tasks; /* the cushion is for the last so many */

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
    uint32_t idle_asked; /* all up to this one need not be asked whether they
                            want a replica; NO_SLOT: all must be */
    uint64_t *busy;      /* a bit per slot: it has a task */
    uint64_t n_changes; /* an execution began that is no replica, or a task has
                            one less and no result */

    uint32_t n_absent, n_lost, n_quarantined, n_held; /* machines */
    bats_money billed_others; /* jobs that no machine is */
    uint32_t n_noticed;     /* held machines that are about to be reclaimed */
    uint32_t n_jobs;        /* of them, jobs asked for and not billed; */
    uint64_t n_asked_slots; /* slots of those that wait */
    bats_time filled; /* the longest job in which a task was cut off that had
                         all of it */
    uint32_t n_open;     /* slots of ACTIVE machines, */
    uint32_t n_free;     /* and those of them without a task */
    uint32_t n_busy;     /* slots with a task */
    uint32_t n_replicas; /* slots with a replica */
    uint32_t preempted, retried, timed_out, replicas, replicas_won;
    uint32_t n_told;      /* tasks that were SKIPPED, and it was said */
    uint32_t n_released;  /* bag.n_released when machines were last thought
                             of */

    enum phase phase;     /* of the sampling */
    bool planned;         /* there is a plan made from statistics; */
    bool feasible;        /* it does the whole bag; */
    bool kept;            /* it was chosen, and is kept as it was promised */
    bats_time aim;        /* its end: a plan need not be sooner; 0: none */
    bool in_tail;         /* of a policy that sends instances */
    bool draining;        /* nothing more is started */
    bool on_hold;         /* the same, but only for the time being */
    enum bats_finish why; /* draining: what for */
    enum bats_finish finish;

    struct bats_command *queue; /* commands, a ring */
    size_t queue_first, queue_n, queue_capacity;
    struct bats_decision *decisions;
    size_t n_decisions, decisions_capacity;
    int failure; /* errcode of a step that could not be completed */
};

/* ---- answers.c ---- */

/* Appends a command; memory that runs out is kept in s->failure. */
void state_emit(struct state *s, struct bats_command command);

/* Takes the next command out; false: there is none. */
bool state_next(struct state *s, struct bats_command *command);

/* The mean of what tasks took on the cluster; before that, what is expected; 0:
 * not known. */
double cluster_runtime(const struct cluster *c);

/* T of the cluster is only of tasks that failed, or expected. */
bool cluster_is_guess(const struct cluster *c);

/* Records why the configuration became what it is now. */
void state_record(struct state *s, const struct bats_decision *decision);

/* ---- state.c ---- */

/* BATS_EINPUT for a graph with a circle, BATS_ENOMEM (then without a sentence);
 * on failure state_release is still the caller's. */
int state_init(struct state *s, const struct bats_sched_options *o,
               struct bats_error *err);
void state_release(struct state *s);

/* Nothing is started any more; `now`: what runs is told to stop. The first
 * reason holds. */
void state_stop(struct state *s, bool now, enum bats_finish why);

/* Time passes. */
void state_pass(struct state *s, bats_time now);

/* Says what the allocation was charged since the last time. */
void state_bill(struct state *s);

/* s->latest, after the budget has changed. */
void state_set_latest(struct state *s);

/* The run is over. */
void state_finish(struct state *s, enum bats_finish why);

/* The run was killed at this time, or later: what its machines may have cost
 * until now, which is what is held, is charged. */
void state_kill(struct state *s);

/* The cushion may be spent, if the tasks left are the last. */
void state_grant_cushion(struct state *s);

/* From here on every cluster is known as the sample says. */
void state_take_sample(struct state *s, const struct bats_sample *sample);

/* Asserts the invariants of sched.h. */
void state_check(const struct state *s);

/* ---- use.c ---- */

/* There is money for the task, or (no position) for another one of the expected
 * runtime: always, unless use is charged. */
bool use_affordable(const struct state *s, uint32_t machine,
                    struct bats_position task);

/* ---- jobs.c: machines that are jobs ---- */

/* The money that is held for a job of the cluster that works for so long. */
bats_money job_price(const struct state *s, size_t cluster, bats_time length);

/* The same, for one that works for a window; and for the job that was asked for
 * there, or 0. */
bats_money job_first(const struct state *s, size_t cluster);
bats_money job_held(const struct state *s, uint32_t machine);

/* The money held for all jobs that wait. */
bats_money jobs_waiting(const struct state *s);

/* How long a job of the cluster waits, as far as is known: the mean of waits
 * that are distributed exponentially, of which those that last were cut off at
 * this moment (time waited by all / jobs that began). */
bats_time job_wait(const struct state *s, size_t cluster);

/* PARKED -> ASKED, to work for so long: holds the money. False: there is not
 * enough. */
bool job_ask(struct state *s, uint32_t machine, bats_time length);

/* The same, for a job that an earlier session has asked for. */
bool job_take_over(struct state *s, uint32_t machine, bats_time length);

/* ASKED -> ACTIVE. */
void job_begin(struct state *s, uint32_t machine);

/* The bill of a job that no machine is. */
void job_bill_other(struct state *s, bats_money amount);

/* No other job can be had there: -> LOST, as soon as it is PARKED. */
void job_close(struct state *s, uint32_t machine);

/* It may work for so long from now. */
void job_set_end(struct state *s, uint32_t machine, bats_time time);

/* ACTIVE: whether another job follows it is decided. */
void job_set_last(struct state *s, uint32_t machine);

/* ASKED -> ENDING: it is withdrawn. */
void job_withdraw(struct state *s, uint32_t machine);

/* It has gone: ASKED -> ENDING, or ACTIVE or LEAVING -> DRAINING. What was on
 * it is still in its slots: the caller takes it out. */
void job_vanish(struct state *s, uint32_t machine);

/* The bill: what is held is free again. ENDING -> PARKED. */
void job_bill(struct state *s, uint32_t machine, bats_money amount);

/* ---- categories.c ---- */

static inline uint32_t category_of(const struct state *s, uint32_t task)
{
    return s->categories.of ? s->categories.of[task] : 0;
}

/* BATS_ENOMEM; release in any case. */
int categories_init(struct state *s, const struct bats_sched_options *o);
void categories_release(struct state *s);

/* A task is DONE; the order of those that are ready may change. */
void categories_note(struct state *s, struct bats_position task,
                     size_t cluster, bats_time runtime);

/* The task with this number will have no further result. */
void categories_drop(struct state *s, uint32_t task);

/* The mean weight of a task that has no result, in units of that of those that
 * have: what is left may be of other categories. 1: not known. */
double categories_left_weight(const struct state *s);

/* Ranks tasks by the runtimes that are told, if they are. */
void categories_take_told(struct state *s);

/* The expected runtime of the task with this number on the cluster; 0: not
 * known.
 */
double categories_runtime(const struct state *s, uint32_t task,
                          size_t cluster);

/* The same; where nothing is known of the task, the runtime of the others on
 * the cluster. A task that is told to take no time takes none. */
double task_runtime(const struct state *s, uint32_t task, size_t cluster);

/* The same as a multiple of what tasks take on average; 1: not known. */
double categories_weight(const struct state *s, uint32_t task);

/* How wrong told runtimes may be: the standard deviation of relative errors;
 * 0: all results were as told. */
double categories_told_error(const struct state *s);

/* The longest time that it may well take there: the mean of its category and
 * two standard deviations, or twice the mean where there is hardly a result; 0:
 * not known. */
double categories_longest(const struct state *s, uint32_t task,
                          size_t cluster);

/* ---- chains.c ---- */

/* How long the heaviest chain of what is left takes, one task after the other;
 * 0: not known. of_purse[i], which the caller has set to 0 (NULL: nobody wants
 * to know), is the same for each workflow with a budget; 0, too, if some wait
 * for others. */
bats_time state_longest_chain(const struct state *s, bats_time *of_purse);

/* The same, in tasks of mean length on the same machine. */
double state_chain_means(const struct state *s);

/* ---- levels.c ---- */

/* As long as s->height is in tasks. BATS_ENOMEM; release in any case. */
int levels_init(struct state *s);
void levels_release(struct state *s);

/* The task with this number will have no further result. */
void levels_drop(struct state *s, uint32_t task);

/* The levels of what is left; none without a graph. */
void levels_left(const struct state *s, struct bats_levels *levels);

/* ---- slots.c ---- */

void slot_add_idle(struct state *s, uint32_t slot);
void slot_remove_idle(struct state *s, uint32_t slot);

/* Puts every free slot of an ACTIVE machine back into the list of idle ones
 * (a slot that was refused a task has left it). */
void slots_rescan(struct state *s);

/* The task behind `task` in the slot's queue, or BATS_NO_POSITION. */
struct bats_position slot_next(const struct state *s, uint32_t slot,
                               struct bats_position task);

/* Puts `task` at the end of the slot's queue and sends RUN. */
void slot_run(struct state *s, uint32_t slot, struct bats_position task,
              uint32_t replica);

/* Takes the execution of `task` out of the slot. The task's state is the
 * caller's. */
void slot_take_out(struct state *s, uint32_t slot, struct bats_position task);

/* The time-out of what the slot runs, by the limit of its cluster; of all
 * slots. */
void slot_set_limit(struct state *s, uint32_t slot);
void slots_set_limits(struct state *s);

static inline uint32_t slot_cluster(const struct state *s, uint32_t slot)
{
    return s->machines[s->slots[slot].machine].cluster;
}

/* The time for which the execution in `slot` has been running. */
static inline double slot_elapsed(const struct state *s, uint32_t slot)
{
    return (double)(s->now - s->slots[slot].started);
}

/* The slot has work that is nobody else's: more than a replica, or a task that
 * has its result already. */
static inline bool slot_works(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 && !sl->is_replica &&
           (sl->n_tasks > 1 || !bats_bag_has_result(&s->bag, sl->head));
}

/* It runs a copy that counts. */
static inline bool slot_copies(const struct state *s, uint32_t slot)
{
    return s->slots[slot].is_replica && !s->slots[slot].replica_cancelled;
}

/* ---- executions.c ---- */

/* The execution of `task` in `slot` was told to stop. */
static inline bool execution_cancelled(const struct state *s, uint32_t slot,
                                       struct bats_position task)
{
    const struct slot *sl = &s->slots[slot];
    return sl->is_replica ? sl->replica_cancelled : s->tasks[task.i].cancelled;
}

/* The slot of the next execution of `task` after that in `slot`, the original
 * being the first; NO_SLOT: there is none. */
static inline uint32_t execution_next(const struct state *s,
                                      struct bats_position task, uint32_t slot)
{
    return s->slots[slot].is_replica ? s->slots[slot].next_replica
                                     : s->tasks[task.i].replicas;
}

/* The task may be replicated: it runs (does not wait in a queue), and was not
 * told to stop. */
static inline bool task_may_be_replicated(const struct state *s,
                                          struct bats_position task)
{
    const struct task *t = &s->tasks[task.i];
    return s->bag.state[task.i] == BATS_TASK_ASSIGNED && !t->once &&
           !t->cancelled && bats_same_position(s->slots[t->slot].head, task);
}

/* The task with this number, of which the slot is told; it may be in another
 * one. Mostly it is what the slot runs, and nothing far away in memory has to
 * be looked at. */
static inline struct bats_position
execution_find(const struct state *s, uint32_t slot, uint32_t number)
{
    struct bats_position head = s->slots[slot].head;
    return bats_is_position(head) && s->bag.index[head.i] == number
               ? head
               : s->bag.position[number];
}

/* The state of the task with this number in a slot of the machine. */
enum bats_execution_state execution_state(const struct state *s,
                                          uint32_t machine, uint32_t slot,
                                          uint32_t number);

/* Runs a task for a slot that was drawn. */
void execution_begin(struct state *s, uint32_t slot,
                     struct bats_position task);

/* Runs a task in an idle slot, for its runtime alone: beside its other
 * executions, or though it has its result. */
void execution_measure(struct state *s, uint32_t slot,
                       struct bats_position task);

/* Runs a replica of `task`, which is ASSIGNED, in an idle slot. */
void execution_replica(struct state *s, uint32_t slot,
                       struct bats_position task);

/* Tells one execution to stop; all that are left of a task; all but that in
 * `slot`; or all of a machine. */
void execution_cancel(struct state *s, uint32_t slot,
                      struct bats_position task, bool time_out);
void execution_cancel_all(struct state *s, struct bats_position task);
void execution_cancel_others(struct state *s, uint32_t slot,
                             struct bats_position task);
void execution_cancel_machine(struct state *s, uint32_t machine);

/* Tells the executions of a workflow on a machine to stop. */
void execution_cancel_purse(struct state *s, uint32_t machine, uint32_t purse);

/* The replica of `task` in `slot` becomes its original, and that a replica. */
void execution_swap(struct state *s, uint32_t slot, struct bats_position task);

/* Takes the execution of `task` out of the slot; `well`: it is DONE. True: the
 * task has no result and goes on in another one. */
bool execution_end(struct state *s, uint32_t slot, struct bats_position task,
                   bool well);

/* An execution in the slot took so long. */
static inline void slot_worked(struct state *s, uint32_t slot,
                               bats_time runtime)
{
    s->clusters[slot_cluster(s, slot)].busy_time += (double)runtime;
    s->slots[slot].n_done++;
    s->slots[slot].rt_done += (double)runtime;
}

/* ---- tasks.c ---- */

/* The task has its result, DONE or FAILED, from the cluster. */
void task_finish(struct state *s, struct bats_position task,
                 enum bats_task_state state, size_t cluster);

/* Says which tasks are SKIPPED of which that was not said yet: before anything
 * is run that waited for their end, whatever it is. */
void tasks_tell_skipped(struct state *s);

/* The result came from this slot: for the statistics. True: the sample of its
 * cluster has grown. */
bool task_count_result(struct state *s, uint32_t slot, bool in_sample,
                       bats_time runtime);

/* An execution has failed on the machine, and does not end the task. */
void task_note_failure(struct state *s, struct bats_position task,
                       uint32_t machine);

/* The task is WAITING until then. */
void task_put_aside(struct state *s, struct bats_position task,
                    bats_time until);

/* The time is over of the WAITING task with this number. */
void task_try_again(struct state *s, uint32_t number);

/* The task was lost with the machine of the slot. */
void task_lose(struct state *s, uint32_t slot, struct bats_position task);

/* From now on the task is run on every cluster for its runtime; or no more. */
void task_measure(struct state *s, struct bats_position task);
void task_release(struct state *s, struct bats_position task);

/* ---- machines.c ---- */

/* Any slot of the machine works. */
bool machine_works(const struct state *s, uint32_t machine);

/* ABSENT -> PARKED. */
void machine_join(struct state *s, uint32_t machine);

/* PARKED -> ACTIVE: charges a window. False: there is no money for it. */
bool machine_acquire(struct state *s, uint32_t machine);

/* ACTIVE: the charge of the next window is held. False: there is no money. */
bool machine_renew(struct state *s, uint32_t machine);

/* For jobs.c: it is held from now on, paid until `end`, with idle slots. It is
 * not held any more, -> DRAINING. It waits: -> PARKED, or ENDING if the bill of
 * a job is to come. */
void machine_hold(struct state *s, uint32_t machine, bats_time end);
void machine_end(struct state *s, uint32_t machine);
void machine_wait(struct state *s, uint32_t machine);

/* ACTIVE -> LEAVING: what runs is told to stop. */
void machine_leave(struct state *s, uint32_t machine);

/* The paid time of a machine that is renewing is over: the next window. */
void machine_enter_window(struct state *s, uint32_t machine);

/* The paid time is over: -> DRAINING, or PARKED if nothing is left on it. */
void machine_park(struct state *s, uint32_t machine);

/* DRAINING -> PARKED, or ENDING, if nothing is left on it. */
void machine_drained(struct state *s, uint32_t machine);

/* ACTIVE: not wanted after its window, or wanted again. */
void machine_mark(struct state *s, uint32_t machine, bool marked);

/* It gets no tasks, and leaves at the end of its window. */
void machine_retire(struct state *s, uint32_t machine);

/* The same, until then (BATS_NEVER: for good), since things keep failing on it;
 * and the end of that. */
void machine_quarantine(struct state *s, uint32_t machine, bats_time until);
void machine_readmit(struct state *s, uint32_t machine);

/* For machines.c and jobs.c: it is not `quarantined` any more. */
void machine_absolve(struct state *s, uint32_t machine);

/* A held machine will be reclaimed at this time: its window does not last
 * longer, and none follows. */
void machine_notice(struct state *s, uint32_t machine, bats_time taken_at);

/* -> LOST. What was on it is still in its slots: the caller takes it out. */
void machine_lose(struct state *s, uint32_t machine);

#endif
