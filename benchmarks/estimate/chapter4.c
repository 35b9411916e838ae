/*
 * chapter4: how often bags exceed what was estimated.
 *
 *   build/bench/estimate/chapter4 [BAGS]          (default: 30, some minutes)
 *
 * The experiment of the thesis's chapter 4. Three kinds of bags of 1000 tasks;
 * 30 bags of each; 30 samples of 30 tasks of each bag; from each sample the
 * six schedules, without and with their cushion; each executed 30 times in
 * another order: 972,000 executions. Clouds A, B and C have 24 machines each,
 * of speed 1, 3 and 2, at 3, 12 and 3 an hour. As in the thesis the sample is
 * not charged, all machines start at once, a free machine takes the next task,
 * and nothing is reconfigured: it is the estimates that are put to the test,
 * not the scheduler. A machine is charged for the hours it has begun.
 *
 * Each schedule promises a makespan and a cost, and upper bounds of both, once
 * with the thesis's intervals and once with those of bats-mpi (interval.h).
 * p is 0.9, so the bounds are to hold for 0.7 of all runs at least.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/estimate.h"
#include "sim/draw.h"

#define TASKS 1000
#define SAMPLE 30
#define LEFT (TASKS - SAMPLE)
#define SAMPLINGS 30
#define RUNS 30
#define CLOUDS 3
#define CAP 24
#define HOUR ((double)BATS_HOUR)

static const double speed[CLOUDS] = {1, 3, 2};
static const bats_money charge[CLOUDS] = {3, 12, 3};

static const struct {
    const char *name, *draw;
} workloads[] = {
    {"normal", "normal 15m 2.2360679775m"},
    {"Levy", "levy 12m 45m"},
    {"mixture", "mixture"},
};

/* ---- what a run exceeds ---- */

enum { LEAST, ESTIMATE, THESIS, OURS, BOUNDS };

/* Over the runs of a budget type: the number that exceed a promise, by more
 * than 0, 5 and 10 %. Over the schedules: the number that more than 30 % of
 * their runs exceed. The price of such safety is the excess of the promise
 * over the result. */
struct excess {
    long runs, over, over_5, over_10;
    long schedules, broken;
    double ratio; /* sum of promise / value */
    struct {      /* its means over the runs of a bag */
        long n, runs;
        double ratio, sum, squares;
    } bags;
};

struct tally {
    struct excess makespan[BOUNDS], cost[BOUNDS];
};

static void count(struct excess *e, double value, double promise)
{
    e->runs++;
    e->ratio += promise / value;
    e->over += value > promise * (1 + 1e-9);
    e->over_5 += value > promise * 1.05 * (1 + 1e-9);
    e->over_10 += value > promise * 1.1 * (1 + 1e-9);
}

static void end_schedule(struct excess *e, long over_before)
{
    e->schedules++;
    e->broken += (double)(e->over - over_before) > 0.3 * RUNS;
}

static void end_bag(struct excess *e)
{
    if (e->runs == e->bags.runs)
        return;
    double mean =
        (e->ratio - e->bags.ratio) / (double)(e->runs - e->bags.runs);
    e->bags.n++;
    e->bags.sum += mean;
    e->bags.squares += mean * mean;
    e->bags.ratio = e->ratio;
    e->bags.runs = e->runs;
}

static void add(struct excess *sum, const struct excess *e)
{
    sum->runs += e->runs;
    sum->over += e->over;
    sum->over_5 += e->over_5;
    sum->over_10 += e->over_10;
    sum->schedules += e->schedules;
    sum->broken += e->broken;
    sum->ratio += e->ratio;
}

/* ---- one run ---- */

struct machine {
    double free; /* when it has done all it was given */
    uint32_t cloud;
};

/* Puts machine 0, whose time has grown, back into its place. */
static void sift(struct machine *m, size_t n)
{
    struct machine moved = m[0];
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && m[child + 1].free < m[child].free)
            child++;
        if (m[child].free >= moved.free)
            break;
        m[i] = m[child];
    }
    m[i] = moved;
}

static void run(const uint32_t *machines, const double *task, double *makespan,
                double *cost)
{
    struct machine m[CLOUDS * CAP];
    size_t n = 0;

    for (uint32_t c = 0; c < CLOUDS; c++)
        for (uint32_t i = 0; i < machines[c]; i++)
            m[n++] = (struct machine){0, c};
    for (size_t i = 0; i < LEFT; i++) {
        m[0].free += task[i] / speed[m[0].cloud];
        sift(m, n);
    }
    *makespan = *cost = 0;
    for (size_t i = 0; i < n; i++) {
        *makespan = fmax(*makespan, m[i].free);
        *cost += ceil(m[i].free / HOUR) * (double)charge[m[i].cloud];
    }
}

/* ---- one schedule ---- */

struct promise {
    double makespan[BOUNDS], cost[BOUNDS];
};

/* The upper bound of the cost: all machines are held to the end (thesis), or
 * each cluster until its own. */
static void bound(struct promise *p, int which, const struct bats_plan *plan,
                  const struct bats_runtimes *runtimes)
{
    double slots[CLOUDS];

    for (int c = 0; c < CLOUDS; c++)
        slots[c] = plan->machines[c];
    struct bats_prediction m =
        bats_interval_makespan(runtimes, slots, CLOUDS, LEFT, 0.9);
    p->makespan[LEAST] = m.least;
    if (which == OURS)
        p->makespan[ESTIMATE] = m.estimate;
    p->makespan[which] = which == THESIS ? m.busy : m.high;
    for (int c = 0; c < CLOUDS; c++) {
        double end =
            which == THESIS ? m.busy : bats_interval_end(&m, &runtimes[c]);
        p->cost[which] += slots[c] * (double)charge[c] *
                          fmax(ceil(end / HOUR), (double)plan->windows);
    }
}

/* `aside`: money that is kept for the end. */
static void execute(const struct bats_plan *plan, bats_money aside,
                    const struct bats_runtimes *thesis,
                    const struct bats_runtimes *ours, const double *left,
                    gsl_rng *rng, struct tally *t)
{
    struct promise p = {.cost[ESTIMATE] = (double)(plan->cost + aside)};
    p.cost[LEAST] = p.cost[ESTIMATE];
    double task[LEFT], makespan, cost;
    long before[2][BOUNDS];

    bound(&p, THESIS, plan, thesis);
    bound(&p, OURS, plan, ours);
    for (int b = 0; b < BOUNDS; b++) {
        before[0][b] = t->makespan[b].over;
        before[1][b] = t->cost[b].over;
    }
    memcpy(task, left, sizeof task);
    for (int i = 0; i < RUNS; i++) {
        gsl_ran_shuffle(rng, task, LEFT, sizeof *task);
        run(plan->machines, task, &makespan, &cost);
        for (int b = 0; b < BOUNDS; b++) {
            count(&t->makespan[b], makespan, p.makespan[b]);
            count(&t->cost[b], cost, fmax(p.cost[b], p.cost[ESTIMATE]));
        }
    }
    for (int b = 0; b < BOUNDS; b++) {
        end_schedule(&t->makespan[b], before[0][b]);
        end_schedule(&t->cost[b], before[1][b]);
    }
}

/* ---- one sample ---- */

/* tally[budget][cushion] */
static void sample_bag(double *bag, gsl_rng *rng,
                       struct tally tally[BATS_OFFERS][2])
{
    struct bats_cluster clusters[CLOUDS] = {
        {.name = "A", .charge = 0, .max = CAP}};
    struct bats_runtimes thesis[CLOUDS], ours[CLOUDS];
    struct bats_schedule schedules[BATS_OFFERS];
    struct bats_error err;

    gsl_ran_shuffle(rng, bag, TASKS, sizeof *bag);
    for (int c = 0; c < CLOUDS; c++) {
        double sample[SAMPLE];
        for (int i = 0; i < SAMPLE; i++)
            sample[i] = bag[i] / speed[c];
        thesis[c] = bats_runtimes_normal(sample, SAMPLE, 0.9);
        ours[c] = bats_runtimes_of(sample, SAMPLE, 0.9);
        clusters[c] =
            (struct bats_cluster){.name = "", .charge = charge[c], .max = CAP};
    }
    const struct bats_estimator e = {.plans = BATS_PLANS_CONFIGURATIONS,
                                     .clusters = clusters,
                                     .runtimes = ours,
                                     .n_clusters = CLOUDS,
                                     .n_tasks = LEFT,
                                     .window = BATS_HOUR,
                                     .confidence = 0.9};
    if (bats_estimate_offers(&e, schedules, NULL, &err) != 0) {
        fprintf(stderr, "chapter4: %s\n", err.text);
        exit(1);
    }
    for (int b = 0; b < BATS_OFFERS; b++) {
        const struct bats_schedule *s = &schedules[b];
        const struct bats_plan *plan = s->refits ? &s->raised : &s->plan;
        if (!s->plan.feasible)
            continue;
        execute(&s->plan, 0, thesis, ours, bag + SAMPLE, rng, &tally[b][0]);
        execute(plan, s->refits ? 0 : s->cushion, thesis, ours, bag + SAMPLE,
                rng, &tally[b][1]);
    }
}

/* ---- tables ---- */

static double percent(long part, long whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_row(const char *name, const struct excess *e)
{
    printf("%-22s", name);
    for (int b = 0; b < BOUNDS; b++)
        printf("  | %5.1f %5.1f %5.1f %5.1f %4.2f",
               percent(e[b].over, e[b].runs), percent(e[b].over_5, e[b].runs),
               percent(e[b].over_10, e[b].runs),
               percent(e[b].broken, e[b].schedules),
               e[b].runs > 0 ? e[b].ratio / (double)e[b].runs : 0);
    putchar('\n');
}

static void print_head(const char *what)
{
    printf("\n%-22s", what);
    printf("  | %-28s  | %-28s  | %-28s  | %s\n%22s", "Te, estimated cost",
           "estimate", "thesis's bound", "bats-mpi's bound", "");
    for (int b = 0; b < BOUNDS; b++)
        printf("  | %5s %5s %5s %5s %4s", "> 0", "> 5", "> 10", "> 30", "of");
    putchar('\n');
}

/* The bias of the estimates, with the 95 % interval over the bags. */
static void print_bias(struct tally tally[BATS_OFFERS][2])
{
    printf("\n%-22s  |      Te / makespan  | estimate / makespan\n", "");
    for (int b = 0; b < BATS_OFFERS; b++) {
        printf("%-22s", bats_offer_name((enum bats_offer)b));
        for (int i = LEAST; i <= ESTIMATE; i++) {
            const struct excess *e = &tally[b][0].makespan[i];
            double n = (double)e->bags.n, mean = e->bags.sum / n;
            double variance = (e->bags.squares / n - mean * mean) / (n - 1);
            printf("  |      %5.3f +- %.3f", mean,
                   gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(variance));
        }
        putchar('\n');
    }
}

static void print_tally(struct tally tally[BATS_OFFERS][2], struct tally *sum)
{
    for (int k = 0; k < 2; k++) {
        print_head(k == 0 ? "makespan" : "cost");
        for (int b = 0; b < BATS_OFFERS; b++)
            for (int c = 0; c < 2; c++) {
                char name[64];
                struct tally *t = &tally[b][c];
                snprintf(name, sizeof name, "%s%s",
                         bats_offer_name((enum bats_offer)b),
                         c > 0 ? ", cushion" : "");
                print_row(name, k == 0 ? t->makespan : t->cost);
                for (int i = 0; i < BOUNDS; i++)
                    add(k == 0 ? &sum->makespan[i] : &sum->cost[i],
                        k == 0 ? &t->makespan[i] : &t->cost[i]);
            }
    }
}

int main(int argc, char **argv)
{
    int bags = argc > 1 ? atoi(argv[1]) : 30;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct tally sum = {0};

    puts("> 0, > 5, > 10: percent of runs above the promise by more than so "
         "many percent\n> 30: percent of schedules that more than 30 % of "
         "their runs exceed\nof: the promise, in units of what came true, "
         "mean");
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++) {
        struct tally tally[BATS_OFFERS][2] = {0};
        struct bats_draw draw = {0};
        bats_draw_parse(workloads[w].draw, &draw, NULL);
        for (int b = 0; b < bags; b++) {
            double bag[TASKS];
            gsl_rng_set(rng, (unsigned long)b + 1);
            for (int i = 0; i < TASKS; i++)
                bag[i] = (double)bats_draw_next(&draw, rng);
            for (int s = 0; s < SAMPLINGS; s++)
                sample_bag(bag, rng, tally);
            for (int o = 0; o < BATS_OFFERS; o++) {
                end_bag(&tally[o][0].makespan[LEAST]);
                end_bag(&tally[o][0].makespan[ESTIMATE]);
            }
        }
        printf("\n---- %s ----\n", workloads[w].name);
        print_tally(tally, &sum);
        print_bias(tally);
    }
    printf("\n---- all %ld runs ----\n", sum.makespan[0].runs);
    print_head("");
    print_row("makespan", sum.makespan);
    print_row("cost", sum.cost);
    gsl_rng_free(rng);
    return 0;
}
