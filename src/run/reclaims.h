/*
 * reclaims: machines that are taken away with a notice.
 *
 * Layer: run, private to the master. By emulation: a machine of a cluster with
 * a lifetime (input/model.h) lives from each ACQUIRE for as long as the seed of
 * the run draws; the notice before, the machine is told to the engine, and at
 * the end it is lost. Really: a rank has got SIGTERM and says so (NOTICE); it
 * parts by itself once the notice is over. Or the batch system drains its host
 * (asked every 10 s, without waiting): then it parts when the notice is over.
 * Only machines of reclaimable clusters get a notice of these kinds. Of
 * several, the end that comes first counts. A worker job on such a host gets no
 * more tasks (RETIRED), and is given back when those that run there have ended.
 */
#ifndef BATS_RECLAIMS_H
#define BATS_RECLAIMS_H

#include "run/master.h"

/* BATS_ENOMEM. */
int bats_reclaims_init(struct master *m, struct bats_error *err);
void bats_reclaims_release(struct master *m);

/* The engine's command is about to be carried out. */
void bats_reclaims_command(struct master *m,
                           const struct bats_command *command);

/* Virtual time of the next notice or end; BATS_NEVER if there is none. */
bats_time bats_reclaims_due(const struct master *m);

/* Tells the engine about notices and ends that are due. */
int bats_reclaims_step(struct master *m, struct bats_error *err);

/* Worker i has got a notice and ends after its cluster's delay. */
int bats_reclaims_notice(struct master *m, size_t i, struct bats_error *err);

#endif
