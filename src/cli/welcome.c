/* welcome: see request.h. */

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/request.h"
#include "input/clusters_file.h"
#include "site/batch_system.h"

#define MACHINES_MAX 100000
#define LOOK_US 10000000 /* between two checks for drained hosts */

static int platform(void *context, struct bats_platform *platform,
                    struct bats_error *err)
{
    struct bats_welcome *w = context;
    size_t i = 0, n = w->platform.n_clusters;
    *platform = w->platform;
    w->platform.machines = NULL;
    while (i < n &&
           bats_reliability_copy(&platform->reliability[i],
                                 &w->file->sections[i].model.reliability))
        i++;
    if (i == n)
        return 0;
    bats_platform_release(platform);
    return bats_no_memory(err);
}

static bool suits(const struct bats_welcome *w, uint32_t cluster,
                  const struct bats_hello *rank)
{
    const char *partition = bats_clusters_file_partition(w->file, cluster);
    return partition == NULL || strcmp(partition, rank->node.partition) == 0;
}

/* Returns n_machines if no machine is free. */
static uint32_t free_machine(const struct bats_welcome *w,
                             const struct bats_machine_spec *machines,
                             const struct bats_hello *rank)
{
    uint32_t i = 0;
    while (i < w->platform.n_machines &&
           (w->taken[i] || !suits(w, machines[i].cluster, rank)))
        i++;
    return i;
}

static int admit(void *context, const struct bats_worker_job *job,
                 uint32_t *machine, bats_time *age, struct bats_error *why)
{
    struct bats_welcome *w = context;
    (void)age;
    for (uint32_t k = 0; k < job->n_ranks; k++) {
        machine[k] = free_machine(w, w->machines, &job->ranks[k]);
        if (machine[k] < w->platform.n_machines) {
            w->taken[machine[k]] = true;
            continue;
        }
        while (k-- > 0)
            w->taken[machine[k]] = false;
        return bats_refuse(why, "no cluster has machines left for its ranks");
    }
    return 1;
}

static void take_cluster(struct bats_welcome *w, uint32_t i)
{
    const struct bats_cluster *cluster = &w->file->sections[i].model.cluster;
    struct bats_platform *p = &w->platform;
    if (cluster->max > MACHINES_MAX)
        bats_die(BATS_EINPUT,
                 "--welcome: cluster '%s' needs a max of at most %d: how many "
                 "machines may come",
                 cluster->name, MACHINES_MAX);
    if (w->file->sections[i].by_node)
        bats_die(BATS_EINPUT,
                 "--welcome: cluster '%s': a machine can only be a rank here",
                 cluster->name);
    p->clusters[i] = *cluster;
    p->speed[i] = w->file->sections[i].model.speed;
    p->expected[i] = w->file->sections[i].model.expected;
    p->n_clusters++;
    size_t n = p->n_machines + (size_t)cluster->max;
    p->machines = bats_have(realloc(p->machines, n * sizeof *p->machines));
    while (p->n_machines < n)
        p->machines[p->n_machines++] = (struct bats_machine_spec){i, 1};
}

/* The batch system of worker jobs, if the run is in one of its jobs or a
 * cluster is a partition. */
static const struct bats_batch_system *
system_of(const struct bats_clusters_file *clusters)
{
    bool any = bats_batch_system_here() != NULL;
    for (uint32_t i = 0; i < clusters->n_sections; i++)
        any |= bats_clusters_file_partition(clusters, i) != NULL;
    return any ? bats_batch_systems[0] : NULL;
}

void bats_welcome_init(struct bats_welcome *welcome,
                       const struct bats_clusters_file *clusters,
                       const char *file, const char *host, int port)
{
    if (clusters == NULL)
        bats_die(BATS_EINPUT,
                 "--welcome needs --clusters, with what may come");
    const struct bats_batch_system *system = system_of(clusters);
    *welcome = (struct bats_welcome){
        .file = clusters,
        .platform = {.window = clusters->window, .billing = clusters->billing},
        .joining = {.context = welcome,
                    .file = file,
                    .host = host,
                    .port = port,
                    .draining = system != NULL ? system->draining : NULL,
                    .look_us = LOOK_US,
                    .platform = platform,
                    .admit = admit},
    };
    struct bats_platform *p = &welcome->platform;
    strcpy(p->currency, clusters->currency);
    for (uint32_t i = 0; i < clusters->n_sections; i++)
        take_cluster(welcome, i);
    welcome->taken =
        bats_have(calloc(p->n_machines + 1, sizeof *welcome->taken));
    welcome->machines = p->machines;
}

void bats_welcome_release(struct bats_welcome *welcome)
{
    free(welcome->taken);
    free(welcome->platform.machines);
}
