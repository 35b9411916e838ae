/*
 * windows: how long a plan of machine-windows takes.
 *
 *   windows [PLANS]
 *
 * 16 clusters of 4,096 machines, charges 1 to 16, speeds 1/2 to 4. First all of
 * them are parked; then all are held, in windows that end at different times,
 * and run a task each; a quarter of what they would cost until the bag is empty
 * is the budget. Prints the milliseconds of CPU per plan, mean and longest.
 */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bats/cluster.h"
#include "bats/windows.h"
#include "workload.h"

#define TYPES 16
#define MACHINES 4096

static struct bats_windows_type types[TYPES];
static struct bats_windows_machine machines[TYPES * MACHINES];
static struct bats_windows_slot slots[TYPES * MACHINES];
static int64_t keeps[TYPES * MACHINES];

static void draw(gsl_rng *rng, struct bats_windows_problem *p, bool are_held)
{
    *p = (struct bats_windows_problem){.types = types,
                                       .n_types = TYPES,
                                       .machines = machines,
                                       .slots = slots,
                                       .demand = 20 * TYPES * MACHINES};
    for (uint32_t i = 0; i < TYPES; i++) {
        double rate = 2 * exp(gsl_rng_uniform(rng) * log(8));
        types[i] = (struct bats_windows_type){
            .rate = rate,
            .slots = 1,
            .charge = 1 + (double)gsl_rng_uniform_int(rng, 16),
            .loss = 0.6 / rate,
            .parked = are_held ? 0 : MACHINES};
        for (uint32_t k = 0; k < MACHINES && are_held; k++) {
            uint32_t id = p->n_machines++;
            slots[id].rest = gsl_rng_uniform(rng) / rate;
            slots[id].size = 1;
            machines[id] =
                (struct bats_windows_machine){.type = i,
                                              .first_slot = id,
                                              .n_slots = 1,
                                              .paid = gsl_rng_uniform(rng)};
            double over = slots[id].rest - machines[id].paid;
            machines[id].overrun = over > 0 ? ceil(over) : 0;
        }
    }
}

static void measure(const char *name, bool are_held, long plans)
{
    uint32_t buys[TYPES];
    double sum = 0, longest = 0, end;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (long i = 1; i <= plans; i++) {
        struct bats_windows_problem p;
        struct bats_windows_plan plan = {.buys = buys, .keeps = keeps};
        gsl_rng_set(rng, (unsigned long)i);
        draw(rng, &p, are_held);
        double all = bats_windows_cost_of_all(&p, p.demand, &end);
        double start = cpu_seconds();
        bats_windows_plan(&p, &(double){all / 4}, 1, &plan);
        double took = cpu_seconds() - start;
        sum += took;
        longest = fmax(longest, took);
    }
    gsl_rng_free(rng);
    printf("%s %.3f %.3f\n", name, 1e3 * sum / (double)plans, 1e3 * longest);
}

int main(int argc, char **argv)
{
    long plans = argc > 1 ? strtol(argv[1], NULL, 10) : 30;
    measure("parked", false, plans);
    measure("held", true, plans);
    return 0;
}
