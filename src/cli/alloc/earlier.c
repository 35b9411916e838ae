/*
 * earlier: takes over what a killed session of the run has left.
 *
 * Jobs that wait or run become machines of this session from the start: the
 * engine is told that it has asked for them, so that their price is held
 * (bats_sched_earlier). Gateways of running jobs come back by themselves
 * (run/joining.h). All other jobs are ended, and billed, before the run
 * begins.
 *
 * With accounting, the bills of all jobs of the run, less what is on record,
 * are charged at the start. Without accounting, the record knows which jobs
 * have no bill: each is charged for the time that it was held or, if the batch
 * system has forgotten it, with all that was held for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/alloc/state.h"
#include "cli/cli.h"
#include "report/words.h"
#include "util/now.h"

#define PATIENCE_US 120000000 /* time for its jobs to end */
/* for bills if no job is listed, though ended ones would be for a while */
#define LOST_US 30000000
#define NAP_US 500000
#define SURE_S 60 /* margin: clocks differ, and events are recorded late */

struct earlier {
    struct bats_record_purchase known;
    struct bats_job_view *list; /* n jobs of the run that the system lists */
    bool *is_taken;             /* by job in the list */
    size_t n;
};

static void nap(int64_t us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void look(struct bats_alloc *a, struct earlier *e)
{
    free(e->list);
    free(e->is_taken);
    bats_must(
        bats_job_system_list(a->system, a->name, &e->list, &e->n, &bats_why));
    e->is_taken = bats_have(calloc(e->n + 1, 1));
}

/* ---- jobs that still live ---- */

/* The work time of the job with this mark (bats_alloc_ask), if the cluster
 * requests such jobs; else 0. */
static bats_time time_in(const struct bats_alloc *a, const char *mark,
                         uint32_t cluster)
{
    const char *shape = strrchr(mark, '.');
    size_t n = strlen(a->shape[cluster]);
    if (shape == NULL || strncmp(shape + 1, a->shape[cluster], n) != 0)
        return 0;
    int64_t limit_s =
        shape[1 + n] == '-' ? strtoll(shape + 1 + n + 1, NULL, 10) : 0;
    return limit_s > BATS_ALLOC_MARGIN_S &&
                   limit_s < BATS_LONGEST / BATS_SECOND
               ? (limit_s - BATS_ALLOC_MARGIN_S) * BATS_SECOND
               : 0;
}

/* The machine that the job can become; n_machines: none. */
static uint32_t find_machine(const struct bats_alloc *a,
                             const struct bats_job_view *job)
{
    const struct bats_platform *p = &a->platform;
    uint32_t i = 0, n = 0;
    while (i < p->n_machines) {
        uint32_t cluster = p->machines[i].cluster;
        if (time_in(a, job->mark, cluster) == 0) {
            i++;
            n = 0;
        } else if (a->asked[i] == 0) {
            return n < p->clusters[cluster].max ? i : p->n_machines;
        } else {
            i++;
            n++;
        }
    }
    return p->n_machines;
}

static bats_time age_of(const struct bats_job_view *job)
{
    int64_t now_s = (int64_t)time(NULL);
    return job->phase == BATS_JOB_RUNS && job->start_s > 0 &&
                   job->start_s < now_s
               ? (now_s - job->start_s) * BATS_SECOND
               : 0;
}

/* Takes over the jobs that `money` pays for, running ones first. Returns the
 * money held for them. */
static bats_money take_over(struct bats_alloc *a, struct earlier *e,
                            bats_money room)
{
    bats_money held = 0;
    a->n_taken = 0;
    memset(a->asked, 0, a->platform.n_machines * sizeof *a->asked);
    for (int waiting = 0; waiting < 2; waiting++)
        for (size_t k = 0; k < e->n; k++) {
            const struct bats_job_view *job = &e->list[k];
            uint32_t i = find_machine(a, job);
            if (job->phase != (waiting ? BATS_JOB_WAITS : BATS_JOB_RUNS) ||
                i == a->platform.n_machines)
                continue;
            uint32_t cluster = a->platform.machines[i].cluster;
            bats_time time = time_in(a, job->mark, cluster);
            bats_time age = age_of(job);
            bats_money price = bats_alloc_price(a, cluster, time, age);
            if (price > room - held)
                continue;
            held += price;
            a->asked[i] = time;
            a->age[i] = age;
            a->taken[i] = *job;
            a->n_taken++;
            e->is_taken[k] = true;
        }
    return held;
}

/* ---- bills ---- */

/* Asks for bills; returns those without a charge. If the accounting learns of
 * ends too late, the list of jobs decides. */
static bats_money ask_bills(struct bats_alloc *a, const struct earlier *e)
{
    struct bats_job_past past = {.name = a->name,
                                 .list = e->list,
                                 .is_taken = e->is_taken,
                                 .n = e->n,
                                 .own = e->known.own,
                                 .now = a->own};
    bats_money sum = 0;
    size_t open = 0;
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    int64_t patience_us =
        e->n == 0 && a->rules.keeps_s > 0 ? LOST_US : PATIENCE_US;
    int64_t end_us = now_us + patience_us;
    for (bool first = true;; first = false) {
        bats_must(bats_job_system_bills(a->system, &past, now_us >= end_us,
                                        &sum, &open, &bats_why));
        if (open == 0 || now_us >= end_us)
            break;
        if (first && !a->set->quiet)
            bats_tell(
                "the accounting of %s does not yet know the end of all jobs "
                "of the earlier session: waiting for bills, at most %d s",
                a->system->name, (int)(patience_us / 1000000));
        nap(NAP_US);
        now_us = bats_now_us(CLOCK_MONOTONIC);
    }
    const char *lost = a->system->jobs->lost;
    if (open > 0)
        bats_die(BATS_ESYS,
                 "the accounting of %s does not know the end of %lu of the "
                 "earlier jobs, which have the name %s; no job was bought%s%s",
                 a->system->name, (unsigned long)open, a->name,
                 lost != NULL ? ": " : "", lost != NULL ? lost : "");
    return sum - e->known.charged;
}

static const struct bats_job_view *
find_job(const struct earlier *e, const struct bats_record_job_open *open,
         size_t *at)
{
    size_t n = strlen(open->mark);
    for (*at = 0; *at < e->n; ++*at)
        if (strncmp(e->list[*at].mark, open->mark, n) == 0 &&
            e->list[*at].mark[n] == '.')
            return &e->list[*at];
    return NULL;
}

/* A job that the system has forgotten costs at most what was held for it. If
 * the system cannot have forgotten it yet, it was never submitted. */
static bats_money bill_by_time(const struct bats_alloc *a,
                               const struct earlier *e)
{
    bats_money sum = 0;
    int64_t last_s = e->known.last_us / 1000000;
    bool all_known = (int64_t)time(NULL) - last_s < a->rules.keeps_s - SURE_S;
    for (size_t i = 0; i < e->known.n_open; i++) {
        size_t at;
        const struct bats_job_view *job = find_job(e, &e->known.open[i], &at);
        if (job == NULL)
            sum += all_known ? 0 : e->known.open[i].price;
        else if (!e->is_taken[at])
            sum += bats_job_bill_by_time(job);
    }
    return sum;
}

/* ---- all of it ---- */

/* Takes over jobs that `room` pays for, and ends the others. Sets the money
 * held for them; returns the bills without a charge. */
static bats_money settle(struct bats_alloc *a, struct earlier *e,
                         bats_money room, bats_money *held)
{
    int64_t end_us = bats_now_us(CLOCK_MONOTONIC) + PATIENCE_US;
    for (;;) {
        look(a, e);
        *held = take_over(a, e, room);
        if (bats_must(bats_job_system_cancel(a->system, a->name, e->list, e->n,
                                             e->is_taken, &bats_why)) == 0)
            break;
        if (bats_now_us(CLOCK_MONOTONIC) >= end_us)
            bats_die(BATS_ESYS,
                     "jobs of the earlier session, which have the name %s, do "
                     "not end",
                     a->name);
        nap(NAP_US);
    }
    nap(a->rules.late_s * 1000000);
    return a->rules.accounts ? ask_bills(a, e) : bill_by_time(a, e);
}

static bats_money room(const struct bats_alloc *a)
{
    bats_money limit = bats_alloc_limit(a);
    return limit == BATS_UNLIMITED
               ? limit
               : limit - a->options->engine.earlier.charged -
                     a->billing.before;
}

static void say_uncharged(const struct bats_alloc *a, bats_money uncharged)
{
    struct bats_phrase money = bats_words_money(
        uncharged < 0 ? -uncharged : uncharged, a->system->currency);
    if (uncharged > 0 && !a->set->quiet)
        bats_tell("earlier jobs were billed %s that had not been charged: "
                  "they are now",
                  money.s);
    if (uncharged < 0 && !a->set->quiet)
        bats_tell("earlier jobs were billed %s less than they had been "
                  "charged: the budget has them back",
                  money.s);
}

void bats_alloc_find_earlier(struct bats_alloc *a)
{
    const struct bats_run_options *options = a->options;
    struct earlier e = {.n = 0};
    bats_money before = a->billing.before, held = 0, uncharged;
    snprintf(a->tag, sizeof a->tag, "1");
    if (options->record == NULL)
        return;
    bats_must(
        bats_record_purchase(options->record, a->own, &e.known, &bats_why));
    snprintf(a->tag, sizeof a->tag, "%lu", (unsigned long)e.known.session);
    if (options->resume != BATS_RECORD_NOT && e.known.name[0] != '\0') {
        snprintf(a->name, sizeof a->name, "%s", e.known.name);
        /* of the whole time of this job a part has been charged */
        before -= e.known.of_job;
        e.known.charged -= e.known.of_job;
        do { /* bills of the past leave less money for jobs to take over */
            uncharged = settle(a, &e, room(a), &held);
            a->billing.before = before + uncharged;
        } while (held > 0 && held > room(a));
        say_uncharged(a, uncharged);
        for (size_t k = 0; k < e.n; k++)
            if (e.list[k].phase == BATS_JOB_ENDED)
                bats_alloc_keep_output(a, e.list[k].id);
    }
    free(e.known.open);
    free(e.list);
    free(e.is_taken);
}
