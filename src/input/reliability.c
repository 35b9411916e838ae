#include "input/reliability.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

#define BLANKS " \t\r\n"

/* ---- the keys ---- */

/* Parses "0.9" or "0.5 from 2h". */
static int add_step(struct bats_reliability *r, char *item,
                    struct bats_error *err)
{
    char *share = strtok(item, BLANKS), *from = strtok(NULL, BLANKS);
    char *time = strtok(NULL, BLANKS);
    size_t n = r->n_steps;
    if (n == BATS_RELIABILITY_STEPS)
        return bats_refuse(err, "more than %d shares", BATS_RELIABILITY_STEPS);
    if (!share || bats_factor_parse(share, &r->share[n], NULL) ||
        r->share[n] > 1)
        return bats_refuse(err,
                           "'%.60s' is not a number above 0 and at most 1",
                           share ? share : "");
    r->from[n] = 0;
    if ((from || n > 0) &&
        (!from || strcmp(from, "from") != 0 || !time || strtok(NULL, BLANKS)))
        return bats_refuse(err, "expected SHARE, then SHARE from TIME");
    int rc = time ? bats_duration_parse(time, &r->from[n], err) : 0;
    if (rc == 0 && n > 0 && r->from[n] <= r->from[n - 1])
        rc = bats_refuse(err, "the times do not ascend");
    r->n_steps += rc == 0;
    return rc;
}

int bats_reliability_parse(struct bats_reliability *r, const char *value,
                           struct bats_error *err)
{
    r->n_steps = 0;
    do {
        char item[64];
        size_t length = strcspn(value, ",");
        if (length >= sizeof item)
            return bats_refuse(err, "'%.60s...' is too long", value);
        memcpy(item, value, length);
        item[length] = '\0';
        int rc = add_step(r, item, err);
        if (rc < 0)
            return rc;
        value += length + (value[length] == ',');
    } while (*value != '\0');
    return 0;
}

int bats_survival_find(const char *name, enum bats_survival *survival)
{
    static const char *const names[] = {
        [BATS_SURVIVAL_EXPONENTIAL] = "exponential",
        [BATS_SURVIVAL_WEIBULL] = "weibull",
        [BATS_SURVIVAL_LOGNORMAL] = "lognormal"};
    for (int i = BATS_SURVIVAL_EXPONENTIAL; i <= BATS_SURVIVAL_LOGNORMAL; i++)
        if (strcmp(name, names[i]) == 0) {
            *survival = (enum bats_survival)i;
            return i == BATS_SURVIVAL_EXPONENTIAL ? 1 : 2;
        }
    return 0;
}

int bats_survival_set(const char *time, const char *shape, double *a,
                      double *b, struct bats_error *err)
{
    bats_time scale = 0;
    int rc = bats_duration_parse(time, &scale, err);
    *a = (double)scale;
    if (rc == 0 && scale == 0)
        rc = bats_refuse(err, "'%s' is not above 0", time);
    return rc == 0 && shape ? bats_factor_parse(shape, b, err) : rc;
}

int bats_survival_parse(struct bats_reliability *r, const char *value,
                        struct bats_error *err)
{
    char name[16] = "", time[32], shape[32], rest[2];
    int n = sscanf(value, "%15s %31s %31s %1s", name, time, shape, rest);
    int wanted = bats_survival_find(name, &r->survival);
    if (wanted == 0 || n != 1 + wanted)
        return bats_refuse(err, "expected exponential MEAN, weibull SCALE "
                                "SHAPE or lognormal MEDIAN SIGMA");
    return bats_survival_set(time, n == 3 ? shape : NULL, &r->a, &r->b, err);
}

/* ---- losses ---- */

bool bats_reliability_loses(const struct bats_reliability *r)
{
    return r->n_steps > 0 || r->survival != BATS_SURVIVAL_ALL;
}

static double uniform(uint64_t seed, uint64_t n)
{
    return bats_mix_uniform(bats_mix_at(seed, n));
}

static double share_at(const struct bats_reliability *r, bats_time at)
{
    double share = 1;
    for (size_t i = 0; i < r->n_steps && (i == 0 || r->from[i] <= at); i++)
        share = r->share[i];
    return share;
}

bats_time bats_reliability_lost(const struct bats_reliability *r,
                                uint64_t seed, uint32_t task,
                                uint32_t execution, bats_time at)
{
    uint64_t n = (uint64_t)execution << 32 | task;
    if (r->n_steps > 0 && uniform(seed, n) > share_at(r, at))
        return 0;
    return bats_survival_quantile(r->survival, r->a, r->b, uniform(~seed, n));
}
