/*
 * regression: mean and deviation of both clusters as the sampling phase
 * estimates them, beside the true ones.
 *
 *   build/bench/estimate/regression [SEEDS]          (default: 100)
 *
 * Thesis, figure 3.3: 1000 tasks of N(15, sqrt 5) minutes on cluster1, which
 * has the speed 1, and cluster2, which has that of the scenario. 7 machines of
 * each; 7 tasks are run on both clusters, 23 others by whichever machine is
 * free. Executions are exactly as long as the task and the speed say (as in
 * the thesis), or 5, 10 % noisy. Three estimates: with the least squares taken
 * as they are (the thesis), as bats-mpi takes them (regression.h), and from 30
 * tasks on each cluster, which is what the regression saves. Figures: means
 * over the seeds, in minutes, and the root mean square of the relative error,
 * in percent.
 */
#include <gsl/gsl_fit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bats/interval.h"
#include "bats/sample.h"
#include "sim/draw.h"

#define TASKS 1000
#define MACHINES 7
#define REPLICATED 7
#define SAMPLE 30

static const struct {
    const char *name;
    double speed;
} scenarios[] = {
    {"S1-1", 1}, {"S1-4", 4}, {"S4-1", 1}, {"S3-4", 4}, {"S4-3", 3}};

/* Sums over the seeds. */
struct error {
    double truth, estimate, square;
};

static void add(struct error *e, double truth, double estimate)
{
    double relative = estimate / truth - 1;

    e->truth += truth;
    e->estimate += estimate;
    e->square += relative * relative;
}

struct world {
    double bag[TASKS]; /* minutes on cluster1 */
    uint32_t order[TASKS];
    double speed[2];
    double noise;
    uint64_t seed;
};

static void make_world(struct world *w, gsl_rng *rng, double speed,
                       double noise, uint64_t seed)
{
    struct bats_draw draw = {0};

    bats_draw_parse("normal 15m 2.2360679775m", &draw, NULL);
    gsl_rng_set(rng, seed);
    for (uint32_t i = 0; i < TASKS; i++) {
        w->bag[i] = (double)bats_draw_next(&draw, rng) / BATS_MINUTE;
        w->order[i] = i;
    }
    gsl_ran_shuffle(rng, w->order, TASKS, sizeof *w->order);
    w->speed[0] = 1;
    w->speed[1] = speed;
    w->noise = noise;
    w->seed = seed;
}

static struct bats_observation run(const struct world *w, uint32_t task,
                                   uint32_t cluster)
{
    double minutes = w->bag[task] / w->speed[cluster] *
                     bats_draw_noise(w->seed, task, cluster, w->noise);

    return (struct bats_observation){
        task, cluster, (bats_time)llround(minutes * BATS_MINUTE)};
}

/* The sampling phase: every machine takes one of its cluster's replicated
 * tasks, then the next of the others when it is free. Returns how many
 * observations there are. */
static size_t sample_bag(const struct world *w, struct bats_observation *o)
{
    bats_time free[2][MACHINES];
    size_t n = 0;

    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t m = 0; m < MACHINES; m++) {
            o[n] = run(w, w->order[m], c);
            free[c][m] = o[n++].runtime;
        }
    for (uint32_t i = REPLICATED; i < SAMPLE; i++) {
        uint32_t c = 0, m = 0;
        for (uint32_t k = 0; k < 2 * MACHINES; k++)
            if (free[k / MACHINES][k % MACHINES] < free[c][m]) {
                c = k / MACHINES;
                m = k % MACHINES;
            }
        o[n] = run(w, w->order[i], c);
        free[c][m] += o[n++].runtime;
    }
    return n;
}

/* As long as each task takes on the cluster, without noise. */
static void find_truth(const struct world *w, uint32_t cluster, double *mean,
                       double *deviation)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < TASKS; i++) {
        double t = w->bag[i] / w->speed[cluster];
        sum += t;
        squares += t * t;
    }
    *mean = sum / TASKS;
    *deviation = sqrt(squares / TASKS - *mean * *mean);
}

/* Means of three estimates. */
enum { LINE, OURS, FULL, METHODS };

/* The runtime of task i of the sample on cluster c; 0: it was not run there. */
static double measured(const struct bats_observation *o, size_t n,
                       uint32_t task, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (o[i].task == task && o[i].cluster == c)
            return (double)o[i].runtime;
    return 0;
}

/* The complete sample of cluster c by plain least squares from cluster1. */
static void complete(const struct world *w, const struct bats_observation *o,
                     size_t n, uint32_t c, double *sample)
{
    double x[REPLICATED], y[REPLICATED], b0, b1, v00, v01, v11, rest;

    for (int i = 0; i < REPLICATED; i++) {
        x[i] = measured(o, n, w->order[i], 0);
        y[i] = measured(o, n, w->order[i], 1);
    }
    gsl_fit_linear(x, 1, y, 1, REPLICATED, &b0, &b1, &v00, &v01, &v11, &rest);
    for (int i = 0; i < SAMPLE; i++) {
        double first = measured(o, n, w->order[i], 0);
        double second = measured(o, n, w->order[i], 1);
        if (c == 0)
            sample[i] = first > 0 ? first : (second - b0) / b1;
        else
            sample[i] = second > 0 ? second : b0 + b1 * first;
    }
}

/* errors[cluster][mean, deviation][method] */
static void one_seed(const struct world *w, struct error errors[2][2][METHODS])
{
    struct bats_observation o[2 * REPLICATED + SAMPLE];
    struct bats_sample s;
    size_t n = sample_bag(w, o);

    if (bats_sample_init(&s, 2, o, n, NULL) != 0)
        exit(1);
    for (uint32_t c = 0; c < 2; c++) {
        double mean, deviation, all[SAMPLE];
        struct bats_runtimes r[METHODS];
        find_truth(w, c, &mean, &deviation);
        complete(w, o, n, c, all);
        r[LINE] = bats_runtimes_of(all, SAMPLE, 0.9);
        r[OURS] =
            bats_runtimes_of(s.clusters[c].runtimes, s.clusters[c].n, 0.9);
        for (uint32_t i = 0; i < SAMPLE; i++)
            all[i] = (double)run(w, w->order[c * SAMPLE + i], c).runtime;
        r[FULL] = bats_runtimes_of(all, SAMPLE, 0.9);
        for (int k = 0; k < METHODS; k++) {
            add(&errors[c][0][k], mean, r[k].mean / BATS_MINUTE);
            add(&errors[c][1][k], deviation, r[k].deviation / BATS_MINUTE);
        }
    }
    bats_sample_release(&s);
}

static void print_row(const char *name, uint32_t cluster, int seeds,
                      struct error errors[2][METHODS])
{
    printf("%-5s cluster%u", name, cluster + 1);
    for (int k = 0; k < 2; k++) {
        printf("  | %6.3f %6.3f", errors[k][OURS].truth / seeds,
               errors[k][OURS].estimate / seeds);
        for (int m = 0; m < METHODS; m++)
            printf(" %5.1f", 100 * sqrt(errors[k][m].square / seeds));
    }
    putchar('\n');
}

static void print_table(gsl_rng *rng, double noise, int seeds)
{
    static struct world w;

    printf("\nnoise %2.0f %%%5s  | %13s %17s  | %13s %17s\n%14s", 100 * noise,
           "", "mean, minutes", "error, %", "deviation", "error, %", "");
    for (int k = 0; k < 2; k++)
        printf("  | %6s %6s %5s %5s %5s", "true", "ours", "line", "ours",
               "30+30");
    putchar('\n');
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        struct error errors[2][2][METHODS] = {0};
        for (int seed = 1; seed <= seeds; seed++) {
            make_world(&w, rng, scenarios[i].speed, noise, (uint64_t)seed);
            one_seed(&w, errors);
        }
        for (uint32_t c = 0; c < 2; c++)
            print_row(scenarios[i].name, c, seeds, errors[c]);
    }
}

int main(int argc, char **argv)
{
    int seeds = argc > 1 ? atoi(argv[1]) : 100;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

    printf("%d seeds\n", seeds);
    print_table(rng, 0, seeds);
    print_table(rng, 0.05, seeds);
    print_table(rng, 0.1, seeds);
    gsl_rng_free(rng);
    return 0;
}
