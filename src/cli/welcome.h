/*
 * welcome: the job side of a run whose worker jobs somebody else starts.
 *
 * Layer: cli. Used by the verb run, for --welcome. It buys nothing: it says
 * what may come (each cluster of the clusters file, `max` machines of it, a
 * machine is one rank), and gives each rank that comes the next free machine:
 * of a cluster that is the partition or the nodes which the rank is on, else of
 * one that is neither. A run with a budget charges windows as always.
 */
#ifndef BATS_WELCOME_H
#define BATS_WELCOME_H

#include "input/platform.h"
#include "run/joining.h"

struct bats_welcome {
    const struct bats_clusters_file *file;
    bool *taken; /* by machine */
    struct bats_platform platform;
    const struct bats_machine_spec *machines; /* the platform's, which is the
                                               * run's from its start */
    struct bats_joining joining;              /* for the run */
};

/* `file`: for the workers. BATS_EINPUT: the clusters are not given, or not
 * their number; BATS_ENOMEM. Release with bats_welcome_release when the run is
 * over. */
int bats_welcome_init(struct bats_welcome *welcome,
                      const struct bats_clusters_file *clusters,
                      const char *file, const char *host, int port,
                      struct bats_error *err);
void bats_welcome_release(struct bats_welcome *welcome);

#endif
