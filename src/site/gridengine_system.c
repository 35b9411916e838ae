/* gridengine_system: Grid Engine as a batch system, and the environment of its
 * jobs. See gridengine.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/gridengine.h"

/* ---- the environment ---- */

static const char *job(void)
{
    return getenv("SGE_ROOT") != NULL ? getenv("JOB_ID") : NULL;
}

/* QUEUE is right on each rank, also if a job spans several queues. */
static const char *partition(const char *host)
{
    (void)host;
    return job() != NULL ? getenv("QUEUE") : NULL;
}

/* False: mpirun starts the ranks. */
static bool launched(void)
{
    return false;
}

static const char *site(void)
{
    return job() != NULL ? getenv("SGE_CLUSTER_NAME") : NULL;
}
/* ---- the job ---- */

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

static int ask(double threads_per_core, struct bats_allocation *a,
               struct bats_error *err)
{
    const char *restarted = getenv("RESTARTED");
    char *answer;
    int rc = ask_hosts(a, err);
    (void)threads_per_core; /* the site defines what a slot is */
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
    .job = job,
    .partition = partition,
    .launched = launched,
    .site = site,
    .ask = ask,
    .draining = draining,
    .round_s = 1,
    .rules = bats_gridengine_rules,
    .refuses = bats_gridengine_refuses,
    .nodes = bats_gridengine_nodes,
    .submit = bats_gridengine_submit,
    .read_submit = bats_gridengine_read_submit,
    .list = bats_gridengine_list,
    .read_list = bats_gridengine_read_list,
    .cancel = bats_gridengine_cancel,
    .bills = bats_gridengine_bills,
    .read_bills = bats_gridengine_read_bills,
    .price = bats_gridengine_price,
};
