/*
 * joining: worker jobs that join a run while it goes on, and leave it again.
 *
 * Layer: run. The border between the master and the job side: the code that
 * buys jobs and settles them, which is above (cli) or below (site) this layer
 * and knows nothing of connections. A run with a job side
 * (bats_run_options.joining) has no MPI, and its rank 0 runs no tasks.
 *
 * A worker job is an MPI job of its own, `srun bats-mpi worker --join FILE`.
 * The master writes FILE (door.h) while it listens. Rank 0 of the job, its
 * gateway, connects; from then on all ranks of the job, including the gateway,
 * are ranks of the run (comm.h).
 *
 * All machines that may ever join are numbered before the run (`platform`), and
 * the engine knows them as absent. A job that joins becomes machines: `admit`
 * says which, rank by rank. The life of a worker job, as the two sides see it:
 *
 *     job side: submits it                 knows its number from now on
 *     gateway:  connects, is authenticated, its ranks have said HELLO
 *     master:   admit(job, ranks)          job side: these machines
 *     master:   event JOINED for each machine, in order of their numbers
 *     engine:   ACQUIRE, RUN, ... PARK     job side hears by `commanded`
 *     job side: bats_joined_send_off(job)
 *     master:   event LOST for each machine not lost before; ranks are told to
 *               leave
 *     gateway:  says good-bye, the job ends
 *     master:   parted(job, BATS_PARTED_BYE)
 *
 * If the connection breaks, the gateway is silent for --silence or sends
 * nonsense: LOST for each machine (its tasks go back to the bag), and
 * parted(job, BATS_PARTED_CUT). If only some ranks are lost, their machine is
 * LOST, and the master sends the job off when no machine of it is left.
 *
 * A gateway that has heard nothing for --silence stops its tasks. If its
 * connection breaks, it tries to come back during that time: it reads FILE
 * again, connects, and is admitted or refused like a new one. Meanwhile its
 * tasks go on where another master can learn of them. So a master that
 * continues a run (--resume) gets the jobs that still live, with their results.
 * A job side that has settled a job refuses it, and the job ends by itself.
 *
 * All functions of struct bats_joining are called in the master's thread, from
 * its loop; they must not block for long. Those that return int return 0 or a
 * negative bats_errcode, which ends the run.
 */
#ifndef BATS_JOINING_H
#define BATS_JOINING_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "input/platform.h"
#include "proto/proto.h"
#include "site/query.h"

struct bats_command;
struct bats_event;
struct bats_sched;

/* A job that is authenticated and complete. */
struct bats_worker_job {
    const char *number; /* in the batch system, as text */
    uint32_t n_ranks;
    const struct bats_hello *ranks; /* n_ranks, by rank in the job: host,
                                     * node, partition, hardware */
};

enum bats_parted {
    BATS_PARTED_BYE, /* it was told to leave and has said good-bye */
    BATS_PARTED_CUT  /* the connection broke or it was silent */
};

struct bats_joined; /* opaque: the run, as the job side may use it */

struct bats_joining {
    void *context;
    const char *file; /* FILE above; the directory exists */
    const char *host; /* that workers connect to; NULL: this host's name */
    int port;         /* 0: any */
    /* By cluster: what each node of its jobs has. `memory_kib` 0: the jobs
     * request none, and it is not counted. NULL: unknown; then a job joins only
     * if each rank can hold any task. */
    const struct bats_stock *nodes;

    /* How the jobs, and the run itself, are billed; the platform uses the same
     * model. NULL: the platform has all charges. */
    const struct bats_billing *billing;

    /* All clusters and machines; `slot_of` is not used. The run takes it
     * over. */
    int (*platform)(void *context, struct bats_platform *platform,
                    struct bats_error *err);

    /* True if workers may come: the master listens. Asked in each turn of the
     * loop; NULL: always. */
    bool (*expects)(void *context);

    /* Assigns the job to machines and returns 1: sets machine[rank] for every
     * rank, as many ranks to a machine as it has slots, and *age to the time
     * since the job began (0 on entry). Only machines that have never joined,
     * or whose job has parted. Returns 0: not yet (sbatch has not told its
     * number), ask again in the next turn; after a minute the job is refused.
     * Negative: the job is refused and prints the sentence in `why`; the run
     * goes on. */
    int (*admit)(void *context, const struct bats_worker_job *job,
                 uint32_t *machine, bats_time *age, struct bats_error *why);

    /* An admitted job has left; it may not have ended yet. May be NULL. */
    void (*parted)(void *context, const char *job, enum bats_parted how);

    /* The engine's ACQUIRE, PARK, RELEASE and notices, in order, as they are
     * carried out. May be NULL. */
    void (*commanded)(void *context, const struct bats_command *command);

    /* Called once in each turn of the loop. *due_us is the latest monotonic
     * time (util/now.h) of the next turn; INT64_MAX on entry. May be NULL. */
    int (*step)(void *context, struct bats_joined *joined, int64_t *due_us,
                struct bats_error *err);

    /* A command that prints hosts to take out of service, one per line; run
     * every `look_us` while there are jobs. Machines on them finish their
     * tasks and get no more. NULL: no such command. */
    void (*draining)(struct bats_argv *argv);
    int64_t look_us;

    /* After the engine has finished, the loop goes on until this is true: all
     * jobs have their bill. NULL: do not wait. */
    bool (*is_settled)(void *context);
};

/* ---- calls for the job side, during `step` ---- */

struct bats_sched *bats_joined_sched(struct bats_joined *joined);

/* Writes the event to the record, then passes it to the engine, now. For
 * events that the job side knows of; the master reports JOINED and LOST.
 * Errors as of bats_sched_handle. */
int bats_joined_handle(struct bats_joined *joined,
                       const struct bats_event *event, struct bats_error *err);

/* Tells the job until which age it is paid (watchdog.h). Does nothing if the
 * job is not connected. */
void bats_joined_lease(struct bats_joined *joined, const char *job,
                       int64_t age_us);

/* Sends the job away. Its machines should be parked or released; tasks still
 * running there are killed and LOST. Does nothing if the job is not
 * connected. */
int bats_joined_send_off(struct bats_joined *joined, const char *job,
                         struct bats_error *err);

/* A sentence for people and for the record. */
void bats_joined_notice(struct bats_joined *joined, const char *sentence);

#endif
