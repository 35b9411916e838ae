#include "report/workflows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/table.h"
#include "util/json.h"

struct bats_purse_status *bats_workflows_take(const struct bats_sched *sched,
                                              uint32_t *n)
{
    struct bats_purse_status one, *list;
    for (*n = 0; bats_sched_purse_status(sched, *n, &one);)
        ++*n;
    list = *n > 0 ? calloc(*n, sizeof *list) : NULL;
    if (list == NULL)
        *n = 0;
    for (uint32_t i = 0; i < *n; i++)
        bats_sched_purse_status(sched, i, &list[i]);
    return list;
}

uint32_t bats_workflows_tasks(const struct bats_purse_status *w)
{
    return w->done + w->failed + w->skipped + w->left;
}

bats_money bats_workflows_left(const struct bats_purse_status *w)
{
    return w->budget == BATS_UNLIMITED ? BATS_UNLIMITED
                                       : w->budget - w->charged;
}

bats_time bats_workflows_end(const struct bats_purse_status *w)
{
    return w->skipped > 0 ? BATS_NEVER : w->ended;
}

void bats_workflows_print(FILE *out, const struct bats_purse_status *list,
                          uint32_t n, uint32_t most)
{
    static const char *const head[] = {
        "workflow", "done",   "failed", "skipped", "unpaid",
        "charged",  "budget", "left",   "end",     "deadline"};
    struct bats_table t = {0};
    char text[BATS_UNITS_TEXT];
    if (n == 0)
        return;
    bats_table_head(&t, head, sizeof head / sizeof *head);
    for (uint32_t i = 0; i < n && i < most; i++) {
        const struct bats_purse_status *w = &list[i];
        const bats_money sums[] = {w->charged, w->budget,
                                   bats_workflows_left(w)};
        bats_table_name(&t, i + 1, w->name);
        bats_table_set(&t, i + 1, 1, "%" PRIu32 "/%" PRIu32, w->done,
                       bats_workflows_tasks(w));
        bats_table_set(&t, i + 1, 2, "%" PRIu32, w->failed);
        bats_table_set(&t, i + 1, 3, "%" PRIu32, w->skipped);
        bats_table_set(&t, i + 1, 4, "%" PRIu32, w->unpaid);
        for (size_t k = 0; k < 3; k++)
            bats_table_set(&t, i + 1, 5 + k, "%s",
                           sums[k] == BATS_UNLIMITED
                               ? "-"
                               : bats_money_format(text, sums[k]));
        bats_table_set(&t, i + 1, 8, "%s",
                       bats_workflows_end(w) == BATS_NEVER
                           ? "-"
                           : bats_duration_format(text, w->ended));
        bats_table_set(
            &t, i + 1, 9, "%s",
            w->deadline == 0 ? "-" : bats_duration_format(text, w->deadline));
    }
    bats_table_first(out, &t, n, most);
}

static json_t *money(bats_money amount)
{
    char text[BATS_UNITS_TEXT];
    return amount == BATS_UNLIMITED
               ? json_null()
               : json_string(bats_money_format(text, amount));
}

static json_t *seconds(bats_time time, bats_time none)
{
    return time == none ? json_null() : json_real((double)time / BATS_SECOND);
}

json_t *bats_workflows_json(const struct bats_purse_status *list, uint32_t n)
{
    json_t *all = json_array();
    int bad = all == NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct bats_purse_status *w = &list[i];
        bad |= json_array_append_new(
            all,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o,"
                      " s:o}",
                      "name", bats_json_text(w->name), "tasks",
                      (json_int_t)bats_workflows_tasks(w), "tasks_done",
                      (json_int_t)w->done, "tasks_failed",
                      (json_int_t)w->failed, "tasks_skipped",
                      (json_int_t)w->skipped, "tasks_unpaid",
                      (json_int_t)w->unpaid, "tasks_left", (json_int_t)w->left,
                      "budget", money(w->budget), "charged", money(w->charged),
                      "left", money(bats_workflows_left(w)), "end_s",
                      seconds(bats_workflows_end(w), BATS_NEVER), "deadline_s",
                      seconds(w->deadline, 0)));
    }
    if (bad == 0)
        return all;
    json_decref(all);
    return NULL;
}
