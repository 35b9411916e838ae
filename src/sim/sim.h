/*
 * sim: the scheduling engine in a discrete-event driver.
 *
 * Layer: sim. Used by the campaigns of simulate and by tests. It makes no
 * decisions: it simulates the machines, reports events to the engine and
 * carries out its commands without delay.
 *
 * An acquired machine is charged at once, as in the MPI run, and starts its
 * first task after its start-up time; each acquisition starts it up again. If
 * use is charged, it begins and starts up with its first task. A machine that
 * is a job (bats/billing.h) is queued before that; it is billed from the
 * beginning of its start-up until it is parked or lost. A machine of a
 * reclaimable cluster with a lifetime (cluster.h) is reclaimed, after a
 * NOTICE, when its lifetime is over, which is drawn from the noise seed for
 * each acquisition. The n-th execution of a task lasts work / speed x a factor
 * that depends only on the seed of the noise, the task and n, so every policy
 * meets the same world.
 */
#ifndef BATS_SIM_H
#define BATS_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "bats/sched.h"
#include "input/reliability.h"

/* The loss of a machine. */
struct bats_sim_loss {
    bats_time time;
    uint32_t machine;
};

/* Observers of a run; all members may be NULL. */
struct bats_sim_watch {
    void *context;
    /* Called with every event before the engine handles it, and with every
     * command before it is carried out. */
    void (*on_event)(void *context, bats_time now,
                     const struct bats_event *event);
    void (*on_command)(void *context, bats_time now,
                       const struct bats_command *command);
    /* Called after every event that the engine has handled. */
    void (*after)(void *context, const struct bats_sched *sched);
};

struct bats_sim_options {
    struct bats_sched_options sched;
    const bats_time *work;    /* per task: runtime on a machine of speed 1 */
    const bats_time *told;    /* per task: the runtime told to the engine; or
                                 NULL */
    const double *speed;      /* per cluster, > 0 */
    const bats_time *startup; /* per cluster; NULL: none */
    const bats_time *queue;   /* per cluster, if machines are jobs: mean queue
                                 wait, exponential; NULL: none */
    bats_time bill;           /* from the end of a job to its bill */
    const double *noise;      /* per cluster: relative deviation of the runtime
                                 from run to run, >= 0; NULL: none */
    uint64_t noise_seed;
    const struct bats_reliability *reliability; /* per cluster: executions lost
                                                   without an answer, drawn
                                                   from the noise seed; NULL:
                                                   none */
    bool saves;             /* a task that is told to stop saves its state and
                            yields */
    bats_time migration;    /* extra time of its remaining part */
    const uint8_t *fails;   /* per task: not 0 if it fails; or NULL */
    const uint8_t *broken;  /* per machine: not 0 if every task fails on it
                            * after a second; or NULL */
    const bats_time *joins; /* per machine: time of joining; NULL: 0 */
    const struct bats_choice *choice;   /* the answer to SAMPLED, if that
                                         * schedule exists; NULL: none */
    const struct bats_sim_loss *losses; /* ascending by time; or NULL */
    size_t n_losses;
    struct bats_sim_watch watch;
    uint32_t *violations; /* counts windows charged beyond the budget; or
                             NULL */
};

/*
 * Runs the bag to its end. *sched is the engine after the run, for its status
 * getters; the caller destroys it. *makespan is the time of the last event.
 * Errors: those of bats_sched_create and bats_sched_handle, and BATS_ESTATE if
 * the engine is stuck.
 */
int bats_sim_run(const struct bats_sim_options *options,
                 struct bats_sched **sched, bats_time *makespan,
                 struct bats_error *err);

#endif
