/*
 * late: machines for copies of what runs too long, for policy bats. Once
 * nothing waits any more, tasks that run where they end after the deadline can
 * be in time only if a faster machine begins them again.
 *
 *   rest     = how much longer a task is expected to run where it runs; as long
 *              again as until now where nothing has ended yet
 *   total_j  = max((elapsed + rest) T_j / T_i, T_j), T_j where nothing is known
 *              of i: how long it would take on a machine of cluster j
 *
 * Those with rest beyond the deadline, the longest first, get the machine that
 * ends them soonest: one that is idle, else one that is parked, if it is in
 * time and there is money beside what running tasks need. What is bought has no
 * task: the tail (../tail/tail.h) sends it the copy.
 */
#ifndef BATS_ENGINE_LATE_H
#define BATS_ENGINE_LATE_H

#include "engine/policy/problem.h"

struct late {
    double rest; /* windows */
    uint32_t slot;
};

struct late_room {
    uint32_t spares[BATS_CLUSTERS_MAX]; /* machines to be acquired */
    bool *copies; /* by machine: it is to get another window for a copy that
                     ends before the task itself, which may be late */
    struct late *list; /* room, one per slot */
};

/* BATS_ENOMEM; to be released in any case. */
int late_init(struct late_room *r, const struct state *s);
void late_release(struct late_room *r);

/* Finds spares and copies, or none if they are not wanted. *p is the present
 * problem; `money` is the money left, or INFINITY. */
void late_plan(const struct problem *p, const struct state *s, bool wanted,
               double money, struct late_room *r);

/* Something runs too long where nothing has ended yet, and has no copy. */
bool late_is_news(const struct state *s);

#endif
