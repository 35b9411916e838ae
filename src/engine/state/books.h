/*
 * books: leases and stakes as last reported to the driver, in order to report
 * only changes (bats_sched_next_lease).
 *
 * Layer: engine, part of the state. Kept only with options.tells_leases. Part
 * of state.h, which includes it.
 */
#ifndef BATS_ENGINE_BOOKS_H
#define BATS_ENGINE_BOOKS_H

#include "bats/sched.h"
#include "bats/status.h"

struct state;
struct books;

/* BATS_ENOMEM; release in any case. */
int books_init(struct state *s, const struct bats_sched_options *o);
void books_release(struct state *s);

/* books_open: a lease of the machine begins or is queued; the previous one is
 * over and billed. books_forget: it does not begin after all, for want of
 * money. */
void books_open(struct state *s, uint32_t machine);
void books_forget(struct state *s, uint32_t machine);

/* The queued lease begins; the lease ends. */
void books_begin(struct state *s, uint32_t machine);
void books_end(struct state *s, uint32_t machine);

/* The lease was charged, or the amount that may still be charged has
 * changed. */
void books_charge(struct state *s, uint32_t machine, bats_money amount);
void books_change(struct state *s, uint32_t machine);

bool books_next_lease(struct state *s, struct bats_lease *lease);
bool books_next_stake(struct state *s, struct bats_stake *stake);

#endif
