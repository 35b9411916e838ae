/*
 * executor: one slot: a queue of tasks and the runner that executes them one
 * after the other.
 *
 * Layer: run, but without MPI: the worker feeds it the messages it receives
 * and sends what comes out; the master does the same with its own when it
 * works too.
 *
 * Every task that goes in comes out exactly once, as a result.
 *
 * Where tasks may have copies (`hold` of the setup), the lines of a task are
 * kept until it has ended (exec/output/spool.h). Few of them go with the result; with
 * many the result asks, and the next task waits until a VERDICT has said
 * whether they are wanted.
 */
#ifndef BATS_EXECUTOR_H
#define BATS_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "proto/proto.h"

struct bats_executor; /* opaque */

struct bats_executor_sink {
    void *context;
    void (*result)(void *context, const struct bats_task_result *result);
    /* False for "not now": it is offered again. */
    bool (*output)(void *context, const struct bats_output_lines *output);
};

int bats_executor_create(const struct bats_setup *setup,
                         const struct bats_executor_sink *sink,
                         struct bats_executor **executor,
                         struct bats_error *err);

/* Kills and reaps what still runs. */
void bats_executor_destroy(struct bats_executor *executor);

/*
 * Does what the message says. ASSIGN: its tasks go to the end of the queue.
 * CANCEL: of a queued task, its result (cancelled, never started) comes at
 * once; the running one is told to stop; of any other the result is on its
 * way. VERDICT: its output is published or dropped. STOP: as
 * bats_executor_stop, now. The others do not concern it. BATS_ENOMEM,
 * BATS_ESYS.
 */
int bats_executor_obey(struct bats_executor *executor,
                       struct bats_message *message, struct bats_error *err);

/* Cancels every task, those that are still to come as well; what runs after
 * `grace_us` more is killed (0: now; otherwise no later than the setup says).
 */
void bats_executor_stop(struct bats_executor *executor, int64_t grace_us);

/* Stops the task that runs, in its grace time, and returns when nothing is left
 * of it. Results and output lines are dropped. */
void bats_executor_wind_up(struct bats_executor *executor);

/* Tasks of the queue that can be begun one after the other: none if a VERDICT
 * has to come first. The one that runs does not count. */
size_t bats_executor_waiting(const struct bats_executor *executor);

/* A task runs or waits. */
bool bats_executor_busy(const struct bats_executor *executor);

/* Starts what is to be started and sleeps up to `timeout_us` for the running
 * task. 1: a result came out, 0: none, or a negative errcode: this slot can
 * start no more tasks. */
int bats_executor_poll(struct bats_executor *executor, int64_t timeout_us,
                       struct bats_error *err);

#endif
