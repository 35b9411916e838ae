/*
 * state: a run whose machines are jobs, as the files of this directory see it.
 *
 * Layer: cli, private to src/cli/alloc. settings.c turns options into machines
 * and prices, earlier.c finds what an earlier session has left, joining.c is
 * the job side of run/joining.h while the run goes on, alloc.c puts them
 * together.
 */
#ifndef BATS_ALLOC_STATE_H
#define BATS_ALLOC_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/alloc/alloc.h"
#include "site/allocation.h"
#include "site/queue.h"

#define BATS_ALLOC_MARGIN_S 10 /* of the limit, for start and end of a job */
#define BATS_ALLOC_SAY_US 60000000 /* jobs that wait, after so long at first */
#define BATS_ALLOC_NAME 64
#define BATS_ALLOC_COMMAND (3 * PATH_MAX)

/* A machine, and its job. */
struct lane {
    bool asked;    /* by the engine; until BILLED */
    bool joined;   /* its gateway is here */
    bool had;      /* it was; */
    bool leaves;   /* the engine has done with it */
    bool told;     /* and it has been sent off */
    int64_t leave_by_us;
    int64_t ends_us; /* monotonic: as the engine knows it */
    bool is_billed;  /* but has not parted yet */
    bats_money bill;
};

struct bats_alloc {
    const struct bats_job_system *system;
    struct bats_job_rules rules;
    struct bats_platform platform;
    struct bats_billing billing;
    struct bats_joining joining;
    char partitions[BATS_CLUSTERS_MAX][BATS_CLUSTER_NAME];
    double rate[BATS_CLUSTERS_MAX]; /* of a job, per hour */
    uint32_t failures[BATS_CLUSTERS_MAX];
    struct bats_job_request *requests; /* by machine */
    struct lane *lanes;                /* the same */
    struct bats_queue *queue;
    int64_t interval_us, grace_us, window_us;
    int64_t said_us, say_us; /* jobs wait: last told, and how long to wait */
    char name[BATS_ALLOC_NAME], door[PATH_MAX], log[PATH_MAX];
    char command[BATS_ALLOC_COMMAND];
    char own[BATS_ALLOCATION_NAME]; /* the job that the run is in, or "" */
    /* Jobs of an earlier session that still wait. Beyond the machines there is
     * a place for each of them, to be rid of it. */
    struct bats_job_view *pool;
    size_t n_pool, n_listed; /* behind them, those that wait no more */
    size_t n_taken;
    bool has_begun; /* the engine has asked for the first jobs */
    char **more; /* words of --sbatch, ended by NULL */
    char *words; /* their memory */
};

/* Machines, and the jobs of an earlier session that still wait. */
static inline uint32_t bats_alloc_places(const struct bats_alloc *a)
{
    return a->platform.n_machines + (uint32_t)a->n_pool;
}

/* ---- joining.c ---- */

/* The functions that the run calls; files, host and port are left to the
 * caller. */
extern const struct bats_joining bats_alloc_joining;

/* ---- settings.c ---- */

/* Partitions, names of files and prices, in this order; without machines. */
int bats_alloc_read(struct bats_alloc *a, const struct bats_settings *set,
                    const char *record, struct bats_error *err);

/* The machines, and what their jobs ask for. */
int bats_alloc_make_machines(struct bats_alloc *a,
                             const struct bats_settings *set,
                             struct bats_error *err);

/* ---- earlier.c ---- */

/* Ends the jobs of an earlier session that run, keeps in the pool those that
 * wait, and counts what was billed and not charged. */
int bats_alloc_find_earlier(struct bats_alloc *a,
                            const struct bats_run_options *options,
                            struct bats_error *err);

#endif
