/*
 * state: a run whose machines are jobs, as the files of this directory see it.
 *
 * Layer: cli, private to src/cli/alloc. settings.c turns options into machines
 * and prices, earlier.c finds what an earlier session has left, joining.c is
 * the job side of run/joining.h while the run goes on, output.c has what jobs
 * print, alloc.c puts them together.
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
#define BATS_ALLOC_SAY_POLLS                                                  \
    6                           /* polls until waiting jobs are mentioned, at
                                * first */
#define BATS_ALLOC_LOOK_POLLS 6 /* between two looks for drained hosts */
#define BATS_ALLOC_NAME 64
#define BATS_ALLOC_COMMAND (3 * PATH_MAX)

/* A machine, and its job. */
struct lane {
    bool asked;    /* by the engine; until BILLED */
    bool is_taken; /* by an earlier session; */
    int64_t by_us; /* deadline for a running job to come back; 0: it waits */
    bool joined;   /* its gateway is here */
    char job
        [BATS_JOB_ID]; /* its number then; a bill may come before it parts */
    bool had;          /* it was; */
    bool leaves;       /* the engine has done with it */
    bool told;         /* and it has been sent off */
    int64_t leave_by_us;
    bats_time work_us; /* the time for which the engine wants it to work */
    char mark[BATS_JOB_ID]; /* the end of its mark */
    int64_t end_s;          /* as the batch system says; 0: unknown */
    int64_t paid_us; /* the age until which it was told that it is paid */
    int64_t told_s;  /* as the engine was told */
    int64_t ends_us; /* monotonic: as the engine knows it */
    bool is_billed;  /* but has not parted yet */
    bats_money bill;
};

struct bats_alloc {
    const struct bats_batch_system *system;
    struct bats_job_rules rules;
    struct bats_platform platform;
    struct bats_billing billing;
    struct bats_joining joining;
    char partitions[BATS_CLUSTERS_MAX][BATS_CLUSTER_NAME];
    double rate[BATS_CLUSTERS_MAX];       /* of a job, per hour */
    uint32_t failures[BATS_CLUSTERS_MAX]; /* in a row; after some it is */
    bool closed[BATS_CLUSTERS_MAX];
    struct bats_job_request *requests; /* by machine */
    struct lane *lanes;                /* the same */
    struct bats_queue *queue;
    bool by_lease; /* money is held for leases */
    int64_t grace_us, silence_us;
    int64_t said_us, say_us; /* jobs wait: last told, and how long to wait; */
    int64_t first_say_us;    /* the second at first */
    char name[BATS_ALLOC_NAME], door[PATH_MAX], log[PATH_MAX];
    char command[BATS_ALLOC_COMMAND], guard[BATS_ALLOC_COMMAND];
    char program[PATH_MAX]; /* quoted */
    char tag[16]; /* of the session's jobs (site/queue.h) */
    char shape[BATS_CLUSTERS_MAX][20]; /* digests of what a job of one
                                        * window asks for */
    char own[BATS_ALLOCATION_NAME];    /* the job that the run is in, or "" */
    bool quiet;
    char quality[BATS_JOB_ID]; /* class of service of the jobs; "": none */
    bool by_account;           /* the budget is the rest of the account */
    bats_time *asked; /* by machine: the work time of a job that is taken
                       * over, or 0, */
    bats_time *age;   /* and the time since it began */
    struct bats_job_view *taken; /* this one */
    uint32_t n_taken;
    char **more; /* words of --sbatch, ended by NULL */
    char *words; /* their memory */
};

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

/* Prepares request and lane for the machine's next job, with this work
 * time. */
void bats_alloc_ask(struct bats_alloc *a, uint32_t machine, bats_time time);

/* ---- output.c: each job prints to a file of its own, LOG.NUMBER ---- */

/* The last lines that the job has printed, in one; "": none. */
void bats_alloc_last_output(const struct bats_alloc *a, const char *id,
                            char *text, size_t size);

/* The job has ended: what it printed goes to the end of LOG, under its number,
 * and its own file goes away. */
void bats_alloc_keep_output(const struct bats_alloc *a, const char *id);

/* ---- earlier.c ---- */

/* Finds the jobs of an earlier session. Takes over those that wait or run,
 * match the jobs of this session and fit into `budget`; ends the others.
 * Counts the bills without a charge. */
int bats_alloc_find_earlier(struct bats_alloc *a,
                            const struct bats_run_options *options,
                            struct bats_error *err);

/* The most that may be charged in all. An account has also paid for bills
 * without a charge: the rest of the account does not contain them. */
static inline bats_money
bats_alloc_limit(const struct bats_alloc *a,
                 const struct bats_run_options *options)
{
    return options->budget == BATS_UNLIMITED || !a->by_account
               ? options->budget
               : options->budget + a->billing.before;
}

/* What is held for a job of the cluster with this work time that has run for
 * `age`. */
bats_money bats_alloc_price(const struct bats_alloc *a, size_t cluster,
                            bats_time time, bats_time age);

#endif
