/*
 * outlet: passes the output of tasks to its destination.
 *
 * Layer: exec, private to the runner. Model: a task writes to two pipes. The
 * bytes are passed on as lines, or written into the worker's outfile. With
 * --results the task writes to files of its own. In any case the last bytes on
 * standard error are kept for the result.
 *
 * The outlet keeps its own write ends open while the task lives, so the pipes
 * never report an end of file. After the end of the task their contents are
 * read; another process that still holds a pipe cannot delay the result.
 *
 * A failure to write is remembered, and reported by bats_outlet_take, _drain
 * and _finish; later output of the task is dropped.
 *
 * With --results the files of a task are DIR/<task + 1>/stdout and stderr, or
 * in the directory of its own that BATS_RESULTS in its environment names. A
 * replica writes to separate files, stdout.<attempt> and stderr.<attempt>,
 * until it is known whether it gives the result.
 */
#ifndef BATS_OUTLET_H
#define BATS_OUTLET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "exec/process/runner.h"

/* Longest line that is passed on, with its newline. */
#define BATS_OUTLET_LINE ((size_t)1 << 20)

struct bats_outlet; /* opaque */

/* Options as in runner.h; they must outlive the outlet. BATS_ENOMEM,
 * BATS_ESYS. */
int bats_outlet_create(const struct bats_runner_options *options,
                       struct bats_outlet **outlet, struct bats_error *err);
void bats_outlet_destroy(struct bats_outlet *outlet);

/* Prepares for an attempt of a task. fds[] are for its process, and belong to
 * the outlet; NULL: the attempt has no process and writes nothing.
 * BATS_ESYS. */
int bats_outlet_open(struct bats_outlet *outlet,
                     const struct bats_runner_task *task, int fds[2],
                     struct bats_error *err);

/* Like bats_runner_settle. */
int bats_outlet_settle(struct bats_outlet *outlet, uint32_t task,
                       uint32_t attempt, bool is_result,
                       struct bats_error *err);

/* Call when the process has its descriptors. */
void bats_outlet_started(struct bats_outlet *outlet);

/* Call when the process could not be started: undoes bats_outlet_open. */
void bats_outlet_close(struct bats_outlet *outlet);

/* Offers refused output again. */
void bats_outlet_retry(struct bats_outlet *outlet);

/* The descriptors to poll, and the events seen on them. */
void bats_outlet_watch(const struct bats_outlet *outlet, struct pollfd fds[2]);
int bats_outlet_take(struct bats_outlet *outlet, const struct pollfd fds[2],
                     struct bats_error *err);

/* Call when the task has ended. Returns 1 if all output so far is passed on, 0
 * if the taker said "not now"; or BATS_ESYS. */
int bats_outlet_drain(struct bats_outlet *outlet, struct bats_error *err);

/* The standard error of the task, until the outlet is closed. */
int bats_outlet_stderr(const struct bats_outlet *outlet);

/* Drains, completes the result, and closes the outlet. Returns the same. */
int bats_outlet_finish(struct bats_outlet *outlet,
                       struct bats_runner_result *result,
                       struct bats_error *err);

#endif
