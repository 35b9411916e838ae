#include "site/slurm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "site/fields.h"
#include "util/hostlist.h"

#define FIELD 512

/* Counts ids: "0-2,8" are 4. */
static uint32_t count_ids(const char *ids)
{
    uint32_t n = 0;
    for (const char *at = ids; *at >= '0' && *at <= '9';) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        n += last >= first ? (uint32_t)(last - first) + 1 : 0;
        at = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* The amount of `name` in a list such as "cpu=3,node=1,billing=9"; -1: it is
 * not there. */
static double amount_in(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return strtod(at + n + 1, NULL);
    }
    return -1;
}

/* ---- the job ---- */

static int add_node(struct bats_slurm *slurm, const struct bats_slurm_node *of,
                    const char *host, struct bats_error *err)
{
    struct bats_slurm_node *nodes =
        realloc(slurm->nodes, (slurm->n_nodes + 1) * sizeof *nodes);
    if (nodes == NULL)
        return bats_no_memory(err);
    slurm->nodes = nodes;
    nodes[slurm->n_nodes] = *of;
    snprintf(nodes[slurm->n_nodes].host, sizeof nodes->host, "%s", host);
    slurm->n_nodes++;
    return 0;
}

/* Reads "Nodes=fast[1-2] CPU_IDs=0-63 Mem=0 GRES=gpu:2", as often as it
 * occurs. */
static int read_holdings(const char *at, const char *end,
                         struct bats_slurm *slurm, struct bats_error *err)
{
    int rc = 0;
    while (rc == 0 && (at = bats_field_find(at, end, "Nodes")) != NULL) {
        char value[FIELD];
        struct bats_slurm_node node = {.part = (uint32_t)slurm->n_parts};
        struct bats_hostlist hosts;
        size_t n = strcspn(at, " \n");
        char *names = strndup(at, n);
        if (names == NULL)
            return bats_no_memory(err);
        bats_field_get(at, end, "CPU_IDs", value, sizeof value);
        node.cpus = count_ids(value);
        bats_field_get(at, end, "Mem", value, sizeof value);
        node.memory_mb = strtod(value, NULL);
        bats_field_get(at, end, "GRES", node.gres, sizeof node.gres);
        rc = bats_hostlist_expand(names, &hosts, err);
        free(names);
        for (size_t i = 0; rc == 0 && i < hosts.n; i++)
            rc = add_node(slurm, &node, hosts.names[i], err);
        bats_hostlist_release(&hosts);
    }
    return rc;
}

static int read_part(const char *at, const char *end, struct bats_slurm *slurm,
                     struct bats_error *err)
{
    struct bats_slurm_part *parts =
        realloc(slurm->parts, (slurm->n_parts + 1) * sizeof *parts);
    if (parts == NULL)
        return bats_no_memory(err);
    slurm->parts = parts;
    struct bats_slurm_part *part = &parts[slurm->n_parts];
    char value[FIELD];
    *part = (struct bats_slurm_part){0};
    bats_field_get(at, end, "Partition", part->partition,
                   sizeof part->partition);
    bats_field_get(at, end, "TRES", value, sizeof value);
    part->billing = amount_in(value, "billing");
    bats_field_get(at, end, "StartTime", value, sizeof value);
    part->start_s = strtoll(value, NULL, 10);
    bats_field_get(at, end, "EndTime", value, sizeof value);
    part->end_s = strtoll(value, NULL, 10); /* "Unknown" becomes 0 */
    bats_field_get(at, end, "OverSubscribe", value, sizeof value);
    part->exclusive = strcmp(value, "NO") == 0;
    int rc = read_holdings(at, end, slurm, err);
    slurm->n_parts++;
    return rc;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct bats_slurm_node *x = a, *y = b;
    return strcmp(x->host, y->host);
}

int bats_slurm_read_job(const char *text, struct bats_slurm *slurm,
                        struct bats_error *err)
{
    int rc = 0;
    for (const char *line = text; *line != '\0' && rc == 0;) {
        const char *end = bats_field_line_end(line);
        /* The user chooses the text before this. */
        const char *at = bats_field_find(line, end, "JobState");
        if (at != NULL) {
            if (slurm->n_parts == 0) {
                bats_field_get(line, end, "UserId", slurm->user,
                               sizeof slurm->user);
                slurm->user[strcspn(slurm->user, "(")] = '\0';
                bats_field_get(line, end, "Account", slurm->account,
                               sizeof slurm->account);
                bats_field_get(line, end, "QOS", slurm->qos,
                               sizeof slurm->qos);
                char value[FIELD];
                bats_field_get(at, end, "Restarts", value, sizeof value);
                slurm->restarts = (uint32_t)strtoul(value, NULL, 10);
                bats_field_get(at, end, "SubmitTime", value, sizeof value);
                slurm->submitted_s = strtoll(value, NULL, 10);
            }
            rc = read_part(at, end, slurm, err);
        }
        line = end + (*end == '\n');
    }
    if (rc == 0 && slurm->n_nodes == 0)
        rc =
            bats_error_set(err, BATS_EINPUT,
                           "scontrol tells of no nodes of job %s", slurm->job);
    if (rc == 0)
        qsort(slurm->nodes, slurm->n_nodes, sizeof *slurm->nodes,
              compare_nodes);
    return rc;
}

const struct bats_slurm_node *bats_slurm_find(const struct bats_slurm *slurm,
                                              const char *host)
{
    struct bats_slurm_node key;
    snprintf(key.host, sizeof key.host, "%.*s", (int)strcspn(host, "."), host);
    return slurm->n_nodes > 0 ? bsearch(&key, slurm->nodes, slurm->n_nodes,
                                        sizeof *slurm->nodes, compare_nodes)
                              : NULL;
}

int64_t bats_slurm_end(const struct bats_slurm *slurm)
{
    int64_t end_s = 0;
    for (size_t i = 0; i < slurm->n_parts; i++)
        if (slurm->parts[i].end_s > 0 &&
            (end_s == 0 || slurm->parts[i].end_s < end_s))
            end_s = slurm->parts[i].end_s;
    return end_s;
}

double bats_slurm_billing(const struct bats_slurm *slurm)
{
    double sum = 0;
    for (size_t i = 0; i < slurm->n_parts; i++)
        sum += slurm->parts[i].billing > 0 ? slurm->parts[i].billing : 0;
    return sum;
}

void bats_slurm_release(struct bats_slurm *slurm)
{
    free(slurm->parts);
    free(slurm->nodes);
    *slurm = (struct bats_slurm){0};
}

double bats_slurm_read_billed(const char *text)
{
    double seconds = 0;
    bool any = false;
    for (const char *line = text; *line != '\0';) {
        const char *end = bats_field_line_end(line);
        char *tres;
        double elapsed = strtod(line, &tres);
        const char *billing =
            memmem(tres, (size_t)(end - tres), "billing=", 8);
        if (tres > line && *tres == '|' && billing != NULL) {
            seconds += elapsed * strtod(billing + 8, NULL);
            any = true;
        }
        line = end + (*end == '\n');
    }
    return any ? seconds / 3600 : -1;
}

/* ---- partitions and nodes ---- */

void bats_slurm_read_partition(const char *text, struct bats_slurm *slurm)
{
    static const char first[] = "PartitionName=";
    char name[BATS_NODE_PARTITION], weights[BATS_SLURM_WEIGHTS];
    if (strncmp(text, first, sizeof first - 1) != 0)
        return;
    bats_field_copy(text + sizeof first - 1, name, sizeof name);
    bats_field_get(text, bats_field_line_end(text), "TRESBillingWeights",
                   weights, sizeof weights);
    for (size_t i = 0; i < slurm->n_parts; i++)
        if (strcmp(slurm->parts[i].partition, name) == 0)
            strcpy(slurm->parts[i].weights, weights);
}

void bats_slurm_read_nodes(const char *text, struct bats_slurm *slurm)
{
    static const char first[] = "NodeName=";
    for (const char *line = text; *line != '\0';) {
        const char *end = bats_field_line_end(line);
        char name[BATS_NODE_HOST], cpus[16];
        if (strncmp(line, first, sizeof first - 1) == 0) {
            bats_field_copy(line + sizeof first - 1, name, sizeof name);
            bats_field_get(line, end, "CPUTot", cpus, sizeof cpus);
            struct bats_slurm_node *node =
                (struct bats_slurm_node *)bats_slurm_find(slurm, name);
            if (node != NULL)
                node->whole = slurm->parts[node->part].exclusive ||
                              (double)node->cpus >= strtod(cpus, NULL);
        }
        line = end + (*end == '\n');
    }
}

/* ---- bills ---- */

/* The amount of "gres/gpu" or "gres/gpu:a100" in "gpu:a100:2(IDX:0-1)" or a
 * list of such items. */
static double count_gres(const char *held, const char *name, size_t length)
{
    double n = 0;
    for (const char *at = held; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        size_t item = strcspn(at, ",(");
        const char *colon = memrchr(at, ':', item);
        if (colon != NULL && strncasecmp(at, name, length) == 0 &&
            at[length] == ':')
            n += strtod(colon + 1, NULL);
    }
    return n;
}

/* The amount of a resource with a weight that the node holds. Memory is in
 * units of the weight's suffix, else in megabytes. */
static double held(const struct bats_slurm_node *node, const char *name,
                   size_t length, char suffix)
{
    static const char suffixes[] = "KMGTP";
    if (length == 3 && strncasecmp(name, "cpu", 3) == 0)
        return node->cpus;
    if (length == 4 && strncasecmp(name, "node", 4) == 0)
        return 1;
    if (length == 3 && strncasecmp(name, "mem", 3) == 0) {
        const char *unit = suffix != '\0' ? strchr(suffixes, suffix) : NULL;
        int power = unit != NULL ? (int)(unit - suffixes) - 1 : 0;
        return ldexp(node->memory_mb, -10 * power);
    }
    if (length > 5 && strncasecmp(name, "gres/", 5) == 0)
        return count_gres(node->gres, name + 5, length - 5);
    return 0;
}

/* Applies weights such as "CPU=1.0,Mem=0.25G,GRES/gpu=2.0". */
static double weigh(const struct bats_slurm_node *node, const char *weights)
{
    double sum = 0;
    for (const char *at = weights; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        size_t length = strcspn(at, "=,");
        if (at[length] != '=')
            continue;
        char *end;
        double weight = strtod(at + length + 1, &end);
        char suffix = (char)(*end >= 'a' ? *end - 'a' + 'A' : *end);
        sum += weight * held(node, at, length, suffix == ',' ? '\0' : suffix);
    }
    return sum;
}

void bats_slurm_bill(double threads_per_core, struct bats_slurm *slurm)
{
    for (uint32_t i = 0; i < slurm->n_parts; i++) {
        const struct bats_slurm_part *part = &slurm->parts[i];
        bool weighted = part->weights[0] != '\0';
        double sum = 0;
        for (size_t k = 0; k < slurm->n_nodes; k++) {
            struct bats_slurm_node *node = &slurm->nodes[k];
            if (node->part != i)
                continue;
            node->rate = weighted ? weigh(node, part->weights)
                                  : node->cpus / threads_per_core;
            sum += node->rate;
        }
        /* Slurm shows its bill as a whole number. */
        if (!weighted || part->billing <= 0 || sum <= 0 ||
            fabs(sum - part->billing) <= 1)
            continue;
        for (size_t k = 0; k < slurm->n_nodes; k++)
            if (slurm->nodes[k].part == i)
                slurm->nodes[k].rate *= part->billing / sum;
    }
}
