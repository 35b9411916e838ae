/*
 * money: queries about the money held for machines.
 *
 * Layer: engine, above the state, which knows leases only by their tables
 * (moves.h). Each kind of lease has a file: window.c (also free machines),
 * use.c, second.c, jobs.c. No other file knows billing models
 * (bats/billing.h).
 */
#ifndef BATS_ENGINE_MONEY_H
#define BATS_ENGINE_MONEY_H

#include "engine/state/state.h"

/* ---- use.c ---- */

/* The money suffices for a task of this runtime, charged for use. */
bool use_affordable(const struct state *s, uint32_t machine, bats_time time);

/* ---- jobs.c: machines that are jobs ---- */

/* The most that so much time of a job of the cluster costs. */
bats_money job_price(const struct state *s, size_t cluster, bats_time length);

/* A job of this length holds the price of this time until it begins: of all of
 * it, or with leases of the first one and of its start. */
bats_time job_ahead(const struct state *s, bats_time length);

/* The money that a job of one window holds until it begins. */
bats_money job_first(const struct state *s, size_t cluster);

/* The money held for all queued jobs. */
bats_money jobs_waiting(const struct state *s);

/* Estimated queue wait of a job of the cluster: the mean of exponential waits,
 * current ones censored (time waited by all / jobs that began). */
bats_time job_wait(const struct state *s, size_t cluster);

#endif
