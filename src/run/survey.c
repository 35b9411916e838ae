#include "run/survey.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/crew.h"
#include "run/run.h"
#include "util/now.h"

#define COUNTED_US (5 * 60 * INT64_C(1000000))
#define MARGIN_US 5000000 /* reserve for the end of the run and its report */

static bats_time bag_time(const struct bats_run_options *options,
                          int64_t real_us)
{
    double us = (double)real_us * options->time_scale;
    return us < (double)BATS_NEVER / 2 ? (bats_time)us : BATS_NEVER / 2;
}

static int64_t job_end_us(const struct bats_site *site)
{
    int64_t end_s = site->allocation.end_s;
    return end_s > 0 && end_s < INT64_MAX / 4000000 ? end_s * 1000000 : 0;
}

static enum bats_site_machine
machine_of(const struct bats_run_options *options)
{
    if (options->machine == NULL)
        return BATS_SITE_AUTO;
    return strcmp(options->machine, "node") == 0 ? BATS_SITE_NODE
                                                 : BATS_SITE_RANK;
}

static int build_platform(const struct bats_crew *crew,
                          const struct bats_run_options *options,
                          struct bats_survey *s, struct bats_error *err)
{
    struct bats_clusters_file *found = NULL;
    int rc = 0;
    if (options->clusters == NULL) {
        char *text;
        rc = bats_site_write(&s->site, options->window, &text, err);
        if (rc < 0)
            return rc;
        rc = bats_clusters_text_load(text, "what was found", 0, &found, err);
        free(text);
    }
    if (rc == 0)
        rc = bats_platform_build(found != NULL ? found : options->clusters,
                                 crew->workers, crew->n, &s->platform, err);
    bats_clusters_file_destroy(found);
    /* Nobody bills time that is compressed: it is an emulation. */
    if (rc == 0 && options->clusters == NULL && options->time_scale != 1)
        s->platform.billing = BATS_BILLING_WINDOW;
    return rc;
}

/* The charge of all machines, for every window that begins in the time
 * left. */
static bats_money worth(const struct bats_platform *p, bats_time left)
{
    int64_t windows = left > 0 ? 1 + (left - 1) / p->window : 0;
    bats_money sum = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        bats_money all;
        if (!bats_units_multiply(p->clusters[i].charge, p->clusters[i].max,
                                 &all) ||
            !bats_units_multiply(all, windows, &all) ||
            !bats_units_add(sum, all, &sum))
            return BATS_UNLIMITED;
    }
    return sum;
}

/* The charges of earlier sessions count against it, too. */
static bats_money with_earlier(const struct bats_run_options *options,
                               bats_money left)
{
    bats_money sum;
    return bats_units_add(left, options->earlier.charged, &sum)
               ? sum
               : BATS_UNLIMITED;
}

/* The account is in the currency that the batch system bills; other money
 * cannot be compared with it. */
static int ask_account(const struct bats_run_options *options,
                       struct bats_survey *s, struct bats_error *err)
{
    const struct bats_allocation *job = &s->site.allocation;
    const struct bats_batch_system *system = job->system;
    if (options->budget != BATS_BUDGET_ACCOUNT)
        return 0;
    if (system == NULL)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget account: this is not a batch job; "
                              "give an amount");
    if (s->site.trouble.code != 0)
        return bats_error_set(
            err, BATS_EINPUT,
            "--budget account: %s has no information about job "
            "%s (%s): give an amount",
            system->name, job->job, s->site.trouble.text);
    if (system->account == NULL)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget account: %s keeps no accounts; give "
                              "an amount",
                              system->name);
    s->by_account = true;
    int rc = system->account(job, &s->account, err);
    if (rc == 0 && strcmp(s->platform.currency, system->currency) != 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "--budget account: %s counts in %s, the charges "
                            "are in %s: give an amount",
                            system->name, system->currency,
                            s->platform.currency);
    return rc;
}

/* Of all machines, per hour. */
static double rate_of_machines(const struct bats_platform *p)
{
    double price = 0;
    for (uint32_t i = 0; i < p->n_machines; i++)
        price += (double)p->clusters[p->machines[i].cluster].charge;
    return price * (double)BATS_HOUR / (double)p->window;
}

static bats_money as_money(double amount)
{
    return amount < (double)BATS_LONGEST ? (bats_money)llround(amount)
                                         : BATS_LONGEST;
}

/* Since the job began, or since the last thing that is known of it. */
static double billed_by_time(const struct bats_survey *s,
                             const struct bats_run_options *options,
                             int64_t last_us)
{
    int64_t start_us = s->site.allocation.start_s * 1000000;
    int64_t since_us = last_us > start_us ? last_us : start_us;
    int64_t held_us = bats_now_us(CLOCK_REALTIME) - since_us;
    if (start_us == 0 || held_us < 0)
        return 0;
    return (double)s->billing.rate * (double)bag_time(options, held_us) /
           (double)BATS_HOUR;
}

/* Slurm counts what running jobs use every five minutes, if not sooner. */
static bats_money uncounted(const struct bats_survey *s,
                            const struct bats_run_options *options)
{
    double period = (double)s->billing.rate *
                    (double)bag_time(options, COUNTED_US) / (double)BATS_HOUR;
    return as_money(fmin(billed_by_time(s, options, 0), period));
}

static int find_billing(const struct bats_run_options *options,
                        struct bats_survey *s, struct bats_error *err)
{
    const struct bats_allocation *job = &s->site.allocation;
    const struct bats_batch_system *system = job->system;
    int64_t last_us = 0;
    bats_money charged = 0;
    s->billing.model = s->platform.billing;
    if (s->billing.model == BATS_BILLING_WINDOW)
        return 0;
    bool is_told = system != NULL && job->rate > 0 &&
                   strcmp(s->platform.currency, system->currency) == 0;
    s->billing.rate = as_money(is_told ? job->rate * (double)BATS_UNIT
                                       : rate_of_machines(&s->platform));
    s->billing.leaving =
        bag_time(options, options->grace_ms * 1000 + MARGIN_US);
    if (system != NULL && options->record != NULL &&
        options->resume != BATS_RECORD_NOT) {
        int rc = bats_record_of_job(options->record, job->job, &charged,
                                    &last_us, err);
        if (rc < 0)
            return rc;
    }
    double billed =
        is_told && system->billed != NULL ? system->billed(job) : -1;
    s->uncounted = uncounted(s, options);
    s->billing.before = billed >= 0
                            ? as_money(billed * (double)BATS_UNIT) - charged
                            : as_money(billed_by_time(s, options, last_us));
    return 0;
}

static void set_limits(const struct bats_run_options *options,
                       struct bats_survey *s)
{
    int64_t left_us = s->job_end_us - bats_now_us(CLOCK_REALTIME);
    s->budget = s->by_account
                    ? with_earlier(options, bats_account_left(&s->account))
                    : options->budget;
    s->deadline = options->rules.deadline;
    if (s->job_end_us == 0)
        return;
    if (s->deadline == 0) {
        int64_t usable_us = left_us - options->grace_ms * 1000 - MARGIN_US;
        s->deadline = usable_us > 0 ? bag_time(options, usable_us) : 1;
    }
    if (!options->budget_given) {
        s->budget_found = true;
        s->budget = with_earlier(
            options, worth(&s->platform, bag_time(options, left_us)));
    }
}

int bats_survey_take(const struct bats_crew *crew,
                     const struct bats_run_options *options,
                     struct bats_survey *survey, struct bats_error *err)
{
    struct bats_survey s = {.n_ranks = (uint32_t)bats_comm_size(crew->comm)};
    uint32_t first = crew->n < s.n_ranks ? 1 : 0;
    int rc = 0;
    s.nodes = malloc(s.n_ranks * sizeof *s.nodes);
    s.shares = calloc(s.n_ranks, sizeof *s.shares);
    if (s.nodes == NULL || s.shares == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    else
        memcpy(s.nodes, crew->nodes, s.n_ranks * sizeof *s.nodes);
    if (rc == 0)
        rc = bats_site_share(s.nodes, s.n_ranks, s.shares, err);
    if (rc == 0)
        rc = bats_site_discover(s.nodes, s.n_ranks, first, machine_of(options),
                                &s.site, err);
    if (rc == 0)
        rc = build_platform(crew, options, &s, err);
    if (rc == 0)
        rc = ask_account(options, &s, err);
    if (rc == 0)
        rc = find_billing(options, &s, err);
    if (rc < 0) {
        bats_survey_release(&s);
        return rc;
    }
    s.job_end_us = job_end_us(&s.site);
    set_limits(options, &s);
    *survey = s;
    return 0;
}

void bats_survey_release(struct bats_survey *survey)
{
    free(survey->nodes);
    free(survey->shares);
    bats_site_release(&survey->site);
    bats_platform_release(&survey->platform);
    *survey = (struct bats_survey){0};
}
