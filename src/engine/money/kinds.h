/*
 * kinds: how machines are paid for under each billing model (bats/billing.h).
 * Only the engine itself may call these functions. See money.h.
 *
 * Layer: engine.
 */
#ifndef BATS_ENGINE_KINDS_H
#define BATS_ENGINE_KINDS_H

#include "engine/money/money.h"
#include "engine/state/moves.h"

extern const struct lease_kind lease_window, lease_free, lease_use,
    lease_second, lease_job;

const struct lease_kind *lease_kind_of(enum bats_billing_model model);

/* ---- window.c: what several kinds have in common ---- */

/* Shared members of leases. set_up: a window costs nothing; next: the charge
 * of a window; notice: the paid time ends at taken_at at the latest. */
void money_set_free(const struct state *s, struct cluster *cluster);
bats_money money_of_window(const struct state *s, uint32_t machine);
void money_cut(struct state *s, uint32_t machine, bats_time taken_at);

/* Charges a part of the held money, and splits it among the workflows. */
void money_charge(struct state *s, uint32_t machine, bats_money amount);

/* ---- jobs.c: machines that are jobs ---- */

/* PARKED -> ASKED: requests a job of this length and holds its price. False:
 * the money does not suffice. */
bool job_ask(struct state *s, uint32_t machine, bats_time length);

/* The same for a job of this age that an earlier session requested. */
bool job_take_over(struct state *s, uint32_t machine, bats_time length,
                   bats_time age);

/* ASKED -> ACTIVE: the job began `age` ago. */
void job_begin(struct state *s, uint32_t machine, bats_time age);

/* ACTIVE: holds the job's price for another lease, at most until that time, if
 * the money suffices, and sets its next turn. */
void job_prolong(struct state *s, uint32_t machine, bats_time until);

/* End of the job, or of its lease if that is sooner. */
bats_time job_end(const struct state *s, uint32_t machine);

/* ACTIVE: whether a successor is to be requested. */
bool job_wants_successor(const struct state *s, uint32_t machine);

/* ACTIVE -> LEAVING, until the end of the job or its lease. */
void job_leave(struct state *s, uint32_t machine);

/* Books the bill of a job that belongs to no machine. */
void job_bill_other(struct state *s, bats_money amount);

/* The machine gets no further job: -> LOST as soon as it is PARKED. */
void job_close(struct state *s, uint32_t machine);

/* Sets the job's end to this time from now. */
void job_set_end(struct state *s, uint32_t machine, bats_time time);

/* ACTIVE: marks the question of a successor as settled. */
void job_set_last(struct state *s, uint32_t machine);

/* ASKED -> ENDING: withdraws the job. */
void job_withdraw(struct state *s, uint32_t machine);

/* The job is gone: ASKED -> ENDING, or ACTIVE or LEAVING -> DRAINING. The
 * caller removes the executions from its slots. */
void job_vanish(struct state *s, uint32_t machine);

/* Books the bill and frees the held money. ENDING -> PARKED. */
void job_bill(struct state *s, uint32_t machine, bats_money amount);

#endif
