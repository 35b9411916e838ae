/*
 * sim: the scheduling engine in a discrete-event driver.
 *
 * Layer: sim. Used by tests (and by whoever asks what a bag would cost). It
 * takes no decision: it plays the machines, tells the engine what happens and
 * carries out its commands, with no start-up time and no delay.
 */
#ifndef BATS_SIM_H
#define BATS_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "bats/sched.h"

/* A machine that disappears. */
struct bats_sim_loss {
    bats_time time;
    uint32_t machine;
};

struct bats_sim_options {
    struct bats_sched_options sched;
    const bats_time *work; /* per task: runtime on a machine of speed 1 */
    const double *speed;   /* per cluster, > 0 */
    const uint8_t *fails;  /* per task: not 0 = ends as a failure; or NULL */
    const uint8_t *broken; /* per machine: not 0 = every task fails on it after
                              a second; or NULL */
    const bats_time *joins; /* per machine: when it is there; NULL: at 0 */
    const struct bats_sim_loss *losses; /* ascending by time; or NULL */
    size_t n_losses;
    /* Called after every event that the engine has handled; or NULL. */
    void (*after)(void *context, const struct bats_sched *sched);
    void *context;
};

/*
 * Runs the bag to its end. *sched is the engine as the run left it, for its
 * status getters; the caller destroys it. *makespan is the time of the last
 * event. Errors: those of bats_sched_create and bats_sched_handle, and
 * BATS_ESTATE if the engine waits for nothing.
 */
int bats_sim_run(const struct bats_sim_options *options,
                 struct bats_sched **sched, bats_time *makespan,
                 struct bats_error *err);

#endif
