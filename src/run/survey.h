/*
 * survey: the resources of a run: the ranks and their nodes, the machines they
 * form, their charges, the budget and the time left.
 *
 * Layer: run. Taken by the master before a run, and for --dry-run and the verb
 * clusters, which do nothing else.
 *
 * The machines come from the clusters file, else from src/site. The default
 * budget is the value of the allocation: the charges of all machines for every
 * window that can begin before the job ends; without an end it is unlimited.
 * BATS_BUDGET_ACCOUNT stands for what the batch system will still bill to the
 * user. The charges of earlier sessions of the run are added to both.
 *
 * In an allocation (bats/billing.h) the rate is that of the whole job, as the
 * batch system says, else the sum over all machines and rank 0. The amount
 * billed before the run comes from the system's accounting; else it is this
 * life's time so far, plus the charges of sessions in earlier lives, each with
 * the time from its last charge to the end of its life.
 */
#ifndef BATS_SURVEY_H
#define BATS_SURVEY_H

#include "bats/need.h"
#include "input/platform.h"
#include "site/batch_system.h"
#include "site/site.h"

struct bats_crew;        /* run/crew.h */
struct bats_run_options; /* run/run.h */

struct bats_survey {
    struct bats_node *nodes;   /* by rank, n_ranks */
    struct bats_share *shares; /* by rank, n_ranks */
    uint32_t n_ranks;
    struct bats_site site;
    struct bats_platform platform;
    struct bats_stock *stocks; /* by machine, if tasks may have needs */
    uint32_t n_nodes;          /* of each machine, with `gpus` */
    char **gpus; /* by machine and node: names of GPUs, as in "0,1". Stocks and
                  * GPUs are NULL if unknown */
    bats_money budget;
    struct bats_account account; /* if `account` gives the budget */
    bool by_account;             /* it gives the budget */
    bool budget_found;           /* the budget is the default: the value of the
                                  * allocation */
    int64_t now_us;         /* time of this survey, since 1970: billed before
                             * plus left after it make up the whole job */
    int64_t job_end_us;     /* end of the batch job, since 1970; 0: unknown */
    bats_time deadline;     /* of the bag, from the run's start; 0: none */
    bats_time time_limit;   /* of the run, from its start; 0: none */
    bats_money idle_charge; /* of a rank 0 that runs no tasks, per window */
    struct bats_billing billing;
    const struct bats_policy *policy; /* the policy for the budget
                                       * (policy.h) */
    bool before_estimated; /* billing.before is an estimate: there are earlier
                            * sessions and no accounting */
    bats_money uncounted;  /* used, but perhaps not in the account yet */
};

/* Surveys the ranks that have said HELLO. BATS_EINPUT: the clusters file does
 * not fit them, or the rest of the account is unknown. Release with
 * bats_survey_release. */
int bats_survey_take(const struct bats_crew *crew,
                     const struct bats_run_options *options,
                     struct bats_survey *survey, struct bats_error *err);

/* The same for a run that worker jobs join (joining.h). The survey takes over
 * the platform of the job side; ranks and shares are unknown until they
 * join. */
int bats_survey_expect(const struct bats_crew *crew,
                       const struct bats_run_options *options,
                       const struct bats_platform *platform,
                       struct bats_survey *survey, struct bats_error *err);

/* Virtual time of this real time, at the run's time scale. */
bats_time bats_virtual_time(const struct bats_run_options *options,
                            int64_t real_us);

/* The most that may be charged within the time left of a job: the bill of an
 * allocation, or all machines in every window that begins by then. */
bats_money bats_survey_worth(const struct bats_survey *survey, bats_time left);

/* The budget of the engine. Billed by allocation, the default budget is no
 * limit, and the account's money counts from now on. */
bats_money bats_survey_budget(const struct bats_survey *survey);

void bats_survey_release(struct bats_survey *survey);

#endif
