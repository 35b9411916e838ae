/*
 * inifile: reads INI files and knows the line of every mistake.
 *
 * Layer: input. Used by the readers of clusters files and of scenarios.
 *
 *     [WORD] or [WORD NAME]
 *     key = value        # or ; begins a comment, at the start of a line or
 *     key: value         # behind a blank
 *         an indented line without '=' or ':' goes on with the value above
 *
 * The lines are split by inih, which has no line numbers for its caller, says
 * nothing of a section without keys, and cuts long lines and long names short.
 * Here lines are counted, sections announced, and what inih would cut is
 * refused.
 */
#ifndef BATS_INPUT_INIFILE_H
#define BATS_INPUT_INIFILE_H

#include "bats/error.h"

/* Who is told what is in the file. Each returns 0, or a negative errcode that
 * ends the reading and is what bats_inifile_read returns. */
struct bats_inifile_reader {
    /* A section begins on this line. `name` is "" if it has none. */
    int (*section)(void *context, unsigned line, const char *word,
                   const char *name);
    int (*key)(void *context, unsigned line, const char *key,
               const char *value);
    /* The line goes on with the value of `key`. */
    int (*more)(void *context, unsigned line, const char *key,
                const char *value);
};

/* Reads the file at `path`, or `text` (unless NULL) under that name; *lines is
 * how many it has. Errors: those of the
 * reader; BATS_EINPUT for a file that cannot be read ("path: sentence") or is
 * malformed ("path:line: sentence"). */
int bats_inifile_read(const char *path, const char *text,
                      const struct bats_inifile_reader *reader, void *context,
                      unsigned *lines, struct bats_error *err);

/* Sets BATS_EINPUT, with "path:line: " in front of the sentence. */
int bats_inifile_fail(const char *path, unsigned line, struct bats_error *err,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Notes in *first that `key` stands on `line`; an error if *first is not 0:
 * the key was there before. */
int bats_inifile_once(const char *path, unsigned line, const char *key,
                      unsigned *first, struct bats_error *err);

#endif
