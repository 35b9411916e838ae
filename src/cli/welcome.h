/*
 * welcome: the job side of a run whose worker jobs somebody else starts.
 *
 * Layer: cli. Used by the verb run, for --welcome. It buys nothing. Up to
 * `max` machines of each cluster in the clusters file may join; a machine is
 * one rank. A rank that joins gets the next free machine of a cluster whose
 * partition it is in, else of a cluster without a partition. A machine that has
 * left does not come back. A run with a budget charges windows as always.
 */
#ifndef BATS_WELCOME_H
#define BATS_WELCOME_H

#include "input/platform.h"
#include "run/joining.h"

struct bats_welcome {
    const struct bats_clusters_file *file;
    bool *taken; /* by machine */
    struct bats_platform platform;
    const struct bats_machine_spec *machines; /* the platform's; the run owns
                                               * them from its start */
    struct bats_joining joining;              /* for the run */
};

/* `file`: for the workers. The program ends if clusters, or their numbers of
 * machines, are missing. Release with bats_welcome_release when the run is
 * over. */
void bats_welcome_init(struct bats_welcome *welcome,
                       const struct bats_clusters_file *clusters,
                       const char *file, const char *host, int port);
void bats_welcome_release(struct bats_welcome *welcome);

#endif
