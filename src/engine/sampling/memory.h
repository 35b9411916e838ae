/* memory: data shared by the files of sampling. See sampling.h. */
#ifndef BATS_ENGINE_SAMPLING_MEMORY_H
#define BATS_ENGINE_SAMPLING_MEMORY_H

#include "engine/sampling/sampling.h"

#define FIRST 8
#define POINTS_MAX 21 /* including replacements of failed ones */

/* A task that is run once on every cluster, for the regression. */
struct point {
    struct bats_position task;
    bool is_void; /* it failed somewhere, or went back to the bag */
    enum { POINT_WANTED, POINT_RUNS, POINT_ENDED } at[BATS_CLUSTERS_MAX];
};

struct sampling {
    /* points.c: */
    uint32_t workers, n_points_wanted, n_wanted; /* requested slots, or 0;
                                                    points; tasks of the
                                                    sample */
    uint32_t n_points, n_drawn; /* including void ones; tasks drawn for the
                                   sample */
    uint32_t n_open;            /* drawn tasks without a result */
    bool *is_open;              /* by task; NULL without a phase */
    uint32_t first[FIRST];      /* first tasks drawn; they tell whether more
                                   are needed */
    uint32_t given_up, longest;
    double longest_runtime;            /* of all observations */
    uint32_t n_bad[BATS_CLUSTERS_MAX]; /* failed executions */
    bool is_known[BATS_CLUSTERS_MAX];  /* sampled enough by earlier sessions */
    bool goes_on;                      /* the run continues after the phase */
    bool is_frugal; /* uses as few tasks, machines and points as possible */
    bool is_settled[BATS_CLUSTERS_MAX]; /* their rank; false: not frugal */
    struct point points[POINTS_MAX];
    struct bats_position released[POINTS_MAX]; /* former points; from */
    uint32_t first_released, n_released; /* first_released on not reported
                                            yet */
    struct bats_observation *observations;
    size_t n_observations, capacity;
    bats_time over_at;
    bats_money over_charged;
    /* choice.c: */
    enum bats_plans plans;
    double confidence;
    struct bats_cluster *clusters; /* for the estimator; NULL without a
                                      phase */
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX];
    struct bats_paid paid[BATS_CLUSTERS_MAX];
    struct bats_levels levels;
    struct bats_schedule chosen;
    bool has_chosen;
};

/* Marks when the phase was over, and the charge until then. */
static inline void sampling_mark_time(struct sampling *p,
                                      const struct state *s)
{
    p->over_at = s->now;
    p->over_charged = s->money.ledger.charged;
}

#endif
