/*
 * platform: which ranks form which machines, and what they charge.
 *
 * Layer: input. Used by cli and by the MPI master. Two steps: the clusters
 * file is read before anything starts, then matched with the ranks that really
 * exist.
 */
#ifndef BATS_PLATFORM_H
#define BATS_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#include "bats/billing.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "input/reliability.h"

#define BATS_WINDOW_DEFAULT BATS_HOUR

struct bats_clusters_file; /* clusters_file.h */

/*
 * Reads an INI clusters file (sections.h). Section [run]: window, minimum,
 * currency, billing. Sections [cluster NAME]: one of nodes = hostlist | ranks =
 * 1-32,40 | partition = NAME; max; machine = rank|node; and the keys of
 * model.h, where the slots, memory and GPUs of a machine are for plans (a run
 * sees what there is). Every mistake is BATS_EINPUT with "path:line:
 * sentence", without a line if the file cannot be read.
 *
 * `window` overrides the file's (0: the file's, else BATS_WINDOW_DEFAULT). A
 * charge is per machine and window or, as "1.5/h", per machine and hour
 * (model.h has more); the charge of the window is then computed, rounded up to
 * a millionth. The default of `billing` is an allocation (bats/billing.h) if
 * all charges are per hour, else windows. A window shorter than `minimum`, the
 * shortest time that a site charges for, is refused, because the ledger would
 * charge less than the site does. In an allocation, plans apply `minimum` to a
 * job; its ledger does not.
 */
int bats_clusters_file_load(const char *path, bats_time window,
                            struct bats_clusters_file **file,
                            struct bats_error *err);
/* The same for a text; `name` replaces the path in messages. */
int bats_clusters_text_load(const char *text, const char *name,
                            bats_time window, struct bats_clusters_file **file,
                            struct bats_error *err);

/* Sets the delay after which losses in unreliable clusters are noticed, unless
 * losses are emulated or the file sets a delay. */
void bats_clusters_file_notice(struct bats_clusters_file *file,
                               bats_time noticed);

void bats_clusters_file_destroy(struct bats_clusters_file *file);

/* The partition of cluster i; NULL: it is not a partition. */
const char *bats_clusters_file_partition(const struct bats_clusters_file *file,
                                         size_t i);

/* A rank that can run tasks. */
struct bats_worker_rank {
    int rank;
    char host[256];
    char partition[64]; /* "" if unknown */
};

/* The slot that a rank fills. */
struct bats_slot_of {
    uint32_t machine;
    uint32_t slot;
};

struct bats_platform {
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    double speed[BATS_CLUSTERS_MAX];       /* emulation: 1 = real speed */
    bats_time expected[BATS_CLUSTERS_MAX]; /* runtime of a task; 0: unknown */
    struct bats_reliability reliability[BATS_CLUSTERS_MAX]; /* emulation */
    size_t n_clusters;
    struct bats_machine_spec *machines; /* n_machines */
    uint32_t n_machines;
    struct bats_slot_of *slot_of; /* n_workers: by index in workers[] */
    size_t n_workers;             /* as passed to bats_platform_build */
    bats_time window;
    enum bats_billing_model billing;
    bats_time least; /* least time billed for an allocation */
    char currency[16];
    double grams_per_kwh; /* CO2 of the energy there; 0: unknown */
};

/*
 * Matches `file` with the ranks. BATS_EINPUT, naming file and line, for a rank
 * in two clusters, and for a rank or node that does not exist. Ranks in no
 * cluster are an error that names the first of them. Clusters in partitions
 * that do not exist here are left out. `workers` may come in any order;
 * machines are numbered by cluster in the file's order, then by lowest rank,
 * and `max` of a cluster is at most the number of its machines. Release with
 * bats_platform_release.
 */
int bats_platform_build(const struct bats_clusters_file *file,
                        const struct bats_worker_rank *workers,
                        size_t n_workers, struct bats_platform *platform,
                        struct bats_error *err);
void bats_platform_release(struct bats_platform *platform);

/* The charge per window of `idle`, a rank that runs no tasks, if everything
 * held is billed: that of one machine of the cluster it would belong to; 0 if
 * its node is a machine of that cluster. */
bats_money bats_platform_idle_charge(const struct bats_clusters_file *file,
                                     const struct bats_worker_rank *workers,
                                     size_t n_workers,
                                     const struct bats_worker_rank *idle);

/* The charge per hour of all machines, and of what has the charge `idle` per
 * window. */
bats_money bats_platform_hourly(const struct bats_platform *platform,
                                bats_money idle);

#endif
