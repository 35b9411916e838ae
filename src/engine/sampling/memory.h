/* memory: what the files of the sampling share. See sampling.h. */
#ifndef BATS_ENGINE_SAMPLING_MEMORY_H
#define BATS_ENGINE_SAMPLING_MEMORY_H

#include "engine/sampling/sampling.h"

#define FIRST 8
#define POINTS_MAX 21 /* replacements of failed ones included */

/* A task that is run once on every cluster, for the regression. */
struct point {
    struct bats_position task;
    bool is_void; /* it failed somewhere, or went back to the bag */
    enum { POINT_WANTED, POINT_RUNS, POINT_ENDED } at[BATS_CLUSTERS_MAX];
};

struct sampling {
    /* points.c: */
    uint32_t workers, n_points_wanted, n_wanted; /* slots that were asked for,
                                                    or 0; tasks */
    uint32_t n_points, n_drawn; /* void ones included; tasks of the sample */
    uint32_t n_open;            /* of these: without a result; */
    bool *is_open;              /* by task; NULL without a phase */
    uint32_t first[FIRST];      /* tasks of the sample, drawn first: these
                                   tell whether more are needed */
    uint32_t given_up, longest;
    double longest_runtime;            /* of all observations */
    uint32_t n_bad[BATS_CLUSTERS_MAX]; /* executions that did not end well */
    bool is_known[BATS_CLUSTERS_MAX];  /* seen enough by earlier sessions */
    bool goes_on;                      /* with the rest of the bag */
    bool is_frugal; /* tasks, machines, and tasks on all clusters, only as
                       needed: */
    bool is_settled[BATS_CLUSTERS_MAX]; /* see place.c; false: not frugal */
    struct point points[POINTS_MAX];
    struct bats_position
        released[POINTS_MAX];            /* no points any more; from the */
    uint32_t first_released, n_released; /* first one not yet told */
    struct bats_observation *observations;
    size_t n_observations, capacity;
    bats_time over_at;
    bats_money over_charged;
    /* choice.c: */
    bool is_offered; /* on the way of a plain run, and not answered yet */
    bool cushion;    /* is allowed */
    enum bats_plans plans;
    double confidence;
    unsigned cushion_percent;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX]; /* for the estimator */
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX];
    struct bats_paid paid[BATS_CLUSTERS_MAX];
    struct bats_levels levels;
    struct bats_schedule chosen;
    bool has_chosen;
};

/* enough is known; at this time, after that charge */
static inline void sampling_mark_time(struct sampling *p,
                                      const struct state *s)
{
    p->over_at = s->now;
    p->over_charged = s->money.ledger.charged;
}

/* ---- place.c ---- */

/* Looks again at p->is_settled, after an observation. */
void place_look(struct sampling *p, const struct state *s);

/* The mean runtime on the cluster with most results is known to 25 % (95 %). */
bool place_mean_is_known(const struct sampling *p, const struct state *s);

/* The cluster on which the tasks run that need not run on all: a task costs
 * least there, as far as is expected. */
size_t place_home(const struct state *s);

/* How many of `workers` slots are begun with: those of a cluster cost no more
 * for a window than those of the home; but one at least. */
uint32_t place_workers(const struct state *s, size_t cluster,
                       uint32_t workers);

#endif
