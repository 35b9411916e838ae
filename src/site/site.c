#include "site/site.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_system.h"
#include "util/encode.h"
#include "util/hostlist.h"

struct host {
    const struct bats_node *node;          /* node of its first rank */
    const struct bats_allocation_node *at; /* NULL: not in the job */
    uint32_t ranks;
    uint32_t workers;
    uint32_t cores; /* fewest cores of any rank */
    uint32_t held;  /* cores of all ranks */
    uint32_t cluster;
};

/* ---- shares ---- */

static int compare_places(const void *a, const void *b)
{
    const struct bats_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->host, (*y)->host);
    if (order == 0)
        order = strcmp((*x)->hardware.bound, (*y)->hardware.bound);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* The nodes sorted by host, binding and rank. For free(). */
static const struct bats_node **sort(const struct bats_node *nodes,
                                     uint32_t n_ranks)
{
    const struct bats_node **sorted = calloc(n_ranks, sizeof *sorted);
    for (uint32_t i = 0; sorted != NULL && i < n_ranks; i++)
        sorted[i] = &nodes[i];
    if (sorted != NULL)
        qsort(sorted, n_ranks, sizeof *sorted, compare_places);
    return sorted;
}

int bats_site_share(const struct bats_node *nodes, uint32_t n_ranks,
                    struct bats_share *shares, struct bats_error *err)
{
    const struct bats_node **sorted = sort(nodes, n_ranks);
    if (sorted == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0, next; i < n_ranks; i = next) {
        const struct bats_node *a = sorted[i];
        for (next = i + 1; next < n_ranks; next++)
            if (strcmp(sorted[next]->host, a->host) != 0 ||
                strcmp(sorted[next]->hardware.bound, a->hardware.bound) != 0)
                break;
        for (uint32_t k = i; k < next; k++)
            shares[sorted[k] - nodes] = (struct bats_share){k - i, next - i};
    }
    free(sorted);
    return 0;
}

/* ---- hosts ---- */

static void add_rank(struct host *host, const struct bats_node *node,
                     const struct bats_share *share, bool is_worker)
{
    uint32_t bound = node->hardware.bound_cores;
    uint32_t cores = bound < share->count ? 1 : bound / share->count;
    if (host->ranks == 0 || node < host->node)
        host->node = node;
    if (host->ranks++ == 0 || cores < host->cores)
        host->cores = cores;
    if (bound == 0)
        host->held += 1;
    else if (share->index == 0)
        host->held += bound;
    host->workers += is_worker;
}

static int by_first_rank(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* Gathers the *n hosts in the order of their first ranks. */
static int gather(const struct bats_node *nodes, uint32_t n_ranks,
                  struct host *hosts, size_t *n, struct bats_error *err)
{
    const struct bats_node **sorted = sort(nodes, n_ranks);
    struct bats_share *shares = calloc(n_ranks, sizeof *shares);
    int rc = sorted != NULL && shares != NULL
                 ? bats_site_share(nodes, n_ranks, shares, err)
                 : bats_no_memory(err);
    for (uint32_t i = 0; rc == 0 && i < n_ranks; i++) {
        const struct bats_node *node = sorted[i];
        ptrdiff_t rank = node - nodes;
        *n += i == 0 || strcmp(node->host, sorted[i - 1]->host) != 0;
        add_rank(&hosts[*n - 1], node, &shares[rank], rank > 0);
    }
    qsort(hosts, *n, sizeof *hosts, by_first_rank);
    free(sorted);
    free(shares);
    return rc;
}

/* ---- charges ---- */

/* The rate of a machine, per hour. Writes its source. */
static double rate_of(const struct bats_site *site, const struct host *host,
                      bool by_node, char *source, size_t size)
{
    char part[64] = "";
    if (host->at == NULL) {
        uint32_t cores = by_node ? host->held : host->cores;
        snprintf(source, size, "1 per core-hour, %u core%s", cores,
                 cores == 1 ? "" : "s");
        return cores;
    }
    if (!by_node && host->ranks > 1)
        snprintf(part, sizeof part, ", shared by %u ranks", host->ranks);
    snprintf(source, size, "%s, %u CPUs%s",
             site->allocation.parts[host->at->part].source, host->at->cpus,
             part);
    return by_node ? host->at->rate : host->at->rate / host->ranks;
}

/* ---- clusters ---- */

static bool same_hardware(const struct bats_hardware *a,
                          const struct bats_hardware *b)
{
    uint64_t larger =
        a->memory_bytes > b->memory_bytes ? a->memory_bytes : b->memory_bytes;
    uint64_t smaller = a->memory_bytes + b->memory_bytes - larger;
    return strcmp(a->model, b->model) == 0 && a->packages == b->packages &&
           a->cores == b->cores && a->threads == b->threads &&
           larger - smaller <= larger / 16;
}

static bool belongs(const struct bats_site_cluster *c,
                    const struct bats_node *of_cluster,
                    const struct bats_node *node, bool by_node, double rate)
{
    bool alike = node->partition[0] != '\0' || c->partition[0] != '\0'
                     ? strcmp(node->partition, c->partition) == 0
                     : same_hardware(&node->hardware, &of_cluster->hardware);
    return alike && by_node == c->by_node &&
           fabs(rate - c->rate) <= 1e-9 * rate;
}

/* True if the job holds whole nodes wherever it has ranks in this host's
 * part. */
static bool held_whole(const struct host *hosts, size_t n,
                       const struct host *host)
{
    for (size_t i = 0; i < n && host->at != NULL; i++)
        if (hosts[i].at != NULL && hosts[i].at->part == host->at->part &&
            !hosts[i].at->whole)
            return false;
    return host->at != NULL;
}

static bool is_taken(const struct bats_site *site, const char *name)
{
    for (size_t i = 0; i < site->n_clusters; i++)
        if (strcmp(site->clusters[i].name, name) == 0)
            return true;
    return false;
}

/* Names a cluster after its partition, else after the size of its machines; a
 * number distinguishes equal names. */
static void choose_name(const struct bats_site *site,
                        const struct bats_node *node, char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    char base[BATS_CLUSTER_NAME];
    const struct bats_hardware *h = &node->hardware;
    if (node->partition[0] != '\0')
        snprintf(base, sizeof base, "%s", node->partition);
    else
        snprintf(base, sizeof base, "%uc-%.0fG", h->cores,
                 (double)h->memory_bytes / (1 << 30));
    for (char *c = base; *(c += strspn(c, allowed)) != '\0';)
        *c = '-';
    snprintf(name, BATS_CLUSTER_NAME, "%s", base);
    for (unsigned i = 2; is_taken(site, name); i++)
        snprintf(name, BATS_CLUSTER_NAME, "%.*s-%u", BATS_CLUSTER_NAME - 12,
                 base, i);
}

static int join(struct bats_site *site, struct host *host,
                const struct bats_node *nodes, bool by_node,
                struct bats_error *err)
{
    struct bats_site_cluster new = {.by_node = by_node};
    const struct bats_node *node = host->node;
    new.rate = rate_of(site, host, by_node, new.source, sizeof new.source);
    for (host->cluster = 0; host->cluster < site->n_clusters; host->cluster++)
        if (belongs(&site->clusters[host->cluster],
                    &nodes[site->clusters[host->cluster].node], node, by_node,
                    new.rate))
            return 0;
    if (site->n_clusters == BATS_CLUSTERS_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "there are more than %d kinds of machines: "
                              "write a clusters file (--clusters)",
                              BATS_CLUSTERS_MAX);
    choose_name(site, node, new.name);
    strcpy(new.partition, node->partition);
    new.node = (uint32_t)(node - nodes);
    site->clusters[site->n_clusters++] = new;
    return 0;
}

static int list_hosts(struct bats_site *site, const struct host *hosts,
                      size_t n, struct bats_error *err)
{
    const char **names = calloc(n, sizeof *names);
    bool complete = names != NULL;
    for (size_t c = 0; complete && c < site->n_clusters; c++) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (hosts[i].workers > 0 && hosts[i].cluster == c)
                names[kept++] = hosts[i].node->host;
        site->clusters[c].hosts = bats_hostlist_fold(names, kept);
        complete = site->clusters[c].hosts != NULL;
    }
    free(names);
    return complete ? 0 : bats_no_memory(err);
}

int bats_site_discover(const struct bats_node *nodes, uint32_t n_ranks,
                       enum bats_site_machine machine, struct bats_site *site,
                       struct bats_error *err)
{
    struct bats_site s = {0};
    struct bats_error why = {0};
    const struct bats_hardware *h = &nodes[0].hardware;
    double per_core = h->cores > 0 ? (double)h->threads / h->cores : 1;
    struct host *hosts = calloc(n_ranks, sizeof *hosts);
    size_t n = 0;
    int rc = hosts != NULL ? gather(nodes, n_ranks, hosts, &n, err)
                           : bats_no_memory(err);
    if (rc == 0 && bats_batch_ask(per_core, &s.allocation, &why) < 0)
        s.trouble = why;
    for (size_t i = 0; i < n; i++)
        hosts[i].at = bats_allocation_find(&s.allocation, hosts[i].node->host);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool by_node = machine == BATS_SITE_AUTO
                           ? held_whole(hosts, n, &hosts[i])
                           : machine == BATS_SITE_NODE;
        if (hosts[i].workers > 0)
            rc = join(&s, &hosts[i], nodes, by_node, err);
    }
    if (rc == 0)
        rc = list_hosts(&s, hosts, n, err);
    if (rc == 0 && s.n_clusters == 1 && s.clusters[0].partition[0] == '\0')
        strcpy(s.clusters[0].name, "all");
    free(hosts);
    if (rc < 0)
        bats_site_release(&s);
    else
        *site = s;
    return rc;
}

void bats_site_release(struct bats_site *site)
{
    for (size_t i = 0; i < site->n_clusters; i++)
        free(site->clusters[i].hosts);
    bats_allocation_release(&site->allocation);
    *site = (struct bats_site){0};
}

/* ---- as a clusters file ---- */

static bool shares_partition(const struct bats_site *site, size_t c)
{
    for (size_t i = 0; i < site->n_clusters; i++)
        if (i != c && strcmp(site->clusters[i].partition,
                             site->clusters[c].partition) == 0)
            return true;
    return false;
}

static int check_plain(const char *name, struct bats_error *err)
{
    for (const char *c = name; *c != '\0'; c++)
        if (strchr("[]", *c) == NULL &&
            !bats_encode_is_word((char[]){*c, '\0'}))
            return bats_error_set(err, BATS_EINPUT,
                                  "'%s' cannot be written into a clusters "
                                  "file",
                                  name);
    return 0;
}

static int write_cluster(FILE *out, const struct bats_site *site, size_t c,
                         struct bats_error *err)
{
    const struct bats_site_cluster *cluster = &site->clusters[c];
    char charge[BATS_UNITS_TEXT], source[256];
    double amount = cluster->rate * BATS_UNIT;
    bool by_partition =
        cluster->partition[0] != '\0' && !shares_partition(site, c);
    bool by_hosts = !by_partition && site->n_clusters > 1;
    int rc = check_plain(by_partition ? cluster->partition
                         : by_hosts   ? cluster->hosts
                                      : "",
                         err);
    if (rc < 0)
        return rc;
    if (!(amount < (double)INT64_MAX / 2))
        return bats_error_set(err, BATS_EOVERFLOW,
                              "a machine of cluster %s would charge %g",
                              cluster->name, cluster->rate);
    fprintf(out, "\n[cluster %s]\n", cluster->name);
    if (by_partition)
        fprintf(out, "partition = %s\n", cluster->partition);
    else if (by_hosts)
        fprintf(out, "nodes = %s\n", cluster->hosts);
    fprintf(out, "machine = %s\n# %s\ncharge = %s/h\n",
            cluster->by_node ? "node" : "rank",
            bats_encode_terminal(source, sizeof source, cluster->source),
            bats_money_format(charge, (bats_money)llround(amount)));
    return 0;
}

int bats_site_write(const struct bats_site *site, bats_time window,
                    char **text, struct bats_error *err)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    if (out == NULL)
        return bats_no_memory(err);
    fprintf(out, "[run]\ncurrency = %s\n",
            site->allocation.n_parts > 0 ? site->allocation.system->currency
                                         : "core-h");
    if (window > 0 && window % BATS_MINUTE == 0)
        fprintf(out, "window = %" PRId64 "m\n", window / BATS_MINUTE);
    else if (window > 0)
        fprintf(out, "window = %" PRId64 "us\n", window);
    int rc = 0;
    for (size_t c = 0; rc == 0 && c < site->n_clusters; c++)
        rc = write_cluster(out, site, c, err);
    if (fclose(out) != 0 && rc == 0)
        rc = bats_no_memory(err);
    if (rc < 0)
        free(*text);
    return rc;
}
