/*
 * sizes: `tasks --sizes`: the memory and time that tasks requested and used,
 * and what to request, by class and request, of tasks that are done.
 *
 * A task takes a share of its machine: its share of cores or of memory,
 * whichever is larger. The request for memory is the cheapest one, with what is
 * tried again (--retry-memory) counted (bats_size_best); what it saves is of
 * what the machines of these tasks charged. If memory did not limit the number
 * of tasks at a time (the record has no needs), or nothing cheaper is known, it
 * is a twentieth more than any task has used. So is that for time, which costs
 * nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "history/moments.h"
#include "report/table.h"
#include "report/words.h"
#include "util/grow.h"
#include "util/json.h"

#define ROWS 100 /* at most, for people */
#define FIGURES 5

enum resource { MEMORY, TIME, RESOURCES };

struct use {
    const char *class;
    int64_t asked[RESOURCES]; /* KiB, and microseconds; 0: no request */
    int64_t used[RESOURCES];
    uint32_t cores;
    double cost; /* of one slot for the runtime of the task, millionths */
};

struct sizes {
    struct use *list;
    size_t n, room;
    struct bats_known_needs needs;
    int64_t asked;       /* KiB for each; 0: none */
    int64_t *task_asked; /* KiB, by number - 1; or NULL */
    bats_time limit;     /* of each; 0: none */
    double slots, kib;   /* mean of the machines; 0: not recorded */
    double factor;       /* --retry-memory of the run, or the usual one */
    double time_scale;
};

/* ---- the record ---- */

static double stock_at(const struct sizes *z, size_t machine, size_t k)
{
    return json_number_value(
        json_array_get(json_array_get(z->needs.stocks, machine), k));
}

static void read_options(struct sizes *z, const struct bats_look *l)
{
    const json_t *run = json_object_get(l->options, "run");
    const json_t *engine = json_object_get(l->options, "engine");
    z->needs = bats_known_needs(l);
    z->asked = json_integer_value(json_object_get(run, "memory_kib"));
    z->task_asked = bats_known_expand(json_object_get(run, "task_memory_kib"),
                                      z->needs.n_tasks);
    z->limit = json_integer_value(json_object_get(engine, "timeout_us"));
    z->time_scale = l->status.time_scale;
    const char *factor = json_string_value(
        json_object_get(json_object_get(run, "given"), "retry-memory"));
    z->factor = factor != NULL ? strtod(factor, NULL) : BATS_SIZE_FACTOR;
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
        need = (struct bats_need){.cores = 1,
                                  .memory_kib =
                                      z->task_asked != NULL &&
                                              z->task_asked[t->number - 1] > 0
                                          ? z->task_asked[t->number - 1]
                                          : z->asked};
    if (!bats_grow(&z->list, &z->room, z->n + 1, sizeof *z->list))
        bats_have(NULL);
    bats_time limit = need.limit > 0 ? need.limit : z->limit;
    z->list[z->n++] = (struct use){
        .class = class != NULL ? class : "-",
        .asked = {need.memory_kib, llround((double)limit / z->time_scale)},
        .used = {t->max_rss_kib, t->wall_us},
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
        add(z, &t);
}

/* ---- groups: equal class and request ---- */

static int by_size(const void *a, const void *b, void *resource)
{
    const struct use *x = a, *y = b;
    int k = *(const int *)resource, order = strcmp(x->class, y->class);
    if (order == 0)
        order = (x->asked[k] > y->asked[k]) - (x->asked[k] < y->asked[k]);
    return order != 0 ? order
                      : (x->used[k] > y->used[k]) - (x->used[k] < y->used[k]);
}

static int64_t quantile(const struct use *list, size_t n, int k, double q)
{
    size_t at = (size_t)ceil(q * (double)n);
    return list[at > 0 ? at - 1 : 0].used[k];
}

/* What to request. The search is given the charges for tasks instead of their
 * seconds. */
static struct bats_size_choice choose(const struct sizes *z,
                                      const struct use *list, size_t n, int k)
{
    struct bats_gather gather = {0};
    struct bats_size_choice best = {.kib = 0};
    bool known = k == MEMORY && list->asked[k] > 0 && z->kib > 0;
    for (size_t i = 0; known && i < n; i++)
        if (bats_gather_size(&gather, &(struct bats_past_size){
                                          .asked_kib = list[i].asked[k],
                                          .used_kib = list[i].used[k],
                                          .cores = list[i].cores,
                                          .slots = llround(z->slots),
                                          .node_kib = llround(z->kib),
                                          .tasks = 1,
                                          .seconds = list[i].cost * z->slots,
                                      }) < 0)
            bats_have(NULL);
    if (!known || !bats_size_best(gather.sizes, gather.n_sizes, 0,
                                  list->asked[k], z->factor, &best))
        best = (struct bats_size_choice){
            .kib =
                (int64_t)ceil((double)list[n - 1].used[k] * BATS_SIZE_SPARE)};
    bats_gather_release(&gather);
    return best; /* costs are 0 if it saves nothing */
}

/* ---- the answer ---- */

/* Rounded up: with less a task may be killed. */
static const char *size_text(char text[BATS_UNITS_TEXT], int64_t kib)
{
    double size = (double)kib / (kib >= 1 << 20 ? 1 << 20 : 1 << 10);
    int digits = size < 10;
    snprintf(text, BATS_UNITS_TEXT, "%.*f%c", digits,
             digits ? ceil(size * 10) / 10 : ceil(size),
             kib >= 1 << 20 ? 'G' : 'M');
    return text;
}

struct row {
    const char *class;
    size_t n;
    int64_t figures[FIGURES];
    double again, saves;
};

static struct row find(const struct sizes *z, const struct use *list, size_t n,
                       int k)
{
    struct bats_size_choice best = choose(z, list, n, k);
    return (struct row){
        .class = list->class,
        .n = n,
        .figures = {list->asked[k], quantile(list, n, k, 0.5),
                    quantile(list, n, k, 0.95), list[n - 1].used[k], best.kib},
        .again = best.again,
        .saves = (best.now - best.cost) * (double)n / (double)BATS_UNIT};
}

static void print_json(const struct row *row, int k)
{
    static const char *const keys[] = {"asked", "used_p50", "used_p95",
                                       "used_most", "enough"};
    char key[BATS_UNITS_TEXT];
    json_t *line = json_pack("{s:o, s:I}", "class", bats_json_text(row->class),
                             "tasks", (json_int_t)row->n);
    for (size_t i = 0; i < FIGURES; i++) {
        snprintf(key, sizeof key, "%s_%s", keys[i], k == MEMORY ? "kib" : "s");
        json_object_set_new(line, key,
                            k == MEMORY
                                ? json_integer(row->figures[i])
                                : json_real((double)row->figures[i] / 1e6));
    }
    if (k == MEMORY) {
        json_object_set_new(line, "tried_again", json_real(row->again));
        json_object_set_new(line, "saves", json_real(row->saves));
    }
    bats_look_json(line, JSON_COMPACT);
}

static void set_row(struct bats_table *t, const struct row *row, int k)
{
    char text[BATS_UNITS_TEXT];
    size_t at = t->n_rows;
    bats_table_set(t, at, 0, "%s", row->class);
    bats_table_set(t, at, 1, "%zu", row->n);
    for (size_t i = 0; i < FIGURES; i++)
        bats_table_set(t, at, 2 + i, "%s",
                       row->figures[i] == 0 ? "-"
                       : k == MEMORY
                           ? size_text(text, row->figures[i])
                           : bats_duration_format(text, row->figures[i]));
    if (k == TIME)
        return;
    bats_table_set(t, at, 7, row->again > 0 ? "%.2g %%" : "-",
                   100 * row->again);
    bats_table_set(t, at, 8, row->saves > 0 ? "%.4g" : "-", row->saves);
}

static void answer(struct sizes *z, const struct bats_look *l, int k)
{
    struct bats_table t = {0};
    uint32_t n_groups = 0;
    if (z->n > 0)
        qsort_r(z->list, z->n, sizeof *z->list, by_size, &k);
    bats_table_add(&t, "%s\tused p50\tp95\tmost\task for%s",
                   k == MEMORY ? "memory of\ttasks\tasked"
                               : "time of\ttasks\tlimit",
                   k == MEMORY ? "\ttried again\tsaves" : "");
    for (size_t i = 0, n; i < z->n; i += n) {
        const struct use *list = &z->list[i];
        for (n = 1; i + n < z->n && list[n].asked[k] == list->asked[k] &&
                    strcmp(list[n].class, list->class) == 0;)
            n++;
        size_t known = n;
        for (; known > 0 && list->used[k] <= 0; list++)
            known--;
        if (known == 0)
            continue;
        struct row row = find(z, list, known, k);
        if (l->set->json)
            print_json(&row, k);
        else if (n_groups++ < ROWS)
            set_row(&t, &row, k);
    }
    if (!l->set->json)
        bats_table_first(stdout, &t, n_groups, ROWS);
}

int cmd_sizes(struct bats_look *l)
{
    struct sizes z = {0};
    bats_look_status(l);
    read_options(&z, l);
    collect(l, &z);
    for (int k = 0; k < RESOURCES; k++)
        answer(&z, l, k);
    if (!l->set->json) {
        putchar('\n');
        bats_words_line(stdout,
                        "memory, where it is known, and time of tasks that "
                        "are done, on whatever cluster (--timeout N%% goes by "
                        "the speed of each); saves: %s%sof what their "
                        "machines charged",
                        l->status.currency,
                        l->status.currency[0] != '\0' ? ", " : "");
    }
    free(z.needs.category);
    free(z.task_asked);
    free(z.list);
    return 0;
}
