/* html_memory: requested and used memory of tasks. See html.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "record/read/history.h"
#include "report/html.h"
#include "report/words.h"

#define LISTED 50

/* ---- asked ---- */

static int64_t integer(const json_t *object, const char *key)
{
    int64_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? n : 0;
}

int bats_html_asked_init(struct bats_html_asked *asked, const json_t *run,
                         int64_t n_tasks, struct bats_error *err)
{
    const json_t *list = json_object_get(run, "task_memory_kib");
    int64_t bytes = integer(run, "memory");
    *asked = (struct bats_html_asked){
        .each = bytes > 0 ? (bytes - 1) / 1024 + 1 : integer(run, "memory_kib")};
    if (!json_is_array(list) || n_tasks < 1)
        return 0;
    asked->by_task = calloc((size_t)n_tasks, sizeof *asked->by_task);
    if (asked->by_task == NULL)
        return bats_no_memory(err);
    asked->n = n_tasks;
    int64_t task = 0;
    for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
        int64_t kib = json_integer_value(json_array_get(list, i));
        int64_t n = json_integer_value(json_array_get(list, i + 1));
        for (; n > 0 && task < n_tasks; n--)
            asked->by_task[task++] = kib;
    }
    return 0;
}

void bats_html_asked_release(struct bats_html_asked *asked)
{
    free(asked->by_task);
}

int64_t bats_html_asked_kib(const struct bats_html_asked *asked, int64_t number)
{
    bool says = number >= 1 && number <= asked->n &&
                asked->by_task[number - 1] > 0;
    return says ? asked->by_task[number - 1] : asked->each;
}

/* ---- asked and used ---- */

/* A result with known memory. */
struct use {
    uint32_t cluster;
    int64_t asked, used; /* KiB; asked 0: no request */
};

/* Groups tasks by cluster and request; sorts each group by memory used. */
static int compare(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    if (a->cluster != b->cluster)
        return a->cluster < b->cluster ? -1 : 1;
    if (a->asked != b->asked)
        return a->asked < b->asked ? -1 : 1;
    return (a->used > b->used) - (a->used < b->used);
}

static size_t collect(const struct bats_run_history *h,
                      const struct bats_html_asked *asked, struct use *list)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n_spans; i++) {
        const struct bats_history_span *s = &h->spans[i];
        if (s->outcome == 0 && s->max_rss_kib > 0)
            list[n++] = (struct use){h->machines[s->machine].cluster,
                                     bats_html_asked_kib(asked, s->task),
                                     s->max_rss_kib};
    }
    qsort(list, n, sizeof *list, compare);
    return n;
}

void bats_html_kib(struct bats_html *html, int64_t kib)
{
    if (kib > 0)
        bats_html_cell(html, "%.1f MiB", (double)kib / 1024);
    else
        bats_html_cell(html, "-");
}

/* Writes n uses of one cluster with the same request. */
static void write_group(struct bats_html *html, const char *cluster,
                        const struct use *list, size_t n)
{
    size_t more = 0;
    for (size_t i = 0; i < n; i++)
        more += list[i].asked > 0 && list[i].used > list[i].asked;
    bats_html_row(html);
    bats_html_cell(html, "%s", cluster);
    bats_html_cell(html, "%zu", n);
    bats_html_kib(html, list[0].asked);
    bats_html_kib(html, list[(n - 1) / 2].used);
    bats_html_kib(html, list[(n * 9 + 9) / 10 - 1].used);
    bats_html_kib(html, list[n - 1].used);
    bats_html_cell(html, "%zu", more);
}

int bats_html_memory(struct bats_html *html, const struct bats_run_history *h,
                     const struct bats_html_asked *asked,
                     struct bats_error *err)
{
    struct use *list = malloc((h->n_spans + 1) * sizeof *list);
    if (list == NULL)
        return bats_no_memory(err);
    size_t n = collect(h, asked, list), groups = 0;
    if (n > 0)
        bats_html_table(html, "Memory of a task, asked and used",
                        "cluster|tasks known|asked for each|used, median|"
                        "90 % used at most|most|used more than asked");
    for (size_t i = 0, first = 0; i < n; first = i) {
        while (++i < n && list[i].cluster == list[first].cluster &&
               list[i].asked == list[first].asked)
            ;
        if (groups++ < LISTED)
            write_group(html, h->clusters[list[first].cluster], &list[first],
                        i - first);
    }
    if (n > 0)
        bats_html_table_end(html);
    if (groups > LISTED)
        bats_html_note(html, "%zu more are not listed.", groups - LISTED);
    free(list);
    return 0;
}
