/* html_sweep: the parameters of a sweep against runtime. See html.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/history.h"
#include "report/html.h"
#include "report/words.h"
#include "util/grow.h"
#include "util/json.h"

#define VALUES_MAX 200 /* pairs of a parameter and a value in the table */

struct value {
    char *name, *text;
    bool is_number;
    double number;
    int64_t n, failed, timed; /* tasks; those that failed; with a runtime */
    double sum_us, most_us, rss_kib, cost;
};

struct values {
    struct value *list;
    size_t n, capacity;
    int64_t left_out; /* tasks whose value is not in the table */
};

static char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL ? strdup(text)
                        : json_dumps(value, JSON_ENCODE_ANY |
                                                JSON_REAL_PRECISION(6));
}

/* The entry for this value of the parameter `name`; NULL: there are too many,
 * or memory is short. */
static struct value *find(struct values *v, const char *name,
                          const json_t *value)
{
    char *text = text_of(value), *end;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->list[i].name, name) == 0 &&
            strcmp(v->list[i].text, text) == 0) {
            free(text);
            return &v->list[i];
        }
    struct value new = {.name = strdup(name), .text = text};
    if (new.name == NULL || v->n == VALUES_MAX ||
        !bats_grow(&v->list, &v->capacity, v->n + 1, sizeof new)) {
        free(new.name);
        free(text);
        return NULL;
    }
    new.number = strtod(text, &end);
    new.is_number = end != text && *end == '\0';
    v->list[v->n] = new;
    return &v->list[v->n++];
}

/* The cost of the result of each task, by number: its time on its machine, by
 * the charge of a window, as in the view tasks. NULL: no memory. */
static double *costs_of(const struct bats_run_history *h, int64_t n_tasks)
{
    double *cost = calloc((size_t)n_tasks + 1, sizeof *cost);
    for (size_t i = 0; cost != NULL && i < h->n_spans; i++) {
        const struct bats_history_span *s = &h->spans[i];
        const struct bats_history_machine *m = &h->machines[s->machine];
        if (s->outcome == 0 && s->task >= 1 && s->task <= n_tasks)
            cost[s->task] = (double)(s->end - s->begin) / (double)h->window *
                            (double)h->charge[m->cluster] / m->slots;
    }
    return cost;
}

static void add(struct value *value, const struct bats_view_task *t,
                double cost)
{
    value->n++;
    value->failed += strcmp(t->state, "failed") == 0;
    if (strcmp(t->state, "done") != 0 || t->wall_us < 0)
        return;
    value->timed++;
    value->cost += cost;
    value->sum_us += (double)t->wall_us;
    if (value->most_us < (double)t->wall_us)
        value->most_us = (double)t->wall_us;
    if (value->rss_kib < (double)t->max_rss_kib)
        value->rss_kib = (double)t->max_rss_kib;
}

static int collect(struct bats_view *view, struct values *v,
                   const double *cost, int64_t n_tasks,
                   struct bats_error *err)
{
    struct bats_view_task t;
    const char *name;
    json_t *item;
    int rc = bats_view_tasks(view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);

    while (rc == 0 && (rc = bats_view_next_task(view, &t, err)) > 0) {
        rc = 0;
        if (t.parameters[0] == '\0')
            continue;
        json_t *parameters = json_loads(t.parameters, 0, NULL);
        json_object_foreach(parameters, name, item)
        {
            struct value *value = find(v, name, item);
            if (value != NULL)
                add(value, &t, t.number <= n_tasks ? cost[t.number] : 0);
            else
                v->left_out++;
        }
        json_decref(parameters);
    }
    return rc;
}

/* Sorts by parameter, then numbers before words. */
static int by_value(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (order != 0)
        return order;
    if (x->is_number && y->is_number)
        return (x->number > y->number) - (x->number < y->number);
    return strcmp(x->text, y->text);
}

static void write_value(struct bats_html *h, const struct value *v)
{
    const double costs[] = {v->cost / (double)v->timed, v->cost};

    bats_html_row(h);
    bats_html_cell(h, "%s", v->name);
    bats_html_code(h, v->text);
    bats_html_cell(h, "%" PRId64, v->n);
    bats_html_cell(h, "%" PRId64, v->failed);
    if (v->timed == 0) {
        for (int i = 0; i < 6; i++)
            bats_html_cell(h, "-");
        return;
    }
    const double times[] = {v->sum_us / (double)v->timed, v->most_us,
                            v->sum_us};
    for (int i = 0; i < 3; i++)
        bats_html_cell(h, "%s", bats_words_duration((bats_time)times[i]).s);
    for (int i = 0; i < 2; i++)
        bats_html_cell(h, "%.4g", costs[i] / (double)BATS_UNIT);
    bats_html_kib(h, (int64_t)v->rss_kib);
}

int bats_html_sweep(struct bats_html *h, struct bats_view *view,
                    const struct bats_run_history *history,
                    int64_t n_tasks, struct bats_error *err)
{
    struct values v = {0};
    double *cost = costs_of(history, n_tasks);
    int rc = cost != NULL ? collect(view, &v, cost, n_tasks, err)
                          : bats_no_memory(err);

    free(cost);
    if (rc == 0 && v.n > 0) {
        qsort(v.list, v.n, sizeof *v.list, by_value);
        bats_html_section(h, "Parameters", "parameters");
        bats_html_table(h,
                        "Tasks by the value of each parameter; real time of "
                        "those that were done, and the charge for it",
                        "parameter|<value|tasks|failed|mean time|longest|time "
                        "in all|mean cost|cost in all|most memory");
        for (size_t i = 0; i < v.n; i++)
            write_value(h, &v.list[i]);
        bats_html_table_end(h);
        if (v.left_out > 0)
            bats_html_note(h, "%" PRId64 " further values are not listed.",
                           v.left_out);
    }
    for (size_t i = 0; i < v.n; i++) {
        free(v.list[i].name);
        free(v.list[i].text);
    }
    free(v.list);
    return rc;
}
