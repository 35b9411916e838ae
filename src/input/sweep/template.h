/*
 * template: a command with replacement strings, as in GNU parallel.
 *
 * Layer: input. Used by sweep.c.
 *
 *     {}            all values of the point, separated by blanks
 *     {2} {-1}      one value, counted from the first or from the last one
 *     {name}        the value of this name
 *     {.} {/} {//} {/.}   without extension, without directories, only the
 *                   directories, neither directories nor extension; likewise
 *                   {2.}, {name/}, ...
 *     {#}           number of the task, from 1
 *     {%}           number of the slot that runs it, from 1
 *
 * Words are joined by blanks. {1}, {-1} and {0}, missing values, and quoting
 * itself behave as in GNU parallel 20221122; tests compare them with it.
 */
#ifndef BATS_SWEEP_TEMPLATE_H
#define BATS_SWEEP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/sweep/points.h"
#include "util/text.h"

struct bats_template; /* opaque */

enum bats_template_quoting {
    BATS_QUOTE_NOTHING,
    BATS_QUOTE_VALUES, /* for the shell, unless the value is (part of) the
                        * command itself: there is no command, or its first
                        * word has a replacement string and no '=' */
    BATS_QUOTE_WORDS   /* every word of the result */
};

/* Compiles the n words. `points` gives the names. If `append` is set and no
 * word has a replacement string, " {}" is added, as GNU parallel does. NULL:
 * out of memory. */
struct bats_template *bats_template_create(const char *const *words, size_t n,
                                           const struct bats_points *points,
                                           enum bats_template_quoting quoting,
                                           bool append);
void bats_template_destroy(struct bats_template *template);

/* An empty template; NULL: out of memory. bats_template_text: where to append
 * text that is the same for all points. If memory was short, it has
 * `failed`. */
struct bats_template *bats_template_new(void);
struct bats_text *bats_template_text(struct bats_template *template);

/* True if the template has a replacement string. */
bool bats_template_varies(const struct bats_template *template);

/* Sets `text` to the command of task `number` (from 1) with these values.
 * Returns its length, or BATS_ENOMEM. slot is 0 if unknown: {%} then stays. */
ptrdiff_t bats_template_expand(const struct bats_template *template,
                               const struct bats_values *values,
                               uint64_t number, uint32_t slot,
                               struct bats_text *text);

/* Appends a value as GNU parallel quotes it: single quotes inside double ones,
 * the rest inside single ones, unless the shell needs no quotes. */
void bats_template_quote(struct bats_text *text, const char *bytes, size_t n);

#endif
