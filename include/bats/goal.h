/*
 * goal: what a run should achieve within its budget.
 *
 * Layer: plan. Used by the engine's policies, and wherever a goal is read or
 * reported. A deadline is a promise, not a limit: a late bag is still
 * completed as soon as the budget allows. (Only the time limit, in struct
 * bats_sched_rules, ends a run.)
 *
 *   time   end as soon as the budget allows; the deadline only says whether
 *          that is soon enough
 *   cost   end by the deadline, if there is one, for as little money as
 *          possible
 */
#ifndef BATS_GOAL_H
#define BATS_GOAL_H

#include <stdbool.h>

#include "bats/units.h"

enum bats_minimize { BATS_MINIMIZE_TIME, BATS_MINIMIZE_COST };

struct bats_goal {
    bats_time deadline; /* virtual time from the start of the run; 0: none */
    enum bats_minimize minimize; /* COST needs a deadline, or leases */
    double confidence; /* probability of meeting the deadline, 0.5 to < 1; 0:
                          0.9 */
};

/* Finds the aim of that name. False: there is none. */
bool bats_minimize_find(const char *name, enum bats_minimize *minimize);

#endif
