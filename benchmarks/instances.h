/*
 * instances: planning problems for the benchmarks of the planner.
 */
#ifndef BATS_INSTANCES_H
#define BATS_INSTANCES_H

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/plan.h"
#include "workload.h"

struct instance {
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    size_t n;
    uint64_t n_tasks;
    bats_money budget;
};

/* The relation between the rate of a machine and its charge. */
enum kind { UNRELATED, SIMILAR, PROPORTIONAL, WITH_BASE, ADVERSE, N_KINDS };
static const char *const kind_names[N_KINDS] = {
    "unrelated", "similar", "proportional", "base-fee", "adverse"};

/* The clusters: charges from 1 to 50 with this many decimals, and rates that
 * are UNRELATED to them, PROPORTIONAL, or a line WITH_BASE. SIMILAR: charges
 * and rates each differ by a tenth at most; ADVERSE: the charges do, and the
 * rates are on a line. */
static inline void draw_clusters(gsl_rng *rng, enum kind kind, int decimals,
                                 uint32_t machines, struct instance *in)
{
    double unit = pow(10, decimals);
    for (size_t i = 0; i < in->n; i++) {
        double charge = 1 + 49 * gsl_rng_uniform(rng);
        if (kind == SIMILAR || kind == ADVERSE)
            charge = 10 + charge / 50;
        charge = ceil(charge * unit) / unit;
        double rate = charge * (4.0 / 3);
        if (kind == UNRELATED)
            rate = 0.5 + 60 * gsl_rng_uniform(rng);
        else if (kind == SIMILAR)
            rate = 30 + 3 * gsl_rng_uniform(rng);
        else if (kind != PROPORTIONAL)
            rate += 20;
        in->items[i] = (struct bats_plan_item){
            .rate = rate,
            .charge = (bats_money)llround(charge * 1e6),
            .max = machines};
    }
}

static inline int by_efficiency(const void *a, const void *b)
{
    const struct bats_plan_item *left = a, *right = b;
    double l = left->rate * (double)right->charge;
    double r = right->rate * (double)left->charge;
    return (l < r) - (l > r);
}

/* The rate that `price` per window would buy if machines could be divided. */
static inline double fluid_rate(const struct instance *in, double price)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    double rate = 0;
    memcpy(items, in->items, sizeof items);
    qsort(items, in->n, sizeof *items, by_efficiency);
    for (size_t i = 0; i < in->n && price > 0; i++) {
        double n = fmin(items[i].max, price / (double)items[i].charge);
        rate += n * items[i].rate;
        price -= n * (double)items[i].charge;
    }
    return rate;
}

/* 1 to 24 windows of a tenth to nine tenths of all machines, by their price,
 * and nearly as many tasks as that can do; every fourth bag is twice as large
 * as the budget. */
static inline void draw_instance(gsl_rng *rng, enum kind kind, int decimals,
                                 size_t clusters_n, uint32_t machines,
                                 struct instance *in)
{
    double all = 0;
    memset(in, 0, sizeof *in);
    in->n = clusters_n;
    draw_clusters(rng, kind, decimals, machines, in);
    for (size_t i = 0; i < in->n; i++)
        all += (double)in->items[i].charge * in->items[i].max;
    double windows = 1 + (double)gsl_rng_uniform_int(rng, 24);
    double price = all * (0.1 + 0.8 * gsl_rng_uniform(rng));
    double share = 0.9 + 0.1 * gsl_rng_uniform(rng);
    if (gsl_rng_uniform_int(rng, 4) == 0)
        share *= 2;
    in->budget = (bats_money)(windows * price);
    in->n_tasks = (uint64_t)(share * windows * fluid_rate(in, price)) + 1;
}

/* Reads KIND DECIMALS CLUSTERS MACHINES INSTANCES into the five variables. */
static inline bool read_case(int argc, char **argv, enum kind *kind,
                             int *decimals, size_t *n, uint32_t *machines,
                             int *instances)
{
    if (argc != 6)
        return false;
    for (*kind = 0; *kind < N_KINDS; ++*kind)
        if (strcmp(argv[1], kind_names[*kind]) == 0)
            break;
    *decimals = atoi(argv[2]);
    *n = (size_t)atoi(argv[3]);
    *machines = (uint32_t)atoi(argv[4]);
    *instances = atoi(argv[5]);
    return *kind < N_KINDS && *decimals >= 0 && *decimals <= 6 && *n > 0 &&
           *n <= BATS_CLUSTERS_MAX && *machines > 0 && *instances > 0;
}

static inline int ascending(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Prints mean, median and longest of n seconds in milliseconds. */
static inline void print_times(double *seconds, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += seconds[i];
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    printf(" %.4f %.4f %.4f", n ? 1e3 * sum / n : 0,
           n ? 1e3 * seconds[n / 2] : 0, n ? 1e3 * seconds[n - 1] : 0);
}

#endif
