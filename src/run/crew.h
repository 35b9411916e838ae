/*
 * crew: the ranks that execute tasks, as the master sees them.
 *
 * Layer: run. Used by the master. A worker is a rank with a slot of a machine:
 * any but rank 0.
 * Messages to one worker arrive in the order they are sent; ASSIGNs are
 * collected and leave together.
 */
#ifndef BATS_CREW_H
#define BATS_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/rules.h"
#include "input/platform.h"
#include "proto/proto.h"
#include "run/comm.h"
#include "site/node.h"

enum bats_worker_state {
    BATS_WORKER_WORKS,
    BATS_WORKER_RETIRED, /* alive, but gets no more tasks */
    BATS_WORKER_SILENT,  /* silent for too long; its later messages are
                          * ignored */
    BATS_WORKER_GONE,    /* its process has ended */
    BATS_WORKER_LEFT,    /* has said good-bye */
    BATS_WORKER_ABSENT   /* no worker job has it now (joining.h) */
};

struct bats_worker {
    enum bats_worker_state state;
    struct bats_text assign; /* tasks that have not been sent yet */
    int stream; /* number of its output files: its rank, or a new number for
                 * each job that joins */
    int pidfd;  /* of its process if on this host, else -1 */
    int64_t heard_us;
    bool is_ready;      /* the first command of its node is done (pernode.h) */
    bool keeps;         /* it keeps RESULTs until they are TAKEN (proto.h) */
    uint32_t n_results; /* if it keeps: RESULTs not confirmed yet */
    uint32_t unwanted;  /* a task of an earlier session that it was told to
                         * stop; BATS_NO_TASK: none */
    int64_t to_come;    /* bytes of output still due for */
    struct bats_task_result late; /* this result, which is recorded after all
                                   * of them: after a crash in between, the
                                   * task is run again */
};

struct bats_crew {
    struct bats_comm *comm;
    struct bats_worker_rank *ranks; /* n, for bats_platform_build: worker i is
                                     * rank i + 1 */
    struct bats_worker *workers;    /* n */
    struct bats_node *nodes;        /* by rank, including the master */
    size_t n;
    int64_t silence_us; /* a worker silent for longer is lost */
    int64_t looked_us;  /* time of the last bats_crew_lost */
    int n_joined;       /* ranks of worker jobs that joined so far */
};

/* Waits until every rank has said HELLO. BATS_ESYS names the ranks that have
 * not done so within a minute. */
int bats_crew_gather(struct bats_crew *crew, struct bats_error *err);
void bats_crew_release(struct bats_crew *crew);

/* The same for a run that worker jobs join: all workers are absent. The crew
 * takes over `comm`. */
int bats_crew_expect(struct bats_crew *crew, struct bats_comm *comm,
                     struct bats_error *err);

/* bats_crew_join: a rank of a job that said this HELLO becomes worker i.
 * bats_crew_leave: worker i is absent again. */
void bats_crew_join(struct bats_crew *crew, size_t i,
                    const struct bats_hello *hello);
void bats_crew_leave(struct bats_crew *crew, size_t i);

/* Sends worker i a task or any other message. Does nothing if it no longer
 * works. */
int bats_crew_assign(struct bats_crew *crew, size_t i,
                     const struct bats_assign *assign, struct bats_error *err);
int bats_crew_say(struct bats_crew *crew, size_t i,
                  const struct bats_message *message, struct bats_error *err);

/* Sends the collected ASSIGNs to all workers. */
int bats_crew_flush(struct bats_crew *crew, struct bats_error *err);

/* Returns 1 with the next message and its worker, or 0 if there is none. The
 * message is valid until the next call. BATS_EPROTO names the rank; *i is its
 * worker. */
int bats_crew_receive(struct bats_crew *crew, size_t *i,
                      struct bats_message *message, struct bats_error *err);

/* Call it once in a beat (bats_heart_beat_us) at least. Finds a worker whose
 * process is known to have ended, or that has been silent
 * for too long, and marks it GONE or SILENT. Returns the reason in words;
 * NULL: no worker is lost. */
const char *bats_crew_lost(struct bats_crew *crew, size_t *i);

/* Marks a worker SILENT that may only be asleep. Returns the reason in
 * words. */
const char *bats_crew_give_up(struct bats_crew *crew, size_t i);

/* True if a lost worker was not on this host, as far as known. */
bool bats_crew_lost_elsewhere(const struct bats_crew *crew);

/* True if some worker works. */
bool bats_crew_works(const struct bats_crew *crew);

/* Stops the work of all workers: running tasks are killed. The workers
 * stay. */
void bats_crew_stop(struct bats_crew *crew);

/* Stops the work of all workers and waits for their good-byes. Gives up and
 * returns false after `timeout_us` without any message; after a signal, after
 * `timeout_us` without a good-bye. */
bool bats_crew_dismiss(struct bats_crew *crew, int64_t timeout_us);

#endif
