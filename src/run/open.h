/*
 * open: a bag to which tasks are added while it is run (struct bats_run_open).
 *
 * Layer: run. Used by the master. Its parts are in open_state.h. Clients send
 * JSON objects, one per line, and get one line back for each (src/doc/open.md).
 * An answer is sent only after a commit: what was acknowledged is in the
 * record. For the engine, a task that waits for others is LEFT_OUT until they
 * are done. Functions other than bats_open_begin do nothing if m->open is
 * NULL.
 */
#ifndef BATS_OPEN_H
#define BATS_OPEN_H

#include "run/master.h"
#include "util/usage.h"

/* Call before the engine is created: adapts its options to an open bag. */
int bats_open_begin(struct master *m, struct bats_sched_options *engine,
                    struct bats_error *err);

/* At the start of the run: opens the socket and starts the driver.
 * BATS_EINPUT: the socket or the driver of an earlier session is in use. */
int bats_open_start(struct master *m, struct bats_error *err);

/* Handles the requests of clients, and checks whether the bag is to be
 * closed. */
int bats_open_step(struct master *m, struct bats_error *err);

/* Sends the answers. Without a commit, only answers that acknowledge
 * nothing. */
void bats_open_answer(struct master *m, bool committed);

/* The task has its result, and all of its output has arrived. */
int bats_open_ended(struct master *m, uint32_t task,
                    const struct bats_usage *usage, struct bats_error *err);

/* Returns true if a client waits for the task: it gets the output. */
bool bats_open_output(struct master *m, const struct bats_output_lines *lines);

/* Sets what was given with the task: class, and need. */
void bats_open_describe(const struct master *m, struct bats_execution *e);

bool bats_open_is_withdrawn(const struct master *m, uint32_t task);

/* Ends driver and connections. Returns the driver's status, and sets *known
 * (both: struct bats_run_outcome). */
int bats_open_end(struct master *m, uint32_t *known);

#endif
