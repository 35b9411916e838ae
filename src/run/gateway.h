/*
 * gateway: rank 0 of a worker job, between the master and the ranks of its
 * job.
 *
 * Layer: run. Used by worker.c. Rank 0 of the job is a worker like the others;
 * for it the gateway is a transport (comm.h) to the master, by TCP. The
 * gateway also relays between the other ranks of the job and the master: they
 * see the gateway as their master.
 *
 *     master ==TCP== gateway (rank 0 of the job) --MPI-- rank 1, rank 2, ...
 *
 * While more than 1 MiB waits to go to the master, nothing is received by MPI,
 * so that the other ranks wait, too (matched sends, comm.h).
 */
#ifndef BATS_GATEWAY_H
#define BATS_GATEWAY_H

#include <stdint.h>

#include "run/comm.h"

/* Connects to the master; gateway and master prove their identity to each
 * other. `file` of the master (door.h) and `job`, the number of this job, are
 * used until the end. `near` is for the other ranks of the job and belongs to
 * the gateway; NULL: this process is alone. Sets *silence_us, after which the
 * master is gone. Waits for 30 s at most. BATS_EINPUT: the file is wrong, or
 * one side refuses the other; BATS_ESYS: there is no master. Even then *comm
 * is set, to disband the other ranks, unless memory is short (NULL). */
int bats_gateway_create(const char *file, const char *job,
                        struct bats_comm *near, struct bats_comm **comm,
                        int64_t *silence_us, struct bats_error *err);

/* The same for a worker that rank 0 has forked (forked.c), by this stream: no
 * other ranks, no authentication. When the stream ends, rank 0 has died.
 * BATS_ENOMEM, BATS_ESYS. */
int bats_gateway_child(int fd, int rank, int size, struct bats_comm **comm,
                       struct bats_error *err);

/* Connects again after the connection has ended (bats_comm_is_gone), trying
 * until `until_us` (monotonic). The master may be another one, which has
 * written a new file. The other ranks have been told BATS_LEAVE_AGAIN. Between
 * two attempts `pause` is called, which returns within the given microseconds.
 * Errors as before. */
int bats_gateway_return(struct bats_comm *comm, int64_t until_us,
                        void (*pause)(void *context, int64_t us),
                        void *context, int64_t *silence_us,
                        struct bats_error *err);

#endif
