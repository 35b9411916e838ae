/*
 * gateway: rank 0 of a worker job, between the master and the ranks of its job.
 *
 * Layer: run. Used by worker.c. For rank 0 of the job, which is a worker like
 * the others, it is a transport (transport.h) to the master, by TCP. It also
 * relays between the other ranks of the job and the master: they take the
 * gateway for the master and need not know.
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

/* `file` of the master (door.h) and `job`, the number of this job, are used
 * until the end. Connects, and proves to the master who this is, and the other
 * way round. `near` (NULL: this process is alone) is for the other ranks of the
 * job and belongs to the gateway. Sets *silence_us, after which the master is
 * gone. Waits for 30 s at most. BATS_EINPUT: the file is wrong, or one side
 * refuses the other; BATS_ESYS: there is no master. Then *comm is there all the
 * same, to disband the other ranks; NULL: there is no memory. */
int bats_gateway_create(const char *file, const char *job,
                        struct bats_comm *near, struct bats_comm **comm,
                        int64_t *silence_us, struct bats_error *err);

/* The same for a worker that rank 0 has forked (forked.c), by this stream: it
 * has no other ranks, and nobody has to be convinced. When the stream ends, rank
 * 0 has died. BATS_ENOMEM, BATS_ESYS. */
int bats_gateway_child(int fd, int rank, int size, struct bats_comm **comm,
                       struct bats_error *err);

/* After the connection has ended (bats_comm_is_gone): connects again, trying
 * until `until_us` (monotonic); it may be another master, which has written a
 * new file. The other ranks have been told BATS_LEAVE_AGAIN. Between two
 * attempts `pause` is called, which returns within the given microseconds.
 * Errors as before. */
int bats_gateway_return(struct bats_comm *comm, int64_t until_us,
                        void (*pause)(void *context, int64_t us),
                        void *context, int64_t *silence_us,
                        struct bats_error *err);

#endif
