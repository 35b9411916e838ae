#include "input/platform.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/clusters_file.h"

#define NO_SECTION UINT32_MAX

struct claim {
    const struct bats_worker_rank *worker;
    uint32_t section; /* that has it, or NO_SECTION */
};

/* The workers, each with the section that has it. */
struct claims {
    const struct bats_clusters_file *file;
    struct claim *list; /* by rank */
    size_t n;
    struct bats_error *err;
};

/* Returns BATS_EINPUT about the line that assigns ranks to the section. */
#define FAIL(claims, section, ...)                                            \
    bats_error_at((claims)->err, (claims)->file->path, (section)->where_line, \
                  __VA_ARGS__)

static int take(struct claims *claims, uint32_t s, struct claim *claim)
{
    const struct bats_cluster_section *sections = claims->file->sections;
    const struct bats_worker_rank *worker = claim->worker;
    uint32_t *owner = &claim->section;
    if (*owner == s)
        return FAIL(claims, &sections[s], "rank %d is named twice",
                    worker->rank);
    if (*owner != NO_SECTION)
        return FAIL(claims, &sections[s],
                    "rank %d on %s is also in cluster '%s' (line %u)",
                    worker->rank, worker->host,
                    sections[*owner].model.cluster.name,
                    sections[*owner].where_line);
    *owner = s;
    return 0;
}

/* ---- which ranks belong to a cluster ---- */

static int compare_ranks(const void *a, const void *b)
{
    int x = ((const struct claim *)a)->worker->rank;
    int y = ((const struct claim *)b)->worker->rank;
    return (x > y) - (x < y);
}

static int claim_ranks(struct claims *claims, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    for (size_t i = 0; i < section->n_ranges; i++) {
        struct bats_rank_range range = section->ranges[i];
        for (int rank = range.first; rank <= range.last; rank++) {
            const struct bats_worker_rank key = {.rank = rank};
            struct claim wanted = {.worker = &key};
            struct claim *found = bsearch(&wanted, claims->list, claims->n,
                                          sizeof wanted, compare_ranks);
            if (!found && rank == 0)
                return FAIL(
                    claims, section,
                    "rank 0 is the master and runs no tasks in this run");
            if (!found)
                return FAIL(claims, section,
                            "there is no rank %d; the last one is %d", rank,
                            claims->list[claims->n - 1].worker->rank);
            int code = take(claims, s, found);
            if (code)
                return code;
        }
    }
    return 0;
}

static int claim_nodes(struct claims *claims, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    bool *seen = calloc(section->nodes.n, sizeof *seen);
    int code = seen ? 0 : bats_no_memory(claims->err);
    for (size_t i = 0; i < claims->n && !code; i++) {
        ptrdiff_t node =
            bats_hostlist_find(&section->nodes, claims->list[i].worker->host);
        if (node >= 0) {
            seen[node] = true;
            code = take(claims, s, &claims->list[i]);
        }
    }
    for (size_t node = 0; node < section->nodes.n && !code; node++)
        if (!seen[node] && !claims->file->fewer_nodes)
            code = FAIL(claims, section,
                        "no rank that can run tasks is on node '%s'",
                        section->nodes.names[node]);
    free(seen);
    return code;
}

static int claim_partition(struct claims *claims, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    bool known = false;
    int code = 0;
    for (size_t i = 0; i < claims->n && !code; i++) {
        const char *partition = claims->list[i].worker->partition;
        known = known || *partition;
        if (strcmp(partition, section->where_text) == 0)
            code = take(claims, s, &claims->list[i]);
    }
    /* A file may describe a whole site, while this job has only a part of
     * it. */
    return known || code
               ? code
               : FAIL(claims, section,
                      "no rank that can run tasks is in partition '%s': "
                      "outside a batch job no partition is known",
                      section->where_text);
}

/* Checks that every worker belongs to exactly one section. */
static int settle_claims(struct claims *claims)
{
    const struct bats_clusters_file *file = claims->file;
    int code = 0;
    for (uint32_t s = 0; s < file->n_sections && !code; s++)
        switch (file->sections[s].where) {
        case BATS_WHERE_NODES:
            code = claim_nodes(claims, s);
            break;
        case BATS_WHERE_RANKS:
            code = claim_ranks(claims, s);
            break;
        case BATS_WHERE_PARTITION:
            code = claim_partition(claims, s);
            break;
        case BATS_WHERE_ALL:
            for (size_t i = 0; i < claims->n; i++)
                claims->list[i].section = s;
            break;
        }
    for (size_t i = 0; i < claims->n && !code; i++) {
        const struct bats_worker_rank *worker = claims->list[i].worker;
        if (claims->list[i].section == NO_SECTION)
            code = bats_error_at(
                claims->err, file->path,
                file->sections[file->n_sections - 1].line,
                "rank %d on %s%s%s is in none of the clusters; the last one "
                "is here",
                worker->rank, worker->host,
                worker->partition[0] ? ", partition " : "", worker->partition);
    }
    return code;
}

/* ---- machines ---- */

/* Returns the machine of `worker`, which belongs to the section and has a
 * higher rank than the workers before; its machines are numbered from `first`
 * on. */
static uint32_t machine_for(struct bats_platform *platform,
                            const struct bats_worker_rank **leaders,
                            uint32_t first, bool by_node,
                            const struct bats_worker_rank *worker)
{
    /* Search from the newest: the ranks of a node are usually consecutive. */
    uint32_t m = platform->n_machines;
    for (; by_node && m > first; m--)
        if (strcmp(leaders[m - 1]->host, worker->host) == 0)
            return m - 1;
    m = platform->n_machines++;
    leaders[m] = worker;
    platform->machines[m] =
        (struct bats_machine_spec){.cluster = (uint32_t)platform->n_clusters};
    return m;
}

/* Adds the next cluster to the platform if the section has machines here. */
static void add_cluster(struct bats_platform *platform,
                        const struct claims *claims,
                        const struct bats_worker_rank *workers,
                        const struct bats_worker_rank **leaders, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    uint32_t first = platform->n_machines;
    for (size_t i = 0; i < claims->n; i++) {
        const struct bats_worker_rank *worker = claims->list[i].worker;
        if (claims->list[i].section != s)
            continue;
        uint32_t m =
            machine_for(platform, leaders, first, section->by_node, worker);
        platform->slot_of[worker - workers] =
            (struct bats_slot_of){m, platform->machines[m].slots++};
    }
    uint32_t n = platform->n_machines - first;
    if (n == 0)
        return;
    size_t k = platform->n_clusters++;
    platform->clusters[k] = section->model.cluster;
    if (platform->clusters[k].max > n)
        platform->clusters[k].max = n;
    platform->expected[k] = section->model.expected;
    platform->speed[k] = section->model.speed;
    platform->reliability[k] = section->model.reliability;
}

int bats_platform_build(const struct bats_clusters_file *file,
                        const struct bats_worker_rank *workers,
                        size_t n_workers, struct bats_platform *platform,
                        struct bats_error *err)
{
    if (n_workers == 0 || n_workers > INT_MAX)
        return bats_refuse(err, "there is no rank to run tasks: rank 0 is the "
                                "master, so start at least two");
    struct bats_platform p = {.n_workers = n_workers,
                              .window = file->window,
                              .billing = file->billing,
                              .least = file->minimum};
    struct claims claims = {.file = file, .n = n_workers, .err = err};
    const struct bats_worker_rank **leaders =
        calloc(n_workers, sizeof *leaders);
    claims.list = calloc(n_workers, sizeof *claims.list);
    p.machines = calloc(n_workers, sizeof *p.machines);
    p.slot_of = calloc(n_workers, sizeof *p.slot_of);
    strcpy(p.currency, file->currency);
    int code = leaders && claims.list && p.machines && p.slot_of
                   ? 0
                   : bats_error_set(err, BATS_ENOMEM,
                                    "out of memory for %zu ranks", n_workers);
    for (size_t i = 0; i < n_workers && !code; i++)
        claims.list[i] = (struct claim){&workers[i], NO_SECTION};
    if (!code) {
        qsort(claims.list, n_workers, sizeof *claims.list, compare_ranks);
        code = settle_claims(&claims);
    }
    for (uint32_t s = 0; s < file->n_sections && !code; s++)
        add_cluster(&p, &claims, workers, leaders, s);
    free(leaders);
    free(claims.list);
    if (code)
        bats_platform_release(&p);
    else
        *platform = p;
    return code;
}

void bats_platform_release(struct bats_platform *platform)
{
    free(platform->machines);
    free(platform->slot_of);
    *platform = (struct bats_platform){0};
}

/* ---- the rank that runs no tasks ---- */

static bool has_rank(const struct bats_cluster_section *section, int rank)
{
    for (size_t i = 0; i < section->n_ranges; i++)
        if (rank >= section->ranges[i].first &&
            rank <= section->ranges[i].last)
            return true;
    return false;
}

bats_money bats_platform_idle_charge(const struct bats_clusters_file *file,
                                     const struct bats_worker_rank *workers,
                                     size_t n_workers,
                                     const struct bats_worker_rank *idle)
{
    for (uint32_t s = 0; s < file->n_sections; s++) {
        const struct bats_cluster_section *section = &file->sections[s];
        bool belongs = section->where == BATS_WHERE_ALL, shares = false;
        for (size_t i = 0; i < n_workers; i++)
            if (strcmp(workers[i].host, idle->host) == 0) {
                shares = true;
                belongs |= section->where == BATS_WHERE_RANKS &&
                           has_rank(section, workers[i].rank);
            }
        if (section->where == BATS_WHERE_NODES)
            belongs = bats_hostlist_find(&section->nodes, idle->host) >= 0;
        if (section->where == BATS_WHERE_PARTITION)
            belongs = strcmp(idle->partition, section->where_text) == 0;
        if (belongs)
            return section->by_node && shares ? 0
                                              : section->model.cluster.charge;
    }
    return 0;
}

bats_money bats_platform_hourly(const struct bats_platform *p, bats_money idle)
{
    double price = (double)idle;
    for (uint32_t i = 0; i < p->n_machines; i++)
        price += (double)p->clusters[p->machines[i].cluster].charge;
    price *= (double)BATS_HOUR / (double)p->window;
    return price < (double)BATS_LONGEST ? (bats_money)llround(price)
                                        : BATS_LONGEST;
}
