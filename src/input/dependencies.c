#include "input/dependencies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bagfile.h"
#include "input/workflow/names.h"
#include "util/grow.h"

#define BLANKS " \t"
#define NONE UINT32_MAX
#define CIRCLE_SHOWN 5
#define NAME_SHOWN 60 /* most bytes of a name in messages */

struct statement {
    const char *after; /* the names behind "after"; or "" */
    uint32_t line;
    uint32_t first, n; /* tasks of the statement */
    uint32_t end;      /* the node that is over when all of these are; NONE:
                        * not made yet */
};

struct barrier {
    uint32_t first;
    bool any;
};

struct bats_dependencies {
    const struct bats_bagfile *bag; /* for messages */
    struct bats_names names; /* names of the statements, by their number */
    struct statement *list;
    size_t n, room;
    bool is_open; /* the last statement has no task yet */
    struct bats_text word;
    struct bats_edges edges;
    struct barrier *barriers;
    size_t n_barriers, barriers_room;
    uint64_t n_nodes; /* nodes of the graph so far */
};

struct bats_dependencies *
bats_dependencies_create(const struct bats_bagfile *bag)
{
    struct bats_dependencies *d = calloc(1, sizeof *d);
    if (d)
        d->bag = bag;
    return d;
}

void bats_dependencies_destroy(struct bats_dependencies *d)
{
    if (!d)
        return;
    bats_names_release(&d->names);
    bats_text_release(&d->word);
    free(d->list);
    bats_edges_release(&d->edges);
    free(d->barriers);
    free(d);
}

static const char *name_of(const struct bats_dependencies *d,
                           const struct statement *s)
{
    return bats_names_text(&d->names, (uint32_t)(s - d->list));
}

/* ---- noting ---- */

/* The word at `text`, valid until the next call. NULL: no memory. */
static const char *word_at(struct bats_dependencies *d, const char *text)
{
    bats_text_cut(&d->word, 0);
    bats_text_put(&d->word, text, strcspn(text, BLANKS));
    return d->word.failed ? NULL : d->word.bytes;
}

static int complain_open(const struct bats_dependencies *d,
                         struct bats_error *err)
{
    const struct statement *s = &d->list[d->n - 1];
    return bats_error_at(err, d->bag->name, s->line,
                         "no command follows for the task '%.*s'", NAME_SHOWN,
                         name_of(d, s));
}

int bats_dependencies_note(struct bats_dependencies *d, const char *text,
                           uint32_t line, struct bats_error *err)
{
    struct statement s = {.line = line, .end = NONE, .after = ""};
    text += strspn(text, BLANKS);
    const char *behind = text + strcspn(text, BLANKS);
    behind += strspn(behind, BLANKS);
    size_t n = strcspn(behind, BLANKS);
    bool has_after = n == strlen("after") && strncmp(behind, "after", n) == 0;
    if (has_after)
        s.after = behind + n + strspn(behind + n, BLANKS);
    if (*text == '\0' || (n > 0 && !has_after) ||
        (has_after && *s.after == '\0'))
        return bats_error_at(err, d->bag->name, line,
                             "not of the form '#BATS task NAME [after "
                             "NAME...]'");
    if (d->is_open)
        return complain_open(d, err);
    bool is_new;
    const char *name = word_at(d, text);
    uint32_t number =
        name ? bats_names_add(&d->names, name, &is_new) : BATS_NO_NAME;
    if (number == BATS_NO_NAME ||
        !bats_grow(&d->list, &d->room, d->n + 1, sizeof *d->list))
        return bats_no_memory(err);
    if (!is_new)
        return bats_error_at(err, d->bag->name, line,
                             "the task '%.*s' is already on line %" PRIu32,
                             NAME_SHOWN, name, d->list[number].line);
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

int bats_dependencies_barrier(struct bats_dependencies *d, uint32_t first,
                              bool any, struct bats_error *err)
{
    if (!bats_grow(&d->barriers, &d->barriers_room, d->n_barriers + 1,
                   sizeof *d->barriers))
        return bats_no_memory(err);
    d->barriers[d->n_barriers++] = (struct barrier){first, any};
    return 0;
}

/* ---- edges ---- */

void bats_edges_add(struct bats_edges *edges, uint32_t parent, uint32_t child)
{
    if (bats_grow(&edges->list, &edges->room, edges->n + 1,
                  sizeof *edges->list))
        edges->list[edges->n++] = (struct bats_edge){parent, child};
    else
        edges->failed = true;
}

void bats_edges_release(struct bats_edges *edges)
{
    free(edges->list);
    *edges = (struct bats_edges){0};
}

/* Finds or makes the node that is over when all tasks of the statement are. */
static uint32_t end_of(struct bats_dependencies *d, struct statement *s)
{
    if (s->end == NONE && s->n == 1)
        s->end = s->first;
    if (s->end == NONE) {
        s->end = (uint32_t)d->n_nodes++;
        for (uint32_t i = 0; i < s->n; i++)
            bats_edges_add(&d->edges, s->first + i, s->end);
    }
    return s->end;
}

static int wait_for(struct bats_dependencies *d, const struct statement *s,
                    uint32_t begin, const char *text, struct bats_error *err)
{
    const char *name = word_at(d, text);
    if (!name)
        return bats_no_memory(err);
    uint32_t other = bats_names_find(&d->names, name);
    if (other == BATS_NO_NAME)
        return bats_error_at(err, d->bag->name, s->line,
                             "'%.*s' waits for '%.*s', but no task has this "
                             "name",
                             NAME_SHOWN, name_of(d, s), NAME_SHOWN, name);
    bats_edges_add(&d->edges, end_of(d, &d->list[other]), begin);
    return 0;
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
        for (uint32_t i = 0; i < s->n; i++)
            bats_edges_add(&d->edges, begin, s->first + i);
    }
    for (const char *name = s->after; rc == 0 && *name != '\0';) {
        rc = wait_for(d, s, begin, name, err);
        name += strcspn(name, BLANKS);
        name += strspn(name, BLANKS);
    }
    return rc;
}

/* The node that tasks after barrier i wait for; its joint is `joint`. A barrier
 * that accepts any end still leaves tasks out if an earlier barrier (`checked`)
 * has failed. */
static uint32_t gate_of(struct bats_dependencies *d, size_t i, uint32_t joint,
                        uint32_t *checked)
{
    if (!d->barriers[i].any)
        *checked = joint;
    if (!d->barriers[i].any || *checked == NONE)
        return joint;
    uint32_t gate = (uint32_t)d->n_nodes++;
    bats_edges_add(&d->edges, joint, gate);
    bats_edges_add(&d->edges, *checked, gate);
    return gate;
}

/* Each barrier is a joint: the tasks since the previous barrier are its
 * parents, the tasks until the next one its children, and a barrier waits for
 * the previous one. */
static void connect_barriers(struct bats_dependencies *d, uint32_t n_tasks)
{
    uint32_t before = 0, joint = (uint32_t)d->n_nodes, checked = NONE;
    d->n_nodes += d->n_barriers;
    for (size_t i = 0; i < d->n_barriers; i++, joint++) {
        uint32_t first = d->barriers[i].first;
        uint32_t last =
            i + 1 < d->n_barriers ? d->barriers[i + 1].first : n_tasks;
        if (i > 0)
            bats_edges_add(&d->edges, joint - 1, joint);
        uint32_t gate = gate_of(d, i, joint, &checked);
        for (uint32_t k = before; k < first; k++)
            bats_edges_add(&d->edges, k, joint);
        for (uint32_t k = first; k < last; k++)
            bats_edges_add(&d->edges, gate, k);
        before = first;
    }
}

/* Marks the barriers that accept any end; they are the first joints. */
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
        return bats_no_memory(err);
    for (size_t i = 0; i < d->n_barriers; i++)
        graph->any[n_tasks + i] = d->barriers[i].any;
    return 0;
}

/* ---- circles ---- */

int bats_dependencies_check(const struct bats_graph *g, const char *file,
                            uint32_t (*describe)(const void *context,
                                                 uint32_t task, char *text,
                                                 size_t size),
                            const void *context, struct bats_error *err)
{
    char name[100];
    struct bats_text text = {0}; /* "a after b after c after a" */
    uint32_t n_circle, n = 0, line = UINT32_MAX;
    uint32_t *order = malloc(((size_t)g->n_nodes + 1) * sizeof *order);
    int64_t sorted = order ? bats_graph_sort(g, order, &n_circle, err)
                           : bats_no_memory(err);
    if (sorted < 0 || sorted == g->n_nodes) {
        free(order);
        return sorted < 0 ? (int)sorted : 0;
    }
    uint32_t *circle = order + sorted; /* parents first */
    for (uint32_t i = 0; i < n_circle; i++)
        if (circle[i] < g->n_tasks) /* otherwise it is a joint */
            circle[n++] = circle[i];
    for (uint32_t i = 0; i <= n; i++) {
        /* the waiting task first */
        uint32_t at =
            describe(context, circle[n - 1 - i % n], name, sizeof name);
        line = at < line ? at : line;
        if (i <= CIRCLE_SHOWN)
            bats_text_format(&text, "%s%s", i > 0 ? " after " : "",
                             i == CIRCLE_SHOWN && i < n ? "..." : name);
    }
    int rc = bats_text_check(&text, err);
    if (rc == 0)
        rc = bats_error_at(err, file, line,
                           "these tasks wait for each other: %s", text.bytes);
    bats_text_release(&text);
    free(order);
    return rc;
}

/* The statement of the task, or NULL. O(n), used for messages. */
static const struct statement *statement_of(const struct bats_dependencies *d,
                                            uint32_t task)
{
    for (size_t i = 0; i < d->n; i++)
        if (task >= d->list[i].first && task - d->list[i].first < d->list[i].n)
            return &d->list[i];
    return NULL;
}

static uint32_t describe(const void *context, uint32_t task, char *text,
                         size_t size)
{
    const struct bats_dependencies *d = context;
    const struct statement *s = statement_of(d, task);
    if (s)
        snprintf(text, size, "%.*s", NAME_SHOWN, name_of(d, s));
    else
        snprintf(text, size, "task %" PRIu64, (uint64_t)task + 1);
    return s ? s->line : bats_bagfile_line(d->bag, task);
}

int bats_dependencies_graph(struct bats_dependencies *d, uint32_t n_tasks,
                            struct bats_graph *graph, struct bats_error *err)
{
    *graph = (struct bats_graph){0};
    if (d->is_open)
        return complain_open(d, err);
    d->n_nodes = n_tasks;
    connect_barriers(d, n_tasks);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < d->n; i++)
        rc = connect(d, &d->list[i], err);
    if (rc == 0 && d->edges.failed)
        rc = bats_no_memory(err);
    if (rc == 0 && d->n_nodes >= UINT32_MAX)
        rc = bats_error_at(err, d->bag->name, 0, "too many tasks and names");
    if (rc == 0)
        rc = bats_graph_init(graph, n_tasks, (uint32_t)d->n_nodes,
                             d->edges.list, d->edges.n, err);
    if (rc == 0)
        rc = mark_any(d, n_tasks, graph, err);
    if (rc == 0)
        rc = bats_dependencies_check(graph, d->bag->name, describe, d, err);
    if (rc < 0)
        bats_graph_release(graph);
    return rc;
}
