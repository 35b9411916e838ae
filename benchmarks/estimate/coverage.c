/*
 * coverage: how many intervals hold what they are meant to hold.
 *
 *   build/bench/estimate/coverage
 *
 * Thesis, tables 4.2 - 4.4: bags of 1000 tasks, of which ns = 30, 50 or 100
 * are sampled; do the intervals of mean and deviation hold those of the bag?
 * Here for 30 bags and 100 samples of each, for the thesis's intervals and for
 * those that bats-mpi uses (interval.h), beside what the thesis prints of one
 * bag. Then the same for other confidences. Everything follows from the seeds.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>

#include "bats/interval.h"
#include "sim/draw.h"

#define TASKS 1000
#define BAGS 30
#define SAMPLES 100
#define SAMPLE_MAX 100

struct workload {
    const char *name;
    const char *draw;
    bool is_published;
};

static const struct workload workloads[] = {
    {"normal", "normal 15m 2.2360679775m", true},
    {"Levy", "levy 12m 45m", true},
    {"mixture", "mixture", true},
    {"lognormal", "lognormal 10m 10m", false},
    {"uniform", "uniform 1m 30m", false},
};

#define WORKLOADS (sizeof workloads / sizeof *workloads)

/* The shares of 100 samples of one bag that the thesis prints: by sample
 * size, then workload, of the mean and of the deviation. */
static const double published[3][3][2] = {
    {{0.85, 0.91}, {0.92, 0.91}, {0.96, 0.55}},
    {{0.90, 0.94}, {0.93, 0.91}, {0.94, 0.50}},
    {{0.88, 0.94}, {0.93, 0.94}, {0.93, 0.57}},
};

static const uint32_t sizes[3] = {30, 50, 100};

typedef struct bats_runtimes method(const double *, uint32_t, double);

/* The counts of one kind of interval. */
struct count {
    int n, hits;
    int bag_hits, least, most; /* of the samples of one bag */
    double width;              /* sum, in units of what is bounded */
};

static void hit(struct count *c, double truth, double low, double high)
{
    bool inside = low <= truth && truth <= high;

    c->n++;
    c->hits += inside;
    c->bag_hits += inside;
    c->width += (high - low) / truth;
}

static void end_bag(struct count *c)
{
    if (c->n == SAMPLES || c->bag_hits < c->least)
        c->least = c->bag_hits;
    if (c->n == SAMPLES || c->bag_hits > c->most)
        c->most = c->bag_hits;
    c->bag_hits = 0;
}

static void draw_bag(const struct bats_draw *draw, gsl_rng *rng, double *bag,
                     double *mean, double *deviation)
{
    *mean = *deviation = 0;
    for (int i = 0; i < TASKS; i++)
        *mean += bag[i] = (double)bats_draw_next(draw, rng);
    *mean /= TASKS;
    for (int i = 0; i < TASKS; i++)
        *deviation += (bag[i] - *mean) * (bag[i] - *mean);
    *deviation = sqrt(*deviation / TASKS);
}

/* counts[0] of the mean, [1] of the deviation. */
static void measure(const struct workload *w, uint32_t size, double p,
                    method *of, struct count counts[2])
{
    struct bats_draw draw = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

    bats_draw_parse(w->draw, &draw, NULL);
    counts[0] = counts[1] = (struct count){0};
    for (int b = 0; b < BAGS; b++) {
        double bag[TASKS], sample[SAMPLE_MAX], mean, deviation;
        gsl_rng_set(rng, (unsigned long)b + 1);
        draw_bag(&draw, rng, bag, &mean, &deviation);
        for (int s = 0; s < SAMPLES; s++) {
            gsl_ran_choose(rng, sample, size, bag, TASKS, sizeof *bag);
            struct bats_runtimes r = of(sample, size, p);
            hit(&counts[0], mean, r.mean_low, r.mean_high);
            hit(&counts[1], deviation, r.deviation_low, r.deviation_high);
        }
        end_bag(&counts[0]);
        end_bag(&counts[1]);
    }
    gsl_rng_free(rng);
}

static void print_count(const struct count *c)
{
    printf("  | %.3f  %.2f-%.2f  %4.2f", (double)c->hits / c->n,
           (double)c->least / SAMPLES, (double)c->most / SAMPLES,
           c->width / c->n);
}

static void print_table(int size)
{
    static const char *const of[] = {"mean", "deviation"};

    printf("\nns = %-3u              | thesis  | its intervals, here     | "
           "those of bats-mpi\n%22s | 1 bag  ",
           sizes[size], "");
    for (int i = 0; i < 2; i++)
        printf(" | %5s  %9s  %5s", "share", "of a bag", "width");
    putchar('\n');
    for (size_t w = 0; w < WORKLOADS; w++) {
        struct count thesis[2], ours[2];
        measure(&workloads[w], sizes[size], 0.9, bats_runtimes_normal, thesis);
        measure(&workloads[w], sizes[size], 0.9, bats_runtimes_of, ours);
        for (int k = 0; k < 2; k++) {
            printf("%-10s %-10s", workloads[w].name, of[k]);
            if (workloads[w].is_published)
                printf("  | %5.2f ", published[size][w][k]);
            else
                printf("  | %5s ", "-");
            print_count(&thesis[k]);
            print_count(&ours[k]);
            putchar('\n');
        }
    }
}

static void print_confidences(void)
{
    static const double p[] = {0.8, 0.9, 0.95, 0.99};

    printf("\nns = 30, shares for other confidences: the thesis's, ours\n%20s",
           "");
    for (size_t i = 0; i < 4; i++)
        printf("  | nominal %.2f", p[i]);
    putchar('\n');
    for (size_t w = 0; w < WORKLOADS; w++)
        for (int k = 0; k < 2; k++) {
            printf("%-10s %-10s", workloads[w].name,
                   k == 0 ? "mean" : "deviation");
            for (size_t i = 0; i < 4; i++) {
                struct count thesis[2], ours[2];
                measure(&workloads[w], 30, p[i], bats_runtimes_normal, thesis);
                measure(&workloads[w], 30, p[i], bats_runtimes_of, ours);
                printf("  | %.3f  %.3f", (double)thesis[k].hits / thesis[k].n,
                       (double)ours[k].hits / ours[k].n);
            }
            putchar('\n');
        }
}

int main(void)
{
    printf("%d bags of %d tasks, %d samples of each; nominal 0.90.\n"
           "share: of intervals that hold the bag's own mean or deviation, "
           "then the least and\nthe largest share of one bag; width: mean, in "
           "means or deviations.\n",
           BAGS, TASKS, SAMPLES);
    for (int size = 0; size < 3; size++)
        print_table(size);
    print_confidences();
    return 0;
}
