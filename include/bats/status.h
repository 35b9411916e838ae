/*
 * status: the scheduler's (sched.h) view of a run, for people and for the
 * record. Nothing here changes the engine, except that next_* take news out.
 *
 * Layer: engine, used by report, the record and cli.
 */
#ifndef BATS_STATUS_H
#define BATS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/rules.h"
#include "bats/strategy.h"
#include "bats/units.h"

struct bats_estimator;
struct bats_observation;
struct bats_purse_status;
struct bats_sched;
struct bats_schedule;

struct bats_sched_status {
    bats_time now;
    enum bats_finish finish;
    uint32_t pending;        /* in the bag, or waiting for a retry */
    uint32_t blocked;        /* of these, waiting for other tasks */
    bats_time longest_chain; /* duration of the longest chain of tasks left; 0:
                                no dependencies, or unknown */
    uint32_t running;        /* on a machine (running or queued there) */
    uint32_t done;
    uint32_t failed;
    uint32_t skipped;          /* not run: they waited for one that failed */
    bool is_open;              /* more tasks may be added: all of this is about
                                  those added so far */
    uint32_t expected;         /* then: how many are expected in all; 0:
                                  unknown */
    bats_money budget;         /* B, or BATS_UNLIMITED */
    bats_money charged;        /* by the ledger */
    bats_money held;           /* reserved for running tasks or future bills */
    bats_money charged_before; /* part of `charged` before this run began, by
                                  earlier sessions and lives */
    uint32_t retried;          /* failed executions that are repeated */
    uint32_t timed_out;        /* executions stopped by a time-out */
    uint32_t preempted;        /* executions cut off at a window's end */
    uint32_t replicas;         /* started */
    uint32_t replicas_won;     /* of these, those that gave the result */
    bats_time estimated_end;   /* BATS_NEVER if unknown */
    bats_time deadline;        /* 0: there is none */
    bats_time late_end;        /* expected end of the bag if that is too late;
                                else 0 */
    bats_money rest_cost; /* cost of the pending tasks on one machine of the
                             most profitable cluster; -1 unknown */
    uint32_t sample_size; /* n, tasks per cluster in the sampling phase */
};
void bats_sched_status(const struct bats_sched *s,
                       struct bats_sched_status *status);

/* The runtimes known of a category, in microseconds of virtual time. */
struct bats_category_status {
    uint32_t done;    /* in this session */
    uint32_t left;    /* without a result */
    double mean;      /* of the finished runtimes; 0: none */
    double deviation; /* their standard deviation; 0 with fewer than two */
};
void bats_sched_category_status(const struct bats_sched *s, uint32_t category,
                                struct bats_category_status *status);

/* Expected runtime of the task relative to the mean, by category; 1:
 * unknown. */
double bats_sched_weight(const struct bats_sched *s, uint32_t task);

/* Earliest time of the last result, by workflow with a budget, from its
 * longest chain of tasks; 0: unknown. soonest[] has room for all of them. */
void bats_sched_purses_soonest(const struct bats_sched *s, bats_time *soonest);

/* False: no such purse. Leaves `soonest` 0. */
bool bats_sched_purse_status(const struct bats_sched *s, uint32_t purse,
                             struct bats_purse_status *status);

/* The task has ended for good. */
bool bats_sched_has_result(const struct bats_sched *s, uint32_t task);
bool bats_sched_has_failed(const struct bats_sched *s, uint32_t task);
/* The task will not run, because one that it waited for has failed. */
bool bats_sched_is_skipped(const struct bats_sched *s, uint32_t task);

/* Result of the sampling phase; owned by the engine, valid until the next
 * handle. */
struct bats_sched_sampled {
    bats_time time;     /* end of the phase, or time of the choice after it;
                           BATS_NEVER: not yet */
    bats_money charged; /* until then, including earlier runs */
    uint32_t tasks;     /* in the sample */
    uint32_t given_up;  /* of these, dropped because they ran too long */
    uint32_t longest;   /* the longest-running of these; BATS_NO_TASK: none */
    const struct bats_observation *observations;
    size_t n_observations;
    const struct bats_schedule *chosen; /* NULL: none yet, or none chosen */
};
void bats_sched_sampled(const struct bats_sched *s,
                        struct bats_sched_sampled *sampled);

/* Fills in the data to estimate schedules for the rest of the bag, after
 * SAMPLED (estimate.h); money counts from now. The arrays are owned by the
 * engine, valid until the next handle. BATS_ESTATE before SAMPLED; BATS_EINPUT
 * if no task of the sample has succeeded anywhere; BATS_ENOMEM. */
int bats_sched_estimator(struct bats_sched *s,
                         struct bats_estimator *estimator,
                         struct bats_error *err);

/* Tasks that a machine of the cluster runs at the same time, on average, by
 * what those left need. */
double bats_sched_room(const struct bats_sched *s, size_t cluster);

/* For the policy expert. */
struct bats_sched_strategy {
    struct bats_strategy strategy; /* in use */
    bats_time decided; /* time of the engine's decision; -1: it was given */
    double gamma;      /* share of answers at that time */
    double makespan, cost; /* of the whole run, as expected then; microseconds,
                              money; 0: unknown */
};
/* False: the run has another policy. */
bool bats_sched_strategy(const struct bats_sched *s,
                         struct bats_sched_strategy *strategy);

struct bats_cluster_status {
    uint32_t machines_used; /* acquired at least once */
    uint32_t machines_now;  /* held now */
    uint32_t machines_lost;
    uint32_t machines_quarantined; /* now */
    uint32_t machines_out; /* of machines_now, those that get no task: in
                              quarantine, or to be reclaimed */
    int64_t windows;       /* entered by all its machines */
    bats_money charged;    /* windows x charge; in an allocation, the bill of
                              its machines */
    uint32_t done;
    uint32_t failed;
    double mean_runtime;  /* T_i, microseconds of virtual time; 0: unknown */
    bool is_guess;        /* no task has succeeded there: T_i comes from failed
                             ones or the user's guess */
    double profitability; /* (T_m/T_i)(c_m/c_i), m the cheapest; 0: unknown */
    double utilisation;   /* time spent in tasks / paid slot time so far */
    int64_t energy_j; /* that its jobs used, joules; 0: none was measured */
};
void bats_sched_cluster_status(const struct bats_sched *s, size_t cluster,
                               struct bats_cluster_status *status);

/* A task that runs, at the head of a slot's queue. */
struct bats_running {
    uint32_t task; /* index */
    uint32_t machine;
    bats_time since;
    bool is_replica;
};

/* The longest-running tasks, at most `max`, the longest first. Returns their
 * number. Scans every slot, so not for each event. */
size_t bats_sched_longest(const struct bats_sched *s,
                          struct bats_running *list, size_t max);

/* The next windows of a cluster to end. */
struct bats_turns {
    bats_time at;    /* end of the first one; BATS_NEVER: no machine is held */
    uint32_t ending; /* machines whose window ends by then or up to 1/60 window
                        later */
    uint32_t parked; /* of these, those not to be renewed by the current
                        plan */
    uint32_t busy, slots; /* of all held machines: slots in use, and all
                             slots */
};

/* Scans every machine, as above. */
void bats_sched_turns(const struct bats_sched *s, size_t cluster,
                      struct bats_turns *turns);

/* Why the configuration changed. */
enum bats_reason {
    BATS_REASON_START,     /* the sampling phase, or all machines for rr */
    BATS_REASON_SAMPLED,   /* every cluster has its statistics */
    BATS_REASON_VIOLATION, /* the plan no longer fits the money */
    BATS_REASON_LOST,      /* machines were lost */
    BATS_REASON_STALLED,   /* tasks are left and no machine is held */
    BATS_REASON_CHOSEN,    /* the schedule chosen after sampling */
    BATS_REASON_PLANNED,   /* the windows were planned again */
    BATS_REASON_LATE       /* no change: the deadline will be missed;
                              `windows`: until the expected end */
};

/* The change that led to the new plan. */
enum bats_trigger {
    BATS_TRIGGER_NONE,    /* see the reason */
    BATS_TRIGGER_RESULTS, /* better known runtimes */
    BATS_TRIGGER_WINDOW,  /* windows end: machines are kept, or not */
    BATS_TRIGGER_READY,   /* more tasks can begin */
    BATS_TRIGGER_DEADLINE /* the deadline is nearer */
};

struct bats_decision {
    bats_time time;
    enum bats_reason reason;
    enum bats_trigger trigger;
    bool feasible;      /* the whole rest fits the remaining budget */
    int64_t tasks_left; /* N_e: left after the paid windows */
    int64_t tasks_paid; /* N_p: tasks that the former plan could still do; -1:
                           no plan */
    bats_money budget_left;
    int64_t windows; /* k of the new plan; 0: none set */
    bool is_guess;   /* rests on the mean of a cluster that is_guess */
    uint32_t machines[BATS_CLUSTERS_MAX]; /* in use from now on */
    uint32_t ending[BATS_CLUSTERS_MAX];   /* of these, held only until their
                                             windows end */
    /* For people: */
    int64_t tasks_open; /* without a result */
    bool is_open;       /* more tasks may be added */
    bats_time end;      /* expected end of the bag; 0: unknown */
    bats_money cost;    /* expected total charge by then */
    bool acts;          /* it acquires machines at once */
    bool replaces; /* it replaces the last plan, of which nothing was carried
                        out */
};

/* All decisions so far, oldest first; valid until the next handle. */
const struct bats_decision *bats_sched_decisions(const struct bats_sched *s,
                                                 size_t *n);

/* One word or two for people: "sampled", "violation". */
const char *bats_reason_name(enum bats_reason reason);
/* "more results"; NULL: BATS_TRIGGER_NONE. */
const char *bats_trigger_name(enum bats_trigger trigger);

/* ---- leases: what may still be charged ---- */

enum bats_lease_state {
    BATS_LEASE_ASKED, /* a job that has not begun */
    BATS_LEASE_BEGUN,
    BATS_LEASE_ENDING, /* a job that is over but not billed */
    BATS_LEASE_ENDED   /* over and charged */
};
const char *bats_lease_state_name(enum bats_lease_state state); /* "asked" */

/* The contract under which a machine is held, from its acquisition or request
 * until it is parked, lost or billed; or the job that the run itself is in. */
struct bats_lease {
    uint32_t id;      /* 1, 2, ... in order of opening */
    uint32_t machine; /* or BATS_NO_MACHINE: the job of the run itself */
    const char *kind; /* "window", "use", "second", "job"; "free": nothing is
                         charged; "allocation": the job of the run */
    enum bats_lease_state state;
    bats_time length; /* of a job or a block (tariff.h); 0: none */
    bats_time asked, begun, ended; /* BATS_NEVER: not yet */
    bats_time until;               /* end of the paid time; BATS_NEVER: no
                                      end */
    bats_money charged;            /* so far, by CHARGE */
    bats_money held;               /* beyond `charged` */
    bats_money if_killed; /* part of `held` that KILLED would charge: all or
                             nothing */
};

/* A workflow's part of a lease's possible cost. KILLED would charge the
 * workflow all of it. */
struct bats_stake {
    uint32_t lease, purse;
    bats_money held; /* 0: it holds nothing any more */
};

/* With options.tells_leases, returns the next lease that has changed since it
 * was last reported, in no order; false: none. Likewise for stakes, which
 * belong to leases reported before. Also call these after create. */
bool bats_sched_next_lease(struct bats_sched *s, struct bats_lease *lease);
bool bats_sched_next_stake(struct bats_sched *s, struct bats_stake *stake);

/* ---- why a slot is idle ---- */

/* The reason noted at the last attempt to give it a task. */
enum bats_idle {
    BATS_IDLE_NOT,         /* it has a task, or was not tried yet */
    BATS_IDLE_NO_TASK,     /* the last ready tasks went elsewhere */
    BATS_IDLE_DRAINING,    /* the run starts nothing more */
    BATS_IDLE_ON_HOLD,     /* the run starts nothing for now */
    BATS_IDLE_ABSENT,      /* the run waits for machines to join */
    BATS_IDLE_MONEY,       /* too little money for a task there */
    BATS_IDLE_TOO_LATE,    /* none would end by the time limit or deadline */
    BATS_IDLE_FAILS,       /* no task has ever succeeded on its cluster */
    BATS_IDLE_PLAN,        /* the policy wants none on its cluster now */
    BATS_IDLE_SHORT,       /* no task would end in the paid time */
    BATS_IDLE_LEAVING,     /* the machine is in its last window */
    BATS_IDLE_QUARANTINE,  /* tasks keep failing there */
    BATS_IDLE_TRIAL,       /* after quarantine: one task at a time */
    BATS_IDLE_RETIRED,     /* the machine gets no more tasks */
    BATS_IDLE_TAKEN,       /* the machine will be reclaimed too soon */
    BATS_IDLE_FAILED_HERE, /* the ready tasks have failed there */
    BATS_IDLE_ELSEWHERE,   /* the ready tasks run, or end sooner, elsewhere */
    BATS_IDLE_WORKFLOW,    /* their workflows cannot pay there, or begin
                              later */
    BATS_IDLE_NO_ROOM,     /* too few free resources, or reserved for a larger
                          task */
    BATS_IDLE_NO_COPY, /* no task waits; a copy of a running one is no use */
};
const char *bats_idle_name(enum bats_idle reason); /* "no task" */

struct bats_idle_machine {
    uint32_t machine;
    enum bats_idle reason; /* reason of its first idle slot */
    bats_time until;       /* TAKEN, SHORT, TOO_LATE: that time; or
                              BATS_NEVER */
};

/* Returns the next held machine with an idle slot whose reason differs from
 * the last one reported; false: none. Reasons come and go, so an interested
 * driver calls this now and then. */
bool bats_sched_next_idle(struct bats_sched *s,
                          struct bats_idle_machine *idle);

/* A machine is kept for a task that waits until enough of it is free. */
struct bats_reservation {
    uint32_t machine; /* UINT32_MAX: there is none */
    uint32_t task;
    bats_time from; /* the task is expected to begin then */
};
struct bats_reservation bats_sched_reservation(const struct bats_sched *s);

#endif
