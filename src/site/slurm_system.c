/* slurm_system: Slurm as a batch system, and the environment of its jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/slurm.h"
#include "util/hostlist.h"

/* ---- the environment ---- */

static const char *job(void)
{
    return getenv("SLURM_JOB_ID");
}

static const char *site(void)
{
    return getenv("SLURM_CLUSTER_NAME");
}

/* mpirun starts its daemons with srun, and they start their ranks: so the
 * caller checks for mpirun first. */
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

/* The number at the beginning of a variable, as in "4(x2)"; 0: none. */
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

static int64_t node_memory(void)
{
    int64_t mib = number("SLURM_MEM_PER_NODE");
    if (mib == 0)
        mib = number("SLURM_MEM_PER_CPU") * number("SLURM_CPUS_ON_NODE");
    return mib * 1024;
}

/* ---- the job ---- */

/* Runs `scontrol show`, with times as seconds since 1970. */
static int show(const char *what, const char *which, char **answer,
                struct bats_error *err)
{
    return bats_ask(answer, err,
                    "SLURM_TIME_FORMAT=%%s scontrol -o -d show %s %s", what,
                    which);
}

static int ask_job(struct bats_allocation *a, struct bats_error *err)
{
    char *answer;
    int rc = show("job", a->job, &answer, err);
    if (rc < 0)
        return rc;
    rc = bats_slurm_read_job(answer, a, err);
    free(answer);
    return rc;
}

static int ask_partitions(struct bats_allocation *a, struct bats_error *err)
{
    for (size_t i = 0; i < a->n_parts; i++) {
        char *answer;
        int rc = show("partition", a->parts[i].partition, &answer, err);
        if (rc < 0)
            return rc;
        bats_slurm_read_partition(answer, a);
        free(answer);
    }
    return 0;
}

static int ask_nodes(struct bats_allocation *a, struct bats_error *err)
{
    const char **names = calloc(a->n_nodes, sizeof *names);
    for (size_t i = 0; names != NULL && i < a->n_nodes; i++)
        names[i] = a->nodes[i].host;
    char *list = names != NULL ? bats_hostlist_fold(names, a->n_nodes) : NULL;
    char *answer;
    free(names);
    if (list == NULL)
        return bats_no_memory(err);
    int rc = show("node", list, &answer, err);
    free(list);
    if (rc < 0)
        return rc;
    bats_slurm_read_nodes(answer, a);
    free(answer);
    return 0;
}

static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    int64_t end_s = a->end_s = end_in_environment();
    int rc = ask_job(a, err);
    if (rc == 0)
        rc = ask_partitions(a, err);
    if (rc == 0)
        rc = ask_nodes(a, err);
    if (a->end_s == 0)
        a->end_s = end_s;
    bats_slurm_bill(threads_per_core, a);
    return rc == 0 || rc == BATS_ENOMEM ? rc : BATS_ESYS;
}

static double billed(const struct bats_allocation *a)
{
    char *answer;
    if (bats_ask(&answer, NULL,
                 "sacct -D -X -n -P -o ElapsedRaw,AllocTRES -j %s",
                 a->job) < 0)
        return -1;
    double sum = bats_slurm_read_billed(answer);
    free(answer);
    return sum;
}

/* Nodes that are DRAINING (jobs still run there) or DRAINED, by their own host
 * names. */
static void draining(struct bats_argv *argv)
{
    bats_argv_add(argv, "sinfo --noheader --Node --states=drain --format=%%n");
}

const struct bats_batch_system bats_slurm_system = {
    .name = "Slurm",
    .key = "slurm",
    .currency = "billing-h",
    .job = job,
    .partition = partition,
    .launched = launched,
    .memory = memory,
    .node_memory = node_memory,
    .site = site,
    .ask = ask,
    .account = bats_slurm_account,
    .billed = billed,
    .draining = draining,
    .round_s = 60,
    .rules = bats_slurm_rules,
    .refuses = bats_slurm_refuses,
    .requests = bats_slurm_requests,
    .nodes = bats_slurm_nodes,
    .submit = bats_slurm_submit,
    .read_submit = bats_slurm_read_submit,
    .list = bats_slurm_list,
    .read_list = bats_slurm_read_list,
    .cancel = bats_slurm_cancel,
    .bills = bats_slurm_bills,
    .read_bills = bats_slurm_read_bills,
    .price = bats_slurm_price,
};
