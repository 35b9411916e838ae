#include "run/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "run/crew.h"
#include "run/needs.h"
#include "run/run.h"
#include "util/now.h"

#define COUNTED_US (5 * 60 * INT64_C(1000000))
/* time reserved for the end of the run and its report */
#define MARGIN_US 5000000

bats_time bats_virtual_time(const struct bats_run_options *o, int64_t real_us)
{
    double us = (double)real_us * o->time_scale;
    return us < (double)BATS_NEVER / 2 ? (bats_time)llround(us)
                                       : BATS_NEVER / 2;
}

static enum bats_site_machine machine_of(const struct bats_crew *crew,
                                         const struct bats_run_options *o)
{
    if (o->machine == NULL)
        return bats_needs_nodes(crew, o) ? BATS_SITE_NODE : BATS_SITE_AUTO;
    return strcmp(o->machine, "node") == 0 ? BATS_SITE_NODE : BATS_SITE_RANK;
}

static int build_platform(const struct bats_crew *crew,
                          const struct bats_run_options *o,
                          struct bats_survey *s, struct bats_error *err)
{
    struct bats_clusters_file *found = NULL;
    int rc = 0;
    if (o->clusters == NULL) {
        char *text;
        rc = bats_site_write(&s->site, o->window, &text, err);
        if (rc < 0)
            return rc;
        rc = bats_clusters_text_load(text, "what was found", 0, &found, err);
        free(text);
    }
    const struct bats_clusters_file *file =
        found != NULL ? found : o->clusters;
    if (rc == 0)
        rc =
            bats_platform_build(file, crew->ranks, crew->n, &s->platform, err);
    if (rc == 0) {
        struct bats_worker_rank master = {.rank = 0};
        strcpy(master.host, s->nodes[0].host);
        strcpy(master.partition, s->nodes[0].partition);
        s->idle_charge =
            bats_platform_idle_charge(file, crew->ranks, crew->n, &master);
    }
    bats_clusters_file_destroy(found);
    s->platform.grams_per_kwh = o->grams_per_kwh;
    /* Compressed time is emulated, and never billed. */
    if (rc == 0 && o->clusters == NULL && o->time_scale != 1)
        s->platform.billing = BATS_BILLING_WINDOW;
    return rc;
}

/* Includes the earlier charge, which is already rounded up. */
static bats_money cost_of_rest(const struct bats_billing *b, bats_time left)
{
    if (b->before == 0)
        return bats_billing_cost(b->rate, left);
    return b->before + (bats_money)((__int128)b->rate * left / BATS_HOUR);
}

bats_money bats_survey_worth(const struct bats_survey *s, bats_time left)
{
    const struct bats_platform *p = &s->platform;
    const struct bats_billing *b = &s->billing;
    if (b->model == BATS_BILLING_ALLOCATION)
        return cost_of_rest(b, left > b->least ? left : b->least);
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

bats_money bats_survey_budget(const struct bats_survey *s)
{
    bats_money budget = s->budget;
    if (!bats_lease_terms(s->billing.model).lasts)
        return budget;
    if (s->budget_found || budget == BATS_UNLIMITED)
        return BATS_UNLIMITED;
    if (s->by_account)
        budget += s->billing.before - s->uncounted;
    return budget > 0 ? budget : 0;
}

/* Adds the charges of earlier sessions, which count against the budget. */
static bats_money with_earlier(const struct bats_run_options *o,
                               bats_money left)
{
    bats_money sum;
    return bats_units_add(left, o->engine.earlier.charged, &sum)
               ? sum
               : BATS_UNLIMITED;
}

/* The account is in the currency of the batch system; charges in another
 * currency cannot be compared with it. */
static int ask_account(const struct bats_run_options *o, struct bats_survey *s,
                       struct bats_error *err)
{
    const struct bats_allocation *job = &s->site.allocation;
    const struct bats_batch_system *system = job->system;
    if (o->budget != BATS_BUDGET_ACCOUNT)
        return 0;
    if (system == NULL)
        return bats_refuse(err, "--budget account: this is not a batch job; "
                                "give an amount");
    if (s->site.trouble.code != 0)
        return bats_refuse(err,
                           "--budget account: %s has no information about job "
                           "%s (%s): give an amount",
                           system->name, job->job, s->site.trouble.text);
    if (system->account == NULL)
        return bats_refuse(err,
                           "--budget account: %s keeps no accounts; give an "
                           "amount",
                           system->name);
    s->by_account = true;
    int rc = system->account(job, &s->account, err);
    if (rc == 0 && strcmp(s->platform.currency, system->currency) != 0)
        rc = bats_refuse(err,
                         "--budget account: %s counts in %s, the charges are "
                         "in %s: give an amount",
                         system->name, system->currency, s->platform.currency);
    return rc;
}

static bats_money as_money(double amount)
{
    return amount < (double)BATS_LONGEST ? (bats_money)llround(amount)
                                         : BATS_LONGEST;
}

/* The cost at this rate from one real time to another. */
static bats_money cost(const struct bats_run_options *o, bats_money rate,
                       int64_t from_us, int64_t to_us)
{
    return from_us < to_us
               ? bats_billing_cost(rate, bats_virtual_time(o, to_us - from_us))
               : 0;
}

/* The end of the job's life in which the last session ran: known for the life
 * before this one; otherwise `silence` after the last sign of a rank. */
static int64_t end_of_life_us(const struct bats_allocation *job,
                              const struct bats_run_options *o,
                              const struct bats_record_job *known)
{
    return job->queued_s > 0 && known->life + 1 == job->life
               ? job->queued_s * 1000000
               : known->seen_us + o->silence_us;
}

/* The part of the bill that earlier sessions have not charged, without
 * accounting. Between two sessions of one life the job keeps its machines. */
static bats_money billed_by_time(const struct bats_survey *s,
                                 const struct bats_run_options *o,
                                 const struct bats_record_job *known)
{
    const struct bats_allocation *job = &s->site.allocation;
    int64_t start_us = job->start_s * 1000000;
    if (start_us == 0)
        return 0;
    if (known->charged_us >= start_us)
        return known->uncharged +
               cost(o, known->rate, known->charged_us, s->now_us);
    return known->uncharged + cost(o, s->billing.rate, start_us, s->now_us) +
           cost(o, known->rate, known->charged_us,
                known->charged_us > 0 ? end_of_life_us(job, o, known) : 0);
}

/* Slurm counts what running jobs use every five minutes, if not sooner. */
static bats_money uncounted(const struct bats_survey *s,
                            const struct bats_run_options *o)
{
    int64_t start_us = s->site.allocation.start_s * 1000000;
    if (start_us == 0)
        return 0;
    return cost(o, s->billing.rate,
                start_us > s->now_us - COUNTED_US ? start_us
                                                  : s->now_us - COUNTED_US,
                s->now_us);
}

/* The site's least bill, less the time that the job has already been held. */
static bats_time least_left(const struct bats_survey *s,
                            const struct bats_run_options *o)
{
    int64_t start_us = s->site.allocation.start_s * 1000000;
    bats_time held = start_us > 0 && start_us < s->now_us
                         ? bats_virtual_time(o, s->now_us - start_us)
                         : 0;
    return s->platform.least > held ? s->platform.least - held : 0;
}

static int find_billing(const struct bats_run_options *o,
                        struct bats_survey *s, struct bats_error *err)
{
    const struct bats_allocation *job = &s->site.allocation;
    const struct bats_batch_system *system = job->system;
    struct bats_record_job known = {0};
    s->billing.model = s->platform.billing;
    if (o->engine.policy != NULL) /* the verb clusters has none */
        s->policy = bats_policy_for(o->engine.policy, s->billing.model,
                                    o->bag->graph != NULL);
    if (s->billing.model != BATS_BILLING_ALLOCATION)
        return 0;
    if (o->engine.policy == &bats_policy_expert &&
        bats_strategy_check(&o->engine.strategy, s->platform.clusters,
                            s->platform.n_clusters, err) < 0)
        return BATS_EINPUT;
    bool is_told = system != NULL && job->rate > 0 &&
                   strcmp(s->platform.currency, system->currency) == 0;
    s->billing.rate = is_told
                          ? as_money(job->rate * (double)BATS_UNIT)
                          : bats_platform_hourly(&s->platform, s->idle_charge);
    s->billing.least = least_left(s, o);
    s->billing.leaving = bats_virtual_time(o, o->grace_ms * 1000 + MARGIN_US);
    if (system != NULL && o->record != NULL && o->resume != BATS_RECORD_NOT) {
        int rc = bats_record_of_job(o->record, job->job, &known, err);
        if (rc < 0)
            return rc;
    }
    double billed =
        is_told && system->billed != NULL ? system->billed(job) : -1;
    s->uncounted = uncounted(s, o);
    s->billing.before =
        billed >= 0 ? as_money(billed * (double)BATS_UNIT) - known.charged
                    : billed_by_time(s, o, &known);
    s->before_estimated = billed < 0 && known.charged_us > 0;
    return 0;
}

static void set_limits(const struct bats_run_options *o, struct bats_survey *s)
{
    int64_t left_us = s->job_end_us - s->now_us;
    s->budget = s->by_account ? with_earlier(o, bats_account_left(&s->account))
                              : o->budget;
    s->deadline = o->engine.goal.deadline;
    if (o->deadline_us > 0) {
        int64_t time_us = o->deadline_us - s->now_us;
        s->deadline = time_us > 0 ? bats_virtual_time(o, time_us) : 1;
    }
    s->time_limit = o->engine.rules.time_limit;
    if (s->job_end_us == 0)
        return;
    if (s->time_limit == 0) {
        int64_t usable_us = left_us - o->grace_ms * 1000 - MARGIN_US;
        s->time_limit = usable_us > 0 ? bats_virtual_time(o, usable_us) : 1;
    }
    if (!o->budget_given && s->billing.model != BATS_BILLING_JOB) {
        s->budget_found = true;
        bats_time left = left_us > 0 ? bats_virtual_time(o, left_us) : 0;
        s->budget = with_earlier(o, bats_survey_worth(s, left));
    }
}

static int list_ranks(const struct bats_crew *crew, struct bats_survey *s,
                      struct bats_error *err)
{
    s->n_ranks = (uint32_t)crew->comm->size;
    s->nodes = malloc(s->n_ranks * sizeof *s->nodes);
    s->shares = calloc(s->n_ranks, sizeof *s->shares);
    if (s->nodes == NULL || s->shares == NULL)
        return bats_no_memory(err);
    memcpy(s->nodes, crew->nodes, s->n_ranks * sizeof *s->nodes);
    return 0;
}

/* Completes the survey once it has its platform, or after the error `rc`. */
static int conclude(const struct bats_run_options *o, struct bats_survey *s,
                    int rc, struct bats_error *err)
{
    int64_t end_s = s->site.allocation.end_s;
    if (rc == 0)
        rc = ask_account(o, s, err);
    s->now_us = bats_now_us(CLOCK_REALTIME);
    if (rc == 0)
        rc = find_billing(o, s, err);
    if (rc < 0) {
        bats_survey_release(s);
        return rc;
    }
    if (o->joining != NULL && o->joining->billing != NULL)
        s->billing = *o->joining->billing;
    if (end_s > 0 && end_s < INT64_MAX / 4000000)
        s->job_end_us = end_s * 1000000;
    set_limits(o, s);
    return 0;
}

int bats_survey_expect(const struct bats_crew *crew,
                       const struct bats_run_options *o,
                       const struct bats_platform *platform,
                       struct bats_survey *s, struct bats_error *err)
{
    *s = (struct bats_survey){.platform = *platform};
    int rc = list_ranks(crew, s, err);
    if (rc == 0 && bats_batch_ask(1, &s->site.allocation, &s->site.trouble) ==
                       BATS_ENOMEM)
        rc = bats_no_memory(err);
    if (rc == 0)
        rc = bats_needs_stocks(crew, o, s, err);
    return conclude(o, s, rc, err);
}

int bats_survey_take(const struct bats_crew *crew,
                     const struct bats_run_options *o, struct bats_survey *s,
                     struct bats_error *err)
{
    *s = (struct bats_survey){0};
    int rc = list_ranks(crew, s, err);
    if (rc == 0) /* rank 0 needs no core */
        rc = bats_site_share(s->nodes + 1, s->n_ranks - 1, s->shares + 1, err);
    if (rc == 0)
        rc = bats_site_discover(s->nodes, s->n_ranks, machine_of(crew, o),
                                &s->site, err);
    if (rc == 0)
        rc = build_platform(crew, o, s, err);
    if (rc == 0)
        rc = bats_needs_stocks(crew, o, s, err);
    return conclude(o, s, rc, err);
}

void bats_survey_release(struct bats_survey *survey)
{
    free(survey->nodes);
    free(survey->shares);
    bats_site_release(&survey->site);
    for (uint32_t i = 0;
         survey->gpus && i < survey->platform.n_machines * survey->n_nodes;
         i++)
        free(survey->gpus[i]);
    free(survey->gpus);
    free(survey->stocks);
    bats_platform_release(&survey->platform);
    *survey = (struct bats_survey){0};
}
