/*
 * bats: the parts of policy bats (bats.c).
 *
 *   problem.c   what is known, as a problem of machine-windows
 *   begin.c     the machines of a start without knowledge
 *   deadline.c  the least cost by a deadline
 *   late.c      machines for copies of what would end too late
 *   swap.c      jobs whose length does not matter: in which clusters they are
 *
 * Each says at its beginning how it decides.
 */
#ifndef BATS_ENGINE_POLICY_BATS_H
#define BATS_ENGINE_POLICY_BATS_H

#include "bats/windows.h"
#include "engine/policy/policy.h"

/* ---- problem.c ---- */

struct problem {
    struct bats_windows_problem is; /* its arrays are these: */
    struct bats_windows_type types[BATS_CLUSTERS_MAX];
    struct bats_windows_machine *machines; /* as many as the state has */
    struct bats_windows_slot *slots;
    double longest[BATS_CLUSTERS_MAX]; /* that was seen, microseconds */
    double chain; /* with levels: as in the estimator */
    struct bats_levels levels; /* of the tasks left, if there is an aim;
                                * empty without dependencies */
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX]; /* with dependencies */
    double *sample;                                   /* room */
    double cv;     /* of the runtimes, in units of their cluster's mean */
    double q;      /* with a deadline: see deadline.c; 0: not known yet */
    double longer; /* expected runtime on a cluster without results, in
                    * multiples of the longest elapsed time */
};

/* BATS_ENOMEM; to be released in any case. */
int problem_init(struct problem *p, const struct state *s);
void problem_release(struct problem *p);

/* Builds the problem from the current state. all: assume every machine will
 * join. */
void problem_make(struct problem *p, const struct state *s, bool all);

/* A result: the longest that was seen of a cluster. */
void problem_note(struct problem *p, const struct state *s,
                  const struct occasion *why);

/* Tasks that all machines, or those of the plan until its end, could do while
 * slots wait for the end of a level (bats/estimate.h). They add to the demand;
 * is.demand does not contain them yet. */
double problem_waits_of_all(const struct problem *p);
double problem_waits(const struct problem *p,
                     const struct bats_windows_plan *plan);

/* Tasks that do not run; and their work, in mean tasks. */
double problem_pending(const struct state *s);
double problem_work(const struct state *s);

/* Results of all clusters. */
uint32_t problem_results(const struct state *s);

/* Time until the time limit; INFINITY without one. */
double problem_windows_left(const struct state *s);

/* ---- begin.c ---- */

/* `money` is what can be spent, INFINITY without a budget. */
void begin_for_budget(const struct state *s, double money,
                      struct policy_start *start);
void begin_for_deadline(const struct state *s, struct policy_start *start);

/* ---- deadline.c ---- */

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

/* ---- late.c ---- */

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

/* ---- swap.c ---- */

struct swap_plan {
    uint32_t target[BATS_CLUSTERS_MAX]; /* jobs that are there, wait or are
                                         * to be asked for */
    double end;                         /* of the bag, microseconds from now */
    double cost;                        /* until then */
};

/* `money`: that may be spent. */
void swap_make(const struct state *s, double money, struct swap_plan *plan);

/* The first jobs; money: 0 = nothing is known, and the clusters share them. */
void swap_start(const struct state *s, double money,
                struct policy_start *start);

#endif
