/*
 * template: text with values in it. It is a command with replacement strings, as
 * GNU parallel has them, or a script that is built piece by piece.
 *
 * Layer: input. Used by sweep.c, and by plantask.c for scripts.
 *
 *     {}            all values of the point, with a blank between them
 *     {2} {-1}      one of them, from the first or from the last one
 *     {name}        the one of this name
 *     {.} {/} {//} {/.}   without extension, without directories, only the
 *                   directories, neither directories nor extension; likewise
 *                   {2.}, {name/}, ...
 *     {#}           number of the task, from 1
 *     {%}           number of the slot that runs it, from 1
 *
 * Words are joined by blanks. A value is quoted for the shell, unless it is
 * (part of) the command itself: there is no command, or its first word has a
 * replacement string and no '='. With `quote`, every word of the result is
 * quoted instead. {1}, {-1} and {0}, values that are missing, and quoting
 * itself are those of GNU parallel 20221122; tests compare them with it.
 */
#ifndef BATS_SWEEP_TEMPLATE_H
#define BATS_SWEEP_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/sweep/points.h"
#include "util/text.h"

struct bats_template; /* opaque */

/* Compiles the n words. `points` gives the names. If `append` and no word has
 * a replacement string, " {}" is added, as GNU parallel does. NULL: out of
 * memory. */
struct bats_template *bats_template_create(const char *const *words, size_t n,
                                           const struct bats_points *points,
                                           bool quote, bool append);
void bats_template_destroy(struct bats_template *template);

/* The same of a text that is no command: nothing is quoted or added. */
struct bats_template *bats_template_of_text(const char *text,
                                            const struct bats_points *points);

enum bats_template_form {
    BATS_TEMPLATE_RAW,  /* the value as it is */
    BATS_TEMPLATE_WORD, /* quoted for the shell */
    BATS_TEMPLATE_SED   /* as the replacement of an s/// in single quotes */
};

#define BATS_TEMPLATE_NUMBER                                                  \
    SIZE_MAX /* instead of a value: the task's number */

/* An empty template; NULL: out of memory. Text is added to the result of the
 * second function, a value (number from 0) or all of another template by the
 * others. Memory that was short then is `failed` of the text. */
struct bats_template *bats_template_new(void);
struct bats_text *bats_template_text(struct bats_template *template);
void bats_template_value(struct bats_template *template, size_t value,
                         enum bats_template_form form);
void bats_template_append(struct bats_template *template,
                          const struct bats_template *more);

/* The template has a replacement string. */
bool bats_template_varies(const struct bats_template *template);

/* Length of the name in a false replacement string at this brace; 0: there is
 * none. */
size_t bats_template_unknown(const char *at, const struct bats_points *points);

/* Writes the command of task `number` (from 1) with these values into `text`
 * instead of what it held; returns its length, or BATS_ENOMEM. slot is 0 where
 * it is not known: {%} then stays as it is. */
ptrdiff_t bats_template_expand(const struct bats_template *template,
                               const struct bats_values *values,
                               uint64_t number, uint32_t slot,
                               struct bats_text *text);

/* Adds a value to a command as GNU parallel does: single quotes in double ones,
 * the rest in single ones, unless the shell takes all of it as it is. */
void bats_template_quote(struct bats_text *text, const char *bytes, size_t n);

#endif
