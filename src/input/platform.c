#include "input/platform.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "input/clusters_file.h"

#define NO_SECTION UINT32_MAX

/* The section of each worker. */
struct claims {
    const struct bats_clusters_file *file;
    const struct bats_worker_rank *workers;
    const struct bats_worker_rank **by_rank; /* n_workers, by rank */
    uint32_t *section;                       /* by worker: its section */
    size_t n_workers;
    struct bats_error *err;
};

static size_t index_of(const struct claims *claims,
                       const struct bats_worker_rank *worker)
{
    return (size_t)(worker - claims->workers);
}

/* Returns BATS_EINPUT about the line that assigns ranks to the section. */
#define FAIL(claims, section, ...)                                            \
    bats_error_at((claims)->err, (claims)->file->path, (section)->where_line, \
                  __VA_ARGS__)

static int claim(struct claims *claims, uint32_t s,
                 const struct bats_worker_rank *worker)
{
    const struct bats_cluster_section *sections = claims->file->sections;
    uint32_t *owner = &claims->section[index_of(claims, worker)];
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
    const struct bats_worker_rank *const *x = a, *const *y = b;
    return ((*x)->rank > (*y)->rank) - ((*x)->rank < (*y)->rank);
}

static const struct bats_worker_rank *find_rank(const struct claims *claims,
                                                int rank)
{
    struct bats_worker_rank key = {.rank = rank};
    const struct bats_worker_rank *wanted = &key, **found;
    found = bsearch(&wanted, claims->by_rank, claims->n_workers,
                    sizeof *claims->by_rank, compare_ranks);
    return found ? *found : NULL;
}

static int claim_ranks(struct claims *claims, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    for (size_t i = 0; i < section->n_ranges; i++) {
        struct bats_rank_range range = section->ranges[i];
        for (int rank = range.first; rank <= range.last; rank++) {
            const struct bats_worker_rank *worker = find_rank(claims, rank);
            if (!worker && rank == 0)
                return FAIL(
                    claims, section,
                    "rank 0 is the master and runs no tasks in this run");
            if (!worker)
                return FAIL(claims, section,
                            "there is no rank %d; the last one is %d", rank,
                            claims->by_rank[claims->n_workers - 1]->rank);
            int code = claim(claims, s, worker);
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
    if (!seen)
        return bats_no_memory(claims->err);
    int code = 0;
    for (size_t i = 0; i < claims->n_workers && !code; i++) {
        const struct bats_worker_rank *worker = claims->by_rank[i];
        ptrdiff_t node = bats_hostlist_find(&section->nodes, worker->host);
        if (node >= 0) {
            seen[node] = true;
            code = claim(claims, s, worker);
        }
    }
    for (size_t node = 0; node < section->nodes.n && !code; node++) {
        if (!seen[node] && !claims->file->fewer_nodes)
            code = FAIL(claims, section,
                        "no rank that can run tasks is on node '%s'",
                        section->nodes.names[node]);
    }
    free(seen);
    return code;
}

static int claim_partition(struct claims *claims, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    bool known = false;
    for (size_t i = 0; i < claims->n_workers; i++) {
        const struct bats_worker_rank *worker = claims->by_rank[i];
        known = known || worker->partition[0];
        if (strcmp(worker->partition, section->where_text) != 0)
            continue;
        int code = claim(claims, s, worker);
        if (code)
            return code;
    }
    /* A file may describe a whole site, while this job has only a part of
     * it. */
    if (!known)
        return FAIL(
            claims, section,
            "no rank that can run tasks is in partition '%s': outside a "
            "batch job no partition is known",
            section->where_text);
    return 0;
}

static int claim_all(struct claims *claims, uint32_t s)
{
    for (size_t i = 0; i < claims->n_workers; i++)
        claims->section[i] = s;
    return 0;
}

/* Checks that every worker belongs to exactly one section. */
static int settle_claims(struct claims *claims)
{
    const struct bats_clusters_file *file = claims->file;
    for (uint32_t s = 0; s < file->n_sections; s++) {
        int code = 0;
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
        default:
            code = claim_all(claims, s);
            break;
        }
        if (code)
            return code;
    }
    for (size_t i = 0; i < claims->n_workers; i++) {
        const struct bats_worker_rank *worker = claims->by_rank[i];
        if (claims->section[index_of(claims, worker)] == NO_SECTION)
            return bats_error_at(
                claims->err, file->path,
                file->sections[file->n_sections - 1].line,
                "rank %d on %s%s%s is in none of the clusters; the last one "
                "is here",
                worker->rank, worker->host,
                worker->partition[0] ? ", partition " : "", worker->partition);
    }
    return 0;
}

/* ---- machines ---- */

/* Returns the machine of `worker`, which belongs to section s and has a higher
 * rank than the workers before; the machines of s are numbered from `first`
 * on. */
static uint32_t machine_for(struct bats_platform *platform,
                            const struct claims *claims,
                            const struct bats_worker_rank **leaders,
                            uint32_t first, uint32_t s,
                            const struct bats_worker_rank *worker)
{
    if (claims->file->sections[s].by_node) {
        /* Search from the newest: the ranks of a node are usually
         * consecutive. */
        for (uint32_t m = platform->n_machines; m > first; m--) {
            if (strcmp(leaders[m - 1]->host, worker->host) == 0)
                return m - 1;
        }
    }
    uint32_t m = platform->n_machines++;
    leaders[m] = worker;
    platform->machines[m] =
        (struct bats_machine_spec){.cluster = (uint32_t)platform->n_clusters};
    return m;
}

/* Adds the next cluster to the platform if the section has machines here.
 * False: no memory. */
static bool add_cluster(struct bats_platform *platform,
                        const struct claims *claims,
                        const struct bats_worker_rank **leaders, uint32_t s)
{
    const struct bats_cluster_section *section = &claims->file->sections[s];
    uint32_t first = platform->n_machines;
    for (size_t i = 0; i < claims->n_workers; i++) {
        const struct bats_worker_rank *worker = claims->by_rank[i];
        size_t w = index_of(claims, worker);
        if (claims->section[w] != s)
            continue;
        uint32_t m = machine_for(platform, claims, leaders, first, s, worker);
        platform->slot_of[w].machine = m;
        platform->slot_of[w].slot = platform->machines[m].slots++;
    }
    uint32_t n = platform->n_machines - first;
    if (n == 0)
        return true;
    struct bats_cluster *cluster = &platform->clusters[platform->n_clusters];
    *cluster = section->model.cluster;
    if (cluster->max > n)
        cluster->max = n;
    if (!bats_reliability_copy(&platform->reliability[platform->n_clusters],
                               &section->model.reliability))
        return false;
    platform->expected[platform->n_clusters] = section->model.expected;
    platform->speed[platform->n_clusters++] = section->model.speed;
    return true;
}

int bats_platform_build(const struct bats_clusters_file *file,
                        const struct bats_worker_rank *workers,
                        size_t n_workers, struct bats_platform *platform,
                        struct bats_error *err)
{
    if (n_workers == 0 || n_workers > INT_MAX)
        return bats_refuse(err, "there is no rank to run tasks: rank 0 is the "
                                "master, so start at least two");

    struct bats_platform p = {.n_workers = n_workers};
    struct claims claims = {
        .file = file, .workers = workers, .n_workers = n_workers, .err = err};
    int code = BATS_ENOMEM;
    const struct bats_worker_rank **leaders =
        calloc(n_workers, sizeof *leaders);
    claims.by_rank = calloc(n_workers, sizeof *claims.by_rank);
    claims.section = calloc(n_workers, sizeof *claims.section);
    p.machines = calloc(n_workers, sizeof *p.machines);
    p.slot_of = calloc(n_workers, sizeof *p.slot_of);
    if (!leaders || !claims.by_rank || !claims.section || !p.machines ||
        !p.slot_of) {
        bats_error_set(err, code, "out of memory for %zu ranks", n_workers);
        goto done;
    }
    for (size_t i = 0; i < n_workers; i++) {
        claims.by_rank[i] = &workers[i];
        claims.section[i] = NO_SECTION;
    }
    qsort(claims.by_rank, n_workers, sizeof *claims.by_rank, compare_ranks);

    code = settle_claims(&claims);
    for (uint32_t s = 0; s < file->n_sections && !code; s++)
        if (!add_cluster(&p, &claims, leaders, s))
            code = bats_no_memory(err);
    p.window = file->window;
    p.billing = file->billing;
    p.least = file->minimum;
    strcpy(p.currency, file->currency);
done:
    free(leaders);
    free(claims.by_rank);
    free(claims.section);
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
    for (size_t i = 0; i < BATS_CLUSTERS_MAX; i++)
        bats_reliability_release(&platform->reliability[i]);
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
