/*
 * readers: read the values of a sweep from words and files.
 *
 * Layer: input. Used by sweep.c. Each function fills one empty axis. Errors:
 * BATS_EINPUT with "path:line: sentence", or with the option at fault;
 * BATS_ENOMEM (or the axis has failed).
 */
#ifndef BATS_SWEEP_READERS_H
#define BATS_SWEEP_READERS_H

#include <regex.h>

#include "input/sweep/points.h"

/* How values are split into columns. */
struct bats_columns {
    bool split;   /* split into columns: */
    char literal; /* at this byte or, if it is NUL, */
    bool has_regex;
    regex_t regex;
    bool trim;   /* drop white space at both ends of columns */
    bool header; /* the first value holds the names */
    char end;    /* ends a line in a file: a newline, or a NUL */
};

/* `separator`: a POSIX extended regular expression, with \t and \n, which must
 * not match the empty string. NULL: values are not split or, if there is a
 * header, split at tabs; only then white space at the ends of a column
 * stays. */
int bats_columns_init(struct bats_columns *columns, const char *separator,
                      bool header, struct bats_error *err);
void bats_columns_release(struct bats_columns *columns);

/* bats_axis_read_words: the n words. bats_axis_read_lines: the lines of a file
 * ("-": standard input). */
void bats_axis_read_words(struct bats_axis *axis, const char *const *words,
                          size_t n, const struct bats_columns *columns);
int bats_axis_read_lines(struct bats_axis *axis, const char *path,
                         const struct bats_columns *columns,
                         struct bats_error *err);

/* Reads RFC 4180, with a header. LF alone ends a line, too; an empty line
 * counts only if there is one column. */
int bats_axis_read_csv(struct bats_axis *axis, const char *path,
                       struct bats_error *err);

/* Reads numbers as Slurm writes them, "1-100:2" or "1,3,5-9", into ascending
 * order. BATS_EINPUT: ranges overlap. The parameter's name is array_id. */
int bats_axis_read_array(struct bats_axis *axis, const char *text,
                         struct bats_error *err);

/* Reads an array of JSON values, or values one after the other (JSON lines).
 * The keys of objects are names, and a missing one is empty; other values have
 * one column. A value that is neither text nor a number is written as JSON. */
int bats_axis_read_json(struct bats_axis *axis, const char *path,
                        struct bats_error *err);

#endif
