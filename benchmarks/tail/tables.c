/*
 * tables: how much sooner a bag ends when idle machines copy its last tasks.
 *
 *   tables BAGS RUNS WINDOW
 *
 * Oprescu's thesis, tables 5.1 to 5.3: 1000 tasks on 24 + 24 + 24 machines of
 * speed 1, 3, 2 at charges 3, 12, 3; for each of BAGS bags a sample of 30
 * runtimes gives the schedules fastest and cheapest+10%, and each strategy
 * executes them RUNS times, in the same orders. Prints tab-separated lines:
 * workload, schedule, strategy, mean, least and largest of the bags' mean
 * deviations of the makespan from its estimate in percent; then the half width
 * of the 95 % confidence interval of the mean over bags of the makespan
 * compared with that of `perfect`, in percent, that mean itself, and the mean
 * charge. WINDOW is a duration.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/estimate.h"
#include "bats/policy.h"
#include "bats/status.h"
#include "sim/draw.h"
#include "sim/sim.h"

#define TASKS 1000
#define SAMPLE 30
#define PER_CLUSTER 24
#define CLUSTERS 3
#define BAGS_MAX 1000
#define STRATEGIES_MAX 16

static const char *const workloads[][2] = {
    {"normal", "normal 60m 536.656s"}, /* N(15, sqrt 5) made four times */
    {"levy", "levy 12m 45m"},
    {"mixture", "mixture"},
};

static const char *const strategies[] = {
    "none",    "random",  "stochastic", "stochastic-random",
    "migrate", "soonest", "perfect"};
#define N_STRATEGIES (sizeof strategies / sizeof *strategies)

static const double speed[CLUSTERS] = {1, 3, 2};
static const struct bats_cluster clusters[CLUSTERS] = {
    {.name = "A", .charge = 3 * BATS_UNIT, .max = PER_CLUSTER},
    {.name = "B", .charge = 12 * BATS_UNIT, .max = PER_CLUSTER},
    {.name = "C", .charge = 3 * BATS_UNIT, .max = PER_CLUSTER},
};

struct bag {
    bats_time work[TASKS];
    struct bats_schedule schedules[BATS_OFFERS];
};

static void die(const struct bats_error *err)
{
    fprintf(stderr, "tables: %s\n", err->text);
    exit(1);
}

/* A sample without replacement gives the mean on speed 1; that the others are
 * so many times as fast is what a regression finds here. */
static void make_bag(struct bag *bag, const char *runtime, unsigned long seed)
{
    struct bats_draw draw;
    struct bats_error err;
    struct bats_runtimes runtimes[CLUSTERS];
    double sample[SAMPLE];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (bats_draw_parse(runtime, &draw, &err) < 0)
        die(&err);
    gsl_rng_set(rng, seed);
    for (int i = 0; i < TASKS; i++)
        bag->work[i] = bats_draw_next(&draw, rng);
    for (int i = 0; i < SAMPLE; i++) /* the bag has no order */
        sample[i] = (double)bag->work[i];
    for (int i = TASKS - 1; i > 0; i--) {
        int k = (int)gsl_rng_uniform_int(rng, (unsigned long)i + 1);
        bats_time swap = bag->work[i];
        bag->work[i] = bag->work[k];
        bag->work[k] = swap;
    }
    for (int c = 0; c < CLUSTERS; c++) {
        double there[SAMPLE];
        for (int i = 0; i < SAMPLE; i++)
            there[i] = sample[i] / speed[c];
        runtimes[c] = bats_runtimes_of(there, SAMPLE, 0.9);
    }
    struct bats_estimator estimator = {.plans = BATS_PLANS_CONFIGURATIONS,
                                       .clusters = clusters,
                                       .runtimes = runtimes,
                                       .n_clusters = CLUSTERS,
                                       .n_tasks = TASKS,
                                       .window = BATS_HOUR};
    if (bats_estimate_offers(&estimator, bag->schedules, NULL, &err) < 0)
        die(&err);
    gsl_rng_free(rng);
}

/* Executes the schedule as it is: no reconfiguration. */
static bats_time run(const struct bag *bag, enum bats_offer offer,
                     const char *strategy, bats_time window, uint64_t seed,
                     bats_money *charged)
{
    struct bats_machine_spec machines[CLUSTERS * PER_CLUSTER];
    struct bats_sched_status status;
    struct bats_sched *sched;
    struct bats_error err;
    bats_time makespan;
    uint32_t n = 0;
    for (uint32_t c = 0; c < CLUSTERS; c++)
        for (uint32_t i = 0; i < bag->schedules[offer].plan.machines[c]; i++)
            machines[n++] = (struct bats_machine_spec){c, 1};
    struct bats_sim_options o = {.sched = {.policy = &bats_policy_rr,
                                           .n_tasks = TASKS,
                                           .clusters = clusters,
                                           .n_clusters = CLUSTERS,
                                           .machines = machines,
                                           .n_machines = n,
                                           .window = window,
                                           .budget = BATS_UNLIMITED,
                                           .seed = seed},
                                 .work = bag->work,
                                 .speed = speed};
    bats_tail_find(strategy, &o.sched.tail);
    if (bats_sim_run(&o, &sched, &makespan, &err) < 0)
        die(&err);
    bats_sched_status(sched, &status);
    *charged = status.charged;
    bats_sched_destroy(sched);
    return makespan;
}

struct line {
    double deviation[BAGS_MAX]; /* of each bag, percent */
    double makespan[BAGS_MAX];
    double charged;
};

static void print(const char *workload, const char *schedule,
                  const char *strategy, const struct line *l,
                  const struct line *perfect, int bags)
{
    double sum = 0, least = INFINITY, most = -INFINITY, gap = 0, square = 0;
    for (int i = 0; i < bags; i++) {
        double more = 100 * (l->makespan[i] / perfect->makespan[i] - 1);
        sum += l->deviation[i];
        least = fmin(least, l->deviation[i]);
        most = fmax(most, l->deviation[i]);
        gap += more;
        square += more * more;
    }
    gap /= bags;
    double t = bags > 1 ? gsl_cdf_tdist_Pinv(0.975, bags - 1) : 0;
    double variance = bags > 1 ? (square - bags * gap * gap) / (bags - 1) : 0;
    printf("%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f\n", workload,
           schedule, strategy, sum / bags, least, most, gap,
           t * sqrt(fmax(variance, 0) / bags), l->charged);
    fflush(stdout);
}

static void play(const char *const workload[2], enum bats_offer offer,
                 int bags, int runs, bats_time window)
{
    static struct line lines[STRATEGIES_MAX];
    static struct bag bag;
    for (size_t s = 0; s < N_STRATEGIES; s++)
        lines[s].charged = 0;
    for (int i = 0; i < bags; i++) {
        make_bag(&bag, workload[1], (unsigned long)i + 1);
        double estimate = bag.schedules[offer].makespan.least;
        for (size_t s = 0; s < N_STRATEGIES; s++) {
            double sum = 0;
            for (int k = 0; k < runs; k++) {
                bats_money charged;
                sum += (double)run(&bag, offer, strategies[s], window,
                                   (uint64_t)k + 1, &charged);
                lines[s].charged += (double)charged / BATS_UNIT / runs / bags;
            }
            lines[s].makespan[i] = sum / runs;
            lines[s].deviation[i] = 100 * (sum / runs / estimate - 1);
        }
    }
    for (size_t s = 0; s < N_STRATEGIES; s++)
        print(workload[0], bats_offer_name(offer), strategies[s], &lines[s],
              &lines[N_STRATEGIES - 1], bags);
}

int main(int argc, char **argv)
{
    int bags = argc == 4 ? atoi(argv[1]) : 0;
    int runs = argc == 4 ? atoi(argv[2]) : 0;
    bats_time window;
    if (bags < 1 || bags > BAGS_MAX || runs < 1 ||
        bats_duration_parse(argv[3], &window, NULL) < 0) {
        fputs("usage: tables BAGS RUNS WINDOW\n", stderr);
        return 2;
    }
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++) {
        play(workloads[w], BATS_OFFER_CHEAPEST_10, bags, runs, window);
        play(workloads[w], BATS_OFFER_FASTEST, bags, runs, window);
    }
    return 0;
}
