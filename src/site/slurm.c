/* slurm: Slurm as a batch system, and the job that this process is in. */
#include "site/slurm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/hostlist.h"

#define FIELD 512

/* A number, or a time in seconds since 1970; "Unknown" becomes 0. */
static int64_t number(const char *at, const char *key)
{
    char value[FIELD];
    bats_slurm_get(at, key, value, sizeof value);
    return strtoll(value, NULL, 10);
}

/* ---- the job ---- */

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

/* Reads "Nodes=fast[1-2] CPU_IDs=0-63 Mem=0 GRES=gpu:2", as often as it
 * occurs. */
static int read_holdings(const char *at, struct bats_allocation *job,
                         struct bats_error *err)
{
    int rc = 0;
    while (rc == 0 && (at = bats_slurm_find(at, "Nodes")) != NULL) {
        char value[FIELD];
        struct bats_allocation_node node = {.part =
                                                (uint32_t)job->n_parts - 1};
        struct bats_hostlist hosts;
        char *names = strndup(at, strcspn(at, " \n"));
        if (names == NULL)
            return bats_no_memory(err);
        bats_slurm_get(at, "CPU_IDs", value, sizeof value);
        node.cpus = count_ids(value);
        node.memory_mb = (double)number(at, "Mem");
        bats_slurm_get(at, "GRES", node.gres, sizeof node.gres);
        rc = bats_hostlist_expand(names, &hosts, err);
        free(names);
        for (size_t i = 0; rc == 0 && i < hosts.n; i++) {
            snprintf(node.host, sizeof node.host, "%s", hosts.names[i]);
            rc = bats_allocation_add_node(job, &node, err);
        }
        bats_hostlist_release(&hosts);
    }
    return rc;
}

/* Reads a component of the job. The job ends when its first component does. */
static int read_part(const char *at, struct bats_allocation *job,
                     struct bats_error *err)
{
    char value[FIELD];
    struct bats_allocation_part part = {.weights = ""};
    int64_t end_s = number(at, "EndTime");
    bats_slurm_get(at, "Partition", part.partition, sizeof part.partition);
    bats_slurm_get(at, "TRES", value, sizeof value);
    part.billing = bats_slurm_amount(value, "billing");
    job->rate += part.billing > 0 ? part.billing : 0;
    bats_slurm_get(at, "OverSubscribe", value, sizeof value);
    part.exclusive = strcmp(value, "NO") == 0;
    if (end_s > 0 && (job->end_s == 0 || end_s < job->end_s))
        job->end_s = end_s;
    int rc = bats_allocation_add_part(job, &part, err);
    return rc < 0 ? rc : read_holdings(at, job, err);
}

/* Reads the members of the whole job. The user chooses the text before
 * `at`. */
static void read_head(const char *line, const char *at,
                      struct bats_allocation *job)
{
    bats_slurm_get(line, "UserId", job->user, sizeof job->user);
    job->user[strcspn(job->user, "(")] = '\0';
    bats_slurm_get(line, "Account", job->account, sizeof job->account);
    bats_slurm_get(line, "QOS", job->qos, sizeof job->qos);
    job->life = (uint32_t)number(at, "Restarts");
    job->queued_s = number(at, "SubmitTime");
    job->start_s = number(at, "StartTime");
    job->end_s = 0;
}

int bats_slurm_read_job(const char *text, struct bats_allocation *job,
                        struct bats_error *err)
{
    int rc = 0;
    for (const char *line = text; line != NULL && rc == 0;
         line = bats_answer_next(line)) {
        const char *at = bats_slurm_find(line, "JobState");
        if (at == NULL)
            continue;
        if (job->n_parts == 0)
            read_head(line, at, job);
        rc = read_part(at, job, err);
    }
    if (rc == 0 && job->n_nodes == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "scontrol shows no nodes of job %s", job->job);
    bats_allocation_sort(job);
    return rc;
}

double bats_slurm_read_billed(const char *text)
{
    double seconds = 0;
    bool any = false;
    for (const char *line = text; line != NULL;
         line = bats_answer_next(line)) {
        char *tres;
        double elapsed = strtod(line, &tres);
        double rate = tres > line && *tres == '|'
                          ? bats_slurm_amount(tres + 1, "billing")
                          : -1;
        if (rate >= 0) {
            seconds += elapsed * rate;
            any = true;
        }
    }
    return any ? seconds / 3600 : -1;
}

/* ---- partitions and nodes ---- */

int bats_slurm_read_partition(const char *text, struct bats_allocation *job,
                              struct bats_error *err)
{
    char name[BATS_NODE_PARTITION];
    if (!bats_slurm_begins(text, "PartitionName", name, sizeof name))
        return 0;
    for (size_t i = 0; i < job->n_parts; i++)
        if (strcmp(job->parts[i].partition, name) == 0)
            bats_slurm_get(text, "TRESBillingWeights", job->parts[i].weights,
                           sizeof job->parts[i].weights);
    return 0;
}

int bats_slurm_read_nodes(const char *text, struct bats_allocation *job,
                          struct bats_error *err)
{
    char name[BATS_NODE_HOST];
    for (const char *line = text; line != NULL;
         line = bats_answer_next(line)) {
        if (!bats_slurm_begins(line, "NodeName", name, sizeof name))
            continue;
        struct bats_allocation_node *node = bats_allocation_find(job, name);
        if (node != NULL)
            node->whole = job->parts[node->part].exclusive ||
                          node->cpus >= number(line, "CPUTot");
    }
    return 0;
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
static double held(const struct bats_allocation_node *node, const char *name,
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
static double weigh(const struct bats_allocation_node *node,
                    const char *weights)
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

static void bill_part(double threads_per_core, struct bats_allocation *job,
                      uint32_t i)
{
    struct bats_allocation_part *part = &job->parts[i];
    bool weighted = part->weights[0] != '\0';
    double sum = 0;
    if (weighted)
        snprintf(part->source, sizeof part->source,
                 "Slurm: TRESBillingWeights=%s", part->weights);
    else
        strcpy(part->source, "1 per core-hour (Slurm has no "
                             "TRESBillingWeights for this partition)");
    for (size_t k = 0; k < job->n_nodes; k++) {
        struct bats_allocation_node *node = &job->nodes[k];
        if (node->part != i)
            continue;
        node->rate = weighted ? weigh(node, part->weights)
                              : node->cpus / threads_per_core;
        sum += node->rate;
    }
    /* Slurm shows its bill as a whole number. */
    if (!weighted || part->billing <= 0 || sum <= 0 ||
        fabs(sum - part->billing) <= 1)
        return;
    for (size_t k = 0; k < job->n_nodes; k++)
        if (job->nodes[k].part == i)
            job->nodes[k].rate *= part->billing / sum;
}

void bats_slurm_bill(double threads_per_core, struct bats_allocation *job)
{
    for (uint32_t i = 0; i < job->n_parts; i++)
        bill_part(threads_per_core, job, i);
}

/* ---- the environment ---- */

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
static int64_t variable(const char *name)
{
    const char *text = getenv(name);
    long long n = text != NULL ? strtoll(text, NULL, 10) : 0;
    return n > 0 && n < INT32_MAX ? n : 0;
}

/* Slurm's unit is the MiB. */
static int64_t memory(bool of_node)
{
    int64_t per_cpu = variable("SLURM_MEM_PER_CPU");
    int64_t per_node = variable("SLURM_MEM_PER_NODE");
    int64_t cpus = variable("SLURM_CPUS_PER_TASK");
    int64_t tasks = variable("SLURM_STEP_TASKS_PER_NODE");
    if (of_node)
        return 1024 * (per_node > 0
                           ? per_node
                           : per_cpu * variable("SLURM_CPUS_ON_NODE"));
    if (tasks == 0)
        tasks = variable("SLURM_TASKS_PER_NODE");
    if (per_cpu > 0)
        return 1024 * per_cpu * (cpus > 0 ? cpus : 1);
    return tasks > 0 ? 1024 * (per_node / tasks) : 0;
}

/* ---- questions ---- */

static int show(const char *what, const char *which,
                int (*read)(const char *text, struct bats_allocation *job,
                            struct bats_error *err),
                struct bats_allocation *a, struct bats_error *err)
{
    char *answer;
    int rc = bats_ask(&answer, err,
                      "SLURM_TIME_FORMAT=%%s scontrol -o -d show %s %s", what,
                      which);
    if (rc < 0)
        return rc;
    rc = read(answer, a, err);
    free(answer);
    return rc;
}

static int ask_nodes(struct bats_allocation *a, struct bats_error *err)
{
    const char **names = calloc(a->n_nodes, sizeof *names);
    for (size_t i = 0; names != NULL && i < a->n_nodes; i++)
        names[i] = a->nodes[i].host;
    char *list = names != NULL ? bats_hostlist_fold(names, a->n_nodes) : NULL;
    free(names);
    int rc = list != NULL ? show("node", list, bats_slurm_read_nodes, a, err)
                          : bats_no_memory(err);
    free(list);
    return rc;
}

static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    int64_t end_s = a->end_s = end_in_environment();
    int rc = show("job", a->job, bats_slurm_read_job, a, err);
    for (size_t i = 0; rc == 0 && i < a->n_parts; i++)
        rc = show("partition", a->parts[i].partition,
                  bats_slurm_read_partition, a, err);
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

/* sacct knows nothing before the end. In the batch step, with mpirun, there
 * may be other work, and only its first node is measured. */
static int64_t energy(const struct bats_allocation *a)
{
    const char *step = getenv("SLURM_STEP_ID");
    char *answer;
    if (step == NULL ||
        bats_ask(&answer, NULL, "sstat -n -P -o ConsumedEnergyRaw -j %s.%s",
                 a->job, step) < 0)
        return 0;
    double joules = strtod(answer, NULL);
    free(answer);
    return joules > 0 && joules < 1e15 ? (int64_t)joules : 0;
}

/* Nodes that are DRAINING (jobs still run there) or DRAINED, by their own host
 * names. */
static void draining(struct bats_argv *argv)
{
    bats_argv_add(argv, "sinfo --noheader --Node --states=drain --format=%%n");
}

const struct bats_batch_system bats_slurm = {
    .name = "Slurm",
    .key = "slurm",
    .currency = "billing-h",
    .job = "SLURM_JOB_ID",
    .rank = "SLURM_STEP_ID",
    .site = "SLURM_CLUSTER_NAME",
    .partition = partition,
    .memory = memory,
    .ask = ask,
    .account = bats_slurm_account,
    .billed = billed,
    .energy = energy,
    .draining = draining,
    .jobs = &bats_slurm_jobs,
};
