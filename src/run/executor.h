/*
 * executor: one slot: a queue of tasks and the runner that executes them one
 * after the other.
 *
 * Layer: run, but without MPI. A worker passes its messages on and sends the
 * results.
 *
 * Every task that goes in comes out exactly once, as a result.
 *
 * If tasks may have replicas (`hold` of the setup), the lines of a task are
 * kept until it has ended (exec/output/spool.h). A few lines go with the
 * result. With many, the result asks for a VERDICT, and the next task waits
 * until the VERDICT tells whether the lines count.
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
    /* Returns false for "not now": the same lines are offered again. */
    bool (*output)(void *context, const struct bats_output_lines *output);
};

int bats_executor_create(const struct bats_setup *setup,
                         const struct bats_executor_sink *sink,
                         struct bats_executor **executor,
                         struct bats_error *err);

/* The SETUP of another master: it counts once the running task has ended.
 * Errors as of bats_executor_create. */
int bats_executor_change(struct bats_executor *executor,
                         const struct bats_setup *setup,
                         struct bats_error *err);

/* Kills and reaps what still runs. */
void bats_executor_destroy(struct bats_executor *executor);

/*
 * Handles the message. ASSIGN: its tasks join the end of the queue. CANCEL: a
 * queued task gives its result (cancelled, never started) at once; the running
 * task is told to stop; the result of any other task is on its way. VERDICT:
 * the output is published or dropped. STOP: like bats_executor_stop, at once.
 * Other messages are ignored. BATS_ENOMEM, BATS_ESYS.
 */
int bats_executor_obey(struct bats_executor *executor,
                       struct bats_message *message, struct bats_error *err);

/* Cancels every task, including later ones. A task that still runs after
 * `grace_us` is killed (0: at once; never later than the setup allows). */
void bats_executor_stop(struct bats_executor *executor, int64_t grace_us);

/* Stops the running task within its grace time, and returns when no process of
 * it is left. Drops results and output lines. */
void bats_executor_wind_up(struct bats_executor *executor);

/* The master is gone, and another one may come: forgets tasks that have not
 * begun. False: no running task can continue for the next master, and no lines
 * wait for a VERDICT; running tasks were told to stop. */
bool bats_executor_go_on(struct bats_executor *executor);

/* Gives the running task; *attempt is 0 if there is none. */
void bats_executor_runs(const struct bats_executor *executor, uint32_t *task,
                        uint32_t *attempt);

/* True if all lines of this attempt, which has ended, wait for a VERDICT. */
bool bats_executor_asks(const struct bats_executor *executor, uint32_t task,
                        uint32_t attempt);

/* The number of queued tasks that can start one after another: 0 if a VERDICT
 * has to come first. The running task does not count. */
size_t bats_executor_waiting(const struct bats_executor *executor);

/* True if a task runs or waits, or the first command of the node does. */
bool bats_executor_busy(const struct bats_executor *executor);

/* True if the first command of the node is done (pernode.h). */
bool bats_executor_ready(const struct bats_executor *executor);

/* Call after the executor was stopped, until it returns true: runs the last
 * command of the node for up to `timeout_us`. Results are dropped. */
bool bats_executor_leave(struct bats_executor *executor, int64_t timeout_us);

/* Starts the next task if possible, and sleeps up to `timeout_us` for the
 * running one. 1: there is a result; 0: there is none; a negative errcode:
 * this slot can start no more tasks. */
int bats_executor_poll(struct bats_executor *executor, int64_t timeout_us,
                       struct bats_error *err);

#endif
