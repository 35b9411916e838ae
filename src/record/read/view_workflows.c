/* view_workflows: charges and tasks of a run's workflows. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"

struct work {
    struct bats_view *view;
    struct bats_purse_status *list;
    uint32_t n;    /* in the list */
    uint32_t next; /* filled so far */
    char *names;   /* next name, stored behind the list in the same block */
    uint16_t *of;  /* each task's workflow, by number - 1 */
    int64_t n_tasks;
};

static int take_size(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct work *w = context;
    int64_t n = sqlite3_column_int64(s, 0);
    w->n_tasks = sqlite3_column_int64(s, 2);
    if (n > BATS_PURSES_MAX || w->n_tasks < 0 || w->n_tasks > UINT32_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is damaged: it has too many workflows",
                              w->view->path);
    size_t bytes = (size_t)n * sizeof *w->list;
    w->n = (uint32_t)n;
    w->list =
        n > 0 ? calloc(1, bytes + (size_t)sqlite3_column_int64(s, 1)) : NULL;
    w->names = w->list != NULL ? (char *)w->list + bytes : NULL;
    w->of = n > 0 ? calloc((size_t)w->n_tasks + 1, sizeof *w->of) : NULL;
    return n == 0 || (w->list != NULL && w->of != NULL) ? 0
                                                        : bats_no_memory(err);
}

static int take_account(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct work *w = context;
    (void)err;
    if (w->next == w->n)
        return 0;
    w->list[w->next++] = (struct bats_purse_status){
        .name = strcpy(w->names, bats_view_text(s, 0)),
        .budget = sqlite3_column_type(s, 1) == SQLITE_NULL
                      ? BATS_UNLIMITED
                      : sqlite3_column_int64(s, 1),
        .charged = sqlite3_column_int64(s, 2),
        .held = w->view->is_live ? sqlite3_column_int64(s, 3) : 0,
        .deadline = sqlite3_column_int64(s, 4),
        .ended = BATS_NEVER};
    w->names += strlen(w->names) + 1;
    return 0;
}

/* From [workflow, tasks, workflow, tasks, ...]. */
static int take_tasks(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct work *w = context;
    int64_t at = 0;
    (void)err;
    json_t *runs = json_loads(bats_view_text(s, 0), 0, NULL);
    for (size_t i = 0; i < json_array_size(runs); i += 2) {
        json_int_t of = json_integer_value(json_array_get(runs, i));
        json_int_t n = json_integer_value(json_array_get(runs, i + 1));
        for (; n > 0 && at < w->n_tasks; n--)
            w->of[at++] = of >= 0 && of < w->n ? (uint16_t)of : 0;
    }
    json_decref(runs);
    return 0;
}

/* Workflow of the task whose number is in column 0, or NULL. */
static struct bats_purse_status *workflow_of(struct work *w, sqlite3_stmt *s)
{
    int64_t number = sqlite3_column_int64(s, 0);
    return number >= 1 && number <= w->n_tasks ? &w->list[w->of[number - 1]]
                                               : NULL;
}

static int take_state(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_purse_status *p = workflow_of(context, s);
    const char *state = bats_view_text(s, 1);
    bool is_skipped = strcmp(state, "skipped") == 0;
    (void)err;
    if (p == NULL)
        return 0;
    p->done += strcmp(state, "done") == 0;
    p->failed += strcmp(state, "failed") == 0;
    p->skipped += is_skipped;
    p->unpaid += is_skipped && strcmp(bats_view_text(s, 2), "unpaid") == 0;
    p->left += strcmp(state, "pending") == 0 || strcmp(state, "running") == 0;
    return 0;
}

static int take_end(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_purse_status *p = workflow_of(context, s);
    bats_time ended = sqlite3_column_int64(s, 1);
    (void)err;
    if (p != NULL && p->left == 0 &&
        (p->ended == BATS_NEVER || p->ended < ended))
        p->ended = ended;
    return 0;
}

#define LAST "(SELECT max(id) FROM session)"

static int read_all(struct bats_view *v, void *context, struct bats_error *err)
{
    static const struct {
        const char *sql;
        bats_part_row *take;
    } steps[] = {
        {"SELECT count(a.id), total(length(CAST(a.name AS BLOB)) + 1),"
         " n_tasks FROM session s LEFT JOIN account a ON a.session = s.id"
         " AND a.id > 0 WHERE s.id = " LAST,
         take_size},
        {"SELECT name, budget, before + charged, held, deadline_us"
         " FROM account WHERE session = " LAST " AND id > 0 ORDER BY id",
         take_account},
        {"SELECT json_extract(options, '$.engine.workflow') FROM session"
         " WHERE id = " LAST,
         take_tasks},
        {"SELECT number, state, reason FROM tasks WHERE state <> 'removed'",
         take_state},
        {"SELECT t.number, e.ended_us FROM execution e"
         " JOIN task t ON t.id = e.task"
         " WHERE e.session = " LAST " AND e.outcome = 0",
         take_end},
    };
    struct work *w = context;
    free(w->list); /* of an earlier try */
    free(w->of);
    *w = (struct work){.view = v};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof *steps; i++)
        if (i == 0 || w->n > 0)
            rc = bats_part_each(v, steps[i].sql, steps[i].take, w, err);
    return rc;
}

int bats_view_workflows(struct bats_view *v, struct bats_purse_status **list,
                        uint32_t *n, uint16_t **of, struct bats_error *err)
{
    struct work w = {0};
    int rc = bats_part_take(v, read_all, &w, err);
    if (rc < 0 || of == NULL) {
        free(w.of);
        w.of = NULL;
    }
    if (rc < 0) {
        free(w.list);
        w.list = NULL;
    }
    *list = w.list;
    *n = rc < 0 ? 0 : w.n;
    if (of != NULL)
        *of = w.of;
    return rc;
}
