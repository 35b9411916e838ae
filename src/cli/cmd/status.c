/* status: the verb status. Shows how far a run is, and what it has cost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "report/live.h"
#include "report/recorded.h"
#include "report/table.h"
#include "report/words.h"
#include "report/workflows.h"
#include "util/json.h"

#define PHRASE 96

struct workflows {
    struct bats_purse_status *list;
    uint32_t n;
};

static json_t *money(bats_money amount)
{
    char text[BATS_UNITS_TEXT];

    if (amount == BATS_UNLIMITED)
        return json_null();
    return json_string(bats_money_format(text, amount));
}

static json_t *cluster_json(const struct bats_view_cluster *c)
{
    return json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:f, s:f, s:b}", "name",
        bats_json_text(c->name), "charge", money(c->charge), "machines",
        (json_int_t)c->machines, "held", (json_int_t)c->held, "lost",
        (json_int_t)c->lost, "windows", (json_int_t)c->windows, "charged",
        money(c->charged), "done", (json_int_t)c->done, "failed",
        (json_int_t)c->failed, "mean_real_s", (double)c->mean_wall_us / 1e6,
        "mean_runtime_s", (double)c->mean_runtime / 1e6, "is_guess",
        c->mean_runtime > 0 && c->done == 0);
}

static int print_json(const struct bats_view_status *st, bats_money held,
                      const struct workflows *w, json_t *options,
                      struct bats_error *err)
{
    json_t *clusters = json_array();
    char state[PHRASE];

    for (size_t i = 0; i < st->n_clusters; i++)
        json_array_append_new(clusters, cluster_json(&st->clusters[i]));
    json_t *all = json_pack(
        "{s:o, s:o, s:b, s:b, s:I, s:f, s:f, s:o, s:I, s:o, s:o, s:o}", "bag",
        bats_json_text(st->bag), "state",
        bats_json_text(bats_look_state(state, sizeof state, st)), "live",
        st->is_live, "over", st->is_over, "sessions", (json_int_t)st->sessions,
        "started_unix", (double)st->started_us / 1e6, "time_s",
        (double)st->last / 1e6, "policy", bats_json_text(st->policy), "seed",
        (json_int_t)st->seed, "budget", money(st->budget), "charged",
        money(st->charged), "currency", bats_json_text(st->currency));
    json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "tasks",
        (json_int_t)st->tasks, "done", (json_int_t)st->done, "failed",
        (json_int_t)st->failed, "running", (json_int_t)st->running, "pending",
        (json_int_t)st->pending, "left", (json_int_t)bats_look_left(st),
        "skipped", (json_int_t)st->skipped, "removed",
        (json_int_t)st->removed, "preempted",
        (json_int_t)st->preempted, "clusters", clusters);

    json_object_update(all, counts);
    json_decref(counts);
    if (all != NULL && held > 0)
        json_object_set_new(all, "held", money(held));
    if (all != NULL && st->is_over)
        json_object_set_new(all, "exit_code", json_integer(st->exit_code));
    if (all != NULL && w->n > 0)
        json_object_set_new(all, "workflows",
                            bats_workflows_json(w->list, w->n));
    if (all != NULL && options != NULL)
        json_object_set(all, "options", options);
    return bats_look_json(all, JSON_INDENT(2), err);
}

static void print_clusters(const struct bats_view_status *st)
{
    static const char *const head[] = {
        "cluster", "charge",  "machines", "held",   "lost",
        "windows", "charged", "done",     "failed", "mean"};
    struct bats_table table = {.n_rows = 0};
    char text[BATS_UNITS_TEXT];
    bool guessed = false;

    bats_table_head(&table, head, sizeof head / sizeof head[0]);
    for (size_t i = 0; i < st->n_clusters; i++) {
        const struct bats_view_cluster *c = &st->clusters[i];
        size_t row = i + 1;
        bats_table_set(&table, row, 0, "%s", c->name);
        bats_table_set(&table, row, 1, "%s",
                       bats_money_format(text, c->charge));
        bats_table_set(&table, row, 2, "%" PRId64, c->machines);
        bats_table_set(&table, row, 3, "%" PRId64, c->held);
        bats_table_set(&table, row, 4, "%" PRId64, c->lost);
        bats_table_set(&table, row, 5, "%" PRId64, c->windows);
        bats_table_set(&table, row, 6, "%s",
                       bats_money_format(text, c->charged));
        bats_table_set(&table, row, 7, "%" PRId64, c->done);
        bats_table_set(&table, row, 8, "%" PRId64, c->failed);
        bool guess = c->mean_runtime > 0 && c->done == 0;
        guessed = guessed || guess;
        bats_table_set(&table, row, 9, "%s%s", guess ? BATS_WORDS_GUESS : "",
                       c->mean_runtime > 0
                           ? bats_duration_format(text, c->mean_runtime)
                           : "-");
    }
    bats_table_print(stdout, &table);
    if (guessed)
        fputs(BATS_WORDS_GUESSED, stdout);
}

static void print_options(const json_t *options)
{
    char *run = json_dumps(json_object_get(options, "run"), 0);
    char *text = run != NULL ? bats_options_given(BATS_VERB_RUN, run) : NULL;

    if (text != NULL && text[0] != '\0') {
        fputs("options   ", stdout);
        bats_words_wrap(stdout, text, 10, 10, 80);
    }
    free(text);
    free(run);
}

/* Only the run itself knows what is held. */
static bats_money held_now(struct bats_view *view, bool is_live)
{
    json_t *live;
    if (!is_live || bats_live_find(bats_view_path(view), &live) < 0)
        return 0;
    bats_money held = bats_live_held(live);
    json_decref(live);
    return held;
}

static void print_text(const struct bats_view_status *st, bats_money held,
                       const struct workflows *w, const json_t *options)
{
    char text[PHRASE], budget[PHRASE], time[BATS_UNITS_TEXT], when[64];
    char kept[PHRASE] = "", cut[64];
    time_t started = (time_t)(st->started_us / 1000000);
    struct tm tm;

    localtime_r(&started, &tm);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    bats_words_line(stdout, "%s: %s", st->bag,
                    bats_look_state(text, sizeof text, st));
    printf("session   %" PRId64 ", begun %s, %s of virtual time\n",
           st->sessions, when, bats_words_moment(time, st->last));
    printf("tasks     %" PRId64 ": %" PRId64 " done, %" PRId64
           " failed, %" PRId64 " running, %" PRId64 " pending",
           st->tasks, st->done, st->failed, st->running, st->pending);
    if (st->skipped > 0)
        printf(", %" PRId64 " skipped", st->skipped);
    if (st->removed > 0)
        printf("; %" PRId64 " no longer in the bag", st->removed);
    if (st->preempted > 0)
        printf("; %s cut off",
               bats_words_count(cut, sizeof cut, (uint64_t)st->preempted,
                                "execution"));
    putchar('\n');
    if (held > 0)
        snprintf(kept, sizeof kept, ", %s held for what runs",
                 bats_money_format(time, held));
    bats_words_line(
        stdout,
        "charged   %s of %s%s, windows of %s, policy %s, "
        "seed %" PRIu64,
        bats_words_money(text, sizeof text, st->charged, ""),
        bats_words_money(budget, sizeof budget, st->budget, st->currency),
        kept,
        bats_duration_format(time, st->window), st->policy, st->seed);
    print_options(options);
    putchar('\n');
    print_clusters(st);
    bats_workflows_print(stdout, w->list, w->n, BATS_TABLE_ROWS - 1);
}

static int show(struct bats_view *view, const struct bats_settings *set,
                struct bats_error *err)
{
    struct bats_view_status status;
    struct workflows w;
    json_t *options;
    int rc = bats_recorded_status(view, &status, &options, err);

    if (rc == 0 && set->left) {
        printf("%" PRId64 "\n", bats_look_left(&status));
        json_decref(options);
        return 0;
    }
    if (rc == 0)
        rc = bats_workflows_read(view, status.is_live, &w.list, &w.n, NULL,
                                 err);
    if (rc < 0) {
        json_decref(options);
        return rc;
    }
    if (set->json)
        rc = print_json(&status, held_now(view, status.is_live), &w, options,
                        err);
    else
        print_text(&status, held_now(view, status.is_live), &w, options);
    free(w.list);
    json_decref(options);
    return rc;
}

int cmd_status(int argc, char **argv)
{
    return bats_look(BATS_VERB_STATUS, argc, argv, show);
}
