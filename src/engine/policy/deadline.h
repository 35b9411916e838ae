/*
 * deadline: the least cost by a deadline, for policy bats: which machine-windows
 * (bats/windows.h) to buy from now on. begin.h says with what it begins.
 *
 * What begins late may end late. So the slots of cluster i are worth what they
 * begin until Q_i before the deadline:
 *
 *   Q_i   = T_i q, q the longest runtime that was seen, in units of its
 *           cluster's mean, and 1 + z cv at least: z the normal quantile of
 *           p^(1/k), p the confidence, for the last tasks of k slots; at
 *           most 3, and at most 2 before the first and from 20 results on
 *   loss  = Q_i - T_i (1 + cv^2) / 2: what is begun by then is done, too
 *   N'    = N + z_p cv sqrt(N + N^2 / (n + 1)), n results: the sum of N
 *           runtimes whose mean is known from n; N' = N while n < 4
 *
 * N' - N is bought only when it is the last chance: as long as it could still
 * be done if parked machines began a little later, windows for N are bought; so
 * they are where only the money is too short for the margin.
 *
 * While there is no result, a task is taken to last half as long again as the
 * longest has; so the fewer tasks after each other the deadline leaves time
 * for, the sooner more machines come. Once 20 results are known, a plan that could begin five
 * looks later is looked at again after four.
 *
 * From Q_i before the deadline on, cluster i begins nothing as long as machines
 * with more time could begin half as many tasks again as there are, in windows
 * that are paid: it would only make one late. What runs too long all the same is
 * begun again elsewhere: late.h.
 *
 * Machines that may be reclaimed may not be there when they are needed. So
 * where they are cheaper, the others must be able to do all that is left in
 * time by themselves, two tasks more included: the safety net of Uniform
 * Progress (Wu et al., NSDI 2024). From the moment at which they only just can
 * all of them are used. Of machines that are jobs, what is not used is not
 * paid: those that may be reclaimed are used wherever they are to be had, and
 * the others only from that moment until the time suffices for four tasks
 * more.
 */
#ifndef BATS_ENGINE_DEADLINE_H
#define BATS_ENGINE_DEADLINE_H

#include "engine/policy/problem.h"

/* Makes the plan for the least cost, at most `money`. False: none is in time
 * with that confidence. *p is what problem_make() made of now, and is so again
 * afterwards. *look_at: nothing is to be bought before, unless there is news;
 * or BATS_NEVER, where all is bought that can be. */
bool deadline_plan(struct problem *p, const struct state *s, double money,
                   struct bats_windows_plan *plan, bats_time *look_at);

/* A task that begins on the cluster now may be late, and other machines can
 * begin all that are left in time. */
bool deadline_waits(const struct problem *p, const struct state *s,
                    size_t cluster);

/* Adds to the plan what ensures the deadline where machines may be reclaimed.
 * True: jobs that cannot be reclaimed can wait. */
bool deadline_secure(const struct problem *p, const struct state *s,
                     struct bats_windows_plan *plan, bats_time *look_at);

#endif
