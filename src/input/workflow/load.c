/* load: a workflow of any format, or several as one, and the graph. See
 * workflow.h. */
#include <stdlib.h>
#include <string.h>

#include "bats/rules.h"
#include "input/workflow/workflow.h"

static uint32_t describe(const void *context, uint32_t task, char *text,
                         size_t size)
{
    const struct bats_workflow *w = context;
    bats_workflow_name(w, task, text, size);
    return w->tasks[task].line;
}

static int list_categories(struct bats_workflow *w, struct bats_error *err)
{
    if (w->categories.n > BATS_CATEGORIES_MAX)
        return 0;
    w->category = malloc(w->n * sizeof *w->category);
    w->category_names = malloc(w->categories.n * sizeof *w->category_names);
    if (!w->category || !w->category_names)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < w->n; i++)
        w->category[i] = (uint16_t)w->tasks[i].category;
    for (uint32_t i = 0; i < w->categories.n; i++)
        w->category_names[i] = bats_names_text(&w->categories, i);
    return 0;
}

/* Call when everything is read: lists the categories and makes the graph. */
static int finish(struct bats_workflow *w, struct bats_error *err)
{
    if (w->text.failed || w->edges.failed)
        return bats_no_memory(err);
    int rc = list_categories(w, err);
    if (rc == 0)
        rc = bats_graph_init(&w->graph, w->n, w->n, w->edges.list, w->edges.n,
                             err);
    if (rc == 0)
        rc = bats_dependencies_check(&w->graph, w->path, describe, w, err);
    bats_edges_release(&w->edges);
    return rc;
}

/* Languages that are not read. A bag of their lines would be nonsense. */
static const struct {
    const char *end; /* of the file's name */
    const char *what;
} foreign[] = {{"Makefile", "a Makefile is for make"},
               {"Snakefile", "workflows of Snakemake are not read"},
               {".smk", "workflows of Snakemake are not read"},
               {".nf", "workflows of Nextflow are not read"},
               {".cwl", "workflows in CWL are not read"},
               {".wdl", "workflows in WDL are not read"},
               {".dag", "workflows of DAGMan are not read"},
               {".dax", "workflows in DAX are not read"},
               {".xml", "workflows in DAX are not read"},
               {".jx", "JX of Makeflow is not read"},
               {".yml", "workflows in YAML are not read"},
               {".yaml", "workflows in YAML are not read"}};

/* Why a file of this name is refused; NULL: its language may be read. */
static const char *find_other(const char *name)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (bats_text_ends(name, foreign[i].end))
            return foreign[i].what;
    return NULL;
}

enum bats_workflow_format bats_workflow_format(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (find_other(name))
        return BATS_WORKFLOW_OTHER;
    if (bats_text_ends(name, ".makeflow") || bats_text_ends(name, ".mf") ||
        strcmp(name, "Makeflow") == 0)
        return BATS_WORKFLOW_MAKEFLOW;
    return bats_text_ends(name, ".json") ? BATS_WORKFLOW_JSON
                                         : BATS_WORKFLOW_NONE;
}

static int read_as(enum bats_workflow_format format, struct bats_workflow *w,
                   struct bats_error *err)
{
    if (format == BATS_WORKFLOW_MAKEFLOW)
        return bats_makeflow_read(w, err);
    if (format == BATS_WORKFLOW_JSON)
        return bats_json_read(w, err);
    const char *other = find_other(w->path);
    return bats_error_at(err, w->path, 0,
                         "%s; a workflow is called Makeflow, or ends with "
                         ".makeflow or .json",
                         other ? other : "this is a bag");
}

int bats_workflow_load_as(enum bats_workflow_format format, const char *path,
                          struct bats_workflow *w, struct bats_error *err)
{
    *w = (struct bats_workflow){.path = path};
    int rc = read_as(format, w, err);
    if (rc == 0 && w->n == 0)
        rc = bats_error_at(err, path, 0, "no task in this workflow");
    return rc < 0 ? rc : finish(w, err);
}

int bats_workflow_load(const char *path, struct bats_workflow *w,
                       struct bats_error *err)
{
    return bats_workflow_load_as(bats_workflow_format(path), path, w, err);
}

/* ---- several workflows as one ---- */

static int take_part(struct bats_workflow *to, const struct bats_workflow *w,
                     uint32_t part, struct bats_error *err)
{
    const struct bats_graph *g = &w->graph;
    uint32_t first = to->n;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct bats_workflow_task *t = &w->tasks[i];
        int rc = bats_workflow_add(
            to, NULL,
            t->command == BATS_NO_COMMAND ? NULL : bats_workflow_rule(w, i),
            t->runtime, bats_names_text(&w->categories, t->category), t->line,
            err);
        if (rc < 0)
            return rc;
        to->tasks[to->n - 1].need = t->need;
        to->tasks[to->n - 1].part = part;
        for (size_t k = t->first_use; k < bats_workflow_end_of_uses(w, i); k++)
            bats_workflow_use(to, bats_names_text(&w->files, w->uses[k].file),
                              w->uses[k].writes);
        for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++)
            bats_edges_add(&to->edges, first + i, first + g->child[k]);
    }
    return 0;
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
        w->parts[i] = parts[i].path;
        w->is_measured |= parts[i].is_measured;
        rc = take_part(w, &parts[i], i, err);
    }
    if (rc == 0)
        rc = check_files(w, n_parts, err);
    return rc < 0 ? rc : finish(w, err);
}
