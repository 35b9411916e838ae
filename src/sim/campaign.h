/*
 * campaign: all runs of a scenario, on several threads, and their summaries.
 *
 * Layer: sim. Used by the verb simulate. The engine has no global variables,
 * so worlds can be played in parallel; the results are in the order of seed,
 * repeat, budget and policy, whatever the number of threads.
 */
#ifndef BATS_CAMPAIGN_H
#define BATS_CAMPAIGN_H

#include "sim/world.h"

/* Runs everything on `jobs` >= 1 threads. The caller frees *results (*n
 * entries). Errors: the first failing world's; BATS_ENOMEM, BATS_ESYS (no
 * threads). */
int bats_campaign_run(const struct bats_scenario *scenario, unsigned jobs,
                      struct bats_world_result **results, size_t *n,
                      struct bats_error *err);

/* The results of one policy and one budget. */
struct bats_campaign_summary {
    size_t runs;
    size_t complete;     /* runs that completed the bag */
    double amount;       /* mean budget; INFINITY: unlimited */
    double charged;      /* mean, over all runs */
    bats_money most;     /* charged by any run */
    double undone;       /* mean of the tasks left, over the other runs */
    uint64_t violations; /* in all runs */
    double reconfigured; /* mean reconfigurations */
    /* Over the complete runs, microseconds; 0 if there is none. */
    double mean, median;
    double margin; /* half the 95 % confidence interval of the mean (Student's
                      t); 0 for a single run */
    bats_time worst;
    /* Over the complete runs, makespan / bound. */
    double mean_ratio, worst_ratio;
};

/* BATS_ENOMEM. */
int bats_campaign_summarise(const struct bats_world_result *results, size_t n,
                            uint32_t policy, uint32_t budget,
                            struct bats_campaign_summary *summary,
                            struct bats_error *err);

#endif
