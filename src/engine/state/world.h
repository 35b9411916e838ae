/*
 * world: the engine's machines, slots, tasks and clusters, and what it knows
 * of task runtimes.
 *
 * Layer: engine, part of the state. Part of state.h, which includes it.
 */
#ifndef BATS_ENGINE_WORLD_H
#define BATS_ENGINE_WORLD_H

#include "bats/bag.h"
#include "bats/regression.h"
#include "bats/sched.h"
#include "bats/stats.h"
#include "util/heap.h"

#define NO_SLOT UINT32_MAX
#define NO_MACHINE UINT32_MAX
#define TIME_MAX BATS_LONGEST

enum machine_state {
    MACHINE_ABSENT,  /* has not joined yet */
    MACHINE_PARKED,  /* there, uncharged */
    MACHINE_ASKED,   /* a job: queued; the most it may cost is held from here
                        until the bill */
    MACHINE_ACTIVE,  /* in a paid window */
    MACHINE_LEAVING, /* in its last paid window: gets no new task, running ones
                        were told to stop */
    MACHINE_DRAINING, /* its paid time is over; not all stopped tasks are back
                         yet */
    MACHINE_ENDING,   /* a job: over, not yet billed */
    MACHINE_LOST
};

/*
 * There may be more machines and slots than a cache holds, so the members that
 * most events use fit into one cache line. A new member goes elsewhere, or
 * must be worth a second line.
 */
#define CACHE_LINE 64

struct machine {
    _Alignas(CACHE_LINE) enum machine_state state;
    uint32_t cluster;
    uint32_t first_slot; /* its slots are consecutive */
    uint32_t n_slots;
    uint32_t n_busy;      /* slots that a task holds */
    uint32_t held_at;     /* ACTIVE, LEAVING: index in `held` */
    bool marked;          /* ACTIVE: not wanted after this window */
    bool renewing;        /* ACTIVE: the next window's charge is held */
    bool quarantined;     /* gets no tasks: in quarantine, or about to be
                             reclaimed */
    bool on_trial;        /* after quarantine: gets one task at a time until
                             one succeeds */
    bool used;            /* was acquired at least once */
    bool last;            /* ACTIVE: the question of a successor is settled, or
                             it is about to be reclaimed */
    bats_time paid_end;   /* end of the last window charged */
    int64_t plan_windows; /* planned windows after this one */
    int64_t overrun;      /* windows beyond the paid one that its longest
                             running task needs, as of forecast_look */
};

/* The machine is in a paid window. */
static inline bool machine_is_held(const struct machine *m)
{
    return m->state == MACHINE_ACTIVE || m->state == MACHINE_LEAVING;
}

/* Members of a machine that few events use. */
struct machine_rest {
    uint32_t member;    /* index among the cluster's members */
    int64_t windows;    /* entered so far, over all acquisitions */
    bats_time since;    /* charged for use or by age: start of use, or of the
                           hold; or BATS_NEVER */
    bats_money booked;  /* amount already charged since then */
    bats_time length;   /* by age: length of its block; 0: none. A job: its
                           work time */
    bats_time age;      /* a job with leases: its age when it joined; else 0 */
    bats_time leased;   /* a job: time from its start for which money is held;
                           0: all of it */
    bats_time taken_at; /* time of its reclaim, or BATS_NEVER */
    bool fails;         /* in quarantine because tasks keep failing on it */
    bool closed;        /* gets no further job */
    bool is_news;       /* in `news`: an idle reason was noted */
    uint8_t told;       /* enum bats_idle last reported to the driver */
    bool asked;         /* a job was requested and is not billed yet */
    bats_time asked_at; /* time of the request */
    bats_time began_at; /* start of the job, or BATS_NEVER; where use is
                           charged, of its first task */
    bats_time idle_at;  /* a job: since when it has no task, or BATS_NEVER */
};

/* A slot runs the first task of its queue; the others wait. A replica is alone
 * in its slot. */
struct slot {
    _Alignas(CACHE_LINE) uint32_t machine;
    struct bats_position head, tail; /* BATS_NO_POSITION if empty */
    uint32_t n_tasks;                /* in the queue */
    uint32_t next_idle, prev_idle;   /* links of its cluster's idle list */
    bool is_idle;                    /* in the idle list */
    bool is_replica;                 /* the head is a replica; then: */
    bool replica_cancelled;          /*   it was told to stop, and */
    bool was_replica;                /* the head began as a replica */
    uint32_t next_replica;           /* slot of the task's next replica */
    bool timed_out;                  /* the CANCEL of the head is a time-out */
    bool judged;       /* already known whether the head fills a job: it is
                              a copy of one cut off with this job */
    bool works;        /* slot_works, as of the last look */
    uint8_t idle;      /* enum bats_idle: reason for having no task */
    uint32_t n_done;   /* nt of the papers */
    double rt_done;    /* rt, microseconds */
    bats_time started; /* when the head began */
    double expected;   /* tau_e, as of the last look */
};

_Static_assert(sizeof(struct machine) == CACHE_LINE &&
                   sizeof(struct slot) == CACHE_LINE,
               "more than a cache line: see above");

/*
 * A task's state beyond that in the bag, by position. Throughout the engine a
 * task is identified by its position in the draw order: tasks that run at the
 * same time were drawn one after the other, so most of what an event needs is
 * in the cache. Only events, commands and observations use its index, a plain
 * uint32_t. The executions are the original in `slot`, which may be queued,
 * and replicas, each in a slot of its own. If the original ends without a
 * result, a replica becomes the original. So a task on a machine always has an
 * original. After the result, cancelled executions remain until they end.
 */
struct task {
    uint32_t slot;             /* of the original; NO_SLOT: on no machine */
    struct bats_position next; /* next in the slot's queue */
    uint32_t replicas;         /* slot of its first replica; NO_SLOT: none */
    uint32_t avoid;      /* machine on which it failed last, or NO_MACHINE */
    uint16_t n_replicas; /* begun since it was last drawn */
    uint16_t failures;   /* failed executions so far */
    uint8_t losses;      /* the same */
    uint8_t cuts;        /* executions cut off after a whole job */
    uint8_t given_up;    /* executions given up by a strategy after D */
    uint8_t times_more;  /* number of times its time-out was raised */
    bool cancelled : 1;  /* the original was told to stop */
    bool in_sample : 1;  /* the original belongs to its cluster's sample */
    bool once : 1;       /* must not be replicated */
    bool withdrawn : 1;  /* not retried */
    bool point : 1; /* runs on every cluster to be measured: a result stops no
                       other execution */
};

struct cluster {
    struct bats_cluster spec; /* charge: paid by the ledger per window, 0 in an
                                 allocation */
    bats_money price;         /* charge per window, also in an allocation */
    bats_time expected;       /* runtime of a task; 0: unknown */
    bool is_believed;         /* `expected` is from the prior, not given */
    uint32_t first_machine, n_machines; /* indices into `members` */
    uint32_t n_joined; /* joined, neither lost nor in quarantine */
    uint32_t n_lost, n_quarantined;
    uint32_t n_used;      /* machines acquired at least once */
    uint32_t n_active;    /* ACTIVE and not marked */
    uint32_t n_held;      /* ACTIVE or LEAVING */
    uint64_t n_slots;     /* of all its machines */
    uint32_t target;      /* machines wanted by the configuration */
    int64_t plan_windows; /* planned windows for each */
    uint32_t sample_want, sample_sent, sample_back;
    bats_time limit; /* time-out of executions, or BATS_NEVER */
    /* PARKED members that may be acquired; all times are 0, so that the lowest
     * index comes first. */
    struct bats_heap parked;
    struct bats_stats stats;
    struct bats_regression line; /* against the sampling phase's base */
    bool has_line;               /* only if tasks ran on both */
    uint32_t begun;              /* executions begun, without replicas */
    uint32_t done, failed;
    bool is_seen; /* has successful tasks from an earlier session or a sampling
                     phase */
    int64_t windows;
    bats_money used;  /* charged for use, by age or for jobs */
    int64_t energy_j; /* that its jobs used, as far as it was measured */
    uint32_t n_asked; /* queued jobs */
    uint32_t n_began; /* jobs that began */
    double waited;    /* total wait of these, microseconds */
    bool has_surplus; /* the last plan wanted fewer jobs than are queued */
    double busy_time, paid_slot_time; /* microseconds */
};

/* The runtimes of tasks of a category on a cluster. */
struct category_seen {
    double sum;
    uint32_t n;
};

/* Moments of its DONE tasks on all clusters (Welford). */
struct category_stats {
    uint32_t n;
    double mean, squares;
};

struct categories {
    uint32_t n;         /* at least 1 */
    const uint16_t *of; /* by task, or NULL: a single category; not owned */
    double *weight;     /* by category, microseconds; 0: unknown */
    double mean;        /* over all categories */
    double factor[BATS_CLUSTERS_MAX]; /* by cluster: runtime in weights */
    /* Told runtimes (sched.h), or NULL. */
    bats_time (*told)(const void *context, uint32_t task, uint32_t cluster);
    const void *told_context;
    double n_told, told_squares; /* results, and the sum of squared relative
                                     errors */
    uint32_t n_ranked;           /* number of times weights were computed */
    uint32_t *left;              /* by category: tasks without a result */
    struct category_seen *seen;  /* by category and cluster */
    struct category_stats *stats;
    bool is_news;   /* some category's results have doubled */
    double results; /* results since weights were computed */
};

enum phase {
    PHASE_NONE, /* no sampling phase, or over with a schedule chosen */
    PHASE_SAMPLING,
    PHASE_SAMPLED, /* waits for CHOSEN */
    PHASE_LEAVING  /* nothing was chosen: ends with the paid windows */
};

#endif
