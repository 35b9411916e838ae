/* See schedules.h. */
#include "report/schedules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/table.h"
#include "report/words.h"
#include "util/json.h"

#define PHRASE 96
#define SENTENCE 512
#define MACHINES 256 /* bytes of a configuration in words */

static const char *currency_of(const struct bats_estimator *e)
{
    return e->currency ? e->currency : "";
}

static const char *machines_text(char *text, size_t size,
                                 const struct bats_estimator *e,
                                 const struct bats_plan *plan)
{
    return bats_words_machines(text, size, e->clusters, e->n_clusters,
                               plan->machines, ", ");
}

/* ---- clusters ---- */

/* (T_m / T_i) (c_m / c_i), m being the cheapest known cluster; 0 if nothing is
 * charged or known. */
static double profitability(const struct bats_estimator *e, size_t i)
{
    size_t m = 0;

    for (size_t j = 1; j < e->n_clusters; j++)
        if (e->runtimes[m].mean == 0 ||
            (e->clusters[j].charge < e->clusters[m].charge &&
             e->runtimes[j].mean > 0))
            m = j;
    if (e->clusters[m].charge == 0 || e->runtimes[i].mean == 0)
        return 0;
    return e->runtimes[m].mean / e->runtimes[i].mean *
           ((double)e->clusters[m].charge / (double)e->clusters[i].charge);
}

/* Puts bounds and size of the sample into columns 3 to 5. */
static void set_bounds(struct bats_table *table, size_t row,
                       const struct bats_runtimes *r)
{
    char text[BATS_UNITS_TEXT];

    if (r->n < 2 || r->is_guess)
        return;
    bats_table_set(table, row, 3, "%s",
                   bats_words_makespan(text, r->mean_low));
    bats_table_set(table, row, 4, "%s",
                   bats_words_makespan(text, r->mean_high));
    bats_table_set(table, row, 5, "%" PRIu32, r->n);
}

void bats_schedules_print_clusters(FILE *out, const struct bats_estimator *e)
{
    struct bats_table table = {.n_rows = 0};
    bool sampled = false, guessed = false;

    for (size_t i = 0; i < e->n_clusters; i++)
        sampled = sampled || e->runtimes[i].n > 1;
    size_t last = sampled ? 6 : 3;
    static const char *const head[] = {"cluster", "charge", "runtime",
                                       "from",    "to",     "tasks"};
    bats_table_head(&table, head, last);
    bats_table_set(&table, 0, last, "profit.");
    bats_table_set(&table, 0, last + 1, "machines");
    for (size_t i = 0; i < e->n_clusters; i++) {
        char text[BATS_UNITS_TEXT];
        size_t row = i + 1;
        double profit = profitability(e, i);
        bats_table_set(&table, row, 0, "%s", e->clusters[i].name);
        bats_table_set(&table, row, 1, "%s",
                       bats_money_format(text, e->clusters[i].charge));
        if (e->runtimes[i].mean > 0)
            bats_table_set(&table, row, 2, "%s%s",
                           e->runtimes[i].is_guess ? BATS_WORDS_GUESS : "",
                           bats_words_makespan(text, e->runtimes[i].mean));
        else
            bats_table_set(&table, row, 2, "-");
        guessed = guessed || e->runtimes[i].is_guess;
        set_bounds(&table, row, &e->runtimes[i]);
        bats_table_set(&table, row, last, profit > 0 ? "%.2f" : "-", profit);
        bats_table_set(&table, row, last + 1, "%" PRIu32, e->clusters[i].max);
    }
    bats_table_print(out, &table);
    if (guessed)
        fputs(BATS_WORDS_GUESSED, out);
}

/* ---- the table ---- */

/* Writes "4", or "4-5" with an upper bound that differs. */
static void set_range(struct bats_table *table, size_t row, size_t column,
                      const char *from, const char *to, bool is_known)
{
    if (is_known && strcmp(from, to) != 0)
        bats_table_set(table, row, column, "%s-%s", from, to);
    else
        bats_table_set(table, row, column, "%s", from);
}

static void set_row(struct bats_table *table, size_t row,
                    const struct bats_estimator *e,
                    const struct bats_schedule *s)
{
    char from[BATS_UNITS_TEXT], to[BATS_UNITS_TEXT];
    char machines[BATS_CLUSTER_NAME];
    const struct bats_plan *p = &s->plan;
    bool sampled = s->is_bounded;

    bats_table_set(table, row, 0, "%zu %s", row, bats_offer_name(s->offer));
    if (!p->feasible) {
        bats_table_set(table, row, 1, "impossible");
        return;
    }
    bats_table_set(table, row, 1, "%s",
                   machines_text(machines, sizeof machines, e, p));
    snprintf(from, sizeof from, "%" PRId64, p->windows);
    snprintf(to, sizeof to, "%" PRId64, s->windows_high);
    set_range(table, row, 2, from, to, sampled);
    bats_words_makespan(from, s->makespan.estimate);
    set_range(table, row, 3, from, bats_words_makespan(to, s->makespan.high),
              sampled);
    bats_money_format(from, p->cost);
    set_range(table, row, 4, from, bats_money_format(to, s->cost_high),
              sampled);
    bats_table_set(table, row, 5, "%" PRId64, s->delta_n);
    if (s->cushion > 0)
        bats_table_set(table, row, 6, "%s",
                       bats_money_format(from, s->cushion));
}

/* "11 tasks may not fit, since no task is divided: ..." */
static void say_delta_n(char *text, size_t size,
                        const struct bats_estimator *e,
                        const struct bats_schedule *s)
{
    char tasks[PHRASE], money[PHRASE], windows[PHRASE], machines[MACHINES];

    bats_words_count(tasks, sizeof tasks, (uint64_t)s->delta_n, "task");
    bats_words_money(money, sizeof money, s->cushion, currency_of(e));
    if (s->refits)
        snprintf(text, size,
                 "%s may not fit, since no task is divided: %s more make it "
                 "%s for %s.",
                 tasks, money,
                 machines_text(machines, sizeof machines, e, &s->raised),
                 bats_words_count(windows, sizeof windows,
                                  (uint64_t)s->raised.windows, "window"));
    else
        snprintf(text, size,
                 "%s may not fit, since no task is divided: %s put aside pay "
                 "for the machines that end them.",
                 tasks, money);
}

/* Prints a sentence about the risks of a schedule, if it has any. */
static void say_risk(FILE *out, size_t row, const struct bats_estimator *e,
                     const struct bats_schedule *s)
{
    char text[SENTENCE], money[PHRASE];
    const struct bats_plan *p = &s->plan;
    bool late = s->windows_high > p->windows && s->is_bounded;
    bool likely =
        s->makespan.estimate > (double)p->windows * (double)e->window;
    int n;

    if (!p->feasible || (s->delta_n <= 0 && !late))
        return;
    n = snprintf(text, sizeof text, "%zu %s: ", row,
                 bats_offer_name(s->offer));
    if (s->delta_n > 0)
        say_delta_n(text + n, sizeof text - (size_t)n, e, s);
    n = (int)strlen(text);
    if (late)
        snprintf(text + n, sizeof text - (size_t)n,
                 "%s%s take %" PRId64 " windows and %s.",
                 s->delta_n > 0 ? " " : "", likely ? "Will probably" : "May",
                 s->windows_high,
                 bats_words_money(money, sizeof money, s->cost_high,
                                  currency_of(e)));
    bats_words_wrap(out, text, 0, 4, 79);
}

void bats_schedules_print(FILE *out, const struct bats_estimator *e,
                          const struct bats_schedule *schedules, size_t n)
{
    static const char *const head[] = {"schedule", "machines", "windows",
                                       "makespan", "cost",     "at risk",
                                       "cushion"};
    struct bats_table table = {.n_rows = 0};
    bool sampled = false;

    bats_table_head(&table, head, sizeof head / sizeof head[0]);
    for (size_t i = 0; i < n; i++) {
        set_row(&table, i + 1, e, &schedules[i]);
        sampled = sampled || schedules[i].is_bounded;
    }
    bats_table_print(out, &table);
    putc('\n', out);
    for (size_t i = 0; i < n; i++)
        say_risk(out, i + 1, e, &schedules[i]);
    double sure = 3 * bats_estimate_confidence(e) - 2;
    if (sampled && sure > 0)
        fprintf(out,
                "The second of two figures is an upper bound that holds in "
                "%.0f %% of all cases.\n",
                100 * sure);
}

/* ---- JSON ---- */

static json_t *money(bats_money amount)
{
    char text[BATS_UNITS_TEXT];

    return json_string(bats_money_format(text, amount));
}

static json_t *configuration(const struct bats_estimator *e,
                             const uint32_t *machines)
{
    json_t *object = json_object();

    for (size_t i = 0; i < e->n_clusters; i++)
        if (json_object_set_new(object, e->clusters[i].name,
                                json_integer(machines[i])) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

json_t *bats_schedules_json(const struct bats_estimator *e,
                            const struct bats_schedule *s)
{
    const struct bats_plan *p = &s->plan;
    bool is = p->feasible, sampled = is && s->is_bounded;
    json_t *object = json_pack(
        "{s:b, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "feasible",
        is, "configuration", configuration(e, p->machines), "windows",
        (json_int_t)p->windows, "makespan_s",
        is ? json_real(s->makespan.estimate / 1e6) : json_null(),
        "makespan_low_s",
        sampled ? json_real(s->makespan.low / 1e6) : json_null(),
        "makespan_high_s",
        sampled ? json_real(s->makespan.high / 1e6) : json_null(), "cost",
        money(p->cost), "cost_high",
        sampled ? money(s->cost_high) : json_null(), "price_per_window",
        money(p->price), "delta_n", (json_int_t)s->delta_n, "cushion",
        money(s->cushion));

    if (object && s->budget != BATS_UNLIMITED)
        json_object_set_new(object, "budget", money(s->budget));
    if (object && s->offer < BATS_OFFERS)
        json_object_set_new(object, "name",
                            json_string(bats_offer_name(s->offer)));
    if (object && s->refits)
        json_object_set_new(object, "with_cushion",
                            configuration(e, s->raised.machines));
    return object;
}

json_t *bats_schedules_json_list(const struct bats_estimator *e,
                                 const struct bats_schedule *schedules,
                                 size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(list,
                                  bats_schedules_json(e, &schedules[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* ---- the frontier ---- */

static double makespan(const struct bats_estimator *e,
                       const struct bats_frontier_point *p)
{
    return (double)e->n_tasks / p->rate * (double)e->window;
}

static void print_text(FILE *out, const struct bats_estimator *e,
                       const struct bats_frontier *f)
{
    fprintf(out, "%12s  %8s  %7s  %s\n", "cost", "makespan", "windows",
            "machines");
    for (size_t i = 0; i < f->n; i++) {
        const struct bats_frontier_point *p = &f->points[i];
        char cost[BATS_UNITS_TEXT], time[BATS_UNITS_TEXT], text[2048];
        fprintf(out, "%12s  %8s  %7" PRId64 "  %s\n",
                bats_money_format(cost, p->cost),
                bats_words_makespan(time, makespan(e, p)), p->windows,
                bats_words_machines(text, sizeof text, e->clusters,
                                    e->n_clusters,
                                    f->machines + i * f->n_clusters, ", "));
    }
}

static void print_csv(FILE *out, const struct bats_estimator *e,
                      const struct bats_frontier *f)
{
    char text[BATS_UNITS_TEXT];

    fputs("cost,makespan_s,windows,price_per_window", out);
    for (size_t i = 0; i < e->n_clusters; i++)
        fprintf(out, ",%s", e->clusters[i].name);
    putc('\n', out);
    for (size_t i = 0; i < f->n; i++) {
        const struct bats_frontier_point *p = &f->points[i];
        fputs(bats_money_format(text, p->cost), out);
        fprintf(out, ",%.6f,%" PRId64 ",%s", makespan(e, p) / 1e6, p->windows,
                bats_money_format(text, p->price));
        for (size_t k = 0; k < f->n_clusters; k++)
            fprintf(out, ",%" PRIu32, f->machines[i * f->n_clusters + k]);
        putc('\n', out);
    }
}

/* Prints point by point, because there may be many. */
static int print_json(FILE *out, const struct bats_estimator *e,
                      const struct bats_frontier *f)
{
    fprintf(out, "{\"complete\": %s, \"frontier\": [",
            f->complete ? "true" : "false");
    for (size_t i = 0; i < f->n; i++) {
        const struct bats_frontier_point *p = &f->points[i];
        json_t *object = json_pack(
            "{s:o, s:f, s:I, s:o, s:o}", "cost", money(p->cost), "makespan_s",
            makespan(e, p) / 1e6, "windows", (json_int_t)p->windows,
            "price_per_window", money(p->price), "configuration",
            configuration(e, f->machines + i * f->n_clusters));
        fputs(i > 0 ? ",\n" : "\n", out);
        int bad = json_dumpf(object, out, BATS_JSON_SAFE);
        json_decref(object);
        if (bad != 0)
            return -1;
    }
    fputs("\n]}\n", out);
    return 0;
}

int bats_schedules_print_frontier(FILE *out, const struct bats_estimator *e,
                                  const struct bats_frontier *frontier,
                                  enum bats_frontier_format format)
{
    if (format == BATS_FRONTIER_JSON)
        return print_json(out, e, frontier);
    if (format == BATS_FRONTIER_CSV)
        print_csv(out, e, frontier);
    else
        print_text(out, e, frontier);
    return 0;
}
