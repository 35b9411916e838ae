/*
 * Section 5 of Buyya, Murshed, Abramson, Venugopal, "Scheduling parameter sweep
 * applications on global Grids" (2005), simulated: the 11 resources of table I,
 * 200 tasks of 10,000 MI and up to 10 % more, deadlines of 100 to 3,600 units
 * in steps of 500, budgets of 5,000 to 22,000 in steps of 1,000. Use is
 * charged; a task is expected to have 10,500 MI, as the paper's broker knows
 * its tasks.
 *
 *   build/bench/dbc/grid BAGS [POLICY...]
 *
 * A row of tab-separated values for each policy, deadline and budget, means
 * over the bags: tasks done, time, money, tasks done on R0 ... R10, and runs in
 * which a budget was exceeded or a task ended after the deadline.
 */
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_rng.h>

#include "bats/policy.h"
#include "bats/status.h"
#include "sim/sim.h"

#define TASKS 200
#define RESOURCES 11
#define MACHINES 68
#define EXPECTED_MI 10500

/* Table I: processing elements, MIPS, price per element and unit of time. */
static const struct {
    uint32_t machines;
    double mips;
    bats_money price;
} table[RESOURCES] = {{4, 515, 8}, {4, 377, 4}, {4, 377, 3},  {2, 377, 3},
                      {2, 380, 1}, {6, 410, 5}, {16, 410, 5}, {16, 410, 4},
                      {2, 380, 1}, {4, 410, 6}, {8, 377, 3}};

struct sums {
    double done, time, money, by_resource[RESOURCES];
    uint32_t exceeded, late;
};

struct run {
    struct bats_machine_spec machines[MACHINES];
    struct sums *sums;
    bats_time deadline;
    bool is_late;
};

static void count(void *context, bats_time now, const struct bats_event *e)
{
    struct run *r = context;
    if (e->type != BATS_EVENT_DONE)
        return;
    r->sums->by_resource[r->machines[e->machine].cluster]++;
    r->is_late |= now > r->deadline;
}

static void play(const struct bats_policy *policy, unsigned long seed,
                 bats_time deadline, bats_money budget, struct sums *sums)
{
    struct run r = {.sums = sums, .deadline = deadline};
    struct bats_cluster clusters[RESOURCES] = {{.charge = 0}};
    bats_time expected[RESOURCES], work[TASKS], makespan;
    double speed[RESOURCES];
    struct bats_sched_status status;
    struct bats_sched *s;
    struct bats_error err;
    uint32_t n = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (int i = 0; i < TASKS; i++) /* at a MIPS: a second for each MI */
        work[i] = (bats_time)((10000 + 1000 * gsl_rng_uniform(rng)) *
                              (double)BATS_SECOND);
    gsl_rng_free(rng);
    for (uint32_t i = 0; i < RESOURCES; i++) {
        clusters[i].charge = table[i].price * BATS_UNIT;
        clusters[i].max = table[i].machines;
        speed[i] = table[i].mips;
        expected[i] =
            (bats_time)(EXPECTED_MI * (double)BATS_SECOND / table[i].mips);
        for (uint32_t m = 0; m < table[i].machines; m++)
            r.machines[n++] = (struct bats_machine_spec){i, 1};
    }
    const struct bats_sim_options o = {
        .sched = {.policy = policy,
                  .n_tasks = TASKS,
                  .clusters = clusters,
                  .n_clusters = RESOURCES,
                  .expected = expected,
                  .machines = r.machines,
                  .n_machines = MACHINES,
                  .window = BATS_SECOND,
                  .monitor_interval = 10 * BATS_SECOND,
                  .budget = budget,
                  .goal.deadline = deadline,
                  .billing.model = BATS_BILLING_USE,
                  .seed = seed},
        .work = work,
        .speed = speed,
        .watch.on_event = count,
        .watch.context = &r};
    if (bats_sim_run(&o, &s, &makespan, &err) < 0) {
        fprintf(stderr, "grid: %s\n", err.text);
        exit(1);
    }
    bats_sched_status(s, &status);
    sums->done += status.done;
    sums->time += (double)makespan / (double)BATS_SECOND;
    sums->money += (double)status.charged / (double)BATS_UNIT;
    sums->exceeded += status.charged > budget;
    sums->late += r.is_late;
    bats_sched_destroy(s);
}

int main(int argc, char **argv)
{
    unsigned long bags = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (bags == 0) {
        fprintf(stderr, "usage: grid BAGS POLICY...\n");
        return 2;
    }
    for (int p = 2; p < argc; p++) {
        const struct bats_policy *policy = bats_policy_find(argv[p]);
        for (int d = 100; policy && d <= 3600; d += 500)
            for (int b = 5000; b <= 22000; b += 1000) {
                struct sums s = {.done = 0};
                double n = (double)bags;
                for (unsigned long seed = 1; seed <= bags; seed++)
                    play(policy, seed, d * BATS_SECOND, b * BATS_UNIT, &s);
                printf("%s\t%d\t%d\t%.1f\t%.1f\t%.1f", argv[p], d, b,
                       s.done / n, s.time / n, s.money / n);
                for (int i = 0; i < RESOURCES; i++)
                    printf("\t%.1f", s.by_resource[i] / n);
                printf("\t%u\t%u\n", s.exceeded, s.late);
            }
    }
    return 0;
}
