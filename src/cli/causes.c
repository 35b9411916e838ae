#include "cli/causes.h"

int bats_look_causes(struct bats_view *view, struct bats_causes *causes,
                     struct bats_error *err)
{
    struct bats_view_task t;
    const char *text;
    size_t n;
    int rc =
        bats_view_tasks(view, "failed", 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);

    while (rc == 0 && (rc = bats_view_next_task(view, &t, err)) > 0) {
        rc = bats_view_stderr(view, t.id, &text, &n, err);
        if (rc >= 0)
            bats_causes_add(causes, t.number, t.exit_status, t.signal, t.host,
                            text, n);
        rc = rc < 0 ? rc : 0;
    }
    bats_causes_sort(causes);
    return rc;
}
