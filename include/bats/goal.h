/*
 * goal: what a run is to achieve within its budget.
 *
 * Layer: plan. Used by the engine's policies, and by all who ask for a goal or
 * report on it. A deadline is a promise to somebody, not a limit: a bag that
 * is late is still done, as soon as the budget allows. (What ends a run is its
 * time limit, struct bats_sched_rules.)
 *
 *   time   end as soon as the budget allows; the deadline only says whether
 *          that is soon enough
 *   cost   end by the deadline for as little money as possible
 */
#ifndef BATS_GOAL_H
#define BATS_GOAL_H

#include <stdbool.h>

#include "bats/units.h"

enum bats_minimize { BATS_MINIMIZE_TIME, BATS_MINIMIZE_COST };

struct bats_goal {
    bats_time deadline; /* virtual time from the start of the run; 0: none */
    enum bats_minimize minimize; /* COST needs a deadline */
    double confidence; /* with which the bag is to be done by then, 0.5 to < 1;
                          0: 0.9 */
};

/* Finds the aim of that name: true and *minimize, else false. */
bool bats_minimize_find(const char *name, enum bats_minimize *minimize);

#endif
