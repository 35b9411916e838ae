/* tariff: costs by age. See bats/tariff.h. */
#include "bats/tariff.h"

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
