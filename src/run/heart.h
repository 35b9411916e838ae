/*
 * heart: signs of life of rank 0, by which the others tell a busy master from
 * one that is gone.
 *
 * Layer: run. Used by mpi.c on rank 0, and by joined.c and worker.c for other
 * transports. The master may not check messages for a long time: it reads a
 * bag of ten million lines, waits for a disk, asks the user. So a separate
 * thread sends every rank a HEARTBEAT, from the start of MPI until the ranks
 * are told to leave. The thread ends with the process, and is suspended with
 * it. Launchers do not replace it: neither srun nor mpirun --enable-recovery
 * ends a step whose rank 0 has died.
 */
#ifndef BATS_HEART_H
#define BATS_HEART_H

#include <stdint.h>

#include "bats/error.h"
#include "run/comm.h"

/* Interval between signs of life if a rank that gives none for `silence_us` is
 * lost: a sixth of `silence_us`, so that a few may be late, but at most
 * 10 s. */
int64_t bats_heart_beat_us(int64_t silence_us);

/* Sends through `comm`, which must outlive the heart. BATS_ENOMEM,
 * BATS_ESYS. */
int bats_heart_start(struct bats_comm *comm, int64_t silence_us,
                     struct bats_error *err);

/* Returns after the last sign of life was sent. May be called again. */
void bats_heart_stop(void);

#endif
