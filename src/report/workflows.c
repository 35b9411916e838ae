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
    bats_time *soonest = *n > 0 ? calloc(*n, sizeof *soonest) : NULL;
    if (list == NULL || soonest == NULL) {
        free(list);
        list = NULL;
        *n = 0;
    } else {
        bats_sched_purses_soonest(sched, soonest);
    }
    for (uint32_t i = 0; i < *n; i++) {
        bats_sched_purse_status(sched, i, &list[i]);
        list[i].soonest = soonest[i];
    }
    free(soonest);
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

/* A deadline that seems to be missed by so little may still be kept. */
#define ROUGHLY 0.01

bool bats_workflows_is_late(const struct bats_purse_status *w)
{
    return w->deadline > 0 && w->left > 0 &&
           (double)w->soonest > (1 + ROUGHLY) * (double)w->deadline;
}

const char *bats_workflows_deadline(const struct bats_purse_status *w,
                                    char text[BATS_WORKFLOWS_DEADLINE])
{
    char time[BATS_UNITS_TEXT];
    if (w->deadline == 0)
        return "-";
    snprintf(text, BATS_WORKFLOWS_DEADLINE, "%s%s",
             bats_duration_format(time, w->deadline),
             bats_workflows_is_late(w) ? " (late)" : "");
    return text;
}

static void set_sum(struct bats_table *t, size_t row, size_t *column,
                    bats_money amount)
{
    char text[BATS_UNITS_TEXT];
    bats_table_set(t, row, (*column)++, "%s",
                   amount == BATS_UNLIMITED ? "-"
                                            : bats_money_format(text, amount));
}

void bats_workflows_print(FILE *out, const struct bats_purse_status *list,
                          uint32_t n, uint32_t most)
{
    static const char *const head[] = {"workflow", "done",   "failed",
                                       "skipped",  "unpaid", "charged"},
                      *const rest[] = {"budget", "left", "end", "deadline"};
    struct bats_table t = {0};
    char text[BATS_UNITS_TEXT], deadline[BATS_WORKFLOWS_DEADLINE];
    bool holds = false;
    if (n == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        holds |= list[i].held > 0;
    bats_table_head(&t, head, 6);
    if (holds)
        bats_table_set(&t, 0, 6, "held");
    for (size_t k = 0; k < 4; k++)
        bats_table_set(&t, 0, 6 + holds + k, "%s", rest[k]);
    for (uint32_t i = 0; i < n && i < most; i++) {
        const struct bats_purse_status *w = &list[i];
        size_t column = 5, row = i + 1;
        bats_table_name(&t, row, w->name);
        bats_table_set(&t, row, 1, "%" PRIu32 "/%" PRIu32, w->done,
                       bats_workflows_tasks(w));
        bats_table_set(&t, row, 2, "%" PRIu32, w->failed);
        bats_table_set(&t, row, 3, "%" PRIu32, w->skipped);
        bats_table_set(&t, row, 4, "%" PRIu32, w->unpaid);
        set_sum(&t, row, &column, w->charged);
        if (holds)
            set_sum(&t, row, &column, w->held);
        set_sum(&t, row, &column, w->budget);
        set_sum(&t, row, &column, bats_workflows_left(w));
        bats_table_set(&t, row, column, "%s",
                       bats_workflows_end(w) == BATS_NEVER
                           ? "-"
                           : bats_duration_format(text, w->ended));
        bats_table_set(&t, row, column + 1, "%s",
                       bats_workflows_deadline(w, deadline));
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
                      " s:o, s:o, s:o, s:b}",
                      "name", bats_json_text(w->name), "tasks",
                      (json_int_t)bats_workflows_tasks(w), "tasks_done",
                      (json_int_t)w->done, "tasks_failed",
                      (json_int_t)w->failed, "tasks_skipped",
                      (json_int_t)w->skipped, "tasks_unpaid",
                      (json_int_t)w->unpaid, "tasks_left", (json_int_t)w->left,
                      "budget", money(w->budget), "charged", money(w->charged),
                      "held", money(w->held), "left", money(bats_workflows_left(w)), "end_s",
                      seconds(bats_workflows_end(w), BATS_NEVER), "deadline_s",
                      seconds(w->deadline, 0), "soonest_s",
                      seconds(w->soonest, 0), "late",
                      bats_workflows_is_late(w)));
    }
    if (bad == 0)
        return all;
    json_decref(all);
    return NULL;
}
