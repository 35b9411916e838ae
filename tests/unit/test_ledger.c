#include "bats/ledger.h"
#include "helpers/test.h"

TEST(ledger_never_charges_beyond_budget)
{
    struct bats_ledger l;
    bats_ledger_init(&l, 10, 0);
    assert_true(bats_ledger_charge(&l, 4));
    assert_true(bats_ledger_hold(&l, 5));
    assert_int_equal(bats_ledger_available(&l), 1);
    assert_false(bats_ledger_charge(&l, 2));
    assert_false(bats_ledger_hold(&l, 2));
    assert_int_equal(l.charged, 4);
    assert_int_equal(l.held, 5);
    assert_true(bats_ledger_charge(&l, 1));
    check_ledger(&l);
}

TEST(held_money_is_charged_or_given_up)
{
    struct bats_ledger l;
    bats_ledger_init(&l, 10, 0);
    assert_true(bats_ledger_hold(&l, 6));
    bats_ledger_charge_held(&l, 2);
    bats_ledger_give_up(&l, 4);
    assert_int_equal(l.charged, 2);
    assert_int_equal(l.held, 0);
    assert_int_equal(bats_ledger_available(&l), 8);
}

TEST(affordable_counts_whole_windows)
{
    struct bats_ledger l;
    bats_ledger_init(&l, 10 * BATS_UNIT, 0);
    assert_int_equal(bats_ledger_affordable(&l, 3 * BATS_UNIT), 3);
    assert_int_equal(bats_ledger_affordable(&l, 11 * BATS_UNIT), 0);
    assert_int_equal(bats_ledger_affordable(&l, 0), INT64_MAX);
    bats_ledger_init(&l, BATS_UNLIMITED, 0);
    assert_int_equal(bats_ledger_affordable(&l, 3), INT64_MAX);
}

TEST(earlier_charges_count_against_the_budget)
{
    struct bats_ledger l;
    bats_ledger_init(&l, 10, 7);
    assert_int_equal(bats_ledger_available(&l), 3);
    assert_false(bats_ledger_charge(&l, 4));
}

TEST(unlimited_budget_refuses_what_does_not_fit)
{
    struct bats_ledger l;
    bats_ledger_init(&l, BATS_UNLIMITED, 0);
    assert_true(bats_ledger_charge(&l, INT64_MAX - 5));
    assert_false(bats_ledger_charge(&l, 6));
    assert_int_equal(l.charged, INT64_MAX - 5);
}

/* 2 per hour from 30 minutes before the run: 1; 5 minutes to give it back. */
TEST(an_allocation_is_charged_by_the_time)
{
    struct bats_ledger l;
    const struct bats_billing billing = {.model = BATS_BILLING_ALLOCATION,
                                         .rate = 2 * BATS_UNIT,
                                         .before = BATS_UNIT,
                                         .leaving = 5 * BATS_MINUTE};
    bats_ledger_init(&l, 10 * BATS_UNIT, 3 * BATS_UNIT);
    assert_true(bats_ledger_lasts(&l) == BATS_NEVER);
    bats_ledger_allocate(&l, &billing);
    assert_true(l.charged == 4 * BATS_UNIT);
    assert_true(bats_ledger_lasts(&l) == 3 * BATS_HOUR - 5 * BATS_MINUTE);
    bats_ledger_pass(&l, 90 * BATS_MINUTE);
    assert_true(l.charged == 7 * BATS_UNIT);
    assert_true(bats_ledger_available(&l) == 3 * BATS_UNIT);
    assert_true(bats_ledger_book(&l) == 4 * BATS_UNIT);
    assert_true(bats_ledger_book(&l) == 0);
    bats_ledger_pass(&l, 90 * BATS_MINUTE + 1); /* rounded up */
    assert_true(bats_ledger_book(&l) == 1);
    bats_ledger_limit(&l, 3 * BATS_UNIT);
    assert_true(bats_ledger_lasts(&l) == 0);
    bats_ledger_limit(&l, BATS_UNLIMITED);
    assert_true(bats_ledger_lasts(&l) == BATS_NEVER);
}

/* 2 per hour, for 15 minutes at least. */
TEST(a_short_allocation_is_charged_the_least)
{
    struct bats_ledger l;
    const struct bats_billing billing = {.model = BATS_BILLING_ALLOCATION,
                                         .rate = 2 * BATS_UNIT,
                                         .least = 15 * BATS_MINUTE};
    bats_ledger_init(&l, 10 * BATS_UNIT, 0);
    bats_ledger_allocate(&l, &billing);
    assert_true(l.charged == BATS_UNIT / 2);
    bats_ledger_pass(&l, 15 * BATS_MINUTE);
    assert_true(l.charged == BATS_UNIT / 2);
    assert_true(bats_ledger_lasts(&l) == 5 * BATS_HOUR);
    bats_ledger_pass(&l, 30 * BATS_MINUTE);
    assert_true(l.charged == BATS_UNIT);
}

/* A schedule that costs 6, and a cushion of 3: of windows at 2 the first three
 * are the schedule's, the fourth takes 2 out of the cushion, and the fifth, of
 * 1, the last of it. */
TEST(the_cushion_pays_what_the_schedule_does_not)
{
    struct bats_ledger l;
    bats_ledger_init(&l, 20, 0);
    bats_ledger_put_by(&l, 3, 6);
    bats_ledger_limit(&l, 6);
    for (int i = 0; i < 3; i++) {
        assert_true(bats_ledger_charge(&l, 2));
        assert_int_equal(bats_ledger_take_cushion(&l, 2), 0);
    }
    assert_false(bats_ledger_charge(&l, 2)); /* not before it is granted */
    bats_ledger_grant(&l);
    assert_true(bats_ledger_charge(&l, 2));
    assert_int_equal(bats_ledger_take_cushion(&l, 2), 2);
    assert_true(bats_ledger_charge(&l, 1));
    assert_int_equal(bats_ledger_take_cushion(&l, 1), 1);
    assert_false(bats_ledger_charge(&l, 1));
    assert_int_equal(l.spent, 3);
    check_ledger(&l);
}

TEST_MAIN(NULL, NULL)
