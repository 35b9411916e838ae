/*
 * account: the amount that may still be billed to the job's account.
 * Layer: site. Filled in by a batch system; used by the survey for --budget
 * account.
 */
#ifndef BATS_SITE_ACCOUNT_H
#define BATS_SITE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/units.h"

#define BATS_ACCOUNT_NAME 64

struct bats_account {
    char account[BATS_ACCOUNT_NAME]; /* the account with the least left */
    bool of_user;                    /* the limit is the user's share of it */
    bool of_qos; /* it is no account, but the jobs' class of service */
    double factor; /* factor by which usage is billed; 0: 1 */
    bool limited;                    /* if not, there is no limit */
    int64_t limit, used;             /* billing-minutes, if limited */
};

/* In billing-hours, never below 0; BATS_UNLIMITED without a limit. */
bats_money bats_account_left(const struct bats_account *account);

#define BATS_ACCOUNT_WORDS 192

/* "account phys: 220 of 1000 billing-minutes are used". Returns `text`. */
const char *bats_account_words(char text[BATS_ACCOUNT_WORDS],
                               const struct bats_account *account);

#endif
