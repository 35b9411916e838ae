/* json_systems: PBS Professional, OpenPBS and Flux as batch systems. Nothing of
 * this has been run: the readers are tested with output that sites, and
 * flux-core 0.89, have published. See json_systems.h. */
#include "site/json_systems.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_system.h"
#include "util/hostlist.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static int add_queue(const json_t *job, const char *system,
                     struct bats_allocation *a, struct bats_error *err)
{
    struct bats_allocation_part part = {.exclusive = false};
    snprintf(part.partition, sizeof part.partition, "%s",
             text_of(job, "queue"));
    snprintf(part.source, sizeof part.source,
             "%s: 1 per core, for it knows no charges", system);
    return bats_allocation_add_part(a, &part, err);
}

/* ---- PBS ---- */

/* Adds "n1:ncpus=2:mem=4194304kb", or to the node if it is there; chunks of a
 * host that is divided have names like "n1[0]". */
static int add_chunk(struct bats_allocation *a, const char *chunk, size_t n,
                     struct bats_error *err)
{
    struct bats_allocation_node node = {.cpus = 0};
    char text[512];
    unsigned cpus;
    snprintf(text, sizeof text, "%.*s", (int)n, chunk);
    const char *at = strstr(text, ":ncpus=");
    if (at == NULL || sscanf(at, ":ncpus=%u", &cpus) != 1)
        return 0;
    snprintf(node.host, sizeof node.host, "%.*s", (int)strcspn(text, ":.["),
             text);
    for (size_t i = 0; i < a->n_nodes; i++)
        if (strcmp(a->nodes[i].host, node.host) == 0) {
            a->nodes[i].cpus += cpus;
            return 0;
        }
    node.cpus = cpus;
    return bats_allocation_add_node(a, &node, err);
}

static int read_pbs(const json_t *job, struct bats_allocation *a,
                    struct bats_error *err)
{
    const json_t *asked = json_object_get(job, "Resource_List");
    int64_t limit_s = bats_answer_seconds(text_of(asked, "walltime"));
    json_int_t runs = json_integer_value(json_object_get(job, "run_count"));
    a->start_s = bats_answer_time(text_of(job, "stime"));
    a->end_s = a->start_s > 0 && limit_s > 0 ? a->start_s + limit_s : 0;
    a->life = runs > 1 ? (uint32_t)(runs - 1) : 0;
    const char *owner = text_of(job, "Job_Owner");
    snprintf(a->user, sizeof a->user, "%.*s", (int)strcspn(owner, "@"), owner);
    snprintf(a->account, sizeof a->account, "%s",
             text_of(job, "Account_Name"));
    int rc = add_queue(job, "PBS", a, err);
    const char *at = text_of(job, "exec_vnode");
    while (rc == 0 && *at != '\0') {
        at += strspn(at, "()+");
        size_t n = strcspn(at, "()+");
        rc = add_chunk(a, at, n, err);
        at += n;
    }
    if (rc == 0 && a->n_nodes == 0)
        rc = bats_error_set(err, BATS_ESYS, "the job has no exec_vnode");
    return rc;
}

int bats_pbs_read_job(const char *json, struct bats_allocation *a,
                      struct bats_error *err)
{
    json_error_t why;
    json_t *root = json_loads(json, 0, &why);
    json_t *jobs = json_object_get(root, "Jobs");
    void *first = json_object_iter(jobs);
    int rc = first == NULL
                 ? bats_error_set(err, BATS_ESYS, "qstat shows no job")
                 : read_pbs(json_object_iter_value(first), a, err);
    json_decref(root);
    return rc;
}

int bats_pbs_read_nodes(const char *json, double threads_per_core,
                        struct bats_allocation *a, struct bats_error *err)
{
    json_error_t why;
    json_t *root = json_loads(json, 0, &why);
    json_t *nodes = json_object_get(root, "nodes");
    if (nodes == NULL) {
        json_decref(root);
        return bats_error_set(err, BATS_ESYS, "pbsnodes shows no nodes");
    }
    a->rate = 0;
    for (size_t i = 0; i < a->n_nodes; i++) {
        struct bats_allocation_node *n = &a->nodes[i];
        const json_t *has = json_object_get(json_object_get(nodes, n->host),
                                            "resources_available");
        json_int_t cpus = json_integer_value(json_object_get(has, "ncpus"));
        n->whole = cpus > 0 && n->cpus >= cpus;
        n->rate = n->cpus / threads_per_core;
        a->rate += n->rate;
    }
    json_decref(root);
    return 0;
}

static int ask_pbs(double threads_per_core, struct bats_allocation *a,
                   struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err, "qstat -f -F json %s", a->job);
    if (rc < 0)
        return BATS_ESYS;
    rc = bats_pbs_read_job(answer, a, err);
    free(answer);
    if (rc == 0)
        rc = bats_ask(&answer, err, "pbsnodes -a -F json");
    if (rc < 0)
        return rc == BATS_ENOMEM ? rc : BATS_ESYS;
    rc = bats_pbs_read_nodes(answer, threads_per_core, a, err);
    free(answer);
    return rc;
}

/* -l lists nodes that are down or offline, with their states. */
static void draining(struct bats_argv *argv)
{
    bats_argv_add(argv, "sh -c %s",
                  "pbsnodes -l | sed -n 's/[. ].*offline.*//p'");
}

const struct bats_batch_system bats_pbs = {
    .name = "PBS",
    .key = "pbs",
    .currency = "core-h",
    .job = "PBS_JOBID",
    .queue = "PBS_QUEUE",
    .ask = ask_pbs,
    .draining = draining,
};

/* ---- Flux ---- */

#define NO_END 9e9 /* `expiration` of a job without a limit is beyond this */

/* Each host has an equal share of the cores. */
static int add_hosts(const json_t *job, struct bats_allocation *a,
                     struct bats_error *err)
{
    const char *list = text_of(job, "nodelist");
    json_int_t cores = json_integer_value(json_object_get(job, "ncores"));
    struct bats_hostlist hosts = {0};
    if (*list == '\0')
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

static int read_flux(const json_t *job, struct bats_allocation *a,
                     struct bats_error *err)
{
    double end_s = json_number_value(json_object_get(job, "expiration"));
    a->start_s = (int64_t)json_number_value(json_object_get(job, "t_run"));
    a->end_s = end_s < NO_END ? (int64_t)end_s : 0;
    snprintf(a->user, sizeof a->user, "%s", text_of(job, "username"));
    snprintf(a->account, sizeof a->account, "%s", text_of(job, "bank"));
    int rc = add_queue(job, "Flux", a, err);
    return rc < 0 ? rc : add_hosts(job, a, err);
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
                 : read_flux(job, a, err);
    json_decref(root);
    return rc;
}

/* Flux counts cores. */
static int ask_flux(double threads_per_core, struct bats_allocation *a,
                    struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err, "flux jobs --json %s", a->job);
    if (rc < 0)
        return BATS_ESYS;
    rc = bats_flux_read_job(answer, a, err);
    free(answer);
    return rc;
}

/* No variable has the queue. */
const struct bats_batch_system bats_flux = {
    .name = "Flux",
    .key = "flux",
    .currency = "core-h",
    .job = "FLUX_JOB_ID",
    .rank = "FLUX_TASK_RANK",
    .ask = ask_flux,
};
