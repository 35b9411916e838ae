/*
 * joined: the worker jobs of a run, between the hub (connections), the job
 * side (joining.h) and the engine.
 *
 * Layer: run. Used by master.c, in runs that worker jobs join. The functions
 * that a job side calls are in joining.h.
 */
#ifndef BATS_JOINED_H
#define BATS_JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_command;

struct master; /* run/master.h */

/* Instead of gathering a crew and taking a survey: a crew of absent ranks, the
 * platform of the job side, and the hub. The heart beats from now on. */
int bats_joined_expect(struct master *m, struct bats_error *err);

/* ---- these do nothing in a run that no worker jobs join ---- */

/* Once in each turn of the loop: those that wait are admitted, those that have
 * left or are cut off leave their machines, and the job side has its turn. */
int bats_joined_step(struct master *m, struct bats_error *err);

/* The bills of all jobs are known. */
bool bats_joined_is_settled(const struct master *m);

/* Until the next turn at the latest. */
int64_t bats_joined_due_us(const struct master *m);

void bats_joined_command(struct master *m, const struct bats_command *command);

/* Worker i has sent something that gave the error `rc`. If it is its fault,
 * its job is cut off, and the result is 0. */
int bats_joined_blame(struct master *m, size_t i, int rc,
                      struct bats_error *err);

/* From now on no job may join. */
void bats_joined_end(struct master *m);

#endif
