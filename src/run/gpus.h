/*
 * gpus: lists of the names of GPUs, such as "0,1" or "GPU-8f3,GPU-a02".
 *
 * Layer: run. Used by needs and needs_jobs.
 */
#ifndef BATS_RUN_GPUS_H
#define BATS_RUN_GPUS_H

#include <stddef.h>
#include <stdint.h>

struct bats_text; /* util/text.h */

/* Moves *at to the next name and returns its length; 0: the end. */
size_t bats_gpus_next(const char **at);

size_t bats_gpus_count(const char *list);

/* Makes `names` the numbers from 0 to n - 1. */
void bats_gpus_number(struct bats_text *names, uint32_t n);

/* Adds the names that `names` does not have yet. */
void bats_gpus_add(struct bats_text *names, const char *list);

#endif
