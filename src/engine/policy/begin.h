/*
 * begin: the machines with which policy bats begins when no cluster is known.
 *
 * Within a budget: as many machines as there are tasks, the cheapest slots
 * first, as far as the money goes for a window. Where charges differ by no more
 * than speeds do, they say nothing of the price of work; and where the money is
 * short, no order is better than that of self-scheduling: then all machines,
 * in the order of their numbers. If the budget pays hours of each task on the
 * cheapest slots, tasks may be long, and a window of all machines is gone before
 * one has ended: then clusters that charge much more wait for the first plan.
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
