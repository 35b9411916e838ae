#include "input/workflow/workflow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/grow.h"

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

int bats_workflow_add(struct bats_workflow *w, const char *name,
                      const char *command, bats_time runtime,
                      const char *category, uint32_t line,
                      struct bats_error *err)
{
    bool is_new = true;
    if (w->n >= TASKS_MAX)
        return bats_error_at(err, w->path, line, "too many tasks");
    if (name && bats_names_add(&w->names, name, &is_new) == BATS_NO_NAME)
        return bats_no_memory(err);
    if (!is_new)
        return bats_error_at(err, w->path, line, "task '%.60s' is named twice",
                             name);
    uint32_t kind = bats_names_add(&w->categories, category, &is_new);
    if (kind == BATS_NO_NAME || !bats_grow(&w->tasks, &w->tasks_room,
                                           (size_t)w->n + 1, sizeof *w->tasks))
        return bats_no_memory(err);
    w->tasks[w->n++] = (struct bats_workflow_task){
        .command = command ? w->text.n : BATS_NO_COMMAND,
        .runtime = runtime,
        .category = kind,
        .first_use = w->n_uses,
        .line = line};
    if (command)
        bats_text_put(&w->text, command, strlen(command) + 1);
    return bats_text_check(&w->text, err);
}

void bats_workflow_use(struct bats_workflow *w, const char *file, bool writes)
{
    bool is_new;
    uint32_t number = bats_names_add(&w->files, file, &is_new);
    if (number != BATS_NO_NAME &&
        bats_grow(&w->uses, &w->uses_room, w->n_uses + 1, sizeof *w->uses))
        w->uses[w->n_uses++] =
            (struct bats_workflow_use){w->n - 1, number, writes};
    else
        w->text.failed = true;
}

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
    for (size_t i = 0; writer && i < w->n_uses; i++) {
        const struct bats_workflow_use *use = &w->uses[i];
        if (!use->writes && writer[use->file] != UINT32_MAX)
            bats_edges_add(&w->edges, writer[use->file], use->task);
    }
    free(writer);
    return rc;
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
    bats_edges_release(&w->edges);
    *w = (struct bats_workflow){0};
}

/* ---- files that exist ---- */

struct age {
    bool is_there, is_written; /* is_written: by a task */
    int64_t time;              /* nanoseconds since 1970 */
};

static struct age *look(const struct bats_workflow *w)
{
    struct age *ages = calloc(w->files.n + 1, sizeof *ages);
    for (uint32_t i = 0; ages && i < w->files.n; i++) {
        struct stat st;
        ages[i].is_there = stat(bats_names_text(&w->files, i), &st) == 0;
        if (ages[i].is_there)
            ages[i].time =
                st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    }
    for (size_t i = 0; ages && i < w->n_uses; i++)
        ages[w->uses[i].file].is_written |= w->uses[i].writes;
    return ages;
}

/* Names the missing files, as far as they fit into the sentence. */
static int check_sources(const struct bats_workflow *w, struct age *ages,
                         struct bats_error *err)
{
    char name[100], others[230] = "";
    const struct bats_workflow_use *first = NULL;
    uint32_t unnamed = 0, task;
    for (size_t i = 0; i < w->n_uses; i++) {
        struct age *age = &ages[w->uses[i].file];
        const char *file = bats_names_text(&w->files, w->uses[i].file);
        if (age->is_there || age->is_written)
            continue;
        age->is_there = true; /* named once */
        if (first == NULL)
            first = &w->uses[i];
        else if (strlen(others) + strlen(file) + 50 < sizeof others)
            bats_append(others, sizeof others, "%s'%s'",
                        *others == 0 ? "; also missing: " : ", ", file);
        else
            unnamed++;
    }
    if (first == NULL)
        return 0;
    task = first->task;
    if (unnamed > 0)
        bats_append(others, sizeof others, "; %" PRIu32 " more are missing",
                    unnamed);
    return bats_error_at(
        err, w->parts ? w->parts[w->tasks[task].part] : w->path,
        w->tasks[task].line,
        "%s reads '%.100s', which does not exist, and nothing makes it%s",
        bats_workflow_name(w, task, name, sizeof name),
        bats_names_text(&w->files, first->file), others);
}

/* True if all files of the task exist, and none of its outputs is older than
 * one of its inputs. */
static bool is_fresh(const struct bats_workflow *w, const struct age *ages,
                     uint32_t task)
{
    int64_t newest = INT64_MIN, oldest = INT64_MAX;
    for (size_t i = w->tasks[task].first_use;
         i < bats_workflow_end_of_uses(w, task); i++) {
        const struct age *age = &ages[w->uses[i].file];
        if (!age->is_there)
            return false;
        if (w->uses[i].writes)
            oldest = age->time < oldest ? age->time : oldest;
        else
            newest = age->time > newest ? age->time : newest;
    }
    return oldest < INT64_MAX && newest <= oldest;
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
    for (uint32_t i = 0; rc == 0 && i < w->n; i++)
        list[i] = !(undone && undone[i]) && is_fresh(w, ages, i);
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

/* The file of this use if its task writes and does not read it; else NULL. */
static const char *output_of(const struct bats_workflow *w, uint32_t task,
                             size_t use)
{
    bool is_output = w->uses[use].writes;
    for (size_t i = w->tasks[task].first_use;
         i < bats_workflow_end_of_uses(w, task); i++)
        is_output &= w->uses[i].writes || w->uses[i].file != w->uses[use].file;
    return is_output ? bats_names_text(&w->files, w->uses[use].file) : NULL;
}

int bats_workflow_remove(const struct bats_workflow *w, uint32_t task,
                         struct bats_error *err)
{
    for (size_t i = w->tasks[task].first_use;
         i < bats_workflow_end_of_uses(w, task); i++) {
        const char *file = output_of(w, task, i);
        if (file && unlink(file) != 0 && errno != ENOENT && errno != EISDIR)
            return bats_error_set(
                err, BATS_ESYS,
                "%.200s: %s: it may be incomplete, because its "
                "task was interrupted",
                file, strerror(errno));
    }
    return 0;
}

ptrdiff_t bats_workflow_outputs(const struct bats_workflow *w, uint32_t task,
                                struct bats_text *text)
{
    bats_text_cut(text, 0);
    for (size_t i = w->tasks[task].first_use;
         i < bats_workflow_end_of_uses(w, task); i++) {
        const char *file = output_of(w, task, i);
        if (file)
            bats_text_put(text, file, strlen(file) + 1);
    }
    return bats_text_length(text);
}
