/*
 * inorder: the output of tasks in the order of the bag (--keep-order).
 *
 * Layer: report. Used by cli. Output of the first task that has not ended is
 * passed through at once. Output of later tasks is held in one unnamed
 * temporary file until all earlier tasks have ended.
 */
#ifndef BATS_INORDER_H
#define BATS_INORDER_H

#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_inorder; /* opaque */

typedef void bats_inorder_write(void *context, uint32_t task, int stream,
                                const char *bytes, size_t n);

/* For n tasks without results. Passes output to `write` in order.
 * BATS_ENOMEM. */
int bats_inorder_create(uint32_t n, bats_inorder_write *write, void *context,
                        struct bats_inorder **inorder, struct bats_error *err);
/* Writes all held output, task by task. NULL is legal. */
void bats_inorder_destroy(struct bats_inorder *inorder);

/* Accepts output of a task. If it cannot be held (BATS_ESYS: the disk is full;
 * BATS_ENOMEM) it is written at once. */
int bats_inorder_output(struct bats_inorder *inorder, uint32_t task,
                        int stream, const char *bytes, size_t n,
                        struct bats_error *err);

/* The task has ended for good; `to_come` bytes of its standard output are
 * still to come. May be called again. */
void bats_inorder_ended(struct bats_inorder *inorder, uint32_t task,
                        int64_t to_come);

/* The first task that has not ended; n: all have. */
uint32_t bats_inorder_next(const struct bats_inorder *inorder);

#endif
