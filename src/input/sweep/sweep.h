/*
 * sweep: tasks made of a command and of the values to put into it.
 *
 * Layer: input. Used by bagfile.c, which makes a bag of it. A sweep has a
 * command with replacement strings (template.h) and axes of values
 * (points.h); task i is point i, expanded when it is asked for.
 *
 *     COMMAND... ::: VALUE... :::: FILE... :::+ VALUE... ::::+ FILE...
 *
 * is GNU parallel's: every ::: begins an axis, every FILE is one, and + links
 * it to the axis before it.
 */
#ifndef BATS_SWEEP_H
#define BATS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

enum bats_source_kind {
    BATS_SOURCE_LINES, /* -a FILE */
    BATS_SOURCE_CSV,
    BATS_SOURCE_ARRAY,
    BATS_SOURCE_JSON
};

/* An axis that an option gives. */
struct bats_source {
    enum bats_source_kind kind;
    const char *text; /* path or array */
};

/* All pointers are the caller's. */
struct bats_sweep_spec {
    const struct bats_source *sources; /* they come before those in `words` */
    size_t n_sources;
    const char *const *words; /* the command, ::: and so on */
    size_t n_words;
    const char *colsep; /* NULL: values have no columns */
    bool header;        /* the first value of ::: and of a file is its name */
    bool quote;         /* quote the words of the command, not the values */
    bool link;          /* axes advance together, shorter ones begin again */
    bool null;          /* a NUL ends the lines of files, not a newline */
    size_t per_task;    /* values for a task; 0: one */
    bool without;       /* a task for each value, which is not put into the
                         * command, but for replacement strings */
};

struct bats_sweep;  /* opaque */
struct bats_points; /* points.h */

/* True if one of the words divides values: :::, ::::, :::+ or ::::+. */
bool bats_sweep_is(const char *const *words, size_t n_words);

/* Reads all values. BATS_EINPUT: as in readers.h and points.h, two parameters
 * of one name, no command for values that have names; BATS_ENOMEM. */
int bats_sweep_create(const struct bats_sweep_spec *spec,
                      struct bats_sweep **sweep, struct bats_error *err);
/* A sweep of the plan file `text`, which is called `name` in messages (see
 * planfile.h), or of the script `name` with parameters in `text`: this command
 * is run, with `name` as its argument. NULL instead of `command`: a plan. */
int bats_sweep_of_plan(const char *name, const char *text, const char *command,
                       struct bats_sweep **sweep, struct bats_error *err);

/* Lines about what may not have been meant; NULL: none. */
const char *bats_sweep_warnings(const struct bats_sweep *sweep);

void bats_sweep_destroy(struct bats_sweep *sweep);

/* Number of tasks, >= 1. */
uint32_t bats_sweep_count(const struct bats_sweep *sweep);

/* The command of task i, in a growing buffer; its length or BATS_ENOMEM. slot:
 * see template.h. */
ptrdiff_t bats_sweep_command(const struct bats_sweep *sweep, uint32_t i,
                             uint32_t slot, char **text, size_t *size);

/* The values of task i: *n of them, until the next call of any function for
 * this sweep. NULL: out of memory. */
const char *const *bats_sweep_values(const struct bats_sweep *sweep,
                                     uint32_t i, size_t *n);

/* The variables of task i: the values whose names can be names of variables, as
 * "NAME=value", each with its NUL, in a growing buffer. Their length or
 * BATS_ENOMEM. */
ptrdiff_t bats_sweep_variables(const struct bats_sweep *sweep, uint32_t i,
                               char **text, size_t *size);

/* For its names; never NULL. */
const struct bats_points *bats_sweep_points(const struct bats_sweep *sweep);

/* The name of value k; NULL: it has none, or there is no such value. */
const char *bats_sweep_name(const struct bats_sweep *sweep, size_t k);

/* The number of values of the tasks; see bats_points_width. */
size_t bats_sweep_width(const struct bats_sweep *sweep);

/* The command began with "@once", which is no longer part of it. */
bool bats_sweep_is_once(const struct bats_sweep *sweep);

/* Commands may begin with '@'. */
bool bats_sweep_may_be_builtin(const struct bats_sweep *sweep);

#endif
