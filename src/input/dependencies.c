#include "input/dependencies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

#define BLANKS " \t"
#define NONE UINT32_MAX
#define CIRCLE_SHOWN 5

struct statement {
    const char *name;  /* not ended by a NUL */
    const char *after; /* the names behind "after"; or "" */
    size_t length;     /* of the name */
    uint32_t line;
    uint32_t first, n; /* its tasks */
    uint32_t end;      /* the node that is over when they are; NONE: no yet */
};

struct barrier {
    uint32_t first;
    bool any;
};

struct bats_dependencies {
    const char *file;
    struct statement *list;
    size_t n, room;
    bool is_open; /* the last one is for no task yet */
    struct bats_edge *edges;
    size_t n_edges, edges_room;
    struct barrier *barriers;
    size_t n_barriers, barriers_room;
    uint64_t n_nodes; /* while the graph is made */
};

struct bats_dependencies *bats_dependencies_create(const char *file)
{
    struct bats_dependencies *d = calloc(1, sizeof *d);
    if (d)
        d->file = file;
    return d;
}

void bats_dependencies_destroy(struct bats_dependencies *d)
{
    if (!d)
        return;
    free(d->list);
    free(d->edges);
    free(d->barriers);
    free(d);
}

static int no_memory(struct bats_error *err)
{
    return bats_error_set(err, BATS_ENOMEM,
                          "out of memory for the dependencies");
}

/* ---- noting ---- */

static int complain_open(const struct bats_dependencies *d,
                         struct bats_error *err)
{
    const struct statement *s = &d->list[d->n - 1];
    return bats_error_set(err, BATS_EINPUT,
                          "%s:%" PRIu32 ": no command follows for the task "
                          "'%.*s'",
                          d->file, s->line,
                          s->length < 60 ? (int)s->length : 60, s->name);
}

int bats_dependencies_note(struct bats_dependencies *d, const char *text,
                           uint32_t line, struct bats_error *err)
{
    struct statement s = {.line = line, .end = NONE, .after = ""};
    s.name = text + strspn(text, BLANKS);
    s.length = strcspn(s.name, BLANKS);
    const char *word = s.name + s.length;
    word += strspn(word, BLANKS);
    size_t n = strcspn(word, BLANKS);
    bool has_after = n == strlen("after") && strncmp(word, "after", n) == 0;
    if (has_after)
        s.after = word + n + strspn(word + n, BLANKS);
    if (s.length == 0 || (n > 0 && !has_after) ||
        (has_after && *s.after == '\0'))
        return bats_error_set(err, BATS_EINPUT,
                              "%s:%" PRIu32 ": not of the form '#BATS task "
                              "NAME [after NAME...]'",
                              d->file, line);
    if (d->is_open)
        return complain_open(d, err);
    if (!bats_grow(&d->list, &d->room, d->n + 1, sizeof *d->list))
        return no_memory(err);
    d->list[d->n++] = s;
    d->is_open = true;
    return 0;
}

void bats_dependencies_take(struct bats_dependencies *d, uint32_t first,
                            uint32_t n)
{
    if (!d->is_open)
        return;
    d->list[d->n - 1].first = first;
    d->list[d->n - 1].n = n;
    d->is_open = false;
}

int bats_dependencies_edge(struct bats_dependencies *d, uint32_t earlier,
                           uint32_t later, struct bats_error *err)
{
    if (!bats_grow(&d->edges, &d->edges_room, d->n_edges + 1,
                   sizeof *d->edges))
        return no_memory(err);
    d->edges[d->n_edges++] = (struct bats_edge){earlier, later};
    return 0;
}

int bats_dependencies_barrier(struct bats_dependencies *d, uint32_t first,
                              bool any, struct bats_error *err)
{
    if (!bats_grow(&d->barriers, &d->barriers_room, d->n_barriers + 1,
                   sizeof *d->barriers))
        return no_memory(err);
    d->barriers[d->n_barriers++] = (struct barrier){first, any};
    return 0;
}

/* ---- names ---- */

static int compare(const char *a, size_t a_length, const char *b,
                   size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_name(const void *left, const void *right)
{
    const struct statement *a = left, *b = right;
    int order = compare(a->name, a->length, b->name, b->length);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static int check_doubles(const struct bats_dependencies *d,
                         struct bats_error *err)
{
    for (size_t i = 1; i < d->n; i++) {
        const struct statement *a = &d->list[i - 1], *b = &d->list[i];
        if (compare(a->name, a->length, b->name, b->length) == 0)
            return bats_error_set(
                err, BATS_EINPUT,
                "%s:%" PRIu32 ": the task '%.*s' is already on line %" PRIu32,
                d->file, b->line, b->length < 60 ? (int)b->length : 60,
                b->name, a->line);
    }
    return 0;
}

static struct statement *find(const struct bats_dependencies *d,
                              const char *name, size_t length)
{
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct statement *s = &d->list[middle];
        int order = compare(name, length, s->name, s->length);
        if (order == 0)
            return s;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* ---- edges ---- */

/* The node that is over when all tasks of the statement are. */
static int end_of(struct bats_dependencies *d, struct statement *s,
                  uint32_t *node, struct bats_error *err)
{
    int rc = 0;
    if (s->end == NONE && s->n == 1)
        s->end = s->first;
    if (s->end == NONE) {
        s->end = (uint32_t)d->n_nodes++;
        for (uint32_t i = 0; rc == 0 && i < s->n; i++)
            rc = bats_dependencies_edge(d, s->first + i, s->end, err);
    }
    *node = s->end;
    return rc;
}

static int wait_for(struct bats_dependencies *d, const struct statement *s,
                    uint32_t begin, const char *name, size_t length,
                    struct bats_error *err)
{
    struct statement *other = find(d, name, length);
    uint32_t end;
    if (!other)
        return bats_error_set(err, BATS_EINPUT,
                              "%s:%" PRIu32 ": '%.*s' waits for '%.*s', but "
                              "no task has this name",
                              d->file, s->line,
                              s->length < 60 ? (int)s->length : 60, s->name,
                              length < 60 ? (int)length : 60, name);
    int rc = end_of(d, other, &end, err);
    return rc < 0 ? rc : bats_dependencies_edge(d, end, begin, err);
}

static int connect(struct bats_dependencies *d, const struct statement *s,
                   struct bats_error *err)
{
    uint32_t begin = s->first;
    int rc = 0;
    if (*s->after == '\0')
        return 0;
    if (s->n != 1) {
        begin = (uint32_t)d->n_nodes++;
        for (uint32_t i = 0; rc == 0 && i < s->n; i++)
            rc = bats_dependencies_edge(d, begin, s->first + i, err);
    }
    for (const char *name = s->after; rc == 0 && *name != '\0';) {
        size_t length = strcspn(name, BLANKS);
        rc = wait_for(d, s, begin, name, length, err);
        name += length + strspn(name + length, BLANKS);
    }
    return rc;
}

/* The node that tasks behind barrier i wait for, whose joint is `joint`: after
 * one that waits for any end, tasks are left out nevertheless if what `checked`
 * stands for, an earlier barrier, was not done. */
static int open_gate(struct bats_dependencies *d, size_t i, uint32_t joint,
                     uint32_t *checked, uint32_t *gate, struct bats_error *err)
{
    *gate = joint;
    if (!d->barriers[i].any) {
        *checked = joint;
        return 0;
    }
    if (*checked == NONE)
        return 0;
    *gate = (uint32_t)d->n_nodes++;
    int rc = bats_dependencies_edge(d, joint, *gate, err);
    return rc < 0 ? rc : bats_dependencies_edge(d, *checked, *gate, err);
}

/* Each barrier is a joint: tasks since the one before it are its parents, those
 * until the next one its children, and a barrier waits for the one before. */
static int connect_barriers(struct bats_dependencies *d, uint32_t n_tasks,
                            struct bats_error *err)
{
    int rc = 0;
    uint32_t before = 0, joint = (uint32_t)d->n_nodes, gate, checked = NONE;
    d->n_nodes += d->n_barriers;
    for (size_t i = 0; rc == 0 && i < d->n_barriers; i++, joint++) {
        uint32_t first = d->barriers[i].first;
        uint32_t last =
            i + 1 < d->n_barriers ? d->barriers[i + 1].first : n_tasks;
        if (i > 0)
            rc = bats_dependencies_edge(d, joint - 1, joint, err);
        if (rc == 0)
            rc = open_gate(d, i, joint, &checked, &gate, err);
        for (uint32_t k = before; rc == 0 && k < first; k++)
            rc = bats_dependencies_edge(d, k, joint, err);
        for (uint32_t k = first; rc == 0 && k < last; k++)
            rc = bats_dependencies_edge(d, gate, k, err);
        before = first;
    }
    return rc;
}

/* Barriers that wait for any end: they are the first joints. */
static int mark_any(const struct bats_dependencies *d, uint32_t n_tasks,
                    struct bats_graph *graph, struct bats_error *err)
{
    bool any = false;
    for (size_t i = 0; i < d->n_barriers; i++)
        any |= d->barriers[i].any;
    if (!any)
        return 0;
    graph->any = calloc(graph->n_nodes, 1);
    if (!graph->any)
        return no_memory(err);
    for (size_t i = 0; i < d->n_barriers; i++)
        graph->any[n_tasks + i] = d->barriers[i].any;
    return 0;
}

/* ---- circles ---- */

/* The statement of the task, or NULL. O(n): for a message. */
static const struct statement *statement_of(const struct bats_dependencies *d,
                                            uint32_t task)
{
    for (size_t i = 0; i < d->n; i++)
        if (task >= d->list[i].first && task - d->list[i].first < d->list[i].n)
            return &d->list[i];
    return NULL;
}

/* "a after b after c after a", of the tasks in the circle. */
static void describe(const struct bats_dependencies *d, const uint32_t *tasks,
                     uint32_t n, char *text, size_t size)
{
    size_t used = 0;
    uint32_t shown = n < CIRCLE_SHOWN ? n : CIRCLE_SHOWN;
    for (uint32_t i = 0; i <= shown && used < size; i++) {
        uint32_t task = tasks[n - 1 - i % n]; /* who waits comes first */
        const struct statement *s = statement_of(d, task);
        const char *after = i > 0 ? " after " : "";
        if (i == shown && shown < n)
            snprintf(text + used, size - used, " after ...");
        else if (s)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", after,
                                     s->length < 60 ? (int)s->length : 60,
                                     s->name);
        else
            used +=
                (size_t)snprintf(text + used, size - used, "%stask %" PRIu64,
                                 after, (uint64_t)task + 1);
    }
}

/* `circle`: nodes, those that others wait for first. */
static int complain_circle(const struct bats_dependencies *d, uint32_t *circle,
                           uint32_t n, uint32_t n_tasks,
                           uint32_t (*line)(const void *context,
                                            uint32_t task),
                           const void *context, struct bats_error *err)
{
    char text[512] = "";
    uint32_t kept = 0, first = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (circle[i] >= n_tasks)
            continue; /* a joint between two of the others */
        const struct statement *s = statement_of(d, circle[i]);
        uint32_t at = s ? s->line : line(context, circle[i]);
        first = at < first ? at : first;
        circle[kept++] = circle[i];
    }
    describe(d, circle, kept, text, sizeof text);
    return bats_error_set(err, BATS_EINPUT,
                          "%s:%" PRIu32 ": these tasks wait for each other: "
                          "%s",
                          d->file, first, text);
}

static int check_circles(const struct bats_dependencies *d,
                         const struct bats_graph *graph,
                         uint32_t (*line)(const void *context, uint32_t task),
                         const void *context, struct bats_error *err)
{
    uint32_t *order = malloc(((size_t)graph->n_nodes + 1) * sizeof *order);
    uint32_t n_circle;
    if (!order)
        return no_memory(err);
    int64_t n = bats_graph_sort(graph, order, &n_circle, err);
    int rc = n < 0 ? (int)n : 0;
    if (rc == 0 && n < graph->n_nodes)
        rc = complain_circle(d, order + n, n_circle, graph->n_tasks, line,
                             context, err);
    free(order);
    return rc;
}

int bats_dependencies_graph(struct bats_dependencies *d, uint32_t n_tasks,
                            uint32_t (*line)(const void *context,
                                             uint32_t task),
                            const void *context, struct bats_graph *graph,
                            struct bats_error *err)
{
    *graph = (struct bats_graph){0};
    if (d->is_open)
        return complain_open(d, err);
    d->n_nodes = n_tasks;
    int rc = connect_barriers(d, n_tasks, err);
    if (d->n > 0)
        qsort(d->list, d->n, sizeof *d->list, by_name);
    if (rc == 0)
        rc = check_doubles(d, err);
    for (size_t i = 0; rc == 0 && i < d->n; i++)
        rc = connect(d, &d->list[i], err);
    if (rc == 0 && d->n_nodes >= UINT32_MAX)
        rc = bats_error_set(err, BATS_EINPUT, "%s: too many tasks and names",
                            d->file);
    if (rc == 0)
        rc = bats_graph_init(graph, n_tasks, (uint32_t)d->n_nodes, d->edges,
                             d->n_edges, err);
    if (rc == 0)
        rc = mark_any(d, n_tasks, graph, err);
    if (rc == 0)
        rc = check_circles(d, graph, line, context, err);
    if (rc < 0)
        bats_graph_release(graph);
    return rc;
}
