/*
 * plans: the schedules of each set of rules (enum bats_plans), for estimate.c.
 */
#ifndef BATS_ESTIMATE_PLANS_H
#define BATS_ESTIMATE_PLANS_H

#include "bats/estimate.h"

#define TOLERANCE 1e-9 /* of floor and ceiling, as in plan.h */

/* ---- configurations.c: as in bats/estimate.h, but they refuse nothing. If the
 * budget is too small, the schedule is not feasible; if the deadline is too
 * early, it is the fastest one ---- */

int configurations_offer(const struct bats_estimator *e,
                         struct bats_schedule schedules[BATS_OFFERS],
                         size_t *n, struct bats_error *err);
int configurations_for_budget(const struct bats_estimator *e,
                              bats_money budget,
                              struct bats_schedule *schedule,
                              struct bats_error *err);
int configurations_for_deadline(const struct bats_estimator *e,
                                double deadline,
                                struct bats_schedule *schedule,
                                struct bats_error *err);
int configurations_least_budget(const struct bats_estimator *e,
                                bats_money *budget, struct bats_error *err);
int configurations_frontier(const struct bats_estimator *e,
                            struct bats_schedule **schedules, size_t *n,
                            bool *complete, struct bats_error *err);

/* ---- machine_windows.c, allocation.c ---- */

/* A schedule's cost and end. */
struct end {
    double aim;  /* for machine-windows: M; 0: the sooner the better */
    double time; /* E(M), microseconds */
    double cost;
    uint32_t machines[BATS_CLUSTERS_MAX]; /* for an allocation */
};

struct ends {
    struct end *points;
    size_t n, capacity;
};

/* Functions for one kind of plans. Some cluster has known runtimes. */
struct planner {
    /* Adds all ends that may be useful, in any order. */
    int (*find)(const struct bats_estimator *e, struct ends *ends,
                struct bats_error *err);
    int (*make)(const struct bats_estimator *e, const struct end *end,
                enum bats_offer offer, struct bats_schedule *schedule,
                struct bats_error *err);
};

extern const struct planner planner_of_windows, planner_of_allocation;

/* ---- plans.c ---- */

/* Prediction for these slots of each cluster, which begin `later`
 * (microseconds); or for machines from now on. */
struct bats_prediction estimate_makespan(const struct bats_estimator *e,
                                         const double *slots, double later);
struct bats_prediction estimate_machines(const struct bats_estimator *e,
                                         const uint32_t *machines);

/* Largest number of tasks that can run at the same time. */
double estimate_widest(const struct bats_estimator *e);

int ends_add(struct ends *ends, const struct end *end, struct bats_error *err);

/* Tasks at a time on a machine of cluster i. */
static inline double estimate_slots(const struct bats_estimator *e, size_t i)
{
    return e->slots ? e->slots[i] : 1;
}

/* Machines of cluster i with work if so many tasks run at a time. */
uint32_t estimate_most(const struct bats_estimator *e, size_t i, double tasks);

/* BATS_EINPUT: no runtimes are known. */
int estimate_check(const struct bats_estimator *e, struct bats_error *err);

/* Every cluster with machines was sampled. */
bool estimate_is_bounded(const struct bats_estimator *e,
                         const uint32_t *machines);

/* A cost as money; BATS_UNLIMITED if it does not fit. */
bats_money estimate_money(double cost);

#endif
