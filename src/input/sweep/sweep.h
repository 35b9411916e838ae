/*
 * sweep: tasks made of a command and the values to insert into it.
 *
 * Layer: input. Used by bagfile.c, which makes a bag of it. A sweep has a
 * command with replacement strings (template.h) and axes of values (points.h);
 * task i is point i, expanded on demand.
 *
 *     COMMAND... ::: VALUE... :::: FILE... :::+ VALUE... ::::+ FILE...
 *
 * is GNU parallel's syntax: every ::: begins an axis, every FILE is one, and +
 * links it to the previous axis.
 */
#ifndef BATS_SWEEP_H
#define BATS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "input/sweep/points.h"
#include "input/sweep/template.h"

enum bats_source_kind {
    BATS_SOURCE_LINES, /* -a FILE */
    BATS_SOURCE_CSV,
    BATS_SOURCE_ARRAY,
    BATS_SOURCE_JSON
};

/* An axis given by an option. */
struct bats_sweep_source {
    enum bats_source_kind kind;
    const char *text; /* path or array */
};

/* The caller owns all pointers. */
struct bats_sweep_spec {
    const struct bats_sweep_source *sources; /* axes before those in `words` */
    size_t n_sources;
    const char *const *words; /* the command, ::: and so on */
    size_t n_words;
    const char *colsep; /* NULL: values have no columns */
    bool header;        /* the first value of ::: and of a file is its name */
    bool quote;         /* quote the words of the command instead of the
                         * values */
    bool link;          /* axes advance together, shorter ones start over */
    bool null;          /* lines of files end with a NUL, not a newline */
    size_t per_task;    /* values per task; 0: one */
    bool without;       /* one task per value; only replacement strings use the
                         * value */
};

/* Filled in by bats_sweep_create and similar functions; read-only for
 * others. */
struct bats_sweep {
    struct bats_points points;
    struct bats_template *template; /* template of the commands */
    struct bats_values *values;     /* of the point looked up last */
    size_t width;        /* values per task; see bats_points_width */
    bool has_variables;  /* some value has a name that is valid for a
                          * variable */
    bool may_be_builtin; /* commands may begin with '@' */
    bool is_once;        /* the command began with "@once", which was
                          * removed */
};

/* True if one of the words is a divider: :::, ::::, :::+ or ::::+. */
bool bats_sweep_is(const char *const *words, size_t n_words);

/* Reads all values. BATS_EINPUT: as in readers.h and points.h, two parameters
 * of one name, no command for values that have names; BATS_ENOMEM. */
int bats_sweep_create(const struct bats_sweep_spec *spec,
                      struct bats_sweep **sweep, struct bats_error *err);
/* A sweep of the plan file `text` (`command` is NULL), which messages call
 * `name` (planfile.h); or of the script `name` with parameters in `text`: then
 * `command` is run with `name` as its argument. */
int bats_sweep_of_plan(const char *name, const char *text, const char *command,
                       struct bats_sweep **sweep, struct bats_error *err);

void bats_sweep_destroy(struct bats_sweep *sweep);

/* Sets `text` to the command of task i. Returns its length, or BATS_ENOMEM.
 * slot: see template.h. */
ptrdiff_t bats_sweep_command(const struct bats_sweep *sweep, uint32_t i,
                             uint32_t slot, struct bats_text *text);

/* The values of task i, *n of them, valid until the next call of any function
 * for this sweep. NULL: out of memory. */
const char *const *bats_sweep_values(const struct bats_sweep *sweep,
                                     uint32_t i, size_t *n);

/* The column of this name; SIZE_MAX: none. */
size_t bats_sweep_column(const struct bats_sweep *sweep, const char *name);

/* Sets `text` to the environment of task i: values whose names are valid for
 * variables, as "NAME=value" with a NUL each. Returns the length, or
 * BATS_ENOMEM. */
ptrdiff_t bats_sweep_variables(const struct bats_sweep *sweep, uint32_t i,
                               struct bats_text *text);

#endif
