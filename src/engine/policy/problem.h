/*
 * problem: what is known of clusters and of what runs, as the problem of
 * machine-windows (bats/windows.h) that policy bats solves.
 *
 *   T     = (sum of tau_e over running tasks + rt_done) / (running + done)
 *   tau_e = tau + (sum of (x - tau) over the k runtimes x > tau of the sample
 *           + cv mean of what is done) / (k + 1)
 *   loss  = T (1 + cv^2) / 2: what a task that is looked at by chance has run
 *
 * with cv = forecast_spread(). Source of T: paper 2.1. Its tau_e where no x is
 * longer, tau + T, would say of the last of many equal tasks that it has only
 * begun, and T would grow with every look.
 */
#ifndef BATS_ENGINE_PROBLEM_H
#define BATS_ENGINE_PROBLEM_H

#include "bats/windows.h"
#include "engine/policy/policy.h"

struct problem {
    struct bats_windows_problem is; /* its arrays are these: */
    struct bats_windows_type types[BATS_CLUSTERS_MAX];
    struct bats_windows_machine *machines; /* as many as the state has */
    struct bats_windows_slot *slots;
    double longest[BATS_CLUSTERS_MAX]; /* that was seen, microseconds */
    double chain; /* with levels: as in the estimator */
    struct bats_levels levels; /* of the tasks left, if there is an aim;
                                * empty without dependencies */
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX]; /* with dependencies */
    double *sample;                                   /* room */
    double cv;     /* of the runtimes, in units of their cluster's mean */
    double q;      /* with a deadline: see deadline.h; 0: not known yet */
    double longer; /* expected runtime on a cluster without results, in
                    * multiples of the longest elapsed time */
};

/* BATS_ENOMEM; to be released in any case. */
int problem_init(struct problem *p, const struct state *s);
void problem_release(struct problem *p);

/* Builds the problem from the current state. all: assume every machine will
 * join. */
void problem_make(struct problem *p, const struct state *s, bool all);

/* A result: the longest that was seen of a cluster. */
void problem_note(struct problem *p, const struct state *s,
                  const struct occasion *why);

/* Tasks that all machines, or those of the plan until its end, could do while
 * slots wait for the end of a level (bats/estimate.h). They add to the demand;
 * is.demand does not contain them yet. */
double problem_waits_of_all(const struct problem *p);
double problem_waits(const struct problem *p,
                     const struct bats_windows_plan *plan);

/* Tasks that do not run; and their work, in mean tasks. */
double problem_pending(const struct state *s);
double problem_work(const struct state *s);

/* Results of all clusters. */
uint32_t problem_results(const struct state *s);

/* Time until the time limit; INFINITY without one. */
double problem_windows_left(const struct state *s);

#endif
