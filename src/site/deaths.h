/*
 * deaths: ranks whose processes have died, according to the launcher.
 *
 * Layer: site. Used by src/run: rank 0 asks about the others, and they ask
 * about rank 0.
 *
 * The launcher sees its processes die on every host, and PMIx has an event for
 * this, PMIX_ERR_PROC_ABORTED. Open MPI 4.1's mpirun --enable-recovery,
 * measured and read in its source, does this:
 *
 *   - mpirun and its daemons pass the event to their PMIx servers with a list
 *     of receivers, but without the range that belongs to a list. PMIx (Open
 *     MPI's own and Debian's 4.2.2) refuses that ("PMIX ERROR: BAD-PARAM in
 *     file ... pmix_event_notification.c"), and calls no handler. But it has
 *     stored the event for handlers that register later. So this module
 *     registers again at every bats_deaths_ask.
 *   - A daemon reports only its first process that dies. A host that is lost
 *     with its daemon is not reported at all.
 *
 * So most losses are known early, and some never; only silence finds all.
 * Without PMIx at build time, or if the MPI library uses another one, nothing
 * is ever known here.
 */
#ifndef BATS_DEATHS_H
#define BATS_DEATHS_H

#include <stdbool.h>

/* Listens from now on, for the rest of the process's life. MPI has been
 * started with `n_ranks` ranks. False: this process will not learn of any
 * death. */
bool bats_deaths_listen(int n_ranks);

/* Requests the launcher's present knowledge, which arrives soon after. Call
 * about every second. */
void bats_deaths_ask(void);

/* True if the process of this rank is known to have died. */
bool bats_deaths_known(int rank);

#endif
