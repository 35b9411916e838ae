/*
 * promises: chapter 4 of the thesis as users meet it: with sampling, the
 * engine, its hard budget, its reconfigurations and its copies of last tasks.
 *
 *   build/bench/estimate/promises [-p PLATFORM] [-n NOISE] [-t FACTOR] [-e]
 *       [-l LEVELSxTASKS] [BAGS [SAMPLINGS [RUNS]]]    (10 each)
 *
 * The bags of chapter4.c. For each bag SAMPLINGS sampling phases as `bats-mpi
 * sample` takes them, with another order of the tasks; for each the schedules,
 * RUNS times in another order of the rest, as `bats-mpi run --profile --choose`
 * does it; and with the upper bound of the cost as --budget instead. Makespan
 * and cost count from the end of sampling on, as the promise does. Below each
 * kind of bags: what the samples took and cost, and what all of it cost.
 *
 * PLATFORM: clouds, those of chapter4.c (default); S1-4, S4-1, S4-3, the
 * thesis' clusters of table 2.1; or few: three machines, and three that are four
 * times as fast for three times as much. NOISE: the relative deviation of a
 * runtime from one cluster to the other. FACTOR: tasks are so many times as
 * long. -e: the runtimes are expected as they are, on average. -l: bags of so
 * many levels, with a barrier between one and the next, of so many tasks each;
 * among them bags of equal tasks.
 *
 * A run is never charged more than the upper bound of its schedule's cost.
 * A larger error of the estimate shows as tasks that are left undone.
 * Makespans are those of the runs that did the whole bag.
 */
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bats/bag.h"
#include "bats/estimate.h"
#include "bats/graph.h"
#include "bats/policy.h"
#include "bats/sample.h"
#include "bats/status.h"
#include "sim/draw.h"
#include "sim/sim.h"

#define TASKS 1000 /* without barriers */
#define TASKS_MOST 2000
#define LEVELS_MOST 100
#define CLOUDS 3
#define MACHINES 72

static const struct platform {
    const char *name;
    size_t n;
    uint32_t cap;
    double speed[CLOUDS];
    struct bats_cluster clusters[CLOUDS];
} platforms[] = {
    {"clouds",
     3,
     24,
     {1, 3, 2},
     {{.name = "A", .charge = 3 * BATS_UNIT, .max = 24},
      {.name = "B", .charge = 12 * BATS_UNIT, .max = 24},
      {.name = "C", .charge = 3 * BATS_UNIT, .max = 24}}},
    {"S1-4",
     2,
     32,
     {1, 4},
     {{.name = "A", .charge = 3 * BATS_UNIT, .max = 32},
      {.name = "B", .charge = 3 * BATS_UNIT, .max = 32}}},
    {"S4-1",
     2,
     32,
     {1, 1},
     {{.name = "A", .charge = 3 * BATS_UNIT, .max = 32},
      {.name = "B", .charge = 12 * BATS_UNIT, .max = 32}}},
    {"S4-3",
     2,
     32,
     {1, 3},
     {{.name = "A", .charge = 3 * BATS_UNIT, .max = 32},
      {.name = "B", .charge = 12 * BATS_UNIT, .max = 32}}},
    {"few",
     2,
     3,
     {1, 4},
     {{.name = "A", .charge = 3 * BATS_UNIT, .max = 3},
      {.name = "B", .charge = 9 * BATS_UNIT, .max = 3}}},
};

#define PLATFORMS (sizeof platforms / sizeof *platforms)

static struct {
    const struct platform *platform;
    double noise, factor;
    bool is_expected;
    uint32_t n;              /* tasks of a bag */
    struct bats_graph graph; /* of barriers; no node: there are none */
} set = {.platform = platforms, .factor = 1, .n = TASKS};

static const struct {
    const char *name, *draw;
} workloads[] = {
    {"normal", "normal 15m 2.2360679775m"},
    {"Levy", "levy 12m 45m"},
    {"mixture", "mixture"},
    {"equal", "constant 15m"}, /* with barriers */
};

#define OFFERS 5

static const enum bats_offer offers[OFFERS] = {
    BATS_OFFER_CHEAPEST, BATS_OFFER_CHEAPER, BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER, BATS_OFFER_FASTEST};

enum { CHOSEN, BUDGET, WAYS };

static const char *const ways[WAYS] = {"", ", bound"};

/* About a bag: the share of its runs that completed it; promise / truth. */
enum { DONE, MAKESPAN, COST, FIGURES };

/* The runs of one schedule. */
struct tally {
    long runs, done, left; /* left: tasks, of those not done */
    long late, later;      /* done, but above estimate, bound */
    long dear, dearer;     /* charged more than estimate, bound */
    long beyond;           /* charged more than it may */
    double makespan, cost; /* sums of promise / truth; of those done */
    double price, high;    /* sums of the cost that was offered, its bound */
    double error;          /* sum of |ln| of makespan's; of those done */
    double all;            /* sum of the charges, the sample's included */
    double bags[FIGURES], sum[FIGURES], squares[FIGURES]; /* over the bags */
};

static void add(struct tally *sum, const struct tally *t)
{
    sum->runs += t->runs;
    sum->done += t->done;
    sum->left += t->left;
    sum->late += t->late;
    sum->later += t->later;
    sum->dear += t->dear;
    sum->dearer += t->dearer;
    sum->beyond += t->beyond;
    sum->makespan += t->makespan;
    sum->price += t->price;
    sum->high += t->high;
    sum->error += t->error;
    sum->all += t->all;
    sum->cost += t->cost;
}

/* The same, all of it being runs of one bag. */
static void add_bag(struct tally *sum, const struct tally *t)
{
    const double done = (double)t->done;
    const double figures[FIGURES] = {[DONE] = 100 * done / (double)t->runs,
                                     [MAKESPAN] = t->makespan / done,
                                     [COST] = t->cost / done};

    add(sum, t);
    for (int i = 0; i < FIGURES; i++) {
        if (t->runs == 0 || (t->done == 0 && i != DONE))
            continue;
        sum->bags[i]++;
        sum->sum[i] += figures[i];
        sum->squares[i] += figures[i] * figures[i];
    }
}

/* Half the width of a 95 % interval of the mean over the bags. */
static double swing(const struct tally *t, int i)
{
    double n = t->bags[i], mean = t->sum[i] / n;

    if (n < 2)
        return 0;
    return 1.96 * sqrt(fmax(t->squares[i] / n - mean * mean, 0) / (n - 1));
}

/* The result of a sampling phase. */
struct sampled {
    uint8_t state[TASKS_MOST];
    struct bats_observation observations[TASKS_MOST * CLOUDS];
    size_t n;
    bats_money charged;
    bats_time time;
};

static struct bats_sim_options options(const bats_time *work, uint64_t seed)
{
    static struct bats_machine_spec machines[MACHINES];
    static double noise[CLOUDS];
    static bats_time expected[CLOUDS];
    const struct platform *p = set.platform;
    double sum = 0;

    for (uint32_t i = 0; i < p->n * p->cap; i++)
        machines[i] = (struct bats_machine_spec){i / p->cap, 1};
    for (uint32_t i = 0; i < set.n; i++)
        sum += (double)work[i];
    for (size_t i = 0; i < p->n; i++) {
        noise[i] = set.noise;
        expected[i] = (bats_time)(sum / set.n / p->speed[i]);
    }
    return (struct bats_sim_options){
        .sched = {.policy = &bats_policy_bats,
                  .n_tasks = set.n,
                  .graph = set.graph.n_nodes > 0 ? &set.graph : NULL,
                  .clusters = p->clusters,
                  .n_clusters = p->n,
                  .expected = set.is_expected ? expected : NULL,
                  .machines = machines,
                  .n_machines = (uint32_t)p->n * p->cap,
                  .window = BATS_HOUR,
                  .budget = BATS_UNLIMITED,
                  .seed = seed,
                  .tail = BATS_TAIL_STOCHASTIC_RANDOM,
                  .sampling = {.on = true}},
        .work = work,
        .speed = p->speed,
        .noise = noise,
        .noise_seed = seed,
    };
}

static struct bats_sched *play(const struct bats_sim_options *o,
                               bats_time *makespan)
{
    struct bats_sched *sched;
    struct bats_error err;

    if (bats_sim_run(o, &sched, makespan, &err) == 0)
        return sched;
    fprintf(stderr, "promises: %s\n", err.text);
    exit(1);
}

static void sample(const bats_time *work, uint64_t seed, struct sampled *s)
{
    struct bats_sim_options o = options(work, seed);
    struct bats_sched_sampled found;
    struct bats_sched_status status;
    bats_time makespan;
    struct bats_sched *sched = play(&o, &makespan);

    bats_sched_status(sched, &status);
    bats_sched_sampled(sched, &found);
    for (uint32_t i = 0; i < set.n; i++)
        s->state[i] = bats_sched_has_result(sched, i) ? BATS_TASK_DONE
                                                      : BATS_TASK_PENDING;
    memcpy(s->observations, found.observations,
           found.n_observations * sizeof *s->observations);
    s->n = found.n_observations;
    s->charged = status.charged;
    s->time = found.time;
    bats_sched_destroy(sched);
}

/* The upper bound of the cost is *high, which is set where `way` is CHOSEN. */
static void run(const bats_time *work, const struct sampled *s,
                enum bats_offer offer, int way, uint64_t seed,
                bats_money *high, struct tally *t)
{
    struct bats_sim_options o = options(work, seed);
    const struct bats_choice choice = {
        .offer = way == BUDGET ? BATS_OFFER_BUDGET : offer, .budget = *high};
    struct bats_sched_sampled sampled;
    struct bats_sched_status status;
    bats_time makespan;

    o.choice = &choice;
    o.sched.earlier.state = s->state;
    o.sched.earlier.charged = s->charged;
    o.sched.sampling.observations = s->observations;
    o.sched.sampling.n_observations = s->n;
    struct bats_sched *sched = play(&o, &makespan);
    bats_sched_status(sched, &status);
    bats_sched_sampled(sched, &sampled);
    const struct bats_schedule *p = sampled.chosen;
    if (p) { /* else it was not possible */
        bats_money cost = status.charged - s->charged;
        double truth = (double)makespan * (1 - 1e-9);
        t->runs++;
        t->price += (double)p->plan.cost / (double)BATS_UNIT;
        t->high += (double)p->cost_high / (double)BATS_UNIT;
        t->dear += cost > p->plan.cost;
        t->dearer += cost > p->cost_high;
        bats_money limit = p->budget;
        if (way != BUDGET && p->cost_high > limit)
            limit = p->cost_high;
        t->beyond += cost > limit;
        *high = way == CHOSEN ? p->cost_high : *high;
        t->left += set.n - status.done;
        if (status.finish == BATS_FINISH_ALL_DONE) {
            t->done++;
            t->late += truth > p->makespan.estimate;
            t->later += truth > p->makespan.high;
            t->makespan += p->makespan.estimate / (double)makespan;
            t->error += fabs(log(p->makespan.estimate / (double)makespan));
            t->all += (double)status.charged / (double)BATS_UNIT;
            t->cost += (double)p->plan.cost / (double)cost;
        }
    }
    bats_sched_destroy(sched);
}

static void run_all(const bats_time *work, const struct sampled *s, int runs,
                    struct tally tally[OFFERS][WAYS])
{
    bats_money high = 0;

    for (int offer = 0; offer < OFFERS; offer++)
        for (int way = 0; way < WAYS; way++)
            for (int i = 0; i < runs; i++)
                run(work, s, offers[offer], way, (uint64_t)i + 101, &high,
                    &tally[offer][way]);
}

static double percent(long part, long whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_row(const char *name, const struct tally *t)
{
    double done = (double)t->done;

    printf(
        "%-21s | %5.1f +-%4.1f %5.1f | %4.1f %4.1f %5.2f +-%.2f %.3f | %4.1f "
        "%4.1f %4.2f +-%.2f | %6.0f %ld | %6.1f %6.1f\n",
        name, percent(t->done, t->runs), swing(t, DONE),
        t->runs > t->done ? (double)t->left / (double)(t->runs - t->done) : 0,
        percent(t->late, t->done), percent(t->later, t->done),
        t->makespan / done, swing(t, MAKESPAN), t->error / done,
        percent(t->dear, t->runs), percent(t->dearer, t->runs), t->cost / done,
        swing(t, COST), t->all / done, t->beyond, t->price / (double)t->runs,
        t->high / (double)t->runs);
}

static void print_head(const char *name)
{
    printf(
        "\n%-21s | whole         else | makespan above                | "
        "cost above             | in all above | offered\n%-21s |   bag         left "
        "| est. bound     of       error | est. bound   of       | charged "
        "limit | cost  bound\n",
        name, "");
}

/* Adds what the runs of one bag have come to. */
static void add_all(struct tally tally[OFFERS][WAYS], struct tally *all,
                    struct tally of_bag[OFFERS][WAYS])
{
    for (int way = 0; way < WAYS; way++) {
        struct tally sum = {0};
        for (int offer = 0; offer < OFFERS; offer++) {
            add(&sum, &of_bag[offer][way]);
            add_bag(&tally[offer][way], &of_bag[offer][way]);
        }
        add_bag(&all[way], &sum);
    }
}

/* Time and cost of samples: means and half the width of a 95 % interval of the
 * mean over all samples. */
struct samples {
    double n, sum[2], squares[2];
};

static void add_sample(struct samples *all, const struct sampled *s)
{
    const double figures[2] = {(double)s->charged / (double)BATS_UNIT,
                               (double)s->time / (double)BATS_MINUTE};

    all->n++;
    for (int i = 0; i < 2; i++) {
        all->sum[i] += figures[i];
        all->squares[i] += figures[i] * figures[i];
    }
}

static void print_samples(const struct samples *s)
{
    double mean[2], half[2];

    for (int i = 0; i < 2; i++) {
        mean[i] = s->sum[i] / s->n;
        half[i] =
            1.96 * sqrt(fmax(s->squares[i] / s->n - mean[i] * mean[i], 0) /
                        fmax(s->n - 1, 1));
    }
    printf("samples: charged %.1f +- %.1f, known after %.1f +- %.1f min\n",
           mean[0], half[0], mean[1], half[1]);
}

/* A barrier after every so many tasks, as "5x20" says. */
static int set_levels(const char *text)
{
    static struct bats_edge edges[2 * TASKS_MOST];
    uint32_t levels, each, n_edges = 0;

    if (sscanf(text, "%" SCNu32 "x%" SCNu32, &levels, &each) != 2 ||
        levels < 1 || levels > LEVELS_MOST || each < 1 ||
        each > TASKS_MOST / levels)
        return 2;
    set.n = levels * each;
    for (uint32_t i = 0; i < set.n; i++) {
        uint32_t joint = set.n + i / each;
        if (i / each < levels - 1)
            edges[n_edges++] = (struct bats_edge){i, joint};
        if (i / each > 0)
            edges[n_edges++] = (struct bats_edge){joint - 1, i};
    }
    return bats_graph_init(&set.graph, set.n, set.n + levels - 1, edges,
                           n_edges, NULL);
}

static int read_options(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "p:n:t:el:")) != -1) {
        if (option == 'n')
            set.noise = strtod(optarg, NULL);
        else if (option == 't')
            set.factor = strtod(optarg, NULL);
        else if (option == 'e')
            set.is_expected = true;
        else if (option == 'l' && set_levels(optarg) != 0)
            return 2;
        else if (option != 'p' && option != 'l')
            return 2;
        for (size_t i = 0; option == 'p' && i < PLATFORMS; i++)
            if (strcmp(platforms[i].name, optarg) == 0)
                set.platform = &platforms[i];
    }
    return 0;
}

int main(int argc, char **argv)
{
    int n[3] = {10, 10, 10};
    struct tally all[WAYS] = {0};
    static struct sampled s;

    if (read_options(argc, argv) != 0)
        return 2;
    for (int i = 0; i < 3 && i + optind < argc; i++)
        n[i] = atoi(argv[i + optind]);
    puts("percent of runs; left: mean tasks left of the others; of: the "
         "estimate, in units of\nwhat came true, mean; +-: 95 % over the "
         "bags; above limit: runs");
    size_t n_workloads = sizeof workloads / sizeof *workloads;
    if (set.graph.n_nodes == 0)
        n_workloads--;
    for (size_t w = 0; w < n_workloads; w++) {
        struct tally tally[OFFERS][WAYS] = {0};
        struct samples samples = {0};
        struct bats_draw draw = {0};
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        bats_draw_parse(workloads[w].draw, &draw, NULL);
        for (int b = 0; b < n[0]; b++) {
            bats_time work[TASKS_MOST];
            gsl_rng_set(rng, (unsigned long)b + 1);
            for (uint32_t i = 0; i < set.n; i++)
                work[i] = (bats_time)(set.factor *
                                      (double)bats_draw_next(&draw, rng));
            struct tally of_bag[OFFERS][WAYS] = {0};
            for (int k = 0; k < n[1]; k++) {
                sample(work, (uint64_t)k + 1, &s);
                add_sample(&samples, &s);
                run_all(work, &s, n[2], of_bag);
            }
            add_all(tally, all, of_bag);
        }
        gsl_rng_free(rng);
        print_head(workloads[w].name);
        for (int i = 0; i < OFFERS * WAYS; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s",
                     bats_offer_name(offers[i / WAYS]), ways[i % WAYS]);
            print_row(name, &tally[i / WAYS][i % WAYS]);
        }
        print_samples(&samples);
    }
    print_head("all");
    for (int way = 0; way < WAYS; way++)
        print_row(ways[way], &all[way]);
    return 0;
}
