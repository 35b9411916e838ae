/* needs_jobs: what the worker jobs of a run request, and have. */
#include "run/needs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/proto.h"
#include "run/run.h"
#include "run/survey.h"

/* ---- what to request ---- */

/* The tasks that fit a kind of node. An open bag stands for one task with the
 * default needs. */
struct fit {
    uint32_t n;
    struct bats_need most;
    double cores, memory_kib, gpus; /* sums */
};

static struct fit count_fit(const struct bats_run_options *o,
                            const struct bats_stock *kind)
{
    struct fit fit = {.n = 0};
    uint32_t n = o->open != NULL ? 1 : o->bag->n_tasks;
    for (uint32_t i = 0; i < n; i++) {
        struct bats_need need = bats_needs_of(o, i);
        if (bats_need_room(kind, &need) == 0)
            continue;
        fit.n++;
        fit.cores += need.cores;
        fit.memory_kib += (double)need.memory_kib;
        fit.gpus += need.gpus;
        if (need.memory_kib > fit.most.memory_kib)
            fit.most.memory_kib = need.memory_kib;
        if (need.gpus > fit.most.gpus)
            fit.most.gpus = need.gpus;
    }
    return fit;
}

/* A kind of node as the jobs see it, with what the user has fixed. */
static struct bats_stock seen_by_jobs(const struct bats_stock *kind,
                                      const struct bats_stock *node)
{
    return (struct bats_stock){
        .cores = node->cores,
        .gpus = node->gpus > 0                ? node->gpus
                : kind->gpus > BATS_GPUS_MOST ? BATS_GPUS_MOST
                                              : kind->gpus,
        .memory_kib =
            node->memory_kib > 0 ? node->memory_kib : kind->memory_kib};
}

/* Fills in what tasks request of a node of this kind, unless it is fixed. */
static void fill_in(const struct bats_run_options *o, const struct fit *fit,
                    const struct bats_stock *kind, struct bats_stock *node)
{
    double slots = node->cores, again = fmax(o->retry_memory, 1);
    double kib = fmax((double)fit->most.memory_kib * again,
                      slots * fit->memory_kib / fit->cores);
    double gpus = fmax(fit->most.gpus, ceil(slots * fit->gpus / fit->cores));
    if (kind->memory_kib > 0)
        kib = fmin(kib, (double)kind->memory_kib);
    if (node->memory_kib == 0)
        node->memory_kib = (int64_t)ceil(kib);
    if (node->gpus == 0)
        node->gpus = (uint32_t)fmin(gpus, kind->gpus);
}

bool bats_needs_request(const struct bats_run_options *o,
                        const struct bats_stock *kinds, size_t n,
                        struct bats_stock *node, struct bats_stock *largest)
{
    const struct bats_stock any = {.gpus = BATS_GPUS_MOST};
    struct bats_stock best = {.cores = 0};
    struct fit fit = {.n = 0};
    *largest = *node;
    for (size_t i = 0; i < n || i == 0; i++) {
        struct bats_stock kind = seen_by_jobs(n > 0 ? &kinds[i] : &any, node);
        struct fit here = count_fit(o, &kind);
        if (here.n > fit.n) {
            fit = here;
            best = kind;
        }
        if (kind.gpus > largest->gpus)
            largest->gpus = kind.gpus;
        if (kind.memory_kib > largest->memory_kib)
            largest->memory_kib = kind.memory_kib;
    }
    if (fit.n == 0)
        *node = (struct bats_stock){.cores = 0};
    else
        fill_in(o, &fit, &best, node);
    if (node->memory_kib == 0 && n > 0)
        node->memory_kib = BATS_NEEDS_NONE;
    return fit.n > 0;
}

/* ---- what the jobs have ---- */

int bats_needs_hold(const struct bats_run_options *o,
                    const struct bats_hello *ranks, uint32_t n,
                    struct bats_error *err)
{
    int64_t most = bats_needs_most(o).memory_kib;
    for (uint32_t k = 0; most > 0 && k < n; k++) {
        const struct bats_node *node = &ranks[k].node;
        int64_t beside = 0;
        for (uint32_t i = 0; i < n; i++)
            beside += strcmp(ranks[i].node.host, node->host) == 0;
        int64_t kib = (int64_t)(node->usable_bytes / 1024) / beside;
        if (kib > 0 && kib < most)
            return bats_refuse(err,
                               "each of its ranks on %s has %" PRId64
                               " KiB of memory, and a task needs %" PRId64,
                               node->host, kib, most);
    }
    return 0;
}

/* All `slots` ranks from `first` on are on one host. */
static bool is_node(const struct bats_hello *ranks, uint32_t first, uint32_t n,
                    uint32_t slots)
{
    for (uint32_t k = first; k < first + slots; k++)
        if (k >= n || strcmp(ranks[k].node.host, ranks[first].node.host) != 0)
            return false;
    return true;
}

static void list_names(const struct bats_run_options *o,
                       const struct bats_hello *ranks, uint32_t n,
                       struct bats_text *names)
{
    bats_gpus_number(names, o->gpus_per_node);
    bats_text_add(names, "");
    for (uint32_t k = 0; o->gpus_per_node == 0 && k < n; k++)
        bats_gpus_add(names, ranks[k].node.gpus);
}

/* The node of these ranks has less than `node`. */
static int check_node(const struct bats_run_options *o,
                      const struct bats_stock *node,
                      const struct bats_hello *ranks, struct bats_error *err)
{
    struct bats_text names = {0};
    for (uint32_t k = 0; k < node->cores; k++) {
        uint64_t kib = ranks[k].node.usable_bytes / 1024;
        if (kib > 0 && kib < (uint64_t)node->memory_kib)
            return bats_refuse(err,
                               "the job may use %" PRIu64 " KiB of memory "
                               "of %s instead of %" PRId64,
                               kib, ranks[k].node.host, node->memory_kib);
    }
    list_names(o, ranks, node->cores, &names);
    int rc = bats_text_check(&names, err);
    size_t n_gpus = rc == 0 ? bats_gpus_count(names.bytes) : 0;
    if (rc == 0 && n_gpus < node->gpus)
        rc = bats_refuse(
            err,
            "CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES names %zu GPUs of "
            "%s instead of %" PRIu32,
            n_gpus, ranks[0].node.host, node->gpus);
    bats_text_release(&names);
    return rc;
}

int bats_needs_admit(const struct bats_run_options *o,
                     const struct bats_stock *node,
                     const struct bats_hello *ranks, uint32_t n,
                     struct bats_error *err)
{
    int rc = 0;
    if (!bats_needs_any(o))
        return 0;
    for (uint32_t k = 0; rc == 0 && k < n; k += node->cores)
        rc = is_node(ranks, k, n, node->cores)
                 ? check_node(o, node, &ranks[k], err)
                 : bats_refuse(err, "its ranks are not in the order of nodes "
                                    "(--distribution=block)");
    return rc;
}

int bats_needs_join(const struct bats_run_options *o, struct bats_survey *s,
                    uint32_t machine, const struct bats_hello *ranks,
                    uint32_t n, struct bats_error *err)
{
    uint32_t nodes = s->gpus != NULL ? s->n_nodes : 0;
    for (uint32_t k = 0; k < nodes; k++) {
        struct bats_text names = {0};
        char **list = &s->gpus[machine * nodes + k];
        list_names(o, &ranks[k * (n / nodes)], n / nodes, &names);
        if (bats_text_check(&names, err) < 0)
            return BATS_ENOMEM;
        free(*list);
        *list = names.bytes;
    }
    return 0;
}
