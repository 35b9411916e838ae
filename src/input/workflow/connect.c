/* connect: tasks that wait for files. See workflow.h. */
#include <stdlib.h>
#include <string.h>

#include "input/workflow/workflow.h"

/* By file: the task that writes it, or UINT32_MAX. NULL with *rc: two tasks
 * write one file, or no memory. */
static uint32_t *find_writers(const struct bats_workflow *w, int *rc,
                              struct bats_error *err)
{
    char a[100], b[100];
    uint32_t *writer = malloc((w->files.n + 1) * sizeof *writer);
    if (!writer) {
        *rc = bats_no_memory(err);
        return NULL;
    }
    memset(writer, 0xff, (w->files.n + 1) * sizeof *writer);
    for (size_t i = 0; i < w->n_uses; i++) {
        const struct bats_workflow_use *use = &w->uses[i];
        uint32_t *of = &writer[use->file];
        if (!use->writes || *of == use->task)
            continue;
        if (*of != UINT32_MAX) {
            *rc = bats_error_at(err, w->path, w->tasks[use->task].line,
                                "%s and %s both make '%.60s'",
                                bats_workflow_name(w, *of, a, sizeof a),
                                bats_workflow_name(w, use->task, b, sizeof b),
                                bats_names_text(&w->files, use->file));
            free(writer);
            return NULL;
        }
        *of = use->task;
    }
    return writer;
}

int bats_workflow_connect(struct bats_workflow *w, struct bats_error *err)
{
    int rc = 0;
    uint32_t *writer = find_writers(w, &rc, err);
    for (size_t i = 0; writer && rc == 0 && i < w->n_uses; i++) {
        const struct bats_workflow_use *use = &w->uses[i];
        if (!use->writes && writer[use->file] != UINT32_MAX)
            rc = bats_workflow_edge(w, writer[use->file], use->task, err);
    }
    free(writer);
    return rc;
}
