/*
 * sizes: `tasks --sizes`: what tasks requested and used, and what a smaller
 * request would have saved. By class and requested memory, for tasks that are
 * done.
 *
 * A task takes a share of its machine: its share of cores or of memory,
 * whichever is larger. A request for the most memory that any task of its kind
 * has used, plus a twentieth, would take a smaller share. The saving is the
 * difference of the shares times what its machine charged in that time. If
 * memory did not limit the number of tasks at a time (the record has no
 * needs), there is no saving.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "report/table.h"
#include "report/words.h"
#include "util/grow.h"
#include "util/json.h"

#define SPARE 1.05

struct use {
    const char *class;
    int64_t asked, used; /* KiB; asked 0: no request */
    double cores, cost;  /* of one slot for the runtime of the task,
                          * millionths */
};

struct sizes {
    struct use *list;
    size_t n, room;
    struct bats_known_needs needs;
    int64_t asked;       /* KiB for each; 0: none */
    int64_t *task_asked; /* KiB, by number - 1; or NULL */
    double slots, kib;   /* mean of the machines; 0: not recorded */
};

static int64_t quantile(const struct use *list, size_t n, double q)
{
    size_t at = (size_t)ceil(q * (double)n);
    return list[at > 0 ? at - 1 : 0].used;
}

/* ---- the record ---- */

static int64_t value_of(const int64_t *values, int64_t number, int64_t none)
{
    return values != NULL && values[number - 1] > 0 ? values[number - 1]
                                                    : none;
}

static double stock_at(const struct sizes *z, size_t machine, size_t k)
{
    return json_number_value(
        json_array_get(json_array_get(z->needs.stocks, machine), k));
}

static void read_options(struct sizes *z, const struct bats_look *l)
{
    const json_t *run = json_object_get(l->options, "run");
    z->needs = bats_known_needs(l);
    z->asked = json_integer_value(json_object_get(run, "memory_kib"));
    z->task_asked = bats_known_expand(json_object_get(run, "task_memory_kib"),
                                      z->needs.n_tasks);
    size_t n = json_array_size(z->needs.stocks);
    for (size_t i = 0; i < n; i++) {
        z->slots += stock_at(z, i, 0) / (double)n;
        z->kib += stock_at(z, i, 2) / (double)n;
    }
}

static void add(struct sizes *z, const struct bats_view_task *t)
{
    struct bats_need need;
    const char *class = json_string_value(json_array_get(
        z->needs.names, bats_known_category(&z->needs, t->number)));
    if (t->number < 1 || t->number > z->needs.n_tasks)
        return; /* the record is damaged */
    if (!bats_known_need(&z->needs, t->number, &need))
        need = (struct bats_need){
            .cores = 1,
            .memory_kib = value_of(z->task_asked, t->number, z->asked)};
    if (!bats_grow(&z->list, &z->room, z->n + 1, sizeof *z->list))
        bats_have(NULL);
    z->list[z->n++] = (struct use){
        .class = class != NULL ? class : "-",
        .asked = need.memory_kib,
        .used = t->max_rss_kib,
        .cores = need.cores,
        .cost = t->cost,
    };
}

static void collect(struct bats_look *l, struct sizes *z)
{
    struct bats_view_task t;
    bats_must(bats_view_tasks(l->view, "done", 0, l->set->where,
                              BATS_VIEW_BY_NUMBER, 0, &bats_why));
    while (bats_must(bats_view_next_task(l->view, &t, &bats_why)) > 0)
        if (t.max_rss_kib > 0)
            add(z, &t);
}

static int by_size(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    int order = strcmp(x->class, y->class);
    return order != 0             ? order
           : x->asked != y->asked ? (x->asked > y->asked ? 1 : -1)
                                  : (x->used > y->used) - (x->used < y->used);
}

/* ---- the answer ---- */

static double share(const struct sizes *z, double cores, int64_t kib)
{
    return fmax(cores / z->slots, (double)kib / z->kib);
}

static double saved(const struct sizes *z, const struct use *list, size_t n,
                    int64_t enough)
{
    double sum = 0;
    for (size_t i = 0; z->kib > 0 && enough < list->asked && i < n; i++)
        sum += list[i].cost * z->slots *
               (share(z, list[i].cores, list[i].asked) -
                share(z, list[i].cores, enough));
    return sum;
}

static const char *size_text(char text[BATS_UNITS_TEXT], int64_t kib)
{
    if (kib == 0)
        return "-";
    snprintf(text, BATS_UNITS_TEXT,
             kib >= 10 << 20   ? "%.0fG"
             : kib >= 1 << 20  ? "%.1fG"
             : kib >= 10 << 10 ? "%.0fM"
                               : "%.1fM",
             (double)kib / (kib >= 1 << 20 ? 1 << 20 : 1 << 10));
    return text;
}

static void print_json(const struct use *list, size_t n, int64_t enough,
                       double money)
{
    bats_look_json(
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "class",
                  bats_json_text(list->class), "tasks", (json_int_t)n,
                  "asked_kib", (json_int_t)list->asked, "used_p50_kib",
                  (json_int_t)quantile(list, n, 0.5), "used_p95_kib",
                  (json_int_t)quantile(list, n, 0.95), "used_most_kib",
                  (json_int_t)list[n - 1].used, "enough_kib",
                  (json_int_t)enough, "saves", money),
        JSON_COMPACT);
}

static void set_row(struct bats_table *t, const struct use *list, size_t n,
                    int64_t enough, double money)
{
    char text[BATS_UNITS_TEXT];
    size_t row = t->n_rows;
    bats_table_set(t, row, 0, "%s", list->class);
    bats_table_set(t, row, 1, "%zu", n);
    const int64_t kib[] = {list->asked, quantile(list, n, 0.5),
                           quantile(list, n, 0.95), list[n - 1].used, enough};
    for (size_t k = 0; k < 5; k++)
        bats_table_set(t, row, 2 + k, "%s", size_text(text, kib[k]));
    if (money > 0)
        bats_table_set(t, row, 7, "%.4g", money);
    else
        bats_table_set(t, row, 7, "-");
}

static void answer(struct sizes *z, const struct bats_look *l)
{
    struct bats_table t = {0};
    if (z->n > 0)
        qsort(z->list, z->n, sizeof *z->list, by_size);
    bats_table_add(&t, "class\ttasks\tasked\tused p50\tp95\tmost\task for\t"
                       "saves");
    for (size_t i = 0, n; i < z->n; i += n) {
        const struct use *list = &z->list[i];
        for (n = 1; i + n < z->n && list[n].asked == list->asked &&
                    strcmp(list[n].class, list->class) == 0;)
            n++;
        int64_t enough = (int64_t)ceil((double)list[n - 1].used * SPARE);
        double money = saved(z, list, n, enough) / (double)BATS_UNIT;
        if (l->set->json)
            print_json(list, n, enough, money);
        else if (t.n_rows < BATS_TABLE_ROWS)
            set_row(&t, list, n, enough, money);
    }
    if (l->set->json)
        return;
    bats_table_print(stdout, &t);
    putchar('\n');
    bats_words_line(stdout,
                    "memory of tasks that are done, where it is known; "
                    "saves: %s, of what their machines charged",
                    l->status.currency);
    putchar('\n');
}

int cmd_sizes(struct bats_look *l)
{
    struct sizes z = {0};
    bats_look_status(l);
    read_options(&z, l);
    collect(l, &z);
    answer(&z, l);
    free(z.needs.category);
    free(z.task_asked);
    free(z.list);
    return 0;
}
