/*
 * ledger: the only place where money moves.
 *
 * Layer: engine, used by the engine. A machine's window is paid in one of two
 * ways. When a machine is acquired, its window is charged at once. Shortly
 * before a window ends, the charge of the next one is held; it is charged when
 * that window begins, or given up.
 *
 * A cushion is money on top of the cost of a schedule. It is put aside until
 * the last tasks need it. Then it becomes part of the budget, and charges
 * beyond the cost of the schedule come out of it while it lasts.
 *
 * Machines that are jobs have their longest possible bill held from the moment
 * they are asked for. What they were billed in the end is charged.
 *
 * In an allocation nothing of that moves: what is charged follows from the
 * time (billing.h), and what it is charged for is the whole job.
 *
 * Invariant: charged + held <= budget at every instant; nothing is negative.
 * In an allocation that is up to the time: see bats_ledger_lasts.
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
    bats_money put_by;  /* a cushion that is not yet part of the budget */
    bats_money granted; /* one that is; */
    bats_money cost;    /* charges beyond this come out of it, */
    bats_money spent;   /* and this is what came */
    struct bats_billing billing;
    bool others_bill;  /* all or part of it, and maybe more than was held */
    bats_money base;   /* allocation: charged at time 0; jobs: all but what the
                        * run's own is charged for the time since; */
    bats_money booked; /* and charges that were said so far */
};

/* `charged` <= budget: the charges of earlier sessions. */
void bats_ledger_init(struct bats_ledger *ledger, bats_money budget,
                      bats_money charged);

/* From now on an allocation is billed, or jobs and the run's own; the time is
 * 0. */
void bats_ledger_allocate(struct bats_ledger *ledger,
                          const struct bats_billing *billing);

/* The time is `now`: charges the allocation. */
void bats_ledger_pass(struct bats_ledger *ledger, bats_time now);

/* The money charged since the last call. */
bats_money bats_ledger_book(struct bats_ledger *ledger);

/* When all work has to be stopped so that the allocation is given back within
 * the budget; BATS_NEVER without a limit. */
bats_time bats_ledger_lasts(const struct bats_ledger *ledger);

/* The money that may still be spent; BATS_UNLIMITED without a budget. */
bats_money bats_ledger_available(const struct bats_ledger *ledger);

/* The number of windows at `charge` each that the available money pays
 * (INT64_MAX if they cost nothing or there is no budget). */
int64_t bats_ledger_affordable(const struct bats_ledger *ledger,
                               bats_money charge);

/* Each takes `amount` >= 0 out of the available money; returns false, with
 * nothing changed, if that does not suffice (or the sum does not fit). */
bool bats_ledger_charge(struct bats_ledger *ledger, bats_money amount);
bool bats_ledger_hold(struct bats_ledger *ledger, bats_money amount);

/* A held amount becomes charged, or available again. */
void bats_ledger_charge_held(struct bats_ledger *ledger, bats_money amount);
void bats_ledger_give_up(struct bats_ledger *ledger, bats_money amount);

/* A bill that had to be paid, even if more than was held for it. */
void bats_ledger_bill(struct bats_ledger *ledger, bats_money amount);

/* Sets the budget to `budget`, which is at least the sum of charged and
 * held. */
void bats_ledger_limit(struct bats_ledger *ledger, bats_money budget);

/* Puts a cushion aside, for a schedule that will have cost `cost` in all. */
void bats_ledger_put_by(struct bats_ledger *ledger, bats_money cushion,
                        bats_money cost);

/* Makes the cushion part of the budget. */
void bats_ledger_grant(struct bats_ledger *ledger);

/* The part of `amount`, which was charged just now, that came out of the
 * cushion. */
bats_money bats_ledger_take_cushion(struct bats_ledger *ledger,
                                    bats_money amount);

/* Asserts the invariant. */
void bats_ledger_check(const struct bats_ledger *ledger);

#endif
