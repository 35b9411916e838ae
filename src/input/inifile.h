/*
 * inifile: reads INI files and knows the line of every mistake.
 *
 * Layer: input. Used by the readers of clusters files and of scenarios.
 *
 *     [WORD] or [WORD NAME]
 *     key = value        # or ; begins a comment, at the start of a line or
 *     key: value         # behind a blank
 *         an indented line without '=' or ':' continues the value above
 *
 * The lines are split by inih, which has no line numbers for its caller, does
 * not report a section without keys, and truncates long lines and long names.
 * This module counts lines, announces sections, and refuses lines that inih
 * would truncate.
 */
#ifndef BATS_INPUT_INIFILE_H
#define BATS_INPUT_INIFILE_H

#include <stdbool.h>

#include "bats/error.h"

/* Receives the contents of the file. Each function returns 0, or a negative
 * errcode that ends the reading and that bats_inifile_read returns. */
struct bats_inifile_reader {
    /* A section begins on this line. `name` is "" if it has none. */
    int (*section)(void *context, unsigned line, const char *word,
                   const char *name);
    int (*key)(void *context, unsigned line, const char *key,
               const char *value);
    /* The line continues the value of `key`. */
    int (*more)(void *context, unsigned line, const char *key,
                const char *value);
};

/* Reads the file at `path`, or `text` (unless NULL) under that name; *lines is
 * its number of lines. Errors: those of the reader; BATS_EINPUT for a file
 * that cannot be read ("path: sentence") or is malformed ("path:line:
 * sentence"). */
int bats_inifile_read(const char *path, const char *text,
                      const struct bats_inifile_reader *reader, void *context,
                      unsigned *lines, struct bats_error *err);

/* Parses "yes" or "no". BATS_EINPUT. */
int bats_inifile_yes(const char *value, bool *yes, struct bats_error *err);

/* Notes in *first that `key` stands on `line`; an error if *first is not 0,
 * because the key is there twice. */
int bats_inifile_once(const char *path, unsigned line, const char *key,
                      unsigned *first, struct bats_error *err);

#endif
