/* merge: several workflows as one, for a run of all of them. See workflow.h. */
#include <stdlib.h>

#include "input/workflow/workflow.h"

static int take_tasks(struct bats_workflow *to, const struct bats_workflow *w,
                      struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < w->n; i++) {
        const struct bats_workflow_task *t = &w->tasks[i];
        rc = bats_workflow_add(
            to, NULL,
            t->command == BATS_NO_COMMAND ? NULL : bats_workflow_rule(w, i),
            t->runtime, bats_names_text(&w->categories, t->category), t->line,
            err);
        if (rc == 0)
            to->tasks[to->n - 1].need = t->need;
    }
    return rc;
}

static int take_edges(struct bats_workflow *to, uint32_t first,
                      const struct bats_workflow *w, struct bats_error *err)
{
    const struct bats_graph *g = &w->graph;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < w->n_uses; i++)
        rc = bats_workflow_use(to, first + w->uses[i].task,
                               bats_names_text(&w->files, w->uses[i].file),
                               w->uses[i].writes, err);
    for (uint32_t i = 0; i < w->n; i++)
        for (uint64_t k = g->first[i]; rc == 0 && k < g->first[i + 1]; k++)
            rc = bats_workflow_edge(to, first + i, first + g->child[k], err);
    return rc;
}

/* Workflows that run together must not make or read each other's files: the
 * order would be undefined. */
static int check_files(const struct bats_workflow *w, uint32_t n_parts,
                       struct bats_error *err)
{
    int rc = 0;
    uint32_t *maker = malloc((w->files.n + 1) * sizeof *maker);
    if (!maker)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < w->files.n; i++)
        maker[i] = n_parts;
    for (size_t i = 0; i < w->n_uses; i++)
        if (w->uses[i].writes)
            maker[w->uses[i].file] = w->tasks[w->uses[i].task].part;
    for (size_t i = 0; rc == 0 && i < w->n_uses; i++) {
        const struct bats_workflow_use *u = &w->uses[i];
        uint32_t part = w->tasks[u->task].part, other = maker[u->file];
        if (other != n_parts && other != part)
            rc = bats_refuse(
                err,
                "%.100s makes '%.60s', which %.100s %s: these two cannot run "
                "at the same time",
                w->parts[other], bats_names_text(&w->files, u->file),
                w->parts[part], u->writes ? "makes, too" : "reads");
    }
    free(maker);
    return rc;
}

int bats_workflow_merge(const char *name, const struct bats_workflow *parts,
                        uint32_t n_parts, struct bats_workflow *w,
                        struct bats_error *err)
{
    int rc = 0;
    *w = (struct bats_workflow){.path = name,
                                .parts = calloc(n_parts, sizeof *w->parts)};
    if (!w->parts)
        return bats_no_memory(err);
    for (uint32_t i = 0; rc == 0 && i < n_parts; i++) {
        uint32_t first = w->n;
        w->parts[i] = parts[i].path;
        w->is_measured |= parts[i].is_measured;
        rc = take_tasks(w, &parts[i], err);
        for (uint32_t k = first; k < w->n; k++)
            w->tasks[k].part = i;
        if (rc == 0)
            rc = take_edges(w, first, &parts[i], err);
    }
    if (rc == 0)
        rc = check_files(w, n_parts, err);
    return rc < 0 ? rc : bats_workflow_finish(w, err);
}
