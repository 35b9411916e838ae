/*
 * found: what a worker job has of an earlier session that was killed.
 *
 * Layer: run. Used by joined.c when the job's ranks are in. Results that
 * the last master did not live to take, and tasks that go on, become FOUND
 * events (bats/sched.h); a result follows as DONE or FAILED. The first result
 * of a task counts: where this session, or the last one, has one already, or
 * has other use for the slot, what was found is dropped, or told to stop.
 */
#ifndef BATS_FOUND_H
#define BATS_FOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "run/master.h"

/* The rank brings something of the session that this one continues. */
bool bats_found_any(const struct master *m, const struct bats_hello *hello);

/* Counts of what a HELLO brought and the run took. */
struct bats_found {
    uint32_t results, tasks; /* the second: that run */
};

/* Worker i has said this HELLO and got its SETUP, and its machine has just
 * JOINED. Nothing may start meanwhile (HOLD). Adds to *found. Errors as of
 * bats_results_take. */
int bats_found_take(struct master *m, size_t i,
                    const struct bats_hello *hello, struct bats_found *found,
                    struct bats_error *err);

#endif
