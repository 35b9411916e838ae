/*
 * comm: messages between ranks; it never waits for the other side.
 *
 * Layer: run. The master and the worker do not know how messages travel. That
 * is up to a transport: comm_mpi.c (the ranks of one MPI job), hub.c (worker
 * jobs, or workers that rank 0 has forked, seen from the master) and gateway.c
 * (the master and the ranks of its own job, seen from a gateway; or rank 0,
 * seen from a worker that it has forked). A send owns its bytes until the
 * transport is done with them; a receive takes a message if there is one.
 */
#ifndef BATS_COMM_H
#define BATS_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bats/error.h"
#include "proto/proto.h"

/* The structure of each transport begins with this one. */
struct bats_comm {
    const struct bats_transport *via;
    int rank;
    int size;
    bool is_stream; /* every message comes with a signal. Otherwise only if all
                     * senders to this rank are on this host */
    pid_t *process; /* by rank: its process on this host, or 0 */
    int n_here;     /* number of them */
};

/* The ranks of this MPI job, or the workers that rank 0 has forked. */
int bats_comm_create(struct bats_comm **comm, struct bats_error *err);

/* Gives up sends that MPI has not finished: their bytes leak. NULL is legal.
 */
void bats_comm_destroy(struct bats_comm *comm);

/* Names the process of `rank` on this host, to be woken by each message. 0
 * (default): the rank is not on this host. */
void bats_comm_set_process(struct bats_comm *comm, int rank, uint32_t pid);

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

/* ---- signs of life of rank 0 ----
 *
 * They tell the others a busy master from one that is gone. The master may not
 * check messages for a long time: it reads a bag of ten million lines, waits
 * for a disk, asks the user. So a separate thread, the heart, sends every rank
 * a HEARTBEAT, from the start of MPI until the ranks are told to leave. The
 * thread ends with the process, and is suspended with it. Launchers do not
 * replace it: neither srun nor mpirun --enable-recovery ends a step whose rank
 * 0 has died. */

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

/* ---- for the transports ---- */

/* comm.c calls these with the lock held that serializes all calls of MPI. */
struct bats_transport {
    void (*destroy)(struct bats_comm *comm);
    /* Takes over the packet, also on failure. The packet has not failed. */
    int (*send)(struct bats_comm *comm, int rank, struct bats_text *packet,
                bool matched, struct bats_error *err);
    /* Sends the heart's packet, which stays the caller's, to every other rank
     * whose last one has been sent. */
    void (*repeat)(struct bats_comm *comm, const struct bats_text *packet);
    /* True if the heart's last packets have been sent. NULL: always. */
    bool (*repeated)(struct bats_comm *comm);
    size_t (*unsent)(struct bats_comm *comm);
    int (*receive)(struct bats_comm *comm, int *from, const void **bytes,
                   size_t *n, struct bats_error *err);
    bool (*is_gone)(const struct bats_comm *comm, int rank); /* NULL: never */
    void (*disband)(struct bats_comm *comm, enum bats_leave leave); /* or
                                                                     * NULL */
};

/* Makes a transport's structure, of `bytes`, all zero except its base; undone
 * by bats_comm_destroy. NULL: out of memory. */
void *bats_comm_make(size_t bytes, const struct bats_transport *via, int rank,
                     int size);

/* The lock, for a transport's functions that comm.c does not call. */
void bats_comm_lock(void);
void bats_comm_unlock(void);

/* How this process reaches the others. */
struct bats_way {
    void (*abort)(int exit_status); /* ends every process of the job; NULL:
                                     * they end when this one is gone */
    int (*create)(struct bats_comm **comm, struct bats_error *err);
};

void bats_comm_go(struct bats_way way);

#endif
