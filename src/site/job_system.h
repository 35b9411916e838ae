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
    int64_t least_s;         /* the system may shorten it to so much; 0: not */
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
    int64_t start_s, end_s;   /* since 1970; 0: unknown. It runs: end_s is when
                               * it will be ended */
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
    int64_t notice_s; /* so many seconds a job goes on that has to make way
                       * for others, and has got SIGTERM; 0: none, or nobody
                       * knows */
    int64_t limit_s;  /* no job may ask for longer; 0: there is no limit, or
                       * nobody knows */
    double rounding;  /* a job that starts is billed so many times what it
                       * shows while it waits, at most */
    char quality[BATS_JOB_ID]; /* the class of service that the user's jobs have
                                * there; "": there are none */
};

/* The rules of the site. */
struct bats_job_rules {
    int64_t overrun_s; /* a job may be billed for so long beyond its limit */
    int64_t keeps_s;   /* jobs that have ended are listed for so long */
    bool accounts;     /* the system keeps accounts: it knows bills */
};

struct bats_job_system {
    const char *name;     /* for people: "Slurm" */
    const char *currency; /* of the rates: "billing-h" */
    const char *variable; /* for the environment of all commands, or NULL */
    int64_t round_s;      /* time limits are multiples of this */

    /* Asks for the rules of the site. BATS_EINPUT: it is another system. */
    void (*rules)(struct bats_argv *argv);
    int (*read_rules)(const char *answer, struct bats_job_rules *rules,
                      struct bats_error *err);

    /* Why a word of `more` cannot be passed on: a run could not find, end or
     * settle such a job. NULL: it can. */
    const char *(*refuses)(const char *word);

    /* `script` is for free(): the standard input of the command. */
    void (*submit)(const struct bats_job_request *request,
                   struct bats_argv *argv, char **script);
    int (*read_submit)(const char *answer, char id[BATS_JOB_ID],
                       struct bats_error *err);

    /* All jobs of this name, those that have ended for as long as the system
     * knows them. read_list reads the next line and moves *at; false: there is
     * none. */
    void (*list)(const char *name, struct bats_argv *argv);
    bool (*read_list)(const char **at, struct bats_job_view *view);

    /* Those of these numbers that have the name. */
    void (*cancel)(const char *name, const char *const *ids, size_t n,
                   struct bats_argv *argv);

    /* The bills of the system's accounting, of all jobs that ever had these
     * numbers. */
    void (*bills)(const char *const *ids, size_t n, struct bats_argv *argv);
    bool (*read_bills)(const char **at, struct bats_job_bill *bill);

    /* All jobs of the names (separated by commas) that the accounting knows,
     * read by read_bills. */
    void (*history)(const char *names, struct bats_argv *argv);

    /* The rest that the account (NULL: the user's default) may be billed for
     * jobs of this class of service, asked for with patience. BATS_EINPUT: the system does not tell; the sentence
     * ends with "give an amount". NULL: it keeps no accounts. */
    int (*account)(const char *name, const char *quality,
                   struct bats_account *account, struct bats_error *err);

    /* Asks for the rules that hold for a job that waits, by the answer to
     * `show`. */
    struct bats_job_partition (*partition)(const char *answer);

    /* A command that prints the hosts that are to leave service, one in a line.
     * NULL: the system does not tell. */
    void (*draining)(struct bats_argv *argv);

    /* The rate per hour of a job that waits; < 0: unknown. *whole: so many
     * nodes will be its own, and it is billed for all of them; 0: it shares
     * them. Then the answer also leads to what such a node is billed; < 0:
     * unknown. */
    void (*show)(const char *id, struct bats_argv *argv);
    double (*read_rate)(const char *answer, uint32_t *whole);
    void (*show_nodes)(const char *answer, struct bats_argv *argv);
    double (*read_node_rate)(const char *answer);
};

/* All known systems, ended by NULL. */
extern const struct bats_job_system *const bats_job_systems[];

/* The first one that answers `rules`. BATS_ESYS: one is here, and does not
 * answer; BATS_EINPUT: there is none. The sentence says why. */
int bats_job_system_find(const struct bats_job_system **system,
                         struct bats_job_rules *rules, struct bats_error *err);

/* The jobs of this name that the system lists, for free(). */
int bats_job_system_list(const struct bats_job_system *system,
                         const char *name, struct bats_job_view **list,
                         size_t *n, struct bats_error *err);

/* What a run has bought: the jobs of its name, n of which the system lists, and
 * those that it was in itself. */
struct bats_job_past {
    const char *name;
    const struct bats_job_view *list;
    const bool *is_taken; /* by job in it: its bill comes later */
    size_t n;
    const char *own; /* numbers, as in "12,17"; "": none */
    const char *now; /* one of them whose bill comes later; "": none */
};

/* Asks the accounting for all of that: the sum of the bills, and how many of
 * them are not final. With `by_list` a job whose end only the list knows is
 * billed by that. (By its name sacct does not always find a job that has only
 * just ended.) */
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

/* By the time from start to end that `view` shows, until now at most: where
 * there are no accounts. */
bats_money bats_job_bill_by_time(const struct bats_job_view *view);

/* So much per hour for so many seconds, rounded up to a millionth. */
bats_money bats_job_bill(double rate, int64_t seconds);

/* Cancels all jobs of this name. */
int bats_job_system_clear(const struct bats_job_system *system,
                          const char *name, struct bats_error *err);

/* Asks for what a job like this one is billed per hour, by handing one in that
 * is not to start, and taking it back. Signals that end the process wait for
 * that; a process that is killed leaves the job to bats_job_system_clear.
 * *whole: its nodes will be its own, and the rate is that of all that they
 * have. *partition: the rules that hold for it. BATS_ESYS, BATS_EINPUT. */
int bats_job_system_rate(const struct bats_job_system *system,
                         const struct bats_job_request *request, double *rate,
                         bool *whole, struct bats_job_partition *partition,
                         struct bats_error *err);

#endif
