/*
 * batch: when a worker sends the results of short tasks.
 *
 * Layer: run. Each message costs the master a look, a commit of the record and
 * an answer, so results are collected. But the master has to hear of them
 * before the worker has nothing left to execute: when half of what it was given
 * has ended. Until an answer has come it need not hear that again, but for the
 * last one.
 */
#ifndef BATS_BATCH_H
#define BATS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_BATCH_AHEAD_US 40000 /* real time that a slot has tasks ahead */
#define BATS_BATCH_US 20000       /* a result waits no longer for others */

struct bats_batch {
    size_t n;        /* results that have not been sent */
    int64_t sent_us; /* when the last message was */
    bool answered;   /* tasks have come since results were sent */
};

/* How long the results may still wait while `waiting` tasks can be begun
 * without a word from the master. */
static inline int64_t bats_batch_left_us(const struct bats_batch *batch,
                                         size_t waiting, int64_t now_us)
{
    int64_t left_us = batch->sent_us + BATS_BATCH_US - now_us;
    if (waiting == 0 || (batch->answered && batch->n >= waiting))
        return 0;
    return left_us > 0 ? left_us : 0;
}

#endif
