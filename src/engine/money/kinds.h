/*
 * kinds: how money moves for machines, by how they are billed
 * (bats/billing.h): what only the engine itself may call. See money.h.
 *
 * Layer: engine.
 */
#ifndef BATS_ENGINE_KINDS_H
#define BATS_ENGINE_KINDS_H

#include "engine/money/money.h"
#include "engine/state/leases.h"

extern const struct lease_kind lease_window, lease_free, lease_use,
    lease_second, lease_job;

const struct lease_kind *lease_kind_of(enum bats_billing_model model);

/* ---- moves.c: what several kinds have in common ---- */

/* `set_up`: a window of a machine costs nothing; `next`: the charge of one;
 * `notice`: the paid time ends then at the latest. */
void money_set_free(const struct state *s, struct cluster *cluster);
bats_money money_of_window(const struct state *s, uint32_t machine);
void money_cut(struct state *s, uint32_t machine, bats_time taken_at);

/* Charges a part of what is held, and shares it. */
void money_charge(struct state *s, uint32_t machine, bats_money amount);

/* ---- jobs.c: machines that are jobs ---- */

/* PARKED -> ASKED, to work for so long: holds the money. False: there is not
 * enough. */
bool job_ask(struct state *s, uint32_t machine, bats_time length);

/* The same, for a job of this age that an earlier session has asked for. */
bool job_take_over(struct state *s, uint32_t machine, bats_time length,
                   bats_time age);

/* ASKED -> ACTIVE: it began so long ago. */
void job_begin(struct state *s, uint32_t machine, bats_time age);

/* ACTIVE: holds its price for a lease from now on, if there is the money, and
 * sets its next turn. */
void job_prolong(struct state *s, uint32_t machine);

/* When it ends, or its lease if that is sooner. */
bats_time job_end(const struct state *s, uint32_t machine);

/* ACTIVE: another job is to be asked for in its place. */
bool job_wants_successor(const struct state *s, uint32_t machine);

/* ACTIVE -> LEAVING, until its end or that of its lease. */
void job_leave(struct state *s, uint32_t machine);

/* The bill of a job that no machine is. */
void job_bill_other(struct state *s, bats_money amount);

/* No other job can be had there: -> LOST, as soon as it is PARKED. */
void job_close(struct state *s, uint32_t machine);

/* The job may work for this time from now. */
void job_set_end(struct state *s, uint32_t machine, bats_time time);

/* ACTIVE: whether another job follows it is decided. */
void job_set_last(struct state *s, uint32_t machine);

/* ASKED -> ENDING: it is withdrawn. */
void job_withdraw(struct state *s, uint32_t machine);

/* It has gone: ASKED -> ENDING, or ACTIVE or LEAVING -> DRAINING. What was on
 * it is still in its slots: the caller takes it out. */
void job_vanish(struct state *s, uint32_t machine);

/* The bill: what is held is free again. ENDING -> PARKED. */
void job_bill(struct state *s, uint32_t machine, bats_money amount);

#endif
