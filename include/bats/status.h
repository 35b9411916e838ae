/*
 * status: what the scheduler (sched.h) knows of a run, for people and for the
 * record: nothing here changes anything.
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
    uint32_t pending; /* in the bag, or to be tried again after a delay; */
    uint32_t blocked; /* the part of them that waits for others */
    bats_time longest_chain; /* of tasks that are left, one after the other; 0:
                                none waits for others, or not known */
    uint32_t running;        /* on a machine (running, or waiting there) */
    uint32_t done;
    uint32_t failed;
    uint32_t skipped;          /* not run: they waited for one that failed */
    bats_money budget;         /* B, or BATS_UNLIMITED */
    bats_money charged;        /* by the ledger, */
    bats_money held;           /* and kept for running tasks, or to be
                                * billed */
    bats_money charged_before; /* of that, by earlier sessions and lives, and
                                  until this run began */
    uint32_t retried;          /* executions that failed and are repeated */
    uint32_t timed_out;        /* executions that were stopped by a time-out */
    uint32_t preempted;    /* executions that were cut off at a window's end */
    uint32_t replicas;     /* that were started, */
    uint32_t replicas_won; /* and those of them that became the result */
    bats_time estimated_end; /* BATS_NEVER if not known */
    bats_time deadline;      /* 0: there is none */
    bats_time late_end;      /* when the bag is expected to be done, if that is
                                too late; else 0 */
    bats_money rest_cost; /* what the pending tasks would cost on one machine
                                of the most profitable cluster; -1 unknown */
    uint32_t sample_size; /* n, tasks per cluster in the sampling phase */
    bats_money cushion;   /* 0, or may be spent on the last tasks beyond the
                             budget, which includes it once they are the last */
    bats_money cushion_spent; /* so far; what the schedule itself costs comes
                                 first */
};
void bats_sched_status(const struct bats_sched *s,
                       struct bats_sched_status *status);

/* Bounds of estimated_end (interval.h, with p = 0.9: they hold in 70 % of all
 * cases), by how runtimes have spread, if the machines stay as they are. False:
 * a cluster in use has fewer than two results. Sorts samples: for people, not
 * for each event. */
bool bats_sched_end_bounds(const struct bats_sched *s, bats_time *low,
                           bats_time *high);

/* The runtimes known of a category, in microseconds of virtual time. */
struct bats_category_status {
    uint32_t done;    /* in this session */
    uint32_t left;    /* without a result */
    double mean;      /* of the runtimes of those that are done; 0: none is */
    double deviation; /* standard deviation of these; 0 with less than two */
};
void bats_sched_category_status(const struct bats_sched *s, uint32_t category,
                                struct bats_category_status *status);

/* How many tasks of mean length take as long as this one, by its category; 1:
 * not known. */
double bats_sched_weight(const struct bats_sched *s, uint32_t task);

/* By workflow with a budget, when its last result comes at the soonest, for its
 * longest chain of tasks takes so long; 0: not known. soonest[] has room for
 * all of them. */
void bats_sched_purses_soonest(const struct bats_sched *s, bats_time *soonest);

/* False: there are no more. `soonest` is left 0. */
bool bats_sched_purse_status(const struct bats_sched *s, uint32_t purse,
                             struct bats_purse_status *status);

/* The task has ended for good: it will not be run again. */
bool bats_sched_has_result(const struct bats_sched *s, uint32_t task);
bool bats_sched_has_failed(const struct bats_sched *s, uint32_t task);
/* The task will not be run, since it waited for one that has failed. */
bool bats_sched_is_skipped(const struct bats_sched *s, uint32_t task);
/* All of these, in the order in which they were skipped; owned by the engine,
 * valid until the next handle. */
const uint32_t *bats_sched_skipped(const struct bats_sched *s, uint32_t *n);

/* The result of the sampling phase; the engine's, valid until the next
 * handle. */
struct bats_sched_sampled {
    bats_time time;     /* when it was over, and then when a schedule was
                           chosen; BATS_NEVER: not yet */
    bats_money charged; /* until then, in this run and earlier */
    uint32_t tasks;     /* in the sample */
    uint32_t given_up;  /* of them, left out since they ran for too long */
    uint32_t longest;   /* one of these; BATS_NO_TASK: none */
    const struct bats_observation *observations;
    size_t n_observations;
    const struct bats_schedule *chosen; /* NULL: not yet, or none */
};
void bats_sched_sampled(const struct bats_sched *s,
                        struct bats_sched_sampled *sampled);

/* Fills in the data for estimates of schedules for the rest of the bag, after
 * SAMPLED (estimate.h); money is counted from now. The arrays are owned by the
 * engine, valid until the next handle. BATS_ESTATE before SAMPLED; BATS_EINPUT
 * if no task of the sample has ended well anywhere; BATS_ENOMEM. */
int bats_sched_estimator(struct bats_sched *s,
                         struct bats_estimator *estimator,
                         struct bats_error *err);

/* For the policy expert. */
struct bats_sched_strategy {
    struct bats_strategy strategy; /* in use */
    bats_time decided; /* when the engine decided on it; -1: it was given */
    double gamma;      /* and the share that answers, as it was seen then */
    bool is_chosen;    /* not by the engine: by CHOSEN */
    double makespan, cost; /* of the whole run, as expected then; microseconds,
                              money; 0: not known */
};
/* False: another policy. */
bool bats_sched_strategy(const struct bats_sched *s,
                         struct bats_sched_strategy *strategy);

/* The strategies from which the last one was taken: efficient ones, within
 * budget and deadline if any is, the fastest first. */
#define BATS_STRATEGIES 9
struct bats_sched_offer {
    struct bats_strategy strategy;
    double makespan, cost;               /* of the whole run, expected, */
    double makespan_margin, cost_margin; /* and half the 95 % interval */
    bool is_best;                        /* by the utility */
};
/* Returns their number; the engine's, valid until the next handle. */
size_t bats_sched_strategies(const struct bats_sched *s,
                             const struct bats_sched_offer **offers);

struct bats_cluster_status {
    uint32_t machines_used; /* that were acquired at least once */
    uint32_t machines_now;  /* acquired at this moment */
    uint32_t machines_lost;
    uint32_t machines_quarantined; /* at this moment */
    uint32_t machines_out; /* of machines_now, those that get no task: they
                            * are in quarantine, or will be taken away */
    int64_t windows;       /* entered by all its machines */
    bats_money charged;    /* windows x charge; of an allocation, the bill of
                         * its machines */
    uint32_t done;
    uint32_t failed;
    double mean_runtime;  /* T_i, microseconds of virtual time; 0: not
                           known */
    bool is_guess;        /* no task has ended well there: T_i is of those that
                             failed, or what the user expects */
    double profitability; /* (T_m/T_i)(c_m/c_i), m the cheapest; 0: unknown */
    double utilisation;   /* time spent in tasks / paid slot time so far */
};
void bats_sched_cluster_status(const struct bats_sched *s, size_t cluster,
                               struct bats_cluster_status *status);

/* A task that runs, or waits at the head of a slot's queue. */
struct bats_running {
    uint32_t task; /* index */
    uint32_t machine;
    bats_time since;
    bool is_replica;
};

/* The tasks that have run longest, at most `max` of them, the longest first.
 * Returns their number. Looks at every slot: for people, not for each event. */
size_t bats_sched_longest(const struct bats_sched *s,
                          struct bats_running *list, size_t max);

/* The windows of a cluster that end next. */
struct bats_turns {
    bats_time at;    /* end of the first one; BATS_NEVER: no machine is held */
    uint32_t ending; /* machines whose window ends then, or up to a sixtieth of
                        a window later; */
    uint32_t parked; /* those of them that are to get no further one, as it is
                        planned now */
    uint32_t busy, slots; /* of all machines held: slots in use, slots */
};

/* Looks at every machine, as above. */
void bats_sched_turns(const struct bats_sched *s, size_t cluster,
                      struct bats_turns *turns);

/* Why the configuration changed. */
enum bats_reason {
    BATS_REASON_START,     /* the sampling phase, or all machines for rr */
    BATS_REASON_SAMPLED,   /* every cluster has its statistics */
    BATS_REASON_VIOLATION, /* the plan no longer fits the money */
    BATS_REASON_LOST,      /* machines were lost */
    BATS_REASON_STALLED,   /* tasks are left and no machine is held */
    BATS_REASON_CHOSEN,    /* the schedule that was chosen after sampling */
    BATS_REASON_PLANNED,   /* the windows were planned again */
    BATS_REASON_LATE       /* none: the deadline will not be kept; `windows`:
                              until the bag will be done */
};

/* The change that led to the new plan. */
enum bats_trigger {
    BATS_TRIGGER_NONE,    /* the reason says it */
    BATS_TRIGGER_RESULTS, /* runtimes are known better */
    BATS_TRIGGER_WINDOW,  /* windows end: machines are kept, or not */
    BATS_TRIGGER_READY,   /* more tasks can begin */
    BATS_TRIGGER_DEADLINE /* time has passed, and the deadline is nearer */
};

struct bats_decision {
    bats_time time;
    enum bats_reason reason;
    enum bats_trigger trigger;
    bool feasible;      /* the whole rest fits the remaining budget */
    int64_t tasks_left; /* N_e: left after the paid windows */
    int64_t tasks_paid; /* N_p: what the former plan could still do; -1 none */
    bats_money budget_left;
    int64_t windows; /* k of the new plan; 0 where it sets none */
    bool is_guess;   /* it rests on the mean of a cluster that is_guess */
    uint32_t machines[BATS_CLUSTERS_MAX]; /* in use from now on */
    uint32_t ending[BATS_CLUSTERS_MAX];   /* of them, those held only until
                                           * their windows end */
    /* For people: */
    int64_t tasks_open; /* without a result */
    bats_time end;   /* when the bag was expected to be done; 0: not known */
    bats_money cost; /* and the expected total charge by then */
    bool acts;       /* machines are acquired for it, at once */
    bool replaces;   /* the last plan, if nothing of it has been carried
                         * out */
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
    BATS_LEASE_ASKED, /* a job: it has not begun */
    BATS_LEASE_BEGUN,
    BATS_LEASE_ENDING, /* a job: it is over, and its bill is still to come */
    BATS_LEASE_ENDED   /* and charged */
};
const char *bats_lease_state_name(enum bats_lease_state state); /* "asked" */

/* The contract under which a machine is held, from when it is acquired or asked
 * for until it is parked, lost or billed; or the job that the run itself is
 * in. */
struct bats_lease {
    uint32_t id;      /* 1, 2, ...: one more for each that begins */
    uint32_t machine; /* or BATS_NO_MACHINE: the job of the run itself */
    const char *kind; /* "window", "use", "second", "job"; "free": nothing is
                         charged; "allocation": the job of the run */
    enum bats_lease_state state;
    bats_time length; /* of a job, or of a block (tariff.h); 0: it has none */
    bats_time asked, begun, ended; /* BATS_NEVER: not yet */
    bats_time until;               /* it is paid; BATS_NEVER: without an end */
    bats_money charged;            /* so far, by CHARGE */
    bats_money held;               /* beyond that */
    bats_money if_killed; /* what KILLED would charge now of what is held: all
                             of it, or nothing */
};

/* The part that a workflow holds of what a lease may cost. KILLED would charge
 * the workflow all of it. */
struct bats_stake {
    uint32_t lease, purse;
    bats_money held; /* 0: it has none any more */
};

/* With options.tells_leases, takes out the next lease that has changed since it
 * was told last, in no order; false: there is none. Then the same for stakes,
 * which are of leases told before. Ask after create, too. */
bool bats_sched_next_lease(struct bats_sched *s, struct bats_lease *lease);
bool bats_sched_next_stake(struct bats_sched *s, struct bats_stake *stake);

/* ---- why a slot is idle ---- */

/* The reason that was given when it was asked last. */
enum bats_idle {
    BATS_IDLE_NOT,         /* it has a task, or was not asked yet */
    BATS_IDLE_NO_TASK,     /* the last ones that were ready went elsewhere */
    BATS_IDLE_DRAINING,    /* the run: nothing more is started, */
    BATS_IDLE_ON_HOLD,     /*   for the time being, */
    BATS_IDLE_ABSENT,      /*   until all machines have joined */
    BATS_IDLE_MONEY,       /* too little is left for a task there */
    BATS_IDLE_TOO_LATE,    /* none would end by the time limit or deadline */
    BATS_IDLE_FAILS,       /* nothing has ever ended well on its cluster */
    BATS_IDLE_PLAN,        /* the policy wants none on its cluster now */
    BATS_IDLE_SHORT,       /* none would end in the time that is paid */
    BATS_IDLE_LEAVING,     /* the machine: this is its last time, */
    BATS_IDLE_QUARANTINE,  /*   tasks keep failing there, */
    BATS_IDLE_TRIAL,       /*   it gets one at a time until one ends well, */
    BATS_IDLE_RETIRED,     /*   it gets no more tasks, */
    BATS_IDLE_TAKEN,       /*   it will be taken away too soon */
    BATS_IDLE_FAILED_HERE, /* the tasks at hand have failed there */
    BATS_IDLE_ELSEWHERE,   /* they are to run, or end sooner, elsewhere */
    BATS_IDLE_WORKFLOW,    /* their workflows cannot pay there, or begin
                            * later */
    BATS_IDLE_NO_ROOM, /* what is free there is less than they need, or kept
                        * for one that needs more */
    BATS_IDLE_NO_COPY, /* none waits; a copy of one that runs is of no use */
};
const char *bats_idle_name(enum bats_idle reason); /* "no task" */

struct bats_idle_machine {
    uint32_t machine;
    enum bats_idle reason; /* of its first idle slot */
    bats_time until;       /* TAKEN, SHORT, TOO_LATE: then; or BATS_NEVER */
};

/* Takes out the next machine that is held, has a slot without a task, and for
 * another reason than was told last; false: there is none. A driver that wants
 * to know asks now and then: reasons come and go. */
bool bats_sched_next_idle(struct bats_sched *s,
                          struct bats_idle_machine *idle);

#endif
