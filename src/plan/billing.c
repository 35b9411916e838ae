/* billing: costs of times and times for money, also by the age of a machine.
 * See bats/billing.h, bats/tariff.h. */
#include "bats/billing.h"
#include "bats/tariff.h"

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

/* ---- by age ---- */

/* Charge of a step, or of a block by its length. */
static __int128 charge_at(const struct bats_tariff *t, uint32_t step,
                          bats_time length)
{
    __int128 charge = t->step[step].charge;
    bats_time range = t->longest - t->shortest;
    if (range <= 0)
        return charge;
    __int128 more = (t->charge_longest - charge) * (length - t->shortest);
    return charge + (more + range - 1) / range;
}

/* C(age) */
static bats_money until(const struct bats_tariff *t, bats_time length,
                        bats_time age)
{
    __int128 cost = 0;
    age = (age + BATS_SECOND / 2) / BATS_SECOND * BATS_SECOND;
    for (uint32_t i = 0; i < t->n_steps && t->step[i].from < age; i++) {
        bool last = i + 1 == t->n_steps || t->step[i + 1].from > age;
        bats_time end = last ? age : t->step[i + 1].from;
        cost += charge_at(t, i, length) * (end - t->step[i].from);
    }
    if (t->per > 0)
        cost = (cost + t->per - 1) / t->per;
    return cost < BATS_UNLIMITED ? (bats_money)cost : BATS_UNLIMITED;
}

bats_money bats_tariff_cost(const struct bats_tariff *t, bats_time length,
                            bats_time from, bats_time to, enum bats_end end)
{
    if (end == BATS_END_RECLAIMED && to < t->free)
        return 0;
    bats_money cost = until(t, length, to);
    return cost == BATS_UNLIMITED ? cost : cost - until(t, length, from);
}

bats_money bats_tariff_certain(const struct bats_tariff *t, bats_time length,
                               bats_time age)
{
    return bats_tariff_cost(t, length, 0, age, BATS_END_RECLAIMED);
}

bats_time bats_tariff_block(const struct bats_tariff *t, bats_time time)
{
    if (t->longest == 0)
        return 0;
    if (time >= t->longest)
        return t->longest;
    time = (time + t->shortest - 1) / t->shortest * t->shortest;
    return time < t->shortest  ? t->shortest
           : time > t->longest ? t->longest
                               : time;
}
