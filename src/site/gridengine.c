/* gridengine: reads the answers of qstat and qconf. Measured with 8.1.9; its
 * successors (Open Cluster Scheduler, Altair Grid Engine) print the same. See
 * gridengine.h. */
#include "site/gridengine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the hosts of the job ---- */

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

/* ---- limits ---- */

void bats_gridengine_read_job(const char *xml, const char *task,
                              struct bats_allocation *a, int64_t *limit_s)
{
    static const char *const limits[] = {"<CE_name>h_rt<", "<CE_name>s_rt<"};
    char number[64];
    const char *at;
    for (size_t i = 0; i < 2; i++)
        if ((at = bats_answer_behind(bats_answer_behind(xml, limits[i]),
                                     "<CE_doubleval>")) != NULL)
            *limit_s = bats_answer_shorter(*limit_s, strtoll(at, NULL, 10));
    snprintf(number, sizeof number, "<JAT_task_number>%s<", task);
    at = bats_answer_behind(bats_answer_behind(xml, number),
                            "<JAT_start_time>");
    a->start_s = at != NULL ? strtoll(at, NULL, 10) : 0;
    if ((at = bats_answer_behind(xml, "<JB_owner>")) != NULL)
        snprintf(a->user, sizeof a->user, "%.*s", (int)strcspn(at, "<"), at);
    if ((at = bats_answer_behind(xml, "<JB_account>")) != NULL)
        snprintf(a->account, sizeof a->account, "%.*s", (int)strcspn(at, "<"),
                 at);
}

/* ---- questions ---- */

/* A job without a parallel environment has one slot on this host. */
static int ask_hosts(struct bats_allocation *a, struct bats_error *err)
{
    const char *path = getenv("PE_HOSTFILE"), *host = getenv("HOSTNAME");
    const char *queue = getenv("QUEUE");
    char text[65536];
    if (path == NULL && (host == NULL || queue == NULL))
        return bats_error_set(err, BATS_ESYS, "HOSTNAME or QUEUE is not set");
    if (path == NULL) {
        snprintf(text, sizeof text, "%s 1 %s@%s UNDEFINED\n", host, queue,
                 host);
        return bats_gridengine_read_hosts(text, a, err);
    }
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return bats_error_set(err, BATS_ESYS,
                              "%s cannot be read: rank 0 has to be on the "
                              "first host of the job",
                              path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return bats_gridengine_read_hosts(text, a, err);
}
static int ask_limits(struct bats_allocation *a, struct bats_error *err)
{
    const char *task = getenv("SGE_TASK_ID");
    int64_t limit_s = 0;
    char *answer;
    int rc = bats_ask(&answer, err, "qstat -xml -j %s", a->job);
    if (rc < 0)
        return rc;
    bats_gridengine_read_job(
        answer, task != NULL && isdigit((unsigned char)*task) ? task : "1", a,
        &limit_s);
    free(answer);
    for (size_t i = 0; i < a->n_parts; i++) {
        rc = bats_ask(&answer, err, "qconf -sq %s", a->parts[i].partition);
        if (rc < 0)
            return rc;
        bats_gridengine_read_queue(answer, 0, &limit_s);
        free(answer);
    }
    a->end_s = limit_s > 0 && a->start_s > 0 ? a->start_s + limit_s : 0;
    return 0;
}

/* The site defines what a slot is: threads do not count. */
static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    const char *restarted = getenv("RESTARTED");
    char *answer;
    int rc = ask_hosts(a, err);
    a->life = restarted != NULL && atoi(restarted) > 0;
    if (rc == 0)
        rc = ask_limits(a, err);
    if (rc == 0)
        rc = bats_ask(&answer, err, "qstat -F charge");
    if (rc < 0)
        return rc == BATS_ENOMEM ? rc : BATS_ESYS;
    bats_allocation_sort(a);
    bats_gridengine_read_charges(answer, a);
    free(answer);
    return 0;
}

/* Lists hosts with a disabled queue. */
static void draining(struct bats_argv *argv)
{
    bats_argv_add(argv, "sh -c %s", "qselect -qs d | sed 's/.*@//' | sort -u");
}

const struct bats_batch_system bats_gridengine = {
    .name = "Grid Engine",
    .key = "gridengine",
    .currency = "charge-h",
    .job = "JOB_ID",
    .only_with = "SGE_ROOT",
    .queue = "QUEUE", /* of each rank, also if the job spans several */
    .site = "SGE_CLUSTER_NAME",
    .ask = ask,
    .draining = draining,
    .jobs = &bats_gridengine_jobs,
};
