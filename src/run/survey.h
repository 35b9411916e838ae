/*
 * survey: what a run has to work with: the ranks and where they are, the
 * machines they form, what those charge, how much money there is and how much
 * time.
 *
 * Layer: run. Taken by the master before a run, and for --dry-run and the verb
 * clusters, which look no further.
 *
 * The machines come from the clusters file, else from what src/site finds. The
 * budget that nobody gave is what the allocation is worth: the charges of all
 * machines for every window that they can begin before the job ends; without
 * an end it is unlimited. BATS_BUDGET_ACCOUNT is what the batch
 * system still lets the user be billed for. What earlier sessions of the run
 * were charged comes on top of either, as it counts against the budget.
 */
#ifndef BATS_SURVEY_H
#define BATS_SURVEY_H

#include "input/platform.h"
#include "site/batch_system.h"
#include "site/site.h"

struct bats_crew;        /* run/crew.h */
struct bats_run_options; /* run/run.h */

struct bats_survey {
    struct bats_node *nodes;   /* by rank, n_ranks */
    struct bats_share *shares; /* the same */
    uint32_t n_ranks;
    struct bats_site site;
    struct bats_platform platform;
    bats_money budget;
    struct bats_account account; /* where `account` is the budget */
    bool by_account;             /* it is */
    bool budget_found;  /* nobody gave it: the worth of the allocation */
    int64_t job_end_us; /* of the batch job, since 1970; 0: not known */
    bats_time deadline; /* of the run, from its start; 0: none */
};

/* Of the ranks that have said HELLO. BATS_EINPUT: the clusters file does not
 * fit them, or nobody knows what the account has left. Release with
 * bats_survey_release. */
int bats_survey_take(const struct bats_crew *crew,
                     const struct bats_run_options *options,
                     struct bats_survey *survey, struct bats_error *err);
void bats_survey_release(struct bats_survey *survey);

#endif
