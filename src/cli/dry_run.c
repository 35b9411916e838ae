#include "cli/dry_run.h"
#include "bats/lease.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "cli/cli.h"
#include "report/report.h"
#include "report/words.h"
#include "run/engine_options.h"
#include "util/encode.h"

#define TASKS_SHOWN 10
#define TEXT 4096
/* most tasks whose @sleep is checked */
#define LOOKED_AT 10000
/* A slot needs 0.1 to 0.2 ms from the end of an @sleep to the next one, a
 * tenth of this time. */
#define SHORTEST_S 0.002

/* The engine's first decisions, once every machine has joined. */
struct opening {
    uint32_t acquired[BATS_CLUSTERS_MAX];
    uint32_t tasks[TASKS_SHOWN]; /* the first tasks that would run */
    uint32_t n_tasks;
};

static void ask_engine(struct bats_sched *sched,
                       const struct bats_platform *platform,
                       struct opening *opening)
{
    struct bats_command c;
    for (uint32_t m = 0; m < platform->n_machines; m++) {
        struct bats_event joined = {.type = BATS_EVENT_JOINED, .machine = m};
        bats_must(bats_sched_handle(sched, 0, &joined, &bats_why));
        while (bats_sched_next(sched, &c)) {
            if (c.type == BATS_COMMAND_ACQUIRE)
                opening->acquired[platform->machines[c.machine].cluster]++;
            if (c.type == BATS_COMMAND_RUN && opening->n_tasks < TASKS_SHOWN)
                opening->tasks[opening->n_tasks++] = c.task;
        }
    }
}

static void print_head(const struct bats_run_options *options,
                       const struct bats_platform *platform)
{
    bats_words_line(stdout, "%s in %s; %s",
                    bats_words_count(options->bag->n_tasks, "task").s,
                    options->bag->name,
                    bats_words_count(platform->n_machines, "machine").s);
    printf("policy %s, window %s, budget %s, seed %" PRIu64 "\n\n",
           bats_policy_name(options->engine.policy),
           bats_words_duration(platform->window).s,
           bats_words_money(options->budget, platform->currency).s,
           options->engine.seed);
}

static void print_opening(const struct bats_sched *sched,
                          const struct bats_run_options *options,
                          const struct bats_platform *platform,
                          const struct opening *opening)
{
    char text[TEXT], machines[TEXT / 2], charged[128] = "", sample[96] = "";
    struct bats_sched_status status;
    bats_sched_status(sched, &status);
    if (options->engine.policy == &bats_policy_bkp)
        snprintf(sample, sizeof sample,
                 " and samples up to %" PRIu32 " tasks on each cluster",
                 status.sample_size);
    if (bats_lease_terms(platform->billing).in_windows)
        snprintf(charged, sizeof charged, ", charged %s for the first window",
                 bats_words_money(status.charged, platform->currency).s);
    snprintf(text, sizeof text, "It starts with %s%s%s.",
             bats_words_machines(machines, sizeof machines, platform->clusters,
                                 platform->n_clusters, opening->acquired,
                                 ", "),
             charged, sample);
    putchar('\n');
    bats_words_wrap(stdout, text, 0, 0, 80);
}

/* Rounds to three digits: an estimate has no more. */
static bats_money rounded(double amount)
{
    double step = 1;
    while (amount / step >= 1000 && step < 1e15)
        step *= 10;
    return (bats_money)(round(fmin(amount, (double)BATS_LONGEST) / step) *
                        step);
}

/* Time and cost of the bag on the machines that the run starts with. */
static void print_believed(const struct bats_learner *l,
                           const struct bats_platform *p,
                           const struct bats_sched *sched,
                           const struct opening *opening, uint32_t n_tasks)
{
    const struct bats_prior *prior = &l->believed.prior;
    double rate = 0, price = 0;
    struct bats_phrase time[3], money[3];
    char text[1024];
    if (bats_learner_words(l, text, sizeof text)[0] == '\0')
        return;
    bats_words_line(stdout, "%c%s.", text[0] - 'a' + 'A', text + 1);
    for (size_t i = 0; i < p->n_clusters; i++) {
        double n = opening->acquired[i];
        rate += n * bats_sched_room(sched, i) / prior->mean[i];
        price += n * (double)p->clusters[i].charge / (double)p->window;
    }
    if (rate <= 0 || !isfinite(prior->level))
        return;
    double factor = bats_past_factor(prior->level), end = n_tasks / rate;
    for (int k = 0; k < 3; k++) {
        double is = end * (k == 0 ? 1 : k == 1 ? 1 / factor : factor);
        time[k] = bats_words_makespan(is);
        money[k] =
            bats_words_money(rounded(is * price), k == 0 ? p->currency : "");
    }
    bats_words_line(stdout,
                    "These machines would take %s for it, %s to %s, and cost "
                    "%s, %s to %s.",
                    time[0].s, time[1].s, time[2].s, money[0].s, money[1].s,
                    money[2].s);
}

static void print_tasks(const struct bats_bagfile *bag,
                        const struct bats_sched *sched,
                        const struct opening *opening)
{
    struct bats_text command = {0};
    struct bats_sched_status status;
    bats_sched_status(sched, &status);
    uint32_t n = status.pending + status.running;
    if (opening->n_tasks > 0)
        puts("\nThe first tasks, in the order in which they are drawn:");
    for (uint32_t i = 0; i < opening->n_tasks; i++) {
        uint32_t task = opening->tasks[i];
        if (bats_bagfile_command(bag, task, &command) < 0)
            bats_have(NULL);
        bats_words_line(stdout, "%8" PRIu64 "  %s", (uint64_t)task + 1,
                        command.bytes);
    }
    if (n > opening->n_tasks)
        printf("     ...  %" PRIu32 " more\n", n - opening->n_tasks);
    bats_text_release(&command);
}

static void print_variables(const char *at, ptrdiff_t length)
{
    for (const char *end = at + length; at < end; at += strlen(at) + 1) {
        const char *value = strchr(at, '=') + 1;
        fwrite(at, 1, (size_t)(value - at), stdout);
        if (*value == '\0' || bats_encode_is_word(value))
            fputs(value, stdout);
        else
            bats_words_put(stdout, BATS_ENCODE_QUOTED, value);
        putchar(' ');
    }
}

void bats_dry_run_list(const struct bats_bagfile *bag, bool variables)
{
    struct bats_text command = {0};
    for (uint32_t i = 0; i < bag->n_tasks; i++) {
        ptrdiff_t n = variables ? bats_bagfile_variables(bag, i, &command) : 0;
        if (n > 0)
            print_variables(command.bytes, n);
        if (n < 0 || bats_bagfile_command_for(bag, i, 1, &command) < 0)
            bats_have(NULL);
        bats_text_add(&command, "\n");
        fwrite(command.bytes, 1, command.n, stdout);
    }
    bats_text_release(&command);
    bats_must(bats_flush(&bats_why));
}

void bats_emulation_warn(const struct bats_bagfile *bag,
                         const struct bats_platform *platform,
                         double time_scale)
{
    double n = 0, total = 0;
    bool is_nap, has_commands = false;
    size_t fastest = 0;
    for (size_t i = 1; i < platform->n_clusters; i++)
        fastest = platform->speed[i] > platform->speed[fastest] ? i : fastest;
    for (struct bats_tour w = bats_tour(bag, LOOKED_AT); bats_tour_next(&w);) {
        bats_time length = 0;
        bats_builtin_parse(w.command.bytes, &is_nap, &length, NULL);
        has_commands |= *w.command.bytes != '@';
        n += is_nap;
        total += (double)length / BATS_SECOND;
    }
    double speed = fmax(1, platform->speed[fastest]);
    if (has_commands && speed > 1)
        bats_tell("cluster %s: speed = %g shortens @sleep only; commands take "
                  "as long as they take on this machine",
                  platform->clusters[fastest].name, speed);
    double real_s = n > 0 ? total / n / speed / time_scale : 0;
    if (time_scale > 1 && 0 < real_s && real_s < SHORTEST_S)
        bats_tell("the time scale of %g is too fast: an average @sleep lasts "
                  "%.2g ms, and starting it takes a tenth of that or more; "
                  "%g is slow enough",
                  time_scale, 1000 * real_s, time_scale * real_s / SHORTEST_S);
}

/* ---- a dry run ---- */

void bats_dry_run_print(const struct bats_run_options *options,
                        const struct bats_survey *survey,
                        const struct bats_learner *learner)
{
    const struct bats_platform *platform = &survey->platform;
    struct bats_engine_options e;
    struct bats_sched *sched;
    struct opening opening = {0};
    bats_must(bats_engine_options(options, survey, &e, &bats_why));
    bats_must(bats_sched_create(&e.options, &sched, &bats_why));
    bats_must(bats_sched_may_begin(sched, &bats_why));
    ask_engine(sched, platform, &opening);
    print_head(options, platform);
    bats_report_platform(stdout, platform);
    bats_emulation_warn(options->bag, platform, options->time_scale);
    print_opening(sched, options, platform, &opening);
    print_believed(learner, platform, sched, &opening, options->bag->n_tasks);
    print_tasks(options->bag, sched, &opening);
    puts("\nNothing was started.");
    bats_sched_destroy(sched);
    bats_engine_options_release(&e);
}
