/* dry_run: prints what alloc would submit, and what that would cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/policy.h"
#include "bats/sched.h"
#include "cli/alloc/state.h"
#include "cli/cli.h"
#include "cli/past.h"
#include "report/words.h"
#include "run/engine_options.h"
#include "run/needs.h"
#include "run/survey.h"

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

static void print_jobs(const struct bats_alloc *a, FILE *out,
                       struct alike *jobs)
{
    struct bats_argv argv = {0};
    char *script = NULL;
    struct bats_job_request request = a->requests[jobs->first];
    if (jobs->n == 0)
        return;
    request.copies = jobs->n;
    a->system->jobs->submit(&request, &argv, &script);
    print_words(out, &argv);
    if (jobs->asked == 0 && script != NULL)
        fprintf(out, "  with this script:\n%s", script);
    jobs->asked += jobs->n;
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
    for (size_t i = 0; i < p->n_clusters; i++)
        fprintf(
            out,
            "%s: %g %s per hour and job of %s; %s for a window, %s "
            "held until it is billed\n",
            a->partitions[i], a->rate[i], p->currency,
            bats_words_count(p->machines[0].slots, "slot").s,
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
