/* fuzz_workflow: the readers of workflows. The first byte is the format. */
#include "fuzz.h"
#include "input/workflow/workflow.h"

static void check(const struct bats_workflow *w)
{
    struct bats_text text = {0};
    uint32_t n_circle, *order = malloc((w->n + (size_t)1) * sizeof *order);
    struct bats_error err;
    must(w->n > 0 && w->graph.n_tasks == w->n && w->graph.n_nodes == w->n &&
         bats_graph_sort(&w->graph, order, &n_circle, &err) == w->n);
    for (uint32_t i = 0; i < w->n; i++)
        must(w->tasks[i].category < w->categories.n &&
             w->tasks[i].runtime >= -1 &&
             (w->tasks[i].command == BATS_NO_COMMAND ||
              bats_workflow_outputs(w, i, &text) >= 0));
    for (size_t i = 0; i < w->n_uses; i++)
        must(w->uses[i].task < w->n && w->uses[i].file < w->files.n &&
             (i == 0 || w->uses[i].task >= w->uses[i - 1].task));
    free(order);
    bats_text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char path[32];
    if (n == 0)
        return 0;
    int fd = fuzz_file(bytes + 1, n - 1, path);
    struct bats_workflow w;
    struct bats_error err;
    enum bats_workflow_format format =
        bytes[0] == 'M' ? BATS_WORKFLOW_MAKEFLOW : BATS_WORKFLOW_JSON;
    if (bats_workflow_load_as(format, path, &w, &err) == 0)
        check(&w);
    bats_workflow_release(&w);
    close(fd);
    return 0;
}
