/* pbs: PBS Professional and OpenPBS as a batch system. Nothing of this has been
 * run: the reader is tested with output that sites have published. See
 * pbs.h. */
#include "site/pbs.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "site/batch_system.h"

/* ---- the environment ---- */

static const char *job(void)
{
    return getenv("PBS_JOBID");
}

static const char *partition(const char *host)
{
    (void)host;
    return job() != NULL ? getenv("PBS_QUEUE") : NULL;
}

/* False: mpirun starts the ranks. */
static bool launched(void)
{
    return false;
}

/* ---- the job ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Seconds of "240:30:00"; 0: none. */
static int64_t duration(const char *text)
{
    long long h, m, s;
    return sscanf(text, "%lld:%lld:%lld", &h, &m, &s) == 3
               ? (h * 60 + m) * 60 + s
               : 0;
}

/* Seconds since 1970 of "Wed Apr 14 23:34:19 2021"; 0: none. */
static int64_t moment(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    return strptime(text, "%a %b %d %T %Y", &tm) != NULL ? (int64_t)mktime(&tm)
                                                         : 0;
}

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

static int read_job(const json_t *job, struct bats_allocation *a,
                    struct bats_error *err)
{
    struct bats_allocation_part part = {.exclusive = false};
    const json_t *asked = json_object_get(job, "Resource_List");
    int64_t limit_s = duration(text_of(asked, "walltime"));
    json_int_t runs = json_integer_value(json_object_get(job, "run_count"));
    a->start_s = moment(text_of(job, "stime"));
    a->end_s = a->start_s > 0 && limit_s > 0 ? a->start_s + limit_s : 0;
    a->life = runs > 1 ? (uint32_t)(runs - 1) : 0;
    const char *owner = text_of(job, "Job_Owner");
    snprintf(a->user, sizeof a->user, "%.*s", (int)strcspn(owner, "@"), owner);
    snprintf(a->account, sizeof a->account, "%s",
             text_of(job, "Account_Name"));
    snprintf(part.partition, sizeof part.partition, "%s",
             text_of(job, "queue"));
    snprintf(part.source, sizeof part.source,
             "PBS: 1 per core, for it knows no charges");
    int rc = bats_allocation_add_part(a, &part, err);
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
                 : read_job(json_object_iter_value(first), a, err);
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

static int ask(double threads_per_core, struct bats_allocation *a,
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
    .job = job,
    .partition = partition,
    .launched = launched,
    .ask = ask,
    .draining = draining,
};
