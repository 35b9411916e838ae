/* check: asserts the invariants of the bag, the ledger and the engine's state
 * (bats/sched.h), which no caller can break. Slow. */
#ifndef BATS_TEST_CHECK_H
#define BATS_TEST_CHECK_H

struct bats_bag;
struct bats_ledger;
struct bats_sched;

void check_bag(const struct bats_bag *bag);
void check_ledger(const struct bats_ledger *ledger);
void check_sched(const struct bats_sched *s);

#endif
