#include "cli/dry_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/emulation.h"
#include "report/report.h"
#include "report/words.h"
#include "util/encode.h"

#define TASKS_SHOWN 10
#define TEXT 4096

/* The engine's first decisions, once every machine has joined. */
struct opening {
    uint32_t acquired[BATS_CLUSTERS_MAX];
    uint32_t tasks[TASKS_SHOWN]; /* the first tasks that would run */
    uint32_t n_tasks;
};

static int ask_engine(struct bats_sched *sched,
                      const struct bats_platform *platform,
                      struct opening *opening, struct bats_error *err)
{
    struct bats_command c;
    for (uint32_t m = 0; m < platform->n_machines; m++) {
        struct bats_event joined = {.type = BATS_EVENT_JOINED, .machine = m};
        int rc = bats_sched_handle(sched, 0, &joined, err);
        if (rc != 0)
            return rc;
        while (bats_sched_next(sched, &c)) {
            if (c.type == BATS_COMMAND_ACQUIRE)
                opening->acquired[platform->machines[c.machine].cluster]++;
            if (c.type == BATS_COMMAND_RUN && opening->n_tasks < TASKS_SHOWN)
                opening->tasks[opening->n_tasks++] = c.task;
        }
    }
    return 0;
}

static void print_head(FILE *out, const struct bats_run_options *options,
                       const struct bats_platform *platform)
{
    char tasks[64], machines[64], time[BATS_UNITS_TEXT], budget[96];
    bats_words_line(out, "%s in %s; %s",
                    bats_words_count(tasks, sizeof tasks,
                                     bats_bagfile_count(options->bag), "task"),
                    bats_bagfile_name(options->bag),
                    bats_words_count(machines, sizeof machines,
                                     platform->n_machines, "machine"));
    fprintf(out, "policy %s, window %s, budget %s, seed %" PRIu64 "\n\n",
            bats_policy_name(options->policy),
            bats_duration_format(time, platform->window),
            bats_words_money(budget, sizeof budget, options->budget,
                             platform->currency),
            options->seed);
}

/* Prints the rules in force, if there are any. */
static void print_rules(FILE *out, const struct bats_sched_rules *r)
{
    char time[BATS_UNITS_TEXT];
    if (r->retries > 0)
        fprintf(out, "A task that fails is run %" PRIu32 " times at most",
                r->retries + 1);
    if (r->retries > 0 && r->retry_delay > 0)
        fprintf(out, ", after %s", bats_duration_format(time, r->retry_delay));
    if (r->retries > 0)
        fputs(".\n", out);
    if (r->timeout_median > 0)
        fprintf(out, "A task is stopped after %g%% of the median.\n",
                100 * r->timeout_median);
    else if (r->timeout > 0)
        fprintf(out, "A task is stopped after %s.\n",
                bats_duration_format(time, r->timeout));
    if (r->halt_failed > 0)
        fprintf(out, "The run ends %s when %" PRIu32 " tasks have failed.\n",
                r->halt_now ? "at once" : "soon", r->halt_failed);
    else if (r->halt_share > 0)
        fprintf(out, "The run ends %s when %g%% of the tasks fail.\n",
                r->halt_now ? "at once" : "soon", 100 * r->halt_share);
    if (r->time_limit > 0)
        fprintf(out, "No task is started that does not fit into %s.\n",
                bats_duration_format(time, r->time_limit));
}

static void print_opening(FILE *out, const struct bats_sched *sched,
                          const struct bats_run_options *options,
                          const struct bats_platform *platform,
                          const struct opening *opening)
{
    char text[TEXT], machines[TEXT / 2], money[96], sample[96] = "";
    struct bats_sched_status status;
    bats_sched_status(sched, &status);

    if (options->policy == &bats_policy_bkp)
        snprintf(sample, sizeof sample,
                 " and samples up to %" PRIu32 " tasks on each cluster",
                 status.sample_size);
    snprintf(text, sizeof text,
             "It starts with %s, charged %s for the first window%s.",
             bats_words_machines(machines, sizeof machines, platform->clusters,
                                 platform->n_clusters, opening->acquired,
                                 ", "),
             bats_words_money(money, sizeof money, status.charged,
                              platform->currency),
             sample);
    putc('\n', out);
    bats_words_wrap(out, text, 0, 0, 80);
}

static int print_tasks(FILE *out, const struct bats_bagfile *bag,
                       const struct opening *opening, struct bats_error *err)
{
    char *command = NULL;
    size_t size = 0;
    int rc = 0;
    uint32_t n = bats_bagfile_count(bag);

    if (opening->n_tasks > 0)
        fputs("\nThe first tasks, in the order in which they are drawn:\n",
              out);
    for (uint32_t i = 0; i < opening->n_tasks; i++) {
        uint32_t task = opening->tasks[i];
        if (bats_bagfile_command(bag, task, &command, &size) < 0) {
            rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
            break;
        }
        bats_words_line(out, "%8" PRIu64 "  %s", (uint64_t)task + 1, command);
    }
    if (rc == 0 && n > opening->n_tasks)
        fprintf(out, "     ...  %" PRIu32 " more\n", n - opening->n_tasks);
    free(command);
    return rc;
}

/* Assignments as a shell reads them. */
static void print_variables(FILE *out, const char *at, ptrdiff_t length)
{
    for (const char *end = at + length; at < end; at += strlen(at) + 1) {
        const char *value = strchr(at, '=') + 1;
        fwrite(at, 1, (size_t)(value - at), out);
        if (*value == '\0' || bats_encode_is_word(value))
            fputs(value, out);
        else
            bats_words_put(out, BATS_ENCODE_QUOTED, value);
        putc(' ', out);
    }
}

int bats_dry_run_list(FILE *out, const struct bats_bagfile *bag,
                      bool variables, struct bats_error *err)
{
    char *command = NULL;
    size_t size = 0;
    ptrdiff_t length = 0;
    uint32_t n = bats_bagfile_count(bag);
    for (uint32_t i = 0; length >= 0 && i < n; i++) {
        if (variables) {
            length = bats_bagfile_variables(bag, i, &command, &size);
            if (length > 0)
                print_variables(out, command, length);
        }
        if (length >= 0)
            length = bats_bagfile_command_for(bag, i, 1, &command, &size);
        if (length >= 0) {
            command[length] = '\n';
            fwrite(command, 1, (size_t)length + 1, out);
        }
    }
    free(command);
    if (length < 0)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (fflush(out) != 0)
        return bats_error_set(err, BATS_ESYS, "standard output: %s",
                              strerror(errno));
    return 0;
}

int bats_dry_run_print(FILE *out, const struct bats_run_options *options,
                       const struct bats_platform *platform,
                       struct bats_error *err)
{
    struct bats_sched_options o = {
        .policy = options->policy,
        .n_tasks = bats_bagfile_count(options->bag),
        .clusters = platform->clusters,
        .n_clusters = platform->n_clusters,
        .machines = platform->machines,
        .n_machines = platform->n_machines,
        .window = platform->window,
        .budget = options->budget,
        .goal = options->goal,
        .monitor_interval = options->monitor_interval,
        .seed = options->seed,
        .graph = bats_bagfile_graph(options->bag),
    };
    o.purses = bats_bagfile_purses(options->bag, &o.purse, &o.n_purses);
    struct bats_sched *sched = NULL;
    struct opening opening = {0};

    int rc = bats_sched_create(&o, &sched, err);
    if (rc == 0)
        rc = ask_engine(sched, platform, &opening, err);
    if (rc == 0) {
        print_head(out, options, platform);
        bats_report_platform(out, platform);
        bats_emulation_warn(stderr, options->bag, platform,
                            options->time_scale);
        print_opening(out, sched, options, platform, &opening);
        print_rules(out, &options->rules);
        rc = print_tasks(out, options->bag, &opening, err);
    }
    if (rc == 0)
        fputs("\nNothing was started.\n", out);
    bats_sched_destroy(sched);
    return rc;
}
