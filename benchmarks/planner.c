/*
 * planner: time of the planner, and of the papers' table over the price.
 *
 *   planner KIND DECIMALS CLUSTERS MACHINES INSTANCES
 *
 * Draws instances (instances.h) and solves each by bats_plan_solve, and five of
 * them, where it has at most 2^29 steps, by the table: the most rate that every
 * price per window can buy (Martello and Toth, "Knapsack Problems", 1990, 3.2),
 * then the least number of windows whose share of the budget does the bag.
 * Prints
 *
 *   MEAN MEDIAN LONGEST PROVEN TABLES MEAN MEDIAN LONGEST SAME
 *
 * milliseconds of CPU of ours, instances proven, instances that the table
 * could do, its milliseconds, and how many rates were equal to 1e-9.
 */
#include "instances.h"

#define STEPS_MAX ((double)(1 << 29))
#define TABLES_MAX 5

static int64_t common_unit(const struct instance *in)
{
    int64_t unit = 0;
    for (size_t i = 0; i < in->n; i++)
        for (int64_t a = in->items[i].charge, rest; a != 0; a = rest) {
            rest = unit % a;
            unit = a;
        }
    return unit;
}

/* best[c]: the most rate for a price of c units. */
static void fill_table(const struct instance *in, int64_t unit,
                       int64_t columns, double *best)
{
    for (size_t i = 0; i < in->n; i++) {
        int64_t left = in->items[i].max;
        for (int64_t part = 1; left > 0; part *= 2) {
            int64_t pieces = part < left ? part : left;
            int64_t price = pieces * (in->items[i].charge / unit);
            double rate = (double)pieces * in->items[i].rate;
            for (int64_t c = columns - 1; c >= price; c--)
                best[c] = fmax(best[c], best[c - price] + rate);
            left -= pieces;
        }
    }
}

/* The rate of the best plan; or, if it cannot finish the bag, minus the tasks
 * that it does; -1 if the table would be too large. */
static double solve_by_table(const struct instance *in)
{
    int64_t unit = common_unit(in), limit = in->budget / unit, columns = 1;
    double rows = 0, most = 0, answer = 0;
    for (size_t i = 0; i < in->n; i++) {
        columns += in->items[i].charge / unit * in->items[i].max;
        rows += log2(in->items[i].max) + 1;
    }
    if (columns > limit + 1)
        columns = limit + 1;
    if ((double)columns * rows > STEPS_MAX)
        return -1;
    double *best = allocate((size_t)columns, sizeof *best);
    fill_table(in, unit, columns, best);
    for (int64_t k = 1; k <= limit && answer <= 0; k++) {
        int64_t share = limit / k < columns ? limit / k : columns - 1;
        if (best[share] <= 0)
            break; /* not a single machine */
        if (bats_plan_windows(in->n_tasks, best[share]) <= k)
            answer = best[share];
        most = fmax(most, best[share] * (double)k);
    }
    free(best);
    return answer > 0 ? answer : -most;
}

int main(int argc, char **argv)
{
    enum kind kind;
    int decimals, instances, proven = 0, tables = 0, same = 0;
    size_t n;
    uint32_t machines;
    if (!read_case(argc, argv, &kind, &decimals, &n, &machines, &instances)) {
        fputs("usage: planner KIND DECIMALS CLUSTERS MACHINES INSTANCES\n",
              stderr);
        return 2;
    }
    double *ours = allocate((size_t)instances, sizeof *ours);
    double *theirs = allocate((size_t)instances, sizeof *theirs);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1);
    for (int i = 0; i < instances; i++) {
        struct instance in;
        struct bats_plan plan;
        draw_instance(rng, kind, decimals, n, machines, &in);
        double start = cpu_seconds();
        if (bats_plan_solve(in.items, n, in.n_tasks, in.budget, &plan, NULL) <
            0)
            return 1;
        double middle = cpu_seconds();
        ours[i] = middle - start;
        proven += plan.proven;
        double rate = tables < TABLES_MAX ? solve_by_table(&in) : -1;
        if (rate == -1)
            continue;
        theirs[tables++] = cpu_seconds() - middle;
        double done =
            plan.feasible ? plan.rate : -plan.rate * (double)plan.windows;
        same += fabs(done - rate) <= 1e-9 * fabs(rate);
    }
    print_times(ours, instances);
    printf(" %d %d", proven, tables);
    print_times(theirs, tables);
    printf(" %d\n", same);
    gsl_rng_free(rng);
    free(theirs);
    free(ours);
    return 0;
}
