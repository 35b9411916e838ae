/*
 * strategy: how tasks are replicated on machines that may not answer.
 *
 * Layer: engine. Plain data of the policy `expert` (policy.h). Source: Agmon
 * Ben-Yehuda, Schuster, Sharov, Silberstein and Iosup, ExPERT:
 * Pareto-efficient task replication on grids and clouds (2012), sections 3 and
 * 5.3.
 *
 * There are two pools: the machines of all unreliable clusters (cluster.h),
 * #ur slots, and those of all others. In the throughput phase every task has
 * one execution in the unreliable pool (an instance), which is given up after
 * 4 T_ur, or later; T_ur is the mean runtime there of those that answered. The
 * tail begins when fewer tasks than #ur have no result. From then on a task
 * gets at most N further instances in the unreliable pool, each T after the
 * last one, if there is no result by then, and each given up after D; then one
 * in the reliable pool, where no more than M_r #ur slots, rounded up, are used
 * at the same time. Each pool has a queue, first come, first served. An
 * instance that waits there is withdrawn when another one of its task
 * succeeds; one that was sent is not stopped before the bag is done.
 *
 * The paper draws the time of every instance anew. But a task may take longer
 * than D wherever it runs: with N = inf it would never end. From its third
 * instance that was given up on, a task gets twice the time, each time.
 *
 * Nor does the paper have bags of two kinds of tasks. What ends first is
 * short, and 4 T_ur are then less than what is long takes. So before the tail
 * the time is longer where the answers so far say that less is lost then
 * (bats_answers_patience).
 *
 * Where every loss is noticed (cluster.h) nothing is given up before the tail
 * begins; in it, D = inf says so, too, and T = inf that the next instance is
 * sent only when one was lost.
 *
 * Names of strategies (all but AUR and CNinf need a reliable pool):
 *
 *   N=3,T=1x,D=2x,Mr=0.02  the four parameters; T and D as multiples of T_ur,
 *                  as durations or inf. N = inf: as many as it takes. Without
 *                  Mr: all of the reliable pool
 *   AR             all tasks in the reliable pool
 *   TRR            N=0,T=0: in the tail all are replicated there
 *   TR             N=0,T=4x,D=4x: those that were given up are sent there
 *   AUR            N=inf,T=4x,D=4x
 *   B=AMOUNT       as AUR, until the money left of AMOUNT pays for all tasks
 *                  without a result in the reliable pool; then they are sent
 *                  there
 *   CNinf          as AUR, but both pools work in the throughput phase
 *   CN1T0          the same; in the tail one instance for each pool
 */
#ifndef BATS_STRATEGY_H
#define BATS_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/units.h"

#define BATS_INSTANCES_INFINITE UINT32_MAX
#define BATS_STRATEGY_TEXT 96
#define BATS_THROUGHPUT_D 4 /* T_ur until an instance is given up */
#define BATS_STRATEGY_SHORT                                                   \
    3 /* given up this often: the time limit is too
                               * short */

/* A time: a multiple of T_ur plus a fixed time. */
struct bats_span {
    double of_tur;
    bats_time fixed;
};

struct bats_strategy {
    uint32_t n;            /* N */
    struct bats_span t, d; /* T, D */
    double m_r;            /* M_r; INFINITY: all of the pool */
    bool only_reliable;    /* AR */
    bool reliable_works;   /* the reliable pool draws tasks, too: AR, CN */
    bool both;             /* CN1T0 */
    bats_money rush;       /* B: its amount; 0: it is another one */
};

/* Parses a name. BATS_EINPUT with a sentence. */
int bats_strategy_parse(const char *text, struct bats_strategy *strategy,
                        struct bats_error *err);

/* The name, as bats_strategy_parse reads it. Returns `text`. */
const char *bats_strategy_format(char text[BATS_STRATEGY_TEXT],
                                 const struct bats_strategy *strategy);

/* The strategy may send instances to the reliable pool. */
bool bats_strategy_needs_reliable(const struct bats_strategy *strategy);

/* Checks that these clusters have the pools that the strategy needs.
 * BATS_EINPUT. */
int bats_strategy_check(const struct bats_strategy *strategy,
                        const struct bats_cluster *clusters, size_t n_clusters,
                        struct bats_error *err);

/* The longest time until a loss in an unreliable cluster is noticed; 0: some
 * never are. It is believed whatever T_ur is: the first results are those of
 * short tasks, and what takes longer than they did is no loss. */
bats_time bats_strategy_noticed(const struct bats_cluster *clusters, size_t n);

/* At most BATS_LONGEST, which is what inf is. */
bats_time bats_span_time(const struct bats_span *span, double t_ur);

/* After so long, or later, an instance is given up before the tail begins. */
bats_time bats_strategy_throughput(double t_ur, bool noticed);

/* ---- utility: what a strategy is worth to a user; the less the better ----
 *
 * An expression (util/expression.h) of makespan and tail in seconds, cost and
 * task_cost; or one of the words cheapest, fastest and product. */

/* Its value for a makespan and tail in microseconds and a cost in millionths,
 * of n_tasks. BATS_EINPUT with a sentence that names the place of a mistake. */
int bats_utility_value(const char *text, double makespan, double tail,
                       double cost, uint32_t n_tasks, double *value,
                       struct bats_error *err);

/* The same of any numbers: is it an expression? */
int bats_utility_check(const char *text, struct bats_error *err);

#endif
