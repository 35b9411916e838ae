/*
 * watchdog: ends a job that nobody pays any more.
 *
 * Layer: run. Used by cli (main) and by worker.c.
 *
 * Money for a worker job is held for a lease only (bats/billing.h), so the job
 * must end by itself when its lease is over, whatever has died or hangs. Its
 * batch script is this program:
 *
 *     bats-mpi lease SECONDS srun bats-mpi worker --join FILE
 *
 * (without srun where there is only one rank). The master tells the gateway
 * until which age the job is paid (LEASE), the gateway prints that age, srun
 * passes it on, and the watchdog takes the latest one; at first it is SECONDS.
 * At that age the watchdog kills the command and exits, and the batch system
 * ends the job with its batch script. Ages count from the start of the
 * watchdog, also while the node is suspended, so clocks that differ or messages
 * that are late never prolong a lease. If the watchdog is killed the job ends
 * at once; if the gateway, srun or the master is, nobody prolongs it.
 */
#ifndef BATS_WATCHDOG_H
#define BATS_WATCHDOG_H

#include <stdint.h>

#include "bats/error.h"

/* Runs the command, whose words end with NULL, for `lease_us`, or until the
 * last age that it has printed. The rest of its output is passed on. Returns
 * its exit code, 128 plus the signal that ended it, or BATS_WATCHDOG_OVER: the
 * lease was over. BATS_ESYS: the command could not be started. */
#define BATS_WATCHDOG_OVER 3
int bats_watchdog_run(int64_t lease_us, char **command,
                      struct bats_error *err);

/* For the command: time since the watchdog began; 0: there is no watchdog. */
int64_t bats_watchdog_age(void);

/* For the gateway: prints that the job is paid until this age. BATS_ESYS. */
int bats_watchdog_prolong(int64_t age_us, struct bats_error *err);

#endif
