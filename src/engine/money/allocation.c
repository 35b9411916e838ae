/*
 * allocation: the lease of the job that the run itself is in, which is billed
 * by the time (bats/billing.h). See leases.h and bats/ledger.h.
 */
#include "engine/money/kinds.h"

void bats_ledger_allocate(struct bats_ledger *ledger,
                          const struct bats_billing *billing)
{
    ledger->billing = *billing;
    ledger->others_bill = true;
    ledger->booked = ledger->charged;
    ledger->base = ledger->charged + billing->before;
    ledger->charged = ledger->base;
    bats_ledger_pass(ledger, 0);
}

void bats_ledger_pass(struct bats_ledger *ledger, bats_time now)
{
    if (bats_billing_is_timed(&ledger->billing) &&
        !bats_units_add(ledger->base, bats_billing_held(&ledger->billing, now),
                        &ledger->charged))
        ledger->charged = BATS_UNLIMITED;
}

bats_money bats_ledger_book(struct bats_ledger *ledger)
{
    bats_money amount = ledger->charged - ledger->booked;
    ledger->booked = ledger->charged;
    return amount;
}

bats_time bats_ledger_lasts(const struct bats_ledger *ledger)
{
    if (!bats_billing_is_timed(&ledger->billing) ||
        ledger->budget == BATS_UNLIMITED)
        return BATS_NEVER;
    bats_money left = ledger->budget - ledger->base - ledger->held;
    bats_time time =
        left < 0 ? 0 : bats_billing_time(ledger->billing.rate, left);
    return time > ledger->billing.leaving ? time - ledger->billing.leaving : 0;
}

static bats_money owed(const struct bats_ledger *ledger, bats_time now)
{
    return ledger->billing.before + bats_billing_held(&ledger->billing, now);
}

const struct own_lease lease_allocation = {.begin = bats_ledger_allocate,
                                           .pass = bats_ledger_pass,
                                           .book = bats_ledger_book,
                                           .lasts = bats_ledger_lasts,
                                           .owed = owed};
