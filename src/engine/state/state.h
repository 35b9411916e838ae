/*
 * state: what the engine remembers, and what may be asked of it.
 *
 * Layer: engine, the bottom room. Its parts are the world (machines and their
 * windows, slots, the bag, tasks and their executions: world.h), what is known
 * of runtimes, the money, the run, idle slots, and answers. Advisors read
 * this. Moves (moves.h) change it; a move keeps the invariants (state_check)
 * and emits its command. It decides nothing and asks no advisor.
 *
 *   machines.c    joined, acquired, renewed, marked, parked, lost
 *   slots.c       the list of idle slots, and their queues
 *   needs.c       tasks that hold several slots, memory and GPUs
 *   executions.c  the executions of tasks: originals and replicas
 *   tasks.c       their results, failures and losses
 *   categories.c  what tasks of one kind take
 *   durations.c   how long a task may take that begins now
 *   chains.c      how long chains of tasks take
 *   purses.c      workflows that share the run (purses.h), what they hold for
 *   stakes.c      a machine, and
 *   payment.c     what they can pay for
 *   books.c       what the driver is told of all this (books.h)
 *   answers.c     commands and decisions
 *   state.c       set-up and end
 */
#ifndef BATS_ENGINE_STATE_H
#define BATS_ENGINE_STATE_H

#include "bats/bag.h"
#include "bats/estimate.h"
#include "bats/lease.h"
#include "bats/ledger.h"
#include "bats/prior.h"
#include "bats/sample.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "engine/state/purses.h"
#include "engine/state/world.h"

struct books;      /* books.h */
struct lease_kind; /* leases.h */

/* The knowledge of the runtimes of tasks. */
struct knowledge {
    bool believes; /* something is believed of the clusters: */
    struct bats_prior prior;
    uint32_t sample_size;
    bool tops_up; /* what an earlier session has seen is part of the sample */
    int64_t *height;  /* by node of the graph: tasks in the longest chain that
                         begins with it or, once it is_ranked, microseconds of
                         the heaviest one; NULL: there is no graph */
    uint32_t *sorted; /* its nodes, parents first */
    bool is_ranked;
    struct categories categories;
    bats_time filled; /* the longest job in which a task was cut off that had
                         all of it */
};

/* The money, and what it is paid for. */
struct money {
    struct bats_lease_terms terms;  /* of machines, by how they are billed */
    const struct lease_kind *lease; /* and how money moves for one */
    struct bats_ledger ledger;
    struct purses purses;
    struct books *books;   /* NULL: leases are not told */
    bats_time latest;      /* the time limit, or how long the budget lasts if
                              that is sooner: */
    enum bats_finish late; /* which of them it is */
    bool is_late;          /* it is over */
    bats_money earlier_charged;
    bats_money billed_others; /* jobs that no machine is */
    int64_t cushion_tasks;    /* the cushion is for this many last tasks */
    uint32_t n_jobs;          /* jobs asked for and not billed; */
    uint64_t n_asked_slots;   /* slots of those that wait */
};

/* How the run is to go, and how far it is. */
struct run {
    bats_time window, interval, preempt_lead, prefetch;
    bats_time interval_after; /* what `interval` is from the deadline on */
    struct bats_goal goal;    /* its deadline: or BATS_NEVER */
    bats_time late_end;       /* expected, if it is after the deadline; or 0 */
    bats_time time_limit;     /* or BATS_NEVER */
    bats_time next_tick;      /* BATS_NEVER while no machine is held */
    double retry_time;        /* of the rules */
    bool has_limits;          /* tasks have time-outs, */
    bool gives_up;            /*   after which the tail gives them up, */
    bool limits_vary;         /*   by what is known of the clusters */
    enum phase phase;         /* of the sampling */
    bool planned;             /* there is a plan made from statistics; */
    bool feasible;            /* it does the whole bag; */
    bool kept;                /* it was chosen, and is kept as promised */
    bats_time aim;            /* its end: a plan need not be sooner; 0: none */
    bool in_tail;             /* of a policy that sends instances */
    bool draining;            /* nothing more is started */
    bool on_hold;             /* the same, but only for the time being */
    bool is_open;             /* tasks may be added; */
    uint32_t in_all;          /*   expected in all; 0: not known */
    enum bats_finish why;     /* draining: what for */
    enum bats_finish finish;
    uint32_t n_released; /* bag.n_released when machines were last thought
                            of */
};

/* The slots that have nothing to do. */
struct idle {
    uint32_t first, last; /* list of them, oldest first; */
    uint32_t n;           /*   how many there are */
    uint32_t asked;       /* all up to this one need not be asked whether they
                             want a replica; NO_SLOT: all must be */
    uint32_t *news;       /* machines, n_news: why they are idle was noted */
    uint32_t n_news;
};

/* The needs of tasks. */
struct needs {
    uint16_t *of;           /* by task: its category */
    struct bats_need *list; /* by category; NULL: one slot each */
    uint16_t *more; /* by category: that of a task that was out of memory, or
                       itself */
    double *share; /* by category: slots of a machine for one of such tasks */
    struct bats_stock *spec, *free; /* by machine: all it has, and what
                                            * no task holds */
    uint64_t *free_gpus; /* by machine: those that no task holds, a bit each */
    uint64_t *gpus; /* by slot: those of the task that it runs, likewise */
    uint32_t *lead; /* by slot: the one whose task holds it; or NO_SLOT */
};

/* The answers to the driver. */
struct answers {
    struct bats_command *queue; /* commands from `first` to n - 1 are new */
    size_t first, n, capacity;
    struct bats_decision *decisions;
    size_t n_decisions, decisions_capacity;
    int failure; /* errcode of a step that could not be completed */
};

/* The world is the state itself: nearly every line of the engine asks for its
 * clock, machines, slots and tasks. */
struct state {
    struct knowledge known;
    struct money money;
    struct run run;
    struct idle idle;
    struct needs needs;
    struct answers answers;

    bats_time now;
    struct bats_heap turns;  /* machines by the next turn of their window */
    struct bats_heap limits; /* slots by the time-out of their task; no
                                capacity without time-outs */
    struct bats_heap quarantines; /* machines that get another chance, by the
                                     time of it */
    struct bats_heap retries; /* WAITING tasks, their numbers, by their next
                                 attempt; the same without delays */
    struct bats_bag bag;

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
    uint64_t *busy;     /* a bit per slot: it has a task */
    uint64_t n_changes; /* an execution began that is no replica, or a task
                            has one less and no result */

    uint32_t n_absent, n_lost, n_quarantined, n_held; /* machines */
    uint32_t n_noticed;  /* held machines that are about to be reclaimed */
    uint32_t n_open;     /* slots of ACTIVE machines, */
    uint32_t n_free;     /* and those of them that no task holds */
    uint32_t n_busy;     /* slots that a task holds */
    uint32_t n_replicas; /* slots with a replica */
    uint32_t preempted, retried, timed_out, replicas, replicas_won;
    uint32_t n_told; /* tasks that were SKIPPED, and it was said */
};

/* ---- answers.c ---- */

/* The mean of what tasks took on the cluster; before that, what is expected; 0:
 * not known. */
double cluster_runtime(const struct cluster *c);

/* The cluster has machines, or will have. */
static inline bool cluster_is_there(const struct cluster *c)
{
    return c->n_machines > c->n_lost + c->n_quarantined && c->spec.max > 0;
}

/* The mean rests only on failed tasks or on a guess. */
bool cluster_is_guess(const struct cluster *c);

/* A decision made now. Filled in: whether the present plan is feasible, the
 * tasks in the bag, and the money left. */
struct bats_decision state_decision(const struct state *s,
                                    enum bats_reason reason);

/* ---- belief.c ---- */

/* Takes over what is believed; NULL: nothing. */
void state_believe(struct state *s, const struct bats_prior *prior);

/* The belief of now, with these means of the clusters (NULL: those of the tasks
 * that are done). */
void state_belief(const struct state *s, const double *measured,
                  struct bats_belief *belief);

/* A task has ended: what clusters are expected to take may have changed. */
void state_belief_note(struct state *s);

/* ---- state.c ---- */

/* Asserts the invariants of sched.h. */
void state_check(const struct state *s);

/* ---- categories.c ---- */

static inline uint32_t category_of(const struct state *s, uint32_t task)
{
    return s->known.categories.of ? s->known.categories.of[task] : 0;
}

/* The mean weight of a task that has no result, in units of that of those that
 * have: what is left may be of other categories. 1: not known. */
double categories_left_weight(const struct state *s);

/* The expected runtime of the task with this number on the cluster; 0: not
 * known.
 */
double categories_runtime(const struct state *s, uint32_t task,
                          size_t cluster);

/* The same; where nothing is known of the task, the runtime of the others on
 * the cluster. A task that is told to take no time takes none. */
double task_runtime(const struct state *s, uint32_t task, size_t cluster);

/* How much longer the task that the slot runs is expected to take by this; if
 * it is late, as long as it is late. */
double slot_rest(const struct state *s, uint32_t slot);

/* The expected runtime as a multiple of the mean one; 1: unknown. */
double categories_weight(const struct state *s, uint32_t task);

/* How wrong told runtimes may be: the standard deviation of relative errors;
 * 0: all results were as told. */
double categories_told_error(const struct state *s);

/* The longest time that it may well take there: the mean of its category and
 * two standard deviations, or twice the mean where there is hardly a result; 0:
 * not known. */
double categories_longest(const struct state *s, uint32_t task,
                          size_t cluster);

/* ---- durations.c ---- */

/* The time that the task, which begins on the machine now, may well take, and
 * takes on average, until it has stopped; BATS_NO_POSITION: any task. */
bats_time task_allowed(const struct state *s, uint32_t machine,
                       struct bats_position task);
bats_time task_typical(const struct state *s, uint32_t machine,
                       struct bats_position task);

/* ---- chains.c ---- */

/* Length of the heaviest chain of the tasks left; 0: unknown. of_purse[i], set
 * to 0 by the caller (may be NULL), gets the same for each workflow with a
 * budget; 0, too, if workflows wait for each other. */
bats_time state_longest_chain(const struct state *s, bats_time *of_purse);

/* The same, in tasks of mean length on the same machine. */
double state_chain_means(const struct state *s);

/* The levels of what is left (bats_graph_levels), which takes a look at the
 * whole graph; none without one. */
void levels_left(const struct state *s, struct bats_levels *levels);

/* ---- needs.c ---- */

const struct bats_need *need_of(const struct state *s,
                                struct bats_position task);

/* The machine has room for it now; only where tasks have needs. */
bool need_fits(const struct state *s, uint32_t machine,
               const struct bats_need *need);

/* The same where `free` is left of it. */
bool need_fits_in(const struct state *s, uint32_t machine,
                  const struct bats_stock *free, const struct bats_need *need);

/* sign -1: takes the need from what is free; 1: gives it back. */
void need_count(struct bats_stock *free, const struct bats_need *need,
                int sign);

/* The mean number of slots that a task takes of those that are left, weighted
 * with their times. */
double needs_width(const struct state *s);

/* The slot may begin a task. */
static inline bool slot_is_free(const struct state *s, uint32_t slot)
{
    return s->slots[slot].n_tasks == 0 &&
           (!s->needs.lead || s->needs.lead[slot] == NO_SLOT);
}

/* The slot with the task that holds this one; itself, if none does. */
static inline uint32_t slot_lead(const struct state *s, uint32_t slot)
{
    return s->needs.lead && s->needs.lead[slot] != NO_SLOT
               ? s->needs.lead[slot]
               : slot;
}

/* ---- slots.c ---- */

/* The task behind `task` in the slot's queue, or BATS_NO_POSITION. */
struct bats_position slot_next(const struct state *s, uint32_t slot,
                               struct bats_position task);

static inline uint32_t slot_cluster(const struct state *s, uint32_t slot)
{
    return s->machines[s->slots[slot].machine].cluster;
}

/* The time for which the execution in `slot` has been running. */
static inline double slot_elapsed(const struct state *s, uint32_t slot)
{
    return (double)(s->now - s->slots[slot].started);
}

/* The slot has work of its own: not only a replica, or a task that has its
 * result. */
static inline bool slot_works(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 && !sl->is_replica &&
           (sl->n_tasks > 1 || !bats_bag_has_result(&s->bag, sl->head));
}

/* The slot runs a copy that counts. */
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
 * being the first; NO_SLOT at the end. */
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

/* The position of the task with this number, which an event says is in the
 * slot. Mostly the slot runs it, so nothing far away in memory is read. */
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

/* ---- machines.c ---- */

/* Any slot of the machine works. */
bool machine_works(const struct state *s, uint32_t machine);

#endif
