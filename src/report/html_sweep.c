/* html_sweep: the parameters of a sweep against runtime. See html.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "record/read/results.h"
#include "report/html.h"
#include "report/words.h"

static void write_value(struct bats_html *h, const struct bats_view_value *v)
{
    double n = (double)v->n_done;
    const double times[] = {v->wall_us / n, v->longest_us, v->wall_us};
    const double costs[] = {v->cost / n, v->cost};

    bats_html_row(h);
    bats_html_cell(h, "%s", v->name);
    bats_html_code(h, v->value);
    bats_html_cell(h, "%" PRId64, v->n);
    bats_html_cell(h, "%" PRId64, v->failed);
    if (v->n_done == 0) {
        for (int i = 0; i < 6; i++)
            bats_html_cell(h, "-");
        return;
    }
    for (int i = 0; i < 3; i++)
        bats_html_cell(h, "%s", bats_words_duration((bats_time)times[i]).s);
    for (int i = 0; i < 2; i++)
        bats_html_cell(h, "%.4g", costs[i] / (double)BATS_UNIT);
    bats_html_kib(h, v->max_rss_kib);
}

int bats_html_sweep(struct bats_html *h, struct bats_view *view,
                    struct bats_error *err)
{
    struct bats_view_value *list;
    struct bats_texts texts;
    size_t n;
    int64_t n_hidden;
    int rc = bats_view_values(view, &list, &n, &texts, &n_hidden, err);

    if (rc == 0 && n > 0) {
        bats_html_section(h, "Parameters", "parameters");
        bats_html_table(h,
                        "Tasks by the value of each parameter; real time of "
                        "those that were done, and the charge for it",
                        "parameter|<value|tasks|failed|mean time|longest|time "
                        "in all|mean cost|cost in all|most memory");
        for (size_t i = 0; i < n; i++)
            write_value(h, &list[i]);
        bats_html_table_end(h);
        if (n_hidden > 0)
            bats_html_note(h, "%" PRId64 " further values are not listed.",
                           n_hidden);
    }
    bats_texts_release(&texts);
    free(list);
    return rc;
}
