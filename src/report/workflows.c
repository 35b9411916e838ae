#include "report/workflows.h"

#include <stdlib.h>
#include <string.h>

#include "bats/status.h"
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

/* Time of its end, or BATS_NEVER if tasks are open or skipped. */
static bats_time end_of(const struct bats_purse_status *w)
{
    return w->skipped > 0 ? BATS_NEVER : w->ended;
}

/* A deadline missed by less than this fraction may still be met. */
#define ROUGHLY 0.01

bool bats_workflows_is_late(const struct bats_purse_status *w)
{
    return w->deadline > 0 && w->left > 0 &&
           (double)w->soonest > (1 + ROUGHLY) * (double)w->deadline;
}

/* Columns for the objects of bats_workflows_json. */
static const struct bats_column columns[] = {
    {"workflow", "name", BATS_FIGURE_NAME, NULL, false},
    {"done", "tasks_done", BATS_FIGURE_OF, "tasks", false},
    {"failed", "tasks_failed", BATS_FIGURE_TEXT, NULL, false},
    {"skipped", "tasks_skipped", BATS_FIGURE_TEXT, NULL, false},
    {"unpaid", "tasks_unpaid", BATS_FIGURE_TEXT, NULL, false},
    {"charged", "charged", BATS_FIGURE_TEXT, NULL, false},
    {"held", "held", BATS_FIGURE_TEXT, NULL, true},
    {"budget", "budget", BATS_FIGURE_TEXT, NULL, false},
    {"left", "left", BATS_FIGURE_TEXT, NULL, false},
    {"end", "end_s", BATS_FIGURE_DURATION, NULL, false},
    {"deadline", "deadline_s", BATS_FIGURE_LATE, "late", false},
    {0},
};

void bats_workflows_print(FILE *out, const struct bats_purse_status *list,
                          size_t n, size_t most)
{
    struct bats_table t = {0};
    if (n == 0)
        return;
    json_t *rows = bats_workflows_json(list, n);
    bats_table_fill(&t, columns, rows, most);
    bats_table_first(out, &t, (uint32_t)n, (uint32_t)most);
    json_decref(rows);
}

json_t *bats_workflows_json(const struct bats_purse_status *list, size_t n)
{
    json_t *all = json_array();
    int bad = all == NULL;
    for (size_t i = 0; i < n; i++) {
        const struct bats_purse_status *w = &list[i];
        bats_money left = w->budget == BATS_UNLIMITED ? BATS_UNLIMITED
                                                      : w->budget - w->charged;
        bad |= json_array_append_new(
            all,
            json_pack(
                "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o,"
                " s:o, s:o, s:o, s:b}",
                "name", bats_json_text(w->name), "tasks",
                (json_int_t)w->done + w->failed + w->skipped + w->left,
                "tasks_done", (json_int_t)w->done, "tasks_failed",
                (json_int_t)w->failed, "tasks_skipped", (json_int_t)w->skipped,
                "tasks_unpaid", (json_int_t)w->unpaid, "tasks_left",
                (json_int_t)w->left, "budget", bats_json_money(w->budget),
                "charged", bats_json_money(w->charged), "held",
                bats_json_money(w->held), "left", bats_json_money(left),
                "end_s",
                bats_json_seconds(end_of(w) < BATS_NEVER, (double)end_of(w)),
                "deadline_s",
                bats_json_seconds(w->deadline > 0, (double)w->deadline),
                "soonest_s",
                bats_json_seconds(w->soonest > 0, (double)w->soonest), "late",
                bats_workflows_is_late(w)));
    }
    return bats_json_whole(all, bad);
}
