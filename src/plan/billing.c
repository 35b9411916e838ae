/* billing: costs of times and times for money. See bats/billing.h. */
#include "bats/billing.h"

#include <string.h>

static const char *const names[] = {"window", "allocation", "use", "job",
                                    "second"};

bool bats_billing_find(const char *name, enum bats_billing_model *model)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *model = (enum bats_billing_model)i;
            return true;
        }
    return false;
}

enum bats_billing_model bats_billing_named(const char *name)
{
    enum bats_billing_model model = BATS_BILLING_WINDOW;
    if (name)
        bats_billing_find(name, &model);
    return model;
}

const char *bats_billing_name(enum bats_billing_model model)
{
    return names[model];
}

bats_money bats_billing_use(bats_money charge, bats_time window,
                            bats_time time)
{
    __int128 cost = (__int128)charge * time;
    cost = (cost + window - 1) / window;
    return cost < BATS_UNLIMITED ? (bats_money)cost : BATS_UNLIMITED;
}

bats_time bats_billing_lasts(bats_money charge, bats_time window,
                             bats_money money)
{
    if (charge <= 0 || money == BATS_UNLIMITED)
        return BATS_LONGEST;
    __int128 time = (__int128)money * window / charge;
    return time < BATS_LONGEST ? (bats_time)time : BATS_LONGEST;
}

bats_money bats_billing_cost(bats_money rate, bats_time time)
{
    return bats_billing_use(rate, BATS_HOUR, time);
}

bool bats_billing_is_timed(const struct bats_billing *billing)
{
    return billing->model == BATS_BILLING_ALLOCATION ||
           (billing->model == BATS_BILLING_JOB && billing->rate > 0);
}

bats_money bats_billing_held(const struct bats_billing *billing, bats_time now)
{
    return bats_billing_cost(billing->rate,
                             now > billing->least ? now : billing->least);
}

bats_time bats_billing_time(bats_money rate, bats_money money)
{
    return bats_billing_lasts(rate, BATS_HOUR, money);
}
