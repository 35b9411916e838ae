/* estimation: see profiling.h. */
#include "bats/lease.h"
#include "cli/profiling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bats/policy.h"
#include "cli/cli.h"
#include "input/clusters_file.h"
#include "run/needs.h"

#define LEFT_OUT "bats-mpi: left out, since "

static void set_up(struct bats_estimation *x, size_t n_clusters,
                   uint64_t n_tasks, bats_time window, const char *currency)
{
    snprintf(x->currency, sizeof x->currency, "%s", currency);
    x->e = (struct bats_estimator){.clusters = x->clusters,
                                   .runtimes = x->runtimes,
                                   .slots = x->slots,
                                   .n_clusters = n_clusters,
                                   .n_tasks = n_tasks,
                                   .window = window,
                                   .currency = x->currency};
}

/* Sets what rank 0 adds to a job if machines are ranks: a rank of the first of
 * its partitions, in the order of their names. */
static void set_heads(struct bats_estimation *x)
{
    for (size_t i = 0; i < x->e.n_clusters; i++) {
        x->heads[i] = (struct bats_head){
            .charge = x->by_node[i]
                          ? 0
                          : (bats_money)ceil((double)x->clusters[i].charge /
                                             x->ranks[i])};
        for (size_t k = 0; k < x->e.n_clusters; k++)
            x->heads[i].place += strcmp(x->partition[k], x->partition[i]) < 0;
    }
}

/* The number of the cluster in the file; n if it is not there. */
static size_t find(const struct bats_clusters_file *file, const char *name)
{
    size_t i = 0, n = file ? file->n_sections : 0;
    while (i < n && strcmp(file->sections[i].model.cluster.name, name))
        i++;
    return i;
}

/* A cluster that was found is named after its partition. */
static void find_partitions(struct bats_estimation *x,
                            const struct bats_clusters_file *file)
{
    for (size_t c = 0; c < x->e.n_clusters; c++) {
        const char *name = x->clusters[c].name;
        size_t i = find(file, name);
        size_t n = file ? file->n_sections : 0;
        const char *partition =
            i < n ? bats_clusters_file_partition(file, i) : NULL;
        x->partition[c] = partition ? partition : name;
        x->by_node[c] = i < n ? file->sections[i].by_node : x->ranks[c] > 1;
    }
    set_heads(x);
    x->e.heads = x->heads;
    x->e.least = file ? file->minimum : 0;
}

/* Removes the clusters without a known runtime and names them. */
static void leave_out(struct bats_estimation *x, const char *why)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->e.n_clusters; i++) {
        if (!(x->runtimes[i].mean > 0)) {
            if (i == kept)
                fprintf(stderr, LEFT_OUT "%s: %s", why, x->clusters[i].name);
            else
                fprintf(stderr, ", %s", x->clusters[i].name);
            continue;
        }
        x->clusters[kept] = x->clusters[i];
        x->slots[kept] = x->slots[i];
        x->ranks[kept] = x->ranks[i];
        x->runtimes[kept++] = x->runtimes[i];
    }
    if (kept < x->e.n_clusters)
        fputs("\n", stderr);
    x->e.n_clusters = kept;
}

void bats_estimation_set_graph(struct bats_estimation *x,
                               const struct bats_profile *profile)
{
    x->e.levels = profile->levels.n > 0 ? &profile->levels : NULL;
    x->e.chain = profile->path.means;
}

/* ---- from a profile ---- */

/* The runtime that the user expects now, or expected when sampling. */
static bats_time expected_of(const struct bats_profile_cluster *c,
                             const struct bats_clusters_file *file)
{
    size_t i = find(file, c->cluster.name);
    bats_time now =
        file && i < file->n_sections ? file->sections[i].model.expected : 0;
    return now > 0 ? now : c->expected;
}

/* The file says that machines have other slots than those sampled, so other
 * tasks fit. */
static bool differs(const struct bats_cluster_section *section, double slots)
{
    return section->by_node && section->model.stock.cores > 0 &&
           bats_stock_slots(&section->model.stock) != slots;
}

int bats_estimation_from_profile(struct bats_estimation *x,
                                 const struct bats_profile *profile,
                                 const struct bats_clusters_file *file,
                                 double confidence, struct bats_error *err)
{
    struct bats_sample sample;
    bats_time expected[BATS_CLUSTERS_MAX];
    int rc =
        bats_sample_init(&sample, profile->n_clusters, profile->observations,
                         profile->n_observations, err);
    if (rc < 0)
        return rc;
    set_up(x, profile->n_clusters, bats_profile_left(profile),
           file ? file->window : profile->window,
           file ? file->currency : profile->currency);
    x->e.confidence = confidence;
    bats_estimation_set_graph(x, profile);
    for (size_t i = 0; i < profile->n_clusters; i++)
        expected[i] = expected_of(&profile->clusters[i], file);
    rc = bats_sample_runtimes(&sample, bats_estimate_confidence(&x->e),
                              expected, x->runtimes, err);
    bats_sample_release(&sample);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < profile->n_clusters; i++) {
        const struct bats_profile_cluster *c = &profile->clusters[i];
        x->clusters[i] = c->cluster;
        x->slots[i] = c->room;
        x->ranks[i] = c->slots;
        if (!file)
            continue;
        size_t number = find(file, c->cluster.name);
        if (number == file->n_sections) {
            x->runtimes[i].mean = 0;
            continue;
        }
        if (differs(&file->sections[number], c->slots))
            return bats_error_at(
                err, file->path, file->sections[number].line,
                "cluster '%s' has %g slots, and had %g when "
                "it was sampled",
                c->cluster.name,
                bats_stock_slots(&file->sections[number].model.stock),
                c->slots);
        const struct bats_cluster *now = &file->sections[number].model.cluster;
        x->clusters[i].charge = now->charge;
        if (now->max != UINT32_MAX)
            x->clusters[i].max = now->max;
    }
    leave_out(x, file ? "they were not sampled or are not in the clusters file"
                      : "no task has ended there");
    if (x->e.n_clusters == 0)
        return bats_refuse(err, "no cluster has a known runtime");
    find_partitions(x, file);
    return 0;
}

/* ---- from given runtimes ---- */

static void read_runtime(struct bats_estimation *x, const char *name,
                         size_t length, const char *duration, const char *path)
{
    bats_time runtime;
    size_t i = 0;
    while (i < x->e.n_clusters &&
           (strlen(x->clusters[i].name) != length ||
            memcmp(x->clusters[i].name, name, length) != 0))
        i++;
    if (i == x->e.n_clusters)
        bats_die(BATS_EINPUT, "--runtime: there is no cluster '%.*s' in '%s'",
                 (int)length, name, path);
    const char *cluster = x->clusters[i].name;
    if (x->runtimes[i].mean > 0)
        bats_die(BATS_EINPUT, "--runtime gives cluster '%s' twice", cluster);
    if (bats_duration_parse(duration, &runtime, &bats_why) != 0)
        bats_die(BATS_EINPUT, "--runtime of cluster '%s': %s", cluster,
                 bats_why.text);
    if (runtime == 0)
        bats_die(BATS_EINPUT, "--runtime of cluster '%s' has to be above 0",
                 cluster);
    x->runtimes[i] = bats_runtimes_given((double)runtime);
}

/* Parses "slow=15m,fast=3.75m". */
static void read_runtimes(struct bats_estimation *x, const char *text,
                          const char *path)
{
    for (const char *next; text != NULL; text = next) {
        char duration[64];
        next = strchr(text, ',');
        size_t length = next ? (size_t)(next - text) : strlen(text);
        const char *equals = memchr(text, '=', length);
        if (next)
            next++;
        if (!equals || equals == text)
            bats_die(BATS_EINPUT, "--runtime: '%.*s' is not CLUSTER=DURATION",
                     (int)length, text);
        size_t name = (size_t)(equals - text);
        snprintf(duration, sizeof duration, "%.*s", (int)(length - name - 1),
                 equals + 1);
        read_runtime(x, text, name, duration, path);
    }
}

static void refuse_need(const struct bats_clusters_file *file, size_t i,
                        const struct bats_need *need)
{
    const struct bats_cluster_section *section = &file->sections[i];
    char text[BATS_NEED_TEXT];
    bats_need_format(text, sizeof text, need);
    if (section->model.stock.cores == 0 && need->cores > 1)
        bats_must(bats_error_at(&bats_why, file->path, section->line,
                                "cluster '%s' has no slots = N: plan needs to "
                                "know them, since a task needs %s",
                                section->model.cluster.name, text));
    bats_die(BATS_EINPUT,
             "%s: no cluster has machines for all tasks: one needs %s",
             file->path, text);
}

void bats_estimation_room(const struct bats_clusters_file *file,
                          const struct bats_bagfile *bag,
                          const struct bats_need *each, double *room)
{
    struct bats_need need = *each;
    bool any = false;
    for (size_t i = 0; i < file->n_sections; i++) {
        struct bats_stock stock = file->sections[i].model.stock;
        struct bats_need_mix mix = {0};
        bool is_known = stock.cores > 0;
        stock.cores = is_known ? stock.cores : 1;
        double slots = bats_stock_slots(&stock);
        uint32_t n = bag != NULL ? bag->n_tasks : 1, fit = 1;
        for (uint32_t k = 0; k < n && fit > 0; k++) {
            need = *each;
            if (bag != NULL)
                bats_bagfile_need(bag, k, &need);
            if (need.cores > 1 && !is_known)
                refuse_need(file, i, &need);
            fit = bats_need_room(&stock, &need);
            if (fit > 0)
                bats_need_mix_add(&mix, 1, need.cores, slots / fit);
        }
        room[i] = fit > 0 ? slots / bats_need_mix_width(&mix) : 0;
        any |= fit > 0;
    }
    if (!any)
        refuse_need(file, 0, &need);
}

void bats_estimation_from_runtimes(struct bats_estimation *x, uint64_t n_tasks,
                                   const char *runtimes,
                                   const struct bats_prior *prior,
                                   const double *room,
                                   const struct bats_clusters_file *file,
                                   const char *path)
{
    set_up(x, file->n_sections, n_tasks, file->window, file->currency);
    for (size_t i = 0; i < x->e.n_clusters; i++) {
        x->clusters[i] = file->sections[i].model.cluster;
        x->ranks[i] = fmax(file->sections[i].model.stock.cores, 1);
        x->slots[i] = room[i];
        x->runtimes[i] = (struct bats_runtimes){.mean = 0};
    }
    read_runtimes(x, runtimes, path);
    for (size_t i = 0; i < x->e.n_clusters; i++) {
        double expected = (double)file->sections[i].model.expected;
        if (expected == 0 && prior != NULL && isfinite(prior->level))
            expected = prior->mean[i];
        if (x->runtimes[i].mean > 0 || expected == 0)
            continue;
        x->runtimes[i] = bats_runtimes_given(expected);
        x->runtimes[i].is_guess = true;
    }
    leave_out(x, "--runtime does not name them");
    if (x->e.n_clusters == 0)
        bats_die(BATS_EINPUT, "plan needs --runtime LIST, or expected = in %s",
                 path);
    for (size_t i = 0; i < x->e.n_clusters; i++)
        if (x->slots[i] == 0)
            x->runtimes[i].mean = 0;
    leave_out(x, "some task needs more than their machines have");
    if (x->e.n_clusters == 0)
        bats_die(BATS_EINPUT, "no cluster that has machines for all tasks has "
                              "a runtime");
    for (size_t i = 0; i < x->e.n_clusters; i++)
        if (x->clusters[i].max == UINT32_MAX)
            bats_die(BATS_EINPUT,
                     "%s: cluster '%s' has no max: plan needs to know how "
                     "many machines there are",
                     path, x->clusters[i].name);
    find_partitions(x, file);
}

/* ---- the offers ---- */

enum bats_plans bats_estimation_plans(const char *policy,
                                      enum bats_billing_model billing)
{
    enum bats_plans plans = bats_policy_plans(bats_policy_find(policy));
    return bats_lease_terms(billing).lasts && plans == BATS_PLANS_WINDOWS
               ? BATS_PLANS_ALLOCATION
               : plans;
}

bats_money bats_estimation_budget(const struct bats_estimator *e, double share)
{
    struct bats_schedule offers[BATS_OFFERS];
    size_t n;
    bats_must(bats_estimate_offers(e, offers, &n, &bats_why));
    bats_money least = offers[0].plan.cost, most = offers[n - 1].plan.cost;
    return least + (bats_money)ceil(share * (double)(most - least));
}
