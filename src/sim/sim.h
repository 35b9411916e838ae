/*
 * sim: the scheduling engine in a discrete-event driver.
 *
 * Layer: sim. Used by the campaigns of simulate and by tests. It makes no
 * decisions: it simulates the machines, reports events to the engine and
 * carries out its commands without delay.
 *
 * An acquired machine is charged at once, as in the MPI run, and starts its
 * first task after its start-up time; each acquisition starts it up again.
 * Where use is charged it begins, and starts up, when it is given its first
 * task. A machine that is a job (bats/billing.h) waits in a queue before that;
 * it is billed from the beginning of its start-up until it is parked or lost. A
 * machine of a cluster that is reclaimable and has a lifetime (cluster.h) is
 * reclaimed when that is over, which is drawn from the seed of the noise for
 * each acquisition, and NOTICE comes before. The n-th execution of a task lasts
 * work / speed x a factor that depends only on the seed of the noise, the task
 * and n, so that every policy meets the same world.
 */
#ifndef BATS_SIM_H
#define BATS_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "bats/sched.h"
#include "input/reliability.h"

/* A machine that is lost. */
struct bats_sim_loss {
    bats_time time;
    uint32_t machine;
};

struct bats_sim_options {
    struct bats_sched_options sched;
    const bats_time *work;    /* per task: runtime on a machine of speed 1 */
    const bats_time *told;    /* per task: the same, as the engine is told; or
                                 NULL */
    const double *speed;      /* per cluster, > 0 */
    const bats_time *startup; /* per cluster; NULL: none */
    const bats_time *queue;   /* per cluster, if machines are jobs: mean of the
                                 time that one waits, which is exponential;
                                 NULL: none */
    const double *noise;      /* per cluster: relative deviation of the runtime
                                 from run to run, >= 0; NULL: none */
    uint64_t noise_seed;
    const struct bats_reliability *reliability; /* per cluster: which
                                 executions are lost and never answer, by the
                                 seed of the noise, too; NULL: none */
    bool saves;          /* a task that is told to stop saves its state and */
    bats_time migration; /* yields; the rest of it takes this much longer */
    const uint8_t *fails;   /* per task: not 0 if it fails; or NULL */
    const uint8_t *broken;  /* per machine: not 0 if every task fails on it
                            * after a second; or NULL */
    const bats_time *joins; /* per machine: when it joins; NULL: at 0 */
    const struct bats_choice *choice;   /* the answer to SAMPLED, if that
                                         * schedule exists; NULL: none */
    const struct bats_sim_loss *losses; /* ascending by time; or NULL */
    size_t n_losses;
    /* Called after every event that the engine has handled; may be NULL. */
    void (*after)(void *context, const struct bats_sched *sched);
    /* Called with every event before the engine handles it, and with every
     * command before it is carried out; may be NULL. */
    void (*on_event)(void *context, bats_time now,
                     const struct bats_event *event);
    void (*on_command)(void *context, bats_time now,
                       const struct bats_command *command);
    void *context;
};

/*
 * Runs the bag to its end. *sched is the engine after the run, for its status
 * getters; the caller destroys it. *makespan is the time of the last event.
 * Errors: those of bats_sched_create and bats_sched_handle, and BATS_ESTATE if
 * the engine waits for nothing.
 */
int bats_sim_run(const struct bats_sim_options *options,
                 struct bats_sched **sched, bats_time *makespan,
                 struct bats_error *err);

#endif
