/*
 * account: what Slurm still lets the job's user be billed for.
 *
 * Layer: site. Used by the survey for --budget account.
 *
 * Source of the facts: `scontrol show assoc_mgr` (Slurm 20 and later), where
 * GrpTRESMins=...,billing=1000(220) is a limit of 1000 billing-minutes, of
 * which 220 are used, and N is no limit. Model: the association of the user,
 * that of the job's account and those of all accounts above it each limit
 * what is below them, so the least that one of them has left counts. What
 * other jobs will be billed is not known, nor are limits of a QOS.
 */
#ifndef BATS_SITE_ACCOUNT_H
#define BATS_SITE_ACCOUNT_H

#include "bats/units.h"
#include "site/slurm.h"

#define BATS_ACCOUNT_NAME 64

struct bats_account {
    char account[BATS_ACCOUNT_NAME]; /* the one with least left */
    bool of_user;                    /* it is the user's share in that */
    bool limited;                    /* else there is no limit at all */
    int64_t limit, used;             /* billing-minutes, where limited */
};

/* Of the job that `slurm` tells of. BATS_EINPUT: no job, no accounting, or
 * Slurm does not show all of the limits; BATS_ESYS: scontrol fails. */
int bats_account_ask(const struct bats_slurm *slurm,
                     struct bats_account *account, struct bats_error *err);

/* In billing-hours, never below 0; BATS_UNLIMITED without a limit. */
bats_money bats_account_left(const struct bats_account *account);

#define BATS_ACCOUNT_WORDS 192

/* "account phys: 220 of 1000 billing-minutes are used". Returns `text`. */
const char *bats_account_words(char text[BATS_ACCOUNT_WORDS],
                               const struct bats_account *account);

/* ---- its part, for tests ---- */

/* From `scontrol show assoc_mgr -o`: the associations of the account `name`,
 * and of the user if it is the job's. Less left than in *account goes into
 * *account; the account above into parent, "": none. BATS_EINPUT. */
int bats_account_read(const char *text, const struct bats_slurm *slurm,
                      const char *name, struct bats_account *account,
                      char parent[BATS_ACCOUNT_NAME], struct bats_error *err);

#endif
