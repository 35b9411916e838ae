/* job_systems: the batch systems that this program can hand jobs in to, each in
 * a file of its own. */
#include "site/job_system.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_US 30000000

extern const struct bats_job_system bats_slurm_jobs;

const struct bats_job_system *const bats_job_systems[] = {&bats_slurm_jobs,
                                                          NULL};

/* Runs the command, with the words of argv, which are released. */
static int ask(const struct bats_job_system *system, struct bats_argv *argv,
               const char *input, char **answer, struct bats_error *err)
{
    struct bats_query query;
    int rc = argv->failed ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                          : bats_query_start(&query,
                                             (const char *const *)argv->words,
                                             system->variable, input,
                                             PATIENCE_US, err);
    while (rc == 0)
        rc = bats_query_poll(&query, PATIENCE_US, answer, err);
    bats_argv_release(argv);
    return rc < 0 ? rc : 0;
}

int bats_job_system_find(const struct bats_job_system **system,
                         struct bats_job_rules *rules, struct bats_error *err)
{
    int rc = BATS_EINPUT;
    struct bats_error why = {0};
    for (size_t i = 0; rc != 0 && bats_job_systems[i] != NULL; i++) {
        struct bats_argv argv = {0};
        char *answer;
        *system = bats_job_systems[i];
        (*system)->rules(&argv);
        rc = ask(*system, &argv, NULL, &answer, &why);
        if (rc == 0) {
            rc = (*system)->read_rules(answer, rules, &why);
            free(answer);
        }
    }
    if (rc < 0)
        return bats_error_set(err, BATS_EINPUT,
                              "no batch system that jobs can be handed in to: "
                              "%s",
                              why.text);
    return 0;
}

static int show_rate(const struct bats_job_system *system, const char *id,
                     double *rate, struct bats_error *err)
{
    struct bats_argv argv = {0};
    char *answer;
    system->show(id, &argv);
    int rc = ask(system, &argv, NULL, &answer, err);
    if (rc < 0)
        return rc;
    *rate = system->read_rate(answer);
    free(answer);
    if (*rate >= 0)
        return 0;
    return bats_error_set(err, BATS_ESYS,
                          "%s does not say what job %s will be billed",
                          system->name, id);
}

int bats_job_system_rate(const struct bats_job_system *system,
                         const struct bats_job_request *request, double *rate,
                         struct bats_error *err)
{
    struct bats_argv argv = {0};
    char *script = NULL, *answer, id[BATS_JOB_ID];
    const char *ids[] = {id};
    struct bats_job_request held = *request;
    held.held = true;
    system->submit(&held, &argv, &script);
    if (script == NULL)
        argv.failed = true;
    int rc = ask(system, &argv, script, &answer, err);
    free(script);
    if (rc < 0)
        return rc;
    rc = system->read_submit(answer, id, err);
    free(answer);
    if (rc < 0)
        return rc;
    rc = show_rate(system, id, rate, err);
    struct bats_error why;
    argv = (struct bats_argv){0};
    system->cancel(ids, 1, &argv);
    if (ask(system, &argv, NULL, &answer, &why) == 0)
        free(answer);
    else if (rc == 0)
        rc = bats_error_set(err, BATS_ESYS, "%s", why.text);
    return rc;
}
