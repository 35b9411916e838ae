/*
 * runs: what policies make of real bags, and of the scoreboard's.
 *
 *   runs [-p POLICY,...] [-k PART/PARTS] [-n BAGS] [-g PLATFORMS] [-d] [-i]
 *       [-w] SET...
 *
 * A SET is
 *
 *   FILE           bags that were measured, a line each: NAME<tab>SECONDS,...
 *   drawn=N        N bags as they may be: 30 to 600 tasks whose mean is 10 s
 *                  to 40 h, lognormal or of two kinds
 *   scoreboard=N   the bags of scoreboard.sh with the seeds 1 to N
 *
 * Real and drawn bags run on PLATFORMS (default 4) random platforms each: 2 to
 * 4 clusters of 4 to 40 machines, charges 1 to 12, speeds 1/2 to 4; every
 * fourth platform has machines of several slots that take time to start up.
 * Budgets: minimum+25 %, minimum+50 %, fastest, and what rr costs without one.
 * PART/PARTS: only every PARTS-th bag, from PART on; -PART/PARTS: only the
 * others. One line per run; report.awk makes a table of them:
 *
 *   SET,BAG,PLATFORM,BUDGET,POLICY,UNDONE,MAKESPAN,CHARGED,BOUND,AMOUNT,CPU
 *
 * -d: with deadlines, of 1 to 3 times the soonest end that the clairvoyant can
 * reach, and budgets of 1 to 3 times the least that the deadline costs him; as
 * little money as possible is to be spent. BUDGET is then DEADLINExBUDGET, and
 * two more columns follow: DEADLINE,LEAST. -i: the runtimes are known. -w: no
 * policy runs; a line says whether there is a schedule of whole tasks (whole.h)
 * within the budget, and what it costs.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bats/policy.h"
#include "least.h"
#include "sim/world.h"
#include "whole.h"

static struct {
    const struct bats_policy *policies[BATS_SCENARIO_POLICIES];
    size_t n_policies;
    long part, parts, most;
    bool deadlines, informed, whole;
    long platforms;
} set = {.parts = 1, .most = 1000000, .platforms = 4};

static void fail(const char *text)
{
    fprintf(stderr, "runs: %s\n", text);
    exit(1);
}

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- platforms ---- */

static void make_machines(struct bats_scenario *s, const uint32_t *slots)
{
    struct bats_platform *p = &s->platform;
    p->n_machines = 0;
    for (size_t i = 0; i < p->n_clusters; i++)
        p->n_machines += p->clusters[i].max;
    p->machines = allocate(p->n_machines, sizeof *p->machines);
    uint32_t id = 0;
    for (uint32_t i = 0; i < p->n_clusters; i++)
        for (uint32_t k = 0; k < p->clusters[i].max; k++)
            p->machines[id++] =
                (struct bats_machine_spec){i, slots ? slots[i] : 1};
}

static void random_platform(struct bats_scenario *s, unsigned long seed,
                            long which)
{
    struct bats_platform *p = &s->platform;
    uint32_t slots[BATS_CLUSTERS_MAX];
    bool rich = which % 4 == 3;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1 + seed * 1000 + (unsigned long)which);
    p->n_clusters = 2 + gsl_rng_uniform_int(rng, 3);
    for (size_t i = 0; i < p->n_clusters; i++) {
        struct bats_cluster *c = &p->clusters[i];
        snprintf(c->name, sizeof c->name, "c%zu", i);
        c->max = (uint32_t)(4 * exp(gsl_rng_uniform(rng) * log(10)));
        c->charge = BATS_UNIT * (1 + (bats_money)gsl_rng_uniform_int(rng, 12));
        p->speed[i] = round(4 * 0.5 * exp(gsl_rng_uniform(rng) * log(8))) / 4;
        slots[i] = rich ? 1u << gsl_rng_uniform_int(rng, 3) : 1;
        s->startup[i] =
            rich ? BATS_SECOND * (bats_time)gsl_rng_uniform_int(rng, 180) : 0;
    }
    gsl_rng_free(rng);
    make_machines(s, slots);
}

struct names {
    const char *set, *bag, *platform;
};

/* Every policy with one budget. */
static void play_budget(const struct bats_scenario *s,
                        const struct names *names, struct bats_world *world,
                        uint32_t budget, double least)
{
    struct bats_error err;
    for (uint32_t p = 0; p < s->n_policies; p++) {
        struct bats_world_result r;
        double start = cpu_seconds();
        if (bats_world_run(world, p, budget, NULL, &r, &err) < 0)
            fail(err.text);
        if (r.violations > 0)
            fail("the budget was exceeded");
        printf("%s,%s,%s-%u,%s,%s,%u,%.3f,%.3f,%.3f,%.3f,%.6f", names->set,
               names->bag, names->platform, r.seed, s->budgets[budget].text,
               bats_policy_name(s->policies[p]), r.undone,
               1e-6 * (double)r.makespan, 1e-6 * (double)r.charged,
               1e-6 * r.bound, 1e-6 * (double)r.amount, cpu_seconds() - start);
        if (set.deadlines)
            printf(",%.3f,%.3f", 1e-6 * (double)s->engine.goal.deadline,
                   1e-6 * least);
        putchar('\n');
    }
}

/* The line of a schedule of whole tasks. */
static void print_whole(const struct bats_scenario *s,
                        const struct names *names, uint32_t seed,
                        const struct bats_scenario_budget *budget, double cost,
                        double least)
{
    bool is_paid = cost <= (double)budget->amount;
    double end = 1e-6 * (double)s->engine.goal.deadline;
    printf("%s,%s,%s-%u,%s,whole,%u,%.3f,%.3f,0,%.3f,0,%.3f,%.3f\n",
           names->set, names->bag, names->platform, seed, budget->text,
           is_paid ? 0 : s->n_tasks, end, is_paid ? 1e-6 * cost : 0,
           1e-6 * (double)budget->amount, end, 1e-6 * least);
}

static void play_deadlines(struct bats_scenario *s, const struct names *names,
                           struct bats_world *world, size_t seed)
{
    static const char *const factors[] = {"1", "1.25", "1.5", "2", "3"};
    static const char *const budgets[] = {"1", "1.25", "1.5", "3"};
    struct bats_error err;
    double soonest, least = 0, whole = 0;
    bats_time *work = allocate(s->n_tasks, sizeof *work);
    s->n_budgets = 0;
    if (bats_bound(bats_world_problem(world), BATS_UNLIMITED, &soonest, &err) <
        0)
        fail(err.text);
    memcpy(work, bats_world_work(world), s->n_tasks * sizeof *work);
    for (size_t d = 0; d < 5; d++)
        for (size_t b = 0; b < 4; b++) {
            struct bats_scenario_budget *budget = &s->budgets[s->n_budgets];
            s->engine.goal = (struct bats_goal){
                .deadline = (bats_time)ceil(
                    1.000001 * strtod(factors[d], NULL) * soonest),
                .minimize = BATS_MINIMIZE_COST};
            if (least_cost(bats_world_problem(world), s->engine.goal.deadline,
                           &least, &err))
                fail(err.text);
            if (!isfinite(least))
                continue; /* microseconds are too coarse for this bag */
            budget->base = BATS_BUDGET_AMOUNT;
            budget->amount =
                (bats_money)ceil(strtod(budgets[b], NULL) * least);
            snprintf(budget->text, sizeof budget->text, "%.5sx%.5s",
                     factors[d], budgets[b]);
            if (set.whole && b == 0)
                whole = whole_cost(s, work);
            if (set.whole)
                print_whole(s, names, s->seeds[seed], budget, whole, least);
            else
                play_budget(s, names, world, (uint32_t)s->n_budgets++, least);
        }
    free(work);
}

static void play(struct bats_scenario *s, const char *name, const char *bag,
                 const char *platform)
{
    const struct names names = {name, bag, platform};
    struct bats_world *world;
    struct bats_error err;
    memcpy(s->policies, set.policies, sizeof s->policies);
    s->n_policies = set.n_policies;
    s->informed = set.informed;
    for (size_t seed = 0; seed < s->n_seeds; seed++) {
        if (bats_world_create(s, seed, 0, &world, &err) < 0)
            fail(err.text);
        if (set.deadlines)
            play_deadlines(s, &names, world, seed);
        for (uint32_t b = 0; !set.deadlines && b < s->n_budgets; b++)
            play_budget(s, &names, world, b, 0);
        bats_world_destroy(world);
    }
    free(s->platform.machines);
}

/* ---- real and drawn bags ---- */

static bool is_out(long number)
{
    bool in = number % set.parts == labs(set.part) % set.parts;
    return (set.part < 0 ? in : !in) || set.most <= 0;
}

static void play_bag(const char *name, const char *bag, bats_time *runtimes,
                     uint32_t n, long number)
{
    static uint32_t one = 1;
    if (set.parts > 1 && is_out(number))
        return;
    if (set.most-- <= 0)
        return;
    for (long k = 0; k < set.platforms; k++) {
        char platform[24];
        struct bats_scenario s = {
            .platform = {.window = BATS_HOUR},
            .n_tasks = n,
            .measured = runtimes,
            .as_measured = true,
            .budgets = {{"minimum+25%", BATS_BUDGET_MINIMUM, 0, 1.25},
                        {"minimum+50%", BATS_BUDGET_MINIMUM, 0, 1.5},
                        {"fastest", BATS_BUDGET_FASTEST, 0, 1},
                        {"rr", BATS_BUDGET_RR, 0, 1}},
            .n_budgets = 4,
            .seeds = &one,
            .n_seeds = 1,
            .repeats = 1,
            .engine.tail = BATS_TAIL_DEFAULT};
        random_platform(&s, (unsigned long)number, k);
        snprintf(platform, sizeof platform, "%ld", k);
        play(&s, name, bag, platform);
    }
}

static void play_file(const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL, *name = strrchr(path, '/');
    size_t size = 0;
    long number = 0;
    if (!in)
        fail("cannot read the bags");
    name = name ? name + 1 : (char *)path;
    while (getline(&line, &size, in) > 0) {
        char *at = strchr(line, '\t');
        uint32_t n = 0;
        if (line[0] == '#' || !at)
            continue;
        bats_time *runtimes = allocate(strlen(at), sizeof *runtimes);
        *at++ = '\0';
        for (char *end = at; *end != '\n' && *end != '\0'; at = end + 1)
            runtimes[n++] =
                (bats_time)(strtod(at, &end) * (double)BATS_SECOND + 0.5);
        play_bag(name, line, runtimes, n, number++);
        free(runtimes);
    }
    free(line);
    fclose(in);
}

static double lognormal(gsl_rng *rng, double mean, double cv)
{
    double variance = log1p(cv * cv);
    return gsl_ran_lognormal(rng, log(mean) - variance / 2, sqrt(variance));
}

static void play_drawn(long n_bags)
{
    for (long i = 0; i < n_bags; i++) {
        char bag[32];
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(rng, 7000 + (unsigned long)i);
        uint32_t n = (uint32_t)(30 * exp(gsl_rng_uniform(rng) * log(20)));
        double mean = 10 * exp(gsl_rng_uniform(rng) * log(14400));
        double cv = 0.05 * exp(gsl_rng_uniform(rng) * log(30));
        bool two = gsl_rng_uniform(rng) < 0.3;
        double share = 0.1 + 0.8 * gsl_rng_uniform(rng);
        bats_time *runtimes = allocate(n, sizeof *runtimes);
        for (uint32_t k = 0; k < n; k++) {
            double m = !two                           ? mean
                       : gsl_rng_uniform(rng) < share ? mean / 50
                                                      : mean / (1 - share);
            double time = lognormal(rng, m, two ? 0.2 : cv);
            runtimes[k] = (bats_time)(fmax(time, 0.01) * (double)BATS_SECOND);
        }
        gsl_rng_free(rng);
        snprintf(bag, sizeof bag, "%ld", i);
        play_bag("drawn", bag, runtimes, n, i);
        free(runtimes);
    }
}

/* ---- the scoreboard ---- */

static void play_scoreboard(long n_seeds)
{
    static const struct {
        const char *name;
        bats_money charge;
        double speed;
    } scenarios[] = {{"S1-1", 3, 1},
                     {"S1-4", 3, 4},
                     {"S4-1", 12, 1},
                     {"S3-4", 9, 4},
                     {"S4-3", 12, 3}};
    static const char *const runtimes[] = {"normal 15m 2.2360680m",
                                           "levy 12m 45m", "mixture"};
    uint32_t *seeds = allocate((size_t)n_seeds, sizeof *seeds);
    struct bats_error err;
    for (long i = 0; i < n_seeds; i++)
        seeds[i] = (uint32_t)i + 1;
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 3; k++) {
            struct bats_scenario s = {
                .platform = {.window = BATS_HOUR,
                             .n_clusters = 2,
                             .clusters = {{.name = "cluster0",
                                           .charge = 3 * BATS_UNIT,
                                           .max = 32},
                                          {.name = "cluster1",
                                           .charge =
                                               scenarios[i].charge * BATS_UNIT,
                                           .max = 32}},
                             .speed = {1, scenarios[i].speed}},
                .n_tasks = 1000,
                .budgets = {{"minimum", BATS_BUDGET_MINIMUM, 0, 1},
                            {"minimum+10%", BATS_BUDGET_MINIMUM, 0, 1.1},
                            {"minimum+20%", BATS_BUDGET_MINIMUM, 0, 1.2},
                            {"fastest-20%", BATS_BUDGET_FASTEST, 0, 0.8},
                            {"fastest-10%", BATS_BUDGET_FASTEST, 0, 0.9},
                            {"fastest", BATS_BUDGET_FASTEST, 0, 1}},
                .n_budgets = 6,
                .seeds = seeds,
                .n_seeds = (size_t)n_seeds,
                .repeats = 1,
                .engine.tail = BATS_TAIL_DEFAULT};
            char word[16];
            if (bats_draw_parse(runtimes[k], &s.runtime, &err) < 0)
                fail(err.text);
            make_machines(&s, NULL);
            sscanf(runtimes[k], "%15s", word);
            play(&s, "scoreboard", word, scenarios[i].name);
        }
    free(seeds);
}

static void add_policies(char *names)
{
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const struct bats_policy *policy = bats_policy_find(name);
        if (!policy || set.n_policies == BATS_SCENARIO_POLICIES)
            fail("no such policy, or too many");
        set.policies[set.n_policies++] = policy;
    }
}

int main(int argc, char **argv)
{
    char usual[] = "rr,bkp,bats";
    int option;
    while ((option = getopt(argc, argv, "p:k:n:g:diw")) != -1) {
        if (option == 'p')
            add_policies(optarg);
        else if (option == 'k')
            sscanf(optarg, "%ld/%ld", &set.part, &set.parts);
        else if (option == 'n')
            set.most = strtol(optarg, NULL, 10);
        else if (option == 'g')
            set.platforms = strtol(optarg, NULL, 10);
        else if (option == 'd')
            set.deadlines = true;
        else if (option == 'i')
            set.informed = true;
        else if (option == 'w')
            set.deadlines = set.whole = true;
        else
            return 2;
    }
    if (set.n_policies == 0)
        add_policies(usual);
    for (int i = optind; i < argc; i++) {
        if (strncmp(argv[i], "drawn=", 6) == 0)
            play_drawn(strtol(argv[i] + 6, NULL, 10));
        else if (strncmp(argv[i], "scoreboard=", 11) == 0)
            play_scoreboard(strtol(argv[i] + 11, NULL, 10));
        else
            play_file(argv[i]);
    }
    return 0;
}
