/*
 * forecast: estimates runtimes and the work that paid and planned time can
 * still do. Source: paper 2.2; thesis 2.2.3. The papers speak of machines; a
 * machine with several slots counts here as that many.
 *
 * Layer: engine, between the state and its advisors. sched.c lets it look at
 * the running tasks; the other functions only read.
 */
#ifndef BATS_ENGINE_FORECAST_H
#define BATS_ENGINE_FORECAST_H

#include "engine/state/state.h"

/* Looks at the running tasks: the slots' tau_e, which T and the forecast
 * need. */
void forecast_look(struct state *s);

/* The same, and updates T of every cluster. */
void forecast_means(struct state *s);

/* tau_e - tau of the slot's running task, microseconds, >= 0; 0 if none. */
double forecast_rest(const struct state *s, uint32_t slot);

/* How runtimes on one cluster spread: their deviation in units of its mean,
 *
 *   (n c + 2 / 2) / (n + 2),   c^2 = sum of (x / mean - 1)^2 / n
 *
 * over the samples of all clusters, n results but one of each: as if two more
 * had been seen to spread by 1/2. */
double forecast_spread(const struct state *s);

struct forecast {
    int64_t tasks_left;    /* N_e */
    int64_t tasks_paid;    /* N_p */
    bats_money money_left; /* after the windows that running tasks of unmarked
                            * machines are expected to need */
};

/* The monitoring estimates of paper 2.2 (thesis 2.2.3), from the last look,
 * which must be up to date. */
struct forecast forecast_make(const struct state *s);

/* True if a task of mean length can end on the machine within all further
 * windows that it could be paid; if it is `marked`, if the quickest task of
 * its cluster's sample can end in its paid time. True if nothing is known
 * yet. */
bool forecast_fits(const struct state *s, uint32_t machine);

/* The machine has no notice, or a task of mean length ends before it is taken
 * away. */
bool forecast_ends_before(const struct state *s, uint32_t machine);

/* A task of mean length that begins on the cluster now ends after the
 * time limit. */
bool forecast_too_late(const struct state *s, size_t cluster);

/* Cluster with the lowest c_i T_i per slot among those with statistics and
 * machines; SIZE_MAX if none. */
size_t forecast_most_profitable(const struct state *s);

/* The time at which the present configuration is expected to complete the bag;
 * BATS_NEVER if unknown. */
bats_time forecast_end(const struct state *s);

/* The same at this rate, in tasks per microsecond. */
bats_time forecast_end_at(const struct state *s, double rate);

/* Bounds of the first (interval.h, with this as p). False: not known, as a
 * cluster in use has fewer than two results. */
#define FORECAST_SURE 0.9
bool forecast_end_bounds(const struct state *s, bats_time *low,
                         bats_time *high);

/* Slots of a machine of the cluster, on average. */
double cluster_slots(const struct cluster *c);

/* The mean runtime of a task there for plans that must not be too short: T, or
 * that of the tasks that are done if it is longer; 0: not known. */
static inline double cluster_mean(const struct cluster *c)
{
    double mean = cluster_runtime(c);
    return c->stats.mean > mean ? c->stats.mean : mean;
}

/* The price of a machine per microsecond. */
static inline double cluster_rate(const struct state *s, size_t cluster)
{
    return (double)s->clusters[cluster].price / (double)s->run.window;
}

#endif
