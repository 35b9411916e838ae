/*
 * hub: the master's end of its worker jobs: a transport (comm.h) whose
 * ranks come and go; and gateway, the other end.
 *
 * Layer: run. Used by joined.c and forked.c. Rank 0 is the master, which has no
 * MPI here; the others are ranks of worker jobs. The states of a connection:
 *
 *     KNOCKS   connected; a KNOCK must come, by TLS with the right key
 *     GATHERS  authenticated; each of its ranks must say HELLO
 *     WAITS    for bats_hub_admit or bats_hub_refuse; nothing is read
 *     WORKS    its messages are those of its ranks
 *     LEFT     every rank has said good-bye (STOP), and nothing is unread
 *     CUT      the connection broke, or sent nonsense, or was refused
 *
 * The hub owns the connections and their jobs: it makes a job for each
 * connection, and closes the connection when the job enters LEFT or CUT. The
 * job stays, with its reason, until joined.c has seen it and drops it
 * (bats_hub_drop): of every connection that was ever made, also of those that
 * were never authenticated.
 *
 * Silence. In KNOCKS a connection has 15 s, whether it says nothing at all or
 * nothing after the handshake; in GATHERS the job has a minute for the HELLO of
 * every rank; then it is refused. WAITS lasts until joined.c decides. In WORKS
 * the hub has no limit: a rank that is silent for --silence is found by the
 * crew (bats_crew_lost), and joined.c cuts the job when no rank of it is left.
 * Nobody who is silent keeps others waiting: nothing here blocks, and what is
 * not read stays with its sender. Connections that are not authenticated
 * (strangers) may send messages of up to 4 KiB (8 KiB by TLS). There may be 256
 * of them; a further one takes the place of the one that came first.
 *
 * Errors. What is wrong with a connection is no error of the transport: the job
 * is CUT, and `why` is a phrase about it. Messages to a rank whose job is gone,
 * or that there is no memory for, are dropped, and the send succeeds; in the
 * second case the job is CUT. bats_comm_receive of a hub never fails.
 *
 * One poll() finds all that has come. The jobs take turns, and nothing is read
 * ahead of what is taken, so a gateway that sends faster than the master works
 * has to wait. Except for the heart (comm.h), only the main
 * thread may call.
 */
#ifndef BATS_HUB_H
#define BATS_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/comm.h"
#include "run/door.h"
#include "run/joining.h"
#include "run/wire.h"

enum bats_hub_state {
    BATS_HUB_KNOCKS,
    BATS_HUB_GATHERS,
    BATS_HUB_WAITS,
    BATS_HUB_WORKS,
    BATS_HUB_LEFT,
    BATS_HUB_CUT
};

/* One connection. Outside hub.c it is read-only, except rank, is_to_leave and
 * leaves_by_us, which belong to joined.c. */
struct bats_hub_job {
    enum bats_hub_state state;
    bool admitted; /* it has reached WORKS */
    char number[BATS_PROTO_JOB];
    char why[240]; /* CUT: the reason, a phrase */
    uint32_t n_ranks;
    struct bats_hello *hellos; /* n_ranks, texts in `said` */
    int *rank;                 /* n_ranks: ranks in the run, from WORKS on */
    int64_t since_us;          /* monotonic: start of its state */
    bool is_to_leave;          /* tell it to leave once its output is here */
    int64_t leaves_by_us;      /* deadline of a job told to leave; 0: not
                                * told */
    /* private */
    struct bats_text *said;
    bool is_told; /* a forked worker's CUT was reported */
    uint32_t n_here, n_left;
    struct bats_wire wire;
};

/* For up to `most_ranks` ranks of worker jobs. `side`, used until the end,
 * says how they reach the master. A gateway gives the master up after
 * `silence_us`. *comm is the transport, for the functions below and those of
 * comm.h. BATS_ENOMEM, BATS_ESYS. */
int bats_hub_create(const struct bats_joining *side, uint32_t most_ranks,
                    int64_t silence_us, struct bats_comm **comm,
                    struct bats_error *err);

/* The same for workers that this process has forked (forked.c): all are
 * authenticated, rank i's stream is fds[i - 1], and nobody else may come. The
 * end of a stream is an ERROR message of that rank. `ended` is called when the
 * comm is destroyed and all streams are closed. BATS_ENOMEM, BATS_ESYS. */
int bats_hub_forked(const int *fds, int n, void (*ended)(void),
                    struct bats_comm **comm, struct bats_error *err);

/* Begins to listen and writes the file, or stops and removes it; does nothing
 * if that is done already. BATS_EINPUT: port or file cannot be had;
 * BATS_ESYS. */
int bats_hub_listen(struct bats_comm *comm, bool listens,
                    struct bats_error *err);

/* Connection i, in order of arrival; NULL: there are not so many. Valid until
 * its bats_hub_drop. */
struct bats_hub_job *bats_hub_job(const struct bats_comm *comm, size_t i);

/* Admits a job that WAITS: its rank k becomes job->rank[k] of the run. */
void bats_hub_admit(struct bats_comm *comm, struct bats_hub_job *job);

/* Tells the job why, and cuts it. */
void bats_hub_refuse(struct bats_hub_job *job, const char *why);

/* The same with the job that this rank belongs to, if any. */
void bats_hub_cut(struct bats_comm *comm, int rank, const char *why);

/* Forgets a job that LEFT or is CUT; its ranks are free. */
void bats_hub_drop(struct bats_comm *comm, struct bats_hub_job *job);

/* ---- gateway.c: the other end ----
 *
 * Used by worker.c. Rank 0 of a worker job is a worker like the others; for it
 * the gateway is a transport to the master, by TCP. The gateway also relays
 * between the other ranks of the job and the master: they see the gateway as
 * their master.
 *
 *     master ==TCP== gateway (rank 0 of the job) --MPI-- rank 1, rank 2, ...
 *
 * While more than 1 MiB waits to go to the master, nothing is received by MPI,
 * so that the other ranks wait, too (matched sends, comm.h). */

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
