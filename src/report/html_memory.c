/* html_memory: the memory that tasks were given, and what they used. See
 * html.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "record/read/history.h"
#include "report/html.h"
#include "report/words.h"

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The sizes of the results of a cluster, sorted; returns how many are known. */
static size_t collect(const struct bats_run_history *h, uint32_t cluster,
                      int64_t *kib)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n_spans; i++) {
        const struct bats_history_span *s = &h->spans[i];
        if (s->outcome == 0 && s->max_rss_kib > 0 &&
            h->machines[s->machine].cluster == cluster)
            kib[n++] = s->max_rss_kib;
    }
    qsort(kib, n, sizeof *kib, by_size);
    return n;
}

static void cell(struct bats_html *html, int64_t kib)
{
    if (kib > 0)
        bats_html_cell(html, "%.1f MiB", (double)kib / 1024);
    else
        bats_html_cell(html, "-");
}

int bats_html_memory(struct bats_html *html, const struct bats_run_history *h,
                     int64_t asked_kib, struct bats_error *err)
{
    int64_t *kib = malloc((h->n_spans + 1) * sizeof *kib);
    bool has_head = false;
    if (kib == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < h->n_clusters; i++) {
        size_t n = collect(h, i, kib);
        if (n == 0)
            continue;
        if (!has_head)
            bats_html_table(html, "Memory of a task, asked and used",
                            "cluster|tasks known|asked for each|used, "
                            "median|90 % used at most|most");
        has_head = true;
        bats_html_row(html);
        bats_html_cell(html, "%s", h->clusters[i]);
        bats_html_cell(html, "%zu", n);
        cell(html, asked_kib);
        cell(html, kib[(n - 1) / 2]);
        cell(html, kib[(n * 9 + 9) / 10 - 1]);
        cell(html, kib[n - 1]);
    }
    if (has_head)
        bats_html_table_end(html);
    free(kib);
    return 0;
}
