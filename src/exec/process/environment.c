#include "exec/process/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* A name with '=' matches exactly, others are prefixes. */
static const char *const launcher[] = {
    "OMPI_", "ORTE_", "PRTE_", "PMIX_",                      /* Open MPI */
    "PMI_", "HYDI_", "MPI_LOCALRANKID=", "MPI_LOCALNRANKS=", /* MPICH */
    "SLURM_PROCID=", "SLURM_LOCALID=", "SLURM_NODEID=", "SLURM_TASK_PID=",
    "SLURM_GTIDS=", "SLURM_STEPID=", "SLURM_STEP_", "SLURM_SRUN_COMM_",
    "SLURM_LAUNCH_NODE_IPADDR=", "SLURM_PMI", "SLURM_CPU_BIND",
    /* Open MPI detects Flux by this variable. */
    "FLUX_JOB_ID=", "FLUX_TASK_", "FLUX_PMI_",
    /* Meant for this run, not for a run that a task may start. */
    "BATS_BUDGET="};

/* Grid Engine's variables of a job: with them an mpirun in a task would start
 * its ranks on all hosts. Without Grid Engine these names are the user's. */
static const char *const gridengine[] = {
    "SGE_TASK_", "SGE_JOB_SPOOL_DIR=", "PE=",         "PE_HOSTFILE=",
    "JOB_ID=",   "JOB_NAME=",          "JOB_SCRIPT=", "NSLOTS=",
    "NHOSTS=",   "NQUEUES=",           "QUEUE=",      "RESTARTED="};

/* Users set these, launchers do not, and a nested mpirun needs them. */
static const char *const kept[] = {"OMPI_ALLOW_RUN_AS_ROOT"};

static bool begins_with_any(const char *entry, const char *const *list,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(entry, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

static bool from_launcher(const char *entry, bool in_gridengine)
{
    return (begins_with_any(entry, launcher,
                            sizeof launcher / sizeof *launcher) &&
            !begins_with_any(entry, kept, sizeof kept / sizeof *kept)) ||
           (in_gridengine &&
            begins_with_any(entry, gridengine,
                            sizeof gridengine / sizeof *gridengine));
}

bool bats_environment_keeps(const char *entry)
{
    return !from_launcher(entry, false);
}

int bats_environment_init(struct bats_environment *environment,
                          char *const *from, struct bats_error *err)
{
    size_t n = 0;
    bool in_gridengine = false;
    *environment = (struct bats_environment){0};
    for (; from[n]; n++)
        in_gridengine |= begins_with_any(from[n], gridengine, 1);
    environment->clean = calloc(n + 1, sizeof *environment->clean);
    if (!environment->clean)
        goto error;
    for (size_t i = 0; i < n; i++) {
        if (from_launcher(from[i], in_gridengine))
            continue;
        char *copy = strdup(from[i]);
        if (!copy)
            goto error;
        environment->clean[environment->n++] = copy;
    }
    return 0;
error:
    bats_environment_release(environment);
    return bats_no_memory(err);
}

void bats_environment_release(struct bats_environment *environment)
{
    for (size_t i = 0; i < environment->n; i++)
        free(environment->clean[i]);
    free(environment->clean);
    free(environment->merged);
    *environment = (struct bats_environment){0};
}

/* True if `added` has the name of `entry`. The first letter usually
 * decides. */
static bool replaced(const char *entry, const char *const *added)
{
    for (; *added; added++) {
        size_t n = **added == *entry ? strcspn(entry, "=") : 0;
        if (n > 0 && strncmp(entry, *added, n) == 0 && (*added)[n] == '=')
            return true;
    }
    return false;
}

char **bats_environment_merge(struct bats_environment *environment,
                              const char *const *added)
{
    static const char *const nothing[] = {NULL};
    size_t n_added = 0, n = 0;
    if (!added)
        added = nothing;
    while (added[n_added])
        n_added++;
    if (!bats_grow(&environment->merged, &environment->capacity,
                   environment->n + n_added + 1, sizeof *environment->merged))
        return NULL;
    for (size_t i = 0; i < environment->n; i++)
        if (!replaced(environment->clean[i], added))
            environment->merged[n++] = environment->clean[i];
    /* exec's prototype lacks the const, though it does not modify the
     * strings. */
    for (size_t i = 0; i < n_added; i++)
        environment->merged[n++] = (char *)added[i];
    environment->merged[n] = NULL;
    return environment->merged;
}

const char **bats_environment_list(const struct bats_text *variables)
{
    const char *end = variables->bytes + variables->n;
    size_t n = 0;
    for (const char *at = variables->bytes; at < end; at += strlen(at) + 1)
        n++;
    const char **list = variables->failed ? NULL : calloc(n + 1, sizeof *list);
    n = 0;
    for (const char *at = variables->bytes; list != NULL && at < end;
         at += strlen(at) + 1)
        list[n++] = at;
    return list;
}
