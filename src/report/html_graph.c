/* html_graph: the dependencies, in the page of a run. See html.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/workflow/names.h"
#include "input/workflow/workflow.h"
#include "record/read/history.h"
#include "record/read/view.h"
#include "report/dag.h"
#include "report/html.h"
#include "report/words.h"
#include "util/json.h"

#define KINDS_MAX   1000 /* further kinds count as "others" */
#define KINDS_SHOWN 50
#define CHAIN_SHOWN 50

/* Sizes in the picture's units: pixels unless scaled. */
#define COLUMN 150
#define ROW    38
#define WIDTH  108
#define HEIGHT 26
#define BAR    7 /* height of a group's bar of states */
#define LABEL  16

struct graph_part {
    struct bats_html *h;
    struct bats_graph graph;
    struct bats_dag_task *tasks;
    struct bats_names kinds;
    struct bats_dag dag;
};

static const char *const states[BATS_DAG_STATES] = {
    "done", "failed", "skipped", "running", "left"};

/* ---- the tasks ---- */

static uint32_t kind_of(struct graph_part *p, const char *name)
{
    bool is_new;
    if (p->kinds.n < KINDS_MAX)
        return bats_names_add(&p->kinds, name, &is_new);
    uint32_t kind = bats_names_find(&p->kinds, name);
    return kind == BATS_NO_NAME ? bats_names_add(&p->kinds, "others", &is_new)
                                : kind;
}

/* Reads the recorded categories, [kind, tasks, kind, tasks, ...]; *known: they
 * exist. */
static int take_categories(struct graph_part *p, struct bats_view *view,
                           bool *known, struct bats_error *err)
{
    char *text;
    int rc = bats_view_options(view, &text, err);
    if (rc < 0)
        return rc;
    json_t *options = json_loads(text, 0, NULL);
    const json_t *names = json_object_get(options, "categories");
    const json_t *list = json_object_get(json_object_get(options, "engine"),
                                         "categories");
    uint32_t task = 0;
    for (size_t i = 0; i + 1 < json_array_size(list) && rc == 0; i += 2) {
        const char *name = json_string_value(json_array_get(
            names, (size_t)json_integer_value(json_array_get(list, i))));
        json_int_t n = json_integer_value(json_array_get(list, i + 1));
        uint32_t kind = name ? kind_of(p, name) : BATS_NO_NAME;
        for (; name && n > 0 && task < p->graph.n_tasks; n--)
            p->tasks[task++].kind = kind;
        if (name && kind == BATS_NO_NAME)
            rc = bats_no_memory(err);
    }
    *known = task == p->graph.n_tasks;
    json_decref(options);
    free(text);
    return rc;
}

static int take_tasks(struct graph_part *p, struct bats_view *view,
                      struct bats_error *err)
{
    struct bats_view_task t;
    char name[100];
    bool known = false;
    int rc = take_categories(p, view, &known, err);
    if (rc == 0)
        rc = bats_view_tasks(view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0, err);
    while (rc == 0 && (rc = bats_view_next_task(view, &t, err)) > 0) {
        rc = 0;
        if (t.number < 1 || t.number > p->graph.n_tasks)
            continue;
        struct bats_dag_task *task = &p->tasks[t.number - 1];
        for (int s = 0; s < BATS_DAG_STATES; s++)
            if (strcmp(t.state, states[s]) == 0)
                task->state = (enum bats_dag_state)s;
        if (known)
            continue;
        bats_workflow_program(t.command, name, sizeof name);
        task->kind = kind_of(p, *name != '\0' ? name : "task");
        if (task->kind == BATS_NO_NAME)
            return bats_no_memory(err);
    }
    /* A damaged record lacks tasks of its graph. */
    for (uint32_t i = 0; rc == 0 && i < p->graph.n_tasks; i++)
        if (p->tasks[i].kind == BATS_NO_NAME &&
            (p->tasks[i].kind = kind_of(p, "task")) == BATS_NO_NAME)
            return bats_no_memory(err);
    return rc;
}

static void take_times(struct graph_part *p, const struct bats_run_history *r)
{
    for (size_t i = 0; i < r->n_spans; i++) {
        const struct bats_history_span *s = &r->spans[i];
        if (s->outcome != 0 || s->task < 1 || s->task > p->graph.n_tasks)
            continue;
        p->tasks[s->task - 1].begin = s->begin;
        p->tasks[s->task - 1].end = s->end;
    }
}

/* ---- tables ---- */

static const char *kind_name(const struct graph_part *p, uint32_t kind)
{
    return kind == BATS_DAG_OTHERS ? "others"
                                   : bats_names_text(&p->kinds, kind);
}

static void write_sum(struct bats_html *h, const struct bats_dag_sum *s)
{
    for (int i = 0; i < BATS_DAG_STATES; i++)
        bats_html_cell(h, "%" PRIu32, s->in_state[i]);
    bats_html_cell(h, "%s",
                   s->timed > 0 ? bats_words_duration(s->took / s->timed).s
                                : "-");
}

static void write_kinds(struct graph_part *p)
{
    struct bats_html *h = p->h;
    const struct bats_dag *d = &p->dag;
    uint32_t n = d->n_kinds < KINDS_SHOWN ? d->n_kinds : KINDS_SHOWN;
    bats_html_table(h, n < d->n_kinds ? "The first kinds of tasks"
                                      : "Kinds of tasks",
                    "<kind|tasks|done|failed|skipped|running|left|mean time|"
                    "on the critical path");
    for (uint32_t i = 0; i < n; i++) {
        bats_html_row(h);
        bats_html_code(h, kind_name(p, i));
        bats_html_cell(h, "%" PRIu32, d->kinds[i].tasks);
        write_sum(h, &d->kinds[i]);
        bats_html_cell(h, "%" PRIu32, d->kinds[i].critical);
    }
    bats_html_table_end(h);
}

/* Number of tasks of the same kind in the column, if `group` is the first of
 * them; a small graph has a group for each task. */
static uint32_t count_kind(const struct bats_dag *d, uint32_t group)
{
    const struct bats_dag_group *g = &d->groups[group];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_groups; i++) {
        const struct bats_dag_group *other = &d->groups[i];
        if (other->column != g->column || other->is_joint ||
            other->kind != g->kind)
            continue;
        if (i < group)
            return 0;
        n += other->sum.tasks;
    }
    return n;
}

/* "train 180, mean 30" */
static void write_column_kinds(struct graph_part *p, uint32_t column)
{
    const struct bats_dag *d = &p->dag;
    uint32_t shown = 0, hidden = 0;
    for (uint32_t i = 0; i < d->n_groups; i++) {
        const struct bats_dag_group *g = &d->groups[i];
        uint32_t n =
            g->column == column && !g->is_joint ? count_kind(d, i) : 0;
        if (n == 0)
            continue;
        if (shown == 4) {
            hidden++;
            continue;
        }
        bats_html_textf(p->h, "%s%s", shown++ > 0 ? ", " : "",
                        kind_name(p, g->kind));
        if (n > 1)
            bats_html_textf(p->h, " %" PRIu32, n);
    }
    if (hidden > 0)
        bats_html_textf(p->h, ", %" PRIu32 " more", hidden);
}

static void write_levels(struct graph_part *p)
{
    struct bats_html *h = p->h;
    const struct bats_dag *d = &p->dag;
    bats_html_table(h, "Levels: each task waits for some task of the previous level",
                    "level|<tasks|done|failed|skipped|running|left|mean time|"
                    "first began|last ended");
    for (uint32_t i = 0; i < d->n_columns; i++) {
        const struct bats_dag_column *c = &d->columns[i];
        bats_html_row(h);
        if (c->first == c->last)
            bats_html_cell(h, "%" PRIu32, c->first + 1);
        else
            bats_html_cell(h, "%" PRIu32 "-%" PRIu32, c->first + 1,
                           c->last + 1);
        fputs("<td class=\"text\">", h->out);
        write_column_kinds(p, i);
        write_sum(h, &c->sum);
        bats_html_cell(h, "%s",
                       c->sum.timed > 0 ? bats_words_moment(c->sum.begin).s
                                        : "-");
        bats_html_cell(
            h, "%s", c->sum.timed > 0 ? bats_words_moment(c->sum.end).s : "-");
    }
    bats_html_table_end(h);
}

/* After its parent's end, a task of the path waits for a machine or another
 * parent. */
static void write_chain(struct graph_part *p)
{
    struct bats_html *h = p->h;
    const struct bats_dag *d = &p->dag;
    bats_time before = 0;
    uint32_t n = d->n_chain < CHAIN_SHOWN ? d->n_chain : CHAIN_SHOWN;
    bats_html_table(h, "The critical path: the longest chain of tasks",
                    "task|<kind|<state|took|began|after waiting");
    for (uint32_t i = 0; i < n; i++) {
        const struct bats_dag_task *t = &p->tasks[d->chain[i]];
        bool ran = t->begin >= 0;
        bats_html_row(h);
        bats_html_cell(h, "%" PRIu32, d->chain[i] + 1);
        bats_html_code(h, kind_name(p, t->kind));
        bats_html_code(h, states[t->state]);
        bats_html_cell(h, "%s",
                       ran ? bats_words_duration(t->end - t->begin).s : "-");
        bats_html_cell(h, "%s", ran ? bats_words_moment(t->begin).s : "-");
        bats_html_cell(h, "%s",
                       ran && before >= 0 && t->begin >= before
                           ? bats_words_duration(t->begin - before).s
                           : "-");
        before = ran ? t->end : -1;
    }
    bats_html_table_end(h);
    if (n < d->n_chain)
        bats_html_note(h, "%" PRIu32 " more are not listed.", d->n_chain - n);
}

/* ---- the picture ---- */

static int middle(const struct bats_dag *d, const struct bats_dag_group *g)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < d->n_groups; i++)
        if (d->groups[i].column == g->column && !d->groups[i].is_joint)
            rows++;
    return g->is_joint
               ? (int)d->n_rows * ROW / 2
               : (int)(2 * g->row + d->n_rows - rows + 1) * ROW / 2;
}

static int left_of(const struct bats_dag_group *g)
{
    return (int)g->column * COLUMN + (g->is_joint ? 6 : 20);
}

static int right_of(const struct bats_dag_group *g)
{
    return left_of(g) + (g->is_joint ? 6 : WIDTH);
}

static void draw_edge(struct graph_part *p, const struct bats_dag_edge *e)
{
    const struct bats_dag *d = &p->dag;
    const struct bats_dag_group *a = &d->groups[e->from],
                                *b = &d->groups[e->to];
    int x = right_of(a), z = left_of(b), bend = (z - x) / 2 + 8;
    int y = middle(d, a), t = middle(d, b);
    fprintf(p->h->out, "<path%s d=\"M%d %dC%d %d %d %d %d %d\"/>\n",
            e->critical ? " class=\"critical\"" : "", x, y, x + bend, y,
            z - bend, t, z, t);
}

static void write_label(struct graph_part *p, const struct bats_dag_group *g)
{
    const char *name = kind_name(p, g->kind);
    int room = LABEL;
    char count[16] = "";
    if (g->sum.tasks > 1)
        room -= snprintf(count, sizeof count, " %" PRIu32, g->sum.tasks);
    size_t n = strlen(name);
    bool cut = (int)n > room;
    n = cut ? (size_t)room - 1 : n;
    while (cut && n > 0 && (name[n] & 0xc0) == 0x80) /* inside a character */
        n--;
    bats_html_textf(p->h, "%.*s", (int)n, name);
    fputs(cut ? "&hellip;" : "", p->h->out);
    bats_html_textf(p->h, "%s", count);
}

/* The tooltip of a group. */
static void write_title(struct graph_part *p, const struct bats_dag_group *g)
{
    const struct bats_dag_column *c = &p->dag.columns[g->column];
    fputs("<title>", p->h->out);
    bats_html_textf(p->h, "level %" PRIu32, c->first + 1);
    if (c->last > c->first)
        bats_html_textf(p->h, "-%" PRIu32, c->last + 1);
    if (g->task != BATS_DAG_OTHERS)
        bats_html_textf(p->h, ", task %" PRIu32, g->task + 1);
    bats_html_textf(p->h, ", %s:", kind_name(p, g->kind));
    for (int s = 0; s < BATS_DAG_STATES; s++)
        if (g->sum.in_state[s] > 0)
            bats_html_textf(p->h, " %" PRIu32 " %s", g->sum.in_state[s],
                            states[s]);
    if (g->sum.timed > 0)
        bats_html_textf(p->h, ", mean %s",
                        bats_words_duration(g->sum.took / g->sum.timed).s);
    fputs("</title>", p->h->out);
}

static void draw_group(struct graph_part *p, const struct bats_dag_group *g)
{
    FILE *out = p->h->out;
    int x = left_of(g), y = middle(&p->dag, g) - HEIGHT / 2;
    if (g->is_joint) {
        fprintf(out, "<circle cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", x + 3,
                y + HEIGHT / 2);
        return;
    }
    fprintf(out, "<g%s>", g->sum.critical > 0 ? " class=\"critical\"" : "");
    write_title(p, g);
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", x, y,
            WIDTH, HEIGHT);
    double at = x, unit = (double)WIDTH / g->sum.tasks;
    for (int s = 0; s < BATS_DAG_STATES; s++) {
        double width = g->sum.in_state[s] * unit;
        if (s == BATS_DAG_FAILED && width > 0 && width < 3)
            width = 3; /* so that even one task in a thousand is visible */
        if (width > 0)
            fprintf(out,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                    "height=\"%d\"/>",
                    states[s], at, y + HEIGHT - BAR, width, BAR);
        at += width;
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">", x + 4, y + HEIGHT - BAR - 5);
    write_label(p, g);
    fputs("</text></g>\n", out);
}

static void draw(struct graph_part *p)
{
    const struct bats_dag *d = &p->dag;
    FILE *out = p->h->out;
    int width = (int)d->n_columns * COLUMN, height = (int)d->n_rows * ROW;
    fputs("<p class=\"note\">", out);
    for (int s = 0; s < BATS_DAG_STATES; s++)
        fprintf(out, "<span class=\"key %s\"></span>%s ", states[s], states[s]);
    fputs("<span class=\"key critical\"></span>critical path</p>\n", out);
    fprintf(out,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
            "aria-label=\"Graph of the tasks\">\n<svg class=\"dag\" "
            "role=\"img\" aria-label=\"Graph of the tasks by level and kind. "
            "The tables have the figures.\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n",
            width, height, width, height);
    for (uint32_t i = 0; i < d->n_edges; i++)
        draw_edge(p, &d->edges[i]);
    for (uint32_t i = 0; i < d->n_groups; i++)
        draw_group(p, &d->groups[i]);
    fputs("</svg></div>\n", out);
    if (d->edges_hidden > 0)
        bats_html_note(p->h, "%" PRIu32 " of the thinnest lines are not drawn.",
                       d->edges_hidden);
}

/* ---- all together ---- */

static void write_part(struct graph_part *p, const struct bats_run_history *r)
{
    const struct bats_dag *d = &p->dag;
    bats_html_section(p->h, "Dependencies", NULL);
    fputs("<p>", p->h->out);
    bats_html_textf(p->h,
                    "%" PRIu32 " tasks on %" PRIu32
                    " levels. The critical path has %" PRIu32
                    " tasks, which take %s; the run took %s.",
                    p->graph.n_tasks, d->n_levels, d->n_chain,
                    bats_words_duration(d->chain_took).s,
                    bats_words_moment(r->end).s);
    fputs("</p>\n", p->h->out);
    write_kinds(p);
    write_levels(p);
    draw(p);
    write_chain(p);
}

int bats_html_graph(struct bats_html *h, struct bats_view *view,
                    const struct bats_run_history *r, struct bats_error *err)
{
    struct graph_part p = {.h = h};
    bool has_edges;
    int rc = bats_view_graph(view, &p.graph, &has_edges, err);
    if (rc < 0 || !has_edges)
        goto end;
    p.tasks = malloc(p.graph.n_tasks * sizeof *p.tasks);
    if (!p.tasks) {
        rc = bats_no_memory(err);
        goto end;
    }
    for (uint32_t i = 0; i < p.graph.n_tasks; i++)
        p.tasks[i] = (struct bats_dag_task){
            .kind = BATS_NO_NAME,
            .state = BATS_DAG_LEFT,
            .begin = -1,
            .end = -1};
    rc = take_tasks(&p, view, err);
    take_times(&p, r);
    if (rc == 0)
        rc = bats_dag_init(&p.dag, &p.graph, p.tasks, (uint32_t)p.kinds.n,
                           err);
    if (rc == 0)
        write_part(&p, r);
end:
    bats_dag_release(&p.dag);
    bats_names_release(&p.kinds);
    bats_graph_release(&p.graph);
    free(p.tasks);
    return rc;
}
