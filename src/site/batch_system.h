/*
 * batch_system: the interface to a batch system: how to detect a job of it, how
 * to ask for the job's resources, and how to hand jobs in.
 *
 * Layer: site. Used inside site, by src/run and by cli. job_system.h has what
 * is done with jobs that are handed in.
 *
 * A batch system is a constant table, one file, and a line in batch_systems.c:
 * src/doc/add-a-batch-system.md has the steps. Slurm is the example, in
 * slurm_system.c. Nothing else reads the variables of a batch system or names
 * it, except the job scripts of `plan --sbatch` (report/sbatch).
 */
#ifndef BATS_SITE_BATCH_SYSTEM_H
#define BATS_SITE_BATCH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "site/allocation.h"
#include "site/query.h"

#define BATS_JOB_ID 64 /* longest number of a job, mark or reason, with NUL */

struct bats_job_request {
    const char *name;
    const char *mark;
    const char *partition; /* NULL: the site's default */
    const char *account;   /* NULL: the user's default */
    uint32_t nodes;
    uint32_t ranks;          /* per node */
    int64_t limit_s;         /* longest time; rounded up as the system does */
    int64_t least_s;         /* the shortest limit that the system may
                              * choose; 0: none */
    bool held;               /* it must not start */
    const char *output;      /* file for what it prints: this, a dot and the
                              * number of the job */
    const char *command;     /* for the shell, run once per rank, */
    const char *guard;       /* started by this one, once; NULL: by none */
    bool alone;              /* one rank, which needs no launcher */
    const char *const *more; /* further options as the user wrote them, ended
                              * by NULL; NULL: none */
};

enum bats_job_phase { BATS_JOB_WAITS, BATS_JOB_RUNS, BATS_JOB_ENDED };

/* A job as the system lists it. */
struct bats_job_view {
    char id[BATS_JOB_ID];
    char mark[BATS_JOB_ID];
    char partition[BATS_JOB_ID];
    int64_t submit_s; /* since 1970; 0: unknown */
    enum bats_job_phase phase;
    char reason[BATS_JOB_ID]; /* it waits for; the system's own word */
    int64_t start_s, end_s;   /* seconds since 1970; 0: unknown. Of a
                               * running job, end_s is its planned end */
    double rate;              /* billed per hour; < 0: unknown */
};

struct bats_job_bill {
    char id[BATS_JOB_ID], name[BATS_JOB_ID];
    int64_t submit_s; /* since 1970; 0: unknown */
    bool is_final;    /* the job's end is known, and this will not change */
    int64_t seconds;
    double rate; /* per hour */
};

struct bats_job_partition {
    int64_t notice_s; /* seconds that a preempted job continues after
                       * SIGTERM; 0: none, or unknown */
    int64_t limit_s;  /* longest time limit of a job; 0: none, or unknown */
    double rounding;  /* upper bound on the bill of a started job, in
                       * multiples of the rate shown while it waits */
    char quality[BATS_JOB_ID]; /* quality of service of the user's jobs
                                * there; "": none */
};

/* The rules of the site. */
struct bats_job_rules {
    int64_t overrun_s; /* time beyond its limit for which a job may be
                        * billed */
    int64_t hang_s;    /* the same, beyond its end on a node that is not heard;
                        * 0: any */
    int64_t keeps_s;   /* how long ended jobs stay in the list */
    bool accounts;     /* the system keeps accounts: it knows bills */
};

struct bats_batch_system {
    const char *name;     /* for people: "Slurm" */
    const char *key;      /* in JSON: "slurm" */
    const char *currency; /* of the rates: "billing-h" */

    /* ---- the environment, and nothing else: thousands of ranks ask ---- */

    /* The number of the job that this process is part of. NULL: none. */
    const char *(*job)(void);

    /* The partition (queue) of the part of the job that `host` belongs to.
     * NULL: unknown. */
    const char *(*partition)(const char *host);

    /* Asked before MPI is started: the system's own launcher has started this
     * process, so it notices how the process ends. */
    bool (*launched)(void);

    /* The memory that the job asked for each process, in KiB; 0: it is not
     * known. NULL: the system does not tell. */
    int64_t (*memory)(void);

    /* The same for all of its processes on this node. */
    int64_t (*node_memory)(void);

    /* The name of the site. The function, or its answer, may be NULL. */
    const char *(*site)(void);

    /* ---- the job that this process is in: rank 0 asks, with patience ---- */

    /* Fills in the allocation, except system and job, which are set already:
     * at least one part and one node. On failure end_s counts if it is known
     * from the environment, and the caller releases the rest. See
     * bats_batch_ask. */
    int (*ask)(double threads_per_core, struct bats_allocation *allocation,
               struct bats_error *err);

    /* The amount that may still be billed to this user, account and class of
     * service, for a job of these parts; user "": whoever asks, account "":
     * the default. BATS_EINPUT: the system does not tell; the sentence ends
     * with "give an amount". NULL: it keeps no accounts. */
    int (*account)(const struct bats_allocation *job,
                   struct bats_account *account, struct bats_error *err);

    /* The bill of the job so far, with all its earlier lives and sizes, by
     * the system's accounting. < 0: it does not say. NULL: it has none. */
    double (*billed)(const struct bats_allocation *allocation);

    /* A command that prints the hosts that are to leave service, one in a
     * line; it runs every 10 s. NULL: the system does not tell. */
    void (*draining)(struct bats_argv *argv);

    /* ---- jobs that are handed in. `rules` is NULL: there are none ----
     *
     * Most questions are a command line and a function that reads its answer,
     * so that nothing waits, and each can be tested with what the command
     * really prints. All jobs of a run have one name. Beside it a job has a
     * mark, a word that the run gives it, so that it is found again whatever
     * happens between its submission and the answer. A system that has lost
     * its state gives numbers again. So a number alone names no job: the name
     * goes with it, and the mark where jobs are listed, or the time of
     * submission where they are billed. */

    int64_t round_s; /* time limits are multiples of this */

    /* Asks for the rules of the site, with patience. BATS_EINPUT: the site has
     * another system. */
    int (*rules)(struct bats_job_rules *rules, struct bats_error *err);

    /* Why a word of `more` cannot be passed on: a run could not find, end or
     * settle such a job. NULL: it can. */
    const char *(*refuses)(const char *word);

    /* *script is for free(): the standard input of the command, perhaps "".
     * NULL: memory was short. */
    void (*submit)(const struct bats_job_request *request,
                   struct bats_argv *argv, char **script);
    int (*read_submit)(const char *answer, char id[BATS_JOB_ID],
                       struct bats_error *err);

    /* All jobs of this name, ended ones as long as the system knows them.
     * read_list reads the next job and moves *at; false at the end. */
    void (*list)(const char *name, struct bats_argv *argv);
    bool (*read_list)(const char **at, struct bats_job_view *view);

    /* The jobs with these numbers and this name. */
    void (*cancel)(const char *name, const char *const *ids, size_t n,
                   struct bats_argv *argv);

    /* The bills of the system's accounting: of all jobs that ever had these
     * numbers or, unless NULL, these names (separated by commas). NULL where
     * `rules` says that there are no accounts. */
    void (*bills)(const char *names, const char *const *ids, size_t n,
                  struct bats_argv *argv);
    bool (*read_bills)(const char **at, struct bats_job_bill *bill);

    /* The most that the waiting job with this number can be billed per hour (<
     * 0: unknown), whether it gets whole nodes, and the rules that hold for it;
     * asked for with patience. */
    int (*price)(const char *id, double *rate, bool *whole,
                 struct bats_job_partition *partition, struct bats_error *err);
};

/* All known systems, ended by NULL. */
extern const struct bats_batch_system *const bats_batch_systems[];

/* The first one with a job that this process is in. NULL: none. */
const struct bats_batch_system *bats_batch_system_here(void);

/* Asks the batch system of this job; being in no job is not an error.
 * `threads_per_core` (>= 1) converts CPUs that are hardware threads into
 * cores. BATS_ESYS, BATS_ENOMEM: the system gives no answer; then the
 * allocation has system and job, perhaps end_s, and no parts. */
int bats_batch_ask(double threads_per_core, struct bats_allocation *allocation,
                   struct bats_error *err);

/* The answer of the first system that has one. */
const char *bats_batch_partition(const char *host);
bool bats_batch_launched(void);
int64_t bats_batch_memory(void);
int64_t bats_batch_node_memory(void);
const char *bats_batch_site(void); /* or "": clusters of the same name at two
                                    * sites are two clusters */

#endif
