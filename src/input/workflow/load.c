/* load: a workflow of any format, and its graph. See workflow.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/rules.h"
#include "input/dependencies.h"
#include "input/workflow/workflow.h"

/* Languages that are not read. A bag of their lines would be nonsense. */
static const struct {
    const char *end; /* of the file's name */
    const char *what;
} others[] = {{"Makefile", "a Makefile is for make"},
              {"Snakefile", "workflows of Snakemake are not read"},
              {".smk", "workflows of Snakemake are not read"},
              {".nf", "workflows of Nextflow are not read"},
              {".cwl", "workflows in CWL are not read"},
              {".wdl", "workflows in WDL are not read"},
              {".dag", "workflows of DAGMan are not read"},
              {".yml", "workflows in YAML are not read"},
              {".yaml", "workflows in YAML are not read"}};

/* Why a file of this name is refused; NULL: its language may be read. */
static const char *find_other(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (bats_text_ends(name, others[i].end))
            return others[i].what;
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
    if (bats_text_ends(name, ".json") || bats_text_ends(name, ".jx"))
        return BATS_WORKFLOW_JSON;
    return bats_text_ends(name, ".dax") || bats_text_ends(name, ".xml")
               ? BATS_WORKFLOW_DAX
               : BATS_WORKFLOW_NONE;
}

/* ---- the graph ---- */

static uint32_t line_of(const void *w, uint32_t task)
{
    return ((const struct bats_workflow *)w)->tasks[task].line;
}

static const char *name_of(const void *w, uint32_t task, char *text,
                           size_t size)
{
    return bats_workflow_name(w, task, text, size);
}

static int make_graph(struct bats_workflow *w, struct bats_error *err)
{
    const struct bats_task_words words = {w->path, line_of, name_of, w};
    int rc = bats_graph_init(&w->graph, w->n, w->n, w->edges, w->n_edges, err);
    if (rc == 0)
        rc = bats_dependencies_check(&w->graph, &words, err);
    free(w->edges);
    w->edges = NULL;
    return rc;
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

int bats_workflow_finish(struct bats_workflow *w, struct bats_error *err)
{
    int rc = list_categories(w, err);
    return rc < 0 ? rc : make_graph(w, err);
}

static int read_as(enum bats_workflow_format format, struct bats_workflow *w,
                   struct bats_error *err)
{
    switch (format) {
    case BATS_WORKFLOW_MAKEFLOW:
        return bats_makeflow_read(w, err);
    case BATS_WORKFLOW_JSON:
        return bats_wfformat_read(w, err);
    case BATS_WORKFLOW_DAX:
        return bats_dax_read(w, err);
    case BATS_WORKFLOW_OTHER:
    case BATS_WORKFLOW_NONE:
        break;
    }
    const char *other = find_other(w->path);
    return bats_error_at(err, w->path, 0,
                         "%s; a workflow is called Makeflow, or ends with "
                         ".makeflow, .jx, .json, .dax or .xml",
                         other ? other : "this is a bag");
}

int bats_workflow_load_as(enum bats_workflow_format format, const char *path,
                          struct bats_workflow *w, struct bats_error *err)
{
    *w = (struct bats_workflow){.path = path};
    int rc = read_as(format, w, err);
    if (rc == 0 && w->n == 0)
        rc = bats_error_at(err, path, 0, "no task in this workflow");
    return rc < 0 ? rc : bats_workflow_finish(w, err);
}

int bats_workflow_load(const char *path, struct bats_workflow *w,
                       struct bats_error *err)
{
    return bats_workflow_load_as(bats_workflow_format(path), path, w, err);
}
