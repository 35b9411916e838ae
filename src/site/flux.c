/* flux: Flux as a batch system. Nothing of this has been run: the reader is
 * tested with output of flux-core 0.89 that others have published. See
 * flux.h. */
#include "site/flux.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_system.h"
#include "util/hostlist.h"

/* ---- the environment ---- */

static const char *job(void)
{
    return getenv("FLUX_JOB_ID");
}

/* NULL: no variable has the queue. */
static const char *partition(const char *host)
{
    (void)host;
    return NULL;
}

static bool launched(void)
{
    return getenv("FLUX_TASK_RANK") != NULL;
}

/* ---- the job ---- */

#define NO_END 9e9 /* `expiration` of a job without a limit is beyond this */

static void copy(char *text, size_t size, const json_t *job, const char *key)
{
    const char *value = json_string_value(json_object_get(job, key));
    snprintf(text, size, "%s", value != NULL ? value : "");
}

/* Each host has an equal share of the cores. */
static int add_nodes(const json_t *job, struct bats_allocation *a,
                     struct bats_error *err)
{
    const char *list = json_string_value(json_object_get(job, "nodelist"));
    json_int_t cores = json_integer_value(json_object_get(job, "ncores"));
    struct bats_hostlist hosts = {0};
    if (list == NULL || *list == '\0')
        return bats_error_set(err, BATS_ESYS, "the job has no nodelist");
    int rc = bats_hostlist_expand(list, &hosts, err);
    for (size_t i = 0; rc == 0 && i < hosts.n; i++) {
        struct bats_allocation_node node = {
            .cpus = (uint32_t)((size_t)cores / hosts.n)};
        snprintf(node.host, sizeof node.host, "%.*s",
                 (int)strcspn(hosts.names[i], "."), hosts.names[i]);
        node.rate = node.cpus;
        a->rate += node.rate;
        rc = bats_allocation_add_node(a, &node, err);
    }
    bats_hostlist_release(&hosts);
    return rc;
}

static int read_job(const json_t *job, struct bats_allocation *a,
                    struct bats_error *err)
{
    struct bats_allocation_part part = {.exclusive = false};
    double end_s = json_number_value(json_object_get(job, "expiration"));
    a->start_s = (int64_t)json_number_value(json_object_get(job, "t_run"));
    a->end_s = end_s < NO_END ? (int64_t)end_s : 0;
    copy(a->user, sizeof a->user, job, "username");
    copy(a->account, sizeof a->account, job, "bank");
    copy(part.partition, sizeof part.partition, job, "queue");
    snprintf(part.source, sizeof part.source,
             "Flux: 1 per core, for it knows no charges");
    int rc = bats_allocation_add_part(a, &part, err);
    return rc < 0 ? rc : add_nodes(job, a, err);
}

int bats_flux_read_job(const char *json, struct bats_allocation *a,
                       struct bats_error *err)
{
    json_error_t why;
    json_t *root = json_loads(json, 0, &why);
    const json_t *list = json_object_get(root, "jobs");
    const json_t *job = list != NULL ? json_array_get(list, 0) : root;
    int rc = job == NULL
                 ? bats_error_set(err, BATS_ESYS, "flux jobs shows no job: %s",
                                  root == NULL ? why.text : "")
                 : read_job(job, a, err);
    json_decref(root);
    return rc;
}

static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    char *answer;
    (void)threads_per_core; /* Flux counts cores */
    int rc = bats_ask(&answer, err, "flux jobs --json %s", a->job);
    if (rc < 0)
        return BATS_ESYS;
    rc = bats_flux_read_job(answer, a, err);
    free(answer);
    return rc;
}

const struct bats_batch_system bats_flux = {
    .name = "Flux",
    .key = "flux",
    .currency = "core-h",
    .job = job,
    .partition = partition,
    .launched = launched,
    .ask = ask,
};
