#include "input/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "input/sweep/planfile.h"
#include "input/sweep/readers.h"

/* ---- the words ---- */

static bool divides(const char *word)
{
    return strcmp(word, ":::") == 0 || strcmp(word, "::::") == 0 ||
           strcmp(word, ":::+") == 0 || strcmp(word, "::::+") == 0;
}

/* The index of the first divider among the words from `at` on; n_words:
 * none. */
static size_t next_divider(const struct bats_sweep_spec *spec, size_t at)
{
    while (at < spec->n_words && !divides(spec->words[at]))
        at++;
    return at;
}

bool bats_sweep_is(const char *const *words, size_t n_words)
{
    struct bats_sweep_spec spec = {.words = words, .n_words = n_words};
    return next_divider(&spec, 0) < n_words;
}

/* ---- axes ---- */

static struct bats_axis *add_axis(struct bats_sweep *sweep, bool linked)
{
    struct bats_axis *axis = bats_points_axis(&sweep->points);
    if (axis != NULL) /* the first axis has no predecessor to be linked to */
        axis->linked = linked && sweep->points.n_axes > 1;
    return axis;
}

static int read_source(struct bats_sweep *sweep,
                       const struct bats_sweep_source *source,
                       const struct bats_columns *columns,
                       struct bats_error *err)
{
    struct bats_axis *axis = add_axis(sweep, false);
    if (axis == NULL)
        return bats_no_memory(err);
    switch (source->kind) {
    case BATS_SOURCE_LINES:
        return bats_axis_read_lines(axis, source->text, columns, err);
    case BATS_SOURCE_CSV:
        return bats_axis_read_csv(axis, source->text, err);
    case BATS_SOURCE_ARRAY:
        return bats_axis_read_array(axis, source->text, err);
    case BATS_SOURCE_JSON:
        return bats_axis_read_json(axis, source->text, err);
    }
    return 0;
}

/* Reads the words from `at` up to `end`, which follow `divider`. */
static int read_group(struct bats_sweep *sweep, const char *divider,
                      const char *const *words, size_t n,
                      const struct bats_columns *columns,
                      struct bats_error *err)
{
    bool linked = divider[strlen(divider) - 1] == '+';
    bool files = strncmp(divider, "::::", 4) == 0;
    struct bats_axis *axis;
    int rc = 0;
    for (size_t i = 0; rc == 0 && files && i < n; i++)
        rc = (axis = add_axis(sweep, linked)) != NULL
                 ? bats_axis_read_lines(axis, words[i], columns, err)
                 : bats_no_memory(err);
    if (files)
        return rc;
    axis = add_axis(sweep, linked);
    if (axis == NULL)
        return bats_no_memory(err);
    bats_axis_read_words(axis, words, n, columns);
    return 0;
}

/* -n: several values per task. */
static int gather(struct bats_sweep *sweep, const struct bats_sweep_spec *spec,
                  struct bats_error *err)
{
    if (spec->per_task <= 1)
        return 0;
    if (sweep->points.n_axes == 1 && spec->colsep == NULL &&
        bats_axis_gather(&sweep->points.axes[0], spec->per_task))
        return 0;
    return bats_refuse(err, "-n and -N need a single list of values without "
                            "names or columns");
}

static int read_axes(struct bats_sweep *sweep,
                     const struct bats_sweep_spec *spec,
                     struct bats_error *err)
{
    struct bats_columns columns;
    int rc = bats_columns_init(&columns, spec->colsep, spec->header, err);
    if (rc < 0)
        return rc;
    columns.end = spec->null ? '\0' : '\n';
    sweep->points.recycle = spec->link;
    for (size_t i = 0; rc == 0 && i < spec->n_sources; i++)
        rc = read_source(sweep, &spec->sources[i], &columns, err);
    for (size_t at = next_divider(spec, 0); rc == 0 && at < spec->n_words;) {
        size_t end = next_divider(spec, at + 1);
        rc = read_group(sweep, spec->words[at], spec->words + at + 1,
                        end - at - 1, &columns, err);
        at = end;
    }
    bats_columns_release(&columns);
    for (size_t k = 1; spec->link && k < sweep->points.n_axes; k++)
        sweep->points.axes[k].linked = true;
    return rc < 0 ? rc : gather(sweep, spec, err);
}

/* True if value k has a name that is valid for a variable. */
static bool is_variable(const struct bats_points *points, size_t k)
{
    const char *name = bats_points_name(points, k);
    return name != NULL && bats_text_is_name(name);
}

static int check_names(const struct bats_sweep *sweep, struct bats_error *err)
{
    if (sweep->width > BATS_POINTS_NAMES)
        return bats_refuse(err,
                           "this sweep has %zu parameters; %d are allowed",
                           sweep->width, BATS_POINTS_NAMES);
    for (size_t i = 0; i < sweep->width; i++) {
        const char *name = bats_points_name(&sweep->points, i);
        for (size_t k = 0; name != NULL && k < i; k++) {
            const char *other = bats_points_name(&sweep->points, k);
            if (other != NULL && strcmp(name, other) == 0)
                return bats_refuse(
                    err, "two parameters of this sweep are called '%.80s'",
                    name);
        }
    }
    return 0;
}

/* True if the values have no names: they are appended to a command without
 * replacement strings. */
static bool has_plain_values(const struct bats_sweep_spec *spec)
{
    for (size_t i = 0; i < spec->n_sources; i++)
        if (spec->sources[i].kind == BATS_SOURCE_LINES)
            return true;
    return bats_sweep_is(spec->words, spec->n_words);
}

static int make_template(struct bats_sweep *sweep,
                         const struct bats_sweep_spec *spec,
                         struct bats_error *err)
{
    size_t n = next_divider(spec, 0);
    bool plain = has_plain_values(spec);
    if (n == 0 && !plain)
        return bats_refuse(
            err,
            "a sweep needs a command: bats-mpi run [OPTION...] -- COMMAND");
    sweep->is_once = n > 1 && strcmp(spec->words[0], "@once") == 0;
    const char *const *words = spec->words + sweep->is_once;
    n -= sweep->is_once;
    sweep->template = bats_template_create(words, n, &sweep->points,
                                           spec->quote ? BATS_QUOTE_WORDS
                                                       : BATS_QUOTE_VALUES,
                                           plain && !spec->without);
    sweep->may_be_builtin = n == 0 || words[0][0] == '@' || words[0][0] == '{';
    return sweep->template != NULL ? 0 : bats_no_memory(err);
}

static struct bats_sweep *new_sweep(void)
{
    struct bats_sweep *s = calloc(1, sizeof *s);
    if (s != NULL && (s->values = calloc(1, sizeof *s->values)) == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

/* Call once the axes are read. */
static int count_points(struct bats_sweep *s, struct bats_error *err)
{
    int rc = bats_points_close(&s->points, err);
    if (rc < 0)
        return rc;
    s->width = bats_points_width(&s->points);
    for (size_t k = 0; k < s->width; k++)
        s->has_variables = s->has_variables || is_variable(&s->points, k);
    return check_names(s, err);
}

/* Returns `rc`, and the sweep unless that is an error. */
static int finish(struct bats_sweep *s, int rc, struct bats_sweep **sweep)
{
    if (rc < 0)
        bats_sweep_destroy(s);
    else
        *sweep = s;
    return rc;
}

int bats_sweep_create(const struct bats_sweep_spec *spec,
                      struct bats_sweep **sweep, struct bats_error *err)
{
    struct bats_sweep *s = new_sweep();
    if (s == NULL)
        return bats_no_memory(err);
    int rc = read_axes(s, spec, err);
    if (rc == 0)
        rc = count_points(s, err);
    if (rc == 0)
        rc = make_template(s, spec, err);
    return finish(s, rc, sweep);
}

/* ---- plan files ---- */

static int read_plan(struct bats_sweep *s, const char *name, const char *text,
                     const char *command, struct bats_error *err)
{
    s->template = bats_template_new();
    if (s->template == NULL)
        return bats_no_memory(err);
    struct bats_text *script = bats_template_text(s->template);
    if (command == NULL)
        return bats_planfile_read(name, text, &s->points, script, err);
    int rc = bats_planfile_read_script(name, text, &s->points, err);
    bats_text_format(script, "%s ", command);
    bats_template_quote(script, name, strlen(name));
    return rc < 0 ? rc : bats_text_check(script, err);
}

int bats_sweep_of_plan(const char *name, const char *text, const char *command,
                       struct bats_sweep **sweep, struct bats_error *err)
{
    struct bats_error why = {0};
    struct bats_sweep *s = new_sweep();
    if (s == NULL)
        return bats_no_memory(err);
    int rc = read_plan(s, name, text, command, err);
    if (rc == 0 && (rc = count_points(s, &why)) < 0)
        bats_error_set(err, rc, "%s: %s", name, why.text);
    return finish(s, rc, sweep);
}

void bats_sweep_destroy(struct bats_sweep *sweep)
{
    if (sweep == NULL)
        return;
    bats_points_release(&sweep->points);
    bats_template_destroy(sweep->template);
    if (sweep->values != NULL)
        bats_values_release(sweep->values);
    free(sweep->values);
    free(sweep);
}

/* ---- looking ---- */

ptrdiff_t bats_sweep_command(const struct bats_sweep *sweep, uint32_t i,
                             uint32_t slot, struct bats_text *text)
{
    if (!bats_points_at(&sweep->points, i, sweep->values))
        return BATS_ENOMEM;
    return bats_template_expand(sweep->template, sweep->values,
                                (uint64_t)i + 1, slot, text);
}

const char *const *bats_sweep_values(const struct bats_sweep *sweep,
                                     uint32_t i, size_t *n)
{
    if (!bats_points_at(&sweep->points, i, sweep->values))
        return NULL;
    *n = sweep->values->n;
    return sweep->values->item;
}

ptrdiff_t bats_sweep_variables(const struct bats_sweep *sweep, uint32_t i,
                               struct bats_text *text)
{
    bats_text_cut(text, 0);
    if (!sweep->has_variables)
        return 0;
    if (!bats_points_at(&sweep->points, i, sweep->values))
        return BATS_ENOMEM;
    for (size_t k = 0; k < sweep->values->n; k++) {
        if (is_variable(&sweep->points, k))
            bats_text_format(text, "%s=%s%c",
                             bats_points_name(&sweep->points, k),
                             sweep->values->item[k], '\0');
    }
    return bats_text_length(text);
}

size_t bats_sweep_column(const struct bats_sweep *sweep, const char *name)
{
    for (size_t k = 0; k < sweep->width; k++) {
        const char *column = bats_points_name(&sweep->points, k);
        if (column != NULL && strcmp(column, name) == 0)
            return k;
    }
    return SIZE_MAX;
}
