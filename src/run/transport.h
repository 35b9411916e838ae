/*
 * transport: how messages travel, behind comm.h.
 *
 * Layer: run, private to comm.c and the transports: comm_mpi.c (the ranks of
 * one MPI job), hub.c (worker jobs, or workers that rank 0 has forked, seen
 * from the master) and gateway.c (the master and the ranks of its own job,
 * seen from a gateway; or rank 0, seen from the worker that it has forked).
 *
 * A transport is a constant table of functions and a structure that begins
 * with struct bats_comm. comm.c calls each function with the lock held that
 * serializes all calls of MPI; comm.h documents the function of the same name.
 */
#ifndef BATS_TRANSPORT_H
#define BATS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/comm.h"

struct bats_transport {
    void (*destroy)(struct bats_comm *comm);
    /* Takes over the packet, also on failure. The packet has not failed. */
    int (*send)(struct bats_comm *comm, int rank, struct bats_text *packet,
                bool matched, struct bats_error *err);
    /* For the heart (heart.h); NULL: no heart. */
    void (*repeat)(struct bats_comm *comm, const struct bats_text *packet);
    /* NULL: always. */
    bool (*repeated)(struct bats_comm *comm);
    size_t (*unsent)(struct bats_comm *comm);
    int (*receive)(struct bats_comm *comm, int *from, const void **bytes,
                   size_t *n, struct bats_error *err);
    /* NULL: never. */
    bool (*is_gone)(const struct bats_comm *comm, int rank);
    /* NULL: nothing to do. */
    void (*disband)(struct bats_comm *comm, enum bats_leave leave);
};

struct bats_comm {
    const struct bats_transport *via;
    int rank;
    int size;
    bool is_stream; /* every message comes with a signal. Otherwise only if all
                     * senders to this rank are on this host */
    pid_t *process; /* by rank: its process on this host, or 0 */
    int n_here;     /* number of them */
};

/* Makes a transport's structure, of `bytes`, all zero except its base; undone
 * by bats_comm_destroy. NULL: out of memory. */
void *bats_comm_make(size_t bytes, const struct bats_transport *via, int rank,
                     int size);

/* The lock, for a transport's functions that comm.c does not call. */
void bats_comm_lock(void);
void bats_comm_unlock(void);

/* Sets how this process reaches the others: whether other threads may send,
 * how to end every process of the job at once (NULL: they end by themselves
 * when this one is gone), and bats_comm_create. */
void bats_comm_set(bool serialized, void (*abort)(int exit_status),
                   int (*create)(struct bats_comm **comm,
                                 struct bats_error *err));

#endif
