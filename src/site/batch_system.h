/*
 * batch_system: the interface to a batch system: how to detect a job of it,
 * how to ask for the job's resources, and how to submit jobs.
 *
 * Layer: site. Used inside site, by src/run and by cli. job_system.h has the
 * operations on submitted jobs.
 *
 * A batch system is a constant table in one file, and a line in
 * batch_systems.c: src/doc/add-a-batch-system.md has the steps. Slurm is the
 * example, in slurm.c. Nothing else reads the variables of a batch
 * system or names it.
 */
#ifndef BATS_SITE_BATCH_SYSTEM_H
#define BATS_SITE_BATCH_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/need.h"
#include "bats/units.h"
#include "site/query.h"
#include "util/node.h"

/*
 * ---- what a job holds, and what its account has left ----
 *
 * A job has parts, the components of a heterogeneous job; most jobs have one.
 * A node belongs to one part. A rate is the amount billed per hour, in the
 * currency of the batch system, with its source in words.
 */

struct bats_batch_system;

#define BATS_ALLOCATION_NAME 64
#define BATS_ALLOCATION_SOURCE 320
#define BATS_ALLOCATION_WEIGHTS 256

struct bats_allocation_part {
    char partition[BATS_NODE_PARTITION]; /* or queue; "" if unknown */
    char source[BATS_ALLOCATION_SOURCE]; /* source of the rates of its nodes */
    /* For the batch system itself: */
    char weights[BATS_ALLOCATION_WEIGHTS]; /* weights of resources; "": none */
    bool exclusive;                        /* the job has its nodes for
                                            * itself */
    double billing; /* the system's bill per hour; <= 0: unknown */
};

struct bats_allocation_node {
    char host[BATS_NODE_HOST]; /* without domain */
    uint32_t part;             /* index of its part */
    uint32_t cpus;             /* CPUs that the job holds on this node */
    bool whole;                /* the job holds the whole node */
    double rate;               /* per hour */
    /* For the batch system itself: */
    double memory_mb;
    char gres[64]; /* as Slurm writes them, "gpu:2" */
};

/* All zero: not in a job. Release with bats_allocation_release. */
struct bats_allocation {
    const struct bats_batch_system *system; /* NULL: no job */
    char job[BATS_ALLOCATION_NAME];
    char qos[BATS_ALLOCATION_NAME];     /* class of service; "": none */
    char account[BATS_ALLOCATION_NAME]; /* the account that pays; "" if
                                         * unknown */
    char user[BATS_ALLOCATION_NAME];
    int64_t start_s;  /* start of this life of the job, since 1970; 0:
                       * unknown */
    uint32_t life;    /* number of earlier lives */
    int64_t queued_s; /* when the job was queued for this life, which is the
                       * end of the life before; 0: unknown */
    int64_t end_s;    /* of the part that ends first, since 1970; 0: no end */
    double rate;      /* of the whole job, according to the system; 0:
                       * unknown */
    struct bats_allocation_part *parts;
    size_t n_parts; /* 0: no job, or the system does not answer */
    struct bats_allocation_node *nodes;
    size_t n_nodes;
};

/* The node of the job with this name; a domain in `host` is ignored. NULL:
 * there is none. */
struct bats_allocation_node *
bats_allocation_find(const struct bats_allocation *allocation,
                     const char *host);

void bats_allocation_release(struct bats_allocation *allocation);

/* ---- for batch systems ---- */

/* Both copy their arguments. BATS_ENOMEM. */
int bats_allocation_add_part(struct bats_allocation *allocation,
                             const struct bats_allocation_part *part,
                             struct bats_error *err);
int bats_allocation_add_node(struct bats_allocation *allocation,
                             const struct bats_allocation_node *node,
                             struct bats_error *err);

/* Sorts by host, which bats_allocation_find needs. */
void bats_allocation_sort(struct bats_allocation *allocation);

/* ---- accounts ---- */

#define BATS_ACCOUNT_NAME 64

struct bats_account {
    char account[BATS_ACCOUNT_NAME]; /* the account with the least left */
    bool of_user;                    /* the limit is the user's share of the
                                      * account */
    bool of_qos;         /* it is not an account, but the jobs' class of
                          * service */
    double factor;       /* factor by which usage is billed; 0: 1 */
    bool limited;        /* false: there is no limit */
    int64_t limit, used; /* billing-minutes, if limited */
};

/* In billing-hours, never below 0; BATS_UNLIMITED without a limit. */
bats_money bats_account_left(const struct bats_account *account);

#define BATS_ACCOUNT_WORDS 192

/* "account phys: 220 of 1000 billing-minutes are used". Returns `text`. */
const char *bats_account_words(char text[BATS_ACCOUNT_WORDS],
                               const struct bats_account *account);

/* ---- submitted jobs ---- */

#define BATS_JOB_ID 64 /* longest number of a job, mark or reason, with NUL */

struct bats_job_request {
    const char *name;
    const char *mark;
    const char *partition; /* NULL: the site's default */
    const char *account;   /* NULL: the user's default */
    uint32_t nodes;
    uint32_t ranks;          /* per node */
    int64_t memory_kib;      /* per node, or by the rules per slot; 0: the
                              * site's default */
    uint32_t gpus;           /* likewise */
    int64_t limit_s;         /* time limit; rounded up as the system does */
    int64_t least_s;         /* the shortest limit that the system may
                              * choose; 0: none */
    bool held;               /* it must not start */
    uint32_t copies;         /* so many jobs alike, an array with elements from
                              * 0; 0, 1: one job */
    const char *output;      /* output file: this, a dot and the number of the
                              * job */
    const char *command;     /* for the shell, run once per rank, */
    const char *guard;       /* started by this command, once; NULL: not
                              * guarded */
    bool alone;              /* one rank, which needs no launcher */
    const char *const *more; /* further options as the user wrote them, ended
                              * by NULL; NULL: none */
};

enum bats_job_phase { BATS_JOB_WAITS, BATS_JOB_RUNS, BATS_JOB_ENDED };

/* A job as the system lists it. */
struct bats_job_view {
    char id[BATS_JOB_ID];
    char mark[BATS_JOB_ID]; /* of an array that of its first job, */
    uint32_t index;         /* and which element of it this is; else 0 */
    char partition[BATS_JOB_ID];
    int64_t submit_s; /* since 1970; 0: unknown */
    enum bats_job_phase phase;
    char reason[BATS_JOB_ID]; /* why it waits, in the system's own word */
    int64_t start_s, end_s;   /* seconds since 1970; 0: unknown. Of a
                               * running job, end_s is its planned end */
    double rate;              /* billed per hour; < 0: unknown */
    bool is_sent; /* it runs for the system, but its host has not confirmed
                   * that */
};

struct bats_job_bill {
    char id[BATS_JOB_ID], name[BATS_JOB_ID];
    int64_t submit_s; /* since 1970; 0: unknown */
    bool is_final;    /* the job's end is known, and the bill will not
                       * change */
    int64_t end_s;    /* since 1970; 0: it has not ended */
    int64_t seconds;
    double rate;      /* per hour */
    int64_t energy_j; /* that its nodes used, joules; 0: not measured */
};

struct bats_job_partition {
    int64_t notice_s; /* seconds that a preempted job continues after SIGTERM;
                       * 0: none, or unknown */
    int64_t limit_s;  /* longest time limit of a job; 0: none, or unknown */
    double rounding;  /* upper bound on the bill of a started job, in multiples
                       * of the rate shown while it waits */
    char quality[BATS_JOB_ID]; /* quality of service of the user's jobs
                                * there; "": none */
};

/* The rules of the site. */
struct bats_job_rules {
    int64_t overrun_s; /* time beyond its limit for which a job may be
                        * billed */
    int64_t hang_s;    /* the same, beyond its end on a node that does not
                        * respond; 0: any */
    int64_t keeps_s;   /* how long ended jobs stay in the list */
    bool accounts;     /* the system has accounting: it knows bills */
    uint32_t together; /* most jobs of one submission; 0: one */
    bool memory_by_slot, gpus_by_slot; /* a request is for each slot, not for
                                        * the node */
    int64_t late_s; /* 0: the accounting knows all jobs. Else only those
                        * that have begun, this long after their end */
};

/*
 * How a system submits jobs.
 *
 * Most questions are a command line and a function that reads its answer, so
 * that nothing waits, and each can be tested with what the command really
 * prints. All jobs of a run have one name. A job also has a mark, a word that
 * the run gives it, to find it again whatever happens between its submission
 * and the answer. A system that has lost its state counts from the start, so a
 * number alone identifies no job: the name goes with it, and the mark where
 * jobs are listed, or the time of submission where they are billed.
 */
struct bats_batch_jobs {
    int64_t round_s; /* time limits are multiples of this */

    /* The rules of the site. BATS_EINPUT: the site has another system. */
    void (*ask_rules)(struct bats_argv *argv);
    int (*read_rules)(const char *answer, struct bats_job_rules *rules,
                      struct bats_error *err);

    /* Returns why a word of `more` cannot be passed on: a run could not find,
     * end or settle such a job. NULL: it can. */
    const char *(*refuses)(const char *word);

    /* Finds what the words of `more` request of each node: sets memory_kib and
     * gpus of *node, and only if there is such a word. NULL: such words do not
     * tell what tasks may use. */
    void (*requests)(const char *const *more, struct bats_stock *node);

    /* The kinds of nodes in the partition: CPUs, GPUs and memory of each kind,
     * at most `room`. Returns their number. */
    void (*ask_nodes)(const char *partition, struct bats_argv *argv);
    size_t (*read_nodes)(const char *answer, struct bats_stock *kinds,
                         size_t room);

    /* The answer begins with the number of the job. An element of an array has
     * the number NUMBER_INDEX. *script, for free(), is the standard input of
     * the command, perhaps ""; NULL: memory is short. */
    void (*submit)(const struct bats_job_request *request,
                   struct bats_argv *argv, char **script);

    /* Lists all jobs of this name, ended ones for as long as the system knows
     * them. read_list reads the next job and moves *at; false at the end. */
    void (*list)(const char *name, struct bats_argv *argv);
    bool (*read_list)(const char **at, struct bats_job_view *view);

    /* The jobs with these numbers and this name. */
    void (*cancel)(const char *name, const char *const *ids, size_t n,
                   struct bats_argv *argv);

    /* The bills from the system's accounting: of all jobs that ever had one of
     * these numbers and, unless NULL, this name; n is 0: of all jobs of the
     * name. More bills than those are no harm. NULL if `rules` says that there
     * is no accounting. */
    void (*bills)(const char *name, const char *const *ids, size_t n,
                  struct bats_argv *argv);
    bool (*read_bills)(const char **at, struct bats_job_bill *bill);
    /* A sentence for people about jobs that the accounting never sees end,
     * because the system has lost them; NULL: nothing can be done. */
    const char *lost;

    /* The words that start the command for the shell in all tasks of the job
     * that this process is in but one, which is for the run itself. Returns
     * their number; `argv` NULL: only that. NULL: there is no way. */
    uint32_t (*step)(const char *command, struct bats_argv *argv);

    /* The most that the waiting job with this number can be billed per hour (<
     * 0: unknown), whether it gets whole nodes, and the rules that apply to
     * it. Waits for the answer. */
    int (*price)(const char *id, double *rate, bool *whole,
                 struct bats_job_partition *partition, struct bats_error *err);
};

struct bats_batch_system {
    const char *name;     /* for people: "Slurm" */
    const char *key;      /* in JSON: "slurm" */
    const char *currency; /* currency of the rates: "billing-h" */

    /* ---- the environment, and nothing else: thousands of ranks ask. Names
     * of variables; NULL: there is none. ---- */

    const char *job;       /* the number of the job that this process is in */
    const char *only_with; /* without this one, `job` may be anybody's */
    const char *queue;     /* the partition (queue) of this rank */
    const char *site;      /* the name of the site */
    const char *rank;      /* set by the system's own launcher, which notices
                            * how this process ends */

    /* The partition of the part of the job that `host` belongs to, where no
     * variable has it; NULL: unknown. */
    const char *(*partition)(const char *host);

    /* The memory that the job requested per process, or for all of its
     * processes on this node, KiB; 0: unknown. NULL: the system does not
     * tell. */
    int64_t (*memory)(bool of_node);

    /* ---- the job that this process is in: rank 0 asks and waits ---- */

    /* Fills in the allocation, except system and job, which are already set:
     * at least one part and one node. On failure end_s counts if the
     * environment has it, and the caller releases the rest. See
     * bats_batch_ask. */
    int (*ask)(double threads_per_core, struct bats_allocation *allocation,
               struct bats_error *err);

    /* The amount that may still be billed to this user, account and class of
     * service, for a job of these parts. user "": the caller; account "": the
     * default. BATS_EINPUT: the system does not tell; the sentence ends with
     * "give an amount". NULL: no accounts. */
    int (*account)(const struct bats_allocation *job,
                   struct bats_account *account, struct bats_error *err);

    /* The bill of the job so far, with all its earlier lives and sizes, from
     * the system's accounting; < 0: unknown. NULL: no accounting. */
    double (*billed)(const struct bats_allocation *allocation);

    /* The energy that the nodes of the step that this process is in have used
     * since it began, joules; 0: it is not measured, or there is no step.
     * NULL: the system does not tell. */
    int64_t (*energy)(const struct bats_allocation *allocation);

    /* A command that prints the hosts that are to leave service, one per line;
     * it runs every 10 s. NULL: the system does not tell. */
    void (*draining)(struct bats_argv *argv);

    /* ---- submitted jobs; NULL: there are none ---- */

    const struct bats_batch_jobs *jobs;
};

/* All known systems, ended by NULL. */
extern const struct bats_batch_system *const bats_batch_systems[];

/* The first system that this process is in a job of; NULL: none. */
const struct bats_batch_system *bats_batch_system_here(void);

/* Asks the batch system about this job; being in no job is not an error.
 * `threads_per_core` (>= 1) converts CPUs that are hardware threads into
 * cores. BATS_ESYS, BATS_ENOMEM: the system does not answer; then the
 * allocation has system and job, perhaps end_s, and no parts. */
int bats_batch_ask(double threads_per_core, struct bats_allocation *allocation,
                   struct bats_error *err);

/* The number of the job of this system that this process is in; NULL: none. */
const char *bats_batch_job(const struct bats_batch_system *system);

/* The answer of the first system that knows one; NULL, 0: none does. */
const char *bats_batch_partition(const char *host);
int64_t bats_batch_memory(bool of_node);

/* A launcher of any system has started this process. */
bool bats_batch_launched(void);

/* Open MPI's mpirun, on this host, has started this process. */
bool bats_mpirun_is_parent(void);

/* The site of the first system that this process is in a job of, or "": equal
 * cluster names at two sites mean two clusters. */
const char *bats_batch_site(void);

#endif
