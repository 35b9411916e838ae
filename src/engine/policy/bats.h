/*
 * bats: the parts of policy bats (bats.c).
 *
 *   problem.c   the current knowledge as a machine-windows problem
 *   begin.c     the machines of a start without knowledge
 *   deadline.c  the least cost by a deadline
 *   swap.c      distributes jobs among clusters if their length does not
 *               matter
 *
 * Each file describes its rules at the top.
 */
#ifndef BATS_ENGINE_POLICY_BATS_H
#define BATS_ENGINE_POLICY_BATS_H

#include "bats/windows.h"
#include "engine/policy/policy.h"

/* In windows from now on. */
static inline double windows_until(const struct state *s, bats_time time)
{
    return (double)(time - s->now) / (double)s->run.window;
}

/* ---- problem.c ---- */

struct problem {
    struct bats_windows_problem is; /* its arrays are these: */
    struct bats_windows_type types[BATS_CLUSTERS_MAX];
    struct bats_windows_machine *machines; /* as many as the state has */
    struct bats_windows_slot *slots;
    double longest[BATS_CLUSTERS_MAX]; /* longest runtime seen, microseconds */
    double chain;                      /* with levels: as in the estimator */
    struct bats_levels levels; /* of the tasks left, if there is an aim; empty
                                  without dependencies */
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX]; /* with dependencies */
    double *sample;                                   /* scratch space */
    double width;                                     /* slots per task */
    double cv;     /* coefficient of variation of runtimes on a cluster */
    double longer; /* expected runtime on a cluster without results, in
                    * multiples of the longest elapsed time */
};

/* Builds the problem from the current state. all: assume every machine will
 * join. */
void problem_make(struct problem *p, const struct state *s, bool all);

/* Updates the longest runtime of a cluster after a result. */
void problem_note(struct problem *p, const struct state *s,
                  const struct occasion *why);

/* Tasks that all machines, or the plan's until its end, could do while slots
 * wait for the end of a level (bats/estimate.h). They add to the demand;
 * is.demand does not include them yet. */
double problem_waits_of_all(const struct problem *p);
double problem_waits(const struct problem *p,
                     const struct bats_windows_plan *plan);

/* Number of tasks not running; of tasks that an open bag is told to expect
 * and that are not submitted yet; and the work of both, in mean tasks. */
double problem_pending(const struct state *s);
double problem_announced(const struct state *s);
double problem_work(const struct state *s);

/* Number of results on all clusters. */
uint32_t problem_results(const struct state *s);

/* Windows until the time limit; INFINITY without one. */
double problem_windows_left(const struct state *s);

/* ---- begin.c ---- */

/* money: available amount, INFINITY without a budget. */
void begin_for_budget(const struct state *s, double money,
                      struct policy_start *start);
void begin_for_deadline(const struct state *s, struct policy_start *start);

/* ---- deadline.c ---- */

/* Plans for the least cost, at most `money`. False: no plan meets the deadline
 * with the required confidence. *p is the current problem, and is left
 * unchanged. */
bool deadline_plan(struct problem *p, const struct state *s, double money,
                   struct bats_windows_plan *plan);

/* Adds to the plan what secures the deadline if machines may be reclaimed.
 * True: jobs that cannot be reclaimed can wait. */
bool deadline_secure(const struct problem *p, const struct state *s,
                     struct bats_windows_plan *plan);

/* ---- swap.c ---- */

struct swap_plan {
    uint32_t target[BATS_CLUSTERS_MAX]; /* jobs that exist, are queued or are
                                           to be requested */
    double end;                         /* end of the bag, microseconds from
                                           now */
    double cost;                        /* until the end */
};

/* money: available amount. */
void swap_make(const struct state *s, double money, struct swap_plan *plan);

/* The first jobs; money 0: nothing is known, and the clusters share them
 * evenly. */
void swap_start(const struct state *s, double money,
                struct policy_start *start);

#endif
