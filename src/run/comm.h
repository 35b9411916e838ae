/*
 * comm: messages between ranks, without ever waiting for the other side.
 *
 * Layer: run. Used by the master and the worker; with run.h's start and end it
 * is all that calls MPI. MPI-3 only. A send owns its bytes until MPI is done
 * with them; a receive looks, and takes what is there. MPI's error codes
 * become BATS_ESYS here.
 */
#ifndef BATS_COMM_H
#define BATS_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "proto/proto.h"

struct bats_comm; /* opaque */

int bats_comm_create(struct bats_comm **comm, struct bats_error *err);

/* Sends that MPI has not finished are given up: their bytes leak. */
void bats_comm_destroy(struct bats_comm *comm);

int bats_comm_rank(const struct bats_comm *comm);
int bats_comm_size(const struct bats_comm *comm);

/* The process of `rank`, which is on this host: it is woken when something is
 * sent to it. 0: it is not, as is supposed of all. */
void bats_comm_set_process(struct bats_comm *comm, int rank, uint32_t pid);
uint32_t bats_comm_process(const struct bats_comm *comm, int rank);

/* All others that are heard here, rank 0 or at rank 0 all ranks, are on this
 * host: they wake this one, too. */
bool bats_comm_woken(const struct bats_comm *comm);

/* Sends the packet to `rank` and leaves it empty, whatever happens. Messages
 * to one rank arrive in the order they were sent. BATS_ENOMEM (also if the
 * packet has failed), BATS_ESYS. */
int bats_comm_send(struct bats_comm *comm, int rank,
                   struct bats_packet *packet, struct bats_error *err);

/* The same, but the send is not finished before the other side has begun to
 * receive it: who counts bats_comm_unsent cannot flood it. */
int bats_comm_send_matched(struct bats_comm *comm, int rank,
                           struct bats_packet *packet, struct bats_error *err);

/* Sends the packet, which is kept, to every other rank, but for those where it
 * has not got through since the last time. Another thread may do so: MPI is
 * called by one at a time. */
void bats_comm_repeat(struct bats_comm *comm,
                      const struct bats_packet *packet);

/* The last ones have got through to all. */
bool bats_comm_repeated(struct bats_comm *comm);

/* MPI may be called by several threads, one at a time; the same at all ranks.
 */
bool bats_comm_serialized(void);

/* Sends that MPI has not finished; tests them. */
size_t bats_comm_unsent(struct bats_comm *comm);

/* If a message is there, takes it and returns 1: *bytes is valid until the
 * next call. 0 if there is none. */
int bats_comm_receive(struct bats_comm *comm, int *from, const void **bytes,
                      size_t *n, struct bats_error *err);

/* A rank is lost and MPI_Finalize would wait for it: bats_mpi_end is to abort
 * instead. */
void bats_comm_give_up(struct bats_comm *comm);

/* This process ends after so many seconds, with this exit status, if it has
 * not by then. */
void bats_comm_leave_within(unsigned seconds, int exit_status);

/* Ends every rank of the run at once, with this exit status. */
_Noreturn void bats_comm_abort(int exit_status);

#endif
