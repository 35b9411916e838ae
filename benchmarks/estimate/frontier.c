/*
 * frontier: how long the cost/makespan frontier takes.
 *
 *   build/bench/estimate/frontier [INSTANCES]     (default: 30 of each kind)
 *
 * 8 clusters of 1,024 machines, a million tasks. Kinds: EC2's m1 and c1
 * prices of 2012, speeds as its compute units with 10 % of noise; charges of
 * 0.05 to 3.05 at random, with so many digits, and a speed per charge that
 * differs by up to 30 % in both directions, or by a factor of 3. Prints
 * milliseconds (median, largest), how many took more than 50, and points.
 */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bats/frontier.h"

#define CLUSTERS 8
#define MACHINES 1024
#define TASKS 1000000
#define MOST 1000
#define GOAL 50 /* ms */

struct kind {
    const char *name;
    double digits; /* of the charges; 0: EC2's */
    double spread; /* of the speed per charge */
};

/* m1.small, medium, large, xlarge, c1.medium, xlarge, m2.xlarge, 2xlarge */
static const double ec2_price[CLUSTERS] = {0.08,  0.16, 0.32, 0.64,
                                           0.165, 0.66, 0.45, 0.9};
static const double ec2_units[CLUSTERS] = {1, 2, 4, 8, 5, 20, 6.5, 13};

static double milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void draw(gsl_rng *rng, const struct kind *kind,
                 struct bats_plan_item *items, double *task_windows)
{
    for (int i = 0; i < CLUSTERS; i++) {
        double charge = ec2_price[i], rate = ec2_units[i];
        if (kind->digits > 0) {
            charge = 0.05 + 3 * gsl_rng_uniform(rng);
            charge = ceil(charge * kind->digits) / kind->digits;
            rate = charge * 10;
        }
        rate *= exp(log(kind->spread) * (2 * gsl_rng_uniform(rng) - 1));
        items[i] = (struct bats_plan_item){
            .rate = rate,
            .charge = (bats_money)llround(charge * 1e6),
            .max = MACHINES};
        task_windows[i] = 1 / rate;
    }
}

static int measure(gsl_rng *rng, const struct kind *kind, int n)
{
    double took[MOST], points[MOST];
    int complete = 0, over = 0;

    for (int i = 0; i < n; i++) {
        struct bats_plan_item items[CLUSTERS];
        double task_windows[CLUSTERS];
        struct bats_frontier f;
        struct bats_error err;
        draw(rng, kind, items, task_windows);
        double start = milliseconds();
        if (bats_frontier_init(&f, items, task_windows, CLUSTERS, TASKS,
                               &err) != 0) {
            fprintf(stderr, "frontier: %s\n", err.text);
            return 1;
        }
        took[i] = milliseconds() - start;
        points[i] = (double)f.n;
        complete += f.complete;
        over += took[i] > GOAL;
        bats_frontier_release(&f);
    }
    qsort(took, (size_t)n, sizeof *took, ascending);
    qsort(points, (size_t)n, sizeof *points, ascending);
    printf("%-34s  %6.1f  %7.1f  %4d  %8.0f  %8.0f  %3d of %d\n", kind->name,
           took[n / 2], took[n - 1], over, points[n / 2], points[n - 1],
           complete, n);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {
        {"EC2 prices of 2012", 0, 1.1},
        {"2 digits, speed per charge +-30 %", 1e2, 1.3},
        {"3 digits, speed per charge +-30 %", 1e3, 1.3},
        {"6 digits, speed per charge +-30 %", 1e6, 1.3},
        {"3 digits, speed per charge x3", 1e3, 3},
        {"6 digits, speed per charge x3", 1e6, 3},
    };
    int n = argc > 1 ? atoi(argv[1]) : 30;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int bad = n < 1 || n > MOST;

    if (bad)
        fprintf(stderr, "usage: frontier [1 .. %d]\n", MOST);
    else
        printf("8 clusters x 1024 machines          ms med  longest  > 50"
               "    points      most  complete\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !bad; i++)
        bad = measure(rng, &kinds[i], n);
    gsl_rng_free(rng);
    return bad;
}
