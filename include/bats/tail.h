/*
 * tail: how idle machines replicate the last tasks of a bag.
 *
 * Layer: engine. Towards the end the bag is empty: machines are idle but paid
 * until the end of their window, and the run waits for a few long tasks on
 * slow machines. Idle machines then run replicas of these tasks. The first
 * execution that succeeds gives the result; the others are stopped. Source:
 * Oprescu's thesis, chapter 5.
 *
 * A replica costs nothing: it runs inside a paid window, and no window is
 * entered for it. Once the other executions of its task were lost or stopped,
 * it is a task like any other. When the engine decides whether a machine with
 * such a task enters another window, it stops the other executions in favour
 * of a replica that is expected to end first, if that costs no more than the
 * original.
 *
 * The regression of the sampling phase (regression.h) converts runtimes from
 * one cluster to another; without one they are proportional to the mean
 * results of each cluster. All results, converted to one cluster, form the
 * histogram of the bag (5.1). A task that has run for tau (on the machine
 * where this is longest) is expected to take
 *
 *   t = E[T | T > tau], or tau + E[T] if no task took longer.
 *
 * A task is a candidate for an idle machine if its remaining time, on the
 * machine that is expected to end it first, exceeds the t of the idle machine.
 * The candidate with the most remaining time is replicated.
 *
 *   none               no replicas.
 *   random             any task that runs on slower machines only.
 *   stochastic         as above.
 *   stochastic-random  stochastic; without a candidate, random.
 *   migrate            stochastic. Before that, once at most a sample's number
 *                      of tasks is left in the bag, a machine that asks for
 *                      work takes over a candidate, whose first execution is
 *                      stopped.
 *   perfect            stochastic with the true runtimes, which only a
 *                      simulator knows.
 *   soonest            ours: stochastic-random with three further rules.
 *
 * The rules of `soonest`:
 *
 * - An execution that has run for a monitoring interval and twice as long as
 *   any other task is stuck. It is not expected to end: a replica of its task,
 *   even on a machine that is no faster, counts as a new task. At the end of
 *   its window a stuck execution counts by its elapsed time and is not
 *   stopped.
 * - On a cluster without results, an execution is expected to take as long
 *   again as it has run. (The first results of a slow cluster come late.) The
 *   other strategies ignore its task.
 * - A machine that found no candidate is asked again at the next monitoring
 *   interval, when a running task loses an execution, or when a task takes
 *   longer than any before. A look at the running tasks holds for 3 % of the
 *   longest runtime.
 *
 * An event looks at no more than 192 running tasks (the others follow with the
 * next events) and at no more than 64 idle slots in vain, so its cost does not
 * grow with the number of machines.
 */
#ifndef BATS_TAIL_H
#define BATS_TAIL_H

#include <stdbool.h>

enum bats_tail {
    BATS_TAIL_NONE,
    BATS_TAIL_RANDOM,
    BATS_TAIL_STOCHASTIC,
    BATS_TAIL_STOCHASTIC_RANDOM,
    BATS_TAIL_MIGRATE,
    BATS_TAIL_PERFECT,
    BATS_TAIL_SOONEST
};

#define BATS_TAIL_DEFAULT BATS_TAIL_SOONEST

/* Finds the strategy of that name. False: there is none. */
bool bats_tail_find(const char *name, enum bats_tail *tail);

const char *bats_tail_name(enum bats_tail tail);

#endif
