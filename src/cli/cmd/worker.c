/* worker: the verb worker, in every rank of a worker job (run/joining.h). */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "run/launcher.h"
#include "run/run.h"
#include "site/batch_system.h"

#define JOB_MAX 63 /* longest number of a job in the protocol */

static int check(const struct bats_settings *set, struct bats_error *err)
{
    if (set->join == NULL)
        return bats_refuse(
            err, "--join FILE is missing: the file that the run has written");
    if (set->job != NULL && strlen(set->job) > JOB_MAX)
        return bats_refuse(err, "--job: at most %d characters", JOB_MAX);
    return 0;
}

/* Gives a job outside of any batch system a unique name. */
static void name_job(const struct bats_settings *set, char name[JOB_MAX + 1])
{
    const struct bats_batch_system *system = bats_batch_system_here();
    char host[40] = "";
    gethostname(host, sizeof host - 1);
    if (set->job != NULL)
        snprintf(name, JOB_MAX + 1, "%s", set->job);
    else if (system != NULL)
        snprintf(name, JOB_MAX + 1, "%s", bats_batch_job(system));
    else
        snprintf(name, JOB_MAX + 1, "%s-%ld", host, (long)getpid());
}

static int work(const struct bats_settings *set, int rank, int n_ranks)
{
    char job[JOB_MAX + 1];
    struct bats_error err;
    name_job(set, job);
    int rc = rank == 0 ? bats_run_gateway(set->join, job, n_ranks, &err)
                       : bats_run_worker(set->run.silence_us, &err);
    if (rc < 0)
        bats_tell("job %s, rank %d: %s", job, rank, err.text);
    return bats_exit_of(rc);
}

int cmd_worker(enum bats_verb verb, struct bats_settings *set, int argc,
               char **argv, struct bats_error *usage)
{
    struct bats_error err;
    int rank = 0, n_ranks = 1, code;
    int rc = usage->code == 0 ? check(set, usage) : usage->code;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Start MPI only if needed: that takes longer than anything else here. */
    if (bats_launcher_ranks() <= 1)
        bats_mpi_omit();
    else if (bats_mpi_start(&argc, &argv, set->run.silence_us, &rank, &n_ranks,
                            &err) != 0)
        return bats_complain(&err);
    if (rc == 0)
        code = work(set, rank, n_ranks);
    else
        code =
            rank == 0 ? bats_options_complain(verb, usage) : BATS_EXIT_USAGE;
    bats_mpi_end(code);
    return code;
}
