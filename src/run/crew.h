/*
 * crew: the ranks that execute tasks, as the master sees them.
 *
 * Layer: run. Used by the master. A member is a rank with a place on a
 * machine; rank 0 is one as well if the master works, and is reached without
 * MPI. Messages to one member arrive in the order they are sent here; ASSIGNs
 * are collected and leave together.
 */
#ifndef BATS_CREW_H
#define BATS_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/sched.h"
#include "input/platform.h"
#include "run/comm.h"
#include "run/executor.h"
#include "proto/proto.h"
#include "site/node.h"

enum bats_member_state {
    BATS_MEMBER_WORKS,
    BATS_MEMBER_RETIRED, /* alive, but gets no more tasks */
    BATS_MEMBER_SILENT,  /* for too long: later messages from it are ignored */
    BATS_MEMBER_GONE,    /* its process has ended */
    BATS_MEMBER_LEFT,    /* has said good-bye */
    BATS_MEMBER_ABSENT   /* a seat that nobody has taken: see joining.h */
};

struct bats_member {
    enum bats_member_state state;
    struct bats_packet assign; /* tasks that have not been sent yet */
    int stream; /* number of its files of output: its rank, but every job that
                 * joins has others */
    int64_t heard_us;
    bool is_ready; /* its node has done what comes before the first task */
    bool keeps; /* its RESULTs, until they are TAKEN (proto.h); then: */
    uint32_t n_results; /* that it has not been told of */
    uint32_t unwanted;  /* runs for an earlier session, and was told to stop;
                         * BATS_NO_TASK: none */
};

struct bats_crew {
    struct bats_comm *comm;
    struct bats_worker_rank
        *workers;                /* n, as bats_platform_build wants them */
    struct bats_member *members; /* n */
    struct bats_node *nodes;     /* by rank, including the master */
    uint32_t *of_rank;           /* by rank; UINT32_MAX: not a member */
    int *pidfd; /* by rank: of its process if it is on this host, else -1 */
    size_t n;
    struct bats_executor *own; /* if rank 0 works; NULL: it does not (yet) */
    struct bats_packet own_results;
    uint64_t pid_space; /* of this process */
    int64_t silence_us; /* a member that is silent for longer is lost */
    int64_t looked_us;  /* for bats_crew_lost */
    int n_seated;       /* seats taken so far */
};

/* Waits until every rank has said HELLO. BATS_ESYS names those that have not
 * within a minute. Rank 0 is a member if `master_works` or if it is alone. */
int bats_crew_gather(struct bats_crew *crew, bool master_works,
                     struct bats_error *err);
void bats_crew_release(struct bats_crew *crew);

/* The same for a run that worker jobs join: every rank of `comm` but 0 is a
 * seat, and member i, absent, has rank i + 1. `comm` is the crew's. */
int bats_crew_expect(struct bats_crew *crew, struct bats_comm *comm,
                     struct bats_error *err);

/* A rank that has said this HELLO takes the seat, or leaves it. */
void bats_crew_seat(struct bats_crew *crew, size_t i,
                    const struct bats_hello *hello);
void bats_crew_leave(struct bats_crew *crew, size_t i);

/* Sends member i a task, or any other message, unless it does not work any
 * more. The packet is empty afterwards. */
int bats_crew_assign(struct bats_crew *crew, size_t i,
                     const struct bats_assign *assign, struct bats_error *err);
int bats_crew_send(struct bats_crew *crew, size_t i,
                   struct bats_packet *packet, struct bats_error *err);

/* Sends the collected ASSIGNs to all members. */
int bats_crew_flush(struct bats_crew *crew, struct bats_error *err);

/* Returns 1 and the next message with its member if there is one, else 0. The
 * message is valid until the next call. BATS_EPROTO names the rank, and *i is
 * the member if it is one. */
int bats_crew_receive(struct bats_crew *crew, size_t *i,
                      struct bats_message *message, struct bats_error *err);

/* Interval at which a silent member gives a sign of life, and at which to call
 * bats_crew_lost. */
int64_t bats_crew_beat_us(const struct bats_crew *crew);

/* Finds a member whose process has ended, as far as that can be seen from
 * here, or that has been silent for too long, and marks it GONE or SILENT.
 * Returns the reason in words. NULL: there is none. */
const char *bats_crew_lost(struct bats_crew *crew, size_t *i);

/* A member that may only be asleep becomes SILENT: returns why, in words. */
const char *bats_crew_give_up(struct bats_crew *crew, size_t i);

/* True if a lost member was not on this host, as far as is known. */
bool bats_crew_lost_elsewhere(const struct bats_crew *crew);

/* Stops the work of all members: running tasks are killed. The members
 * stay. */
void bats_crew_stop(struct bats_crew *crew);

/* Stops the work of all members and waits until they have said good-bye, as
 * long as one says anything every `timeout_us`, or, if a signal has come,
 * leaves. False: some did not. */
bool bats_crew_dismiss(struct bats_crew *crew, int64_t timeout_us);

#endif
