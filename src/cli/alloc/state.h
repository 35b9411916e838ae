/*
 * state: a run whose machines are jobs, shared by the files of this directory.
 *
 * Layer: cli, private to src/cli/alloc. settings.c turns options into machines
 * and prices, earlier.c finds the jobs of an earlier session, joining.c is the
 * job side of run/joining.h during the run, own.c the cores of the job that the
 * run is in, alloc.c puts them together. Outside of joining.c an error ends the
 * program.
 */
#ifndef BATS_ALLOC_STATE_H
#define BATS_ALLOC_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/alloc/alloc.h"
#include "site/batch_system.h"
#include "site/queue.h"

/* part of the limit for start and end of a job */
#define BATS_ALLOC_MARGIN_S 10
#define BATS_ALLOC_SAY_POLLS                                                  \
    6                           /* polls before waiting jobs are first
                                 * mentioned */
#define BATS_ALLOC_LOOK_POLLS 6 /* between two checks for drained hosts */
#define BATS_ALLOC_NAME 64
#define BATS_ALLOC_COMMAND (3 * PATH_MAX)

/* A machine, and its job. */
struct lane {
    bool asked;    /* the engine has asked for it and it is not BILLED */
    bool is_taken; /* the job is one of an earlier session */
    int64_t by_us; /* deadline for a running job to come back; 0: it waits */
    bool joined;   /* its gateway is connected */
    char job
        [BATS_JOB_ID]; /* number of the joined job; a bill may come before it
                        * parts */
    bool had;          /* it has been joined */
    bool leaves;       /* the engine no longer needs it */
    bool told;         /* it has been sent off */
    int64_t leave_by_us;
    bats_time work_us;      /* how long the engine wants it to work */
    char mark[BATS_JOB_ID]; /* end of the job's mark */
    int64_t end_s;          /* from the batch system; 0: unknown */
    int64_t before_us; /* its start before that of its watchdog, at most */
    int64_t paid_us;   /* the paid age that it was told */
    int64_t told_s;    /* the end that the engine was told */
    int64_t ends_us;   /* that end, monotonic */
    bool is_billed;    /* billed, but not parted yet */
    bats_money bill;
    int64_t energy_j;
};

struct bats_alloc {
    const struct bats_settings *set;
    struct bats_run_options *options; /* of the run */
    const struct bats_batch_system *system;
    struct bats_job_rules rules;
    struct bats_platform platform;
    struct bats_billing billing;
    struct bats_joining joining;
    char partitions[BATS_CLUSTERS_MAX][BATS_CLUSTER_NAME];
    struct bats_stock nodes[BATS_CLUSTERS_MAX]; /* what each of a job has */
    struct bats_stock said; /* what --sbatch or --gpus-per-node says of it */
    double rate[BATS_CLUSTERS_MAX];       /* rate of a job, per hour */
    uint32_t failures[BATS_CLUSTERS_MAX]; /* in a row; too many, and the
                                           * partition is */
    bool closed[BATS_CLUSTERS_MAX];
    struct bats_job_request *requests; /* by machine */
    struct lane *lanes;                /* by machine */
    struct bats_queue *queue;
    struct bats_joined *joined; /* during a step, like the next two */
    int64_t now_us, due_us;
    bool by_lease;           /* leases determine the money held */
    int64_t silence_us;      /* of the jobs */
    int64_t said_us, say_us; /* waiting jobs: last mention, and pause until the
                              * next */
    int64_t first_say_us;    /* that pause at first */
    char name[BATS_ALLOC_NAME], door[PATH_MAX], log[PATH_MAX];
    char command[BATS_ALLOC_COMMAND], guard[BATS_ALLOC_COMMAND];
    char program[PATH_MAX]; /* quoted for the shell */
    char tag[16];           /* of the session's jobs (site/queue.h) */
    char shape[BATS_CLUSTERS_MAX][20]; /* digests of the request for a job of
                                        * one window */
    char own[BATS_ALLOCATION_NAME];    /* the job that the run is in, or "" */
    uint32_t own_machine;     /* the machine that its cores are; BATS_NO_JOB */
    char own_id[BATS_JOB_ID]; /* the number of its worker, */
    uint32_t own_steps;       /* how many have been started */
    bool own_runs, own_ends;  /* the last one is not settled; is to be */
    struct bats_query own_worker;
    struct bats_error own_why; /* it has failed; "": it has not */
    int64_t own_end_s;         /* of the job; 0: unknown */
    char quality[BATS_JOB_ID]; /* class of service of the jobs; "": none */
    bool by_account;           /* the budget is the rest of the account */
    bats_time *asked; /* by machine: work time of a job to take over, or 0, */
    bats_time *age;   /* and its age, */
    struct bats_job_view *taken; /* and the job */
    uint32_t n_taken;
    char **more; /* words of --sbatch, NULL-terminated */
    char *words; /* memory of these words */
};

/* ---- joining.c ---- */

/* The job has ended: appends its output to LOG, under its number, and removes
 * its own file. */
void bats_alloc_keep_output(const struct bats_alloc *a, const char *id);

/* Functions that the run calls. The caller fills in files, host and port. */
extern const struct bats_joining bats_alloc_joining;

/* ---- settings.c ---- */

/* Reads partitions, names of files, what nodes have, and prices, in this
 * order; makes no machines. */
void bats_alloc_read(struct bats_alloc *a, const char *record);

/* Makes the machines, and the requests for their jobs. */
void bats_alloc_make_machines(struct bats_alloc *a);

/* Prepares request and lane for the machine's next job, with this work
 * time. */
void bats_alloc_ask(struct bats_alloc *a, uint32_t machine, bats_time time);

/* The money held for a job of the cluster with this work time that has run for
 * `age`. */
bats_money bats_alloc_price(const struct bats_alloc *a, size_t cluster,
                            bats_time time, bats_time age);

/* ---- own.c ---- */

/* How many tasks of its own job may work for the run. */
uint32_t bats_alloc_own_slots(const struct bats_alloc *a);

/* Makes them the last cluster, and its machine; there is room for both. */
void bats_alloc_add_own(struct bats_alloc *a);

/* The words that start its worker. */
void bats_alloc_own_words(struct bats_alloc *a, struct bats_argv *argv);

void bats_alloc_start_own(struct bats_alloc *a);

/* Ends the worker. */
void bats_alloc_end_own(struct bats_alloc *a);

/* True once it has ended. */
bool bats_alloc_own_ended(struct bats_alloc *a);

/* ---- earlier.c ---- */

/* Finds the jobs of an earlier session. Takes over those that wait or run,
 * match the jobs of this session and fit into the budget; ends the others.
 * Counts the bills without a charge. */
void bats_alloc_find_earlier(struct bats_alloc *a);

/* The most that may be charged in all. An account has also paid the bills that
 * are not charged yet, which its remainder no longer contains. */
static inline bats_money bats_alloc_limit(const struct bats_alloc *a)
{
    return a->options->budget == BATS_UNLIMITED || !a->by_account
               ? a->options->budget
               : a->options->budget + a->billing.before;
}

#endif
