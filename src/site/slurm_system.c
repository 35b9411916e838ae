/* slurm_system: Slurm as a batch system: reads the environment of a job, and
 * asks scontrol (slurm.h parses the answers). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/batch_system.h"
#include "site/slurm.h"
#include "site/slurm_account.h"
#include "util/hostlist.h"

/* ---- the environment ---- */

static const char *job(void)
{
    return getenv("SLURM_JOB_ID");
}

/* mpirun starts its daemons with srun, and they start their ranks: the caller
 * looks for mpirun first. */
static bool launched(void)
{
    return getenv("SLURM_STEP_ID") != NULL;
}

static int64_t end_in_environment(void)
{
    const char *end = getenv("SLURM_JOB_END_TIME");
    char *rest;
    int64_t end_s = end != NULL ? strtoll(end, &rest, 10) : 0;
    return end != NULL && *rest == '\0' ? end_s : 0;
}

/* An srun that makes the allocation itself uses the old names of the
 * groups. */
static const char *group_variable(const char *name, int group)
{
    char variable[64];
    snprintf(variable, sizeof variable, "%s_HET_GROUP_%d", name, group);
    if (getenv(variable) == NULL)
        snprintf(variable, sizeof variable, "%s_PACK_GROUP_%d", name, group);
    return getenv(variable);
}

static const char *partition(const char *host)
{
    if (getenv("SLURM_HET_SIZE") == NULL)
        return getenv("SLURM_JOB_PARTITION");
    for (int group = 0;; group++) {
        const char *nodes = group_variable("SLURM_JOB_NODELIST", group);
        struct bats_hostlist list;
        if (nodes == NULL || bats_hostlist_expand(nodes, &list, NULL) < 0)
            return NULL;
        bool here = bats_hostlist_find(&list, host) >= 0;
        bats_hostlist_release(&list);
        if (here)
            return group_variable("SLURM_JOB_PARTITION", group);
    }
}

/* The number that a variable begins with, as in "4(x2)"; 0: none. */
static int64_t number(const char *variable)
{
    const char *text = getenv(variable);
    long long n = text != NULL ? strtoll(text, NULL, 10) : 0;
    return n > 0 && n < INT32_MAX ? n : 0;
}

/* Slurm's unit is the MiB. */
static int64_t memory(void)
{
    int64_t cpus = number("SLURM_CPUS_PER_TASK");
    int64_t tasks = number("SLURM_STEP_TASKS_PER_NODE");
    if (tasks == 0)
        tasks = number("SLURM_TASKS_PER_NODE");
    int64_t mib = number("SLURM_MEM_PER_CPU") * (cpus > 0 ? cpus : 1);
    if (mib == 0 && tasks > 0)
        mib = number("SLURM_MEM_PER_NODE") / tasks;
    return mib * 1024;
}

/* ---- asking ---- */

static int ask_about(const char *what, const char *which, char **answer,
                     struct bats_error *err)
{
    const char *argv[] = {"scontrol", "-o", "-d", "show", what, which, NULL};
    /* Times as seconds since 1970. */
    return bats_ask(argv, "SLURM_TIME_FORMAT=%s", NULL, answer, err);
}

static int ask_job(struct bats_slurm *slurm, struct bats_error *err)
{
    char *answer;
    int rc = ask_about("job", slurm->job, &answer, err);
    if (rc == 0) {
        rc = bats_slurm_read_job(answer, slurm, err);
        free(answer);
    }
    return rc;
}

static int ask_partitions(struct bats_slurm *slurm, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < slurm->n_parts; i++) {
        char *answer;
        rc = ask_about("partition", slurm->parts[i].partition, &answer, err);
        if (rc == 0) {
            bats_slurm_read_partition(answer, slurm);
            free(answer);
        }
    }
    return rc;
}

static int ask_nodes(struct bats_slurm *slurm, struct bats_error *err)
{
    const char **names = calloc(slurm->n_nodes, sizeof *names);
    for (size_t i = 0; names != NULL && i < slurm->n_nodes; i++)
        names[i] = slurm->nodes[i].host;
    char *list =
        names != NULL ? bats_hostlist_fold(names, slurm->n_nodes) : NULL;
    char *answer;
    free(names);
    if (list == NULL)
        return bats_no_memory(err);
    int rc = ask_about("node", list, &answer, err);
    free(list);
    if (rc == 0) {
        bats_slurm_read_nodes(answer, slurm);
        free(answer);
    }
    return rc;
}

static int ask_all(struct bats_slurm *s, struct bats_error *err)
{
    int rc = ask_job(s, err);
    if (rc == 0)
        rc = ask_partitions(s, err);
    if (rc == 0)
        rc = ask_nodes(s, err);
    return rc == 0 || rc == BATS_ENOMEM ? rc : BATS_ESYS;
}

/* ---- as an allocation ---- */

static int add_part(const struct bats_slurm_part *from,
                    struct bats_allocation *a, struct bats_error *err)
{
    struct bats_allocation_part part = {0};
    strcpy(part.partition, from->partition);
    if (from->weights[0] != '\0')
        snprintf(part.source, sizeof part.source,
                 "Slurm: TRESBillingWeights=%s", from->weights);
    else
        strcpy(part.source, "1 per core-hour (Slurm has no TRESBillingWeights "
                            "for this partition)");
    return bats_allocation_add_part(a, &part, err);
}

static int add_node(const struct bats_slurm_node *from,
                    struct bats_allocation *a, struct bats_error *err)
{
    struct bats_allocation_node node = {.part = from->part,
                                        .cpus = from->cpus,
                                        .whole = from->whole,
                                        .rate = from->rate};
    strcpy(node.host, from->host);
    return bats_allocation_add_node(a, &node, err);
}

static int fill_in(const struct bats_slurm *s, struct bats_allocation *a,
                   struct bats_error *err)
{
    int rc = 0;
    int64_t end_s = bats_slurm_end(s);
    strcpy(a->account, s->account);
    strcpy(a->qos, s->qos);
    strcpy(a->user, s->user);
    a->end_s = end_s > 0 ? end_s : a->end_s;
    a->start_s = s->parts[0].start_s;
    a->life = s->restarts;
    a->queued_s = s->submitted_s;
    a->rate = bats_slurm_billing(s);
    for (size_t i = 0; rc == 0 && i < s->n_parts; i++)
        rc = add_part(&s->parts[i], a, err);
    for (size_t i = 0; rc == 0 && i < s->n_nodes; i++)
        rc = add_node(&s->nodes[i], a, err);
    return rc;
}

static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    struct bats_slurm s = {0};
    a->end_s = end_in_environment();
    strcpy(s.job, a->job);
    int rc = ask_all(&s, err);
    if (rc == 0) {
        bats_slurm_bill(threads_per_core, &s);
        rc = fill_in(&s, a, err);
    }
    bats_slurm_release(&s);
    return rc;
}

static double billed(const struct bats_allocation *a)
{
    const char *argv[] = {
        "sacct", "-D",   "-X", "-n", "-P", "-o", "ElapsedRaw,AllocTRES",
        "-j",    a->job, NULL};
    char *answer;
    double sum = -1;
    if (bats_ask(argv, NULL, NULL, &answer, NULL) == 0) {
        sum = bats_slurm_read_billed(answer);
        free(answer);
    }
    return sum;
}

void bats_slurm_draining(struct bats_argv *argv)
{
    bats_argv_words(argv, "sinfo", "--noheader", "--Node", "--states=drain",
                    "--format=%n", NULL);
}

const struct bats_batch_system bats_slurm_system = {
    .name = "Slurm",
    .key = "slurm",
    .currency = "billing-h",
    .job = job,
    .partition = partition,
    .launched = launched,
    .memory = memory,
    .ask = ask,
    .account = bats_slurm_account_ask,
    .billed = billed,
    .draining = bats_slurm_draining,
};
