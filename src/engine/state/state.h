/*
 * state: the engine's state, and queries on it.
 *
 * Layer: engine, the bottom room. Its parts are the world (machines and their
 * windows, slots, the bag, tasks and executions: world.h), known runtimes, the
 * money, the run, idle slots, and answers. Advisors read it. Moves (moves.h)
 * change it; each move keeps the invariants (bats/sched.h) and emits its
 * command. The state decides nothing and asks no advisor.
 *
 *   machines.c    joined, acquired, renewed, marked, parked, lost
 *   slots.c       the list of idle slots, and their queues
 *   needs.c       tasks that hold several slots, memory and GPUs
 *   executions.c  the executions of tasks: originals and replicas; results
 *   runtimes.c    what is known of runtimes, by category, cluster and chain
 *   purses.c      workflows that share the run, and what they hold
 *   payment.c     what workflows can pay for
 *   answers.c     commands, decisions, leases and stakes; memory
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
#include "engine/state/world.h"

struct books;      /* answers.c */
struct lease_kind; /* moves.h */
struct tail;       /* tail/tail.h */
struct order;      /* order/order.h */
struct room;       /* answers.c */

/* Knowledge of task runtimes. */
struct knowledge {
    bool believes; /* there is a prior: */
    struct bats_prior prior;
    uint32_t sample_size;
    bool tops_up;     /* results of earlier sessions count in the sample */
    int64_t *height;  /* by node of the graph: number of tasks in the longest
                         chain that begins with it or, once is_ranked,
                         microseconds of the heaviest one; NULL: no graph */
    uint32_t *sorted; /* the graph's nodes, parents first */
    bool is_ranked;
    struct categories categories;
    bats_time filled; /* longest job that a cut-off task had to itself from
                         start to end */
};

/* Workflows that share the run have budgets of their own (rule: bats/purse.h).
 * A *stake* is the money that a workflow holds for a machine on which it has
 * tasks, or had some in the time not yet charged. */

/* A workflow's part in a machine. */
struct stake {
    uint16_t purse;
    bats_money held, told; /* told: to the driver, with options.tells_leases */
    double used; /* slot time since the last shared charge, microseconds */
};

struct stakes {
    struct stake *list; /* of workflows that have or had tasks there */
    uint32_t n;
    size_t room;
    bats_money window; /* charge of the current window */
    bats_money need;   /* possible further charge: each stake holds it */
    bats_time since;   /* time of the last shared charge */
};

struct purse {
    struct bats_purse_status is; /* its money is the ledger's */
    struct bats_ledger ledger;
    bats_time begin;      /* earliest start of its tasks */
    uint32_t first, last; /* list of its tasks waiting for money, by index */
    uint32_t n_waiting;   /* and their number */
    bool is_news;         /* money was freed */
};

struct purses {
    uint32_t n;         /* 0: no workflows; all below is NULL */
    const uint16_t *of; /* by task; not owned */
    struct purse *list;
    struct stakes *stakes; /* by machine */
    uint32_t *next;        /* by task: next in the list of waiting ones */
    int64_t *urgency;   /* by task: height - its workflow's deadline; NULL: no
                           deadlines, only the height counts */
    uint8_t *is_unpaid; /* by task: skipped for want of money */
    uint32_t n_unpaid, n_waiting;
    bool are_apart;       /* no dependencies between workflows */
    bats_time last_begin; /* latest begin of any workflow */
    bool is_news;         /* of some purse */
};

/* The money and its uses. */
struct money {
    struct bats_lease_terms terms;  /* of machines, from the billing model */
    const struct lease_kind *lease; /* and their functions */
    struct bats_ledger ledger;
    struct purses purses;
    struct books *books;   /* NULL: leases are not told */
    bats_time latest;      /* time limit, or end of the budget if that is
                              sooner */
    enum bats_finish late; /* which of the two */
    bool is_late;          /* `latest` has passed */
    bats_money earlier_charged;
    bats_money billed_others; /* bills of jobs without a machine */
    uint32_t n_jobs;          /* jobs requested and not yet billed */
    uint64_t n_asked_slots;   /* slots of the queued ones */
};

/* Parameters and progress of the run. */
struct run {
    bats_time window, interval, preempt_lead, prefetch;
    bats_time interval_after; /* value of `interval` after the deadline */
    struct bats_goal goal;    /* without a deadline: BATS_NEVER */
    bats_time late_end;       /* expected end if after the deadline, else 0 */
    bats_time time_limit;     /* or BATS_NEVER */
    bats_time next_tick;      /* BATS_NEVER while no machine is held */
    double retry_time;        /* of the rules */
    bool has_limits;          /* tasks have time-outs; */
    bool gives_up;            /* then the tail gives them up; */
    bool limits_vary;         /* they depend on the clusters' runtimes */
    enum phase phase;         /* of sampling */
    bool planned;             /* a plan was made from statistics; */
    bool feasible;            /* it completes the bag; */
    bool kept;                /* it was chosen by the user, and is kept */
    bats_time aim;            /* the plan's end; sooner is no gain; 0: none */
    bool in_tail;             /* of a policy that sends instances */
    bool draining;            /* nothing more is started */
    bool on_hold;             /* the same, but temporarily */
    bats_time lingers_until;  /* next end of an idle job; or BATS_NEVER */
    bool is_open;             /* tasks may be added; */
    uint32_t in_all;          /* tasks expected in all; 0: unknown */
    enum bats_finish why;     /* reason for draining */
    enum bats_finish finish;
    uint32_t n_released; /* bag.n_released at the last look at machines */
};

/* Idle slots, numbered in the order in which they became idle. */
struct idle {
    struct idle_list {
        uint32_t first, last, n;
    } of[BATS_CLUSTERS_MAX]; /* by cluster: list, oldest first */
    uint32_t n;              /* length of all lists */
    uint64_t *number;        /* by slot, from 1 on */
    uint64_t last_number;
    uint64_t asked; /* slots up to this number would decline again */
    uint32_t *news; /* n_news machines with a newly noted idle reason */
    uint32_t n_news;
};

/* The needs of tasks. */
struct needs_node {
    uint32_t machine, first_slot, n_slots;
    struct bats_stock free; /* resources that no task holds */
    uint64_t free_gpus;     /* bits */
};

struct needs {
    uint16_t *of;           /* by task: its category */
    struct bats_need *list; /* by category; NULL: one slot each */
    uint16_t *more; /* by category: the next one after running out of memory,
                       or itself */
    double *share;  /* by category: share of a machine's slots per task */
    struct bats_stock *spec; /* by machine */
    uint32_t *first;         /* by machine: its first node; and the end */
    struct needs_node *nodes;
    uint64_t *gpus; /* by slot: bits of its task's GPUs */
    uint32_t *lead; /* by slot: the slot whose task holds it, or NO_SLOT */
};

/* The answers to the driver. */
struct answers {
    struct bats_command *queue; /* commands first .. n - 1 are new */
    size_t first, n, capacity;
    struct bats_command lost; /* for which there was no memory */
    struct bats_decision *decisions;
    size_t n_decisions, decisions_capacity;
    int failure; /* errcode of an incomplete step */
};

/* The world's members are direct members of the state: nearly every line of
 * the engine uses its clock, machines, slots or tasks. */
struct state {
    /* The engine asks these for decisions; `own` is the memory of each. Neither
     * the state nor an advisor asks them. */
    const struct bats_policy *policy;
    const struct tail *tail;
    const struct order *order;
    struct {
        void *policy, *sampling, *tail, *failure, *order;
    } own;
    bats_time wakeup; /* next due time, as of the last step */
    bool started;     /* the start's configuration was chosen */

    struct room *rooms; /* what state_room has given */
    struct knowledge known;
    struct money money;
    struct run run;
    struct idle idle;
    struct needs needs;
    struct answers answers;

    bats_time now;
    struct bats_heap turns;  /* machines by the next turn of their window */
    struct bats_heap limits; /* slots by their task's time-out; empty without
                                time-outs */
    struct bats_heap quarantines; /* machines by the end of their quarantine */
    struct bats_heap retries;     /* numbers of WAITING tasks by their next
                                 attempt; empty without delays */
    struct bats_bag bag;

    struct cluster *clusters;
    size_t n_clusters;
    struct machine *machines;
    struct machine_rest *rest; /* by machine */
    uint32_t n_machines;
    uint32_t *members; /* machine ids, cluster by cluster, ascending */
    uint32_t *held;    /* n_held ACTIVE and LEAVING machines, unordered */
    struct slot *slots;
    uint32_t n_slots;
    struct task *tasks;
    uint64_t *busy;     /* a bit per slot: it has a task */
    uint64_t *any_busy; /* a bit per word of these: it is not 0 */
    uint64_t n_changes; /* counts starts of originals, and ends of executions
                           without a result */

    uint32_t n_absent, n_lost, n_quarantined, n_held; /* machines */
    uint32_t n_noticed;  /* held machines that are about to be reclaimed */
    uint32_t n_open;     /* slots of ACTIVE machines, */
    uint32_t n_free;     /* of these, held by no task */
    uint32_t n_busy;     /* slots that a task holds */
    uint32_t n_replicas; /* slots with a replica */
    uint32_t preempted, retried, timed_out, replicas, replicas_won;
    uint32_t n_told; /* SKIPPED tasks reported so far */
};

struct bats_sched {
    struct state state;
};

/* ---- answers.c ---- */

/* Mean task runtime on the cluster, or the expected one before any result; 0:
 * unknown. */
double cluster_runtime(const struct cluster *c);

/* The cluster has machines, or will get some. */
static inline bool cluster_is_there(const struct cluster *c)
{
    return c->n_machines > c->n_lost + c->n_quarantined && c->spec.max > 0;
}

/* The mean rests only on failed tasks or on a guess. */
bool cluster_is_guess(const struct cluster *c);

/* A decision made now, with the feasibility of the current plan, the tasks in
 * the bag and the money left filled in. */
struct bats_decision state_decision(const struct state *s,
                                    enum bats_reason reason);

/* Takes over the prior; NULL: none. */
void state_believe(struct state *s, const struct bats_prior *prior);

/* The current belief, given these means of the clusters (NULL: those of the
 * finished tasks). */
void state_belief(const struct state *s, const double *measured,
                  struct bats_belief *belief);

/* Updates the clusters' expected runtimes after a result. */
void state_belief_note(struct state *s);

/* ---- runtimes.c ---- */

static inline uint32_t category_of(const struct state *s, uint32_t task)
{
    return s->known.categories.of ? s->known.categories.of[task] : 0;
}

/* Mean weight of tasks without a result relative to those with one: the
 * categories may differ. 1: unknown. */
double categories_left_weight(const struct state *s);

/* Expected runtime of task number `task` on the cluster; 0: unknown. */
double categories_runtime(const struct state *s, uint32_t task,
                          size_t cluster);

/* The same, or the cluster's mean runtime if nothing is known of the task. A
 * task told to take no time takes none. */
double task_runtime(const struct state *s, uint32_t task, size_t cluster);

/* Expected remaining time of the slot's running task; if it is late, the time
 * by which it is late. */
double slot_rest(const struct state *s, uint32_t slot);

/* The expected runtime as a multiple of the mean one; 1: unknown. */
double categories_weight(const struct state *s, uint32_t task);

/* Error of told runtimes: the standard deviation of relative errors; 0: all
 * results were as told. */
double categories_told_error(const struct state *s);

/* Plausible longest (allowed) and mean (typical) time until the task, started
 * on the machine now, has stopped; BATS_NO_POSITION: any task. */
bats_time task_allowed(const struct state *s, uint32_t machine,
                       struct bats_position task);
bats_time task_typical(const struct state *s, uint32_t machine,
                       struct bats_position task);

/* Length of the heaviest chain of the tasks left; 0: unknown. of_purse[i]
 * (zeroed by the caller; may be NULL) gets the same per workflow with a
 * budget; also 0 if workflows wait for each other. */
bats_time state_longest_chain(const struct state *s, bats_time *of_purse);

/* The same, in mean runtimes on the same machine. */
double state_chain_means(const struct state *s);

/* Levels of the tasks left (bats_graph_levels), none without a graph. Walks
 * the whole graph. */
void levels_left(const struct state *s, struct bats_levels *levels);

/* ---- purses.c: without workflows these functions do nothing ---- */

/* The workflow of a task. */
static inline struct purse *purse_of(const struct state *s, uint32_t number)
{
    return &s->money.purses.list[s->money.purses.of[number]];
}

/* Number of the workflow of the slot's task; UINT32_MAX: it has no task. */
static inline uint32_t purse_in(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 ? s->money.purses.of[s->bag.index[sl->head.i]]
                           : UINT32_MAX;
}

/* The stake of the workflow in the machine, or NULL. */
struct stake *purse_stake(const struct state *s, uint32_t machine,
                          uint32_t purse);

/* The workflow has a task on the machine that was not cancelled. */
bool purse_goes_on(const struct state *s, uint32_t machine, uint32_t purse);

/* The least that a workflow with a running task on the machine can hold for it
 * beyond its need; BATS_UNLIMITED: no workflow limits it. */
bats_money purse_room(const struct state *s, uint32_t machine);

/* The task's workflow has begun, and can hold what the machine may be
 * charged. */
bool purse_admits(const struct state *s, uint32_t machine,
                  struct bats_position task);

/* Number of tasks for which workflows could pay further machines of the
 * cluster, one slot per task. */
double purses_pay(const struct state *s, size_t cluster);

/* Some tasks wait for their workflow to begin. */
bool purses_begin_later(const struct state *s);

/* ---- needs.c ---- */

const struct bats_need *need_of(const struct state *s,
                                struct bats_position task);

/* For runs whose tasks have needs: the node of a slot; whether a node has room
 * for the need now; and whether it has if only `free` is left of it. */
uint32_t node_of(const struct state *s, uint32_t slot);
bool need_fits(const struct state *s, uint32_t node,
               const struct bats_need *need);
bool need_fits_in(const struct state *s, uint32_t node,
                  const struct bats_stock *free, const struct bats_need *need);

/* The slot's node has room for the task, which may need just a slot. */
static inline bool task_has_room(const struct state *s, uint32_t slot,
                                 struct bats_position task)
{
    return !s->needs.list || need_fits(s, node_of(s, slot), need_of(s, task));
}

/* Takes the need from `free` (sign -1), or gives it back (1). */
void need_count(struct bats_stock *free, const struct bats_need *need,
                int sign);

/* Slots that task number `task` takes: its share of an average machine. */
static inline double task_width(const struct state *s, uint32_t task)
{
    return s->needs.list ? s->needs.share[category_of(s, task)] : 1;
}

/* Mean number of slots per task of those left, weighted by runtime. */
double needs_width(const struct state *s);

/* The same on machines of the cluster, whose rooms may differ from those of
 * others. Looks at all machines. */
double needs_width_in(const struct state *s, size_t cluster);

/* The slot may begin a task. */
static inline bool slot_is_free(const struct state *s, uint32_t slot)
{
    return s->slots[slot].n_tasks == 0 &&
           (!s->needs.lead || s->needs.lead[slot] == NO_SLOT);
}

/* The first slot from `slot` on that has a task; n_slots: none. */
static inline uint32_t slot_next_busy(const struct state *s, uint32_t slot)
{
    while (slot < s->n_slots) {
        uint64_t slots = s->busy[slot / 64] >> slot % 64;
        if (slots > 0)
            return slot + (uint32_t)__builtin_ctzll(slots);
        uint32_t word = slot / 64 + 1;
        uint64_t words = s->any_busy[word / 64] >> word % 64;
        word += words > 0 ? (uint32_t)__builtin_ctzll(words) : 64 - word % 64;
        slot = word * 64;
    }
    return s->n_slots;
}

/* The slot whose task holds this one; itself if none does. */
static inline uint32_t slot_lead(const struct state *s, uint32_t slot)
{
    return s->needs.lead && s->needs.lead[slot] != NO_SLOT
               ? s->needs.lead[slot]
               : slot;
}

/* ---- slots.c ---- */

/* The task behind `task` in the slot's queue, or BATS_NO_POSITION. */
static inline struct bats_position
slot_next(const struct state *s, uint32_t slot, struct bats_position task)
{
    return s->slots[slot].is_replica ? BATS_NO_POSITION
                                     : s->tasks[task.i].next;
}

static inline uint32_t slot_cluster(const struct state *s, uint32_t slot)
{
    return s->machines[s->slots[slot].machine].cluster;
}

/* The time for which the execution in `slot` has been running. */
static inline double slot_elapsed(const struct state *s, uint32_t slot)
{
    return (double)(s->now - s->slots[slot].started);
}

/* The slot has work of its own: more than a replica, or a task that already
 * has its result. */
static inline bool slot_works(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    return sl->n_tasks > 0 && !sl->is_replica &&
           (sl->n_tasks > 1 || !bats_bag_has_result(&s->bag, sl->head));
}

/* The slot runs a replica that was not told to stop. */
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

/* Slot of the execution of `task` that follows the one in `slot`; the original
 * is first. NO_SLOT at the end. */
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

/* Position of task `number`, which an event claims is in the slot. Usually the
 * slot runs it, so no distant memory is read. */
static inline struct bats_position
execution_find(const struct state *s, uint32_t slot, uint32_t number)
{
    struct bats_position head = s->slots[slot].head;
    return bats_is_position(head) && s->bag.index[head.i] == number
               ? head
               : s->bag.position[number];
}

/* State of task `number` in a slot of the machine. */
enum bats_execution_state execution_state(const struct state *s,
                                          uint32_t machine, uint32_t slot,
                                          uint32_t number);

/* ---- machines.c ---- */

/* Any slot of the machine works. */
bool machine_works(const struct state *s, uint32_t machine);

#endif
