/* view_workflows: what the workflows of a run were charged, and their tasks. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"

struct work {
    struct bats_purse_status *list;
    uint32_t n;
    uint16_t *of; /* the workflow of a task, by its number - 1 */
    size_t n_tasks;
};

/* The names stand behind the list, in the same memory. */
static bool make_list(struct work *w, const json_t *workflows)
{
    size_t i, bytes = 0;
    json_t *o;
    json_array_foreach(workflows, i, o) bytes +=
        json_string_length(json_object_get(o, "name")) + 1;
    w->n = (uint32_t)i;
    w->list = calloc(1, w->n * sizeof *w->list + bytes);
    char *name = (char *)(w->list + w->n);
    if (w->list == NULL)
        return false;
    json_array_foreach(workflows, i, o)
    {
        const char *text = json_string_value(json_object_get(o, "name"));
        const json_t *budget = json_object_get(o, "budget");
        w->list[i] = (struct bats_purse_status){
            .name = strcpy(name, text != NULL ? text : ""),
            .budget = json_is_integer(budget) ? json_integer_value(budget)
                                              : BATS_UNLIMITED,
            .charged = json_integer_value(json_object_get(o, "charged")),
            .deadline = json_integer_value(json_object_get(o, "deadline_us"))};
        name += strlen(name) + 1;
    }
    return true;
}

/* From [workflow, tasks, workflow, tasks, ...]. */
static bool find_tasks(struct work *w, const json_t *runs, size_t n_tasks)
{
    size_t at = 0;
    w->n_tasks = n_tasks;
    w->of = calloc(n_tasks + 1, sizeof *w->of);
    for (size_t i = 0; w->of != NULL && i < json_array_size(runs); i += 2) {
        json_int_t of = json_integer_value(json_array_get(runs, i));
        json_int_t n = json_integer_value(json_array_get(runs, i + 1));
        for (; n > 0 && at < n_tasks; n--)
            w->of[at++] = of >= 0 && of < w->n ? (uint16_t)of : 0;
    }
    return w->of != NULL;
}

static void count(struct bats_purse_status *p, const struct bats_totals *t,
                  const struct bats_totals_task *task)
{
    enum bats_totals_state state = bats_totals_state(task);
    p->done += state == BATS_TOTALS_DONE;
    p->failed += state == BATS_TOTALS_FAILED;
    p->skipped += state == BATS_TOTALS_SKIPPED;
    p->unpaid += state == BATS_TOTALS_SKIPPED && task->is_unpaid;
    p->left += state == BATS_TOTALS_PENDING || state == BATS_TOTALS_RUNNING;
    if (task->result > 0 && task->session == t->session &&
        (p->ended == BATS_NEVER || task->ended > p->ended))
        p->ended = task->ended;
}

static void count_tasks(struct work *w, const struct bats_totals *t)
{
    for (int64_t id = 1; id <= t->n; id++) {
        const struct bats_totals_task *task = &t->tasks[id];
        if (task->is_known && task->number >= 1 &&
            task->number <= w->n_tasks)
            count(&w->list[w->of[task->number - 1]], t, task);
    }
    for (uint32_t i = 0; i < w->n; i++)
        if (w->list[i].left > 0)
            w->list[i].ended = BATS_NEVER;
}

static int add_shares(struct bats_view *v, struct work *w,
                      struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &v->db,
        "SELECT copy - 1, sum(why) FROM command WHERE type = 'share' AND"
        " session = (SELECT max(id) FROM session) GROUP BY copy",
        &s, err);
    while (rc >= 0 && (rc = bats_db_step(&v->db, s, err)) > 0)
        if (sqlite3_column_int64(s, 0) < w->n)
            w->list[sqlite3_column_int64(s, 0)].charged +=
                sqlite3_column_int64(s, 1);
    sqlite3_finalize(s);
    return rc;
}

/* `engine`: its options. */
static int read_all(struct bats_view *v, struct work *w, const json_t *engine,
                    struct bats_error *err)
{
    const json_t *workflows = json_object_get(engine, "workflows");
    int64_t n;
    if (json_array_size(workflows) == 0)
        return 0;
    int rc = bats_db_integer(
        &v->db, "SELECT n_tasks FROM session ORDER BY id DESC LIMIT 1", &n,
        err);
    if (rc == 0 && (n < 0 || n > UINT32_MAX ||
                    json_array_size(workflows) > BATS_PURSES_MAX))
        return bats_error_set(err, BATS_EINPUT,
                              "%s is damaged: it has too many workflows",
                              v->path);
    if (rc == 0 &&
        (!make_list(w, workflows) ||
         !find_tasks(w, json_object_get(engine, "workflow"), (size_t)n)))
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = bats_totals_look(v, err);
    if (rc < 0)
        return rc;
    count_tasks(w, &v->totals);
    return add_shares(v, w, err);
}

int bats_view_workflows(struct bats_view *v, struct bats_purse_status **list,
                        uint32_t *n, uint16_t **of, struct bats_error *err)
{
    struct work w = {0};
    char *text;
    *list = NULL;
    *n = 0;
    int rc = bats_view_options(v, &text, err);
    if (rc < 0)
        return rc;
    json_t *options = json_loads(text, 0, NULL);
    const json_t *engine = json_object_get(options, "engine");
    free(text);
    rc = read_all(v, &w, engine, err);
    json_decref(options);
    if (rc < 0) {
        free(w.list);
        free(w.of);
        return rc;
    }
    *list = w.list;
    *n = w.n;
    if (of != NULL)
        *of = w.of;
    else
        free(w.of);
    return 0;
}
