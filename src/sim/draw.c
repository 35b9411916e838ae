#include "sim/draw.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/hash.h"

/* ---- from text ---- */

static const struct {
    const char *name;
    int n; /* parameters */
    const char *form;
} forms[] = {
    [BATS_DRAW_CONSTANT] = {"constant", 1, "constant LENGTH"},
    [BATS_DRAW_NORMAL] = {"normal", 2, "normal MEAN DEVIATION"},
    [BATS_DRAW_LOGNORMAL] = {"lognormal", 2, "lognormal MEAN DEVIATION"},
    [BATS_DRAW_LEVY] = {"levy", 2, "levy SCALE CUT"},
    [BATS_DRAW_UNIFORM] = {"uniform", 2, "uniform LOW HIGH"},
    [BATS_DRAW_MIXTURE] = {"mixture", 0, "mixture"},
};

#define N_FORMS (sizeof forms / sizeof *forms)

static int check(const struct bats_draw *d, struct bats_error *err)
{
    if (d->kind == BATS_DRAW_MIXTURE)
        return 0;
    if (d->kind == BATS_DRAW_UNIFORM ? d->b <= 0 : d->a <= 0)
        return bats_refuse(err, "the first length of '%s' has to be above 0",
                           forms[d->kind].form);
    if (d->kind == BATS_DRAW_UNIFORM && d->b < d->a)
        return bats_refuse(err, "LOW is above HIGH");
    if (d->kind == BATS_DRAW_LEVY && d->b <= 0)
        return bats_refuse(err, "CUT has to be above 0");
    return 0;
}

int bats_draw_parse(const char *text, struct bats_draw *draw,
                    struct bats_error *err)
{
    char words[4][64] = {""};
    int n = sscanf(text, "%63s %63s %63s %63s", words[0], words[1], words[2],
                   words[3]);
    size_t kind = 0;
    while (kind < N_FORMS && strcmp(words[0], forms[kind].name) != 0)
        kind++;
    if (kind == N_FORMS)
        return bats_refuse(
            err,
            "invalid value '%.60s'; expected one of constant, normal, "
            "lognormal, levy, uniform, mixture and file",
            words[0]);
    if (n != 1 + forms[kind].n)
        return bats_refuse(err, "'%.80s' is not '%s'", text, forms[kind].form);
    struct bats_draw d = {.kind = (enum bats_draw_kind)kind};
    for (int i = 0; i < forms[kind].n; i++) {
        bats_time length;
        int rc = bats_duration_parse(words[1 + i], &length, err);
        if (rc < 0)
            return rc;
        *(i == 0 ? &d.a : &d.b) = (double)length;
    }
    int rc = check(&d, err);
    if (rc == 0)
        *draw = d;
    return rc;
}

/* ---- runtimes ---- */

static double positive_normal(const struct bats_draw *d, gsl_rng *rng)
{
    double x;
    do
        x = d->a + gsl_ran_gaussian(rng, d->b);
    while (x <= 0);
    return x;
}

static double lognormal(const struct bats_draw *d, gsl_rng *rng)
{
    double variance = log1p(d->b * d->b / (d->a * d->a));
    return gsl_ran_lognormal(rng, log(d->a) - variance / 2, sqrt(variance));
}

/* By inversion: F(x) = erfc(sqrt(tau / 2x)) / erfc(sqrt(tau / 2b)), and
 * erfc(z / sqrt 2) / 2 is the upper tail of the normal distribution. */
static double levy(const struct bats_draw *d, gsl_rng *rng)
{
    double u = gsl_rng_uniform_pos(rng) * gsl_sf_erfc(sqrt(d->a / d->b / 2));
    double z = gsl_cdf_ugaussian_Qinv(u / 2);
    return d->a / (z * z);
}

/*
 * The thesis does not give the components of its third workload, the runtimes
 * of the DACH challenge of 2008: two Cauchy and three uniform distributions,
 * two of which form the tail; mean 7.98 and deviation 6.27 minutes, two modes,
 * nothing between 20 and 30 minutes. The components below have these
 * properties (7.98 and 6.27 to two places). A Cauchy distribution has no mean,
 * so both are cut to (0, 20).
 */
static const struct {
    double weight;
    bool is_cauchy;
    double low, high;
    double location, scale; /* of the Cauchy components; all in minutes */
} parts[] = {
    {0.50, true, 0, 20, 4.0, 0.5}, {0.35, true, 0, 20, 10.3, 0.5},
    {0.12, false, 0, 20, 0, 0},    {0.0178, false, 30, 35, 0, 0},
    {0.0122, false, 35, 45, 0, 0},
};

static double mixture(gsl_rng *rng)
{
    double u = gsl_rng_uniform(rng);
    size_t i = 0;
    while (i + 1 < sizeof parts / sizeof *parts && u >= parts[i].weight)
        u -= parts[i++].weight;
    double v = gsl_rng_uniform_pos(rng);
    double low = parts[i].low, high = parts[i].high;
    if (!parts[i].is_cauchy)
        return (low + v * (high - low)) * (double)BATS_MINUTE;
    double from = atan((low - parts[i].location) / parts[i].scale);
    double to = atan((high - parts[i].location) / parts[i].scale);
    return (parts[i].location + parts[i].scale * tan(from + v * (to - from))) *
           (double)BATS_MINUTE;
}

static double draw_us(const struct bats_draw *d, gsl_rng *rng)
{
    switch (d->kind) {
    case BATS_DRAW_CONSTANT:
        break;
    case BATS_DRAW_NORMAL:
        return positive_normal(d, rng);
    case BATS_DRAW_LOGNORMAL:
        return lognormal(d, rng);
    case BATS_DRAW_LEVY:
        return levy(d, rng);
    case BATS_DRAW_UNIFORM:
        return d->a + gsl_rng_uniform(rng) * (d->b - d->a);
    case BATS_DRAW_MIXTURE:
        return mixture(rng);
    case BATS_DRAW_EMPIRICAL:
        return (double)d->values[gsl_rng_uniform_int(rng, d->n)];
    }
    return d->a;
}

bats_time bats_draw_next(const struct bats_draw *draw, gsl_rng *rng)
{
    double us = draw_us(draw, rng);
    return us < 1 ? 1 : (bats_time)(us + 0.5);
}

/* ---- numbers that depend only on their position ---- */

double bats_draw_noise(uint64_t seed, uint32_t task, uint32_t execution,
                       double deviation)
{
    if (deviation <= 0)
        return 1;
    uint64_t bits = bats_mix_at(seed, (uint64_t)execution << 32 | task);
    double variance = log1p(deviation * deviation);
    double z = gsl_cdf_ugaussian_Pinv(bats_mix_uniform(bits));
    return exp(sqrt(variance) * z - variance / 2);
}

double bats_draw_error(uint64_t seed, uint32_t task, double most)
{
    return 1 + most * (2 * bats_mix_uniform(bats_mix_at(seed, task)) - 1);
}

bats_time bats_draw_loss(uint64_t seed, uint32_t machine, bats_time mtbf)
{
    double time =
        -log(bats_mix_uniform(bats_mix_at(seed, machine))) * (double)mtbf;
    /* Later than the end of any run. */
    return time < (double)(INT64_MAX / 8) ? (bats_time)time : INT64_MAX / 8;
}
