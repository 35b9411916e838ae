#include "bats/ledger.h"

#include <assert.h>

void bats_ledger_init(struct bats_ledger *ledger, bats_money budget,
                      bats_money charged)
{
    *ledger = (struct bats_ledger){.budget = budget, .charged = charged};
}

bats_money bats_ledger_available(const struct bats_ledger *ledger)
{
    if (ledger->budget == BATS_UNLIMITED)
        return BATS_UNLIMITED;
    bats_money left = ledger->budget - ledger->charged - ledger->held;
    return left > 0 ? left : 0;
}

int64_t bats_ledger_affordable(const struct bats_ledger *ledger,
                               bats_money charge)
{
    if (charge == 0 || ledger->budget == BATS_UNLIMITED)
        return INT64_MAX;
    return bats_ledger_available(ledger) / charge;
}

/* Without a budget, the limit is the largest representable sum. */
bool bats_ledger_hold(struct bats_ledger *ledger, bats_money amount)
{
    assert(amount >= 0);
    if (amount > ledger->budget - ledger->charged - ledger->held)
        return false;
    ledger->held += amount;
    return true;
}

bool bats_ledger_charge(struct bats_ledger *ledger, bats_money amount)
{
    bool is_paid = bats_ledger_hold(ledger, amount);
    if (is_paid)
        bats_ledger_charge_held(ledger, amount);
    return is_paid;
}

void bats_ledger_charge_held(struct bats_ledger *ledger, bats_money amount)
{
    bats_ledger_give_up(ledger, amount);
    ledger->charged += amount;
}

void bats_ledger_give_up(struct bats_ledger *ledger, bats_money amount)
{
    assert(0 <= amount && amount <= ledger->held);
    ledger->held -= amount;
}

void bats_ledger_bill(struct bats_ledger *ledger, bats_money amount)
{
    assert(amount >= 0);
    ledger->base += amount;
    ledger->booked += amount;
    ledger->charged += amount;
}

void bats_ledger_limit(struct bats_ledger *ledger, bats_money budget)
{
    assert(ledger->others_bill || budget - ledger->charged >= ledger->held);
    ledger->budget = budget;
}

/* ---- the job that the run itself is in ---- */

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
    if (!ledger->others_bill)
        return 0;
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
        left < 0 ? 0
                 : bats_billing_lasts(ledger->billing.rate, BATS_HOUR, left);
    return time > ledger->billing.leaving ? time - ledger->billing.leaving : 0;
}
