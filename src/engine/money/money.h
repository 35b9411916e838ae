/*
 * money: what may be asked of the money that is held for machines.
 *
 * Layer: engine, above the state, which knows leases by their tables alone
 * (leases.h). Each kind of lease is a file: window.c (and those that are free),
 * use.c, second.c, jobs.c. Nobody else knows billing models (bats/billing.h).
 */
#ifndef BATS_ENGINE_MONEY_H
#define BATS_ENGINE_MONEY_H

#include "engine/state/state.h"

/* ---- use.c ---- */

/* There is money for a task that takes this time, as use is charged. */
bool use_affordable(const struct state *s, uint32_t machine, bats_time time);

/* ---- jobs.c: machines that are jobs ---- */

/* The money that is held for a job of the cluster that works for so long. */
bats_money job_price(const struct state *s, size_t cluster, bats_time length);

/* The same, for one that works for a window. */
bats_money job_first(const struct state *s, size_t cluster);

/* The money held for all jobs that wait. */
bats_money jobs_waiting(const struct state *s);

/* How long a job of the cluster waits, as far as is known: the mean of waits
 * that are distributed exponentially, of which those that last were cut off at
 * this moment (time waited by all / jobs that began). */
bats_time job_wait(const struct state *s, size_t cluster);

#endif
