/* earlier: what an earlier session of the run, which was killed, has left. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/alloc/state.h"
#include "util/now.h"

#define PATIENCE_US 120000000 /* for its jobs to end */
#define NAP_US 500000

static void nap(void)
{
    struct timespec time = {NAP_US / 1000000, NAP_US % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Ends those that run: their master has gone. Keeps those that wait. Returns
 * how many run, < 0: an error. */
static int end_running(struct bats_alloc *a, struct bats_error *err)
{
    struct bats_job_view *list;
    size_t n, waiting = 0;
    int running = 0;
    int rc = bats_job_system_list(a->system, a->name, &list, &n, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *id = list[i].id;
        if (list[i].phase == BATS_JOB_RUNS) {
            rc = bats_job_system_cancel(a->system, &id, 1, err);
            running++;
        }
        if (list[i].phase == BATS_JOB_WAITS) {
            struct bats_job_view view = list[waiting];
            list[waiting++] = list[i];
            list[i] = view;
        }
    }
    free(a->pool);
    a->pool = list;
    a->n_pool = waiting;
    a->n_listed = n;
    return rc < 0 ? rc : running;
}

/* Asks the accounting for the bills of all its jobs: those of jobs that wait
 * may still be open. */
static int find_bills(struct bats_alloc *a,
                      const struct bats_record_purchase *known,
                      struct bats_error *err)
{
    bats_money sum;
    size_t open = 0, n = 0;
    int64_t end_us = bats_now_us(CLOCK_MONOTONIC) + PATIENCE_US;
    const char **ids = calloc(a->n_listed + 1, sizeof *ids);
    if (ids == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (size_t i = 0; i < a->n_listed; i++)
        ids[n++] = a->pool[i].id;
    if (known->own[0] != '\0')
        ids[n++] = known->own;
    int rc = bats_job_system_bills(a->system, a->name, ids, n, a->own, &sum,
                                   &open, err);
    while (rc == 0 && open > a->n_pool &&
           bats_now_us(CLOCK_MONOTONIC) < end_us) {
        nap();
        rc = bats_job_system_bills(a->system, a->name, ids, n, a->own, &sum,
                                   &open, err);
    }
    free(ids);
    if (rc == 0 && open > a->n_pool)
        rc = bats_error_set(err, BATS_ESYS,
                            "the accounting of %s does not know the end of all "
                            "jobs of the earlier session",
                            a->system->name);
    a->billing.before += rc == 0 ? sum - known->charged : 0;
    return rc;
}

/* Without accounting those that were not settled count with all that was held
 * for them. */
static void estimate_bills(struct bats_alloc *a,
                           const struct bats_record_purchase *known)
{
    bats_money open = known->open;
    for (size_t i = 0; i < a->n_pool; i++)
        open -= bats_job_bill(a->pool[i].rate,
                              (a->platform.window + a->billing.overrun) /
                                  BATS_SECOND);
    a->billing.before += open > 0 ? open : 0;
}

int bats_alloc_find_earlier(struct bats_alloc *a,
                            const struct bats_run_options *options,
                            struct bats_error *err)
{
    struct bats_record_purchase known;
    int64_t end_us = bats_now_us(CLOCK_MONOTONIC) + PATIENCE_US;
    if (options->record == NULL || options->resume == BATS_RECORD_NOT)
        return 0;
    int rc = bats_record_purchase(options->record, &known, err);
    if (rc < 0 || known.name[0] == '\0')
        return rc;
    snprintf(a->name, sizeof a->name, "%s", known.name);
    while ((rc = end_running(a, err)) > 0 &&
           bats_now_us(CLOCK_MONOTONIC) < end_us)
        nap();
    if (rc > 0)
        rc = bats_error_set(err, BATS_ESYS,
                            "jobs of the earlier session do not end: squeue "
                            "--name=%s",
                            a->name);
    if (rc == 0 && a->rules.accounts)
        rc = find_bills(a, &known, err);
    else if (rc == 0)
        estimate_bills(a, &known);
    return rc;
}
