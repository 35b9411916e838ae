/*
 * begin: the machines with which policy bats begins when no cluster is known.
 *
 * Within a budget: as many machines as there are tasks, the cheapest slots
 * first, so that every cluster that may be needed is measured at once. All
 * machines, in the order of their numbers, where charges differ by no more than
 * speeds do and so say nothing of the price of work; or where the budget does
 * not pay all of them for a window: then no order is better than that of
 * self-scheduling.
 *
 * By a deadline: a few machines of each cluster, for the same money; or all of
 * them, if the budget pays all until the deadline, for then only the time can
 * be too short.
 */
#ifndef BATS_ENGINE_BEGIN_H
#define BATS_ENGINE_BEGIN_H

#include "engine/policy/problem.h"

/* `money` is what can be spent, INFINITY without a budget. */
void begin_for_budget(const struct state *s, double money,
                      struct policy_start *start);
void begin_for_deadline(const struct state *s, struct policy_start *start);

#endif
