/*
 * script: a shell script with values in it, for the tasks of a plan file.
 *
 * Layer: input, private to sweeps. It is built piece by piece when a plan is
 * read, and written out for each task.
 */
#ifndef BATS_SWEEP_SCRIPT_H
#define BATS_SWEEP_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/sweep/points.h"
#include "util/text.h"

enum bats_script_form {
    BATS_SCRIPT_RAW,  /* the value as it is */
    BATS_SCRIPT_WORD, /* quoted for the shell */
    BATS_SCRIPT_SED   /* as the replacement of an s/// in single quotes */
};

#define BATS_SCRIPT_NUMBER SIZE_MAX /* instead of a value: the task's number */

struct bats_script {
    struct bats_text text; /* all that is always the same; `failed`: memory was
                              short, for the pieces as well */
    struct bats_script_piece {
        size_t end; /* of the text before it */
        size_t value;
        enum bats_script_form form;
    } * pieces;
    size_t n, room;
};

/* Adds a value; text is added to `text`. */
void bats_script_value(struct bats_script *script, size_t value,
                       enum bats_script_form form);
void bats_script_append(struct bats_script *script,
                        const struct bats_script *more);
void bats_script_release(struct bats_script *script);

/* Writes the script of task `number` (from 1) with these values into `text`
 * instead of what it held; returns its length, or BATS_ENOMEM. */
ptrdiff_t bats_script_expand(const struct bats_script *script,
                             const struct bats_values *values, uint64_t number,
                             struct bats_text *text);

#endif
