/*
 * bag: the bag of the papers' emulation.
 *
 *   bag TASKS SEED
 *
 * TASKS built-in sleeps whose durations are drawn from N(15, sigma^2) minutes,
 * sigma = sqrt(5), with GSL's Mersenne twister seeded with SEED. Source:
 * Oprescu's thesis, section 2.3. Same seed, same bag, on every machine.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long tasks = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    gsl_rng *rng;

    if (tasks < 1) {
        fputs("usage: bag TASKS SEED\n", stderr);
        return 2;
    }
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, strtoul(argv[2], NULL, 10));
    printf("# %ld tasks, N(15, 5) minutes, seed %s\n", tasks, argv[2]);
    for (long i = 0; i < tasks; i++) {
        double minutes;

        do
            minutes = 15.0 + gsl_ran_gaussian(rng, sqrt(5.0));
        while (minutes <= 0.0);
        printf("@sleep %.3f\n", 60.0 * minutes);
    }
    gsl_rng_free(rng);
    return 0;
}
