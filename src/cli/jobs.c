/* jobs: see cli.h. */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "run/launcher.h"
#include "run/run.h"
#include "site/batch_system.h"

#define MOST 250   /* workers for --jobs 0 */
#define JOB_MAX 63 /* longest number of a job in the protocol */

uint32_t bats_jobs_count(uint32_t jobs)
{
    cpu_set_t cores;
    if (jobs > 0)
        return jobs;
    return sched_getaffinity(0, sizeof cores, &cores) == 0
               ? (uint32_t)CPU_COUNT(&cores)
               : 1;
}

/* The number of workers that `text` requests on `cores` cores, as in GNU
 * parallel: 8, +1, -1, 50%, and 0 for as many as possible, which is 250. NULL:
 * 1. At least 1. BATS_EINPUT. */
static int read_workers(const char *text, uint32_t cores, uint32_t *workers,
                        struct bats_error *err)
{
    char *end;
    *workers = 1;
    if (text == NULL)
        return 0;
    errno = 0;
    double n = (double)strtol(text, &end, 10);
    bool is_relative = text[0] == '+' || text[0] == '-';
    if (strcmp(end, "%") == 0 && !is_relative)
        n = n * cores / 100;
    else if (end == text || *end != '\0' || errno != 0 || isspace(*text))
        return bats_refuse(err,
                           "--jobs takes a number of workers (8, +1, -1, "
                           "50%%; 0: as many as possible), not '%s'",
                           text);
    else if (is_relative)
        n += cores;
    else if (n == 0)
        n = MOST;
    *workers = n < 1 ? 1 : n > INT32_MAX / 2 ? INT32_MAX / 2 : (uint32_t)n;
    return 0;
}

static int start_mpi(const struct bats_settings *set, uint32_t n_ranks,
                     int *argc, char ***argv, int *rank,
                     struct bats_error *usage, struct bats_error *err)
{
    int n;
    if (usage->code == 0 && set->workers != NULL)
        bats_refuse(usage,
                    "--jobs is for a run without a launcher; this one has "
                    "been started on %" PRIu32 " ranks",
                    n_ranks);
    return bats_mpi_start(argc, argv, set->run.silence_us, rank, &n, err);
}

static int start(const struct bats_settings *set, int *argc, char ***argv,
                 int *rank, struct bats_error *usage, struct bats_error *err)
{
    uint32_t n_ranks = bats_launcher_ranks();
    if (n_ranks > 1)
        return start_mpi(set, n_ranks, argc, argv, rank, usage, err);
    bats_mpi_omit();
    if (usage->code != 0)
        return bats_forked_start(0, rank, err);
    uint32_t workers;
    if (read_workers(set->workers, bats_jobs_count(0), &workers, usage) < 0)
        return bats_forked_start(0, rank, err);
    return bats_forked_start(workers, rank, err);
}

static int work(int rank, const struct bats_settings *set)
{
    struct bats_error err;
    int rc = bats_run_worker(set->run.silence_us, &err);
    if (rc != 0)
        bats_tell("rank %d: %s", rank, err.text);
    return bats_exit_of(rc);
}

static int end_mpi(void *unused, int code)
{
    bats_mpi_end(code);
    return code;
}

int bats_jobs_run(enum bats_verb verb, struct bats_settings *set, int argc,
                  char **argv, struct bats_error *usage,
                  int (*master)(enum bats_verb verb,
                                struct bats_settings *set))
{
    struct bats_error err;
    int rank, code;
    if (start(set, &argc, &argv, &rank, usage, &err) != 0)
        return bats_complain(&err);
    if (rank != 0) {
        code = work(rank, set);
    } else if (usage->code != 0) {
        bats_run_dismiss(NULL, bats_say);
        code = bats_options_complain(verb, usage);
    } else {
        bats_at_death(end_mpi, NULL);
        code = master(verb, set);
    }
    return end_mpi(NULL, code);
}

/* ---- the verb worker, in every rank of a worker job (run/joining.h) ---- */

static int check_worker(const struct bats_settings *set,
                        struct bats_error *err)
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

static int work_for(const struct bats_settings *set, int rank, int n_ranks)
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
    int rc = usage->code == 0 ? check_worker(set, usage) : usage->code;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Start MPI only if needed: that takes longer than anything else here. */
    if (bats_launcher_ranks() <= 1)
        bats_mpi_omit();
    else if (bats_mpi_start(&argc, &argv, set->run.silence_us, &rank, &n_ranks,
                            &err) != 0)
        return bats_complain(&err);
    if (rc == 0)
        code = work_for(set, rank, n_ranks);
    else
        code =
            rank == 0 ? bats_options_complain(verb, usage) : BATS_EXIT_USAGE;
    bats_mpi_end(code);
    return code;
}
