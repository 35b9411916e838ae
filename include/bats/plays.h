/*
 * plays: estimates the time and cost of a strategy (strategy.h) by simulation.
 *
 * Layer: engine. Pure; used by the verb frontier and by the engine itself when
 * the tail of a bag begins. Source: the ExPERT Estimator (section 4.4 of the
 * paper named in strategy.h). A play draws the turnaround time of every
 * instance from
 *
 *   F(t, t') = F_s(t) gamma
 *
 * where F_s are the times of answered instances and gamma is their share: x is
 * uniform in (0, 1), t solves F(t) = x, and the instance is given up if t >=
 * D. In the paper every instance draws its time (`redraws`), which suits
 * machines that differ more than tasks. Here a task keeps its rank in F_s,
 * also in the other pool's, and its instances only draw whether they answer:
 * long tasks stay long. The engine's own code decides what is sent where
 * (tail/papers/instances.h).
 *
 * With noticed losses, an execution is lost at a time of its own unless it has
 * answered by then, and its task may then be sent again. Nothing is given up
 * before the tail.
 *
 * The n-th play of every strategy uses the same random world (common random
 * numbers): a draw depends on the play, the task and the instance's number. So
 * strategies that do not differ before the tail share their throughput phase,
 * which is played once.
 *
 * Money is charged per microsecond of use, as in bats/billing.h: for
 * executions that answer, for unanswered ones unless lost_is_free, and for
 * those stopped when the bag is done.
 */
#ifndef BATS_PLAYS_H
#define BATS_PLAYS_H

#include <stddef.h>

#include "bats/strategy.h"

/* A task without a result when the plays begin. */
struct bats_plays_task {
    bats_time started;  /* start of its last instance; the plays begin at 0: <=
                           0 */
    bats_time given_up; /* time when it is given up; BATS_NEVER: it is in the
                           reliable pool, or in none */
    bool is_reliable, is_pending;
    bool is_new; /* never sent */
};

struct bats_plays_model {
    uint32_t n_tasks;
    uint32_t n_unreliable, n_reliable; /* slots: #ur, and those of the reliable
                                          pool */
    const bats_time *unreliable; /* F_s: turnaround times, ascending, > 0 */
    size_t n_times;
    const bats_time *reliable; /* the same in the reliable pool, where none is
                                  lost */
    size_t n_reliable_times;
    double gamma;          /* in (0, 1]; informational if losses are noticed */
    bats_time noticed;     /* delay of the notice of each loss; 0: losses
                            * are silent */
    const bats_time *lost; /* times of losses, ascending, >= 0: the share */
    size_t n_lost;         /* `loses` is lost if it has not ended before */
    double loses;
    double t_ur; /* T_ur; 0: the mean of `unreliable` */
    double price_unreliable, price_reliable; /* millionths per microsecond */
    bool lost_is_free;
    bool redraws; /* every instance draws its time; false: every task */
    /* NULL: the plays begin with the bag; else with its tail of n_tasks
     * tasks */
    const struct bats_plays_task *tail;
};

/* Outcome of one play; makespan and cost are 9e17 if instances never
 * answer. */
struct bats_play {
    double makespan, tail; /* microseconds, from the start and from the start
                              of the tail */
    double cost;
    /* Most slots of the reliable pool in use; most instances waiting for it in
     * the tail; all instances sent there. */
    double used_reliable, longest_queue, sent_reliable;
};

struct bats_plays; /* opaque */

/* Plays the throughput phases. The model's arrays must outlive the plays.
 * BATS_EINPUT (a model out of range), BATS_ENOMEM. */
int bats_plays_create(const struct bats_plays_model *model, uint32_t n_plays,
                      uint64_t seed, struct bats_plays **plays,
                      struct bats_error *err);
void bats_plays_destroy(struct bats_plays *plays);

/* Plays numbers `from` to `to` - 1 of a strategy into results[to - from].
 * Thread-safe. BATS_EINPUT if it needs a pool that is empty, BATS_ENOMEM. */
int bats_plays_run(const struct bats_plays *plays,
                   const struct bats_strategy *strategy, uint32_t from,
                   uint32_t to, struct bats_play *results,
                   struct bats_error *err);

/* ---- many strategies ---- */

struct bats_candidate {
    struct bats_strategy strategy;
    struct bats_play mean;
    struct bats_play margin; /* half the 95 % interval of each mean */
    bool is_efficient; /* Pareto-optimal in makespan and cost; of equal ones,
                          the first */
};

#define BATS_CANDIDATES_MAX 4096

/* Lists strategies of all kinds: N = 0..3 and inf, D at 5 points from T_ur to
 * 4 T_ur, T at 5 from 0 to D, and up to 4 sizes of the reliable pool from one
 * slot to all: 420 of them. If losses are noticed nothing need be given up: D
 * = inf, and T is inf, 4 T_ur down to a quarter of it, or 0: 118. Those that
 * send least come first, and so win among equals. Returns their number
 * (n_reliable may be 0). */
size_t bats_candidates_grid(uint32_t n_unreliable, uint32_t n_reliable,
                            bool noticed, struct bats_candidate *list);

/* Plays the candidate. Errors as bats_plays_run. */
int bats_candidate_play(const struct bats_plays *plays, uint32_t n_plays,
                        struct bats_candidate *candidate,
                        struct bats_error *err);

/* Marks the efficient candidates. */
void bats_candidates_mark(struct bats_candidate *list, size_t n);

#endif
