/*
 * site: finds the machines if there is no clusters file: which ranks are
 * alike, what a machine is, and what it charges.
 *
 * Layer: site. Used by src/run, between the HELLO of the ranks and the
 * platform.
 *
 * Model. Nodes form a cluster if they are in the same partition of a batch
 * system; without one, if their hardware is the same (processor, cores, and
 * memory to within a sixteenth). Nodes with another charge form a separate
 * cluster, "fast-2". A machine is a node if the job holds whole nodes, because
 * those are billed; else it is a rank. A node charges what the batch system
 * bills for it, or 1 for each core and hour; its ranks share that equally.
 *
 * The result is a clusters file, as text. From there on, clusters that were
 * found are handled like clusters from a file.
 */
#ifndef BATS_SITE_SITE_H
#define BATS_SITE_SITE_H

#include "bats/cluster.h"
#include "bats/units.h"
#include "site/batch_system.h"
#include "site/hardware.h"

enum bats_site_machine {
    BATS_SITE_AUTO, /* by node if whole nodes are held, else by rank */
    BATS_SITE_NODE,
    BATS_SITE_RANK
};

struct bats_site_cluster {
    char name[BATS_CLUSTER_NAME];
    char partition[BATS_NODE_PARTITION]; /* "" if unknown */
    bool by_node;
    double rate;      /* of one machine, per hour */
    char source[400]; /* source of the rate, in words */
    char *hosts;      /* see util/hostlist.h */
    uint32_t node;    /* its first node; private */
};

struct bats_site {
    struct bats_allocation allocation;
    struct bats_error trouble; /* why the batch system does not answer; code 0:
                                * it answers, or there is none */
    struct bats_site_cluster clusters[BATS_CLUSTERS_MAX];
    size_t n_clusters;
};

/* All ranks but 0, the master, run tasks; nodes[] has all of them. Release with bats_site_release. BATS_EINPUT: more kinds of
 * machines than a run can have clusters; BATS_ENOMEM. */
int bats_site_discover(const struct bats_node *nodes, uint32_t n_ranks,
                       enum bats_site_machine machine, struct bats_site *site,
                       struct bats_error *err);
void bats_site_release(struct bats_site *site);

/* The clusters file, with this window (0: none, the default). In one block for
 * free(). BATS_ENOMEM, BATS_EOVERFLOW. */
int bats_site_write(const struct bats_site *site, bats_time window,
                    char **text, struct bats_error *err);

/* ---- sharing cores ---- */

/* The share of each rank in the cores that the launcher gave to several ranks
 * of a node together; shares[] has n_ranks. BATS_ENOMEM. */
int bats_site_share(const struct bats_node *nodes, uint32_t n_ranks,
                    struct bats_share *shares, struct bats_error *err);

#endif
