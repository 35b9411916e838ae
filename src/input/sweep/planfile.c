#include "input/sweep/planfile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/domain.h"
#include "input/sweep/plantask.h"
#include "input/sweep/source.h"
#include "util/grow.h"

static int no_memory(const struct bats_source *s)
{
    return bats_error_set(s->err, BATS_ENOMEM, "no memory for a plan");
}

static int end_statement(struct bats_source *s)
{
    int rc = bats_source_next(s);
    return rc < 0 || bats_source_ends(s)
               ? rc
               : bats_source_expected(s, "the end of the statement");
}

/* ---- names ---- */

static bool is_name(const char *word)
{
    if (!isalpha((unsigned char)*word) && *word != '_')
        return false;
    while (isalnum((unsigned char)*word) || *word == '_')
        word++;
    return *word == '\0';
}

/* Reads a name that no value has yet, as that of a column of `axis`. */
static int read_name(struct bats_source *s, const struct bats_points *points,
                     struct bats_axis *axis, const char *of)
{
    int rc = bats_source_next(s);
    if (rc < 0)
        return rc;
    if (bats_source_ends(s) || s->token.kind == BATS_TOKEN_STRING ||
        !is_name(s->token.value))
        return bats_source_expected(s, of);
    if (bats_plantask_is_number(s->token.value))
        return bats_source_refuse(s, "'%.60s' is the number of the job",
                                  s->token.value);
    for (size_t k = 0; k < points->n_axes; k++)
        for (size_t i = 0; i < points->axes[k].n_names; i++)
            if (strcmp(points->axes[k].names[i], s->token.value) == 0)
                return bats_source_refuse(s, "there is a '%.60s' already",
                                          s->token.value);
    return bats_axis_add_name(axis, s->token.value, strlen(s->token.value))
               ? 0
               : no_memory(s);
}

/* ---- parameters ---- */

static int read_parameter(struct bats_source *s, struct bats_points *points)
{
    struct bats_axis *axis = bats_points_axis(points);
    if (axis == NULL)
        return no_memory(s);
    int rc = read_name(s, points, axis, "the name of a parameter");
    return rc < 0 ? rc : bats_domain_read(s, axis, axis->names[0]);
}

/* ---- variables and jobs ---- */

/* The values of variables are numbers of rows in the lines of `jobs`. */
struct variables {
    struct bats_points all; /* an axis for each */
    int64_t *index;
    size_t index_room;
};

static int read_index(struct bats_source *s, int64_t *number, const char *what)
{
    int rc = bats_source_next(s);
    if (rc < 0)
        return rc;
    const char *word = bats_source_ends(s) ? "" : s->token.value;
    size_t n = strspn(word, "0123456789");
    if (n == 0 || n > 9 || word[n] != '\0')
        return bats_source_expected(s, what);
    *number = atoll(word);
    return 0;
}

static int read_values(struct bats_source *s, struct bats_axis *axis)
{
    int rc;
    while ((rc = bats_source_next(s)) == 0 && !bats_source_ends(s))
        if (!bats_axis_add(axis, s->token.value, strlen(s->token.value)))
            return no_memory(s);
    if (rc == 0 && axis->n_rows == 0)
        rc = bats_source_expected(s, "a value");
    return rc;
}

static int read_variable(struct bats_source *s, struct variables *v)
{
    size_t n = v->all.n_axes;
    struct bats_axis *axis = bats_points_axis(&v->all);
    int64_t *index =
        bats_grow(&v->index, &v->index_room, n + 1, sizeof *v->index)
            ? &v->index[n]
            : NULL;
    if (axis == NULL || index == NULL)
        return no_memory(s);
    int rc = read_name(s, &v->all, axis, "the name of a variable");
    if (rc == 0)
        rc = bats_source_expect(s, "index");
    if (rc == 0)
        rc = read_index(s, index,
                        "a number: the place of the variable in "
                        "the lines of jobs, from 0");
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (v->index[i] == *index)
            rc = bats_source_refuse(s, "two variables have the index %" PRId64,
                                    *index);
    if (rc == 0)
        rc = bats_source_expect(s, "list");
    return rc < 0 ? rc : read_values(s, axis);
}

/* The variable at place `index` of a line; there is one for each place. */
static struct bats_axis *variable_at(struct variables *v, size_t index)
{
    for (size_t i = 0; i < v->all.n_axes; i++)
        if (v->index[i] == (int64_t)index)
            return &v->all.axes[i];
    return NULL;
}

static int check_indices(struct bats_source *s, struct variables *v)
{
    for (size_t i = 0; i < v->all.n_axes; i++)
        if (variable_at(v, i) == NULL)
            return bats_source_refuse(
                s, "no variable has the index %zu: they go from 0 to %zu", i,
                v->all.n_axes - 1);
    return 0;
}

/* Reads what follows the name of a job in its line. */
static int read_job(struct bats_source *s, struct variables *v,
                    struct bats_axis *jobs)
{
    int64_t at;
    bool ok =
        bats_axis_begin_row(jobs) &&
        bats_axis_add_value(jobs, s->token.value, strlen(s->token.value));
    for (size_t i = 0; ok && i < v->all.n_axes; i++) {
        const struct bats_axis *axis = variable_at(v, i);
        int rc = read_index(s, &at,
                            "the number of a value, from 0, for each "
                            "variable");
        if (rc < 0)
            return rc;
        if ((uint64_t)at >= axis->n_rows)
            return bats_source_refuse(
                s, "%s has the values 0 to %" PRIu64 ", and not %" PRId64,
                axis->names[0], axis->n_rows - 1, at);
        const char *value = axis->text + axis->row[at];
        ok = bats_axis_add_value(jobs, value, strlen(value));
    }
    return ok ? end_statement(s) : no_memory(s);
}

static int name_columns(struct bats_source *s, struct variables *v,
                        struct bats_axis *jobs)
{
    bool ok = bats_axis_add_name(jobs, BATS_PLANTASK_JOBNAME,
                                 strlen(BATS_PLANTASK_JOBNAME));
    for (size_t i = 0; ok && i < v->all.n_axes; i++) {
        const char *name = variable_at(v, i)->names[0];
        ok = bats_axis_add_name(jobs, name, strlen(name));
    }
    return ok ? 0 : no_memory(s);
}

static int read_jobs(struct bats_source *s, struct variables *v,
                     struct bats_points *points)
{
    struct bats_axis *jobs = bats_points_axis(points);
    int rc = jobs == NULL ? no_memory(s) : end_statement(s);
    if (rc == 0)
        rc = check_indices(s, v);
    if (rc == 0)
        rc = name_columns(s, v, jobs);
    while (rc == 0) {
        rc = bats_source_next(s);
        if (rc < 0 || bats_source_is(s, "endjobs"))
            break;
        if (s->token.kind == BATS_TOKEN_EOF)
            return bats_source_expected(s, "'endjobs'");
        if (s->token.kind != BATS_TOKEN_END)
            rc = read_job(s, v, jobs);
    }
    return rc < 0 ? rc : end_statement(s);
}

/* Without a list of jobs, variables are axes like others. */
static int take_variables(struct bats_source *s, struct variables *v,
                          struct bats_points *points)
{
    int rc = check_indices(s, v);
    for (size_t i = 0; rc == 0 && i < v->all.n_axes; i++) {
        struct bats_axis *axis = bats_points_axis(points);
        struct bats_axis *from = variable_at(v, i);
        if (axis == NULL)
            return no_memory(s);
        *axis = *from;
        *from = (struct bats_axis){0};
        v->index[from - v->all.axes] = -1;
    }
    return rc;
}

/* ---- statements ---- */

/* Goes to the end of a task, which plantask.c reads later. */
static int skip_task(struct bats_source *s)
{
    do {
        int rc = bats_source_rest(s);
        while (rc == 0 && *s->at != '\0' && (rc = bats_source_next(s)) == 0 &&
               s->token.kind == BATS_TOKEN_END)
            ;
        if (rc < 0)
            return rc;
        if (bats_source_is(s, "endtask"))
            return end_statement(s);
        if (bats_source_is(s, "task")) { /* planfile_tasks complains */
            s->at = s->token.at;
            return 0;
        }
    } while (*s->at != '\0');
    return 0;
}

static int read_statement(struct bats_source *s, struct variables *v,
                          struct bats_points *points, bool *has_jobs)
{
    if (s->token.kind == BATS_TOKEN_END)
        return 0;
    if (bats_source_is(s, "parameter"))
        return read_parameter(s, points);
    if (bats_source_is(s, "variable"))
        return read_variable(s, v);
    if (bats_source_is(s, "task"))
        return skip_task(s);
    if (!bats_source_is(s, "jobs"))
        return bats_source_expected(s, "parameter, variable, jobs or task");
    if (*has_jobs)
        return bats_source_refuse(s, "there are jobs already");
    *has_jobs = true;
    return read_jobs(s, v, points);
}

static int read_axes(struct bats_source *s, struct bats_points *points)
{
    struct variables v = {0};
    bool has_jobs = false;
    int rc;
    while ((rc = bats_source_next(s)) == 0 && s->token.kind != BATS_TOKEN_EOF)
        if ((rc = read_statement(s, &v, points, &has_jobs)) < 0)
            break;
    if (rc == 0 && !has_jobs)
        rc = take_variables(s, &v, points);
    if (rc == 0 && points->n_axes == 0)
        rc = bats_source_expected(s, "a parameter");
    bats_points_release(&v.all);
    free(v.index);
    return rc;
}

int bats_planfile_read(const char *name, const char *text,
                       struct bats_points *points, struct bats_script *script,
                       char **warnings, struct bats_error *err)
{
    struct bats_source s = {
        .name = name, .text = text, .at = text, .err = err};
    int rc = read_axes(&s, points);
    s.at = text;
    if (rc == 0)
        rc = bats_plantask_read(&s, points, script);
    *warnings = s.warnings;
    s.warnings = NULL;
    bats_source_release(&s);
    return rc;
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

/* Only the parameters are left, where they were. */
int bats_planfile_read_script(const char *name, const char *text,
                              struct bats_points *points,
                              struct bats_error *err)
{
    char *only = strdup(text);
    struct bats_source s = {
        .name = name, .text = only, .at = only, .err = err};
    if (only == NULL)
        return no_memory(&s);
    for (char *line = only; *line != '\0';) {
        const char *from = parameter_line(line);
        size_t n = strcspn(line, "\n");
        memset(line, ' ', from != NULL ? (size_t)(from - line) : n);
        line += n + (line[n] == '\n');
    }
    int rc = read_axes(&s, points);
    bats_source_release(&s);
    free(only);
    return rc;
}
