/*
 * workload: what the benchmarks of the engine have in common: three clusters
 * of speed 1, 3 and 2 at a charge of 3, 12 and 3 per hour (Oprescu's thesis,
 * chapter 5), machines dealt out to them in turn, and tasks of N(15, 5)
 * minutes.
 */
#ifndef BATS_WORKLOAD_H
#define BATS_WORKLOAD_H

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bats/sched.h"

#define N_CLUSTERS 3
static const double speed[N_CLUSTERS] = {1, 3, 2};
static const struct bats_cluster clusters[N_CLUSTERS] = {
    {.name = "slow", .charge = 3 * BATS_UNIT, .max = UINT32_MAX},
    {.name = "fast", .charge = 12 * BATS_UNIT, .max = UINT32_MAX},
    {.name = "medium", .charge = 3 * BATS_UNIT, .max = UINT32_MAX}};

static inline double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory, or the end. */
static inline void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory)
        exit(3);
    return memory;
}

static inline struct bats_machine_spec *make_machines(uint32_t n)
{
    struct bats_machine_spec *machines = allocate(n, sizeof *machines);
    for (uint32_t i = 0; i < n; i++)
        machines[i] = (struct bats_machine_spec){i % N_CLUSTERS, 1};
    return machines;
}

/* Every speed divides the work: runtimes are whole microseconds. */
static inline void draw_work(bats_time *work, uint32_t n, unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (uint32_t i = 0; i < n; i++) {
        double minutes;
        do
            minutes = 15 + gsl_ran_gaussian(rng, sqrt(5.0));
        while (minutes <= 0);
        work[i] = 6 * (bats_time)(minutes * (double)BATS_MINUTE / 6);
    }
    gsl_rng_free(rng);
}

#endif
