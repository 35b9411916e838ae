#include "input/workflow/workflow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/text.h"

#define TASKS_MAX (UINT32_MAX / 4)

const char *bats_workflow_name(const struct bats_workflow *w, uint32_t task,
                               char *text, size_t size)
{
    if (task < w->names.n)
        snprintf(text, size, "task '%.60s'", bats_names_text(&w->names, task));
    else if (w->tasks[task].line == 0)
        snprintf(text, size, "rule %" PRIu32, task + 1);
    else
        snprintf(text, size, "the rule on line %" PRIu32, w->tasks[task].line);
    return text;
}

/* ---- adding ---- */

static int add_name(struct bats_workflow *w, const char *name, uint32_t line,
                    struct bats_error *err)
{
    bool is_new;
    if (bats_names_add(&w->names, name, &is_new) == BATS_NO_NAME)
        return bats_no_memory(err);
    return is_new ? 0
                  : bats_error_at(err, w->path, line,
                                  "task '%.60s' is named twice", name);
}

int bats_workflow_add(struct bats_workflow *w, const char *name,
                      const char *command, bats_time runtime,
                      const char *category, uint32_t line,
                      struct bats_error *err)
{
    bool is_new;
    if (w->n >= TASKS_MAX)
        return bats_error_at(err, w->path, line, "too many tasks");
    int rc = name ? add_name(w, name, line, err) : 0;
    if (rc < 0)
        return rc;
    uint32_t kind = bats_names_add(&w->categories, category, &is_new);
    if (kind == BATS_NO_NAME || !bats_grow(&w->tasks, &w->tasks_room,
                                           (size_t)w->n + 1, sizeof *w->tasks))
        return bats_no_memory(err);
    w->tasks[w->n++] = (struct bats_workflow_task){
        .command = command ? w->text.n : BATS_NO_COMMAND,
        .runtime = runtime,
        .category = kind,
        .line = line};
    if (command)
        bats_text_put(&w->text, command, strlen(command) + 1);
    return bats_text_check(&w->text, err);
}

int bats_workflow_use(struct bats_workflow *w, uint32_t task, const char *file,
                      bool writes, struct bats_error *err)
{
    bool is_new;
    uint32_t number = bats_names_add(&w->files, file, &is_new);
    if (number == BATS_NO_NAME ||
        !bats_grow(&w->uses, &w->uses_room, w->n_uses + 1, sizeof *w->uses))
        return bats_no_memory(err);
    w->uses[w->n_uses++] = (struct bats_workflow_use){task, number, writes};
    return 0;
}

int bats_workflow_edge(struct bats_workflow *w, uint32_t parent,
                       uint32_t child, struct bats_error *err)
{
    if (!bats_grow(&w->edges, &w->edges_room, w->n_edges + 1,
                   sizeof *w->edges))
        return bats_no_memory(err);
    w->edges[w->n_edges++] = (struct bats_edge){parent, child};
    return 0;
}

void bats_workflow_release(struct bats_workflow *w)
{
    bats_names_release(&w->names);
    bats_names_release(&w->files);
    bats_names_release(&w->categories);
    bats_graph_release(&w->graph);
    free(w->tasks);
    free(w->category);
    free(w->category_names);
    free(w->parts);
    free(w->uses);
    bats_text_release(&w->text);
    free(w->edges);
    *w = (struct bats_workflow){0};
}

/* ---- files that exist ---- */

struct age {
    bool is_there, is_written, is_read; /* is_written, is_read: by a task */
    struct timespec time;
};

static bool is_newer(const struct age *a, const struct age *b)
{
    return a->time.tv_sec != b->time.tv_sec
               ? a->time.tv_sec > b->time.tv_sec
               : a->time.tv_nsec > b->time.tv_nsec;
}

static struct age *look(const struct bats_workflow *w)
{
    struct age *ages = calloc(w->files.n + 1, sizeof *ages);
    for (uint32_t i = 0; ages && i < w->files.n; i++) {
        struct stat st;
        ages[i].is_there = stat(bats_names_text(&w->files, i), &st) == 0;
        if (ages[i].is_there)
            ages[i].time = st.st_mtim;
    }
    for (size_t i = 0; ages && i < w->n_uses; i++)
        *(w->uses[i].writes ? &ages[w->uses[i].file].is_written
                            : &ages[w->uses[i].file].is_read) = true;
    return ages;
}

/* Names the missing files, as far as they fit into the sentence. */
static int complain_missing(const struct bats_workflow *w, struct age *ages,
                            const struct bats_workflow_use *use,
                            struct bats_error *err)
{
    char name[100], others[200] = "", more[40] = "";
    uint32_t unnamed = 0;
    ages[use->file].is_there = true;
    for (uint32_t i = 0; i < w->files.n; i++) {
        const char *file = bats_names_text(&w->files, i);
        if (!ages[i].is_read || ages[i].is_there || ages[i].is_written)
            continue;
        if (strlen(others) + strlen(file) + 20 < sizeof others)
            bats_append(others, sizeof others, "%s'%s'",
                        others[0] == 0 ? "; also missing: " : ", ", file);
        else
            unnamed++;
    }
    if (unnamed > 0)
        snprintf(more, sizeof more, "; %" PRIu32 " more are missing", unnamed);
    return bats_error_at(
        err, w->parts ? w->parts[w->tasks[use->task].part] : w->path,
        w->tasks[use->task].line,
        "%s reads '%.100s', which does not exist, and nothing makes it%s%s",
        bats_workflow_name(w, use->task, name, sizeof name),
        bats_names_text(&w->files, use->file), others, more);
}

static int check_sources(const struct bats_workflow *w, struct age *ages,
                         struct bats_error *err)
{
    for (size_t i = 0; i < w->n_uses; i++) {
        const struct age *age = &ages[w->uses[i].file];
        if (!age->is_there && !age->is_written)
            return complain_missing(w, ages, &w->uses[i], err);
    }
    return 0;
}

/* True if the files of the task, whose uses begin at `use`, are up to date. */
static bool is_fresh(const struct bats_workflow *w, const struct age *ages,
                     size_t use)
{
    uint32_t task = w->uses[use].task;
    const struct age *newest = NULL, *oldest = NULL;
    for (; use < w->n_uses && w->uses[use].task == task; use++) {
        const struct age *age = &ages[w->uses[use].file];
        if (!age->is_there)
            return false;
        if (w->uses[use].writes && (!oldest || is_newer(oldest, age)))
            oldest = age;
        if (!w->uses[use].writes && (!newest || is_newer(age, newest)))
            newest = age;
    }
    return oldest && !(newest && is_newer(newest, oldest));
}

/* Clears `fresh` for all descendants of tasks that run. */
static int spread(const struct bats_workflow *w, uint8_t *fresh,
                  struct bats_error *err)
{
    const struct bats_graph *g = &w->graph;
    uint32_t n_circle, *order = malloc((w->n + (size_t)1) * sizeof *order);
    int64_t n = order ? bats_graph_sort(g, order, &n_circle, err)
                      : bats_no_memory(err);
    for (int64_t i = 0; i < n; i++)
        for (uint64_t k = g->first[order[i]];
             !fresh[order[i]] && k < g->first[order[i] + 1]; k++)
            fresh[g->child[k]] = 0;
    free(order);
    return n < 0 ? (int)n : 0;
}

int bats_workflow_fresh(const struct bats_workflow *w, const uint8_t *undone,
                        uint8_t **fresh, struct bats_error *err)
{
    struct age *ages = look(w);
    uint8_t *list = calloc((size_t)w->n + 1, 1);
    int rc = ages && list ? check_sources(w, ages, err) : bats_no_memory(err);
    for (size_t i = 0; rc == 0 && i < w->n_uses; i++)
        if (i == 0 || w->uses[i].task != w->uses[i - 1].task)
            list[w->uses[i].task] =
                !(undone && undone[w->uses[i].task]) && is_fresh(w, ages, i);
    if (rc == 0)
        rc = spread(w, list, err);
    free(ages);
    if (rc < 0)
        free(list);
    else
        *fresh = list;
    return rc;
}

/* ---- commands ---- */

void bats_workflow_program(const char *command, char *name, size_t size)
{
    command += strspn(command, " \t({");
    size_t n = strcspn(command, " \t;|&<>()");
    const char *slash = memrchr(command, '/', n);
    if (slash) {
        n -= (size_t)(slash + 1 - command);
        command = slash + 1;
    }
    snprintf(name, size, "%.*s", n < size ? (int)n : (int)size - 1, command);
}

/* The first use of the task; the end of all uses if it has none. */
static size_t first_use(const struct bats_workflow *w, uint32_t task)
{
    size_t low = 0, high = w->n_uses;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->uses[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next file from use *at on that the task writes and does not read, too;
 * moves *at behind it. NULL: no more. */
static const char *next_output(const struct bats_workflow *w, uint32_t task,
                               size_t *at)
{
    for (; *at < w->n_uses && w->uses[*at].task == task; ++*at) {
        const struct bats_workflow_use *use = &w->uses[*at];
        bool is_output = use->writes;
        for (size_t k = first_use(w, task);
             is_output && k < w->n_uses && w->uses[k].task == task; k++)
            is_output = w->uses[k].writes || w->uses[k].file != use->file;
        if (is_output)
            return bats_names_text(&w->files, w->uses[(*at)++].file);
    }
    return NULL;
}

int bats_workflow_remove(const struct bats_workflow *w, uint32_t task,
                         struct bats_error *err)
{
    const char *file;
    size_t use = first_use(w, task);
    while ((file = next_output(w, task, &use)))
        if (unlink(file) != 0 && errno != ENOENT && errno != EISDIR)
            return bats_error_set(
                err, BATS_ESYS,
                "%.200s: %s: it may be incomplete, because its "
                "task was interrupted",
                file, strerror(errno));
    return 0;
}

ptrdiff_t bats_workflow_outputs(const struct bats_workflow *w, uint32_t task,
                                struct bats_text *text)
{
    const char *file;
    size_t use = first_use(w, task);
    bats_text_cut(text, 0);
    while ((file = next_output(w, task, &use)))
        bats_text_put(text, file, strlen(file) + 1);
    return bats_text_length(text);
}
