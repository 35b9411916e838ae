/*
 * batch: when a worker sends the results of short tasks.
 * Layer: run. Each message costs the master a check, a commit of the record
 * and an answer, so results are collected. But the master has to hear before
 * the worker runs out of tasks: when half of the tasks it was given have
 * ended. Until the master has answered, only the end of the last task makes
 * another message due.
 */
#ifndef BATS_BATCH_H
#define BATS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_BATCH_AHEAD_US 40000 /* real time of tasks sent ahead to a slot */
#define BATS_BATCH_US 20000       /* longest wait of a result for others */

struct bats_batch {
    size_t n;        /* results not sent yet */
    int64_t sent_us; /* time of the last message */
    bool answered;   /* tasks have come since the last message */
};

/* How long the results may wait if `waiting` tasks can start without a message
 * from the master. */
static inline int64_t bats_batch_left_us(const struct bats_batch *batch,
                                         size_t waiting, int64_t now_us)
{
    int64_t left_us = batch->sent_us + BATS_BATCH_US - now_us;
    if (waiting == 0 || (batch->answered && batch->n >= waiting))
        return 0;
    return left_us > 0 ? left_us : 0;
}

#endif
