/*
 * forecast: estimates of runtimes and of what paid and planned time can still
 * do. Source: paper 2.2; thesis 2.2.3. The papers speak of machines; a machine
 * with several slots counts here as that many.
 *
 * Layer: engine, between the state and its advisors. sched.c has it look at
 * what runs; the other functions only read.
 */
#ifndef BATS_ENGINE_FORECAST_H
#define BATS_ENGINE_FORECAST_H

#include "engine/state/state.h"

/* Looks at what runs now: the slots' tau_e, which T and the forecast need. */
void forecast_look(struct state *s);

/* The same, and brings T of every cluster up to date with it. */
void forecast_means(struct state *s);

/* tau_e - tau of the slot's running task, microseconds, >= 0; 0 if none. */
double forecast_rest(const struct state *s, uint32_t slot);

struct forecast {
    int64_t tasks_left;    /* N_e */
    int64_t tasks_paid;    /* N_p */
    bats_money money_left; /* after the windows that running tasks are
                              expected to carry unmarked machines into */
};

/* The monitoring estimates of paper 2.2 (thesis 2.2.3), from the last look,
 * which is of now. */
struct forecast forecast_make(const struct state *s);

/* A task of mean length can end on the machine with all further windows that
 * it could be paid; if it is `marked`, the quickest task of its cluster's
 * sample can, in its paid time. True if nothing is known yet. */
bool forecast_fits(const struct state *s, uint32_t machine);

/* A task of mean length that begins on the cluster now ends after the
 * deadline. */
bool forecast_too_late(const struct state *s, size_t cluster);

/* Cluster with the lowest c_i T_i per slot among those with statistics and
 * machines; SIZE_MAX if none. */
size_t forecast_most_profitable(const struct state *s);

/* When the present configuration is expected to have done the bag; BATS_NEVER
 * if not known. */
bats_time forecast_end(const struct state *s);

/* Slots of a machine of the cluster, on average. */
double cluster_slots(const struct cluster *c);

#endif
