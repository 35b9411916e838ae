/*
 * scenario: the description of a simulation, read from an INI file.
 *
 * Layer: sim. Used by the verb simulate through campaign.h.
 *
 *     [run]
 *     window = 60m                 ; default 60m
 *     currency = SU                ; for display
 *     billing = allocation         ; all machines from the start to the end;
 *                                  ; or use, or job; default window
 *                                  ; (bats/billing.h)
 *     policy = rr, bats            ; default bats; expert where a cluster is
 *                                  ; unreliable and use is charged
 *     budget = rr, cheapest+10%, fastest, 2034, unlimited
 *                                  ; default unlimited
 *     deadline = 4h                ; or 30%; default none; see bats/goal.h
 *     minimize = time              ; default cost if there is a deadline
 *     confidence = 0.95            ; default 0.9
 *     seeds = 1-100                ; default 1: each seed makes another bag
 *     repeats = 1                  ; draw each bag in this many orders
 *     lease = 75s                  ; of jobs: money is held for this time
 *                                  ; ahead; default for all of their time
 *     starting = 10s               ; and for this time until a job begins
 *     bill = 1s                    ; time from the end of a job to its bill
 *     overrun = 7s                 ; money is held for this time beyond it,
 *                                  ; for the start and the end of a job;
 *                                  ; default: the longest startup
 *     jobs = 24                    ; most at a time, in all clusters; default:
 *                                  ; no limit
 *     monitor = 5m                 ; default window / 12
 *     grace = 5s                   ; time before a window's end at which tasks
 *                                  ; that do not continue are told to stop;
 *                                  ; default 0
 *     tail = none                  ; replicas of the last tasks, see tail.h;
 *                                  ; default as in a real run
 *     strategy = N=3,T=1x,D=2x,Mr=0.02   ; of the policy expert: see
 *                                  ; bats/strategy.h; default: by
 *     utility = product            ; as --utility of bats-mpi run
 *     timeout = 4h                 ; longer executions are stopped, and fail;
 *     retries = 255                ; further attempts. Default none
 *     [bag]
 *     tasks = 1000
 *     runtime = normal 15m 2.236m  ; on a machine of speed 1; see draw.h
 *                                  ; or file PATH, of measured runtimes: see
 *                                  ; measured.h. With `tasks`, this many drawn
 *                                  ; at random; without it, each one once
 *     workflow = FILE              ; tasks with dependencies: a Makeflow,
 *                                  ; WfFormat or a bag with names
 *                                  ; (input/workflow/workflow.h), with its
 *                                  ; runtimes, or those of `runtime`
 *     needs = 1:70, 4/8G:20, 16/64G/2:10   ; cores, memory and GPUs of tasks:
 *                                  ; 70 % need one core, 20 % 4 cores and
 *                                  ; 8 GiB, ... Default: those of the workflow
 *                                  ; (coreCount and memory of WfFormat, the
 *                                  ; largest memory of each category), or one
 *                                  ; core
 *     known = 0.3                  ; policies are told runtimes beforehand,
 *                                  ; wrong by up to 30 %; or yes: exact.
 *                                  ; Default: policies learn them
 *     saves = 10s                  ; stopped tasks save their state and
 *                                  ; continue elsewhere after this time;
 *                                  ; default: they start again
 *     [cluster NAME]
 *     machines = 32
 *     charge = 3                   ; per machine and window
 *     speed = 4                    ; default 1
 *     expected = 4m                ; runtime of a task there: told to the dbc
 *                                  ; policies; default unknown
 *     slots = 1                    ; tasks at a time, default 1
 *     memory = 64G                 ; of a machine; default: not counted
 *     gpus = 2                     ; of a machine; default 0
 *     startup = 2m                 ; default 0
 *     queue = 10m                  ; mean wait of a job, exponential: of one
 *                                  ; machine if machines are jobs, of all if
 *                                  ; they are an allocation; default 0
 *     noise = 0.05                 ; relative deviation from run to run
 *     loss = 500h                  ; mean time until a machine is lost
 *     reliable = no                ; executions may be lost silently:
 *     reliability = 0.83           ; these, survival and noticed:
 *                                  ; see input/reliability.h
 *     block, reclaimable, notice, guaranteed, free, lifetime: see
 *                                  ; input/model.h, and `charge` there
 *     charge_lost = no             ; with billing = use; default yes
 *
 * Budgets. rr: the cost of the policy rr without a budget, in the same seed
 * and repeat. cheapest: the whole bag on one machine of the most profitable
 * type. minimum: a sample on every cluster, then the rest on one machine of
 * that type (Bmin of the thesis, 2.3.4). fastest: all machines for the windows
 * of the fluid makespan. Each may have +P% or -P%. P% alone: this
 * fraction of the way from cheapest to fastest.
 *
 * A deadline of P% is this fraction of the way from the soonest end (bound.h)
 * for any money to the soonest end for the budget `cheapest`.
 */
#ifndef BATS_SCENARIO_H
#define BATS_SCENARIO_H

#include "bats/policy.h"
#include "bats/sched.h"
#include "input/platform.h"
#include "sim/draw.h"

#define BATS_SCENARIO_POLICIES 8
#define BATS_SCENARIO_BUDGETS 24
#define BATS_SCENARIO_CLASS 100 /* bytes */
#define BATS_SCENARIO_NEEDS 32
#define BATS_SCENARIO_SEEDS 1000000 /* limit of seeds and of repeats */

enum bats_budget_base {
    BATS_BUDGET_AMOUNT,
    BATS_BUDGET_UNLIMITED,
    BATS_BUDGET_RR,
    BATS_BUDGET_CHEAPEST,
    BATS_BUDGET_MINIMUM,
    BATS_BUDGET_FASTEST,
    BATS_BUDGET_SHARE
};

struct bats_scenario_budget {
    char text[24]; /* as the user wrote it */
    enum bats_budget_base base;
    bats_money amount; /* AMOUNT */
    double factor;     /* for the other kinds: 1.1 for +10%; SHARE: 0.3 */
};

struct bats_bagfile; /* input/bagfile.h */

struct bats_scenario {
    struct bats_platform platform; /* clusters, machines, speeds, window */
    bats_time startup[BATS_CLUSTERS_MAX];
    bats_time queue[BATS_CLUSTERS_MAX]; /* mean wait of a job */
    bats_time bill;                     /* from the end of a job to its bill */
    double noise[BATS_CLUSTERS_MAX];
    bats_time loss[BATS_CLUSTERS_MAX]; /* mean; 0: never */
    bool saves;          /* a task that is told to stop saves its state */
    bats_time migration; /* and continues elsewhere after this time */
    uint32_t n_tasks;
    struct bats_graph graph; /* without nodes: no dependencies */
    uint16_t *category;      /* of its tasks, or NULL */
    struct bats_need *own;   /* by task, while the file is read; or NULL */
    bool own_measured;       /* the needs are measured */
    struct bats_need kind[BATS_SCENARIO_NEEDS]; /* n_kinds: of `needs` */
    double share[BATS_SCENARIO_NEEDS];          /* shares, which add up to 1 */
    size_t n_kinds;
    struct bats_stock stock[BATS_CLUSTERS_MAX]; /* of a machine */
    struct bats_need *needs;   /* by category; NULL: tasks take a slot each */
    struct bats_stock *stocks; /* by machine; with `needs` */
    struct bats_bagfile *bag;  /* bag of `workflow`, or NULL */
    struct bats_draw runtime;
    bats_time *measured; /* from the file or the workflow, or NULL */
    bats_time *planned;  /* runtimes of the workflow, while the file is read */
    bool is_told;        /* policies are told the runtimes, wrong by up to */
    double told_error;   /* told_error */
    bool as_measured;    /* the bag is `measured`, each runtime once */
    const struct bats_policy *policies[BATS_SCENARIO_POLICIES];
    size_t n_policies;
    struct bats_scenario_budget budgets[BATS_SCENARIO_BUDGETS];
    size_t n_budgets;
    uint32_t *seeds; /* 1 .. 2^32 - 1 */
    size_t n_seeds;
    uint32_t repeats;
    /* The scenario sets: goal (without a deadline if given as a share),
     * billing, rules, tail, strategy, monitor_interval, preempt_lead,
     * n_categories. The caller may set prior, for the policy bats. */
    struct bats_sched_options engine;
    bool has_deadline, deadline_is_share;
    double deadline_share;           /* 0.3 for 30% */
    char utility[256];               /* "": the strategy is given */
    char class[BATS_SCENARIO_CLASS]; /* of the tasks, in a history; "": none */
    bool informed; /* all runtimes are known at the start, but not which task
                      has which; not in the file */
};

/* Reads the file. Every mistake is BATS_EINPUT with "path:line: sentence"; a
 * file that cannot be read has no line. */
int bats_scenario_load(const char *path, struct bats_scenario **scenario,
                       struct bats_error *err);
void bats_scenario_destroy(struct bats_scenario *scenario); /* NULL is legal */

#endif
