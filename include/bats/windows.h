/*
 * windows: which machine-windows to buy.
 *
 * Layer: plan. Used by the policy bats. Pure.
 *
 * A machine is paid by the window, from the moment it is acquired. Bought are
 * windows: further ones of machines that are held, one after the other, and all
 * windows of machines that are not. For an end M
 *
 *   a slot is worth   max(min(paid, M) - rest - loss, 0) rate   tasks,
 *
 * and those that it runs if they end in its paid time: `rest` is how long that
 * takes, `loss` the time that is lost at the end, in the middle of a task. The
 * steps that windows add to it are bought in the order of tasks for money, the
 * last of them in part, as long as the budget lasts: the relaxation of a
 * knapsack. The plan is for the smallest M at which that is worth the demand,
 * so it is never later than the best selection. A machine of which the budget
 * does not pay one window has no steps.
 *
 * All times are in windows; a machine of which several steps would be bought
 * has them joined where they get better. Steps are sorted by 256 classes of
 * tasks for money, so that looking at one M takes time in proportion to the
 * machines that are held (of more than 512, a part of them is looked at to find
 * M), and 32 KiB.
 */
#ifndef BATS_WINDOWS_H
#define BATS_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Machines alike. */
struct bats_windows_type {
    double rate;     /* tasks that a slot does in a window, > 0 */
    double slots;    /* of a machine */
    double charge;   /* of a machine for a window, >= 0 */
    double loss;     /* windows */
    double delay;    /* windows until one of those that are parked begins */
    uint32_t parked; /* machines that could be acquired */
};

/* The time that a task looked at by chance has run: half of the mean length
 * times 1 + cv^2, which is 5 at most. `cv` is the deviation in means. */
double bats_windows_loss(double mean, double cv);

struct bats_windows_slot {
    double rest; /* until what it runs ends; 0: nothing runs */
    double size; /* tasks that this counts for: 1 if it is a mean one */
};

/* A machine that is held. */
struct bats_windows_machine {
    uint32_t type;
    uint32_t first_slot, n_slots; /* of the problem's */
    double paid;                  /* windows from now, >= 0 */
    double overrun; /* windows beyond these that all it runs needs: whole */
    bool leaves;    /* it can have no more, and begins no more tasks */
};

struct bats_windows_problem {
    const struct bats_windows_type *types;
    size_t n_types; /* 1..BATS_CLUSTERS_MAX */
    const struct bats_windows_machine *machines;
    uint32_t n_machines;
    const struct bats_windows_slot *slots;
    double demand; /* tasks that are left, those that run included */
    double aim;    /* it need not end sooner than this: what is cheapest then.
                    * 0: the sooner the better */
};

struct bats_windows_plan {
    bool feasible;  /* else: what does nearly as much as can be done */
    double end;     /* M; before, a guess of it, or 0 */
    double cost;    /* <= budget */
    uint32_t *buys; /* per type: parked machines; the caller's memory */
    int64_t *buys_windows; /* and windows of all of these, the last one for no
                              longer than it is needed; or NULL */
    int64_t *keeps; /* per held machine: windows; the same */
};

/* `budget` >= 0 may be INFINITY; `reserve` of it is put by, unless the plan
 * needs that. */
void bats_windows_plan(const struct bats_windows_problem *problem,
                       double budget, double reserve,
                       struct bats_windows_plan *plan);

/* The other way round: the windows that do the demand until `end` for least
 * money. Not feasible: what does most until then. */
void bats_windows_cheapest(const struct bats_windows_problem *problem,
                           double end, double budget,
                           struct bats_windows_plan *plan);

/* enough[i]: the budget pays for windows that do the demand until `end` though
 * parked machines begin later[i] windows later than they can; n of these. */
void bats_windows_suffice(const struct bats_windows_problem *problem,
                          double end, double budget, const double *later,
                          size_t n, bool *enough);

/* The cost of holding all machines until no task is left to begin, and then
 * until what they run ends; *end: when that is. */
double bats_windows_cost_of_all(const struct bats_windows_problem *problem,
                                double pending, double *end);

#endif
