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

/* Updates tau_e of the running tasks, which T and the forecast need. */
void forecast_look(struct state *s);

/* The same, and updates T of every cluster. */
void forecast_means(struct state *s);

/* tau_e - tau of the slot's running task, microseconds, >= 0; 0 if none. */
double forecast_rest(const struct state *s, uint32_t slot);

/* Spread of runtimes on one cluster: their deviation in units of the mean,
 *
 *   (n c + 2 / 2) / (n + 2),   c^2 = sum of (x / mean - 1)^2 / n
 *
 * over the samples of all clusters, with n results less one per cluster. This
 * adds two assumed results with a spread of 1/2. */
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

/* True if a task of mean length can end on the machine within all windows that
 * may still be paid for it; if it is marked, if the shortest task of its
 * cluster's sample can end in its paid time. True while nothing is known. */
bool forecast_fits(const struct state *s, uint32_t machine);

/* The machine has no reclaim notice, or a task of mean length ends before it
 * is reclaimed. */
bool forecast_ends_before(const struct state *s, uint32_t machine);

/* A task of mean length started on the cluster now would end after the time
 * limit. */
bool forecast_too_late(const struct state *s, size_t cluster);

/* The cluster with the lowest c_i T_i per slot among those with statistics and
 * machines; SIZE_MAX if none. */
size_t forecast_most_profitable(const struct state *s);

/* Time at which the current configuration is expected to finish the bag;
 * BATS_NEVER if unknown. */
bats_time forecast_end(const struct state *s);

/* The same at a given rate, in tasks per microsecond. */
bats_time forecast_end_at(const struct state *s, double rate);

/* Mean number of slots per machine of the cluster. */
double cluster_slots(const struct cluster *c);

/* Mean task runtime for plans that must not be too short: the larger of T and
 * the mean of finished tasks; 0: unknown. */
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
