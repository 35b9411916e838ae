/*
 * heart: rank 0 gives signs of life, so that the others can tell a master that
 * is busy from one that is gone.
 *
 * Layer: run. Used by comm.c on rank 0. The master reads a bag of ten million
 * lines, waits for a disk, asks the user: it may look at no message for long.
 * So a thread of its own sends every rank a HEARTBEAT, from the start of MPI to
 * the moment when the ranks are told to leave. It ends with the process, and
 * stops with it. No launcher need be asked: srun does not end a step whose
 * rank 0 has died, nor does mpirun --enable-recovery.
 */
#ifndef BATS_HEART_H
#define BATS_HEART_H

#include <stdint.h>

#include "bats/error.h"

/* How often a rank gives a sign of life, where one that gives none for
 * `silence_us` is lost: a sixth of it, so that a few may come late, and 5 s at
 * most. */
int64_t bats_heart_beat_us(int64_t silence_us);

/* BATS_ENOMEM, BATS_ESYS. */
int bats_heart_start(int64_t silence_us, struct bats_error *err);

/* When this returns the last one has been sent. May be called again. */
void bats_heart_stop(void);

#endif
