#include "site/account.h"

#include <inttypes.h>
#include <stdio.h>

bats_money bats_account_left(const struct bats_account *a)
{
    int64_t minutes = a->limit > a->used ? a->limit - a->used : 0;
    if (!a->limited || minutes / 60 >= BATS_UNLIMITED / BATS_UNIT)
        return BATS_UNLIMITED;
    bats_money left = minutes / 60 * BATS_UNIT + minutes % 60 * BATS_UNIT / 60;
    double billed = a->factor > 0 ? (double)left / a->factor : (double)left;
    return billed < (double)BATS_LONGEST ? (bats_money)billed : BATS_UNLIMITED;
}

const char *bats_account_words(char text[BATS_ACCOUNT_WORDS],
                               const struct bats_account *a)
{
    if (a->limited)
        snprintf(text, BATS_ACCOUNT_WORDS,
                 "%s %s: %" PRId64 " of %" PRId64
                 " billing-minutes are used",
                 a->of_user  ? "the user's share in account"
                 : a->of_qos ? "QOS"
                             : "account",
                 a->account, a->used, a->limit);
    else
        snprintf(text, BATS_ACCOUNT_WORDS,
                 "account %s: no limit of billing-minutes is set", a->account);
    return text;
}
