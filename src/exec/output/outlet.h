/*
 * outlet: where the output of tasks goes.
 *
 * Layer: exec. Used by runner. Model: a task writes to two pipes (stream.h),
 * and what comes out is handed over as lines, put into the worker's outfile
 * or into the task's own files. Only where nothing has to be done with the
 * bytes (--results without a limit, no output at all) the task has the file
 * itself.
 *
 * A failure while bytes are taken is remembered and told by outlet_poll and
 * outlet_finish: what the task writes after it is dropped.
 */
#ifndef BATS_OUTLET_H
#define BATS_OUTLET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "exec/output/outfile.h"
#include "exec/process/runner.h"
#include "exec/output/stream.h"

struct bats_outlet {
    const struct bats_runner_options *options; /* not owned */
    char *results_dir;
    struct bats_outfile *file;
    struct bats_stream stream[2];
    int files[2]; /* of the task: opened here, and closed at its end; or -1 */
    uint32_t task;
    struct bats_error error; /* the first one of this task, or code 0 */
};

/* Options as in runner.h; they must live as long as the outlet. BATS_ENOMEM,
 * BATS_ESYS. An outlet that was not initialised, but is all zero with
 * files and streams -1 (bats_outlet_none), may be released. */
struct bats_outlet bats_outlet_none(void);
int bats_outlet_init(struct bats_outlet *outlet,
                     const struct bats_runner_options *options,
                     struct bats_error *err);
void bats_outlet_release(struct bats_outlet *outlet);

/* Makes ready for an attempt of a task. fds[] are for its process, and belong
 * to the outlet; NULL: it has no process and writes nothing. BATS_ESYS. */
int bats_outlet_open(struct bats_outlet *outlet,
                     const struct bats_runner_task *task, int fds[2],
                     struct bats_error *err);

/* As bats_runner_settle. */
int bats_outlet_settle(struct bats_outlet *outlet, uint32_t task,
                       uint32_t attempt, bool is_result,
                       struct bats_error *err);

/* The process has its descriptors now. */
void bats_outlet_started(struct bats_outlet *outlet);

/* It could not be started: as if nothing had been. */
void bats_outlet_close(struct bats_outlet *outlet);

/* Offers again what was refused. */
void bats_outlet_retry(struct bats_outlet *outlet);

/* What to poll for, and what came of it. */
void bats_outlet_watch(const struct bats_outlet *outlet, struct pollfd fds[2]);
int bats_outlet_take(struct bats_outlet *outlet, const struct pollfd fds[2],
                     struct bats_error *err);

/* The task has ended so. 1: all of its output is where it belongs, and the
 * outlet is closed; 0: the taker said "not now"; or BATS_ESYS. */
int bats_outlet_finish(struct bats_outlet *outlet,
                       struct bats_runner_result *result,
                       struct bats_error *err);

#endif
