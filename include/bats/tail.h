/*
 * tail: how idle machines replicate the last tasks of a bag.
 *
 * Layer: engine. Towards the end the bag is empty, and machines that are paid
 * for until the end of their window have nothing to do, while the run waits
 * for a few long tasks on slow machines. Idle machines then run replicas
 * (replicas) of these; the first one that succeeds gives the result, and the
 * others are stopped. Source: Oprescu's thesis, chapter 5.
 *
 * A replica never costs anything: it runs inside a window that is already paid
 * for, and no window is entered for it. If it is the only execution left of
 * its task (the others were lost or stopped), it is a task like any other.
 * When the engine decides whether a machine with such a task enters another
 * window, it stops the other executions in favour of a replica that is
 * expected to end first, if that needs no more money than the original.
 *
 * Runtimes on different clusters are converted by the regression of the
 * sampling phase (regression.h), and without one taken to be proportional to
 * the means of what has ended there. All that has ended, converted to one
 * cluster, is the histogram of the bag (5.1). A task that has been running for
 * tau there, on whichever of its machines that is most, is expected to take
 *
 *   t = E[T | T > tau], or tau + E[T] where nothing took longer,
 *
 * and is of interest for an idle machine if what is left of it on the machine
 * that is expected to end it first is more than the t of the idle one. Of
 * these tasks the one with most left is copied.
 *
 *   none               no replicas.
 *   random             of any task that runs on slower machines only.
 *   stochastic         as above.
 *   stochastic-random  as above; any that runs on slower machines only, where
 *                      none is of interest.
 *   migrate            stochastic; before that, when no more tasks are left in
 *                      the bag than a sample has, a machine that asks for work
 *                      takes over a task that would be of interest. Its first
 *                      execution is stopped.
 *   perfect            stochastic with the true runtimes, which only a
 *                      simulator knows.
 *   soonest            ours: stochastic-random, but t is not what the task is
 *                      expected to take, but what it takes at most, for all
 *                      that is likely.
 *
 * The end of the bag is determined not by the task that is expected to take
 * longest, but by the one that may. For `soonest`, t is the 0.94 quantile of T
 * given T > tau: of the tasks that take longer than tau, 94 of 100 take no
 * longer than t. (Simulations of normal, Levy and mixed bags did not get
 * better with 0.90 or 0.98.) An execution that has been running for a
 * monitoring interval, and twice as long as any other task ever took, is taken
 * to be stuck: nothing is expected of it, and a replica of its task, even on a
 * machine that is no faster, counts as a task not yet begun. It is not stopped
 * for that when its window ends: then it counts by how long it has run.
 * Where nothing has ended yet, so that the cluster's speed is not known, an
 * execution is expected to take as long again as it has (its first results are
 * late, if it is slow); the other strategies leave its task alone.
 *
 * With `soonest` a machine that found nothing to replicate is asked again at
 * the next monitoring, or when a running task has lost an execution or taken
 * longer than any before; and a look at the running tasks holds for 3 % of the
 * longest runtime. For one event no more than 192 running tasks are looked at,
 * the others in their turn for the next ones, and no more than 64 idle slots
 * that find nothing: what an event costs must not grow with the machines.
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

/* Finds the strategy of that name: true and *tail, else false. */
bool bats_tail_find(const char *name, enum bats_tail *tail);

const char *bats_tail_name(enum bats_tail tail);

#endif
