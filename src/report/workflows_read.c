/* workflows_read: workflows from a record, also of a running run. See
 * workflows.h. */
#include "report/live.h"
#include "report/workflows.h"

/* Adds figures from a running run's status file. */
static void add_live(struct bats_purse_status *list, uint32_t n,
                     const char *record)
{
    json_t *live;
    if (bats_live_find(record, &live) < 0)
        n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const json_t *w =
            json_array_get(json_object_get(live, "workflows"), i);
        double soonest = json_number_value(json_object_get(w, "soonest_s"));
        if (soonest > 0 && soonest < (double)BATS_LONGEST / BATS_SECOND)
            list[i].soonest = (bats_time)(soonest * BATS_SECOND);
    }
    json_decref(live);
}

int bats_workflows_read(struct bats_view *view, bool is_live,
                        struct bats_purse_status **list, uint32_t *n,
                        uint16_t **of, struct bats_error *err)
{
    int rc = bats_view_workflows(view, list, n, of, err);
    if (rc == 0 && is_live && *n > 0)
        add_live(*list, *n, bats_view_path(view));
    return rc;
}
