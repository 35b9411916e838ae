/*
 * plays: estimates what a strategy (strategy.h) takes and costs.
 *
 * Layer: engine. Pure; used by the verb frontier and by the engine itself when
 * the tail of a bag begins. Source: the ExPERT Estimator (section 4.4 of the
 * paper named in strategy.h). A play draws the turnaround time of every
 * instance from
 *
 *   F(t, t') = F_s(t) gamma
 *
 * F_s being the times of those that answered and gamma the share that does: x
 * is uniform in (0, 1), t solves F(t) = x, and the instance is given up where t
 * >= D. In the paper every instance draws its time (`redraws`): right for
 * machines that differ more than tasks do. Here a task keeps its rank in F_s,
 * also in the other pool's, and its instances only draw whether they answer:
 * what is long stays long. What is sent where is decided by the engine's own
 * code (tail/papers/instances.h).
 *
 * Where losses are noticed, an execution is lost at a time of its own, if it
 * has not answered by then, and so later its task may be sent again. Until the
 * tail begins nothing is given up there. Elsewhere an instance has as long then
 * as the engine gives it that knows F_s and gamma.
 *
 * The n-th play of every strategy meets the same world (common random numbers):
 * a draw depends on the play, the task and the number of the instance. So
 * strategies that do not differ before the tail share their throughput phase,
 * which is played once.
 *
 * Money is per microsecond of use, as bats/billing.h charges it: for executions
 * that answer, for those that do not if lost_is_free is false, and for what is
 * stopped when the bag is done.
 */
#ifndef BATS_PLAYS_H
#define BATS_PLAYS_H

#include <stddef.h>

#include "bats/strategy.h"

/* A task without a result when the plays begin. */
struct bats_plays_task {
    bats_time started;  /* its last instance, on the axis on which the plays
                           begin at 0: <= 0 */
    bats_time given_up; /* then; BATS_NEVER: it is in the reliable pool, or in
                           none: */
    bool is_reliable, is_pending;
    bool is_new; /* it was never sent */
};

struct bats_plays_model {
    uint32_t n_tasks;
    uint32_t n_unreliable, n_reliable; /* slots, #ur and those of the other */
    const bats_time *unreliable; /* F_s: turnaround times, ascending, > 0 */
    size_t n_times;
    const bats_time *reliable; /* the same there, where none is lost */
    size_t n_reliable_times;
    double gamma; /* in (0, 1]; for people only where losses are noticed: */
    bats_time noticed;     /* delay of the notice of each loss; 0: losses
                            * are silent */
    const bats_time *lost; /* after these times, ascending, >= 0, the share */
    size_t n_lost;         /* `loses` is lost if it has not ended before */
    double loses;
    double t_ur;   /* T_ur; 0: the mean of `unreliable` */
    double price_unreliable, price_reliable; /* millionths per microsecond */
    bool lost_is_free;
    bool redraws; /* every instance its time; false: every task */
    /* NULL: the plays begin with the bag; or with its tail: n_tasks of them */
    const struct bats_plays_task *tail;
};

/* The outcome of one play. A strategy whose instances never answer takes and
 * costs 9e17. */
struct bats_play {
    double makespan, tail; /* microseconds, from the begin, from that of the
                              tail */
    double cost;
    double used_reliable, longest_queue, sent_reliable; /* slots of that pool
                              at the same time; instances: those that wait for
                              it in the tail, and all that were sent there */
};

struct bats_plays; /* opaque */

/* Plays the throughput phases. The model's arrays are the caller's, as long as
 * the plays live. BATS_EINPUT (a model out of range), BATS_ENOMEM. */
int bats_plays_create(const struct bats_plays_model *model, uint32_t n_plays,
                      uint64_t seed, struct bats_plays **plays,
                      struct bats_error *err);
void bats_plays_destroy(struct bats_plays *plays);

/* Plays a strategy: results[n_plays]. Threads may play at the same time.
 * BATS_EINPUT if it needs a pool that is empty, BATS_ENOMEM. */
int bats_plays_run(const struct bats_plays *plays,
                   const struct bats_strategy *strategy,
                   struct bats_play *results, struct bats_error *err);

/* ---- many strategies ---- */

struct bats_candidate {
    struct bats_strategy strategy;
    struct bats_play mean;
    struct bats_play margin; /* half the 95 % interval of each mean */
    bool is_efficient; /* none takes and costs no more, and one of them less;
                          of those that are equal, the first */
};

#define BATS_CANDIDATES_MAX 4096

/* Strategies of all kinds: N = 0..3 and inf, D at 5 points from T_ur to 4 T_ur,
 * T at 5 from 0 to D, and up to 4 sizes of the reliable pool from one slot to
 * all: 420 of them. Where losses are noticed nothing need be given up: D = inf,
 * and T is inf, 4 T_ur down to a quarter of it, or 0: 118; what sends least is
 * first, and so is taken of those that are equal. Returns how many there are
 * (n_reliable may be 0). */
size_t bats_candidates_grid(uint32_t n_unreliable, uint32_t n_reliable,
                            bool noticed, struct bats_candidate *list);

/* Plays the candidate. As bats_plays_run. */
int bats_candidate_play(const struct bats_plays *plays, uint32_t n_plays,
                        struct bats_candidate *candidate,
                        struct bats_error *err);

/* Marks those that are efficient. */
void bats_candidates_mark(struct bats_candidate *list, size_t n);

#endif
