#include "sim/draw.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): every bit of `x`
 * matters for every bit of the result. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* In (0, 1): the middle of one of 2^52 equal steps. */
static double uniform(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

double bats_draw_noise(uint64_t seed, uint32_t task, uint32_t execution,
                       double deviation)
{
    if (deviation <= 0)
        return 1;
    uint64_t bits = mix(mix(seed) ^ ((uint64_t)execution << 32 | task));
    double variance = log1p(deviation * deviation);
    double z = gsl_cdf_ugaussian_Pinv(uniform(bits));
    return exp(sqrt(variance) * z - variance / 2);
}
