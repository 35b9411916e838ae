/* status: the verb status. Shows how far a run is, and what it has cost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/frame.h"
#include "cli/look.h"
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

static json_t *to_json(const struct bats_view_status *st,
                       const struct workflows *w, json_t *options)
{
    char state[PHRASE];
    json_t *all = json_pack(
        "{s:o, s:o, s:b, s:b, s:I, s:f, s:f, s:o, s:I, s:o, s:o, s:o}", "bag",
        bats_json_text(st->bag), "state",
        bats_json_text(bats_look_state(state, sizeof state, st)), "live",
        st->is_live, "over", st->is_over, "sessions", (json_int_t)st->sessions,
        "started_unix", (double)st->started_us / 1e6, "time_s",
        (double)st->last / 1e6, "policy", bats_json_text(st->policy), "seed",
        (json_int_t)st->seed, "budget", bats_json_money(st->budget), "charged",
        bats_json_money(st->charged), "currency",
        bats_json_text(st->currency));
    json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "tasks",
        (json_int_t)st->tasks, "done", (json_int_t)st->done, "failed",
        (json_int_t)st->failed, "running", (json_int_t)st->running, "pending",
        (json_int_t)st->pending, "left", (json_int_t)bats_look_left(st),
        "skipped", (json_int_t)st->skipped, "removed", (json_int_t)st->removed,
        "preempted", (json_int_t)st->preempted, "clusters",
        bats_recorded_clusters(st));

    json_object_update(all, counts);
    json_decref(counts);
    if (all != NULL && st->held > 0)
        json_object_set_new(all, "held", bats_json_money(st->held));
    if (all != NULL && st->is_over)
        json_object_set_new(all, "exit_code", json_integer(st->exit_code));
    if (all != NULL && w->n > 0)
        json_object_set_new(all, "workflows",
                            bats_workflows_json(w->list, w->n));
    if (all != NULL && options != NULL)
        json_object_set(all, "options", options);
    return all;
}

static void print_clusters(const struct bats_view_status *st)
{
    static const struct bats_column columns[] = {
        {"cluster", "name", BATS_FIGURE_TEXT, NULL, false},
        {"charge", "charge", BATS_FIGURE_TEXT, NULL, false},
        {"machines", "machines", BATS_FIGURE_TEXT, NULL, false},
        {"held", "held", BATS_FIGURE_TEXT, NULL, false},
        {"lost", "lost", BATS_FIGURE_TEXT, NULL, false},
        {"windows", "windows", BATS_FIGURE_TEXT, NULL, false},
        {"charged", "charged", BATS_FIGURE_TEXT, NULL, false},
        {"done", "done", BATS_FIGURE_TEXT, NULL, false},
        {"failed", "failed", BATS_FIGURE_TEXT, NULL, false},
        {"mean", "mean_runtime_s", BATS_FIGURE_GUESS, "is_guess", false},
        {0},
    };
    struct bats_table table = {.n_rows = 0};
    json_t *clusters = bats_recorded_clusters(st);
    bool guessed = false;
    size_t i;
    json_t *c;

    bats_sheet_table(&table, columns, clusters, BATS_TABLE_ROWS - 1);
    bats_table_print(stdout, &table);
    json_array_foreach(clusters, i, c) guessed |=
        json_is_true(json_object_get(c, "is_guess"));
    if (guessed)
        fputs(BATS_WORDS_GUESSED, stdout);
    json_decref(clusters);
}

static void print_options(const json_t *options)
{
    char *text = bats_options_given(json_object_get(options, "run"));

    if (text != NULL && text[0] != '\0') {
        fputs("options   ", stdout);
        bats_words_wrap(stdout, text, 10, 10, 80);
    }
    free(text);
}

static void print_text(const struct bats_view_status *st,
                       const struct workflows *w, const json_t *options)
{
    char text[PHRASE];
    char kept[2 * PHRASE] = "";
    bats_words_line(stdout, "%s: %s", st->bag,
                    bats_look_state(text, sizeof text, st));
    printf("session   %" PRId64 ", begun %s, %s of virtual time\n",
           st->sessions, bats_words_clock(st->started_us).s,
           bats_words_moment(st->last).s);
    printf("tasks     %" PRId64 ": %" PRId64 " done, %" PRId64
           " failed, %" PRId64 " running, %" PRId64 " pending",
           st->tasks, st->done, st->failed, st->running, st->pending);
    if (st->skipped > 0)
        printf(", %" PRId64 " skipped", st->skipped);
    if (st->removed > 0)
        printf("; %" PRId64 " no longer in the bag", st->removed);
    if (st->preempted > 0)
        printf("; %s cut off",
               bats_words_count((uint64_t)st->preempted, "execution").s);
    putchar('\n');
    if (st->held > 0)
        snprintf(kept, sizeof kept, ", %s held for what runs",
                 bats_words_amount(st->held).s);
    bats_words_line(stdout,
                    "charged   %s of %s%s, windows of %s, policy %s, "
                    "seed %" PRIu64,
                    bats_words_money(st->charged, "").s,
                    bats_words_money(st->budget, st->currency).s, kept,
                    bats_words_duration(st->window).s, st->policy, st->seed);
    print_options(options);
    putchar('\n');
    print_clusters(st);
    bats_workflows_print(stdout, w->list, w->n, BATS_TABLE_ROWS - 1);
}

static int read_status(struct bats_view *view, struct bats_view_status *status,
                       struct workflows *w, json_t **options,
                       struct bats_error *err)
{
    int rc = bats_recorded_status(view, status, options, err);
    if (rc == 0)
        rc = bats_workflows_read(view, status->is_live, &w->list, &w->n, NULL,
                                 err);
    if (rc < 0)
        json_decref(*options);
    return rc;
}

int bats_status_json(struct bats_view *view, json_t **json,
                     struct bats_error *err)
{
    struct bats_view_status status;
    struct workflows w;
    json_t *options;
    int rc = read_status(view, &status, &w, &options, err);

    if (rc < 0)
        return rc;
    *json = to_json(&status, &w, options);
    free(w.list);
    json_decref(options);
    return *json != NULL ? 0 : bats_no_memory(err);
}

int cmd_status(struct bats_view *view, const struct bats_settings *set,
               struct bats_error *err)
{
    struct bats_view_status status;
    struct workflows w;
    json_t *options;
    int rc = read_status(view, &status, &w, &options, err);

    if (rc < 0)
        return rc;
    if (set->left)
        printf("%" PRId64 "\n", bats_look_left(&status));
    else if (set->json)
        rc =
            bats_look_json(to_json(&status, &w, options), JSON_INDENT(2), err);
    else
        print_text(&status, &w, options);
    free(w.list);
    json_decref(options);
    return rc;
}
