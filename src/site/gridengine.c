/* gridengine: reads the answers of qstat and qconf. Measured with 8.1.9; its
 * successors (Open Cluster Scheduler, Altair Grid Engine) print the same. See
 * gridengine.h. */
#include "site/gridengine.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the hosts of the job ---- */

/* Finds the part of the queue, or adds it. */
static int part_of(struct bats_allocation *a, const char *queue,
                   uint32_t *part, struct bats_error *err)
{
    struct bats_allocation_part new = {.exclusive = false};
    for (*part = 0; *part < a->n_parts; ++*part)
        if (strcmp(a->parts[*part].partition, queue) == 0)
            return 0;
    snprintf(new.partition, sizeof new.partition, "%s", queue);
    return bats_allocation_add_part(a, &new, err);
}

static int add_host(struct bats_allocation *a, const char *host,
                    const char *queue, unsigned slots, struct bats_error *err)
{
    struct bats_allocation_node node = {.cpus = slots};
    int rc = part_of(a, queue, &node.part, err);
    snprintf(node.host, sizeof node.host, "%.*s", (int)strcspn(host, "."),
             host);
    return rc < 0 ? rc : bats_allocation_add_node(a, &node, err);
}

int bats_gridengine_read_hosts(const char *text, struct bats_allocation *a,
                               struct bats_error *err)
{
    char host[BATS_NODE_HOST], queue[BATS_NODE_PARTITION];
    unsigned slots;
    int n, rc = 0;
    for (; rc == 0 && sscanf(text, "%255s %u %63[^@ \n]%*[^\n]%n", host,
                             &slots, queue, &n) == 3;
         text += n)
        rc = add_host(a, host, queue, slots, err);
    return rc;
}

/* ---- charges ---- */

void bats_gridengine_read_charges(const char *text, struct bats_allocation *a)
{
    struct bats_allocation_node *node = NULL;
    for (const char *line = text; *line != '\0';
         line += strcspn(line, "\n"), line += *line == '\n') {
        char queue[BATS_NODE_PARTITION], host[BATS_NODE_HOST];
        unsigned total;
        double charge;
        if (sscanf(line, "%63[^@ \n]@%255s %*s %*u/%*u/%u", queue, host,
                   &total) == 3) {
            node = bats_allocation_find(a, host);
            if (node != NULL &&
                strcmp(a->parts[node->part].partition, queue) != 0)
                node = NULL;
            if (node != NULL)
                node->whole = node->cpus >= total;
        } else if (node != NULL &&
                   sscanf(line, " %*[a-z]:charge=%lf", &charge) == 1) {
            struct bats_allocation_part *part = &a->parts[node->part];
            node->rate = charge * node->cpus;
            snprintf(part->source, sizeof part->source,
                     "Grid Engine: charge=%g of %s", charge, part->partition);
        }
    }
    for (size_t i = 0; i < a->n_parts; i++)
        if (a->parts[i].source[0] == '\0')
            snprintf(a->parts[i].source, sizeof a->parts[i].source,
                     "Grid Engine: 1 per slot, for %s has no "
                     "complex_values charge=",
                     a->parts[i].partition);
    a->rate = 0;
    for (size_t i = 0; i < a->n_nodes; i++) {
        if (a->nodes[i].rate == 0)
            a->nodes[i].rate = a->nodes[i].cpus;
        a->rate += a->nodes[i].rate;
    }
}

/* The charge of each instance follows its line. */
double bats_gridengine_read_charge(const char *text, const char *queue)
{
    double most = -1;
    size_t n = strlen(queue);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        double charge = 1;
        line += *line == '\n';
        if (strncmp(line, queue, n) != 0 || line[n] != '@')
            continue;
        const char *next = strchr(line, '\n');
        if (next != NULL)
            sscanf(next, " %*[a-z]:charge=%lf", &charge);
        most = charge > most ? charge : most;
    }
    return most;
}

/* ---- kinds of nodes ---- */

/* KiB of "23.531G". */
static int64_t memory_in(const char *text)
{
    static const char units[] = "KMGT";
    char *unit;
    double amount = strtod(text, &unit);
    const char *at = *unit != '\0' ? strchr(units, *unit) : NULL;
    return (int64_t)ldexp(amount, at != NULL ? 10 * (int)(at - units) : -10);
}

/* Appends the kind if it is new and has slots. Returns the number of kinds. */
static size_t add_kind(struct bats_stock *kinds, size_t n, size_t room,
                       const struct bats_stock *kind)
{
    for (size_t i = 0; i < n; i++)
        if (kinds[i].cores == kind->cores && kinds[i].gpus == kind->gpus &&
            kinds[i].memory_kib == kind->memory_kib)
            return n;
    if (n < room && kind->cores > 0)
        kinds[n++] = *kind;
    return n;
}

size_t bats_gridengine_read_kinds(const char *text, struct bats_stock *kinds,
                                  size_t room)
{
    size_t n = 0;
    struct bats_stock kind = {.cores = 0};
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        unsigned slots;
        char name[32], value[64];
        line += *line == '\n';
        if (sscanf(line, "%*[^@ \n]@%*s %*s %*u/%*u/%u", &slots) == 1) {
            n = add_kind(kinds, n, room, &kind);
            kind = (struct bats_stock){.cores = slots};
        } else if (sscanf(line, "\t%*[a-z]:%31[^=\n]=%63[^\n]", name, value) ==
                   2) {
            if (strcmp(name, "mem_total") == 0)
                kind.memory_kib = memory_in(value);
            if (strcmp(name, "gpu") == 0)
                kind.gpus = (uint32_t)strtod(value, NULL);
        }
    }
    return add_kind(kinds, n, room, &kind);
}

/* ---- limits ---- */

const char *bats_gridengine_behind(const char *from, const char *before)
{
    const char *at = from != NULL ? strstr(from, before) : NULL;
    return at != NULL ? at + strlen(before) : NULL;
}

static void shorten(int64_t *limit_s, int64_t other_s)
{
    if (other_s > 0 && (*limit_s == 0 || other_s < *limit_s))
        *limit_s = other_s;
}

void bats_gridengine_read_job(const char *xml, const char *task,
                              struct bats_allocation *a, int64_t *limit_s)
{
    static const char *const limits[] = {"<CE_name>h_rt<", "<CE_name>s_rt<"};
    char number[64];
    const char *at;
    for (size_t i = 0; i < 2; i++)
        if ((at =
                 bats_gridengine_behind(bats_gridengine_behind(xml, limits[i]),
                                        "<CE_doubleval>")) != NULL)
            shorten(limit_s, strtoll(at, NULL, 10));
    snprintf(number, sizeof number, "<JAT_task_number>%s<", task);
    at = bats_gridengine_behind(bats_gridengine_behind(xml, number),
                                "<JAT_start_time>");
    a->start_s = at != NULL ? strtoll(at, NULL, 10) : 0;
    if ((at = bats_gridengine_behind(xml, "<JB_owner>")) != NULL)
        snprintf(a->user, sizeof a->user, "%.*s", (int)strcspn(at, "<"), at);
    if ((at = bats_gridengine_behind(xml, "<JB_account>")) != NULL)
        snprintf(a->account, sizeof a->account, "%.*s", (int)strcspn(at, "<"),
                 at);
}

int64_t bats_gridengine_seconds(const char *text)
{
    int64_t sum = 0;
    text += strspn(text, " ");
    for (char *end; isdigit((unsigned char)*text); text = end + 1) {
        sum = sum * 60 + strtoll(text, &end, 10);
        if (*end != ':')
            break;
    }
    return sum;
}

void bats_gridengine_read_queue(const char *text, int64_t apart_s,
                                int64_t *limit_s)
{
    const char *hard = bats_gridengine_behind(text, "\nh_rt ");
    const char *soft = bats_gridengine_behind(text, "\ns_rt ");
    if (hard != NULL)
        shorten(limit_s, bats_gridengine_seconds(hard));
    int64_t soft_s = soft != NULL ? bats_gridengine_seconds(soft) : 0;
    if (soft_s > 0)
        shorten(limit_s, soft_s > apart_s ? soft_s - apart_s : 1);
}
