#include "cli/jobs.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "run/starter.h"

uint32_t bats_jobs_count(uint32_t jobs)
{
    cpu_set_t cores;
    if (jobs > 0)
        return jobs;
    return sched_getaffinity(0, sizeof cores, &cores) == 0
               ? (uint32_t)CPU_COUNT(&cores)
               : 1;
}

int bats_jobs_start(enum bats_verb verb, const struct bats_settings *set,
                    char **argv, struct bats_error *usage)
{
    uint32_t jobs = bats_jobs_count(set->jobs);
    uint32_t n_ranks = bats_starter_ranks();

    if (bats_starter_is_used())
        return -1;
    if (n_ranks > 1 && set->jobs != 1)
        bats_error_set(usage, BATS_EINPUT,
                       "--jobs is for a run without a launcher; this one has "
                       "been started on %" PRIu32 " ranks",
                       n_ranks);
    if (n_ranks > 1)
        return -1;
    if (jobs == 1) {
        if (!set->quiet && n_ranks == 0)
            fprintf(stderr,
                    "bats-mpi: 1 worker, on this machine; -j N starts N "
                    "(%" PRIu32 " cores)\n",
                    bats_jobs_count(0));
        return -1;
    }
    /* argv[0] is not used from here on. */
    argv[0] = (char *)bats_verb_name(verb);
    int code = bats_starter_run(jobs + !set->master_works, argv, usage);
    return code >= 0 ? code : bats_complain(usage);
}
