#include "cli/alloc/alloc.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bats/policy.h"
#include "bats/sched.h"
#include "cli/alloc/state.h"
#include "cli/cli.h"
#include "cli/past.h"
#include "report/words.h"
#include "run/engine_options.h"
#include "run/needs.h"
#include "run/survey.h"
#include "site/batch_system.h"
#include "util/now.h"

#define WINDOW (10 * BATS_MINUTE) /* default of --window */
/* time for jobs to be back, beyond --silence */
#define RETURN_US 15000000
/* time for a host to confirm a start, beyond --silence: the money that is held
 * for a queued job pays for it, and for the end of the job */
#define START_US (BATS_ALLOC_MARGIN_S * INT64_C(1000000))

/* The run may itself be in a job, which is billed until it ends. */
static void find_own_job(struct bats_alloc *a)
{
    struct bats_allocation own;
    int rc = bats_batch_ask(1, &own, &bats_why);
    if (rc < 0)
        bats_die(rc, "this job is billed, too, but %s", bats_why.text);
    if (own.system != NULL) {
        int64_t held_s = (int64_t)time(NULL) - own.start_s;
        strcpy(a->own, own.job);
        a->own_end_s = own.end_s;
        a->billing.rate = bats_job_bill(own.rate, 3600);
        a->billing.before = own.start_s > 0 && held_s > 0
                                ? bats_job_bill(own.rate, held_s)
                                : 0;
        a->billing.leaving = a->set->grace + BATS_ALLOC_MARGIN_S * BATS_SECOND;
    }
    bats_allocation_release(&own);
}

/* Adds the charges of earlier sessions, which count against the budget. */
static void ask_account(struct bats_alloc *a)
{
    bats_money *budget = &a->options->budget;
    struct bats_account account;
    char words[BATS_ACCOUNT_WORDS];
    a->by_account = *budget == BATS_BUDGET_ACCOUNT;
    if (!a->by_account)
        return;
    if (a->system->account == NULL)
        bats_die(BATS_EINPUT,
                 "--budget account: %s keeps no accounts; give an amount",
                 a->system->name);
    struct bats_allocation job = {.system = NULL};
    snprintf(job.account, sizeof job.account, "%s",
             a->set->account != NULL ? a->set->account : "");
    strcpy(job.qos, a->quality);
    bats_must(a->system->account(&job, &account, &bats_why));
    if (!bats_units_add(bats_account_left(&account),
                        a->options->engine.earlier.charged, budget))
        *budget = BATS_UNLIMITED;
    if (!a->set->quiet)
        bats_tell("%s", bats_account_words(words, &account));
}

/* Chooses what is held for a job. There are no leases if whole jobs are paid:
 * for workflows with their own budgets, for policy expert, and for accounts,
 * whose limits may be checked against time limits before a job starts. */
static void set_guarantee(struct bats_alloc *a)
{
    const struct bats_settings *set = a->set;
    bool by_node = strcmp(set->guarantee, "node") == 0;
    bool whole = a->options->budget == BATS_BUDGET_ACCOUNT ||
                 a->options->bag->sharing.n > 0 ||
                 strcmp(set->policy, "expert") == 0;
    if (by_node && a->rules.hang_s == 0)
        bats_die(BATS_EINPUT,
                 "--guarantee node: %s waits for ever for a node that hangs",
                 a->system->name);
    if (!by_node)
        a->rules.hang_s = 0;
    a->by_lease = !whole && strcmp(set->guarantee, "limit") != 0;
}

static void check_budget(const struct bats_alloc *a)
{
    bats_money budget = a->options->budget, least = BATS_UNLIMITED;
    size_t best = 0;
    for (size_t i = 0; i < a->platform.n_clusters; i++) {
        bats_money price = bats_alloc_price(a, i, a->platform.window, 0);
        if (price < least) {
            least = price;
            best = i;
        }
    }
    if (budget != BATS_UNLIMITED && budget - a->billing.before < least)
        bats_die(BATS_EBUDGET,
                 "the budget does not pay one job: %s are held for one in "
                 "partition %s",
                 bats_words_money(least, a->system->currency).s,
                 a->partitions[best]);
}

static void ask_all(struct bats_alloc *a, const char *record)
{
    bats_must(bats_job_system_find(a->set->system, &a->system, &a->rules,
                                   &bats_why));
    a->platform.grams_per_kwh = a->options->grams_per_kwh;
    set_guarantee(a);
    bats_alloc_read(a, record);
    find_own_job(a);
    bats_alloc_make_machines(a);
    ask_account(a);
    bats_alloc_find_earlier(a);
    a->options->budget = bats_alloc_limit(a);
    if (!a->set->dry_run && a->options->resume == BATS_RECORD_NOT)
        check_budget(a);
    snprintf(a->platform.currency, sizeof a->platform.currency, "%s",
             a->system->currency);
}

static void take_over(struct bats_alloc *a)
{
    int64_t by_us = bats_now_us(CLOCK_MONOTONIC) + a->silence_us + RETURN_US;
    for (uint32_t i = 0; i < a->platform.n_machines; i++) {
        if (a->asked[i] == 0)
            continue;
        bool runs = a->taken[i].phase == BATS_JOB_RUNS;
        bats_queue_adopt(a->queue, i, &a->taken[i]);
        a->lanes[i] = (struct lane){.asked = true,
                                    .is_taken = true,
                                    .work_us = a->asked[i],
                                    .by_us = runs ? by_us : 0};
    }
}

void bats_alloc_create(const struct bats_settings *set, const char *record,
                       struct bats_run_options *options,
                       struct bats_alloc **alloc)
{
    struct bats_alloc *a = *alloc = bats_have(calloc(1, sizeof *a));
    int64_t us = bats_now_us(CLOCK_REALTIME);
    a->set = set;
    a->options = options;
    a->platform.window = set->run.window > 0 ? set->run.window : WINDOW;
    a->platform.billing = a->billing.model = BATS_BILLING_JOB;
    a->silence_us = set->run.silence_us;
    a->say_us = a->first_say_us = BATS_ALLOC_SAY_POLLS * set->poll;
    a->billing.jobs = (uint32_t)set->max_jobs;
    snprintf(a->name, sizeof a->name, "bats-%08x%06x",
             (unsigned)(us / 1000000),
             (unsigned)(us % 1000000) ^ ((unsigned)getpid() << 4 & 0xffffff));
    ask_all(a, record);
    struct bats_queue_options jobs = {.system = a->system,
                                      .rules = a->rules,
                                      .name = a->name,
                                      .requests = a->requests,
                                      .tag = a->tag,
                                      .n = a->platform.n_machines,
                                      .interval_us = set->poll,
                                      .confirm_us = a->silence_us + START_US};
    bats_must(bats_queue_create(&jobs, &a->queue, &bats_why));
    take_over(a);
    options->engine.earlier.asked = a->n_taken > 0 ? a->asked : NULL;
    options->engine.earlier.age = a->age;
    options->silence_us = a->silence_us;
    a->joining = bats_alloc_joining;
    a->joining.nodes = a->nodes;
    a->joining.context = a;
    a->joining.file = a->door;
    a->joining.host = set->host;
    a->joining.port = (int)set->port;
    a->joining.billing = &a->billing;
    a->joining.draining = a->system->draining;
    a->joining.look_us = BATS_ALLOC_LOOK_POLLS * set->poll;
    options->joining = &a->joining;
}

void bats_alloc_destroy(struct bats_alloc *a)
{
    if (a == NULL)
        return;
    bats_queue_destroy(a->queue);
    bats_query_release(&a->own_worker);
    free(a->platform.machines);
    free(a->requests);
    free(a->lanes);
    free(a->asked);
    free(a->age);
    free(a->taken);
    free(a->more);
    free(a->words);
    free(a);
}

/* Lists their marks by machine, as the record has them
 * (bats_record_purchase). */
static json_t *list_taken(const struct bats_alloc *a)
{
    json_t *list = json_object();
    for (uint32_t i = 0; i < a->platform.n_machines; i++) {
        char machine[16];
        const char *mark = a->taken[i].mark, *end = strrchr(mark, '.');
        snprintf(machine, sizeof machine, "%lu", (unsigned long)i);
        if (a->asked[i] != 0 && end != NULL)
            json_object_set_new(list, machine,
                                json_stringn(mark, (size_t)(end - mark)));
    }
    return list;
}

int bats_alloc_note(const struct bats_alloc *a, json_t *settings,
                    struct bats_error *err)
{
    int bad = json_object_set_new(settings, "jobs_name", json_string(a->name));
    if (a->n_taken > 0)
        bad |= json_object_set_new(settings, "jobs_taken", list_taken(a));
    return bad == 0 ? 0 : bats_no_memory(err);
}

/* ---- a dry run ---- */

static void print_words(FILE *out, const struct bats_argv *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "    ", argv->words[i]);
    putc('\n', out);
}

/* Jobs alike, of machines with consecutive numbers. */
struct alike {
    uint32_t first, n, asked; /* so many were asked for before */
};

static void print_jobs(struct bats_alloc *a, FILE *out, struct alike *jobs)
{
    struct bats_argv argv = {0};
    char *script = NULL;
    struct bats_job_request request = a->requests[jobs->first];
    bool is_own = jobs->first == a->own_machine;
    if (jobs->n == 0)
        return;
    request.copies = jobs->n;
    if (is_own)
        bats_alloc_own_words(a, &argv);
    else
        a->system->jobs->submit(&request, &argv, &script);
    print_words(out, &argv);
    if (jobs->asked == 0 && script != NULL)
        fprintf(out, "  with this script:\n%s", script);
    jobs->asked += is_own ? 0 : jobs->n;
    jobs->n = 0;
    bats_argv_release(&argv);
    free(script);
}

static void print_times(FILE *out, const struct bats_alloc *a,
                        const struct bats_sched_options *o)
{
    bats_time most = a->billing.longest;
    bool is_free = a->billing.lease > 0 ||
                   (o->budget == BATS_UNLIMITED && o->n_purses == 0 &&
                    strcmp(bats_policy_name(o->policy), "expert") != 0);
    if (is_free) {
        fprintf(out,
                "A job asks for %s, and ends when it has no more to do.\n",
                bats_words_duration(most > 0 ? most : BATS_JOB_LONGEST).s);
        if (a->billing.lease > 0)
            fprintf(out,
                    "It is paid for %s ahead, and ends if nobody prolongs "
                    "that.\n",
                    bats_words_duration(a->billing.lease).s);
        return;
    }
    fprintf(out, "A job works for %s, or for less at the end of the bag",
            bats_words_duration(a->platform.window).s);
    if (most > a->platform.window)
        fprintf(out, "; for longer, at most %s, if the tasks need it",
                bats_words_duration(most).s);
    else if (most == 0)
        fputs("; for longer if the tasks need it", out);
    fputs(".\n", out);
}

static void print_clusters(FILE *out, const struct bats_alloc *a)
{
    const struct bats_platform *p = &a->platform;
    size_t each = 2 * (size_t)a->set->max_jobs;
    for (size_t i = 0; i < p->n_clusters; i++)
        fprintf(
            out,
            "%s: %g %s per hour and job of %s; %s for a window, %s "
            "held until it is billed\n",
            a->partitions[i], a->rate[i], p->currency,
            bats_words_count(p->machines[i * each].slots, "slot").s,
            bats_words_money(p->clusters[i].charge, p->currency).s,
            bats_words_money(bats_alloc_price(a, i, p->window, 0), p->currency)
                .s);
}

static void print_first_jobs(FILE *out, struct bats_alloc *a,
                             const struct bats_sched_options *o)
{
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    struct bats_command command;
    struct bats_sched *sched;
    struct alike jobs = {0, 0, 0};
    bats_must(bats_sched_create(o, &sched, &bats_why));
    fputs("The first jobs:\n", out);
    bats_must(bats_sched_handle(sched, 0, &tick, &bats_why));
    while (bats_sched_next(sched, &command))
        if (command.type == BATS_COMMAND_ACQUIRE) {
            uint32_t next = command.machine;
            bats_alloc_ask(a, next, command.time);
            if (jobs.n == 0 || next != jobs.first + jobs.n ||
                jobs.n >= a->rules.together ||
                a->platform.machines[next].cluster !=
                    a->platform.machines[jobs.first].cluster) {
                print_jobs(a, out, &jobs);
                jobs.first = next;
            }
            jobs.n++;
        }
    print_jobs(a, out, &jobs);
    if (jobs.asked == 0)
        fputs("    none: the budget does not pay one\n", out);
    fputs("Nothing was started.\n", out);
    bats_sched_destroy(sched);
}

void bats_alloc_dry_run(struct bats_alloc *a, FILE *out,
                        const struct bats_run_options *options)
{
    struct bats_survey survey = {.platform = a->platform,
                                 .policy = options->engine.policy,
                                 .budget = options->budget,
                                 .deadline = options->engine.goal.deadline,
                                 .billing = a->billing};
    struct bats_engine_options e = {.seen = NULL};
    char past[1024];
    bats_must(bats_needs_stocks(NULL, options, &survey, &bats_why));
    bats_must(bats_engine_options(options, &survey, &e, &bats_why));
    print_clusters(out, a);
    if (e.options.prior != NULL)
        bats_words_line(
            out, "%s",
            bats_learner_words(options->believe_context, past, sizeof past));
    print_times(out, a, &e.options);
    print_first_jobs(out, a, &e.options);
    bats_engine_options_release(&e);
    free(survey.gpus);
    free(survey.stocks);
}

/* ---- at the end ---- */

#define ABANDON_US 30000000

uint32_t bats_alloc_abandon(struct bats_alloc *a)
{
    struct bats_queue_news news;
    struct bats_error err;
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    int64_t end_us = now_us + ABANDON_US;
    uint32_t left = 0;
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        bats_queue_cancel(a->queue, i, now_us);
    bats_alloc_end_own(a);
    if (a->own_runs)
        a->lanes[a->own_machine].asked = false;
    while (bats_queue_count(a->queue) > 0 && now_us < end_us) {
        int64_t due_us = now_us + 100000;
        if (bats_queue_turn(a->queue, now_us, &due_us, &err) < 0)
            break;
        while (bats_queue_next(a->queue, &news))
            if (news.type == BATS_QUEUE_SAYS)
                bats_tell("%s", news.sentence);
        struct timespec nap = {0, 20000000};
        nanosleep(&nap, NULL);
        now_us = bats_now_us(CLOCK_MONOTONIC);
    }
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        left += a->lanes[i].asked;
    return left;
}
