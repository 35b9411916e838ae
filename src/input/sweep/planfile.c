#include "input/sweep/planfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/domain.h"
#include "input/sweep/plantask.h"
#include "input/sweep/source.h"
#include "util/grow.h"

static void end_statement(struct bats_source *s)
{
    bats_source_end(s, "the end of the statement");
}

/* ---- names ---- */

static bool is_known(const struct bats_points *points, const char *name)
{
    for (size_t k = 0; k < points->n_axes; k++)
        for (size_t i = 0; i < points->axes[k].n_names; i++)
            if (strcmp(points->axes[k].names[i], name) == 0)
                return true;
    return false;
}

static void name_column(struct bats_source *s, struct bats_axis *axis,
                        const char *name)
{
    bats_source_check(s, bats_axis_add_name(axis, name, strlen(name)));
}

/* Makes an empty axis with the name that comes next, which must be new. NULL:
 * there is a mistake. */
static struct bats_axis *read_axis(struct bats_source *s,
                                   struct bats_points *points, const char *of)
{
    bats_source_next(s);
    if (s->token.kind == BATS_TOKEN_STRING ||
        !bats_text_is_name(s->token.value))
        bats_source_expected(s, of);
    if (bats_plantask_is_number(s->token.value))
        bats_source_refuse(s, "'%.60s' is the number of the job",
                           s->token.value);
    if (is_known(points, s->token.value))
        bats_source_refuse(s, "there is already a '%.60s'", s->token.value);
    if (s->rc < 0)
        return NULL;
    struct bats_axis *axis = bats_points_axis(points);
    bats_source_check(s, axis != NULL);
    if (s->rc == 0)
        name_column(s, axis, s->token.value);
    return s->rc == 0 ? axis : NULL;
}

/* ---- variables and jobs ---- */

/* In the lines of `jobs`, numbers of rows stand for the values of
 * variables. */
struct variables {
    struct bats_points all; /* one axis for each variable */
    int64_t *index;
    size_t index_room;
};

static int64_t read_index(struct bats_source *s, const char *what)
{
    bats_source_next(s);
    const char *word = s->token.value;
    size_t n = strspn(word, "0123456789");
    if (n == 0 || n > 9 || word[n] != '\0')
        bats_source_expected(s, what);
    return atoll(word);
}

static void read_variable(struct bats_source *s, struct variables *v)
{
    size_t n = v->all.n_axes;
    struct bats_axis *axis = read_axis(s, &v->all, "the name of a variable");
    bats_source_check(
        s, bats_grow(&v->index, &v->index_room, n + 1, sizeof *v->index));
    bats_source_expect(s, "index");
    int64_t index = read_index(s, "a number: the place of the variable in the "
                                  "lines of jobs, from 0");
    for (size_t i = 0; s->rc == 0 && i < n; i++)
        if (v->index[i] == index)
            bats_source_refuse(s, "two variables have the index %" PRId64,
                               index);
    bats_source_expect(s, "list");
    if (s->rc < 0)
        return;
    v->index[n] = index;
    while (bats_source_next(s), !bats_source_ends(s))
        bats_source_check(
            s, bats_axis_add(axis, s->token.value, strlen(s->token.value)));
    if (axis->n_rows == 0)
        bats_source_expected(s, "a value");
}

/* The variable at place `index` of a line; each place has one. */
static struct bats_axis *variable_at(struct variables *v, size_t index)
{
    for (size_t i = 0; i < v->all.n_axes; i++)
        if (v->index[i] == (int64_t)index)
            return &v->all.axes[i];
    return NULL;
}

static void check_indices(struct bats_source *s, struct variables *v)
{
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++)
        if (variable_at(v, i) == NULL)
            bats_source_refuse(
                s, "no variable has the index %zu: they go from 0 to %zu", i,
                v->all.n_axes - 1);
}

/* Reads the rest of a job's line after its name. */
static void read_job(struct bats_source *s, struct variables *v,
                     struct bats_axis *jobs)
{
    bats_source_check(
        s, bats_axis_add(jobs, s->token.value, strlen(s->token.value)));
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++) {
        const struct bats_axis *axis = variable_at(v, i);
        int64_t at = read_index(s, "the number of a value, from 0, for each "
                                   "variable");
        if ((uint64_t)at >= axis->n_rows)
            bats_source_refuse(
                s, "%s has the values 0 to %" PRIu64 ", and not %" PRId64,
                axis->names[0], axis->n_rows - 1, at);
        if (s->rc < 0)
            return;
        const char *value = axis->text + axis->row[at];
        bats_source_check(s, bats_axis_add_value(jobs, value, strlen(value)));
    }
    end_statement(s);
}

static void read_jobs(struct bats_source *s, struct variables *v,
                      struct bats_points *points)
{
    struct bats_axis *jobs = bats_points_axis(points);
    bats_source_check(s, jobs != NULL);
    end_statement(s);
    check_indices(s, v);
    if (s->rc == 0)
        name_column(s, jobs, BATS_PLANTASK_JOBNAME);
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++)
        name_column(s, jobs, variable_at(v, i)->names[0]);
    while (bats_source_next(s), !bats_source_is(s, "endjobs")) {
        if (s->token.kind == BATS_TOKEN_EOF) {
            bats_source_expected(s, "'endjobs'");
            return;
        }
        if (s->token.kind != BATS_TOKEN_END)
            read_job(s, v, jobs);
    }
    end_statement(s);
}

/* Without a list of jobs, variables become axes like parameters. */
static void take_variables(struct bats_source *s, struct variables *v,
                           struct bats_points *points)
{
    check_indices(s, v);
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++) {
        struct bats_axis *axis = bats_points_axis(points);
        struct bats_axis *from = variable_at(v, i);
        bats_source_check(s, axis != NULL);
        if (axis == NULL)
            return;
        *axis = *from;
        *from = (struct bats_axis){0};
        v->index[from - v->all.axes] = -1;
    }
}

/* ---- statements ---- */

/* Skips to the end of a task; plantask.c reads it later. */
static void skip_task(struct bats_source *s)
{
    do {
        bats_source_rest(s);
        while (*s->at != '\0' && bats_source_next(s) == BATS_TOKEN_END)
            ;
        if (bats_source_is(s, "endtask")) {
            end_statement(s);
            return;
        }
        if (bats_source_is(s, "task")) { /* plantask.c complains */
            s->at = s->token.at;
            return;
        }
    } while (*s->at != '\0');
}

static void read_statement(struct bats_source *s, struct variables *v,
                           struct bats_points *points, bool *has_jobs)
{
    if (s->token.kind == BATS_TOKEN_END)
        return;
    if (bats_source_is(s, "parameter")) {
        struct bats_axis *axis =
            read_axis(s, points, "the name of a parameter");
        if (axis != NULL)
            bats_domain_read(s, axis, axis->names[0]);
    } else if (bats_source_is(s, "variable")) {
        read_variable(s, v);
    } else if (bats_source_is(s, "task")) {
        skip_task(s);
    } else if (!bats_source_is(s, "jobs")) {
        bats_source_expected(s, "parameter, variable, jobs or task");
    } else if (*has_jobs) {
        bats_source_refuse(s, "there is already a list of jobs");
    } else {
        *has_jobs = true;
        read_jobs(s, v, points);
    }
}

static void read_axes(struct bats_source *s, struct bats_points *points)
{
    struct variables v = {0};
    bool has_jobs = false;
    while (bats_source_next(s) != BATS_TOKEN_EOF)
        read_statement(s, &v, points, &has_jobs);
    if (!has_jobs)
        take_variables(s, &v, points);
    if (points->n_axes == 0)
        bats_source_expected(s, "a parameter");
    bats_points_release(&v.all);
    free(v.index);
}

int bats_planfile_read(const char *name, const char *text,
                       struct bats_points *points,
                       struct bats_template *script, char **warnings,
                       struct bats_error *err)
{
    struct bats_source s = {
        .name = name, .text = text, .at = text, .err = err};
    read_axes(&s, points);
    if (s.rc == 0) {
        s.at = text;
        bats_plantask_read(&s, points, script);
    }
    *warnings = s.warnings.bytes;
    s.warnings = (struct bats_text){0};
    bats_source_release(&s);
    return s.rc;
}

/* ---- scripts with parameters ---- */

/* The parameters of a line "#BATS parameter ...", or NULL. */
static const char *parameter_line(const char *line)
{
    static const char mark[] = "#BATS", word[] = "parameter";
    size_t n = strlen(mark);
    if (strncmp(line, mark, n) != 0 || (line[n] != ' ' && line[n] != '\t'))
        return NULL;
    line += n + strspn(line + n, " \t");
    return strncmp(line, word, strlen(word)) == 0 ? line : NULL;
}

bool bats_planfile_in_script(const char *text)
{
    if (strncmp(text, "#!", 2) != 0)
        return false;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (parameter_line(line) != NULL)
            return true;
    }
    return false;
}

/* Blanks out everything but the parameters, so that lines keep their
 * numbers. */
int bats_planfile_read_script(const char *name, const char *text,
                              struct bats_points *points,
                              struct bats_error *err)
{
    char *only = strdup(text);
    struct bats_source s = {
        .name = name, .text = only, .at = only, .err = err};
    if (only == NULL)
        return bats_no_memory(s.err);
    for (char *line = only; *line != '\0';) {
        const char *from = parameter_line(line);
        size_t n = strcspn(line, "\n");
        memset(line, ' ', from != NULL ? (size_t)(from - line) : n);
        line += n + (line[n] == '\n');
    }
    read_axes(&s, points);
    bats_source_release(&s);
    free(only);
    return s.rc;
}
