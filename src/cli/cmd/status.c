/* status: the verb status. Shows how far a run is, and what it has cost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "report/recorded.h"
#include "report/table.h"
#include "report/words.h"
#include "report/workflows.h"
#include "util/json.h"

struct workflows {
    struct bats_purse_status *list;
    size_t n;
};

static json_t *to_json(const struct bats_look *l, const struct workflows *w)
{
    const struct bats_view_status *st = &l->status;
    json_t *all = json_pack(
        "{s:o, s:o, s:b, s:b, s:I, s:f, s:f, s:o, s:I, s:o, s:o, s:o,"
        " s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
        "bag", bats_json_text(st->bag), "state",
        bats_json_text(bats_look_state(st).s), "live", st->is_live, "over",
        st->is_over, "sessions", (json_int_t)st->sessions, "started_unix",
        (double)st->started_us / 1e6, "time_s", (double)st->last / 1e6,
        "policy", bats_json_text(st->policy), "seed", (json_int_t)st->seed,
        "budget", bats_json_money(st->budget), "charged",
        bats_json_money(st->charged), "currency", bats_json_text(st->currency),
        "tasks", (json_int_t)st->tasks, "done", (json_int_t)st->done, "failed",
        (json_int_t)st->failed, "running", (json_int_t)st->running, "pending",
        (json_int_t)st->pending, "left", (json_int_t)bats_look_left(st),
        "skipped", (json_int_t)st->skipped, "removed", (json_int_t)st->removed,
        "preempted", (json_int_t)st->preempted, "clusters",
        bats_recorded_clusters(st));
    if (st->held > 0)
        json_object_set_new(all, "held", bats_json_money(st->held));
    if (st->is_over)
        json_object_set_new(all, "exit_code", json_integer(st->exit_code));
    if (w->n > 0)
        json_object_set_new(all, "workflows",
                            bats_workflows_json(w->list, w->n));
    json_object_set(all, "options", l->options);
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
        BATS_TABLE_ENERGY,
        {0},
    };
    struct bats_table table = {.n_rows = 0};
    json_t *clusters = bats_recorded_clusters(st);
    bool guessed = false;
    size_t i;
    json_t *c;
    bats_table_fill(&table, columns, clusters, BATS_TABLE_ROWS - 1);
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

static void print_text(const struct bats_look *l, const struct workflows *w)
{
    const struct bats_view_status *st = &l->status;
    bats_words_line(stdout, "%s: %s", st->bag, bats_look_state(st).s);
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
    bats_words_line(stdout,
                    "charged   %s of %s%s%s%s, windows of %s, policy %s, "
                    "seed %" PRIu64,
                    bats_words_money(st->charged, "").s,
                    bats_words_money(st->budget, st->currency).s,
                    st->held > 0 ? ", " : "",
                    st->held > 0 ? bats_words_amount(st->held).s : "",
                    st->held > 0 ? " held for what runs" : "",
                    bats_words_duration(st->window).s, st->policy, st->seed);
    print_options(l->options);
    putchar('\n');
    print_clusters(st);
    bats_workflows_print(stdout, w->list, w->n, BATS_TABLE_ROWS - 1);
}

static struct workflows read_all(struct bats_look *l)
{
    struct workflows w;
    bats_look_status(l);
    bats_must(bats_view_workflows(l->view, &w.list, &w.n, &bats_why));
    return w;
}

json_t *bats_status_json(struct bats_look *l)
{
    struct workflows w = read_all(l);
    bats_must(bats_view_needs(l->view, l->options, &bats_why));
    json_t *json = to_json(l, &w);
    free(w.list);
    return bats_have(json);
}

int cmd_status(struct bats_look *l)
{
    if (l->set->left) {
        bats_look_status(l);
        printf("%" PRId64 "\n", bats_look_left(&l->status));
        return 0;
    }
    struct workflows w = read_all(l);
    if (l->set->json)
        bats_look_json(to_json(l, &w), JSON_INDENT(2));
    else
        print_text(l, &w);
    free(w.list);
    return 0;
}
