#include "report/wfformat.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "report/report.h"
#include "util/json.h"

#define FORMAT (BATS_JSON_SAFE | JSON_COMPACT | JSON_REAL_PRECISION(15))

struct writer {
    struct bats_wfformat_source *source;
    FILE *out;
    struct bats_graph children, parents;
    struct bats_names hosts; /* of tasks that are done */
    uint8_t *is_done;        /* by task */
    bool keeps_names;        /* of tasks */
    struct bats_error *err;
};

/* Writes the element of a list and takes ownership of it. */
static int put(struct writer *w, bool *is_first, json_t *item)
{
    if (item == NULL)
        return bats_no_memory(w->err);
    fputs(*is_first ? "\n" : ",\n", w->out);
    *is_first = false;
    json_dumpf(item, w->out, FORMAT);
    json_decref(item);
    return 0;
}

/* ---- names ---- */

/* Checks the schema's patterns. */
static bool is_id(const char *text, const char *others)
{
    for (const char *c = text; *c != '\0'; c++)
        if (!isascii(*c) ||
            (!isalnum((unsigned char)*c) && !strchr(others, *c)))
            return false;
    return *text != '\0';
}

#define IN_TASKS "-_.#"
#define IN_FILES "-_./:#"

static const char *own_name(const struct writer *w, uint32_t task)
{
    const struct bats_workflow *f = w->source->workflow;
    return f && task < f->names.n ? bats_names_text(&f->names, task) : NULL;
}

/* A task is named as its kind: by its category, or by the program it runs. */
static void find_name(const struct writer *w, uint32_t task,
                      const char *command, char *name, size_t size)
{
    const struct bats_workflow *f = w->source->workflow;
    if (f)
        snprintf(name, size, "%s",
                 bats_names_text(&f->categories, f->tasks[task].category));
    else
        bats_workflow_program(command, name, size);
    if (*name == '\0')
        snprintf(name, size, "task");
}

/* The task's own name, or ID0000012 as in WfCommons. */
static json_t *id_of(const struct writer *w, uint32_t task)
{
    char id[32];
    if (w->keeps_names)
        return json_string(own_name(w, task));
    snprintf(id, sizeof id, "ID%07" PRIu32, task + 1);
    return json_string(id);
}

static json_t *ids_of(const struct writer *w, const struct bats_graph *g,
                      uint32_t task)
{
    json_t *list = json_array();
    int bad = 0;
    for (uint64_t k = g->first[task]; k < g->first[task + 1]; k++)
        bad |= json_array_append_new(list, id_of(w, g->child[k]));
    return bats_json_whole(list, bad);
}

/* ---- specification ---- */

/* Adds the task's files; its uses begin at *use. < 0: out of memory. */
static int add_files(struct writer *w, uint32_t task, size_t *use,
                     json_t *object)
{
    const struct bats_workflow *f = w->source->workflow;
    json_t *lists[2] = {json_array(), json_array()};
    int bad = 0;
    for (; *use < f->n_uses && f->uses[*use].task == task; ++*use) {
        const struct bats_workflow_use *u = &f->uses[*use];
        const char *name = bats_names_text(&f->files, u->file);
        if (is_id(name, IN_FILES))
            bad |= json_array_append_new(lists[u->writes], json_string(name));
    }
    bad |= json_object_set_new(object, "inputFiles", lists[0]);
    bad |= json_object_set_new(object, "outputFiles", lists[1]);
    return bad == 0 ? 0 : bats_no_memory(w->err);
}

static int specify(struct writer *w, const struct bats_view_task *t,
                   size_t *use, bool *is_first)
{
    char name[100];
    uint32_t task = (uint32_t)t->number - 1;
    const struct bats_workflow *f = w->source->workflow;
    find_name(w, task, t->command, name, sizeof name);
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o}", "name", bats_json_text(name), "id",
                  id_of(w, task), "parents", ids_of(w, &w->parents, task),
                  "children", ids_of(w, &w->children, task));
    int rc = object && f ? add_files(w, task, use, object) : 0;
    return rc < 0 ? json_decref(object), rc : put(w, is_first, object);
}

/* Lists the existing files, as the format requires sizes. */
static int list_files(struct writer *w)
{
    const struct bats_workflow *f = w->source->workflow;
    bool is_first = true;
    int rc = 0;
    fputs("],\n\"files\":[", w->out);
    for (uint32_t i = 0; rc == 0 && f && i < f->files.n; i++) {
        struct stat st;
        const char *name = bats_names_text(&f->files, i);
        bool is_known = is_id(name, IN_FILES);
        w->source->unnameable += !is_known;
        if (is_known && stat(name, &st) == 0)
            rc = put(w, &is_first,
                     json_pack("{s:s, s:I}", "id", name, "sizeInBytes",
                               (json_int_t)st.st_size));
    }
    return rc;
}

/* ---- execution ---- */

/* "2026-11-22T17:10:02.123456Z" */
static const char *time_of(int64_t us, char text[48])
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    size_t n =
        strftime(text, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
    snprintf(text + n, 48 - n, ".%06dZ", (int)(us % 1000000));
    return text;
}

/*
 * Splits a command into words that, joined by blanks, give it back: the first
 * is the program. No word is empty, so further blanks belong to the following
 * word. A reader may take a first argument equal to the program for a
 * repetition of it (input/workflow/wfformat.c), so it is repeated.
 */
static json_t *words_of(const char *command)
{
    int bad = 0;
    size_t n = strcspn(command, " ");
    json_t *program = json_stringn(command, n), *list = json_array();
    json_t *words =
        json_pack("{s:o, s:o}", "program", program, "arguments", list);
    for (const char *at = command + n; words && *at != '\0'; at += n) {
        at++;
        n = strspn(at, " ");
        if (at[n] == '\0') /* blanks at the end */
            break;
        n += strcspn(at + n, " ");
        json_t *word = json_stringn(at, n);
        if (json_array_size(list) == 0 && json_equal(word, program))
            bad |= json_array_append(list, program);
        bad |= json_array_append_new(list, word);
    }
    return bats_json_whole(words, bad);
}

static const char *host_of(const struct bats_view_task *t)
{
    return *t->host != '\0' ? t->host : "unknown";
}

/* A task not run, because its outputs existed, took no time: without a runtime
 * the format allows no command. */
static int execute(struct writer *w, const struct bats_view_task *t,
                   bool *is_first)
{
    char time[48];
    if (!w->is_done[t->number - 1])
        return 0;
    json_t *object = json_pack(
        "{s:o, s:f, s:o*}", "id", id_of(w, (uint32_t)t->number - 1),
        "runtimeInSeconds", t->wall_us > 0 ? (double)t->wall_us / 1e6 : 0,
        "command", words_of(t->command));
    int bad = object == NULL;
    if (t->wall_us >= 0) {
        bad |= json_object_set_new(object, "executedAt",
                                   json_string(time_of(t->start_us, time)));
        bad |= json_object_set_new(
            object, "machines", json_pack("[o]", bats_json_text(host_of(t))));
    }
    if (t->wall_us > 0)
        bad |= json_object_set_new(
            object, "avgCPU",
            json_real(100.0 * (double)t->cpu_us / (double)t->wall_us));
    if (t->max_rss_kib > 0)
        bad |= json_object_set_new(object, "memoryInBytes",
                                   json_integer(t->max_rss_kib * 1024));
    return bad != 0 ? bats_no_memory(w->err) : put(w, is_first, object);
}

static int list_hosts(struct writer *w)
{
    bool is_first = true;
    int rc = 0;
    fputs(w->hosts.n > 0 ? "],\n\"machines\":[" : "", w->out);
    for (uint32_t i = 0; rc == 0 && i < w->hosts.n; i++)
        rc = put(w, &is_first,
                 json_pack("{s:o, s:s}", "nodeName",
                           bats_json_text(bats_names_text(&w->hosts, i)),
                           "system", "linux"));
    return rc;
}

/* ---- all of it ---- */

/* Whether the number is valid; a damaged record may have any. */
static bool is_of_bag(const struct writer *w, const struct bats_view_task *t)
{
    return t->number > 0 && t->number <= w->children.n_tasks;
}

/* Writes one object per task of the bag: its specification or its
 * execution. */
static int each_task(struct writer *w, bool is_execution)
{
    struct bats_view_task t;
    bool is_first = true;
    size_t use = 0;
    struct bats_view *view = w->source->view;
    int rc =
        bats_view_tasks(view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0, w->err);
    while (rc == 0 && (rc = bats_view_next_task(view, &t, w->err)) > 0)
        rc = !is_of_bag(w, &t) ? 0
             : is_execution    ? execute(w, &t, &is_first)
                               : specify(w, &t, &use, &is_first);
    return rc;
}

/* All parts show the state of this moment, even if the run continues. */
static int look(struct writer *w, uint32_t *n_done)
{
    struct bats_view_task t;
    struct bats_view *view = w->source->view;
    bool is_new;
    w->is_done = calloc(w->children.n_tasks + (size_t)1, 1);
    int rc = w->is_done ? bats_view_tasks(view, NULL, 0, NULL,
                                          BATS_VIEW_BY_NUMBER, 0, w->err)
                        : bats_no_memory(w->err);
    while (rc == 0 && (rc = bats_view_next_task(view, &t, w->err)) > 0) {
        rc = 0;
        if (strcmp(t.state, "done") != 0 || !is_of_bag(w, &t))
            continue;
        w->is_done[t.number - 1] = 1;
        ++*n_done;
        if (t.wall_us >= 0 &&
            bats_names_add(&w->hosts, host_of(&t), &is_new) == BATS_NO_NAME)
            rc = bats_no_memory(w->err);
    }
    return rc;
}

static void find_out_names(struct writer *w)
{
    const struct bats_workflow *f = w->source->workflow;
    w->keeps_names = f && f->names.n >= w->children.n_tasks;
    for (uint32_t i = 0; w->keeps_names && i < w->children.n_tasks; i++)
        w->keeps_names = is_id(own_name(w, i), IN_TASKS);
}

static int write_head(struct writer *w)
{
    char now[48];
    json_t *name = bats_json_text(w->source->name);
    if (!name)
        return bats_no_memory(w->err);
    fputs("{\"name\":", w->out);
    json_dumpf(name, w->out, FORMAT | JSON_ENCODE_ANY);
    json_decref(name);
    fprintf(
        w->out,
        ",\n\"createdAt\":\"%s\",\n\"schemaVersion\":\"1.5\",\n"
        "\"runtimeSystem\":{\"name\":\"bats-mpi\",\"version\":\"" BATS_VERSION
        "\"},\n"
        "\"workflow\":{\"specification\":{\"tasks\":[",
        time_of((int64_t)time(NULL) * 1000000, now));
    return 0;
}

static int write_execution(struct writer *w)
{
    char started[48];
    int64_t elapsed_us, started_us;
    int rc =
        bats_view_elapsed(w->source->view, &elapsed_us, &started_us, w->err);
    if (rc < 0)
        return rc;
    fprintf(w->out,
            ",\n\"execution\":{\"makespanInSeconds\":%.6f,\n"
            "\"executedAt\":\"%s\",\n\"tasks\":[",
            (double)elapsed_us / 1e6, time_of(started_us, started));
    rc = each_task(w, true);
    if (rc == 0)
        rc = list_hosts(w);
    fputs("]}", w->out);
    return rc;
}

int bats_wfformat_write(void *source, FILE *out, struct bats_error *err)
{
    struct writer w = {.source = source, .out = out, .err = err};
    struct bats_graph graph;
    bool has_edges;
    uint32_t n_done = 0;
    int rc = bats_view_graph(w.source->view, &graph, &has_edges, err);
    if (rc == 0)
        rc = bats_graph_flatten(&graph, &w.children, &w.parents, err);
    bats_graph_release(&graph);
    if (rc == 0)
        rc = look(&w, &n_done);
    if (rc == 0) {
        find_out_names(&w);
        rc = write_head(&w);
    }
    if (rc == 0)
        rc = each_task(&w, false);
    if (rc == 0)
        rc = list_files(&w);
    fputs("]}", out);
    if (rc == 0 && n_done > 0)
        rc = write_execution(&w);
    fputs("}}\n", out);
    bats_graph_release(&w.children);
    bats_graph_release(&w.parents);
    bats_names_release(&w.hosts);
    free(w.is_done);
    return rc;
}
