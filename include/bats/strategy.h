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
 * 4 T_ur; T_ur is the mean runtime of answered instances there. The
 * tail begins when fewer tasks than #ur have no result. From then on a task
 * without a result gets at most N further instances in the unreliable pool,
 * each sent T after the last one and given up after D; then one in the
 * reliable pool, where at most M_r #ur slots, rounded up, are used at a time.
 * Each pool has a queue, first come, first served. A queued instance is
 * withdrawn when another one of its task succeeds; an instance that was sent
 * is not stopped before the bag is done.
 *
 * The paper draws the time of every instance independently. But a real task
 * may take longer than D everywhere, and with N = inf would never end. So from
 * the third given-up instance on, a task gets twice the time, each time.
 *
 * If every loss is noticed (cluster.h), nothing is given up before the tail.
 * In the tail, D = inf means the same, and T = inf that the next instance is
 * sent only after a loss.
 *
 * Names of strategies (all but AUR and CNinf need a reliable pool):
 *
 *   N=3,T=1x,D=2x,Mr=0.02  the four parameters; T and D as multiples of T_ur,
 *                  as durations or inf. N = inf: as many as it takes. Without
 *                  Mr: all of the reliable pool
 *   AR             all tasks in the reliable pool
 *   TRR            N=0,T=0: in the tail all tasks are replicated there
 *   TR             N=0,T=4x,D=4x: given-up tasks are sent there
 *   AUR            N=inf,T=4x,D=4x
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
#define BATS_THROUGHPUT_D 4 /* an instance is given up after this many T_ur */
#define BATS_STRATEGY_SHORT                                                   \
    3 /* after this many given-up instances the time limit is too short */

/* A task given up for the third time may simply be long: from then on each
 * execution gets twice the time. */
static inline bats_time bats_strategy_longer(bats_time limit, uint8_t given_up)
{
    for (; given_up >= BATS_STRATEGY_SHORT && limit < BATS_LONGEST / 2;
         given_up--)
        limit *= 2;
    return limit;
}

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
    bool reliable_works;   /* the reliable pool also draws tasks: AR, CN */
    bool both;             /* CN1T0 */
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

/* Longest delay until a loss in an unreliable cluster is noticed; 0: some
 * losses never are. Applies whatever T_ur is: the first results are those of
 * short tasks, and a longer one is not lost. */
bats_time bats_strategy_noticed(const struct bats_cluster *clusters, size_t n);

/* The span as a time; at most BATS_LONGEST, which stands for inf. */
bats_time bats_span_time(const struct bats_span *span, double t_ur);

/* Least time after which an instance is given up before the tail. */
bats_time bats_strategy_throughput(double t_ur, bool noticed);

/* ---- utility: ranks strategies for a user; less is better ----
 *
 * An expression (util/expression.h) of makespan and tail in seconds, cost and
 * task_cost; or one of the words cheapest, fastest and product. */

/* The utility's value for a makespan and tail in microseconds and a cost in
 * millionths, for n_tasks. BATS_EINPUT with a sentence that locates the
 * mistake. */
int bats_utility_value(const char *text, double makespan, double tail,
                       double cost, uint32_t n_tasks, double *value,
                       struct bats_error *err);

/* Checks that the text is a utility. BATS_EINPUT as above. */
int bats_utility_check(const char *text, struct bats_error *err);

#endif
