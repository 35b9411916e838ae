/*
 * ledger: the only place where money moves.
 *
 * Layer: engine, used by the engine. The first window of an acquired machine
 * is charged at once. Shortly before a window ends, the charge of the next one
 * is held; it is charged when that window begins, or released.
 *
 * For machines that are jobs, the largest possible bill is held from the
 * request on. Their actual bill is charged in the end.
 *
 * In an allocation nothing is held: the charge follows from the time
 * (billing.h), for the whole job.
 *
 * Invariant: charged + held <= budget at every instant; nothing is negative.
 * In an allocation this depends on the time: see bats_ledger_lasts.
 */
#ifndef BATS_LEDGER_H
#define BATS_LEDGER_H

#include <stdbool.h>

#include "bats/billing.h"
#include "bats/units.h"

struct bats_ledger {
    bats_money budget;  /* BATS_UNLIMITED: none */
    bats_money charged; /* for windows entered */
    bats_money held;    /* promised to windows that have not begun */
    struct bats_billing billing;
    bool others_bill;  /* bills come from outside and may exceed the held
                          money */
    bats_money base;   /* allocation: charged at time 0; jobs: charged, except
                          for the run's own job since then */
    bats_money booked; /* charges reported so far */
};

/* `charged` <= budget: the charges of earlier sessions. */
void bats_ledger_init(struct bats_ledger *ledger, bats_money budget,
                      bats_money charged);

/* Starts billing an allocation, or jobs and the run's own job, at time 0. */
void bats_ledger_allocate(struct bats_ledger *ledger,
                          const struct bats_billing *billing);

/* Advances to `now`: charges the allocation. */
void bats_ledger_pass(struct bats_ledger *ledger, bats_time now);

/* Returns the money charged since the last call. */
bats_money bats_ledger_book(struct bats_ledger *ledger);

/* Time at which all work must stop so that the allocation is given back within
 * the budget; BATS_NEVER without a limit. */
bats_time bats_ledger_lasts(const struct bats_ledger *ledger);

/* Money that may still be spent; BATS_UNLIMITED without a budget. */
bats_money bats_ledger_available(const struct bats_ledger *ledger);

/* Number of windows at `charge` each that the available money pays for
 * (INT64_MAX if they are free or there is no budget). */
int64_t bats_ledger_affordable(const struct bats_ledger *ledger,
                               bats_money charge);

/* Each takes `amount` >= 0 from the available money. False, with nothing
 * changed: it does not suffice (or the sum does not fit). */
bool bats_ledger_charge(struct bats_ledger *ledger, bats_money amount);
bool bats_ledger_hold(struct bats_ledger *ledger, bats_money amount);

/* A held amount becomes charged, or available again. */
void bats_ledger_charge_held(struct bats_ledger *ledger, bats_money amount);
void bats_ledger_give_up(struct bats_ledger *ledger, bats_money amount);

/* Charges a bill that must be paid, even if it exceeds the money held. */
void bats_ledger_bill(struct bats_ledger *ledger, bats_money amount);

/* Sets the budget, which must be at least charged + held. */
void bats_ledger_limit(struct bats_ledger *ledger, bats_money budget);

#endif
