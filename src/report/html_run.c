/* html_run: the page of a recorded run. See html.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/read/history.h"
#include "record/read/view.h"
#include "report/causes.h"
#include "report/html.h"
#include "report/recorded.h"
#include "report/series.h"
#include "report/words.h"
#include "report/workflows.h"
#include "util/json.h"

#define LISTED 50 /* tasks in a table */
#define COMMANDS_MAX                                                          \
    2000 /* the chart has commands for up to this many
                             tasks */

struct page {
    struct bats_html html;
    struct bats_view *view;
    struct bats_view_status st;
    struct bats_run_history history;
    const char *command; /* or NULL */
    const struct bats_causes *causes;
    const struct bats_strategies *strategies; /* or NULL */
    json_t *options;                          /* of the last session */
    struct bats_html_asked asked;
};

/* Charge of all machines of the last session per window; 0 if windows are not
 * charged, as the ledger then has the bill. */
static bats_money rate(const struct page *p)
{
    bats_money sum = 0;

    for (size_t i = 0; i < p->st.n_clusters; i++)
        sum += p->st.clusters[i].charge * p->st.clusters[i].machines;
    return p->history.terms.in_windows ? sum : 0;
}

static bats_money reserved(const struct page *p)
{
    const struct bats_run_history *h = &p->history;
    return h->window > 0 ? rate(p) * ((h->end + h->window - 1) / h->window)
                         : 0;
}

/* ---- the parts ---- */

static const char *how_it_ended(const struct bats_view_status *st)
{
    static const char *const words[][2] = {
        {"all done", "The run is over"},
        {"budget", "The budget did not suffice for all tasks"},
        {"stopped", "The run was stopped"},
        {"no machines", "No machine was left"},
        {"halted", "The run was halted, as --halt asked"},
        {"deadline", "The time limit was reached"},
        {"sampled", "The sample was taken"},
    };

    if (!st->is_over)
        return st->is_live ? "The run goes on" : "The run was interrupted";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], st->finish) == 0)
            return words[i][1];
    return st->finish;
}

static void write_lead(struct page *p)
{
    const struct bats_view_status *st = &p->st;

    bats_html_lead(&p->html, "%s%s: %" PRId64 " of %s done in %s.",
                   how_it_ended(st),
                   st->failed > 0 ? ", some tasks failed" : "", st->done,
                   bats_words_count((uint64_t)st->tasks, "task").s,
                   bats_words_moment(p->history.end).s);
}

/* Writes when the run took place, and its command. */
static int write_when(struct page *p, struct bats_error *err)
{
    const struct bats_view_status *st = &p->st;
    struct bats_html *h = &p->html;
    int64_t elapsed_us, started_us;
    int rc = bats_view_elapsed(p->view, &elapsed_us, &started_us, err);

    if (rc < 0)
        return rc;
    double took = st->time_scale > 0 ? (double)st->last / st->time_scale : 0;
    int64_t until = st->started_us + (took < 1e18 ? (int64_t)took : 0);
    bats_html_note(h, "Started %s, %s %s.", bats_words_clock(started_us).s,
                   !st->is_over && st->is_live ? "written" : "ended",
                   bats_words_clock(until).s);
    if (p->command != NULL) {
        fputs("<pre>", h->out);
        bats_html_text(h, p->command);
        fputs("</pre>\n", h->out);
    }
    return 0;
}

/* Writes what the history expected on the cluster with most results. */
static void write_believed(struct page *p)
{
    const struct bats_view_status *st = &p->st;
    const json_t *prior =
        json_object_get(json_object_get(p->options, "engine"), "prior");
    const json_t *level = json_object_get(prior, "level");
    char more[512];
    size_t most = 0;
    for (size_t i = 1; i < st->n_clusters; i++)
        most = st->clusters[i].done > st->clusters[most].done ? i : most;
    double mean = json_number_value(
        json_array_get(json_object_get(prior, "mean_us"), most));
    double own =
        json_number_value(json_array_get(json_object_get(prior, "own"), most));
    if (!json_is_number(level) || st->clusters[most].done == 0 || mean <= 0)
        return;
    double factor = exp(1.28 * hypot(json_number_value(level), own));
    struct bats_phrase took =
        bats_words_makespan((double)st->clusters[most].mean_runtime);
    snprintf(more, sizeof more, "on %s; the history expected %s, %s to %s",
             st->clusters[most].name, bats_words_makespan(mean).s,
             bats_words_makespan(mean / factor).s,
             bats_words_makespan(mean * factor).s);
    bats_html_fact(&p->html, "A task took", took.s, more);
}

static void write_facts(struct page *p)
{
    const struct bats_view_status *st = &p->st;
    struct bats_html *h = &p->html;
    char value[192], more[256];
    struct bats_series_use use[BATS_CLUSTERS_MAX];
    double paid = 0, used = 0;

    bats_series_use(&p->history, use);
    for (size_t i = 0; i < p->history.n_clusters; i++) {
        paid += use[i].paid;
        used += use[i].used;
    }
    bats_html_facts(h);
    snprintf(value, sizeof value, "%" PRId64 " of %" PRId64, st->done,
             st->tasks);
    snprintf(more, sizeof more, "%" PRId64 " failed, %" PRId64 " left",
             st->failed, st->running + st->pending);
    bats_html_fact(h, "Tasks done", value, more);
    snprintf(more, sizeof more, "budget %s", bats_words_amount(st->budget).s);
    bats_html_fact(h, "Charged", bats_words_money(st->charged, st->currency).s,
                   more);
    if (reserved(p) > 0)
        bats_html_fact(h, "Reserved",
                       bats_words_money(reserved(p), st->currency).s,
                       "all machines held from start to end");
    write_believed(p);
    bats_html_fact(h, "Makespan", bats_words_moment(p->history.end).s,
                   "virtual time, all sessions");
    snprintf(value, sizeof value, "%.0f%%",
             paid > 0 ? 100 * fmin(used / paid, 1) : 0.0);
    if (paid > 0 && !p->history.terms.idle_is_free)
        bats_html_fact(h, "Paid time in use", value,
                       "the rest was paid, and idle");
    snprintf(value, sizeof value, "%" PRId64, st->sessions);
    snprintf(more, sizeof more, "policy %s, window %s, seed %" PRIu64,
             st->policy, bats_words_duration(st->window).s, st->seed);
    bats_html_fact(h, "Sessions", value, more);
    bats_html_facts_end(h);
}

static void write_promise(struct page *p, const char *what, const char *asked,
                          const char *came, bool is_kept)
{
    struct bats_html *h = &p->html;

    bats_html_row(h);
    bats_html_code(h, what);
    bats_html_cell(h, "%s", asked);
    bats_html_cell(h, "%s", came);
    bats_html_code(h, is_kept ? "kept" : "missed");
}

/* A row of the chosen schedule: an estimate, its upper bound, and the
 * result. */
static void write_estimate(struct page *p, const char *schedule,
                           const char *what, const char *estimate,
                           const char *bound, const char *came, bool is_kept)
{
    char name[96], asked[128];
    bool is_range = strcmp(estimate, bound) != 0;

    snprintf(name, sizeof name, "%s: %s, after the choice", schedule, what);
    snprintf(asked, sizeof asked, "%s%s%s", estimate, is_range ? " to " : "",
             is_range ? bound : "");
    write_promise(p, name, asked, came, is_kept);
}

static int64_t integer(const json_t *object, const char *key, int64_t none)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : none;
}

/* The chosen schedule's promised cost and time, counted from the choice. */
static void write_choice(struct page *p, const json_t *promise, bool is_done)
{
    const char *name = json_string_value(json_object_get(promise, "schedule"));
    bats_money cost = integer(promise, "cost", 0);
    bats_money most = integer(promise, "cost_high", cost);
    bats_money charged = p->st.charged - integer(promise, "charged_before", 0);
    int64_t time = integer(promise, "makespan_us", 0);
    int64_t longest = integer(promise, "makespan_high_us", time);
    int64_t took = p->st.last - integer(promise, "chosen_us", 0);

    if (name == NULL || name[0] == '\0')
        name = "schedule";
    write_estimate(p, name, "cost", bats_words_amount(cost).s,
                   bats_words_amount(most).s, bats_words_amount(charged).s,
                   charged <= most);
    write_estimate(p, name, "time", bats_words_makespan((double)time).s,
                   bats_words_makespan((double)longest).s,
                   bats_words_makespan((double)took).s,
                   is_done && took <= longest);
}

/* The limits of the last session, with the results. */
static void write_promises(struct page *p)
{
    const struct bats_view_status *st = &p->st;
    const json_t *engine = json_object_get(p->options, "engine");
    const json_t *promise = json_object_get(p->options, "promise");
    const struct {
        const char *what;
        bats_time limit;
    } times[] = {
        {"all tasks done by",
         json_integer_value(json_object_get(engine, "goal_deadline_us"))},
        {"end, done or not",
         json_integer_value(json_object_get(engine, "deadline_us"))},
    };
    bool has_budget = st->budget != BATS_UNLIMITED;
    bool is_done = strcmp(st->finish, "all done") == 0;

    if (st->is_over && (has_budget || json_is_object(promise) ||
                        times[0].limit + times[1].limit > 0)) {
        bats_html_table(&p->html, "Promises and results",
                        "<promise|limit or estimate|result|"
                        "<outcome");
        if (has_budget)
            write_promise(p, "cost, in all", bats_words_amount(st->budget).s,
                          bats_words_amount(st->charged).s,
                          st->charged <= st->budget);
        for (size_t i = 0; i < 2; i++)
            if (times[i].limit > 0)
                write_promise(
                    p, times[i].what, bats_words_duration(times[i].limit).s,
                    bats_words_moment(st->last).s,
                    st->last <= times[i].limit && (i > 0 || is_done));
        if (json_is_object(promise))
            write_choice(p, promise, is_done);
        bats_html_table_end(&p->html);
    }
}

static void write_clusters(struct page *p)
{
    static const struct bats_column columns[] = {
        {"cluster", "name", BATS_FIGURE_TEXT, NULL, false},
        {"charge", "charge", BATS_FIGURE_TEXT, NULL, false},
        {"machines", "machines", BATS_FIGURE_TEXT, NULL, false},
        {"windows", "windows", BATS_FIGURE_TEXT, NULL, false},
        {"charged", "charged", BATS_FIGURE_TEXT, NULL, false},
        {"done", "done", BATS_FIGURE_TEXT, NULL, false},
        {"failed", "failed", BATS_FIGURE_TEXT, NULL, false},
        {"mean time", "mean_runtime_s", BATS_FIGURE_DURATION, NULL, false},
        {"in use", "in_use", BATS_FIGURE_PERCENT, NULL, false},
        {"idle slot-h", "idle_h", BATS_FIGURE_TENTH, NULL, false},
        {0},
    };
    struct bats_series_use use[BATS_CLUSTERS_MAX];
    json_t *rows = bats_recorded_clusters(&p->st), *row;
    size_t i;

    bats_series_use(&p->history, use);
    json_array_foreach(rows, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        double paid = 0, used = 0;
        for (size_t k = 0; name != NULL && k < p->history.n_clusters; k++)
            if (strcmp(p->history.clusters[k], name) == 0) {
                paid = use[k].paid;
                used = fmin(use[k].used, paid);
            }
        json_object_set_new(row, "in_use",
                            paid > 0 ? json_real(used / paid) : json_null());
        json_object_set_new(row, "idle_h",
                            paid > 0 ? json_real((paid - used) / 3.6e9)
                                     : json_null());
    }
    bats_html_section(&p->html, "Machines", "machines");
    bats_sheet_html(&p->html, "Clusters", columns, rows);
}

static int write_workflows(struct page *p, struct bats_error *err)
{
    struct bats_purse_status *list;
    uint32_t n;
    int rc = bats_workflows_read(p->view, p->st.is_live, &list, &n, NULL, err);
    if (rc == 0 && n > 0)
        bats_sheet_html(&p->html, "Workflows", bats_workflows_columns,
                        bats_workflows_json(list, n));
    free(list);
    return rc;
}

static void write_decisions(struct page *p)
{
    const struct bats_run_history *r = &p->history;
    struct bats_html *h = &p->html;
    size_t skip = r->n_decisions > LISTED ? r->n_decisions - LISTED : 0;

    bats_html_section(h, "Money and decisions", "money");
    bats_html_table(h, skip > 0 ? "The last decisions" : "Decisions",
                    "time|<reason|<machines wanted|windows|tasks left|budget "
                    "left|expected end|expected cost");
    for (size_t i = skip; i < r->n_decisions; i++) {
        const struct bats_history_decision *d = &r->decisions[i];
        bats_html_row(h);
        bats_html_cell(h, "%s", bats_words_moment(d->time).s);
        fputs("<td class=\"text\">", h->out);
        bats_html_textf(h, "%s%s", d->reason,
                        d->feasible ? "" : " (more than the budget can pay)");
        bats_html_words(h, d->machines);
        bats_html_cell(h, "%" PRId64, d->windows);
        bats_html_cell(h, "%" PRId64, d->tasks_left);
        bats_html_cell(h, "%s", bats_words_amount(d->budget_left).s);
        bats_html_cell(h, "%s",
                       d->end > 0 ? bats_words_moment(d->end).s : "-");
        bats_html_cell(h, "%s",
                       d->end > 0 ? bats_words_amount(d->cost).s : "-");
    }
    bats_html_table_end(h);
}

static void write_causes(struct page *p)
{
    struct bats_html *h = &p->html;
    const struct bats_causes *causes = p->causes;

    if (causes->n == 0)
        return;
    bats_html_section(h, "Why tasks failed", NULL);
    bats_html_table(h, "Failed tasks, equal failures together",
                    "tasks|<end|<hosts|first task|<last line on standard "
                    "error");
    for (size_t i = 0; i < causes->n && i < LISTED; i++) {
        const struct bats_cause *c = &causes->list[i];
        bats_html_row(h);
        bats_html_cell(h, "%" PRIu64, c->n);
        bats_html_words(h, bats_words_end(c->exit_status, c->signal).s);
        bats_html_text(h, bats_words_advice(c->exit_status));
        fputs("<td class=\"text\">", h->out);
        for (size_t k = 0; k < c->n_hosts; k++)
            bats_html_textf(h, "%s%s (%" PRIu64 ")", k > 0 ? ", " : "",
                            c->hosts[k].name, c->hosts[k].n);
        bats_html_textf(h, "%s", c->elsewhere > 0 ? ", others" : "");
        bats_html_cell(h, "%" PRId64, c->first);
        bats_html_code(h, c->line);
    }
    bats_html_table_end(h);
}

/* Writes the tasks in a state, or the slowest of all if it is NULL. */
static int write_tasks(struct page *p, const char *state, const char *caption,
                       struct bats_error *err)
{
    struct bats_html *h = &p->html;
    struct bats_view_task t;
    int rc = bats_view_tasks(p->view, state, 0, NULL,
                             state == NULL ? BATS_VIEW_SLOWEST
                                           : BATS_VIEW_BY_NUMBER,
                             state == NULL ? 20 : LISTED, err);

    if (rc == 0)
        bats_html_table(h, caption,
                        "task|tries|<end|real time|memory asked|used|<host|"
                        "<command");
    while (rc == 0 && (rc = bats_view_next_task(p->view, &t, err)) > 0) {
        rc = 0;
        bats_html_row(h);
        bats_html_cell(h, "%" PRId64, t.number);
        bats_html_cell(h, "%" PRId64, t.attempts);
        fputs("<td class=\"text\">", h->out);
        bool bad = t.exit_status != 0 || t.signal != 0;
        bats_html_text(h, bad ? bats_words_end(t.exit_status, t.signal).s
                              : t.state);
        bats_html_cell(
            h, "%s", t.wall_us >= 0 ? bats_words_duration(t.wall_us).s : "-");
        bats_html_kib(h, bats_html_asked_kib(&p->asked, t.number));
        bats_html_kib(h, t.max_rss_kib);
        bats_html_words(h, t.host);
        bats_html_code(h, t.command);
    }
    if (rc == 0)
        bats_html_table_end(h);
    return rc;
}

static void write_replicas(struct page *p)
{
    struct bats_html *h = &p->html;
    const struct bats_run_history *r = &p->history;
    size_t n = 0;

    for (size_t i = 0; i < r->n_spans; i++) {
        const struct bats_history_span *s = &r->spans[i];
        if (s->outcome != 3 && s->outcome != 5)
            continue;
        if (n == 0)
            bats_html_table(h,
                            "Executions beside which another replica gave "
                            "the result",
                            "task|<machine|from|to");
        if (++n > LISTED)
            continue;
        bats_html_row(h);
        bats_html_cell(h, "%" PRId64, s->task);
        bats_html_words(h, r->machines[s->machine].name);
        bats_html_cell(h, "%s", bats_words_moment(s->begin).s);
        bats_html_cell(h, "%s", bats_words_moment(s->end).s);
    }
    if (n > 0)
        bats_html_table_end(h);
    if (n > LISTED)
        bats_html_note(h, "%zu more are not listed.", n - LISTED);
}

static int write_tables(struct page *p, struct bats_error *err)
{
    struct bats_html *h = &p->html;

    bats_html_section(h, "Tasks", NULL);
    int rc = write_tasks(p, NULL, "The slowest tasks", err);
    if (rc == 0 && p->st.failed > 0)
        rc = write_tasks(p, "failed",
                         p->st.failed > LISTED ? "The first failed tasks"
                                               : "Failed tasks",
                         err);
    write_replicas(p);
    return rc < 0 ? rc : bats_html_memory(h, &p->history, &p->asked, err);
}

/* ---- the data ---- */

static json_t *status_json(const struct page *p)
{
    const struct bats_view_status *st = &p->st;
    json_t *budget = st->budget == BATS_UNLIMITED
                         ? json_null()
                         : json_string(bats_words_amount(st->budget).s);

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:s, s:o}", "tasks",
                     (json_int_t)st->tasks, "done", (json_int_t)st->done,
                     "failed", (json_int_t)st->failed, "running",
                     (json_int_t)st->running, "pending",
                     (json_int_t)st->pending, "budget", budget, "charged",
                     bats_words_amount(st->charged).s, "currency",
                     bats_json_text(st->currency));
}

static json_t *decisions_json(const struct page *p)
{
    json_t *list = json_array();
    size_t n = p->history.n_decisions;

    for (size_t i = n > 4000 ? n - 4000 : 0; i < n; i++) {
        const struct bats_history_decision *d = &p->history.decisions[i];
        json_array_append_new(list, json_pack("[f, o, o]",
                                              (double)d->time / BATS_SECOND,
                                              bats_json_text(d->reason),
                                              bats_json_text(d->machines)));
    }
    return list;
}

/* One entry per task, to search the chart and colour it by sweep parameters;
 * null if there are too many. */
static int texts_json(struct page *p, json_t **commands, json_t **parameters,
                      struct bats_error *err)
{
    struct bats_view_task t;
    char key[32];
    int rc;

    *commands = json_null();
    *parameters = json_null();
    if (p->st.tasks > COMMANDS_MAX)
        return 0;
    *commands = json_object();
    *parameters = json_object();
    rc = bats_view_tasks(p->view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);
    while (rc == 0 && (rc = bats_view_next_task(p->view, &t, err)) > 0) {
        snprintf(key, sizeof key, "%" PRId64, t.number);
        json_object_set_new(*commands, key, bats_json_text(t.command));
        if (t.parameters[0] != '\0')
            json_object_set_new(*parameters, key,
                                json_loads(t.parameters, 0, NULL));
        rc = 0;
    }
    return rc;
}

static int write_end(struct page *p, struct bats_error *err)
{
    json_t *commands, *parameters, *clusters = json_array();
    json_t *charges = json_array();
    int rc = texts_json(p, &commands, &parameters, err);

    if (rc < 0) {
        json_decref(commands);
        json_decref(parameters);
        json_decref(clusters);
        json_decref(charges);
        return rc;
    }
    for (size_t i = 0; i < p->history.n_clusters; i++) {
        json_array_append_new(clusters,
                              bats_json_text(p->history.clusters[i]));
        json_array_append_new(
            charges, json_real((double)p->history.charge[i] / BATS_UNIT));
    }
    json_t *data = json_pack(
        "{s:s, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "kind", "run", "end", (double)p->history.end / BATS_SECOND, "window",
        (double)p->history.window / BATS_SECOND, "status", status_json(p),
        "clusters", clusters, "charges", charges, "money",
        bats_series_money(&p->history, rate(p)), "decisions",
        decisions_json(p), "machines", bats_series_machines(&p->history),
        "runtimes", bats_series_runtimes(&p->history), "gantt",
        bats_series_gantt(&p->history), "commands", commands, "parameters",
        parameters, "strategies",
        p->strategies != NULL ? bats_html_strategies_data(p->strategies)
                              : json_null());
    return bats_html_end(&p->html, data, err);
}

static int write_page(struct page *p, FILE *out, struct bats_error *err)
{
    int rc = bats_html_begin(&p->html, out, "", p->st.bag, err);
    if (rc < 0)
        return rc;
    write_lead(p);
    rc = write_when(p, err);
    if (rc < 0)
        return rc;
    write_facts(p);
    write_promises(p);
    write_causes(p);
    write_decisions(p);
    rc = write_workflows(p, err);
    if (rc < 0)
        return rc;
    write_clusters(p);
    if (p->strategies != NULL)
        bats_html_strategies_part(&p->html, p->strategies);
    bats_html_section(&p->html, "Gantt chart", "gantt");
    bats_html_section(&p->html, "Runtimes", "runtimes");
    rc = bats_html_graph(&p->html, p->view, &p->history, err);
    if (rc == 0 && p->history.is_sweep)
        rc = bats_html_sweep(&p->html, p->view, err);
    if (rc == 0)
        rc = write_tables(p, err);
    return rc < 0 ? rc : write_end(p, err);
}

int bats_html_run(FILE *out, struct bats_view *view, const char *command,
                  const struct bats_causes *causes,
                  const struct bats_strategies *strategies,
                  struct bats_error *err)
{
    struct page p = {.view = view,
                     .command = command,
                     .causes = causes,
                     .strategies = strategies};
    int rc = bats_recorded_status(view, &p.st, &p.options, err);

    if (rc == 0)
        rc = bats_run_history_read(view, &p.history, err);
    if (rc == 0)
        rc = bats_html_asked_init(&p.asked, json_object_get(p.options, "run"),
                                  p.st.tasks, err);
    if (rc == 0)
        rc = write_page(&p, out, err);
    bats_html_asked_release(&p.asked);
    json_decref(p.options);
    bats_run_history_release(&p.history);
    return rc;
}
