/*
 * outlet: passes the output of tasks to its destination.
 *
 * Layer: exec. Used by runner. Model: a task writes to two pipes (stream.h).
 * The bytes are passed on as lines, or written into the worker's outfile or
 * into the task's own files. The task gets the file itself only if the bytes
 * need no processing (--results without a limit). In any case the last bytes
 * on standard error are kept for the result.
 *
 * A failure to write is remembered, and reported by outlet_poll and
 * outlet_finish; later output of the task is dropped.
 */
#ifndef BATS_OUTLET_H
#define BATS_OUTLET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "exec/output/outfile.h"
#include "exec/output/stream.h"
#include "exec/process/runner.h"

struct bats_outlet {
    const struct bats_runner_options *options; /* not owned */
    char *results_dir;
    struct bats_outfile *file;
    struct bats_stream stream[2];
    struct bats_last last; /* of standard error */
    int files[2];          /* files of the task, closed at its end; or -1 */
    uint32_t task;
    bool is_aside;           /* a command that is not a task: its output is not
                              * passed on */
    struct bats_error error; /* the first failure of this task, or code 0 */
};

/* Options as in runner.h; they must outlive the outlet. BATS_ENOMEM,
 * BATS_ESYS. bats_outlet_none returns an outlet that may be released without
 * being initialised. */
struct bats_outlet bats_outlet_none(void);
int bats_outlet_init(struct bats_outlet *outlet,
                     const struct bats_runner_options *options,
                     struct bats_error *err);
void bats_outlet_release(struct bats_outlet *outlet);

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

/* Call when the task has ended. Returns 1 if all of its output is written, and
 * closes the outlet; 0 if the taker said "not now"; or BATS_ESYS. */
int bats_outlet_finish(struct bats_outlet *outlet,
                       struct bats_runner_result *result,
                       struct bats_error *err);

#endif
