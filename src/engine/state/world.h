/*
 * world: machines, slots, tasks, and clusters as the engine remembers them, and
 * what it knows of the runtimes of tasks.
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
    MACHINE_ASKED,   /* a job: waits in a queue; what it may cost is held, from
                         here to the bill */
    MACHINE_ACTIVE,  /* in a paid window */
    MACHINE_LEAVING, /* in a paid window that will be its last: no new task,
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
    uint32_t n_busy;      /* slots that a task holds */
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

/* The machine is in a paid window. */
static inline bool machine_is_held(const struct machine *m)
{
    return m->state == MACHINE_ACTIVE || m->state == MACHINE_LEAVING;
}

/* The members of a machine that few events use. */
struct machine_rest {
    uint32_t member;    /* its index among the cluster's members */
    int64_t windows;    /* entered so far, over all acquisitions */
    bats_time since;    /* charged for use or by age: it is in use, or
                              held, since then, or BATS_NEVER; */
    bats_money booked;  /* the part of that which is charged */
    bats_time length;   /* by age: that of its block; 0: it has none. A job:
                              the time for which it works; */
    bats_time age;      /*   when it joined, with leases; else 0; */
    bats_time leased;   /*   and, from its start, for which its price is held;
                              0: for all of it */
    bool keeps_copy;    /* the plan pays windows for the copy it runs */
    bats_time taken_at; /* it will be reclaimed then; or BATS_NEVER */
    bool fails;         /* in quarantine since things keep failing on it */
    bool closed;        /* no other job can be had there */
    bool is_news;       /* why a slot is idle was noted; in `news` */
    uint8_t told;       /* enum bats_idle: as the driver knows it */
    bool asked;         /* a job was asked for, and is not billed yet: */
    bats_time asked_at; /*   since then; */
    bats_time began_at; /*   it began then, or BATS_NEVER; where use is
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
    uint8_t idle;          /* enum bats_idle: why it has no task */
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
    uint8_t times_more;  /* its time-out was prolonged so often */
    bool cancelled : 1;  /* the original was told to stop */
    bool in_sample : 1;  /* the original is, of its cluster */
    bool once : 1;       /* it must not be replicated */
    bool withdrawn : 1;  /* it is not tried again */
    bool point : 1; /* it is run on every cluster for its runtime: a result
                           stops no other execution */
};

struct cluster {
    struct bats_cluster spec; /* its charge: what the ledger pays for a window,
                                 0 in an allocation */
    bats_money price;         /* what it is in either */
    bats_time expected;       /* runtime of a task; 0: not known */
    bool is_believed; /* that is what is believed, not what was given */
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
        line;       /* from the base of the sampling phase; only */
    bool has_line;  /* where tasks ran on both */
    uint32_t begun; /* executions, without replicas */
    uint32_t done, failed;
    bool is_seen; /* tasks have ended well there in an earlier session, too, or
                     in a sampling phase */
    int64_t windows;
    bats_money used;  /* charged for use, by age or for jobs */
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
    double mean; /* of what is told of all of them; by results, the sums of */
    double spread; /* (told - mean)^2 */
    double drawn;  /* (runtime - told) (told - mean) */
};

struct categories {
    uint32_t n;         /* at least 1 */
    const uint16_t *of; /* by task, or NULL: all are of one; not owned */
    double *weight;     /* by category, microseconds; 0: not known; */
    double mean;        /* and of a task of any */
    double factor[BATS_CLUSTERS_MAX]; /* by cluster: what tasks take there, in
                                         weights */
    /* sched.h: NULL, or the runtimes that are told. */
    bats_time (*told)(const void *context, uint32_t task, uint32_t cluster);
    const void *told_context;
    struct category_told *doubts; /* by category; */
    double n_told, told_squares;  /* results, and the sum of the squares of
                                     relative errors */
    uint32_t n_ranked;            /* how often weights were made */
    uint32_t *left;               /* by category: tasks without a result */
    struct category_seen *seen;   /* by category and cluster */
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

#endif
