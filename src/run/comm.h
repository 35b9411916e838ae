/*
 * comm: messages between ranks; it never waits for the other side.
 *
 * Layer: run. Used by the master and the worker, which do not know how
 * messages travel (transport.h): by MPI between the ranks of one job, by
 * streams to workers on this host, by MPI and a TCP stream to ranks of worker
 * jobs. MPI-3 only. A send owns its bytes until the transport is done with
 * them; a receive takes a message if there is one. MPI's error codes become
 * BATS_ESYS here.
 */
#ifndef BATS_COMM_H
#define BATS_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "proto/proto.h"

struct bats_comm; /* opaque */

/* MPI_Init, and MPI_Finalize, which waits for all ranks (run.h). */
int bats_comm_start(int *argc, char ***argv, int *rank, int *n_ranks,
                    struct bats_error *err);
void bats_comm_end(void);

/* The ranks of this MPI job, or the workers that rank 0 has forked. */
int bats_comm_create(struct bats_comm **comm, struct bats_error *err);

/* Gives up sends that MPI has not finished: their bytes leak. NULL is legal.
 */
void bats_comm_destroy(struct bats_comm *comm);

int bats_comm_rank(const struct bats_comm *comm);
int bats_comm_size(const struct bats_comm *comm);

/* Names the process of `rank` on this host, to be woken by each message. 0
 * (default): the rank is not on this host. */
void bats_comm_set_process(struct bats_comm *comm, int rank, uint32_t pid);
uint32_t bats_comm_process(const struct bats_comm *comm, int rank);

/* True if every message to this rank comes with a signal: all its senders (at
 * rank 0 all others, elsewhere rank 0) are on this host. */
bool bats_comm_woken(const struct bats_comm *comm);

/* Sends the packet to `rank` and leaves it empty, whatever happens. Messages to
 * one rank arrive in the order they were sent. If `matched`, the send is
 * finished only when the other side has begun to receive it: a caller that
 * counts bats_comm_unsent cannot flood the receiver. BATS_ENOMEM (also if the
 * packet has failed), BATS_ESYS. */
int bats_comm_send(struct bats_comm *comm, int rank, struct bats_text *packet,
                   bool matched, struct bats_error *err);

/* The same with a packet of this message, not matched. */
int bats_comm_say(struct bats_comm *comm, int rank,
                  const struct bats_message *message, struct bats_error *err);

/* Sends the packet, which stays the caller's, to every other rank whose last
 * repeated send has finished. Another thread may call this: calls of MPI take
 * turns. */
void bats_comm_repeat(struct bats_comm *comm, const struct bats_text *packet);

/* True if the last sends to all ranks have finished. */
bool bats_comm_repeated(struct bats_comm *comm);

/* True if several threads may call MPI, one at a time; the same on all
 * ranks. */
bool bats_comm_serialized(void);

/* Tests the sends, and returns the number that MPI has not finished. */
size_t bats_comm_unsent(struct bats_comm *comm);

/* Takes a message: 1, and *bytes is valid until the next call; 0: there is
 * none. */
int bats_comm_receive(struct bats_comm *comm, int *from, const void **bytes,
                      size_t *n, struct bats_error *err);

/* True if the rank's connection has ended: nothing more comes from it. */
bool bats_comm_is_gone(const struct bats_comm *comm, int rank);

/* This rank has lost the master. A gateway tells the ranks behind it to stop
 * their tasks, with BATS_LEAVE_CUT or BATS_LEAVE_AGAIN (proto.h). */
void bats_comm_disband(struct bats_comm *comm, enum bats_leave leave);

/* Call when a rank is lost: MPI_Finalize would wait for it, so bats_mpi_end
 * will abort instead. A failed MPI call has the same effect. */
void bats_comm_give_up(void);
bool bats_comm_given_up(void);

/* Ends this process with this exit status after this many seconds, unless it
 * ends before. */
void bats_comm_leave_within(unsigned seconds, int exit_status);

/* Ends every rank of the run at once, with this exit status. */
_Noreturn void bats_comm_abort(int exit_status);

#endif
