/* check: asserts the invariants of the engine, its bag and its money
 * (bats/sched.h), which no caller can break. Slow. */
#ifndef BATS_TEST_CHECK_H
#define BATS_TEST_CHECK_H

struct bats_sched;

void check_sched(const struct bats_sched *s);

#endif
