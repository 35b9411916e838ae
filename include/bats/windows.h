/*
 * windows: which machine-windows to buy.
 *
 * Layer: plan. Used by the policy bats. Pure.
 *
 * A machine is paid by the window from its acquisition. The plan buys windows:
 * further ones of held machines, one after the other, and all windows of
 * parked ones. For an end M
 *
 *   a slot is worth   max(min(paid, M) - rest - loss, 0) rate   tasks,
 *
 * plus its running task if that ends in the paid time: `rest` is the task's
 * remaining time, `loss` the time lost at the end in the middle of a task. The
 * steps that windows add are bought in the order of tasks per money, the last
 * one in part, while the budget lasts: the relaxation of a knapsack. The plan
 * is for the smallest M at which these meet the demand, so it is never later
 * than the best selection. A machine of which the budget does not pay one
 * window has no steps.
 *
 * All times are in windows. Steps of a machine are joined where later ones are
 * better. Steps are sorted into 256 classes of tasks per money, so evaluating
 * one M takes 32 KiB and time in proportion to the held machines (of more than
 * 512, only a part is used to find M).
 */
#ifndef BATS_WINDOWS_H
#define BATS_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identical machines. */
struct bats_windows_type {
    double rate;     /* tasks per slot and window, > 0 */
    double slots;    /* per machine */
    double charge;   /* per machine and window, >= 0 */
    double loss;     /* windows */
    double delay;    /* windows until a parked one begins */
    uint32_t parked; /* machines that can be acquired */
};

/* Mean elapsed time of a running task at a random instant: half of the mean
 * length times 1 + cv^2, which is capped at 5. cv: deviation in means. */
double bats_windows_loss(double mean, double cv);

struct bats_windows_slot {
    double rest; /* remaining time of its task; 0: none */
    double size; /* size of the task, in mean tasks */
};

/* A held machine. */
struct bats_windows_machine {
    uint32_t type;
    uint32_t first_slot, n_slots; /* in the problem's list */
    double paid;                  /* windows from now, >= 0 */
    double overrun; /* whole windows beyond `paid` that its running tasks
                       need */
    bool leaves;    /* gets no more windows and begins no more tasks */
};

struct bats_windows_problem {
    const struct bats_windows_type *types;
    size_t n_types; /* 1..BATS_CLUSTERS_MAX */
    const struct bats_windows_machine *machines;
    uint32_t n_machines;
    const struct bats_windows_slot *slots;
    double demand; /* tasks left, including running ones */
    double aim;    /* an end that need not be undercut: then the cheapest plan.
                      0: the sooner the better */
};

struct bats_windows_plan {
    bool feasible;  /* false: the plan does nearly as much as possible */
    double end;     /* in: a guess of M, or 0; out: M */
    double cost;    /* <= budget */
    uint32_t *buys; /* per type: parked machines to acquire; the caller's
                       memory */
    int64_t *buys_windows; /* and windows of all of these, the last one for no
                              longer than needed; or NULL */
    int64_t *keeps;        /* per held machine: further windows; the caller's
                       memory */
};

/* The plan is for the first of n > 0 budgets >= 0 that meets the demand, or for
 * the last one; each may be INFINITY. */
void bats_windows_plan(const struct bats_windows_problem *problem,
                       const double *budgets, int n,
                       struct bats_windows_plan *plan);

/* The converse: the cheapest windows that meet the demand by `end`. Not
 * feasible: those that do most by then. */
void bats_windows_cheapest(const struct bats_windows_problem *problem,
                           double end, double budget,
                           struct bats_windows_plan *plan);

/* Cost of holding all machines until no task is left to begin, and then until
 * their running tasks end; *end: that time. */
double bats_windows_cost_of_all(const struct bats_windows_problem *problem,
                                double pending, double *end);

#endif
