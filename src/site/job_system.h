/*
 * job_system: the interface to a batch system that jobs are handed in to: how
 * to submit, list, cancel and bill them.
 *
 * Layer: site. Used by queue.c, and by cli to find the system.
 *
 * Each question is a command line and a function that reads its answer, so that
 * nothing here waits, and each can be tested with what the command really
 * prints. Slurm is the example, in slurm_jobs.c; another batch system is one
 * more file and a line in job_systems.c.
 *
 * All jobs of a run have one name. Beside it a job has a mark, a word that the
 * run gives it, so that it is found again whatever happens between its
 * submission and the answer.
 *
 * A system that has lost its state gives numbers again. So a number alone names
 * no job: the name goes with it, and the mark where jobs are listed, or the
 * time of submission where they are billed.
 */
#ifndef BATS_SITE_JOB_SYSTEM_H
#define BATS_SITE_JOB_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"
#include "site/account.h"
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
    const char *command;     /* for the shell, run once per rank */
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
    bool is_final; /* the job's end is known, and this will not change */
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
    int64_t keeps_s;   /* how long ended jobs stay in the list */
    bool accounts;     /* the system keeps accounts: it knows bills */
};

struct bats_job_system {
    const char *name;     /* for people: "Slurm" */
    const char *currency; /* of the rates: "billing-h" */
    const char *variable; /* for the environment of all commands, or NULL */
    int64_t round_s;      /* time limits are multiples of this */

    /* Asks for the rules of the site, with patience. BATS_EINPUT: the site has
     * another system. */
    int (*rules)(struct bats_job_rules *rules, struct bats_error *err);

    /* Why a word of `more` cannot be passed on: a run could not find, end or
     * settle such a job. NULL: it can. */
    const char *(*refuses)(const char *word);

    /* `script` is for free(): the standard input of the command. */
    void (*submit)(const struct bats_job_request *request,
                   struct bats_argv *argv, char **script);
    int (*read_submit)(const char *answer, char id[BATS_JOB_ID],
                       struct bats_error *err);

    /* All jobs of this name, ended ones as long as the system knows them.
     * read_list reads the next line and moves *at; false at the end. */
    void (*list)(const char *name, struct bats_argv *argv);
    bool (*read_list)(const char **at, struct bats_job_view *view);

    /* The jobs with these numbers and this name. */
    void (*cancel)(const char *name, const char *const *ids, size_t n,
                   struct bats_argv *argv);

    /* The bills of the system's accounting: of all jobs that ever had these
     * numbers or, unless NULL, these names (separated by commas). */
    void (*bills)(const char *names, const char *const *ids, size_t n,
                  struct bats_argv *argv);
    bool (*read_bills)(const char **at, struct bats_job_bill *bill);

    /* The rest that the account (NULL: the user's default) may be billed for
     * jobs of this class of service, asked for with patience. BATS_EINPUT: the
     * system does not tell; the sentence ends with "give an amount". NULL: it keeps no accounts. */
    int (*account)(const char *name, const char *quality,
                   struct bats_account *account, struct bats_error *err);

    /* A command that prints the hosts that are to leave service, one in a line.
     * NULL: the system does not tell. */
    void (*draining)(struct bats_argv *argv);

    /* The most that the waiting job with this number can be billed per hour (<
     * 0: unknown), whether it gets whole nodes, and the rules that hold for it;
     * asked for with patience. */
    int (*price)(const char *id, double *rate, bool *whole,
                 struct bats_job_partition *partition, struct bats_error *err);
};

/* All known systems, ended by NULL. */
extern const struct bats_job_system *const bats_job_systems[];

/* The first system that answers `rules`. BATS_ESYS: one is installed but does
 * not answer; BATS_EINPUT: none is installed. The sentence says why. */
int bats_job_system_find(const struct bats_job_system **system,
                         struct bats_job_rules *rules, struct bats_error *err);

/* The jobs of this name that the system lists, for free(). */
int bats_job_system_list(const struct bats_job_system *system,
                         const char *name, struct bats_job_view **list,
                         size_t *n, struct bats_error *err);

/* The jobs of a run: those of its name (n in the system's list), which it has
 * bought, and those that it ran in. */
struct bats_job_past {
    const char *name;
    const struct bats_job_view *list;
    const bool *is_taken; /* by job in it: its bill comes later */
    size_t n;
    const char *own; /* numbers, as in "12,17"; "": none */
    const char *now; /* a job without a final bill; "": none */
};

/* Asks the accounting for the sum of the bills and the number of those that
 * are not final. With `by_list`, a job whose end is known only from the list
 * is billed by that. (sacct does not always find a job by name just after its
 * end.) */
int bats_job_system_bills(const struct bats_job_system *system,
                          const struct bats_job_past *past, bool by_list,
                          bats_money *sum, size_t *open,
                          struct bats_error *err);

/* Whether it is the bill of the job of this name and number that was submitted
 * then (0: unknown). */
bool bats_job_is_billed(const struct bats_job_bill *bill, const char *name,
                        const char *id, int64_t submit_s);

/* Cancels them. */
int bats_job_system_cancel(const struct bats_job_system *system,
                           const char *name, const char *const *ids, size_t n,
                           struct bats_error *err);

/* The bill by the time from start to end in `view`, until now at most: for
 * sites without accounting. */
bats_money bats_job_bill_by_time(const struct bats_job_view *view);

/* The rate per hour times the seconds, rounded up to a millionth. */
bats_money bats_job_bill(double rate, int64_t seconds);

/* Cancels all jobs of this name. */
int bats_job_system_clear(const struct bats_job_system *system,
                          const char *name, struct bats_error *err);

/* Finds the hourly rate of a job like this one by submitting one that cannot
 * start, and cancelling it. Signals that end the process wait for the
 * cancellation; after SIGKILL, bats_job_system_clear removes the job. *whole:
 * the job gets whole nodes, and the rate is theirs. *partition: the rules for
 * the job. BATS_ESYS, BATS_EINPUT. */
int bats_job_system_rate(const struct bats_job_system *system,
                         const struct bats_job_request *request, double *rate,
                         bool *whole, struct bats_job_partition *partition,
                         struct bats_error *err);

#endif
